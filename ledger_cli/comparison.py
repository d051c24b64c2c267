"""Two states of one ledger, compared: what sessions brought, and what that changes in what is true and was believed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from ledger_cli import holds
from ledger_cli.history import History
from ledger_cli.instant import LAST
from ledger_cli.intervals import Intervals, claim, subtract, union
from ledger_cli.model import Ending, Entry, Item, Link, Review, Stretch


class Brought(NamedTuple):
    """What one session brings that was not there: a new session all of it, one that grew what it gained."""

    session: str
    at: datetime
    by: str | None
    entries: tuple[Entry, ...]

    @property
    def added(self) -> list[Item]:
        return sorted((e for e in self.entries if isinstance(e, Item)), key=lambda i: i.id)

    @property
    def links(self) -> list[Link]:
        return sorted((e for e in self.entries if isinstance(e, Link)), key=lambda e: (e.old, e.new))

    @property
    def endings(self) -> list[Ending]:
        return sorted((e for e in self.entries if isinstance(e, Ending)), key=lambda e: (e.id, e.valid_to))

    @property
    def reviews(self) -> list[Review]:
        return sorted((e for e in self.entries if isinstance(e, Review)), key=lambda e: (e.verdict, str(e.target)))


class Moved(NamedTuple):
    """An item for which one axis reads otherwise: the stretches of before, and those of now."""

    id: str
    before: Intervals
    after: Intervals


@dataclass(frozen=True)
class Comparison:
    """What differs between two states. Ids are sorted; sessions come by (clock, id).

    `closed`: as known now, an item no longer holds at an instant at which it held (or, new, which it claims);
    `reopened`: the reverse. `true` and `believed` say how each axis moved, `removed` what is not there any more.
    """

    sessions: tuple[Brought, ...]
    removed: tuple[Entry, ...]
    closed: tuple[str, ...]
    reopened: tuple[str, ...]
    true: tuple[Moved, ...]
    believed: tuple[Moved, ...]
    items: Mapping[str, Item]  # all of both states
    now: Mapping[str, Sequence[Stretch]]

    def __bool__(self) -> bool:
        return bool(self.sessions or self.removed)

    @property
    def added(self) -> tuple[str, ...]:
        return tuple(sorted({i.id for s in self.sessions for i in s.added}))

    def verdicts(self, verdict: str) -> tuple[str, ...]:
        """The items newly rejected, or reinstated."""
        reviews = (r for s in self.sessions for r in s.reviews)
        return tuple(sorted({r.target.id for r in reviews if r.verdict == verdict and r.target.on_item}))

    @property
    def ended(self) -> tuple[str, ...]:
        return tuple(sorted({e.id for s in self.sessions for e in s.endings}))

    def slots(self) -> dict[str, list[Item]]:
        """The slots that are touched, by name, each with its items that hold or were believed, by valid time."""
        touched = {self.items[id].slot for id in self._touched() if id in self.items}
        found: dict[str, list[Item]] = defaultdict(list)
        for item in self.items.values():
            if item.slot is not None and item.slot in touched and self.now.get(item.id):
                found[item.slot].append(item)
        return {slot: sorted(found[slot], key=lambda i: (i.valid_from, i.id)) for slot in sorted(found)}

    def _touched(self) -> set[str]:
        ids = {*self.added, *self.ended, *(m.id for m in (*self.true, *self.believed))}
        for session in self.sessions:
            ids |= {id for link in session.links for id in (link.old, link.new)}
            ids |= {review.target.id for review in session.reviews}
        return ids


def compare(before: Iterable[Entry], after: Iterable[Entry]) -> Comparison:
    """What differs between the entries of two states, whatever their order."""
    old, new = dict.fromkeys(before), dict.fromkeys(after)
    brought: dict[str, list[Entry]] = defaultdict(list)
    for entry in new:
        if entry not in old:
            brought[entry.session].append(entry)
    removed = tuple(entry for entry in old if entry not in new)
    was, now = History(old), History(new)
    held = holds.sweep(was) if brought or removed else {}
    hold = holds.sweep(now) if brought or removed else {}
    items = {**was.items, **now.items}
    true, believed = [], []
    closed, reopened = set(), set()
    for id in sorted({*held, *hold}):
        one, other = held.get(id, []), hold.get(id, [])
        if one == other:
            continue
        then, since = holds.known_at(one, LAST), holds.known_at(other, LAST)
        if then != since:
            true.append(Moved(id, then, since))
        if (thought := diagonal(one)) != (thinks := diagonal(other)):
            believed.append(Moved(id, thought, thinks))
        start: Intervals = then if id in was.items else (claim(items[id]),)
        if subtract(start, since):
            closed.add(id)
        if id in was.items and subtract(since, then):
            reopened.add(id)
    sessions = (_brought(id, entries) for id, entries in brought.items())
    return Comparison(
        sessions=tuple(sorted(sessions, key=lambda s: (s.at, s.session))),
        removed=removed,
        closed=tuple(sorted(closed)),
        reopened=tuple(sorted(reopened)),
        true=tuple(true),
        believed=tuple(believed),
        items=items,
        now=hold,
    )


def _brought(session: str, entries: Sequence[Entry]) -> Brought:
    by = {e.by for e in entries if isinstance(e, Item | Link | Ending | Review) and e.by is not None}
    return Brought(session, min(e.recorded_at for e in entries), by.pop() if len(by) == 1 else None, tuple(entries))


def diagonal(stretches: Iterable[Stretch]) -> Intervals:
    """When an item was believed: the days on which the ledger, as it was on the day, said that it holds."""
    found = []
    for s in stretches:
        start = max(s.valid_from, s.known_from)
        ends = [end for end in (s.valid_to, s.known_to) if end is not None]
        end = min(ends) if ends else None
        if end is None or start < end:
            found.append((start, end))
    return union(found)
