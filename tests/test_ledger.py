"""The Python API: which ledger is found, and which times it takes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from ledger_cli.errors import NoLedger
from ledger_cli.ledger import Ledger
from ledger_cli.model import Target
from tests.conftest import NOW, Repo

EAST = timezone(timedelta(hours=5))
HERE = datetime(2024, 1, 20, tzinfo=EAST)
"""The same instant as THERE, in another zone."""
THERE = datetime(2024, 1, 19, 19, tzinfo=UTC)


def open_(repo: Repo) -> Ledger:
    return Ledger(repo.path, clock=lambda: NOW)


def test_a_relative_folder_finds_the_ledger_above_it(story: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = story.path / "sessions" / "deep"
    inside.mkdir()
    monkeypatch.chdir(inside)
    for start in (Path(), Path(), Path("..")):
        assert Ledger.find(start, clock=lambda: NOW).root.resolve() == story.path.resolve()


def test_a_relative_folder_without_a_ledger_is_named_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoLedger, match=str(tmp_path)):
        Ledger.find(Path(), clock=lambda: NOW)


def test_a_question_means_the_instant_in_whatever_zone(story: Repo) -> None:
    ledger = open_(story)
    assert ledger.as_of(HERE) == ledger.as_of(THERE)
    assert ledger.believed(HERE, None, [HERE]) == ledger.believed(THERE, None, [THERE])
    edge = datetime(2024, 2, 1, 14, tzinfo=EAST)  # session-2 was recorded at 09:00 UTC
    after, until = edge - timedelta(microseconds=1), edge
    assert ledger.diff(after, until) == ledger.diff(after.astimezone(UTC), until.astimezone(UTC))
    assert [c.at for c in ledger.diff(after, until)[0]] == [edge]
    assert str(ledger.as_of(HERE).valid_at) == str(THERE)


def test_an_ending_in_another_zone_is_recorded_at_its_instant(repo: Repo) -> None:
    repo.apply({"session": "s", "at": "2024-01-01T00:00:00Z", "decisions": [{"id": "d1", "text": "t"}]})
    done = open_(repo).end("d1", HERE, by="sam", at=datetime(2024, 2, 1, 5, tzinfo=EAST))
    assert done.session == "end-d1-2024-02-01T00:00:00Z"
    [ending] = repo.run("show", "d1", "--json").json["endings"]
    assert (ending["validTo"], ending["recordedAt"]) == ("2024-01-19T19:00:00Z", "2024-02-01T00:00:00Z")
    assert open_(repo).end("d1", THERE, by="sam").status == "unchanged"


def test_a_verdict_in_another_zone_is_recorded_at_its_instant(story: Repo) -> None:
    at = datetime(2024, 5, 1, 5, tzinfo=EAST)
    done = open_(story).review("rejects", Target("d8"), by="sam", reason="r", at=at)
    assert (done.session, done.at) == ("reject-d8-2024-05-01T00:00:00Z", datetime(2024, 5, 1, tzinfo=UTC))


def test_a_clock_in_another_zone_tells_the_instant(repo: Repo) -> None:
    repo.apply({"session": "s", "at": "2024-01-01T00:00:00Z", "decisions": [{"id": "d1", "text": "t"}]})
    ledger = Ledger(repo.path, clock=lambda: datetime(2024, 2, 1, 5, tzinfo=EAST))
    assert ledger.end("d1", HERE, by="sam").session == "end-d1-2024-02-01T00:00:00Z"


def test_a_time_without_a_zone_is_refused_and_nothing_is_written(story: Repo) -> None:
    ledger, naive, before = open_(story), datetime(2024, 5, 1), story.checkpoint.read_bytes()  # noqa: DTZ001
    for ask in (
        lambda: ledger.as_of(naive),
        lambda: ledger.believed(naive),
        lambda: ledger.believed(HERE, None, [naive]),
        lambda: ledger.diff(naive, HERE),
        lambda: ledger.diff(HERE, naive),
        lambda: ledger.end("d1", naive, by="sam"),
        lambda: ledger.end("d1", HERE, by="sam", at=naive),
        lambda: ledger.review("rejects", Target("d1"), by="sam", reason="r", at=naive),
        lambda: Ledger(story.path, clock=lambda: naive).slots(),
    ):
        with pytest.raises(ValueError, match="has no time zone; say which"):
            ask()
    assert story.checkpoint.read_bytes() == before
