"""`ledger lateness`: days from valid to record date, most late first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.commands.conftest import Golden
    from tests.conftest import Repo


def test_the_screen_and_the_json(long_story: Repo, golden: Golden) -> None:
    screen, json = long_story.run("lateness"), long_story.run("lateness", "--json")
    assert (screen.err, json.err) == ("", "")
    golden("lateness/lateness.txt", screen.out)
    golden("lateness/lateness.json", json.out)


def test_the_keys_of_the_contract_in_their_order(story: Repo) -> None:
    found = story.run("lateness", "--json").json
    assert list(found) == ["items"]
    assert {tuple(i) for i in found["items"]} == {("id", "daysLate", "text", "validFrom", "recordedAt")}


def test_the_most_late_come_first_and_ties_by_id(repo: Repo) -> None:
    starts = {"b": "2024-01-09", "a": "2024-01-09", "c": "2024-01-11", "d": "2023-01-10"}
    items = [{"id": id, "text": id, "validFrom": start} for id, start in starts.items()]
    repo.apply({"session": "s1", "at": "2024-01-10T23:59:59Z", "decisions": items})
    rows = [(i["id"], i["daysLate"]) for i in repo.run("lateness", "--json").json["items"]]
    assert rows == [("d", 365), ("a", 1), ("b", 1), ("c", -1)]


def test_an_empty_ledger_is_an_empty_answer(repo: Repo) -> None:
    assert repo.run("lateness", "--json").json == {"items": []}
    assert repo.run("lateness").err == ""


def test_an_early_year_keeps_its_zeros(repo: Repo) -> None:
    item = {"id": "d", "text": "the legions hold the Rhine", "validFrom": "0009-09-01"}
    planned = {"id": "e", "text": "they march", "validFrom": "0009-09-01T06:30:00Z"}
    repo.apply({"session": "s1", "at": "2024-01-10T23:59:59Z", "decisions": [item, planned]})
    said = repo.run("lateness").out
    assert " 0009-09-01  " in said
    assert " 0009-09-01 06:30  " in said
