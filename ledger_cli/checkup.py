"""What `check` finds in one checkpoint, and in the session files beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from ledger_cli import checks, retry, scan, session_file
from ledger_cli.answers import Checkup
from ledger_cli.errors import SessionFileError
from ledger_cli.model import Entry, Item

_UNREADABLE = {"not-canonical", "conflict-marker", "truncated", "format"}
"""Findings with which lines may be missing: what names them is no fault of its own."""


def check(
    data: bytes,
    files: Iterable[tuple[str, bytes | Path]],
    now: datetime,
    pending: Callable[[], Mapping[str, Sequence[Entry]]] = dict,
) -> Checkup:
    """All that is wrong with a checkpoint, its layout and its meaning, and with the session files beside it.

    `now` is the machine's clock. `pending` gives the sessions that were applied and not exported; it is asked where the
    checkpoint can be read.
    """
    entries, problems = scan.scan(data)
    found = [
        checks.Finding(p.code, p.message, line=p.line or None, hint=p.hint)
        for p in problems  # `unknown-id` is told once, with what names it
        if p.code != "unknown-id"
    ]
    all_read = not any(p.code in _UNREADABLE for p in problems)
    found += [f for f in checks.findings(entries) if all_read or f.code != "unknown-id"]
    found += checks.ahead_of_clock(entries, now)
    found += checks.slots_alike(e for _, e in entries if isinstance(e, Item))
    if all_read:
        waiting = pending()
        found += _unapplied(files, [e for _, e in entries] + [e for its in waiting.values() for e in its])
        if waiting:
            message = f"applied, not exported: {', '.join(waiting)}"
            found.append(checks.Finding("pending", message, "info", sessions=tuple(waiting), hint="ledger export"))
    return Checkup(checks.in_order(found))


def _unapplied(files: Iterable[tuple[str, bytes | Path]], entries: Iterable[Entry]) -> Iterator[checks.Finding]:
    """Session files, by name, that were not applied, or changed since."""
    recorded: dict[str, list[Entry]] = {}
    for entry in entries:
        recorded.setdefault(entry.session, []).append(entry)
    try:
        files = list(files)
    except OSError as fault:
        yield checks.Finding("unreadable-session", f"sessions: cannot be read: {fault.strerror or fault}", "warning")
        return
    for name, file in files:
        try:
            sessions = session_file.read_file(file, name) if isinstance(file, Path) else session_file.read(file, name)
        except SessionFileError as fault:
            for problem in fault.problems:
                yield checks.Finding("unreadable-session", str(problem), "warning")
            continue
        for session in sessions:
            if session.id not in recorded:
                message = f"{name}:{session.line}: session {session.id} is not applied"
                code, hint = "not-applied", f"ledger session apply {name}"
            elif not retry.is_recorded(session, recorded[session.id]):
                message = f"{name}:{session.line}: session {session.id} is recorded with other content"
                code, hint = "changed-since", "what is recorded stays; put the news in a session of its own"
            else:
                continue
            yield checks.Finding(code, message, "warning", sessions=(session.id,), hint=hint)


def is_session_file(name: str) -> bool:
    """Does a file of this name hold sessions?"""
    return name.endswith((".yaml", ".yml", ".json"))


def session_files(folder: Path, root: Path) -> Iterator[tuple[str, Path]]:
    """The session files of a folder, with their names from `root`, in order; none where there is no folder.

    Raises OSError.
    """
    try:
        found = sorted(folder.iterdir())
    except FileNotFoundError:
        return
    for path in found:
        if is_session_file(path.name) and _may_be_read(path):
            yield path.relative_to(root).as_posix(), path


def _may_be_read(path: Path) -> bool:
    """Is it a file, or hidden from us: what reads it then says so?"""
    try:
        return path.is_file()
    except OSError:
        return True
