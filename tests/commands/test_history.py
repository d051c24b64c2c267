"""`ledger history ENTITY|ID`: the chain of what replaced what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.commands.conftest import Golden
    from tests.conftest import Repo

NODE = ["depth", "versions", "reviews", "endings"]
REVIEW = ["verdict", "item", "on", "new", "by", "reason", "recordedAt", "session"]
ENDING = ["item", "validTo", "by", "reason", "recordedAt", "session"]


@pytest.mark.parametrize("subject", ["orders", "payments", "search", "d1", "d6", "d11", "us-east-1"])
def test_the_screen_and_the_json(long_story: Repo, golden: Golden, subject: str) -> None:
    screen, json = long_story.run("history", subject), long_story.run("history", subject, "--json")
    assert (screen.err, json.err) == ("", "")
    golden(f"history/{subject}.txt", screen.out)
    golden(f"history/{subject}.json", json.out)


def test_the_keys_of_the_contract_in_their_order(long_story: Repo) -> None:
    found = long_story.run("history", "payments", "--json").json
    assert list(found) == ["subject", "chains", "rejected"]
    nodes = [node for chain in found["chains"] for node in chain]
    assert {tuple(node)[-4:] for node in nodes} == {tuple(NODE)}
    assert {tuple(review) for node in nodes for review in node["reviews"]} == {tuple(REVIEW)}
    assert {tuple(ending) for node in nodes for ending in node["endings"]} == {tuple(ENDING)}


def test_an_id_and_its_entity_tell_the_same_chain(story: Repo) -> None:
    by_entity = story.run("history", "search", "--json").json["chains"]
    for id in ("d2", "d7"):
        found = story.run("history", id, "--json").json
        assert (found["subject"], found["chains"]) == (id, by_entity)


def test_a_whole_chain_is_shown_from_what_stands_to_the_first(repo: Repo) -> None:
    for n in (7, 8, 9):
        item = {"id": f"a{n}", "text": f"adr {n}", "about": ["adr"], "validFrom": f"2024-01-0{n}"}
        before = {"supersedes": f"a{n - 1}"} if n > 7 else {}
        repo.apply({"session": f"s{n}", "at": f"2024-01-0{n}", "decisions": [item | before]})
    for subject in ("adr", "a7", "a8", "a9"):
        [chain] = repo.run("history", subject, "--json").json["chains"]
        assert [(node["id"], node["depth"]) for node in chain] == [("a9", 0), ("a8", 1), ("a7", 2)]


def test_an_unknown_subject_is_an_empty_answer_and_a_question(story: Repo) -> None:
    said = story.run("history", "oders", "--json")
    assert said.json == {"subject": "oders", "chains": [], "rejected": []}
    assert said.err == "note: nothing is recorded about 'oders'; did you mean orders?\n"
    assert story.run("history", "oders").out == "nothing\n"
