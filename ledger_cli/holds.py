"""The rule of the two axes, pure: from recorded entries to the stretches in which each item holds.

    An item holds where it claims to, unless it was struck, corrected, ended,
    or something live that replaced it claims the moment.

`sweep` replays the entries in the order of their record times and keeps, for every item, the rectangles
(valid time x record time) in which it holds. All answers are read off those rectangles: what was true, what was
believed, what closed or reopened at a write, and whether two items of one slot hold at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from ledger_cli.history import History, State, by_record_time
from ledger_cli.instant import LAST
from ledger_cli.intervals import Intervals, claim, subtract, union
from ledger_cli.model import Entry, Interval, Item, Stretch


def sweep(history: History) -> dict[str, list[Stretch]]:
    """For each item, the rectangles in which it holds, in order of known_from, then valid_from.

    Work is done only where an instant changes something: a place passes on what it covers to the places it
    replaces, and stops where nothing changes. A chain of n versions costs about n steps, not n squared.
    """
    found: dict[str, list[Stretch]] = {id: [] for id in history.items}
    entangled: list[Entry] = []
    concerned = _concerned(history)
    for item in history.items.values():  # most items of a large ledger were never touched again
        if item.id in concerned:
            entangled.append(item)
        else:
            found[item.id].append(Stretch(item.valid_from, item.valid_to, item.recorded_at, None))
    if entangled:
        _replay(history, [*entangled, *history.links, *history.endings, *history.reviews], found)
    return found


def _concerned(history: History) -> set[str]:
    """Items that any other entry is on."""
    ids: set[str] = set()
    for link in history.links:
        ids |= {link.old, link.new}
    ids.update(ending.id for ending in history.endings)
    for review in history.reviews:
        ids |= {review.target.id, review.target.new or review.target.id}
    places = {history.place[id] for id in ids if id in history.place}
    places.update(place for place, versions in history.versions.items() if len(versions) > 1)
    return {item.id for place in places for item in history.versions[place]}


def _replay(history: History, entries: Iterable[Entry], found: dict[str, list[Stretch]]) -> None:
    state = State(history)
    claims: dict[str, Intervals] = defaultdict(tuple)  # place -> what its items in force claim
    covered: dict[str, Intervals] = defaultdict(tuple)  # place -> what those that replace it claim
    after, before = state.after.get, state.before.get  # most places have none
    for at, group in by_record_time(entries):
        touched = state.learn(group)
        changed = set(touched)  # places whose stretches may differ now
        ahead = set(touched)  # places whose cover is to be looked at
        for place in touched:
            now = union([claim(item) for item in state.in_force(place)])
            if now != claims[place]:
                claims[place] = now
                ahead.update(before(place, ()))
        if history.may_turn_back and _has_cycle(state, ahead):
            # Only a bad merge can do this, and then every place is asked anew.
            for place in history.versions:
                covered[place] = union(*(claims[p] for p in state.reach(place) - {place}))
            changed |= set(history.versions)
        else:
            while ahead:
                place = ahead.pop()
                now = union(*[its[p] for p in after(place, ()) for its in (claims, covered)])
                if now != covered[place]:
                    covered[place] = now
                    changed.add(place)
                    ahead.update(before(place, ()))
        for place in changed:
            _record(state, place, covered[place], at, found)


def _has_cycle(state: State, places: Iterable[str]) -> bool:
    """Is any of these places, or a place behind them, its own successor?"""
    done: set[str] = set()
    for start in places:
        if not state.after[start]:
            continue
        path: set[str] = set()
        ahead = [(start, False)]
        while ahead:
            place, left = ahead.pop()
            if left:
                path.discard(place)
                done.add(place)
            elif place in path:
                return True
            elif place not in done:
                path.add(place)
                ahead.append((place, True))
                ahead.extend((p, False) for p in state.after[place] if p not in done)
    return False


def _record(state: State, place: str, covered: Intervals, at: datetime, found: dict[str, list[Stretch]]) -> None:
    """Close the rectangles that end at `at`, and open those that begin."""
    in_force = [item.id for item in state.in_force(place)]
    end = state.end(place)
    taken = covered if end is None else (*covered, (end, None))
    for item in state.history.versions[place]:
        now = subtract((claim(item),), taken) if item.id in in_force else ()
        rectangles = found[item.id]
        still: list[Interval] = []
        for n, r in enumerate(rectangles):
            if r.known_to is None:
                if (r.valid_from, r.valid_to) in now:
                    still.append((r.valid_from, r.valid_to))
                else:
                    rectangles[n] = Stretch(r.valid_from, r.valid_to, r.known_from, at)
        for interval in now:
            if interval not in still:
                rectangles.append(Stretch(*interval, at, None))


# Reading the rectangles.


def known_at(stretches: Iterable[Stretch], known: datetime) -> Intervals:
    """The stretches in which an item holds, as known at an instant, in order."""
    found = (s for s in stretches if s.known_from <= known and (s.known_to is None or known < s.known_to))
    return tuple(sorted(((s.valid_from, s.valid_to) for s in found), key=lambda i: i[0]))


def known_before(stretches: Iterable[Stretch], known: datetime) -> Intervals:
    """As `known_at`, for all that was recorded before that instant."""
    found = (s for s in stretches if s.known_from < known and (s.known_to is None or known <= s.known_to))
    return tuple(sorted(((s.valid_from, s.valid_to) for s in found), key=lambda i: i[0]))


class Shown(NamedTuple):
    """What is shown with an item: where it holds, the end of that, and since when that end stands."""

    holds: Intervals
    valid_to: datetime | None
    closed_at: datetime | None


class Row(NamedTuple):
    """An item, and what is shown with it as known at the moment asked."""

    item: Item
    shown: Shown


def shown(item: Item, stretches: Sequence[Stretch], known: datetime) -> Shown:
    """What is shown with an item, as known at `known`.

    `valid_to` is the end of the last stretch (None if open, valid_from if it never holds). `closed_at` is the
    earliest record time since which that end stands (None if it is open, or the item's own stated end).
    """
    holds = known_at(stretches, known)
    valid_to = _end_of(item, holds)
    if valid_to is None or valid_to == item.valid_to:
        return Shown(holds, valid_to, None)
    times = {item.recorded_at} | {t for s in stretches for t in (s.known_from, s.known_to) if t is not None}
    closed_at = None
    for at in sorted((t for t in times if t <= known), reverse=True):
        if _end_of(item, known_at(stretches, at)) != valid_to:
            break
        closed_at = at
    return Shown(holds, valid_to, closed_at)


def ends(
    items: Mapping[str, Item], stretches: Mapping[str, Sequence[Stretch]]
) -> dict[str, tuple[datetime | None, datetime | None]]:
    """What is shown of the ends of items, as known now: validTo and closedAt, by id. The store keeps it for queries."""
    found = {id: shown(items[id], its, LAST) for id, its in stretches.items()}
    return {id: (s.valid_to, s.closed_at) for id, s in found.items()}


def _end_of(item: Item, holds: Intervals) -> datetime | None:
    return holds[-1][1] if holds else item.valid_from


class Change(NamedTuple):
    """What one write changed; sorted ids."""

    at: datetime
    added: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    reopened: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    reinstated: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()


def changes(
    history: History, stretches: Mapping[str, Sequence[Stretch]], after: datetime | None, until: datetime
) -> list[Change]:
    """What each write with a record time in `(after, until]` changed; a write that changed nothing is left out.

    Closed at w: as known at w, it no longer holds at an instant at which it held (or, recorded at w, which it
    claims) as known just before w. Reopened: the reverse.
    """

    def inside(at: datetime | None) -> bool:
        return at is not None and (after is None or after < at) and at <= until

    rows: dict[datetime, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for item in history.items.values():
        moved = {at for s in stretches[item.id] for at in (s.known_from, s.known_to) if at is not None and inside(at)}
        if inside(item.recorded_at):
            rows[item.recorded_at]["added"].add(item.id)
            moved.add(item.recorded_at)
        for at in moved:
            now = known_at(stretches[item.id], at)
            if at == item.recorded_at:
                before: Intervals = (claim(item),)
            else:
                before = known_before(stretches[item.id], at)
                if subtract(now, before):
                    rows[at]["reopened"].add(item.id)
            if subtract(before, now):
                rows[at]["closed"].add(item.id)
    for review in history.reviews:
        if inside(review.recorded_at) and review.target.on_item:
            name = "rejected" if review.verdict == "rejects" else "reinstated"
            rows[review.recorded_at][name].add(review.target.id)
    for ending in history.endings:
        if inside(ending.recorded_at):
            rows[ending.recorded_at]["ended"].add(ending.id)
    return [
        Change(at=at, **{name: tuple(sorted(ids)) for name, ids in row.items()}) for at, row in sorted(rows.items())
    ]
