"""`ledger slots [PREFIX]`: what each slot answers now, and what is planned for it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.commands.conftest import Golden
    from tests.conftest import Repo

MOMENTS = {"with-a-plan": datetime(2024, 2, 25, tzinfo=UTC), "later": datetime(2026, 6, 1, tzinfo=UTC)}


@pytest.mark.parametrize("name", MOMENTS)
def test_the_screen_and_the_json(long_story: Repo, golden: Golden, name: str) -> None:
    long_story.now = MOMENTS[name]
    screen, json = long_story.run("slots"), long_story.run("slots", "--json")
    assert (screen.err, json.err) == ("", "")
    golden(f"slots/{name}.txt", screen.out)
    golden(f"slots/{name}.json", json.out)


def test_the_keys_of_the_contract_in_their_order(story: Repo) -> None:
    found = story.run("slots", "--json").json
    assert list(found) == ["slots"]
    assert {tuple(row) for row in found["slots"]} == {("slot", "kind", "current", "planned")}
    assert [row["slot"] for row in found["slots"]] == sorted(row["slot"] for row in found["slots"])


def test_a_plan_waits_until_its_day(story: Repo) -> None:
    def region() -> tuple[str, list[str]]:
        [row] = story.run("slots", "payments/region", "--json").json["slots"]
        return row["current"]["id"], [item["id"] for item in row["planned"]]

    story.now = datetime(2024, 2, 29, 23, 59, 59, tzinfo=UTC)
    assert region() == ("d3", ["d8"])
    story.now = datetime(2024, 3, 1, tzinfo=UTC)
    assert region() == ("d8", [])


def test_a_plan_alone_is_a_slot_without_a_current_answer(repo: Repo) -> None:
    repo.apply({"session": "s1", "decisions": [{"id": "p", "text": "move", "slot": "x/y", "validFrom": "2099-01-01"}]})
    [row] = repo.run("slots", "--json").json["slots"]
    assert (row["current"], [item["id"] for item in row["planned"]]) == (None, ["p"])
    assert "planned: 2099-01-01 →" in repo.run("slots").out


def test_a_fact_and_a_decision_of_one_slot_name_do_not_meet(repo: Repo) -> None:
    brought = {"text": "here", "slot": "x/y", "validFrom": "2024-01-01"}
    repo.apply({"session": "s1", "decisions": [{"id": "d", **brought}], "facts": [{"id": "f", **brought}]})
    rows = repo.run("slots", "--json").json["slots"]
    assert [(row["kind"], row["current"]["id"]) for row in rows] == [("decision", "d"), ("fact", "f")]


def test_a_prefix_narrows(story: Repo) -> None:
    assert [r["slot"] for r in story.run("slots", "payments/", "--json").json["slots"]] == [
        "payments/region",
        "payments/retries",
    ]


def test_no_slot_is_an_answer(story: Repo) -> None:
    said = story.run("slots", "weather/")
    assert (said.out, said.err) == ("no slot answers anything\n", "")
    assert story.run("slots", "weather/", "--json").json == {"slots": []}


@pytest.mark.parametrize("prefix", ["caf\u00e9 bar/", "cafe\u0301 bar/", "  cafe\u0301   bar/", "caf\u00e9\u00a0bar/"])
def test_a_prefix_is_written_as_loosely_as_a_slot(repo: Repo, prefix: str) -> None:
    repo.apply({"session": "s", "decisions": [{"text": "espresso", "slot": "caf\u00e9 bar/coffee"}]})
    assert [row["slot"] for row in repo.run("slots", prefix, "--json").json["slots"]] == ["caf\u00e9 bar/coffee"]
