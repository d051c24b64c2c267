"""The journal: whole blocks count, cut-off ones never do, and anything else that is not as it was written is said."""

from __future__ import annotations

import errno
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ledger_cli import journal
from ledger_cli.durable import CannotWrite
from ledger_cli.errors import Damaged
from ledger_cli.journal import Base, Pending
from ledger_cli.model import Entry, Item, Link

AT = datetime(2024, 1, 1, 9, tzinfo=UTC)
BASE = Base("0" * 64, frozenset({"s1", 'quoted "s2"'}))
HOSTILE = 'a\n"end of session x2"\n{"base": "'


def entries(session: str, text: str = HOSTILE) -> tuple[Entry, ...]:
    return (
        Item("decision", f"{session}/d1", text, AT, AT, session, slot="a slot", about=("orders",)),
        Link("d0", f"{session}/d1", AT, session),
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def write(path: Path, *sessions: str) -> Pending:
    for session in sessions:
        journal.append(path, BASE, session, entries(session))
    return Pending(BASE, {session: entries(session) for session in sessions})


def test_what_is_appended_is_read_in_its_order(path):
    assert journal.read(path) == Pending()
    names = ["x1", "session 2", 'the "third"', "日本語", "語" * 197]
    written = write(path, *names)
    assert journal.read(path) == written
    assert list(journal.read(path).sessions) == names
    assert written.entries() == [entry for name in names for entry in entries(name)]


def test_less_some_sessions_it_stands_on_the_same_and_less_all_on_nothing(path):
    written = write(path, "x1", "x2")
    assert written.without(["x1", "unknown"]) == Pending(BASE, {"x2": entries("x2")})
    assert written.without(["x1", "x2"]) == Pending()
    assert not written.without(["x1", "x2"])


def test_cut_off_anywhere_it_holds_the_whole_blocks_before_and_takes_the_next(path):
    """A write can stop after any byte: also inside of the line that closes a block, and before its line end."""
    ends = {0: 0}
    for n in (1, 2, 3):
        write(path, f"x{n}")
        ends[n] = path.stat().st_size
    data = path.read_bytes()
    for cut in range(len(data) + 1):
        path.write_bytes(data[:cut])
        whole = max(n for n, end in ends.items() if end <= cut)
        names = [f"x{n}" for n in range(1, whole + 1)]
        assert list(journal.read(path).sessions) == names, cut
        if cut % 7 == 0 or cut in ends.values() or cut + 1 in ends.values():
            write(path, "next")
            assert list(journal.read(path).sessions) == [*names, "next"], cut
            assert path.read_bytes()[: ends[whole]] == data[: ends[whole]]


def test_what_a_power_failure_leaves_behind_the_last_block_does_not_count(path):
    """A file's length can reach the disk before what it holds."""
    written = write(path, "x1")
    data = path.read_bytes()
    for tail in (b"\0" * 300, data[:40] + b"\0" * 300, b'{"decision": "half', b'{"a": 1}\n{"half', b'"end of ses'):
        path.write_bytes(data + tail)
        assert journal.read(path) == written
    path.write_bytes(b"\0" * 300)
    assert journal.read(path) == Pending()
    write(path, "x2")
    assert list(journal.read(path).sessions) == ["x2"]


@pytest.mark.parametrize(
    ("change", "line", "says"),
    [
        (lambda d: b"garbage\n" + d, 1, "Expecting value"),
        (lambda d: b"garbage", 1, "does not begin as one"),
        (lambda d: b"[" * 100_000 + d, 1, ""),
        (lambda d: d.replace(b'"base"', b'"bass"', 1), 1, "base"),
        (lambda d: d.replace(b'"sessions": [', b'"sessions": [[1],', 1), 1, "unhashable"),
        (lambda d: d.replace(b'"text"', b'"test"', 1), 2, "test"),
        (lambda d: d.replace("ä".encode(), b"\xff", 1), 2, "utf-8"),
        (lambda d: d.replace(b'"end of session x1"', b'"ond of session x1"'), 4, "closes no session"),
        (lambda d: d.replace(b'"end of session x2"', b'"ond of session x2"'), 7, "closes no session"),
        (lambda d: d.replace(b'"end of session x1"', b'"end of session x9"'), 4, "not what session x9 recorded"),
        (lambda d: d.replace(b'"end of session x1"\n', b""), 6, "not what session x2 recorded"),
        (lambda d: d + b"".join(d.splitlines(True)[1:4]), 10, "a second time"),
        (lambda d: d + b'"end of session x3"\n', 8, "not what session x3 recorded"),
        (lambda d: d.replace(b"\n", b"\n\n", 1), 2, "Expecting value"),
    ],
)
def test_what_is_no_journal_is_named_with_its_line_and_left_alone(path, change, line, says):
    for name in ("x1", "x2"):
        journal.append(path, BASE, name, entries(name, "plain ä"))
    bad = change(path.read_bytes())
    path.write_bytes(bad)
    with pytest.raises(Damaged, match=rf"journal\.jsonl:{line}: this is no journal: .*{says}") as caught:
        journal.read(path)
    assert "not exported" in caught.value.hint
    assert path.read_bytes() == bad


def test_a_journal_that_cannot_be_read_is_named(path):
    path.mkdir()
    with pytest.raises(Damaged, match=r"cannot read .*journal"):
        journal.read(path)


def test_replacing_it_is_whole_and_nothing_is_no_file(path):
    written = write(path, "x1", "x2", "x3")
    journal.replace(path, written.without(["x2"]))
    assert list(journal.read(path).sessions) == ["x1", "x3"]
    write(path, "x4")
    assert list(journal.read(path).sessions) == ["x1", "x3", "x4"]
    journal.replace(path, Pending())
    journal.replace(path, Pending())
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("before", [(), ("x1",)])
def test_a_disk_that_does_not_take_it_keeps_what_was_there(path, monkeypatch, code, before):
    written = write(path, *before)

    def full(handle: int) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(CannotWrite, match=rf"cannot write .*journal\.jsonl: {os.strerror(code)}"):
            write(path, "x2")
        with pytest.raises(CannotWrite):
            journal.replace(path, Pending(BASE, {"x9": entries("x9")}))
    assert journal.read(path) == (written if before else Pending())
    write(path, "x3")
    assert list(journal.read(path).sessions) == [*before, "x3"]


def test_its_folder_is_flushed_with_a_new_file_and_before_nothing_is_acknowledged(path, monkeypatch):
    flushed: list[str] = []
    fsync = os.fsync

    def flush(handle: int) -> None:
        flushed.append(str(Path(f"/proc/self/fd/{handle}").readlink()))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", flush)
    write(path, "x1")
    assert flushed == [str(path), str(path.parent)]
    flushed.clear()
    write(path, "x2")
    assert flushed == [str(path)]


def test_a_long_journal_is_not_read_for_every_session(path, monkeypatch):
    """A batch of thousands must not cost their square."""
    write(path, *(f"x{n}" for n in range(50)))
    read = []
    find = journal._last_block
    monkeypatch.setattr(journal, "_last_block", lambda data: (read.append(len(data)), find(data))[1])
    write(path, "x50")
    assert read == []
