"""What is on disk is not what the tool wrote, or the disk takes nothing more: a name for it, or the right answer.

Never a traceback, never a silent repair of the checkpoint; and what is refused writes nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ledger_cli import checkpoint
from ledger_cli.durable import CannotWrite
from tests.conftest import ROOT, Repo, Said

READERS = (("as-of", "2024-01-20", "--json"), ("session", "list"), ("history", "orders"), ("check",), ("doctor",))
WRITERS = (("session", "apply", "sessions/next.json"), ("export",), ("rebuild",), ("reject", "d1", "--by", "a",
           "--reason", "b"), ("end", "d1", "--on", "2030-01-01", "--by", "a"))  # fmt: skip
NEXT = {"session": "next", "decisions": [{"id": "next/d", "text": "what comes next", "about": ["orders"]}]}
RIGHT = ["d4"]
"""What held about orders on 20 January 2024, in the story."""


@pytest.fixture
def told(story: Repo) -> Repo:
    """The orders story, and a session to apply next."""
    story.write(NEXT, name="next.json")
    return story


def is_named(said: Said, *codes: int) -> None:
    """The exit code is one of these, and what is wrong is said in sentences."""
    assert said.code in codes, said
    assert "Traceback" not in said.out + said.err
    assert "this is a bug" not in said.err


def is_right(repo: Repo) -> None:
    assert repo.run("as-of", "orders", "2024-01-20", "--json").ids == RIGHT


# The checkpoint

BAD = {
    "empty": (lambda d: b"", "is empty"),
    "cut off in a line": (lambda d: d[: len(d) // 2], "middle of this line"),
    "cut off behind a line": (lambda d: d[: d.rfind(b"\n", 0, len(d) // 2) + 1], "the file ends"),
    "without its last line end": (lambda d: d[:-1], "no line end"),
    "garbled": (lambda d: d.replace(b'"validFrom"', b'"validFRom"', 1), "validFRom"),
    "not UTF-8": (lambda d: d.replace(b"mysql", b"my\xffql", 1), "UTF-8"),
    "zeros": (lambda d: b"\0" * len(d), "not a checkpoint"),
    "other JSON": (lambda d: b'{"name": "ledger"}\n', "not a checkpoint"),
    "re-indented": (lambda d: json.dumps(json.loads(d), indent=2).encode(), "not a checkpoint|no comma|no line"),
    "newer": (lambda d: d.replace(b'"ledger": 1', b'"ledger": 2', 1), "written by a newer ledger .format 2"),
    "in conflict": (
        lambda d: d.replace(b'"slot ', b'<<<<<<< HEAD\n=======\n>>>>>>> side\n"slot ', 1),
        "merge conflict in the checkpoint",
    ),
    "with a line too many": (lambda d: _twice(d, b'{"decision"'), "the same line"),
    "with a line too few": (lambda d: _gone(d, b'{"decision": "d1"'), "d1"),
    "LF and CRLF": (lambda d: d.replace(b"\n", b"\r\n", 3), "mixed"),
}


def _twice(data: bytes, start: bytes) -> bytes:
    return b"".join(line * (1 + line.startswith(start)) for line in data.splitlines(True))


def _gone(data: bytes, start: bytes) -> bytes:
    return b"".join(line for line in data.splitlines(True) if not line.startswith(start))


@pytest.mark.parametrize("store", ["fresh", "none", "waiting"])
@pytest.mark.parametrize("how", BAD)
def test_a_damaged_checkpoint_is_named_by_all_and_written_by_none(told, how, store):
    if store == "waiting":
        told.run("session", "apply", "sessions/next.json", "--no-export")
    change, says = BAD[how]
    bad = change(told.checkpoint.read_bytes())
    told.checkpoint.write_bytes(bad)
    if store == "none":
        shutil.rmtree(told.store)
    journal = told.store / "journal.jsonl"
    waiting = journal.read_bytes() if journal.exists() else None
    for command in (*READERS[:3], *WRITERS):
        said = told.run(*command, code=3)
        is_named(said, 3)
        assert re.search(says, said.err), said.err
        assert told.checkpoint.read_bytes() == bad
    is_named(told.run("check", code=None), 3)
    is_named(told.run("doctor", code=None), 1)
    assert told.checkpoint.read_bytes() == bad
    assert (journal.read_bytes() if journal.exists() else None) == waiting
    assert [p.name for p in told.store.parent.iterdir() if p.name.endswith("tmp")] == []


def test_lines_in_the_wrong_order_are_put_right_by_export_alone(told):
    good = told.checkpoint.read_bytes()
    lines = good.splitlines(True)
    at = next(n for n, line in enumerate(lines) if line.startswith(b"{") and lines[n + 1].startswith(b'{"'))
    at = at if at else 1
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    told.checkpoint.write_bytes(bad := b"".join(lines))
    for command in (*READERS[:3], WRITERS[0]):
        said = told.run(*command, code=3)
        assert "ledger export" in said.err
    assert told.checkpoint.read_bytes() == bad
    told.run("export")
    assert told.checkpoint.read_bytes() == good
    is_right(told)


def test_crlf_is_read_and_the_next_write_is_lf(told):
    good = told.checkpoint.read_bytes()
    told.checkpoint.write_bytes(crlf := good.replace(b"\n", b"\r\n"))
    is_right(told)
    told.run("check")
    assert told.checkpoint.read_bytes() == crlf
    told.run("session", "apply", "sessions/next.json")
    data = told.checkpoint.read_bytes()
    assert b"\r" not in data
    assert data == checkpoint.render(checkpoint.read(data))
    assert set(good.splitlines()) <= set(data.splitlines())


def test_a_read_only_checkpoint_is_replaced_and_stays_read_only(told):
    """Its folder decides: as git does."""
    told.checkpoint.chmod(0o444)
    told.run("session", "apply", "sessions/next.json")
    assert told.checkpoint.stat().st_mode & 0o777 == 0o444
    is_right(told)


@pytest.mark.parametrize("what", ["file", "folder", "store"])
def test_symlinks_stay_and_what_is_behind_them_is_written(told, what):
    path = {"file": told.checkpoint, "folder": told.checkpoint.parent, "store": told.store}[what]
    elsewhere = told.path.parent / "elsewhere"
    elsewhere.mkdir()
    path.rename(elsewhere / path.name)
    path.symlink_to(elsewhere / path.name)
    (elsewhere / ".ledger.json.0123456789ab.tmp").write_bytes(b"left by a killed writer")
    is_right(told)
    told.run("session", "apply", "sessions/next.json")
    told.run("session", "apply", "sessions/next.json")
    assert path.is_symlink()
    assert b"what comes next" in told.checkpoint.read_bytes()
    told.run("check")
    assert (elsewhere / ".ledger.json.0123456789ab.tmp").exists() == (what != "file")


def test_a_checkpoint_that_is_no_file_is_named(told):
    data = told.checkpoint.read_bytes()
    told.checkpoint.unlink()
    told.checkpoint.mkdir()
    for command in (*READERS[:3], *WRITERS):
        is_named(told.run(*command, code=None), 3)
    told.checkpoint.rmdir()
    told.checkpoint.symlink_to("nowhere.json")
    for command in (*READERS[:3], *WRITERS):
        is_named(told.run(*command, code=None), 1)
    told.checkpoint.unlink()
    told.checkpoint.write_bytes(data)
    is_right(told)


# The store


def current(repo: Repo) -> dict[str, object]:
    found: dict[str, object] = json.loads((repo.store / "current.json").read_bytes())
    return found


def generation(repo: Repo) -> Path:
    return repo.store / str(current(repo)["file"])


def say_otherwise(repo: Repo, **more: object) -> None:
    (repo.store / "current.json").write_text(json.dumps(current(repo) | more))


def swap_in_folder(path: Path) -> None:
    path.unlink()
    (path / "inside").mkdir(parents=True)


STORE = {
    "deleted": lambda r: shutil.rmtree(r.store),
    "empty": lambda r: [p.unlink() for p in r.store.iterdir()],
    "no generation": lambda r: generation(r).unlink(),
    "a folder for a generation": lambda r: swap_in_folder(generation(r)),
    "an empty generation": lambda r: generation(r).write_bytes(b""),
    "a truncated generation": lambda r: os.truncate(generation(r), generation(r).stat().st_size // 2),
    "a generation of zeros": lambda r: generation(r).write_bytes(b"\0" * 5000),
    "no current.json": lambda r: (r.store / "current.json").unlink(),
    "garbage in current.json": lambda r: (r.store / "current.json").write_bytes(b"\xff{garbage"),
    "another engine": lambda r: say_otherwise(r, engine="kglite 0.0.1"),
    "a path outside": lambda r: say_otherwise(r, file="../../s1.kgl"),
    "another number": lambda r: say_otherwise(r, generation=77, file="s77.kgl"),
    "sessions nobody has": lambda r: say_otherwise(r, pending=["ghost"], aside=["other ghost"]),
    "no lock": lambda r: (r.store / "lock").unlink(missing_ok=True),
    "leftovers": lambda r: [(r.store / n).write_bytes(b"x") for n in ("s50.kgl", "s1.kgl.tmp", "current.tmp")],
}


@pytest.mark.parametrize("how", STORE)
def test_a_damaged_store_is_rebuilt_and_changes_no_answer(told, how):
    before = told.checkpoint.read_bytes()
    for command in (*READERS[:3], WRITERS[0], WRITERS[2]):
        if not (told.store / "current.json").is_file():
            told.run("rebuild")
        STORE[how](told)
        said = told.run(*command)
        if command[0] != "session" or command[1] == "list":
            assert told.checkpoint.read_bytes() == before
        else:
            assert said.code == 0
            before = told.checkpoint.read_bytes()
            assert b"what comes next" in before
        is_right(told)
    told.run("check")


def test_a_flipped_byte_anywhere_in_a_generation_changes_no_answer(told):
    rng = random.Random(1)
    told.run("rebuild")
    path = generation(told)
    data = path.read_bytes()
    for at in sorted({*range(40), *rng.sample(range(len(data)), 60), len(data) - 1}):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
        is_right(told)
        if generation(told) != path:  # found, and rebuilt
            say_otherwise(told, generation=int(path.stem[1:]), file=path.name)
            path.write_bytes(data)


def test_a_generation_number_that_is_lost_never_comes_back_with_other_things(told):
    """`current.json` names a file that is gone; a writer dies when it has saved the next one, under which name?"""
    generation(told).unlink()
    old = current(told)
    from ledger_cli.store.generations import Generations

    number, _ = Generations(told.store).next()
    assert number > int(str(old["generation"]))


# The journal


@pytest.fixture
def waiting(told: Repo) -> Repo:
    """A session waits to be exported."""
    told.run("session", "apply", "sessions/next.json", "--no-export")
    return told


def test_a_deleted_journal_is_said_and_its_sessions_are_gone(waiting):
    """The folder's deletion loses only what was not exported; nothing is left that pretends otherwise."""
    before = waiting.checkpoint.read_bytes()
    (waiting.store / "journal.jsonl").unlink()
    said = waiting.run("session", "list", "--json")
    assert "note: next: applied but never exported, and gone with the journal that held it" in said.err
    assert "next" not in [row["session"] for row in said.json["sessions"]]
    assert waiting.run("session", "list").err == ""
    waiting.run("export")
    assert waiting.checkpoint.read_bytes() == before
    assert "what comes next" in waiting.run("session", "apply", "sessions/next.json").out


@pytest.mark.parametrize("writer", WRITERS[1:3])
def test_a_deleted_journal_is_said_by_writers_too(waiting, writer):
    (waiting.store / "journal.jsonl").unlink()
    waiting.run(*writer)
    is_right(waiting)
    assert "next" not in waiting.run("session", "list").out


@pytest.mark.parametrize("how", ["garbled", "garbage", "folder"])
def test_a_damaged_journal_is_named_and_left_alone(waiting, how):
    path = waiting.store / "journal.jsonl"
    before = waiting.checkpoint.read_bytes()
    if how == "folder":
        swap_in_folder(path)
    else:
        data = path.read_bytes()
        path.write_bytes(b"garbage" if how == "garbage" else data.replace(b'"text"', b'"test"'))
    bad = path.read_bytes() if path.is_file() else None
    for command in (*READERS[:3], *WRITERS, READERS[3]):
        said = waiting.run(*command, code=3)
        is_named(said, 3)
        assert "journal.jsonl" in said.err
    is_named(waiting.run("doctor", code=None), 1)
    assert (path.read_bytes() if path.is_file() else None) == bad
    assert waiting.checkpoint.read_bytes() == before


def test_a_torn_journal_keeps_what_was_acknowledged(waiting):
    path = waiting.store / "journal.jsonl"
    whole = path.read_bytes()
    second = {"session": "second", "decisions": [{"id": "second/d", "text": "second"}]}
    waiting.apply(second, flags=("--no-export",))
    for cut in (1, 2, 25, len(path.read_bytes()) - len(whole) - 1):
        path.write_bytes(whole + path.read_bytes()[len(whole) :])
        torn = path.read_bytes()[:-cut]
        path.write_bytes(torn)
        rows = waiting.run("session", "list", "--json").json["sessions"]
        assert "next" in [row["session"] for row in rows]
        assert "second" not in [row["session"] for row in rows]
        assert path.read_bytes() == torn
        waiting.apply(second, flags=("--no-export",))
    waiting.run("export")
    assert {"next", "second"} <= {e.session for e in checkpoint.read(waiting.checkpoint.read_bytes())}


# A disk that takes nothing more


def mounted(path: Path, options: str) -> bool:
    """Mount a small file system in memory; False where one may not."""
    if os.geteuid() != 0 or sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    return bool(libc.mount(b"tmpfs", str(path).encode(), b"tmpfs", 0, options.encode()) == 0)


@pytest.fixture
def small(told: Repo, tmp_path: Path) -> Iterator[Repo]:
    """The story on a disk of its own, which a test can fill up; where none can be mounted, files may not grow."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if not mounted(disk, "size=600k"):
        pytest.skip("a file system can be mounted by root alone")
    try:
        told.path = Path(shutil.copytree(told.path, disk / "repo", ignore=shutil.ignore_patterns(".git")))
        told.run("rebuild")
        yield told
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def fill(repo: Repo, free: int) -> Path:
    """Leave this many bytes (to a page) free."""
    ballast = repo.path.parent / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 4096)
    os.truncate(ballast, max(0, ballast.stat().st_size // 4096 * 4096 - free))
    return ballast


def test_a_full_disk_is_named_wherever_it_fills_up_and_room_mends_it(small):
    acknowledged = set()
    for n, pages in enumerate([0, 0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16]):
        before = small.checkpoint.read_bytes()
        path = small.write({"session": f"x{n}", "decisions": [{"id": f"x{n}/d", "text": "x" * 1000}]})
        ballast = fill(small, pages * 4096)
        said = small.run("session", "apply", path, code=None)
        is_named(said, 0, 1)
        if f"x{n}: applied" in said.out:
            acknowledged.add(f"x{n}")
        if said.code:
            assert "cannot write" in said.err, said
            assert "No space left" in said.err
            assert small.checkpoint.read_bytes() == before
            is_named(small.run("export", code=None), 0, 1)
        is_right(small)  # a reader needs no room
        seen = {row["session"] for row in small.run("session", "list", "--json").json["sessions"]}
        assert acknowledged <= seen
        ballast.unlink()
        small.run("check")
    small.run("export")
    assert acknowledged <= {e.session for e in checkpoint.read(small.checkpoint.read_bytes())}
    assert acknowledged
    assert not list((small.checkpoint.parent).glob(".*.tmp"))


GROWS_NOT = """
import resource, signal, sys
from ledger_cli.app import run
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
sys.exit(run(sys.argv[2:]))
"""


@pytest.mark.parametrize("limit", [0, 300, 2000, 4000])
def test_files_that_may_not_grow_are_named(told, limit):
    """The same without a mount: a quota, in effect."""
    before = told.checkpoint.read_bytes()
    command = [sys.executable, "-c", GROWS_NOT, str(limit), "session", "apply", "sessions/next.json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=told.path, env=environment, capture_output=True, text=True, check=False)
    is_named(Said(done.returncode, done.stdout, done.stderr), 1)
    assert "cannot write" in done.stderr
    assert told.checkpoint.read_bytes() == before
    told.now = datetime.now(UTC)  # it is the machine's clock that the other process went by
    rows = told.run("session", "list", "--json").json["sessions"]
    assert ("next: applied" in done.stdout) == ("next" in [row["session"] for row in rows])
    told.run("session", "apply", "sessions/next.json")
    told.run("check")
    assert b"what comes next" in told.checkpoint.read_bytes()
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


# A folder that takes nothing

AS_NOBODY = """
import contextlib, io, os, sys
from ledger_cli.app import run
copy, *commands = sys.argv[1:]
commands = [words.split(" ") for words in commands]
here = os.getcwd()
os.chdir(copy)  # whatever they import they import as us: the interpreter itself may be hidden from nobody
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    for words in [*commands, ["show", "unknown"]]:
        run(words)
os.chdir(here)
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
for words in commands:
    sys.stderr.write("> ")
    print("> ", end="")
    print("<", run(words), flush=True)
"""


def as_nobody(repo: Repo, *commands: tuple[str, ...]) -> list[Said]:
    """Run commands as a user who owns nothing, or as ourselves if we are not root."""
    copy = shutil.copytree(repo.path, repo.path.parent / "copy", symlinks=True)
    for folder in repo.path.parents:
        if folder.stat().st_uid == os.geteuid() and not folder.stat().st_mode & 0o001:
            folder.chmod(folder.stat().st_mode | 0o055)
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, str(copy), *map(" ".join, commands)],
        cwd=repo.path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    shutil.rmtree(copy)
    outs, errs = done.stdout.split("> ")[1:], done.stderr.split("> ")[1:]
    assert len(outs) == len(errs) == len(commands), done
    return [Said(int(out.rpartition("<")[2]), out, err) for out, err in zip(outs, errs, strict=True)]


def read_only(repo: Repo, *commands: tuple[str, ...]) -> list[Said]:
    """Run commands where nothing can be written."""
    modes = {path: path.stat().st_mode for path in [repo.path, *repo.path.rglob("*")] if not path.is_symlink()}
    for path in modes:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        return as_nobody(repo, *commands)
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


@pytest.mark.parametrize("store", ["fresh", "behind", "none"])
def test_readers_answer_on_a_read_only_folder_and_writers_say_that_it_is_one(told, store):
    if store == "none":
        shutil.rmtree(told.store)
    elif store == "behind":
        first = told.checkpoint.read_bytes()
        told.run("session", "apply", "sessions/next.json")
        told.checkpoint.write_bytes(first)
    before = {p: p.read_bytes() for p in told.path.rglob("*") if p.is_file()}
    readers, writers = READERS[:4], (WRITERS[0], *WRITERS[1:3])
    said = read_only(told, *readers, *writers)
    for one in said[: len(readers)]:
        is_named(one, 0)
    assert "d4" in said[0].out
    for one in said[len(readers) :]:
        is_named(one, 1)
        assert "cannot write" in one.err
    assert {p: p.read_bytes() for p in told.path.rglob("*") if p.is_file()} == before


def test_what_may_not_be_read_is_named(told):
    if os.geteuid() != 0:
        pytest.skip("hidden from nobody, shown to us: needs root")
    said = as_nobody(told, *READERS[:4])
    assert [one.code for one in said] == [0, 0, 0, 0]
    told.checkpoint.chmod(0o600)
    for one in as_nobody(told, *READERS[:4]):  # what the store has is not the ledger: nobody can tell if it still is
        is_named(one, 0, 3)
    shutil.rmtree(told.store)
    for one in as_nobody(told, *READERS[:4]):
        is_named(one, 3)
        assert "Permission denied" in one.err


# What may not be looked at, and what is no file


@pytest.mark.parametrize("hidden", ["snapshots", "snapshots/.store", "sessions", "snapshots/.store/current.json"])
def test_what_may_not_be_looked_into_is_named(told: Repo, hidden: str) -> None:
    (told.path / hidden).chmod(0o700 if (told.path / hidden).is_dir() else 0o600)
    if os.geteuid() != 0:
        pytest.skip("hidden from nobody, shown to us: needs root")
    for one in as_nobody(told, *READERS, *WRITERS):
        is_named(one, 0, 1, 3)
        if hidden == "snapshots":
            assert (one.code, one.err.count("cannot read")) == (3, 1)
            assert "ledger.json: Permission denied" in one.err


@pytest.mark.parametrize("mode", [0o700, 0o744])
def test_session_files_that_are_hidden_are_warned_about(told: Repo, mode: int) -> None:
    if os.geteuid() != 0:
        pytest.skip("hidden from nobody, shown to us: needs root")
    (told.path / "sessions").chmod(mode)
    [one] = as_nobody(told, ("check",))
    assert one.code == 0
    assert "warning: sessions" in one.out
    assert "cannot be read: Permission denied [unreadable-session]" in one.out


def test_a_file_where_the_session_files_should_be_is_warned_about(story: Repo) -> None:
    shutil.rmtree(story.path / "sessions")
    assert story.run("check").out == "ok\n"
    (story.path / "sessions").write_text("mine")
    assert "warning: sessions: cannot be read: Not a directory [unreadable-session]\n" in story.run("check").out


def test_a_component_that_fails_is_named(told: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.lstat, os.stat

    def denied(look: Callable[..., os.stat_result]) -> Callable[..., os.stat_result]:
        def stat(path: Any, *args: Any, **options: Any) -> os.stat_result:
            if "snapshots" in str(path):
                raise PermissionError(13, "Permission denied", str(path))
            return look(path, *args, **options)

        return stat

    monkeypatch.setattr(os, "lstat", denied(real[0]))
    monkeypatch.setattr(os, "stat", denied(real[1]))
    for words in (*READERS, *WRITERS):
        said = told.run(*words, code=3)
        assert said.err == f"error: cannot read {told.checkpoint}: Permission denied\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name")
@pytest.mark.parametrize("where", ["snapshots/ledger.json", "snapshots/.store/journal.jsonl"])
@pytest.mark.parametrize("store", ["fresh", "none"])
def test_a_pipe_where_a_file_should_be_is_refused_by_name(told: Repo, where: str, store: str) -> None:
    if store == "none":
        shutil.rmtree(told.store)
        told.store.mkdir()
    path = told.path / where
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    for words in READERS[:4] + WRITERS:
        said = told.run(*words, code=None)
        assert (said.code, said.err.splitlines()[0]) == (3, f"error: {path} is no regular file")
    assert told.run("doctor", code=1).err == ""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name")
def test_a_pipe_in_the_cache_is_built_over(told: Repo) -> None:
    (told.store / "current.json").unlink()
    os.mkfifo(told.store / "current.json")
    is_right(told)
    told.run(*WRITERS[0])


def test_a_device_is_no_checkpoint(told: Repo) -> None:
    told.checkpoint.unlink()
    told.checkpoint.symlink_to("/dev/zero")
    assert told.run("check", code=3).err.startswith(f"error: {told.checkpoint} is no regular file\n")


def test_a_file_where_the_store_should_be_is_named_with_the_way_out(told: Repo) -> None:
    shutil.rmtree(told.store)
    told.store.write_text("mine")
    hint = "  hint: move it away: the store is built anew from the checkpoint\n"
    for words in (*READERS[:2], *WRITERS):
        said = told.run(*words, code=None)
        assert said.code in (1, 3)
        assert said.err == f"error: {told.store} is no folder\n{hint}"
    told.store.unlink()
    is_right(told)


def test_a_file_name_that_is_no_text_is_shown_as_its_bytes(story: Repo) -> None:
    try:
        (story.path / "sessions" / os.fsdecode(b"caf\xe9.yaml")).write_text("session: new\ndecisions: [{text: it}]\n")
    except OSError:
        pytest.skip("this file system takes names in UTF-8 alone")
    assert "sessions/caf\\udce9.yaml:1: session new is not applied" in story.run("check").out
    [problem] = story.run("check", "--json").json["problems"]
    assert problem["hint"] == "ledger session apply sessions/caf\udce9.yaml"


# After the acknowledgement


def kept(said: Said) -> bool:
    """Does a failure say that what was applied is kept, and what writes it?"""
    return said.err.endswith("  hint: what was acknowledged is kept: next; `ledger export` writes it\n")


@pytest.mark.parametrize("step", ["write_temp", "replace"])
def test_an_export_that_fails_says_that_what_was_applied_is_kept(
    told: Repo, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def full(*_: object) -> None:
        raise CannotWrite(f"cannot write {told.checkpoint}: No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(f"ledger_cli.durable.{step}", full)
        said = told.run(*WRITERS[0], code=1)
    assert said.out.startswith("next: applied")
    assert kept(said), said.err
    assert told.run("export").out == "wrote snapshots/ledger.json with next\n"


def test_a_checkpoint_that_cannot_be_read_any_more_says_so_too(told: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    def hidden(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    told.run("lateness")
    with monkeypatch.context() as patch:
        patch.setattr("ledger_cli.database.Identity.read", hidden)
        said = told.run(*WRITERS[0], code=3)
    assert said.out.startswith("next: applied")
    assert said.err.startswith(f"error: cannot read {told.checkpoint}: Permission denied\n")
    assert kept(said), said.err
    assert told.run("export").out == "wrote snapshots/ledger.json with next\n"
