"""`ledger end ID --on DATE`: it stops holding, and nothing replaces it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.commands.conftest import Golden
    from tests.conftest import Repo

BY = ("--by", "sam")


def test_the_screen_and_the_json(story: Repo, golden: Golden) -> None:
    at = ("--at", "2024-05-01T09:00:00Z")
    said = story.run("end", "d5", "--on", "2024-04-01", *BY, "--reason", "no charges any more", *at)
    assert said.err == ""
    golden("end/end.txt", said.out)
    golden("end/end.json", story.run("end", "d4", "--on", "2024-04-01", *BY, "--at", "2024-05-02", "--json").out)


def test_its_session_is_named_after_the_item_and_the_clock(story: Repo) -> None:
    [row] = story.run("end", "d5", "--on", "2024-04-01", *BY, "--json").json["sessions"]
    assert (row["session"], row["ended"]) == ("end-d5-2026-06-01T12:00:00Z", ["d5"])


def test_an_end_to_come_says_until_when_it_holds(story: Repo) -> None:
    said = story.run("end", "d5", "--on", "2027-01-01", *BY)
    assert "  holds      d5  until 2027-01-01\n" in said.out


def test_an_ended_item_has_an_end_and_the_time_the_ledger_learned_it(story: Repo) -> None:
    story.run("end", "d5", "--on", "2024-04-01", *BY, "--at", "2024-05-01T09:00:00Z")
    d5 = story.run("show", "d5", "--json").json
    assert (d5["validTo"], d5["closedAt"]) == ("2024-04-01T00:00:00Z", "2024-05-01T09:00:00Z")
    assert story.run("as-of", "payments", "2024-03-31T23:59:59Z", "--json").ids == ["d5", "d8"]
    assert story.run("as-of", "payments", "2024-04-01", "--json").ids == ["d8"]
    assert story.run("believed", "payments", "2024-04-15", "--json").ids == ["d5", "d8"]


def test_the_same_end_again_writes_nothing_and_says_so(story: Repo) -> None:
    story.run("end", "d5", "--on", "2024-04-01", *BY)
    before = story.checkpoint.read_bytes()
    said = story.run("end", "d5", "--on", "2024-04-01", "--by", "mia", "--reason", "again")
    assert said.out == ("d5 ends then already, since 2026-06-01 12:00 (end-d5-2026-06-01T12:00:00Z); nothing written\n")
    [row] = story.run("end", "d5", "--on", "2024-04-01", *BY, "--json").json["sessions"]
    assert (row["session"], row["status"]) == ("end-d5-2026-06-01T12:00:00Z", "unchanged")
    assert story.checkpoint.read_bytes() == before


def test_a_second_end_replaces_the_first(story: Repo) -> None:
    for on, clock in (("2024-04-01", "2024-05-01"), ("2024-06-01", "2024-05-02"), ("2024-03-01", "2024-05-03")):
        story.run("end", "d5", "--on", on, *BY, "--at", clock)
        assert story.run("show", "d5", "--json").json["validTo"] == f"{on}T00:00:00Z"


@pytest.mark.parametrize(
    ("arguments", "what", "hint"),
    [
        (("d99", "--on", "2024-05-01"), "d99 is unknown, there is nothing to end", "`ledger search`"),
        (("d5", "--on", "2024-01-31"), "d5 cannot end at 2024-01-31, before it starts", "`ledger reject d5`"),
        (
            ("d5", "--on", "2024-05-01", "--at", "2024-01-01"),
            "the newest entry was recorded at 2024-02-20",
            "leave the clock out",
        ),
    ],
)
def test_what_cannot_end_is_refused_by_name(story: Repo, arguments: tuple[str, ...], what: str, hint: str) -> None:
    said = story.run("end", *arguments, *BY, code=1)
    assert said.out == ""
    assert what in said.err
    assert hint in said.err


def test_what_was_corrected_names_the_correction(long_story: Repo) -> None:
    said = long_story.run("end", "d5", "--on", "2024-05-01", *BY, code=1)
    assert said.err == "error: d5 was corrected by d9\n  hint: end d9 instead\n"


def test_now_is_recorded_as_the_clock_says_it(story: Repo) -> None:
    story.now = datetime(2026, 6, 1, 12, 0, 0, 250_000, tzinfo=UTC)
    story.run("end", "d5", "--on", "now", "--by", "sam", "--at", "now")
    [ending] = story.run("show", "d5", "--json").json["endings"]
    assert ending["validTo"] == ending["recordedAt"] == "2026-06-01T12:00:00.25Z"


def test_what_was_recorded_in_the_running_second_is_answered_now(story: Repo) -> None:
    story.now = datetime(2026, 6, 1, 12, 0, 0, 250_000, tzinfo=UTC)
    story.run("reject", "d5", "--by", "sam", "--reason", "r", "--at", "now")
    assert "d5" not in story.run("believed", "now", "--json").ids
    assert story.run("diff", "--from", "2026-06-01", "--to", "now", "--json").json["writes"][0]["rejected"] == ["d5"]
