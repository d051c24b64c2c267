"""What was done, in sentences."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ledger_cli.errors import LedgerError, Refused
from ledger_cli.views.readable import plain
from ledger_cli.views.terminal import Cell, counted, lines, out, talk, when

if TYPE_CHECKING:
    from pathlib import Path

    from ledger_cli.answers import Applied
    from ledger_cli.exchange.outcomes import Import
    from ledger_cli.exchange.restore import Restored
    from ledger_cli.installing import Done


def applied(done: Applied, *, dry: bool = False) -> None:
    """One session's line, and one for each of its effects. (That a rejected item closed goes without saying.)"""
    rows: list[Sequence[Cell]] = []
    if done.status == "unchanged":
        rows.append([(done.session, "bold"), ": nothing to do, all of it is recorded already"])
    else:
        verb = "would apply" if dry else "applied"
        rows.append([(done.session, "bold"), f": {verb}, recorded at ", when(done.at)])
        rows += _effects(done)
    lines(rows)
    sys.stdout.flush()  # what is said is acknowledged: a pipe shows it at once


def small(done: Applied, already: str) -> None:
    """A session of one verdict or ending, or that it is so `already`, since when."""
    if done.status == "unchanged":
        out(f"{already} {when(done.at)} ({done.session}); nothing written\n")
    else:
        applied(done)


def restored(done: Restored) -> None:
    """What an export brought, and what was here before."""
    known = f"; {counted({'entry': done.known})} recorded already" if done.known else ""
    if not done.entries:
        out(f"nothing to do, {'all of it is recorded already' if done.known else 'it holds nothing'}\n")
        return
    out(f"restored {counted({'session': len(done.sessions), 'entry': done.entries})}{known}\n")


def imported(found: Import, output: Path | None) -> None:
    """What became of every record of which there is something to say, on stderr; a count, and what to do next.

    The names of files and columns are others': what in them would move the cursor is shown by its number.
    """
    for o in found.outcomes:
        if o.reasons:
            talk(f"{'listed' if o.id is None else 'imported'}  {plain(o.record)}")
            for reason in o.reasons:
                talk(f"    {plain(reason)}")
    talk(f"{len(found.imported)} of {len(found.outcomes)} imported, {len(found.listed)} listed")
    if found.sessions and output is not None:
        out(f"wrote {plain(str(output))}: {counted({'session': len(found.sessions), 'item': len(found.imported)})}\n")
        talk(plain(f"Next: read it, then `ledger session check {output}`"))


def _effects(done: Applied) -> list[Sequence[Cell]]:
    e, texts = done.effects, done.texts
    assert e is not None
    until = {u.id for u in e.until}
    corrected = {old for old, _ in e.corrected}
    rows: list[Sequence[Cell]] = []

    def say(word: str, style: str, id: str, more: str = "") -> None:
        rows.append(["  ", (f"{word:<10}", style), " ", (id, "bold"), "  ", _short(texts.get(id, "")), more])

    for id in e.added:
        say("added", "green", id)
    if done.noted:
        rows.append(["  ", (f"{'noted':<10}", "green"), " ", counted(done.noted)])
    for old, new in e.linked:
        rows.append(["  ", (f"{'linked':<10}", "cyan"), " ", (new, "bold"), " supersedes ", (old, "bold")])
    for old, new in e.corrected:
        rows.append(["  ", (f"{'corrected':<10}", "cyan"), " ", (old, "bold"), " by ", (new, "bold")])
    for verdict, target in e.verdicts:
        word, style = ("rejected", "red") if verdict == "rejects" else ("reinstated", "green")
        rows.append(["  ", (f"{word:<10}", style), f" {target}"])
    for id in e.rejected:
        say("rejected", "red", id)
    for id in e.reinstated:
        say("reinstated", "green", id)
    for id in e.ended:
        say("ended", "yellow", id)
    for u in e.until:
        what = f"until {u.successor} takes over on " if u.successor else "until "
        again = f", and again from {when(u.again)}" if u.again is not None else ""
        rows.append(["  ", (f"{'holds':<10}", "yellow"), " ", (u.id, "bold"), f"  {what}{when(u.end)}{again}"])
    for id in e.closed:
        if id not in until and id not in e.added and id not in corrected and id not in e.rejected:
            say("closed", "yellow", id)
    for id in e.reopened:
        say("reopened", "green", id, "  (holds again)")
    rows += [["  ", (f"{'warning':<10}", "yellow"), " ", warning] for warning in e.warnings]
    return rows


def _short(text: str, width: int = 72) -> str:
    first = text.split("\n", 1)[0]
    return first if len(first) <= width and first == text else first[: width - 1].rstrip() + "…"


def count(done: Sequence[Applied], of: int) -> None:
    """The sum of several sessions."""
    new = sum(d.status == "applied" for d in done)
    rest = f", {len(done) - new} unchanged" if len(done) > new else ""
    stopped = f", {of - len(done)} not tried" if len(done) < of else ""
    talk(f"{new} applied{rest}{stopped} of {of} sessions")


def installed(done: Sequence[Done]) -> None:
    """What was set up, and what is left to do."""
    rows: list[Sequence[Cell]] = []
    for d in done:
        rows.append([(f"{d.name:<22}", "bold"), d.message])
        if d.hint:
            rows.append([" " * 22, "hint: ", d.hint])
    lines(rows)


def error(fault: LedgerError) -> None:
    """A failure, on stderr: each problem with where it stands and what to do.

    What it names may come from anywhere, and the terminal is to obey none of it: what does not show is written out,
    and a line is a line.
    """
    problems = fault.problems if isinstance(fault, Refused) else ()
    if not problems:
        talk(plain(f"error: {fault.message}"))
    for problem in problems:
        talk(plain(f"{problem}" if problem.where else f"error: {problem}"))
        if problem.hint and problem.hint != fault.hint:
            talk(plain(f"  hint: {problem.hint}"))
    if fault.hint:
        talk(plain(f"  hint: {fault.hint}"))
