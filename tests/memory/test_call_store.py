"""Calls on the disk: a kill at any moment, several processes, and the files that git tracks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ledger_cli import journal
from ledger_cli.durable import CannotWrite
from ledger_cli.errors import Busy, Damaged, Refused
from ledger_cli.ledger import Ledger
from ledger_cli.memory.call_store import SETTLED, Calls
from ledger_cli.memory.calls import CallRepeated, ToolCall, line
from ledger_cli.memory.trace import Tracer
from ledger_cli.writer import Writer
from tests.conftest import NOW, ROOT

if TYPE_CHECKING:
    from tests.conftest import Repo

FACT = {"session": "told", "facts": [{"id": "f1", "text": "orders uses mysql", "about": ["orders"]}]}


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def ledger(repo: Repo, said: list[str]) -> Ledger:
    return Ledger(repo.path, clock=lambda: NOW, say=said.append)


@pytest.fixture
def tracer(ledger: Ledger) -> Tracer:
    return Tracer(ledger, "s1")


def records(ledger: Ledger) -> list[tuple[int, str, str | None]]:
    return [(call.seq, call.status, call.error) for call in Calls(ledger.database).all()]


def file_of(ledger: Ledger) -> Path:
    return ledger.root / "snapshots" / ".store" / "calls" / "s1.jsonl"


# A write and its call

CHILD = """
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from ledger_cli.ledger import Ledger
from ledger_cli.memory.trace import Tracer

left, real = int(sys.argv[1]), os.fsync

def fsync(handle):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    real(handle)

os.fsync = fsync
tracer = Tracer(Ledger(Path.cwd(), clock=lambda: datetime(2026, 6, 1, 12, tzinfo=UTC)), "s1")
tracer.apply_session({"session": "told", "facts": [{"id": "f1", "text": "orders uses mysql", "about": ["orders"]}]})
"""


def run_child(repo: Repo, code: str, *arguments: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=repo.path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode


def test_a_write_and_its_call_stand_or_fall_together_wherever_the_process_is_killed(repo: Repo, tmp_path: Path) -> None:
    """Killed at each flush to the disk in turn: of pending line, journal, store, checkpoint and call."""
    came: list[str] = []
    for step in range(1, 40):
        place = another(repo, tmp_path / f"step{step}")
        killed = run_child(place, CHILD, str(step)) != 0
        ledger = Ledger(place.path, clock=lambda: NOW)
        recorded = "told" in {row.id for row in ledger.sessions()}
        found = Calls(ledger.database).all()
        assert [call.status for call in found] in ([["committed"]] if recorded else [[], ["rolled_back"]])
        assert [call.touched for call in found] in ([("entity orders", "fact f1")], [()], [])
        assert all(call.error == SETTLED for call in found if call.status == "rolled_back")
        assert [call.status for call in Calls(ledger.database).all()] == [call.status for call in found]
        if found:
            with pytest.raises(CallRepeated):
                Tracer(ledger, "s1").apply_session({**FACT, "session": "again"}, seq=1)
            assert "again" not in {row.id for row in ledger.sessions()}
        came.append(found[0].status if found else "nothing")
        if not killed:
            break
    assert not killed, "the loop has to reach a run that is not killed"
    assert set(came) >= {"rolled_back", "committed"}
    assert came == sorted(came, key=["nothing", "rolled_back", "committed"].index)


def another(repo: Repo, path: Path) -> Repo:
    made = type(repo)(path, repo.capture)
    path.mkdir()
    made.run("init")
    return made


def test_a_write_that_the_disk_does_not_take_is_on_record_alone_with_the_error(
    ledger: Ledger, tracer: Tracer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise CannotWrite("cannot write the journal: No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(journal, "append", full)
        with pytest.raises(CannotWrite):
            tracer.apply_session(FACT)
    assert records(ledger) == [(1, "rolled_back", "cannot write the journal: No space left on device")]
    assert ledger.sessions() == []
    assert tracer.apply_session(FACT).status == "applied"
    assert records(ledger)[1:] == [(2, "committed", None)]


def test_a_write_that_is_durable_stays_committed_whatever_goes_wrong_after_it(
    ledger: Ledger, tracer: Tracer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise CannotWrite("cannot write the checkpoint")

    with monkeypatch.context() as patched:
        patched.setattr(Writer, "finish", fails)
        with pytest.raises(CannotWrite):
            tracer.apply_session(FACT)
    assert records(ledger) == [(1, "committed", None)]
    assert [row.id for row in ledger.sessions()] == ["told"]


def test_a_call_that_cannot_be_recorded_writes_nothing(ledger: Ledger, tracer: Tracer) -> None:
    tracer.read("recall", lambda: ledger.as_of(NOW))
    path = file_of(ledger)
    path.unlink()
    path.mkdir()
    with pytest.raises((CannotWrite, Damaged)):
        tracer.apply_session(FACT)
    path.rmdir()
    assert ledger.sessions() == []


def test_a_session_that_is_recorded_already_is_a_call_that_wrote_nothing(ledger: Ledger, tracer: Tracer) -> None:
    tracer.apply_session(FACT)
    assert tracer.apply_session(FACT).status == "unchanged"
    first, second = Calls(ledger.database).all()
    assert (first.touched, second.status, second.rows, second.touched) == (
        ("entity orders", "fact f1"), "committed", 1, (),
    )  # fmt: skip


def test_one_call_writes_one_session(ledger: Ledger, tracer: Tracer) -> None:
    with pytest.raises(Refused, match="these are 2"):
        tracer.apply_session('[{"session": "a", "facts": [{"text": "x"}]}, {"session": "b", "facts": [{"text": "y"}]}]')
    assert ledger.sessions() == []


def test_what_is_pending_while_the_ledger_is_written_to_is_left_to_its_writer(ledger: Ledger, tracer: Tracer) -> None:
    call = ToolCall("s1", 1, "remember", "committed", 0, rows=1)
    calls = Calls(ledger.database)
    ledger.database.make_store()
    with ledger.database.generations.lock(0):
        calls.begin("s1", 1, lambda _: call, "told")
        assert records(ledger) == []
        with pytest.raises(CallRepeated):
            calls.append("s1", 1, lambda _: call)
        assert calls.append("s1", None, lambda seq: ToolCall("s1", seq, "recall", "read", 0)).seq == 2
    assert records(ledger) == [(1, "rolled_back", SETTLED), (2, "read", None)]
    calls.finish(call)  # comes late, and is settled already
    assert len(records(ledger)) == 2


# Lines


def test_a_line_that_was_cut_off_is_dropped_and_that_is_said(ledger: Ledger, tracer: Tracer, said: list[str]) -> None:
    for _ in range(3):
        tracer.read("recall", lambda: ledger.as_of(NOW))
    path = file_of(ledger)
    whole = path.read_bytes()
    for cut in (1, 40, len(whole.splitlines()[-1]) - 1):
        path.write_bytes(whole[:-cut])
        said.clear()
        assert [seq for seq, *_ in records(ledger)] == [1, 2]
        assert said == ["note: s1.jsonl: a call that was being written when its process died is dropped"]
        assert path.read_bytes() == b"".join(whole.splitlines(keepends=True)[:2])
        said.clear()
        assert len(records(ledger)) == 2 and said == []
    tracer.read("recall", lambda: ledger.as_of(NOW))
    assert [seq for seq, *_ in records(ledger)] == [1, 2, 3]


def test_a_line_that_is_no_call_is_named_with_its_number(ledger: Ledger, tracer: Tracer, repo: Repo) -> None:
    tracer.read("recall", lambda: ledger.as_of(NOW))
    path = file_of(ledger)
    path.write_bytes(path.read_bytes() + b'{"call": 2}\n')
    told = repo.run("trace", "calls", code=3).err
    assert told.startswith(f"error: {path}:2: this is no tool call: it has no 'session'\n")
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0] * 2)
    assert ":2: this is no tool call: call 1 stands here a second time" in repo.run("trace", "calls", code=3).err


def test_a_line_that_was_mended_in_its_place_is_read_by_who_met_it_before(ledger: Ledger, tracer: Tracer) -> None:
    tracer.read("recall", lambda: None)
    path, calls = file_of(ledger), Calls(ledger.database)
    good = path.read_bytes()
    path.write_bytes(good + b"broken\n")
    for _ in range(2):
        with pytest.raises(Damaged, match=r"s1\.jsonl:2: this is no tool call: Expecting"):
            calls.all()
    path.write_bytes(good)  # the same file, as an editor may write it
    assert [call.seq for call in calls.all()] == [1]
    tracer.read("recall", lambda: None)
    assert [call.seq for call in calls.all()] == [1, 2]


def test_a_full_disk_keeps_nothing_of_a_call_and_the_next_one_goes_on(ledger: Ledger, tracer: Tracer) -> None:
    """A real limit of the operating system, so that the layers between are the real ones."""
    import resource

    tracer.read("recall", lambda: None, ask="first")
    path = file_of(ledger)
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, limits[1]))
        for ask in ("x" * 20_000, "x" * 200):
            with pytest.raises(CannotWrite):
                tracer.read("recall", lambda: None, ask=ask)
            assert path.read_bytes() == before
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    tracer.read("recall", lambda: None, ask="last")
    assert [(call.seq, call.ask) for call in Calls(ledger.database).all()] == [(1, "first"), (2, "last")]


def test_a_file_of_a_name_that_is_no_text_is_no_session(ledger: Ledger, tracer: Tracer) -> None:
    tracer.read("recall", lambda: None)
    (file_of(ledger).parent / os.fsdecode(b"\xff.jsonl")).write_bytes(b"")
    assert [call.session for call in Calls(ledger.database).all()] == ["s1"]


def test_calls_of_several_processes_get_numbers_of_their_own_and_none_is_lost(repo: Repo, ledger: Ledger) -> None:
    code = (
        "import sys\nfrom datetime import UTC, datetime\nfrom pathlib import Path\n"
        "from ledger_cli.ledger import Ledger\nfrom ledger_cli.memory.trace import Tracer\n"
        "ledger = Ledger(Path.cwd(), clock=lambda: datetime(2026, 6, 1, 12, tzinfo=UTC))\n"
        "tracer = Tracer(ledger, 's1')\n"
        "for n in range(15):\n    tracer.read('recall', lambda: None, ask=f'{sys.argv[1]}/{n}')\n"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(n)], cwd=repo.path, env={**os.environ, "PYTHONPATH": str(ROOT)}
        )
        for n in range(3)
    ]
    assert [process.wait() for process in running] == [0, 0, 0]
    found = Calls(ledger.database).all()
    assert sorted(call.seq for call in found) == list(range(1, 46))
    assert {call.ask for call in found} == {f"{n}/{m}" for n in range(3) for m in range(15)}


def test_who_waits_too_long_for_the_lock_is_told(ledger: Ledger, tracer: Tracer) -> None:
    from filelock import FileLock

    tracer.read("recall", lambda: None)
    ledger.database.timeout = 0.05
    with FileLock(ledger.root / "snapshots" / ".store" / "calls" / "lock"), pytest.raises(Busy):
        tracer.read("recall", lambda: None)


# What git tracks


def exported(repo: Repo) -> Path:
    return repo.path / "snapshots" / "calls" / "s1.jsonl"


def test_an_export_only_ever_adds_lines(repo: Repo, ledger: Ledger, tracer: Tracer) -> None:
    calls = Calls(ledger.database)
    before: list[str] = []
    for seq in (2, 5, 1, 9):  # numbers may come in any order
        tracer.read("recall", lambda: None, seq=seq)
        repo.run("trace", "export")
        lines = exported(repo).read_text().splitlines()
        assert [one for one in lines if one in before] == before
        assert lines == [line(call) for call in sorted(calls.all(), key=lambda call: call.seq)]
        before = lines


def test_what_a_killed_export_left_is_cleared_away(repo: Repo, tracer: Tracer) -> None:
    tracer.read("recall", lambda: None)
    exported(repo).parent.mkdir()
    (exported(repo).parent / ".s1.jsonl.0123456789ab.tmp").write_text("half")
    repo.run("trace", "export")
    assert [path.name for path in exported(repo).parent.iterdir()] == ["s1.jsonl"]


def test_where_the_files_cannot_go_it_says_so(repo: Repo, tracer: Tracer) -> None:
    tracer.read("recall", lambda: None)
    exported(repo).parent.write_text("no folder")
    said = repo.run("trace", "export", code=3)
    assert said.err.startswith(f"error: cannot read {exported(repo)}: ")
    exported(repo).parent.unlink()
    exported(repo).parent.symlink_to("nowhere")
    said = repo.run("trace", "export", code=1)
    assert said.err.startswith(f"error: cannot write {exported(repo).parent}: ")


def test_a_clone_goes_on_from_the_tracked_file(repo: Repo, ledger: Ledger, tracer: Tracer) -> None:
    tracer.read("recall", lambda: None, ask="first")
    repo.run("trace", "export")
    (ledger.root / "snapshots" / ".store" / "calls" / "s1.jsonl").unlink()
    other = Tracer(ledger, "s1")
    with pytest.raises(CallRepeated):
        other.read("recall", lambda: None, seq=1)
    other.read("recall", lambda: None, ask="second")
    assert [(c.seq, c.ask) for c in Calls(ledger.database).all()] == [(1, "first"), (2, "second")]
    assert repo.run("trace", "export").out == "wrote snapshots/calls/s1.jsonl with 2 calls\n"


def test_a_call_that_was_exported_with_other_content_is_refused(repo: Repo, ledger: Ledger, tracer: Tracer) -> None:
    tracer.read("recall", lambda: None, ask="mine")
    repo.run("trace", "export")
    theirs = exported(repo).read_text().replace("mine", "theirs")
    exported(repo).write_text(theirs)
    for command in (["trace", "export"], ["trace", "recent"]):
        said = repo.run(*command, code=1)
        assert said.err.startswith("error: call 1 of session s1 was exported with other content")
    assert exported(repo).read_text() == theirs


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda data: data.replace(b"\n", b"\r\n"), ""),
        (lambda data: b"".join(reversed(data.splitlines(keepends=True))), ""),  # a merge, line by line
        (lambda data: b"<<<<<<< HEAD\n" + data, "this is no tool call"),
        (lambda data: data + data, "a second time"),
        (lambda data: data.replace(b'"s1"', b'"s2"'), "it is of session s2"),
        (lambda data: data[:-10], "this is no tool call"),
        (lambda data: b'{"pending": ' + data, "this is no tool call"),
    ],
    ids=["CRLF", "another order", "conflict markers", "twice", "another session's", "cut off", "pending"],
)
def test_a_tracked_file_is_read_whatever_git_made_of_it_or_refused_by_line(
    repo: Repo, ledger: Ledger, tracer: Tracer, change: Any, why: str
) -> None:
    for _ in range(2):
        tracer.read("recall", lambda: None)
    repo.run("trace", "export")
    canonical = exported(repo).read_bytes()
    exported(repo).write_bytes(change(canonical))
    if not why:
        repo.run("trace", "export")
        assert exported(repo).read_bytes() == canonical
        exported(repo).write_bytes(change(canonical))
        file_of(ledger).unlink()  # as in a clone
        repo.run("trace", "export")
        assert exported(repo).read_bytes() == canonical
        return
    before = exported(repo).read_bytes()
    said = repo.run("trace", "export", code=3)
    assert why in said.err and "s1.jsonl:" in said.err
    assert exported(repo).read_bytes() == before


def test_the_record_is_no_part_of_the_ledger_and_outlives_its_store(repo: Repo, ledger: Ledger, tracer: Tracer) -> None:
    tracer.apply_session(FACT)
    repo.run("trace", "export")
    repo.run("rebuild")
    assert repo.run("check", "--json").json["ok"] is True
    assert repo.git("status", "--short", "--untracked-files=all", "snapshots").split()[1::2] == [
        "snapshots/calls/s1.jsonl",
        "snapshots/ledger.json",
    ]
    assert records(ledger) == [(1, "committed", None)]
