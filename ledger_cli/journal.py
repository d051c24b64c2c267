"""The journal: what sessions recorded that the checkpoint does not hold yet.

`journal.jsonl` begins with what it was written on (the checkpoint's digest and its sessions), then one block a
session: its entry lines as in the checkpoint, closed by one line that names it. A block that was cut off before the
end of that line was never acknowledged and does not count.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledger_cli.durable import CannotWrite, sync_folder
from ledger_cli.errors import Damaged

if TYPE_CHECKING:
    from ledger_cli.model import Entry


@dataclass(frozen=True)
class Base:
    """The checkpoint that a journal was begun on: its sha256, and the ids of its sessions."""

    digest: str
    sessions: frozenset[str]


@dataclass(frozen=True)
class Pending:
    """What a journal holds, in the order of writing."""

    base: Base | None = None
    sessions: dict[str, tuple[Entry, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.sessions)

    def entries(self) -> list[Entry]:
        return [entry for session in self.sessions.values() for entry in session]

    def without(self, gone: Iterable[str]) -> Pending:
        """The same, less these sessions; with none left nothing stands on any checkpoint."""
        gone = set(gone)
        left = {id: entries for id, entries in self.sessions.items() if id not in gone}
        return Pending(self.base, left) if left else Pending()


def read(path: Path) -> Pending:
    """What the journal holds; nothing if there is no file. Raises Damaged, with the line, for what is no journal."""
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # a pipe would be waited for
            raise Damaged(f"{path} is no regular file", "move it away: what was applied and not exported is not in it")
        data = path.read_bytes()
    except FileNotFoundError:
        return Pending()
    except NotADirectoryError:
        raise Damaged(f"{path.parent} is no folder", NO_FOLDER) from None
    except OSError as fault:
        raise Damaged(f"cannot read {path}: {fault.strerror}", _HINT) from None
    end = _last_block(data)
    try:
        pending = _blocks(data[:end].split(b"\n")[:-1])
        _check_cut_off(data[end:], data[:end].count(b"\n"))
    except _AtLine as fault:
        raise Damaged(f"{path}:{fault.number}: this is no journal: {fault}", _HINT) from None
    return pending


NO_FOLDER = "move it away: the store is built anew from the checkpoint"
_END = "end of session "
_HINT = "the sessions in it were applied but not exported; mend the line, or move the file away to go without them"


class _AtLine(ValueError):
    def __init__(self, number: int, fault: Exception | str) -> None:
        super().__init__(str(fault))
        self.number = number


def _blocks(whole: list[bytes]) -> Pending:
    if not whole:
        return Pending()
    from ledger_cli import lines

    number = 1
    entries: list[Entry] = []
    try:
        head = json.loads(whole[0])
        pending = Pending(Base(head["base"], frozenset(head["sessions"])))
        for line in whole[1:]:
            number += 1
            if line.startswith(b"{"):
                entries.append(lines.parse_line(line.decode()))
                continue
            id = _closes(json.loads(line))
            if id in pending.sessions:
                raise ValueError(f"session {id} stands here a second time")
            if not entries or any(entry.session != id for entry in entries):
                raise ValueError(f"what stands above is not what session {id} recorded")
            pending.sessions[id] = tuple(entries)
            entries = []
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as fault:
        raise _AtLine(number, fault) from None
    return pending


def _closes(said: Any) -> str:
    """The session that a closing line names."""
    if not isinstance(said, str) or not said.startswith(_END):
        raise ValueError("this line closes no session")
    return said.removeprefix(_END)


def _check_cut_off(tail: bytes, above: int) -> None:
    """Raise _AtLine where what follows the last whole block is not the beginning of one: it was tampered with.

    After a power failure it may be a run of zeros, for a file's length can reach the disk before what it holds.
    """
    *whole, last = tail.split(b"\n")
    head = b'{"base": "'
    first = whole[0] if whole else last
    if above == 0 and not (first.startswith(head) or head.startswith(first) or b"\0" in first):
        raise _AtLine(1, "it does not begin as one")
    for number, line in enumerate(whole, above + 1):
        if not line.startswith(b"{") and b"\0" not in line:
            raise _AtLine(number, "this line closes no session")


def _last_block(data: bytes) -> int:
    """Where the last whole block ends; what follows is a write that was cut off."""
    whole = data.rfind(b"\n") + 1
    while (found := data.rfind(b'\n"' + _END.encode(), 0, whole)) >= 0:
        if (end := data.find(b"\n", found + 1, whole)) >= 0:
            return end + 1
        whole = found
    return 0


def append(path: Path, base: Base, session: str, entries: Iterable[Entry]) -> None:
    """Write one session behind the others, durably: when this returns, it is acknowledged.

    Raises CannotWrite, and then nothing of the session is kept.
    """
    with _durably(path), path.open("r+b" if path.exists() else "x+b") as file:
        end = _end_of_blocks(file)
        file.seek(end)
        try:
            file.truncate()
            file.write((_block(session, entries) if end else _head(base) + _block(session, entries)).encode())
            file.flush()
            os.fsync(file.fileno())
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(file.fileno(), end)
            raise
        if not end:
            sync_folder(path.parent)  # a new file is lost with its folder's entry


def replace(path: Path, pending: Pending) -> None:
    """Make the journal hold exactly this, atomically and durably; nothing pending = no file. Raises CannotWrite."""
    with _durably(path):
        if not pending:
            path.unlink(missing_ok=True)
            if path.parent.is_dir():
                sync_folder(path.parent)
            return
        assert pending.base is not None
        temp = path.with_suffix(".tmp")
        with temp.open("wb") as file:
            blocks = (_block(session, entries) for session, entries in pending.sessions.items())
            file.write("".join([_head(pending.base), *blocks]).encode())
            file.flush()
            os.fsync(file.fileno())
        temp.replace(path)
        sync_folder(path.parent)


def _head(base: Base) -> str:
    return json.dumps({"base": base.digest, "sessions": sorted(base.sessions)}, ensure_ascii=False) + "\n"


def _block(session: str, entries: Iterable[Entry]) -> str:
    from ledger_cli import lines

    body = "".join(f"{lines.line(entry)}\n" for entry in entries)
    return body + json.dumps(_END + session, ensure_ascii=False) + "\n"


def _end_of_blocks(file: Any) -> int:
    """`_last_block` of an open file. Mostly its last line closes a block, and then it need not be read as a whole."""
    size: int = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 4096))
    tail = file.read()
    start = tail.rfind(b"\n", 0, -1)
    if start >= 0 and tail.endswith(b"\n") and tail.startswith(b'"' + _END.encode(), start + 1):
        return size
    file.seek(0)
    return _last_block(file.read())


@contextlib.contextmanager
def _durably(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        hint = "nothing of this session was kept; what was acknowledged before it waits for `ledger export`"
        raise CannotWrite(f"cannot write {path}: {fault.strerror or fault}", hint) from fault
