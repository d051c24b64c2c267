"""A real decision log on both axes: 795 sessions since 2000, applied by one command, against known answers."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ledger_cli.app import run

DATA = Path(__file__).parent / "data"
LOG = DATA / "peps_sessions.json"
EXPECTED = DATA / "peps_ledger_expected.json"


def ledger(folder: Path, *arguments: str) -> Any:
    """Run a command in a folder; what it said on stdout as JSON (None: nothing)."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = run(["--directory", str(folder), *arguments], clock=lambda: datetime(2027, 1, 1, tzinfo=UTC))
    assert code == 0, err.getvalue()
    return json.loads(out.getvalue()) if "--json" in arguments else None


@pytest.fixture(scope="module")
def peps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose ledger holds the whole log."""
    folder = tmp_path_factory.mktemp("peps")
    ledger(folder, "init")
    ledger(folder, "session", "apply", str(LOG))
    return folder


@pytest.fixture(scope="module")
def rebuilt(peps: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Another folder, which got nothing but the checkpoint."""
    folder = tmp_path_factory.mktemp("rebuilt")
    (folder / "snapshots").mkdir()
    shutil.copy(peps / "snapshots" / "ledger.json", folder / "snapshots" / "ledger.json")
    return folder


@pytest.fixture(params=["peps", "rebuilt"])
def log(request: pytest.FixtureRequest) -> Path:
    """The log as it was applied, and as rebuilt from the checkpoint alone."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    return json.loads(EXPECTED.read_text(encoding="utf-8"))


def counted(answer: dict[str, Any]) -> dict[str, Any]:
    """How many items an answer holds, and the hash of their sorted ids."""
    ids = sorted(item["id"] for item in answer["items"])
    digest = hashlib.sha256("\n".join(ids).encode()).hexdigest()
    return {"count": len(ids), "sha256_of_ids_joined_by_newline": digest}


def test_every_session_of_the_log_is_recorded(peps: Path) -> None:
    sessions = json.loads(LOG.read_text(encoding="utf-8"))
    recorded = ledger(peps, "session", "list", "--json")["sessions"]
    assert {s["session"] for s in recorded} == {s["session"] for s in sessions}
    assert len(recorded) == len(sessions)
    assert all(s["exported"] for s in recorded)


def test_what_was_true_on_each_day(log: Path, expected: dict[str, Any]) -> None:
    days = [row["t"] for row in expected["as_of"]]
    assert [{"t": day, **counted(ledger(log, "as-of", day, "--json"))} for day in days] == expected["as_of"]


def test_what_was_believed_of_each_day(log: Path, expected: dict[str, Any]) -> None:
    found = []
    for row in expected["believed"]:
        asked = {"validAt": row["validAt"], "knownAt": row["knownAt"]}
        answer = ledger(log, "believed", row["validAt"], "--known", row["knownAt"], "--json")
        assert {key: answer[key] for key in asked} == asked
        found.append(asked | counted(answer))
    assert found == expected["believed"]


def test_how_late_each_decision_was_learned(log: Path, expected: dict[str, Any]) -> None:
    items = ledger(log, "lateness", "--json")["items"]
    rows = [{"daysLate": i["daysLate"], "id": i["id"]} for i in items]
    assert {
        "n": len(rows),
        "negative": sum(row["daysLate"] < 0 for row in rows),
        "zero": sum(row["daysLate"] == 0 for row in rows),
        "top10": rows[:10],
        "bottom10": rows[-10:],
    } == expected["lateness"]


def test_what_each_write_of_a_year_changed(log: Path, expected: dict[str, Any]) -> None:
    asked = expected["diff"]
    answer = ledger(log, "diff", "--from", asked["from"], "--to", asked["to"], "--json")
    keys = ("added", "closed", "rejected")
    rows = [{"written": write["at"], **{key: write[key] for key in keys}} for write in answer["writes"]]
    assert rows == asked["rows"]


def test_nothing_is_wrong_with_the_checkpoint(log: Path) -> None:
    assert ledger(log, "check", "--json") == {"ok": True, "problems": []}


def test_the_whole_log_again_changes_no_byte(peps: Path) -> None:
    before = (peps / "snapshots" / "ledger.json").read_bytes()
    again = ledger(peps, "session", "apply", str(LOG), "--json")["sessions"]
    assert {s["status"] for s in again} == {"unchanged"}
    assert (peps / "snapshots" / "ledger.json").read_bytes() == before


def test_a_rebuilt_store_answers_as_the_one_that_was_written(peps: Path, rebuilt: Path) -> None:
    for question in (("lateness",), ("slots",), ("session", "list"), ("as-of", "now"), ("believed", "2012-01-01")):
        assert ledger(peps, *question, "--json") == ledger(rebuilt, *question, "--json")
