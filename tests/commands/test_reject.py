"""`ledger reject ID [--link NEW | --ending]`: it never took effect, and what it replaced holds again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.commands.conftest import Golden
    from tests.conftest import Repo

WHY = ("--by", "sam", "--reason", "wrong")
AT = ("--at", "2024-05-01T09:00:00Z")
ON = {  # what the verdict is on -> the arguments, the session it makes
    "an-item": (("d8",), "reject-d8-2024-05-01T09:00:00Z"),
    "a-link": (("d7b", "--link", "d12"), "reject-link-d7b-d12-2024-05-01T09:00:00Z"),
    "an-ending": (("d5", "--ending"), "reject-end-d5-2024-05-01T09:00:00Z"),
}


@pytest.fixture
def linked(story: Repo) -> Repo:
    """The story, a late link between two unslotted things, and an ending."""
    items = [{"id": "d12", "text": "nightly reindex", "validFrom": "2024-02-01"}]
    items += [{"id": "d7b", "text": "hourly reindex", "validFrom": "2024-01-25"}]
    story.apply(
        {"session": "session-5", "at": "2024-04-01T09:00:00Z", "decisions": items},
        {
            "session": "session-6",
            "at": "2024-04-02T09:00:00Z",
            "by": "mia",
            "supersessions": [{"old": "d7b", "new": "d12"}],
            "endings": [{"id": "d5", "validTo": "2024-03-01"}],
        },
    )
    return story


@pytest.mark.parametrize("what", ON)
def test_the_screen(linked: Repo, golden: Golden, what: str) -> None:
    arguments, session = ON[what]
    screen = linked.run("reject", *arguments, *WHY, *AT, "--no-export")
    assert screen.err == ""
    golden(f"reject/{what}.txt", screen.out)
    assert screen.out.startswith(f"{session}: applied")


@pytest.mark.parametrize("what", ON)
def test_the_json_names_the_session_and_what_holds_again(linked: Repo, golden: Golden, what: str) -> None:
    arguments, session = ON[what]
    said = linked.run("reject", *arguments, *WHY, *AT, "--json")
    golden(f"reject/{what}.json", said.out)
    [row] = said.json["sessions"]
    assert (row["session"], row["status"]) == (session, "applied")
    assert row["reopened"] == {"an-item": ["d3"], "a-link": ["d7b"], "an-ending": ["d5"]}[what]


@pytest.mark.parametrize("what", ON)
def test_a_repeated_rejection_writes_nothing_and_says_so(linked: Repo, what: str) -> None:
    arguments, session = ON[what]
    linked.run("reject", *arguments, *WHY, *AT)
    before = linked.checkpoint.read_bytes()
    said = linked.run("reject", *arguments, "--by", "mia", "--reason", "again")
    assert "is rejected already, since 2024-" in said.out
    assert said.out.endswith(f"({session}); nothing written\n")
    [row] = linked.run("reject", *arguments, *WHY, "--json").json["sessions"]
    assert (row["session"], row["status"], row["rejected"]) == (session, "unchanged", [])
    assert linked.checkpoint.read_bytes() == before


def test_rejecting_a_successor_says_that_the_old_one_holds_again(story: Repo) -> None:
    said = story.run("reject", "d8", *WHY)
    assert "  reopened   d3  payments runs in eu-west-1  (holds again)\n" in said.out
    assert story.run("as-of", "payments", "2024-03-05", "--json").ids == ["d5", "d3"]


def test_a_rejected_item_was_believed_until_the_review_and_never_true(story: Repo) -> None:
    story.run("reject", "d4", *WHY, "--at", "2024-03-01T09:00:00Z")
    for known, held in (("2024-03-01T08:59:59Z", ["d4"]), ("2024-03-01T09:00:00Z", ["d1"])):
        assert story.run("believed", "orders", "2024-02-15", "--known", known, "--json").ids == held
    assert story.run("as-of", "orders", "2024-02-15", "--json").ids == ["d1"]


def test_the_review_is_recorded_with_who_and_why(story: Repo) -> None:
    story.run("reject", "d8", "--by", "Sam Ö", "--reason", "too: 'early' [x]", *AT)
    [review] = story.run("show", "d8", "--json").json["reviews"]
    assert (review["by"], review["reason"]) == ("Sam Ö", "too: 'early' [x]")
    assert (review["on"], review["recordedAt"]) == ("item", "2024-05-01T09:00:00Z")


def test_the_command_and_the_session_file_of_the_story_write_the_same_bytes(repo: Repo) -> None:
    sessions = Path(__file__).resolve().parents[2] / "sessions"
    repo.run("session", "apply", *(sessions / f"session{n}.yaml" for n in (1, 2, 3)))
    reason = "order reads are fast enough; a cache adds an invalidation problem"
    repo.run("reject", "d6", "--by", "sam", "--reason", reason, "--at", "2024-02-12T09:00:00Z")
    before = repo.checkpoint.read_bytes()
    said = repo.run("session", "apply", sessions / "review-d6.yaml")
    assert said.out == "reject-d6-2024-02-12T09:00:00Z: nothing to do, all of it is recorded already\n"
    assert repo.checkpoint.read_bytes() == before


def test_without_at_the_clock_is_now(story: Repo) -> None:
    [row] = story.run("reject", "d8", *WHY, "--json").json["sessions"]
    assert row["session"] == "reject-d8-2026-06-01T12:00:00Z"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("d99",), "d99 is unknown, there is nothing to reject"),
        (("d4", "--link", "d99"), "d99 is unknown, there is nothing to reject"),
        (("d4", "--link", "d1"), "no link from d4 to d1 is recorded"),
        (("d4", "--ending"), "no ending of d4 is recorded"),
        (("d4", "--at", "2024-01-01"), "the newest entry was recorded at 2024-02-20T09:00:00Z"),
        (("d4", "--at", "2099-01-01"), "more than five minutes ahead"),
        (("d1", "--link", "d4"), "d1 and d4 would both hold in slot orders/database from 2024-01-10 on"),
    ],
)
def test_what_cannot_be_rejected_is_refused_by_name(story: Repo, arguments: tuple[str, ...], what: str) -> None:
    before = story.checkpoint.read_bytes()
    said = story.run("reject", *arguments, *WHY, code=1)
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert what in said.err
    assert story.checkpoint.read_bytes() == before
