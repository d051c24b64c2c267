"""`ledger recall QUESTION`: the document for people, for agents as prose, and for scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.commands.conftest import Golden
    from tests.conftest import Repo


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("orders", ("what about orders?", "--valid", "2024-03-15")),
        ("believed", ("what about orders?", "--valid", "2024-02-10", "--known", "2024-02-10")),
        ("words", ("what was done for faster lookups", "--valid", "2024-03-15")),
        ("limit", ("orders", "--limit", "1", "--valid", "2024-03-15")),
    ],
)
def test_the_screen_and_the_prose(long_story: Repo, golden: Golden, name: str, words: tuple[str, ...]) -> None:
    for screen, options in (("screen", ()), ("prose", ("--prose",))):
        said = long_story.run("recall", *words, *options)
        assert said.err == ""
        golden(f"recall/{name}-{screen}.txt", said.out)


def test_the_keys_of_the_contract_in_their_order(long_story: Repo) -> None:
    found = long_story.run("recall", "orders", "--valid", "2024-03-15", "--json").json
    asked, of_entity = ["question", "validAt", "knownAt"], ["entity", "kind", "facts", "decisions", "history", "nearby"]
    assert list(found) == [*asked, *of_entity, "items", "leftOut"]
    item = list(long_story.run("as-of", "2024-03-15", "--json").json["items"][0])
    memory = [*item, "score", "similarity", "evidence", "replaced"]
    assert {tuple(m) for m in (*found["facts"], *found["decisions"])} == {tuple(memory)}
    [fact] = found["facts"]
    assert fact["evidence"] == [long_story.run("show", "e1", "--json").json]
    replaced = [old for d in found["decisions"] for old in d["replaced"]]
    assert [list(old) for old in replaced] == [["id", "text", "rationale", "validFrom", "recordedAt", "session"]]


def test_what_holds_is_told_as_as_of_tells_it(long_story: Repo) -> None:
    found = long_story.run("recall", "orders", "--valid", "2024-03-15", "--json").json
    told = {i["id"]: i for i in (*found["facts"], *found["decisions"])}
    wanted = long_story.run("as-of", "orders", "2024-03-15", "--json").json["items"]
    assert told.keys() == {i["id"] for i in wanted}
    assert all(told[i["id"]].items() >= i.items() for i in wanted)


def test_known_alone_asks_of_that_day(story: Repo) -> None:
    found = story.run("recall", "orders", "--known", "2024-02-10", "--json").json
    assert found["validAt"] == found["knownAt"] == "2024-02-10T00:00:00Z"
    assert {i["id"] for i in found["decisions"]} == {"d4", "d6"}


def test_without_a_day_it_is_now(story: Repo) -> None:
    found = story.run("recall", "orders", "--json").json
    assert (found["validAt"], found["knownAt"]) == ("2026-06-01T12:00:00Z", None)


def test_nothing_found_is_an_answer(story: Repo) -> None:
    said = story.run("recall", "zeppelin")
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines()[-1] == "nothing"
    assert story.run("recall", "zeppelin", "--json").json["items"] == []
