"""What must be so of a whole ledger, whoever wrote the file: a merge may break what no session could."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from ledger_cli import holds, invariants
from ledger_cli.errors import Problem, quoted
from ledger_cli.history import History
from ledger_cli.instant import FUTURE_TOLERANCE, show
from ledger_cli.model import Entity, Entry, Episode, Item, Link, entity_key


@dataclass(frozen=True)
class Finding:
    """One thing found by a check: what, where, whose, and the command that mends it. `code` is stable."""

    code: str
    message: str
    severity: Literal["error", "warning", "info"] = "error"
    ids: tuple[str, ...] = ()
    slot: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    line: int | None = None
    sessions: tuple[str, ...] = ()
    hint: str = ""

    @property
    def others(self) -> str:
        """The sessions that the message does not name, in a list; maybe empty."""
        named = (rf"(?<![\w~/-]){re.escape(id)}(?![\w~/-])" for id in self.sessions)
        return ", ".join(id for id, name in zip(self.sessions, named, strict=True) if not re.search(name, self.message))


_FORGED = "no session could write this: `git log -p` of the checkpoint tells where the line comes from"


def findings(entries: Iterable[tuple[int | None, Entry]]) -> list[Finding]:
    """All that is wrong with a set of entries, each with the line it stands on (None: in no file)."""
    lines: dict[Entry, int | None] = {}
    for number, entry in entries:
        lines.setdefault(entry, number)
    found = [*_duplicates(lines), *_references(lines), *_kinds(lines)]
    history = History(lines)
    stretches = holds.sweep(history)
    found += _mismatched(history, lines)
    found += _targets(history, lines)
    found += _cycles(history, lines)
    found += _places(history, lines)
    for conflict in invariants.slot_conflicts(history.items.values(), stretches):
        one, other = (history.items[id] for id in conflict.ids)
        found.append(
            Finding(
                "two-current",
                f"{one.id} ({quoted(one.text)}) and {other.id} ({quoted(other.text)}) both hold in slot "
                f"{conflict.slot} {conflict.during_words()}",
                ids=conflict.ids,
                slot=conflict.slot,
                valid_from=conflict.during[0],
                valid_to=conflict.during[1],
                line=lines[other],
                sessions=_sessions(one, other),
                hint=f"keep one: `{_reject(one.id)}` or `{_reject(other.id)}`, or record which supersedes which",
            )
        )
    return list(in_order(found))


def _reject(*words: str) -> str:
    return f"ledger reject {shlex.join(words)} --by NAME --reason TEXT"


def in_order(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings by line, code and whom they name."""
    return tuple(sorted(found, key=lambda f: (f.line or 0, f.code, f.ids, f.message)))


def problem(finding: Finding) -> Problem:
    """A finding as a refusal tells it."""
    return Problem(finding.message, f"line {finding.line}" if finding.line else "", finding.hint)


def _sessions(*entries: Entry) -> tuple[str, ...]:
    return tuple(sorted({entry.session for entry in entries}))


def _duplicates(lines: Mapping[Entry, int | None]) -> Iterator[Finding]:
    seen: dict[tuple[bool, str], Entry] = {}
    clocks: dict[str, Entry] = {}
    for entry in lines:
        first_of_session = clocks.setdefault(entry.session, entry)
        if first_of_session.recorded_at != entry.recorded_at:
            yield Finding(
                "two-clocks",
                f"session {entry.session} has entries of two clocks: it was recorded twice",
                line=lines[entry],
                sessions=(entry.session,),
                hint="give one of the two sessions another id",
            )
        if isinstance(entry, Item | Episode):
            first = seen.setdefault((isinstance(entry, Item), entry.id), entry)
            if first is not entry:
                yield Finding(
                    "duplicate-id",
                    f"{entry.id} is recorded twice, with different content",
                    ids=(entry.id,),
                    line=lines[entry],
                    sessions=_sessions(first, entry),
                    hint="give one of the two another id",
                )


def _references(lines: Mapping[Entry, int | None]) -> Iterator[Finding]:
    """What names what is not there, or was recorded before it: no session could do that, not even a backdated one."""
    items = {e.id: e for e in lines if isinstance(e, Item)}
    episodes = {e.id: e for e in lines if isinstance(e, Episode)}
    for entry, number in lines.items():
        met: list[tuple[str, Item | Episode | None]] = [(id, items.get(id)) for id in invariants.named(entry)]
        if isinstance(entry, Item) and entry.evidence:
            met += [(id, episodes.get(id)) for id in entry.evidence]
        for id, other in met:
            if other is None:
                yield Finding(
                    "unknown-id",
                    f"this line of session {entry.session} names {id}, which is not recorded",
                    ids=(id,),
                    line=number,
                    sessions=(entry.session,),
                    hint="restore what is missing from git: recorded lines are never removed",
                )
            elif other.recorded_at > entry.recorded_at:
                yield Finding(
                    "too-early",
                    f"this line of session {entry.session} was recorded before {id}, which it names",
                    ids=(id,),
                    line=number,
                    sessions=_sessions(entry, other),
                    hint=_FORGED,
                )


def _targets(history: History, lines: Mapping[Entry, int | None]) -> Iterator[Finding]:
    """Verdicts on links and endings that were not recorded by then."""
    links: dict[object, datetime] = {}
    endings: dict[str, datetime] = {}
    for link in history.links:
        pair = history.pair(link)
        links[pair] = min(links.get(pair, link.recorded_at), link.recorded_at)
    for ending in history.endings:
        if (place := history.place.get(ending.id)) is not None:
            endings[place] = min(endings.get(place, ending.recorded_at), ending.recorded_at)
    for review in history.reviews:
        target = review.target
        if target.on_item or target.id not in history.items or (target.new or target.id) not in history.items:
            continue
        since = links.get(history.pair(target)) if target.new is not None else endings.get(history.place[target.id])
        if since is None or since > review.recorded_at:
            yield Finding(
                "unknown-target",
                f"this verdict of session {review.session} is on {target}, which was not recorded by then",
                ids=(target.id, target.new) if target.new is not None else (target.id,),
                line=lines[review],
                sessions=_sessions(review),
                hint=_FORGED,
            )


def _kinds(lines: Mapping[Entry, int | None]) -> Iterator[Finding]:
    first: dict[str, Entity] = {}
    entities = [e for e in lines if isinstance(e, Entity)]
    for entity in sorted(entities, key=lambda e: (e.recorded_at, e.session, e.name, e.kind)):
        known = first.setdefault(entity_key(entity.name), entity)
        if known.kind != entity.kind:
            yield Finding(
                "two-kinds",
                f"{entity.name} has the kind {entity.kind} here, and {known.kind} in session {known.session}",
                ids=(entity.name,),
                line=lines[entity],
                sessions=_sessions(known, entity),
                hint="give one of the two a name of its own",
            )


def _mismatched(history: History, lines: Mapping[Entry, int | None]) -> Iterator[Finding]:
    """Links and corrections across kinds or slots, links inside one place, endings before the start."""

    def found(code: str, message: str, entry: Entry, *items: Item) -> Finding:
        ids = tuple(item.id for item in items)
        return Finding(code, message, ids=ids, line=lines[entry], sessions=_sessions(entry), hint=_FORGED)

    pairs: list[tuple[str, str, Link | Item]] = [(link.old, link.new, link) for link in history.links]
    pairs += [(item.corrects, item.id, item) for item in history.items.values() if item.corrects is not None]
    for old_id, new_id, entry in pairs:
        if old_id not in history.items or new_id not in history.items:
            continue
        old, new = history.items[old_id], history.items[new_id]
        verb = "supersedes" if isinstance(entry, Link) else "corrects"
        if old.kind != new.kind:
            yield found("across-kinds", f"the {new.kind} {new.id} {verb} the {old.kind} {old.id}", entry, old, new)
        elif old.slot is not None and old.slot != new.slot:
            what = f"{new.id} {verb} {old.id} of slot {old.slot}, but is in {new.slot or 'no slot'}"
            yield found("across-slots", what, entry, old, new)
        elif isinstance(entry, Link) and history.place[old.id] == history.place[new.id]:
            yield found("link-in-place", f"{new.id} {verb} {old.id}, a version of the same item", entry, old, new)
    for ending in history.endings:
        item = history.items.get(ending.id)
        if item is not None and ending.valid_to < item.valid_from:
            yield found("ends-before-start", f"{item.id} ends before it starts", ending, item)


def _cycles(history: History, lines: Mapping[Entry, int | None]) -> Iterator[Finding]:
    for item in history.items.values():
        if item.corrects is not None and item.id in _corrected(history, item):
            yield Finding(
                "cycle",
                f"{item.id} corrects itself, directly or over others",
                ids=(item.id,),
                line=lines[item],
                sessions=_sessions(item),
                hint="restore the recorded lines from git",
            )
    for old, new in invariants.cycles(history):
        link = next(link for link in history.links if history.pair(link) == (old, new))
        yield Finding(
            "cycle",
            f"{old} and {new} supersede each other, directly or over others",
            ids=tuple(sorted((old, new))),
            line=lines[link],
            sessions=_sessions(link),
            hint=f"reject one of the links: `{_reject(link.old, '--link', link.new)}`",
        )


def _corrected(history: History, item: Item) -> set[str]:
    """All that an item corrects, directly or over others."""
    found: set[str] = set()
    while item.corrects in history.items and item.corrects not in found:
        found.add(item.corrects)
        item = history.items[item.corrects]
    return found


def _places(history: History, lines: Mapping[Entry, int | None]) -> Iterator[Finding]:
    for versions in invariants.places_in_conflict(history):
        last = max(versions, key=lambda i: (i.recorded_at, i.id))
        ids = tuple(i.id for i in versions)
        yield Finding(
            "corrected-twice",
            f"{' and '.join(ids)} both stand as the correction of {history.place[last.id]}",
            ids=ids,
            slot=last.slot,
            line=lines[last],
            sessions=_sessions(*versions),
            hint=f"keep one: `{_reject(ids[0])}` or `{_reject(ids[-1])}`",
        )


def ahead_of_clock(entries: Iterable[tuple[int, Entry]], now: datetime) -> Iterator[Finding]:
    """Sessions that were recorded after `now`: with one of them, no session could be recorded until then."""
    latest = now + FUTURE_TOLERANCE
    told = set[str]()
    for number, entry in entries:
        if entry.recorded_at > latest and entry.session not in told:
            told.add(entry.session)
            yield Finding(
                "ahead-of-clock",
                f"session {entry.session} was recorded at {show(entry.recorded_at)}, more than five minutes ahead of "
                f"this machine's {show(now)}",
                line=number,
                sessions=(entry.session,),
                hint="set the clock of this machine, if it is the one that is wrong; else " + _FORGED,
            )


def slots_alike(items: Iterable[Item]) -> Iterator[Finding]:
    """Slots that differ in case alone: probably one question under two names."""
    spellings: dict[str, set[str]] = defaultdict(set)
    for item in items:
        if item.slot is not None:
            spellings[item.slot.casefold()].add(item.slot)
    for names in spellings.values():
        if len(names) > 1:
            listed = " and ".join(sorted(names))
            yield Finding("slots-alike", f"the slots {listed} differ in case alone", "warning", slot=min(names))
