"""A checkpoint as against the revisions it stands on: a session only adds lines, and nobody changes one. Pure."""

from __future__ import annotations

import json
import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime
from typing import NamedTuple

from ledger_cli import instant
from ledger_cli.checks import Finding
from ledger_cli.invariants import named
from ledger_cli.lines import line as as_line
from ledger_cli.lines import parse_line, quote
from ledger_cli.model import Ending, Entity, Entry, Episode, Item, Link, Review, entity_key

Lines = Mapping[bytes, int]
"""The lines of entries, without their commas, each with its number."""


class Base(NamedTuple):
    """What a checkpoint stands on: a revision by the name to show, its commit, and the checkpoint's bytes there."""

    name: str
    commit: str
    path: str
    data: bytes


def findings(data: bytes, bases: Sequence[Base], fork: bytes | None = None) -> Iterator[Finding]:
    """What no session could have done to the lines of any base, and what two sides did not know of each other.

    Several `bases` are the parents of a merge. `fork` is the checkpoint where one base and the rest parted, if that
    is known. Codes: `rewritten`, `session-grew`, `session-twice` are errors; `meets-rejected`, `meets-corrected`
    and `older-than-base` are information.
    """
    now = lines(data)
    before = [lines(base.data) for base in bases]
    # Where a change was begun is most often what it stands on.
    parted = None if fork is None else before[0] if bases and fork == bases[0].data else lines(fork)
    added = _lone(now, before)
    news = [(number, entry) for line, number in added if (entry := _entry(line)) is not None]
    changed: set[Entry] = set()
    yield from _rewritten(now, bases, before, news, changed)
    left = [(number, entry) for number, entry in news if entry not in changed]
    known = [{_tail(line) for line in its} for its in before]
    yield from _grown(now, bases, before, known, left, parted)
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


def _rewritten(
    now: Lines,
    bases: Sequence[Base],
    before: Sequence[Lines],
    news: Sequence[tuple[int, Entry]],
    changed: set[Entry],
) -> Iterator[Finding]:
    """Lines of a base that are gone, or stand there with other content: what they became is added to `changed`."""
    by_subject: dict[object, list[tuple[int, Entry]]] = defaultdict(list)
    for row in news:
        by_subject[_subject(row[1])].append(row)
    told: set[bytes] = set()
    for base, its in zip(bases, before, strict=True):
        gone = _lone(its, [now])
        places = _places_of(gone, its, now)
        for line, number in gone:
            if line in told or (entry := _entry(line)) is None:
                continue
            told.add(line)
            became = [(n, e) for n, e in by_subject[_subject(entry)] if e not in changed]
            at, what = places.get(line), "removed"
            if became:
                at, other = became[0]
                changed.add(other)
                what = f"rewritten: {_difference(line, other)}"
            yield Finding(
                "rewritten",
                f"{describe(entry)} of session {entry.session} was {what} (line {number} at {base.name})",
                ids=(_id(entry),) if _id(entry) else (),
                line=at,
                sessions=(entry.session,),
                hint=f"take the line back: `git show {shlex.quote(f'{base.commit}:{base.path}')}`; "
                "what is recorded is corrected or rejected, never rewritten",
            )


def _places_of(gone: Sequence[tuple[bytes, int]], its: Lines, now: Lines) -> dict[bytes, int]:
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
) -> Iterator[Finding]:
    """Sessions that have more lines than they were recorded with, or that two sides recorded, each with other lines.

    `known` are the sessions of the lines `before`, as they are written there.
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
        for id in filter(None, map(_session, apart)):
            names = [base.name for base, its in zip(bases, known, strict=True) if _as_tail(id) in its]
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
        ids = tuple(sorted({i for _, e in news if (i := _id(e))}))
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


def _subject(entry: Entry) -> object:
    """What an entry is about, whatever it says of it: two lines of one subject are one line, rewritten."""
    if isinstance(entry, Item | Episode):
        return isinstance(entry, Item), entry.id
    if isinstance(entry, Entity):
        return entity_key(entry.name), entry.session
    if isinstance(entry, Link):
        return entry.old, entry.new, entry.session
    if isinstance(entry, Ending):
        return "ends", entry.id, entry.session
    return entry.target, entry.session


def _id(entry: Entry) -> str:
    """The item, or the episode, that an entry is or is on."""
    if isinstance(entry, Item | Episode | Ending):
        return entry.id
    if isinstance(entry, Link):
        return entry.old
    return entry.target.id if isinstance(entry, Review) else ""


def describe(entry: Entry) -> str:
    """An entry in a few words."""
    if isinstance(entry, Item):
        return f"{entry.kind} {entry.id}"
    if isinstance(entry, Episode):
        return f"episode {entry.id}"
    if isinstance(entry, Entity):
        return f"the kind of {entry.name}"
    if isinstance(entry, Link):
        return f"the link {entry.old} -> {entry.new}"
    if isinstance(entry, Ending):
        return f"the ending of {entry.id}"
    return f"the verdict on {entry.target}"


def _difference(old: bytes, new: Entry) -> str:
    """Which keys of a line differ, the first with both its values."""
    was, is_ = json.loads(old), json.loads(as_line(new))
    keys = [k for k in {**was, **is_} if was.get(k) != is_.get(k)] or ["its writing"]
    first = keys[0]
    told = f"`{first}` was {_short(was.get(first))}, is {_short(is_.get(first))}"
    return told + (f"; and {', '.join(f'`{k}`' for k in keys[1:])}" if keys[1:] else "")


def _short(value: object) -> str:
    if value is None:
        return "absent"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:79] + "…"
