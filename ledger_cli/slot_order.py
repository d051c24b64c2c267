"""A slot orders itself: the later start supersedes the earlier, whatever the order of writing."""

from __future__ import annotations

from bisect import bisect, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime

from ledger_cli.history import History, state_at
from ledger_cli.intervals import claim, meet
from ledger_cli.model import Item, Kind, Link

Start = tuple[datetime, datetime, str]


def links(history: History, items: Iterable[Item], typed: Iterable[Link]) -> Iterator[Link]:
    """The links by which each of these new items takes its place in its slot.

    `history` holds the items, `typed` are the links their session states. The items come in the order of their starts;
    each meets the places that are there, recorded before or come before it, whose claims meet its own, the nearest
    start first. No link is made where a chain of links leads already from either to the other: of live ones, or, for
    a place that was recorded before, of all that were recorded, for a reviewer's verdict stands. So an item is linked
    to its neighbours alone, and a slot of n versions has about n links: linked to every other one, each session would
    add n lines to the checkpoint.
    """
    slotted = sorted((i for i in items if i.slot is not None), key=lambda i: (i.valid_from, i.id))
    if not slotted:
        return
    before = state_at(history)
    recorded = (defaultdict[str, set[str]](set), defaultdict[str, set[str]](set))
    for earlier, later in before.links:
        recorded[0][earlier].add(later)
        recorded[1][later].add(earlier)
    state = state_at(history.plus(typed))
    slots = _Slots(history, slotted)
    for item in slotted:
        own = history.place[item.id]
        chained = before.reach(own, links=recorded[0]) | before.reach(own, links=recorded[1])
        chained |= state.reach(own) | state.reach(own, links=state.before)
        for other in slots.nearest(item):
            place = history.place[other.id]
            if place in chained or not slots.meets(place, item):
                continue
            old, new = sorted((item, other), key=_start)
            link = Link(old.id, new.id, item.recorded_at, item.session, item.by)
            state.learn([link])
            chained.add(place)
            chained |= state.reach(place, links=state.before if old is other else state.after)
            yield link
        slots.add(item)


class _Slots:
    """The places of each slot, by kind, in the order of the starts of their latest versions there."""

    def __init__(self, history: History, new: Iterable[Item]) -> None:
        self.history = history
        self.versions: dict[tuple[Kind, str | None, str], list[Item]] = defaultdict(list)
        self.order: dict[tuple[Kind, str | None], list[tuple[Start, Item]]] = defaultdict(list)
        ahead = {item.id for item in new}
        for item in history.items.values():
            if item.slot is not None and item.id not in ahead:
                self.versions[item.kind, item.slot, history.place[item.id]].append(item)
        for (kind, slot, _), versions in self.versions.items():
            self.order[kind, slot].append(_entry(versions))
        for entries in self.order.values():
            entries.sort()

    def nearest(self, item: Item) -> Iterator[Item]:
        """The latest versions of the other places, the nearest start first: before the item, then behind it."""
        entries = list(self.order[item.kind, item.slot])
        here = bisect(entries, (_start(item), item))
        own = self.history.place[item.id]
        for _, other in entries[:here][::-1] + entries[here:]:
            if self.history.place[other.id] != own:
                yield other

    def meets(self, place: str, item: Item) -> bool:
        """Does any version of the place in the item's slot claim an instant that the item claims?"""
        return any(meet(claim(v), claim(item)) for v in self.versions[item.kind, item.slot, place])

    def add(self, item: Item) -> None:
        versions = self.versions[item.kind, item.slot, self.history.place[item.id]]
        entries = self.order[item.kind, item.slot]
        if versions:
            entries.remove(_entry(versions))
        versions.append(item)
        insort(entries, _entry(versions))


def _entry(versions: list[Item]) -> tuple[Start, Item]:
    latest = max(versions, key=lambda v: (v.recorded_at, v.id))
    return _start(latest), latest


def _start(item: Item) -> Start:
    return item.valid_from, item.recorded_at, item.id
