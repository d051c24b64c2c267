"""Items on both axes at once, ready to be drawn: pure, and nothing of it computed anew.

What holds is read off the stretches of `holds.sweep`, and what is shown of an item's end off `holds.shown`; here they
are put in rows, over one scale.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Literal, NamedTuple

from ledger_cli import holds
from ledger_cli.chains import Entanglement
from ledger_cli.holds import Shown
from ledger_cli.instant import LAST
from ledger_cli.intervals import Intervals, claim, subtract, union
from ledger_cli.model import Item, Review, Stretch
from ledger_cli.scale import Scale

What = Literal["superseded", "corrected", "ended", "closed", "rejected", "reinstated"]


class Mark(NamedTuple):
    """Something that was recorded of an item, at a record time.

    `other` is the item that superseded or corrected it, `on` what a verdict is on: the item, a link, or an ending.
    `closed` is the record time since which its end stands, where nothing was recorded of the item itself.
    """

    at: datetime
    what: What
    other: str | None = None
    on: Literal["item", "link", "ending"] = "item"
    until: datetime | None = None  # the day of an ending
    by: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Line:
    """An item with both its times.

    Valid time: `shown.holds` is where it holds as known now, `lost` what it claims besides, and does not hold.
    Record time: `record` is from when it was recorded to when it closed, less the stretches in which the ledger did
    not hold it at all, as between a rejection and a reinstatement. `stretches` are the rectangles of both.
    """

    item: Item
    shown: Shown
    stretches: tuple[Stretch, ...]
    lost: Intervals
    record: Intervals
    marks: tuple[Mark, ...]
    chain: int  # lines with one number hang together: by slot, by links, or as versions

    def instants(self) -> Iterator[datetime]:
        """Every instant of either axis that a drawing of this line shows."""
        yield from self.valid_instants()
        yield from self.known_instants()

    def valid_instants(self) -> Iterator[datetime]:
        """Every instant of valid time that a drawing of this line shows."""
        yield self.item.valid_from
        yield from (at for s in self.stretches for at in (s.valid_from, s.valid_to) if at is not None)
        yield from (at for interval in self.lost for at in interval if at is not None)

    def known_instants(self) -> Iterator[datetime]:
        """Every instant of record time that a drawing of this line shows."""
        yield self.item.recorded_at
        yield from (at for s in self.stretches for at in (s.known_from, s.known_to) if at is not None)
        yield from (mark.at for mark in self.marks)


@dataclass(frozen=True)
class Timeline:
    """Lines over one scale: those that hang together follow each other, by valid time; `now` is the moment asked."""

    subject: str | None
    now: datetime
    lines: tuple[Line, ...]

    @cached_property
    def scale(self) -> Scale:
        """The scale of both axes."""
        return Scale.over(at for line in self.lines for at in line.instants())

    @cached_property
    def valid_scale(self) -> Scale:
        """The scale of valid time alone."""
        return Scale.over(at for line in self.lines for at in line.valid_instants())

    @cached_property
    def known_scale(self) -> Scale:
        """The scale of record time alone."""
        return Scale.over(at for line in self.lines for at in line.known_instants())

    def chains(self) -> Iterator[tuple[Line, ...]]:
        """The lines that hang together, one chain after another."""
        found: dict[int, list[Line]] = defaultdict(list)
        for line in self.lines:
            found[line.chain].append(line)
        yield from map(tuple, found.values())


def timeline(subject: str | None, found: Entanglement, items: Iterable[Item], now: datetime) -> Timeline:
    """The items as lines. `found` holds them with all that hangs together with any of them."""
    chosen = {item.id: item for item in items}
    roots, marks = _roots(found), _marks(found)
    by_root: dict[str, list[Item]] = defaultdict(list)
    for item in sorted(chosen.values(), key=lambda i: (i.valid_from, i.recorded_at, i.id)):
        by_root[roots[found.history.place[item.id]]].append(item)  # in the order of what begins first
    lines = [_line(found, item, marks.get(item.id, []), n) for n, its in enumerate(by_root.values()) for item in its]
    return Timeline(subject, now, tuple(lines))


def _line(found: Entanglement, item: Item, marks: list[Mark], chain: int) -> Line:
    stretches = tuple(found.stretches[item.id])
    shown = holds.shown(item, stretches, LAST)
    closed = shown.closed_at
    if closed is not None and all(mark.at != closed for mark in marks):
        marks = [*marks, Mark(closed, "closed")]
    whole: Intervals = ((item.recorded_at, closed),) if closed is None or item.recorded_at < closed else ()
    silent = subtract(whole, union((s.known_from, s.known_to) for s in stretches))
    return Line(
        item=item,
        shown=shown,
        stretches=stretches,
        lost=subtract((claim(item),), shown.holds),
        record=subtract(whole, silent),
        marks=tuple(sorted(marks, key=lambda m: (m.at, m.what, m.other or "", m.by or ""))),
        chain=chain,
    )


def _roots(found: Entanglement) -> Mapping[str, str]:
    """For each place one place of those it hangs together with: over links and the slot, live or not."""
    history = found.history
    root = {place: place for place in history.versions}

    def top(place: str) -> str:
        while root[place] != place:
            root[place] = place = root[root[place]]
        return place

    first: dict[tuple[str, str], str] = {}
    for item in history.items.values():
        if item.slot is not None:
            root[top(history.place[item.id])] = top(first.setdefault((item.kind, item.slot), history.place[item.id]))
    for pair in map(history.pair, history.links):
        if pair is not None:
            root[top(pair[0])] = top(pair[1])
    return {place: top(place) for place in root}


def _marks(found: Entanglement) -> Mapping[str, list[Mark]]:
    """What was recorded of each item. What is on a place stands with the version that was the latest then."""
    history = found.history
    marks: dict[str, list[Mark]] = defaultdict(list)

    def at_place(place: str, mark: Mark) -> None:
        known = [v for v in history.versions[place] if v.recorded_at <= mark.at] or history.versions[place]
        marks[max(known, key=lambda v: (v.recorded_at, v.id)).id].append(mark)

    for link in history.links:
        if (pair := history.pair(link)) is not None:
            at_place(pair[0], Mark(link.recorded_at, "superseded", link.new, by=link.by))
    for item in history.items.values():
        if item.corrects in history.items:
            marks[item.corrects].append(Mark(item.recorded_at, "corrected", item.id, by=item.by))
    for ending in history.endings:
        mark = Mark(ending.recorded_at, "ended", until=ending.valid_to, by=ending.by, reason=ending.reason)
        at_place(history.place[ending.id], mark)
    for review in history.reviews:
        if review.target.on_item:
            marks[review.target.id].append(_verdict(review, "item"))
        elif review.target.ending:
            at_place(history.place[review.target.id], _verdict(review, "ending"))
        elif (pair := history.pair(review.target)) is not None:
            at_place(pair[0], _verdict(review, "link"))
    return marks


def _verdict(review: Review, on: Literal["item", "link", "ending"]) -> Mark:
    what: What = "rejected" if review.verdict == "rejects" else "reinstated"
    return Mark(review.recorded_at, what, review.target.new, on, by=review.by, reason=review.reason)
