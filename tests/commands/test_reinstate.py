"""`ledger reinstate ID [--link NEW | --ending]`: a rejection is taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.commands.conftest import Golden
    from tests.conftest import Repo

WHY = ("--by", "sam", "--reason", "right after all")
ON = {
    "an-item": (("d6",), "reinstate-d6-2024-05-01T09:00:00Z"),
    "a-link": (("a", "--link", "b"), "reinstate-link-a-b-2024-05-01T09:00:00Z"),
    "an-ending": (("d5", "--ending"), "reinstate-end-d5-2024-05-01T09:00:00Z"),
}


@pytest.fixture
def rejected(story: Repo) -> Repo:
    """The story, whose d6 is rejected, with a rejected link and a rejected ending beside it."""
    items = [{"id": id, "text": f"{id} it is", "validFrom": f"2024-01-0{n}"} for n, id in enumerate("ab", 1)]
    verdicts = [{"reject": {"old": "a", "new": "b"}, "reason": "no"}, {"reject": {"end": "d5"}, "reason": "no"}]
    story.apply(
        {"session": "s5", "at": "2024-04-01", "decisions": items},
        {
            "session": "s6",
            "at": "2024-04-02",
            "by": "mia",
            "supersessions": [{"old": "a", "new": "b"}],
            "endings": [{"id": "d5", "validTo": "2024-03-01"}],
        },
        {"session": "s7", "at": "2024-04-03", "by": "mia", "reviews": verdicts},
    )
    return story


@pytest.mark.parametrize("what", ON)
def test_the_screen_and_the_json(rejected: Repo, golden: Golden, what: str) -> None:
    arguments, session = ON[what]
    at = ("--at", "2024-05-01T09:00:00Z")
    golden(f"reinstate/{what}.json", rejected.run("reinstate", *arguments, *WHY, *at, "--json").out)
    rejected.run("reject", *arguments, *WHY, "--at", "2024-05-02")
    screen = rejected.run("reinstate", *arguments, *WHY, "--at", "2024-05-03")
    golden(f"reinstate/{what}.txt", screen.out)
    assert screen.out.startswith(session.replace("2024-05-01T09:00:00Z", "2024-05-03T00:00:00Z") + ": applied")


@pytest.mark.parametrize("what", ON)
def test_what_is_not_rejected_is_left_alone_and_said_so(rejected: Repo, what: str) -> None:
    arguments, _ = ON[what]
    rejected.run("reinstate", *arguments, *WHY)
    before = rejected.checkpoint.read_bytes()
    said = rejected.run("reinstate", *arguments, *WHY)
    assert "stands since 2026-06-01 12:00" in said.out
    assert said.out.endswith("; nothing written\n")
    [row] = rejected.run("reinstate", *arguments, *WHY, "--json").json["sessions"]
    assert row["status"] == "unchanged"
    assert rejected.checkpoint.read_bytes() == before


def test_rejected_and_reinstated_is_as_before(story: Repo) -> None:
    before = story.run("as-of", "payments", "2024-03-05", "--json").out
    story.run("reject", "d8", *WHY)
    assert story.run("as-of", "payments", "2024-03-05", "--json").out != before
    said = story.run("reinstate", "d8", *WHY)
    assert "reinstated d8" in said.out
    assert story.run("as-of", "payments", "2024-03-05", "--json").out == before


def test_a_verdict_of_the_same_moment_comes_after_the_one_it_takes_back(story: Repo) -> None:
    story.run("reject", "d8", *WHY)
    [row] = story.run("reinstate", "d8", *WHY, "--json").json["sessions"]
    assert row["session"] == "reinstate-d8-2026-06-01T12:00:00.000001Z"
    assert story.run("show", "d8", "--json").json["holds"] != []


def test_an_unknown_item_is_refused(story: Repo) -> None:
    said = story.run("reinstate", "d99", *WHY, code=1)
    assert (said.out, said.err.split("\n")[0]) == ("", "error: d99 is unknown, there is nothing to reinstate")


def test_a_correction_is_not_reinstated_beside_another_live_one(story: Repo) -> None:
    def correct(id: str, at: str) -> None:
        story.apply({"session": id, "at": at, "decisions": [{"id": id, "corrects": "d5", "text": id}]})

    correct("c1", "2024-04-01")
    story.run("reject", "c1", *WHY, "--at", "2024-04-02")
    correct("c2", "2024-04-03")
    said = story.run("reinstate", "c1", *WHY, code=1)
    assert said.out == ""
    assert "c1 and c2 would both stand as the correction of one item" in said.err
    assert "reject one of them first" in said.err


def test_at_the_clock_of_the_rejection_nothing_could_change_and_nothing_is_written(story: Repo) -> None:
    clock = ("--at", "2024-05-01T09:00:00Z")
    story.run("reject", "d8", *WHY, *clock)
    before = story.checkpoint.read_bytes()
    said = story.run("reinstate", "d8", *WHY, *clock, code=1)
    assert "d8 was rejected at that very clock" in said.err
    assert story.checkpoint.read_bytes() == before
