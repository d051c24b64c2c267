"""A slot orders itself: the later start supersedes the earlier, whatever the order of writing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime

from ledger_cli.history import History, state_at
from ledger_cli.intervals import claim, meet
from ledger_cli.model import Item, Link


def links(history: History, items: Iterable[Item], typed: Iterable[Link]) -> Iterator[Link]:
    """The links by which each of these new items takes its place in its slot.

    `history` holds the items, `typed` are the links their session states. An item meets the places whose claims meet
    its own, the nearest start first. No link is made where a chain of links leads already from either to the other:
    of live ones, or, for a place that was there before, of all that were recorded, for a reviewer's verdict stands. So
    an item is linked to its neighbours alone, and a slot of n versions has about n links: linked to every earlier one,
    each session would add n lines to the checkpoint.
    """
    before = state_at(history)
    recorded = (defaultdict[str, set[str]](set), defaultdict[str, set[str]](set))
    for earlier, later in before.links:
        recorded[0][earlier].add(later)
        recorded[1][later].add(earlier)
    state = state_at(history.plus(typed))
    for item in sorted((i for i in items if i.slot is not None), key=lambda i: (i.valid_from, i.id)):
        own = history.place[item.id]
        known = before.reach(own, links=recorded[0]) | before.reach(own, links=recorded[1])
        chained = state.reach(own) | state.reach(own, links=state.before)
        for other in _neighbours(history, item):
            place = history.place[other.id]
            if place in chained or place in known:
                continue
            old, new = sorted((item, other), key=_start)
            link = Link(old.id, new.id, item.recorded_at, item.session, item.by)
            state.learn([link])
            chained = state.reach(own) | state.reach(own, links=state.before)
            yield link


def _neighbours(history: History, item: Item) -> list[Item]:
    """For each other place of the slot that claims an instant the item claims, its latest version there."""
    found: dict[str, Item] = {}
    meets: set[str] = set()
    own = history.place[item.id]
    for version in history.items.values():
        place = history.place[version.id]
        if place != own and (version.kind, version.slot) == (item.kind, item.slot):
            found[place] = max(found.get(place, version), version, key=lambda v: (v.recorded_at, v.id))
            if meet(claim(version), claim(item)):
                meets.add(place)
    order = sorted([item, *(found[p] for p in meets)], key=_start)
    here = order.index(item)
    return order[:here][::-1] + order[here + 1 :]


def _start(item: Item) -> tuple[datetime, datetime, str]:
    return item.valid_from, item.recorded_at, item.id
