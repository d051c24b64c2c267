"""What must be so of every ledger: a session that breaks it is refused, and `check` finds what a merge broke."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ledger_cli.history import History, Pair, State, by_record_time
from ledger_cli.instant import show_short
from ledger_cli.intervals import meet
from ledger_cli.model import Ending, Entry, Interval, Item, Kind, Link, Review, Stretch


def named(entry: Entry) -> Iterator[str]:
    """The items that an entry names, its own id apart."""
    if isinstance(entry, Item) and entry.corrects is not None:
        yield entry.corrects
    elif isinstance(entry, Link):
        yield from (entry.old, entry.new)
    elif isinstance(entry, Ending):
        yield entry.id
    elif isinstance(entry, Review):
        yield entry.target.id
        if entry.target.new is not None:
            yield entry.target.new


def cycles(history: History, since: datetime | None = None) -> Iterator[Pair]:
    """The pairs of places whose link closed a cycle over links live at one instant, from `since` on."""
    if not history.may_turn_back:
        return
    state = State(history)
    for at, entries in by_record_time(history.entries()):
        state.learn(entries)
        if since is not None and at < since:
            continue
        pairs = {history.pair(e) for e in entries if isinstance(e, Link)}
        pairs |= {history.pair(e.target) for e in entries if isinstance(e, Review) and e.target.new is not None}
        for old, new in sorted(pair for pair in pairs if pair is not None):
            if new in state.after[old] and old in state.reach(new):
                yield old, new


def places_in_conflict(history: History) -> Iterator[list[Item]]:
    """The items, by id, of each place of which more than one is in force."""
    several = {place: versions for place, versions in history.versions.items() if len(versions) > 1}
    items = {item.id: item for versions in several.values() for item in versions}
    verdicts = (r for r in history.reviews if r.target.on_item and r.target.id in items)
    state = State(history)
    for _, entries in by_record_time([*items.values(), *verdicts]):
        state.learn(entries)
    for place in sorted(several):
        if len(in_force := state.in_force(place)) > 1:
            yield sorted(in_force, key=lambda item: item.id)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two items of one kind that both hold in one slot, and the first stretch in which they do."""

    kind: Kind
    slot: str
    ids: Pair
    during: Interval

    def during_words(self) -> str:
        """`from 2024-01-10 on`, `from 2024-01-10 to 2024-02-01`."""
        start, end = self.during
        return f"from {show_short(start)}" + (f" to {show_short(end)}" if end is not None else " on")


def slot_conflicts(items: Iterable[Item], stretches: Mapping[str, Sequence[Stretch]]) -> list[Conflict]:
    """Where the slot rule is broken, as known now: for each slot, neighbours in valid time that overlap."""
    slots: dict[tuple[str, Kind], list[tuple[Interval, str]]] = defaultdict(list)
    for item in items:
        if item.slot is not None:
            slots[item.slot, item.kind] += [
                ((s.valid_from, s.valid_to), item.id) for s in stretches[item.id] if s.known_to is None
            ]
    found: dict[tuple[str, Kind, Pair], Interval] = {}
    for (slot, kind), held in slots.items():
        held.sort(key=lambda h: (h[0][0], h[1]))
        open_: list[tuple[Interval, str]] = []
        for interval, id in held:
            open_ = [(i, other) for i, other in open_ if meet(i, interval)]
            for i, other in open_:
                if (common := meet(i, interval)) is not None:
                    found.setdefault((slot, kind, (min(id, other), max(id, other))), common)
            open_.append((interval, id))
    return [Conflict(kind, slot, ids, during) for (slot, kind, ids), during in sorted(found.items())]
