"""`ledger believed [ENTITY] DATE [--known DATE …]`: what the ledger said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.commands.conftest import Golden
    from tests.conftest import Repo

KNOWN = ("--known", "2024-01-28", "--known", "2024-02-03", "--known", "2024-02-10")
ASKED = {
    "on-the-day": ("orders", "2024-02-10"),
    "a-plan": ("search", "2024-04-05"),
    "as-known-later": ("orders", "2024-01-20", "--known", "2024-02-01T09:00:00Z"),
    "as-known-on-different-days": ("2024-01-28", *KNOWN),
    "one-entity-as-known-on-different-days": ("orders", "2024-01-28", "--known", "2023-12-31", *KNOWN),
    "nothing": ("orders", "2023-12-31"),
}


@pytest.mark.parametrize("name", ASKED)
def test_the_screen_and_the_json(long_story: Repo, golden: Golden, name: str) -> None:
    screen, json = long_story.run("believed", *ASKED[name]), long_story.run("believed", *ASKED[name], "--json")
    assert (screen.err, json.err) == ("", "")
    golden(f"believed/{name}.txt", screen.out)
    golden(f"believed/{name}.json", json.out)


def test_without_known_it_is_as_known_on_the_day_itself(story: Repo) -> None:
    plain = story.run("believed", "orders", "2024-02-10", "--json")
    assert plain.json["knownAt"] == plain.json["validAt"] == "2024-02-10T00:00:00Z"
    assert story.run("believed", "orders", "2024-02-10", "--known", "2024-02-10", "--json").out == plain.out


def test_several_known_give_a_list_of_answers_in_the_order_asked(story: Repo) -> None:
    later_first = ("--known", "2024-02-10", "--known", "2024-01-28")
    found = story.run("believed", "orders", "2024-01-28", *later_first, "--json").json
    assert list(found) == ["entity", "validAt", "answers"]
    assert [list(answer) for answer in found["answers"]] == [["knownAt", "items"]] * 2
    assert [a["knownAt"] for a in found["answers"]] == ["2024-02-10T00:00:00Z", "2024-01-28T00:00:00Z"]


def test_the_four_times_are_shown_as_known_then(story: Repo) -> None:
    [d1] = story.run("believed", "orders", "2024-01-20", "--json").json["items"]
    assert (d1["id"], d1["validTo"], d1["closedAt"]) == ("d1", None, None)
    assert d1["holds"] == [["2024-01-01T00:00:00Z", None]]


def test_what_nobody_knew_yet_was_not_believed(story: Repo) -> None:
    assert story.run("believed", "2024-01-01", "--json").ids == []
    assert story.run("believed", "2024-01-01T08:59:59.999999Z", "--json").ids == []
    assert len(story.run("believed", "2024-01-01T09:00:00Z", "--json").ids) == 3


def test_an_unknown_entity_is_asked_about(story: Repo) -> None:
    said = story.run("believed", "serch", "2024-02-10", "--json")
    assert said.json["items"] == []
    assert said.err == "note: nothing is recorded about 'serch'; did you mean search?\n"
