"""What a merge could not settle, in words: the question, both answers, both sessions, and the command."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sized
from typing import TYPE_CHECKING

from ledger_cli.errors import short
from ledger_cli.lines import line
from ledger_cli.model import Entity, Entry, Episode, Item, Link, Review
from ledger_cli.views.terminal import when

if TYPE_CHECKING:
    from ledger_cli.conflicts import Conflict

_WIDTH = 300
_WHO = "--by NAME --reason TEXT"


def counted(conflicts: Sized) -> str:
    """How many conflicts there are."""
    return f"{len(conflicts)} conflicts" if len(conflicts) > 1 else "1 conflict"


def told(conflicts: Iterable[Conflict]) -> str:
    """A paragraph a conflict."""
    return "".join("".join(f"{row}\n" for row in _rows(conflict)) for conflict in conflicts)


def _rows(conflict: Conflict) -> Iterator[str]:
    where = f"slot {conflict.slot}" if conflict.slot is not None else ", ".join(conflict.groups)
    yield f"conflict in {where}: {conflict.message}" if where else f"conflict: {conflict.message}"
    names = ("ours", "theirs") if conflict.told_apart else ("one", "other")
    for name, entries in zip(names, (conflict.ours, conflict.theirs), strict=True):
        for entry in entries:
            yield f"  {name:<8} {_entry(entry)}"
    if not conflict.told_apart and conflict.code not in ("two-current", "corrected-twice"):
        yield "  note     git merged both, and whose is whose is not in the file: `ours` is the one, `theirs` the other"
    if conflict.code in ("rewritten", "session-twice", "unknown-id") and conflict.hint:
        yield f"  note     {conflict.hint}"
    for words in commands(conflict):
        yield f"  run      {words}"
    if conflict.code == "unknown-id":
        yield "  note     take this back (`git merge --abort`, or of what runs), and bring first what it names"
    elif conflict.code == "two-current":
        yield "  note     FILE is a session that says which supersedes the other, or brings an item in place of both"


def _entry(entry: Entry) -> str:
    if isinstance(entry, Item | Episode):
        what = f"{entry.id}  {short(entry.text, _WIDTH)!r}"
    elif isinstance(entry, Link):
        what = f"{entry.new} supersedes {entry.old}"
    elif isinstance(entry, Review):
        what = f"{entry.verdict} {entry.target}: {short(entry.reason, _WIDTH)!r}"
    elif isinstance(entry, Entity):
        what = f"{entry.name} is a {entry.kind}"
    else:
        what = line(entry)
    return f"{what} ({entry.session}, recorded {when(entry.recorded_at)})"


def commands(conflict: Conflict) -> list[str]:
    """The commands that settle a conflict, one of them to be chosen."""
    if conflict.plain:
        return ["ledger resolve"]
    if conflict.code == "rewritten":
        return [f"ledger resolve --id {_quoted(conflict)} --keep base"]
    if conflict.code == "unknown-id":
        return []
    if conflict.code in ("two-current", "corrected-twice"):
        one = f"--slot {shlex.quote(conflict.slot)}" if conflict.slot is not None else f"--id {_quoted(conflict)}"
        kept = ("ours", "theirs") if conflict.told_apart else conflict.ids
        found = [f"ledger resolve {one} --keep {shlex.quote(keep)} {_WHO}" for keep in kept]
        return [*found, f"ledger resolve {one} --session FILE"]
    # Two answers under one id, in one slot: one of them gets another id, and is rejected.
    who = f" {_WHO}" if conflict.code == "cycle" or conflict.slot is not None else ""
    if conflict.code in ("session-twice", "duplicate-id", "two-kinds", "cycle"):
        return [f"ledger resolve --id {_quoted(conflict)} --keep {side}{who}" for side in ("ours", "theirs")]
    return [conflict.hint] if conflict.hint else []


def _quoted(conflict: Conflict) -> str:
    return shlex.quote(conflict.ids[0])
