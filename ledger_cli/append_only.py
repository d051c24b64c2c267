"""A checkpoint as against the revisions it stands on: a session only adds lines, and nobody changes one. Pure."""

from __future__ import annotations

import json
import re
import shlex
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime
from typing import NamedTuple

from ledger_cli import instant, resolved
from ledger_cli.checks import Finding
from ledger_cli.entries import describe, difference, item_of, subject
from ledger_cli.errors import short
from ledger_cli.invariants import named
from ledger_cli.lines import line as as_line
from ledger_cli.lines import parse_line, quote
from ledger_cli.model import Ending, Entry, Item, Link, Review

Lines = Mapping[bytes, int]
"""The lines of entries, without their commas, each with its number."""


class Base(NamedTuple):
    """What a checkpoint stands on: a revision by the name to show, its commit, and the checkpoint's bytes there."""

    name: str
    commit: str
    path: str
    data: bytes


def findings(
    data: bytes, bases: Sequence[Base], fork: bytes | None = None, *, behind: bool = False
) -> Iterator[Finding]:
    """What no session could have done to the lines of any base, and what two sides did not know of each other.

    Several `bases` are the parents of a merge. `fork` is the checkpoint where the base and the rest, or two bases,
    parted, if that is known; `behind`: the base is no ancestor, so what it has since then is not missing. Codes:
    `rewritten`, `session-grew`, `session-twice` are errors; `gave-way`, `behind`, `meets-rejected`, `meets-corrected`
    and `older-than-base` are information.
    """
    now = lines(data)
    before = [lines(base.data) for base in bases]
    # Where a change was begun is most often what it stands on.
    parted = None if fork is None else before[0] if bases and fork == bases[0].data else lines(fork)
    added = _lone(now, before)
    news = [(number, entry) for line, number in added if (entry := _entry(line)) is not None]
    gone = [_lone(its, [now]) for its in before]
    given = _given(before, gone, [entry for _, entry in news], parted)
    changed = {entry for entry in given.values() if entry is not None}
    yield from _gave_way(given, now)
    if behind and parted is not None:
        ahead = [line for line, _ in gone[0] if line not in parted]
        gone[0] = [row for row in gone[0] if row[0] in parted]
        yield from _behind(bases[0], ahead)
    told = set(given)
    for base, its, missing in zip(bases, before, gone, strict=True):
        left = [row for row in missing if row[0] not in told]
        told.update(line for line, _ in left)  # of two bases that held a line, the first tells
        yield from _rewritten(base, left, _nearest(left, its, now), news, changed)
    left_news = [(number, entry) for number, entry in news if entry not in changed]
    known = [{_tail(line) for line in its} for its in before]
    yield from _grown(now, bases, before, known, left_news, parted, given)
    yield from _unaware(now, _sides(added, before, parted))
    if bases:
        yield from _late(added, bases[0], known[0])


def lines(data: bytes) -> Lines:
    """The lines of entries of a checkpoint, with their numbers; line ends and commas do not count."""
    found: dict[bytes, int] = {}
    rows = (data.replace(b"\r\n", b"\n") if b"\r" in data else data).replace(b",\n", b"\n").split(b"\n")
    for number, row in enumerate(rows, 1):
        if row[:2] == b'{"' and row not in found:
            found[row] = number
    return found


def _lone(its: Lines, others: Iterable[Lines]) -> list[tuple[bytes, int]]:
    """The lines that stand in none of the others, in the order of their numbers."""
    left: Set[bytes] = its.keys()
    for other in others:
        left = left - other.keys()
    return sorted(((line, its[line]) for line in left), key=lambda row: row[1])


def _entry(line: bytes) -> Entry | None:
    try:
        return parse_line(line.decode())
    except ValueError:
        return None


def _tail(line: bytes) -> bytes:
    """The session of a line as it is written, without reading the rest: the key is the last, and a quote inside a text
    is escaped."""
    return line.rpartition(b', "session": ')[2]


def _as_tail(session: str) -> bytes:
    return f"{quote(session)}}}".encode()


def _given(
    before: Sequence[Lines], gone: Sequence[Sequence[tuple[bytes, int]]], news: Sequence[Entry], fork: Lines | None
) -> dict[bytes, Entry | None]:
    """Of the lines of a merge's parents that are gone, those that had to give way to another parent's."""
    given: dict[bytes, Entry | None] = {}
    for its, missing in zip(before, gone, strict=True):
        others = [entry for other in before for line, _ in _lone(other, [its]) if (entry := _entry(line)) is not None]
        lines = {line: entry for line, _ in missing if others and (entry := _entry(line)) is not None}
        given |= resolved.gave_way(lines, news, others)
        if others and fork is not None:  # what a side wrote into a session that both had
            recorded = {_tail(line) for line in fork}
            given |= {line: None for line in lines if line not in fork and _tail(line) in recorded}
    return given


def _gave_way(given: Mapping[bytes, Entry | None], now: Lines) -> Iterator[Finding]:
    for line, became in given.items():
        if (entry := _entry(line)) is not None:
            at = None if became is None else now.get(as_line(became).encode())
            what = "is left out" if became is None else f"is {describe(became)} of session {became.session} now"
            message = f"{describe(entry)} of session {entry.session} {what}: it gave way to the other side of a merge"
            yield Finding("gave-way", message, "info", line=at, sessions=(entry.session,))


def _behind(base: Base, ahead: Sequence[bytes]) -> Iterator[Finding]:
    if sessions := sorted({name for line in ahead if (name := _session(_tail(line)))}):
        some = ", ".join(sessions[:5]) + (", …" if len(sessions) > 5 else "")
        count = "1 session" if len(sessions) == 1 else f"{len(sessions)} sessions"
        message = f"{base.name} has {count} that this lacks ({some}): whether they fit together shows once it is merged"
        yield Finding("behind", message, "info", sessions=tuple(sessions), hint=f"git merge {base.commit}")


def _rewritten(
    base: Base,
    gone: Sequence[tuple[bytes, int]],
    places: Mapping[bytes, int],
    news: Sequence[tuple[int, Entry]],
    changed: set[Entry],
) -> Iterator[Finding]:
    """Lines of a base that are gone, or stand there with other content: what they became is added to `changed`."""
    by_subject: dict[object, list[tuple[int, Entry]]] = defaultdict(list)
    for row in news if gone else ():
        by_subject[subject(row[1])].append(row)
    for line, number in gone:
        entry = _entry(line)
        if entry is None and (as_it_should_be := _mended(line, news)) is not None:
            changed.add(as_it_should_be)
            continue
        became = [(n, e) for n, e in by_subject[subject(entry)] if e not in changed] if entry is not None else []
        at, what = places.get(line), "removed"
        if became:
            at, other = became[0]
            changed.add(other)
            what = f"rewritten: {difference(line, other)}"
        if entry is not None:
            told = f"{describe(entry)} of session {entry.session}"
        else:
            told = f"a line that is not canonical, {short(line.decode(errors='replace'))},"
        yield Finding(
            "rewritten",
            f"{told} was {what} (line {number} at {base.name})",
            ids=(item_of(entry),) if entry is not None and item_of(entry) else (),
            line=at,
            sessions=(entry.session,) if entry is not None else (),
            hint=f"take the line back: `git show {shlex.quote(f'{base.commit}:{base.path}')}`; "
            "what is recorded is corrected or rejected, never rewritten",
        )


def _mended(line: bytes, news: Iterable[tuple[int, Entry]]) -> Entry | None:
    """What a line that was not canonical says, if it stands there as it should be."""
    try:
        stated = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return next((entry for _, entry in news if json.loads(as_line(entry)) == stated), None)


def _nearest(gone: Sequence[tuple[bytes, int]], its: Lines, now: Lines) -> dict[bytes, int]:
    """Where lines that are gone stood: at what followed them, or else went before them, and is there still."""
    places: dict[bytes, int] = {}
    if gone:
        last = None
        for order in (list(its), list(its)[::-1]):
            for line in order:
                last = now.get(line, last)
                if line not in now and last is not None:
                    places[line] = last  # what follows, found on the way back, is written over what went before
    return places


def _grown(
    now: Lines,
    bases: Sequence[Base],
    before: Sequence[Lines],
    known: Sequence[Set[bytes]],
    left: Sequence[tuple[int, Entry]],
    fork: Lines | None,
    given: Collection[bytes],
) -> Iterator[Finding]:
    """Sessions that have more lines than they were recorded with, or that two sides recorded, each with other lines.

    `known` are the sessions of the lines `before`, as they are written there; `given` the lines that gave way.
    """
    grew: dict[str, list[tuple[int, Entry]]] = defaultdict(list)
    for number, entry in left:
        if any(_as_tail(entry.session) in its for its in known):
            grew[entry.session].append((number, entry))
    twice: dict[str, str] = {}
    if len(bases) > 1:
        sides = list(zip(before, known, strict=True))
        lone = (x for its in before for x in its if any(x not in other and _tail(x) in k for other, k in sides))
        apart = {_tail(line) for line in lone}
        kept = [{_tail(line) for line in its if line not in given} for its in before] if apart else ()
        for id in filter(None, map(_session, apart)):
            names = [base.name for base, its in zip(bases, kept, strict=True) if _as_tail(id) in its]
            if len(names) > 1:
                twice[id] = " and ".join(names)
    elif fork is not None and grew:
        parted = {_tail(line) for line in fork}
        twice = {id: f"{bases[0].name} and here" for id in grew if _as_tail(id) not in parted}
    for id in sorted({*grew, *twice}):
        news = grew[id]
        at = min((n for n, _ in news), default=None) or min(
            (n for line, n in now.items() if _tail(line) == _as_tail(id)), default=None
        )
        if id in twice:
            code, message = "session-twice", f"session {id} was recorded twice with different content, on {twice[id]}"
            hint = "give one of the two sessions another id, and apply it again"
        else:
            name = next(base.name for base, its in zip(bases, known, strict=True) if _as_tail(id) in its)
            what = f"{len(news)} line{'s' if len(news) > 1 else ''}"
            more = " and more" if len(news) > 3 else ""
            code = "session-grew"
            message = f"session {id} of {name} gained {what}: {', '.join(describe(e) for _, e in news[:3])}{more}"
            hint = "put the news in a session of its own: `ledger session new ID`"
        ids = tuple(sorted({i for _, e in news if (i := item_of(e))}))
        yield Finding(code, message, ids=ids, line=at, sessions=(id,), hint=hint)


def _session(tail: bytes) -> str:
    try:
        name = json.loads(tail.removesuffix(b"}"))
    except (ValueError, RecursionError):
        return ""
    return name if isinstance(name, str) else ""


def _sides(added: Sequence[tuple[bytes, int]], before: Sequence[Lines], fork: Lines | None) -> list[list[Entry]]:
    """What each of two sides recorded that the other did not know."""
    if len(before) > 1:
        pieces = [_lone(its, [other for other in before if other is not its]) for its in before]
    elif fork is not None and before:
        pieces = [_lone(before[0], [fork]), list(added)]
    else:
        return []
    return [[entry for line, _ in piece if (entry := _entry(line)) is not None] for piece in pieces]


def _unaware(now: Lines, sides: Sequence[Sequence[Entry]]) -> Iterator[Finding]:
    """Links, corrections and endings of one side that name what another side rejected or corrected."""
    for side in sides:
        struck: dict[str, tuple[Entry, str]] = {}
        for met in (e for other in sides if other is not side for e in other):
            if isinstance(met, Item) and met.corrects is not None:
                struck.setdefault(met.corrects, (met, f"corrected as {met.id}"))
            elif isinstance(met, Review) and met.verdict == "rejects" and met.target.on_item:
                struck[met.target.id] = met, "rejected"
        for entry in side:
            for id in named(entry) if struck and isinstance(entry, Item | Link | Ending) else ():
                if id not in struck:
                    continue
                met, verb = struck[id]
                yield Finding(
                    "meets-rejected" if isinstance(met, Review) else "meets-corrected",
                    f"{describe(entry)} of session {entry.session} is on {id}, which session {met.session} "
                    f"{verb} on the other side",
                    "info",
                    ids=(id,),
                    line=now.get(as_line(entry).encode()),
                    sessions=tuple(sorted({entry.session, met.session})),
                    hint=f"ledger history {id}",
                )


_RECORDED = re.compile(rb', "recordedAt": "([^"]*)"')


def _late(added: Sequence[tuple[bytes, int]], base: Base, known: Set[bytes]) -> Iterator[Finding]:
    """New sessions, not among the `known` ones, whose clock is before the newest entry of the base."""
    times = set(_RECORDED.findall(base.data))
    newest = max((at for at in map(_time, times) if at is not None), default=None)
    seen: set[bytes] = set()
    for line, number in added:
        if newest is None or (tail := _tail(line)) in known or tail in seen:
            continue
        entry = _entry(line)
        if entry is not None and entry.recorded_at < newest:
            seen.add(tail)
            yield Finding(
                "older-than-base",
                f"session {entry.session} ({instant.show_short(entry.recorded_at)}) is older than the newest entry of "
                f"{base.name} ({instant.show_short(newest)}): what was believed in between reads otherwise now",
                "info",
                line=number,
                sessions=(entry.session,),
                hint=f"ledger session show {entry.session}",
            )


def _time(text: bytes) -> datetime | None:
    try:
        return instant.parse(text.decode())
    except ValueError:
        return None
