"""A stretch of one time axis to draw on: where an instant falls on it, and where its ticks stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from ledger_cli.instant import LAST

FIRST = datetime.min.replace(tzinfo=UTC)
_DAY = timedelta(days=1)
_YEAR = timedelta(days=365)
_LONE = 20
"""An instant so many times as far from the rest as the rest is wide, such as 9999-12-31 for "for good", is left out."""


class Tick(NamedTuple):
    """A mark on the axis: the instant, and what to write at it."""

    at: datetime
    label: str


class Scale(NamedTuple):
    """The instants from `start` to `end`; `end` is after `start`."""

    start: datetime
    end: datetime

    @classmethod
    def over(cls, instants: Iterable[datetime]) -> Scale:
        """The scale that shows these instants, with a little room on both sides: at the end, arrows stand there."""
        found = sorted(set(instants)) or [datetime(2000, 1, 1, tzinfo=UTC)]
        low, high = _without_lone(found)
        span = max(high - low, _DAY)
        return cls(_moved(low, -span * 0.02), _moved(high, span * 0.06))

    def place(self, at: datetime | None) -> float:
        """Where an instant falls, from 0 to 1. None, no end, falls at the end; what is outside, at the nearer edge."""
        if at is None:
            return 1.0
        return min(1.0, max(0.0, (at - self.start) / (self.end - self.start)))

    def shows(self, at: datetime | None) -> bool:
        """Is the instant on the scale?"""
        return at is not None and self.start <= at <= self.end

    def ticks(self, most: int) -> list[Tick]:
        """At most so many ticks (at least one is tried), where calendars put them: the finest steps that fit."""
        for unit, step in _STEPS:
            if (self.end - self.start) / (_LENGTH[unit] * step) > 2 * most:
                continue  # far too many to count them out
            found = [Tick(at, _label(at, unit)) for at in _starts(self.start, self.end, unit, step)]
            if found and unit == "hour":  # the first one says of which day it is
                found[0] = Tick(found[0].at, f"{found[0].at.date().isoformat()} {found[0].at.hour:02}:00")
            if len(found) <= most:
                return found
        return []


def _without_lone(found: list[datetime]) -> tuple[datetime, datetime]:
    """The first and the last of sorted instants, less those at either end that are far from the rest.

    The rest is half of them or more, and two at least; of several ways to part them, the one that leaves the fewest.
    """
    gaps = [after - before for before, after in pairwise(found)]
    wide = sorted(sorted((n for n, gap in enumerate(gaps, 1) if gap > _LONE * _YEAR), key=lambda n: gaps[n - 1])[-4:])

    def stands_apart(first: int, last: int) -> bool:
        far = _LONE * max(found[last] - found[first], _YEAR)
        return (first == 0 or gaps[first - 1] > far) and (last == len(gaps) or gaps[last] > far)

    ranges = [(n, m - 1) for n in (0, *wide) for m in (*wide, len(found)) if m - n >= max(2, len(found) / 2)]
    first, last = min((r for r in ranges if stands_apart(*r)), key=lambda r: r[1] - r[0], default=(0, len(gaps)))
    return found[first], found[last]


def _moved(at: datetime, by: timedelta) -> datetime:
    try:
        return at + by
    except OverflowError:
        return FIRST if by < timedelta() else LAST


_LENGTH = {"hour": timedelta(hours=1), "day": _DAY, "month": 30 * _DAY, "year": _YEAR}
_STEPS = [
    *(("hour", n) for n in (1, 3, 6, 12)),
    *(("day", n) for n in (1, 2, 5, 10)),
    *(("month", n) for n in (1, 2, 3, 6)),
    *(("year", n) for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)),
]


def _starts(start: datetime, end: datetime, unit: str, step: int) -> Iterator[datetime]:
    """The instants from `start` to `end` at which a step begins."""
    try:
        at = _floor(start, unit, step)
        while at <= end:
            if at >= start:
                yield at
            at = _next(at, unit, step)
    except (OverflowError, ValueError):  # past the last year
        return


def _floor(at: datetime, unit: str, step: int) -> datetime:
    day = at.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "hour":
        return day + timedelta(hours=at.hour // step * step)
    if unit == "day":  # a month begins anew: 1, 6, 11, …
        return day.replace(day=min((at.day - 1) // step * step, 30 // step * step) + 1)
    if unit == "month":
        return day.replace(day=1, month=(at.month - 1) // step * step + 1)
    return day.replace(day=1, month=1, year=max(1, at.year // step * step))


def _next(at: datetime, unit: str, step: int) -> datetime:
    if unit == "hour":
        return at + timedelta(hours=step)
    if unit == "year":
        return at.replace(year=at.year // step * step + step)
    if unit == "month":
        months = at.year * 12 + at.month - 1 + step
        return at.replace(year=months // 12, month=months % 12 + 1)
    later = at + timedelta(days=step)
    # The last step of a month may be short: no tick stands a day before the first.
    return later if later.month == at.month and later.day + step // 2 <= 31 else _next(at.replace(day=1), "month", 1)


def _label(at: datetime, unit: str) -> str:
    day = at.date().isoformat()  # strftime may leave the zeros of an early year out
    if unit == "hour":
        return f"{day} {at.hour:02}:00" if at.hour == 0 else f"{at.hour:02}:00"
    return {"day": day, "month": day[:7], "year": day[:4]}[unit]
