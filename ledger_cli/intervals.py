"""Sets of instants on one time axis, as half-open intervals `[from, to)`; None = no end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from ledger_cli.model import Interval, Item

Intervals = tuple[Interval, ...]  # disjoint, not touching, in order


def union(*sets: Iterable[Interval]) -> Intervals:
    """All instants that are in any of the sets."""
    parts = [i for s in sets for i in s]
    if len(parts) < 2:  # nearly always
        return tuple(parts)
    merged: list[Interval] = []
    for start, end in sorted(parts, key=lambda i: i[0]):
        if merged and (merged[-1][1] is None or start <= merged[-1][1]):
            merged[-1] = (merged[-1][0], _later(merged[-1][1], end))
        else:
            merged.append((start, end))
    return tuple(merged)


def subtract(kept: Iterable[Interval], taken: Iterable[Interval]) -> Intervals:
    """All instants of `kept` that are in none of `taken`."""
    left = list(kept)
    for start, end in taken:
        left = [piece for whole in left for piece in _cut(whole, start, end)]
    return tuple(left)


def meet(one: Interval, other: Interval) -> Interval | None:
    """The instants in both, or None."""
    start = max(one[0], other[0])
    end = _earlier(one[1], other[1])
    return (start, end) if end is None or start < end else None


def _cut(whole: Interval, start: datetime, end: datetime | None) -> Iterator[Interval]:
    common = meet(whole, (start, end))
    if common is None:
        yield whole
        return
    if whole[0] < common[0]:
        yield whole[0], common[0]
    if common[1] is not None and (whole[1] is None or common[1] < whole[1]):
        yield common[1], whole[1]


def _later(a: datetime | None, b: datetime | None) -> datetime | None:
    return None if a is None or b is None else max(a, b)


def _earlier(a: datetime | None, b: datetime | None) -> datetime | None:
    return b if a is None else a if b is None else min(a, b)


def claim(item: Item) -> Interval:
    """The instants an item claims, as stated."""
    return item.valid_from, item.valid_to
