"""The journal: what sessions recorded that the checkpoint does not hold yet.

`journal.jsonl` begins with what it was written on (the checkpoint's digest and its sessions), then one block a
session: its entry lines as in the checkpoint, closed by one line that names it. A block without that line was
never acknowledged and does not count.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ledger_cli import lines
from ledger_cli.errors import Damaged
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

    def without(self, recorded: Iterable[str]) -> Pending:
        """The same, less the sessions that are recorded elsewhere by now."""
        gone = set(recorded)
        return Pending(self.base, {id: entries for id, entries in self.sessions.items() if id not in gone})


def read(path: Path) -> Pending:
    """What the journal holds; nothing if there is no file. Raises Damaged, with the line, for what is no journal."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Pending()
    whole = data[: _last_block(data)]
    if not whole:
        return Pending()
    number = 1
    try:
        head, *rest = whole.decode().split("\n")[:-1]
        base = json.loads(head)
        pending = Pending(Base(base["base"], frozenset(base["sessions"])))
        entries: list[Entry] = []
        for line in rest:
            number += 1
            if line.startswith("{"):
                entries.append(lines.parse_line(line))
            else:
                id = json.loads(line).removeprefix(_END)
                pending.sessions[id] = tuple(entries)
                entries = []
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise Damaged(
            f"{path}:{number}: this is no journal: {fault}",
            "the sessions in it were applied but not exported; mend the line, or move the file away to go without them",
        ) from None
    return pending


_END = "end of session "


def _last_block(data: bytes) -> int:
    """Where the last whole block ends; what follows is a write that was cut off."""
    found = data.rfind(b'\n"' + _END.encode())
    return data.find(b"\n", found + 1) + 1 if found >= 0 else 0


def append(path: Path, base: Base, session: str, entries: Iterable[Entry]) -> None:
    """Write one session behind the others, durably: when this returns, it is acknowledged."""
    block = "".join(f"{lines.line(entry)}\n" for entry in entries) + json.dumps(_END + session, ensure_ascii=False)
    with path.open("ab") as file:
        end = _last_block(path.read_bytes()) if file.tell() else 0
        file.truncate(end)
        file.seek(end)
        if not end:
            head = {"base": base.digest, "sessions": sorted(base.sessions)}
            file.write((json.dumps(head, ensure_ascii=False) + "\n").encode())
        file.write((block + "\n").encode())
        file.flush()
        os.fsync(file.fileno())


def replace(path: Path, pending: Pending) -> None:
    """Make the journal hold exactly this, atomically; nothing pending = no file."""
    if not pending:
        path.unlink(missing_ok=True)
        return
    assert pending.base is not None
    temp = path.with_suffix(".tmp")
    temp.unlink(missing_ok=True)
    for session, entries in pending.sessions.items():
        append(temp, pending.base, session, entries)
    temp.replace(path)
