"""`ledger diff --from --to`: what each write in (from, to] changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.commands.conftest import Golden
    from tests.conftest import Repo

ASKED = {
    "two-reviews": ("--from", "2024-01-31", "--to", "2024-02-15"),
    "every-change": ("--from", "2023-12-31", "--to", "2024-12-31"),
    "nothing": ("--from", "2024-05-01", "--to", "2024-06-01"),
}
CHANGES = ["added", "closed", "reopened", "rejected", "reinstated", "ended"]


@pytest.mark.parametrize("name", ASKED)
def test_the_screen_and_the_json(long_story: Repo, golden: Golden, name: str) -> None:
    screen, json = long_story.run("diff", *ASKED[name]), long_story.run("diff", *ASKED[name], "--json")
    assert (screen.err, json.err) == ("", "")
    golden(f"diff/{name}.txt", screen.out)
    golden(f"diff/{name}.json", json.out)


def test_the_keys_of_the_contract_in_their_order(long_story: Repo) -> None:
    found = long_story.run("diff", *ASKED["every-change"], "--json").json
    assert list(found) == ["from", "to", "writes"]
    assert {tuple(write) for write in found["writes"]} == {("at", *CHANGES)}
    assert all(any(write[name] for write in found["writes"]) for name in CHANGES)


def test_the_window_is_open_at_from_and_closed_at_to(story: Repo) -> None:
    def writes(after: str, until: str) -> list[str]:
        return [w["at"] for w in story.run("diff", "--from", after, "--to", until, "--json").json["writes"]]

    first, second = "2024-01-01T09:00:00Z", "2024-02-01T09:00:00Z"
    assert writes(first, second) == [second]
    assert writes("2024-01-01", first) == [first]
    assert writes(first, first) == []


def test_each_list_is_sorted_by_id(long_story: Repo) -> None:
    writes = long_story.run("diff", *ASKED["every-change"], "--json").json["writes"]
    assert all(write[name] == sorted(write[name]) for write in writes for name in CHANGES)
    assert [write["at"] for write in writes] == sorted(write["at"] for write in writes)
