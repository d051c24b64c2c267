"""`ledger as-of [ENTITY] DATE`: what was true on a date, with all that is known now."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.commands.conftest import Golden
    from tests.conftest import Repo

ITEM = [
    "id",
    "kind",
    "text",
    "rationale",
    "slot",
    "about",
    "validFrom",
    "validTo",
    "recordedAt",
    "closedAt",
    "holds",
    "session",
    "by",
    "corrects",
    "from",
    "confidence",
]
ASKED = {
    "an-entity": ("orders", "2024-01-20"),
    "the-whole-ledger": ("2024-03-15",),
    "nothing": ("orders", "2023-12-31"),
    "an-instant": ("payments", "2024-02-29T23:59:59.999999Z"),
}


@pytest.mark.parametrize("name", ASKED)
def test_the_screen_and_the_json(long_story: Repo, golden: Golden, name: str) -> None:
    screen, json = long_story.run("as-of", *ASKED[name]), long_story.run("as-of", *ASKED[name], "--json")
    assert (screen.err, json.err) == ("", "")
    golden(f"as-of/{name}.txt", screen.out)
    golden(f"as-of/{name}.json", json.out)


def test_the_keys_of_the_contract_in_their_order(long_story: Repo) -> None:
    found = long_story.run("as-of", "2024-03-15", "--json").json
    assert list(found) == ["entity", "validAt", "knownAt", "items"]
    assert (found["entity"], found["validAt"], found["knownAt"]) == (None, "2024-03-15T00:00:00Z", None)
    assert [list(item) for item in found["items"]] == [ITEM] * len(found["items"])


def test_the_rows_are_in_the_order_of_their_texts(long_story: Repo) -> None:
    texts = [item["text"] for item in long_story.run("as-of", "2024-03-15", "--json").json["items"]]
    assert texts == sorted(texts)


def test_an_entity_is_named_in_any_case_and_shown_as_first_spelled(story: Repo) -> None:
    found = story.run("as-of", " ORDERS ", "2024-01-20", "--json")
    assert (found.json["entity"], found.ids, found.err) == ("orders", ["d4"], "")


def test_an_unknown_entity_is_an_empty_answer_and_a_question(story: Repo) -> None:
    said = story.run("as-of", "order", "2024-01-20", "--json")
    assert said.json == {"entity": "order", "validAt": "2024-01-20T00:00:00Z", "knownAt": None, "items": []}
    assert said.err == "note: nothing is recorded about 'order'; did you mean orders?\n"


def test_an_entity_like_no_other_gets_no_suggestion(story: Repo) -> None:
    assert story.run("as-of", "weather", "2024-01-20").err == "note: nothing is recorded about 'weather'\n"


def test_a_known_entity_about_which_nothing_held_gets_no_note(story: Repo) -> None:
    said = story.run("as-of", "orders", "2023-01-01")
    assert (said.out.splitlines()[-1], said.err) == ("nothing", "")


def test_now_is_the_clock(story: Repo) -> None:
    story.now = datetime(2024, 2, 29, 23, 59, tzinfo=UTC)
    before = story.run("as-of", "payments", "now", "--json")
    story.now = datetime(2024, 3, 1, tzinfo=UTC)
    after = story.run("as-of", "payments", "now", "--json")
    assert (before.ids, after.ids) == (["d5", "d3"], ["d5", "d8"])
    assert before.json["validAt"] == "2024-02-29T23:59:00Z"


def test_one_instant_in_three_spellings_is_one_answer(story: Repo) -> None:
    spellings = ("2024-01-10", "2024-01-10T00:00:00Z", "2024-01-09T19:00:00-05:00")
    assert len({story.run("as-of", "orders", when, "--json").out for when in spellings}) == 1
