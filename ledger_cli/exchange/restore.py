"""Take the entries of an export into a ledger: what is missing is added, and what contradicts is refused as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ledger_cli import checkpoint, checks
from ledger_cli.errors import Problem, Refused, short
from ledger_cli.ledger import Ledger
from ledger_cli.model import Entry


class Restored(NamedTuple):
    """The sessions that came, by clock and id, and how many entries came and were there."""

    sessions: tuple[str, ...]
    entries: int
    known: int


def restore(ledger: Ledger, entries: Iterable[Entry]) -> Restored:
    """Add entries as they were recorded: ids, clocks, reviews and all. What is there already is left as it is.

    The rules are those of a merge: no session grows, and together it has to be a ledger. Raises Refused with all that
    speaks against it; then nothing is written.
    """
    given = list(dict.fromkeys(entries))
    news: list[Entry] = []

    def merged(data: bytes) -> bytes:
        here = checkpoint.read(data)
        waiting = [entry for its in ledger.database.pending().values() for entry in its]
        recorded = {*here, *waiting}
        news[:] = [entry for entry in given if entry not in recorded]
        if problems := [*_grown(news, recorded), *_broken(ledger, news, [*here, *waiting])]:
            raise Refused(problems)
        return checkpoint.render([*here, *news]) if news else data

    ledger.database.rewrite(merged)
    clocks = {entry.session: entry.recorded_at for entry in news}
    sessions = sorted(clocks, key=lambda session: (clocks[session], session))
    return Restored(tuple(sessions), len(news), len(given) - len(news))


def _grown(news: Sequence[Entry], recorded: Iterable[Entry]) -> list[Problem]:
    there = {entry.session for entry in recorded}
    hint = "a recorded session never changes: leave it out of the file, or give it another id"
    grown = sorted({entry.session for entry in news} & there)
    return [Problem(f"session {short(session)} is recorded here with other content", hint=hint) for session in grown]


def _broken(ledger: Ledger, news: Sequence[Entry], there: Sequence[Entry]) -> list[Problem]:
    """What is wrong with all of it together, and is not wrong with what is there."""

    def errors(entries: Iterable[Entry]) -> list[checks.Finding]:
        return [f for f in checks.findings((None, e) for e in entries) if f.severity == "error"]

    known = {(f.code, f.ids or f.sessions, f.slot) for f in errors(there)}
    found = [f for f in errors([*there, *news]) if (f.code, f.ids or f.sessions, f.slot) not in known]
    found += checks.ahead_of_clock(((0, entry) for entry in news), ledger.clock())
    return [checks.problem(f) for f in found]
