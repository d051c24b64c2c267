"""The timeline for people: a row an item, its valid time above its record time. No colour says what no sign says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ledger_cli.intervals import claim
from ledger_cli.views import signs
from ledger_cli.views.tables import stretch
from ledger_cli.views.terminal import Cell, lines, room, when

if TYPE_CHECKING:
    from ledger_cli.model import Interval
    from ledger_cli.scale import Scale
    from ledger_cli.timeline import Line, Mark, Timeline

_NAMES = 10  # columns of `  record  `
_TIMES = 54  # columns that the exact times take beside the bars, where there is room for them
_WIDE = 118
_LEAST, _MOST = 20, 120  # columns of the bars
_TICK = 12  # columns a tick's label takes, with the gap to the next
_EVERY = 12  # items from one axis to the next

_STYLES = {"rejected": "red", "reinstated": "green", "ended": "yellow"}


def timeline(found: Timeline) -> None:
    """Both axes of every item over one scale."""
    about = found.subject or "the whole ledger"
    if not found.lines:
        lines([[(about, "bold")], [("nothing", "dim")]])
        return
    wide = room()
    beside = wide >= _WIDE
    bars = max(_LEAST, min(_MOST, wide - _NAMES - (_TIMES if beside else 0)))
    axis = _axis(found.scale, bars)
    rows: list[Sequence[Cell]] = [[(about, "bold"), "  valid time above record time, in UTC"], [""]]
    for n, line in enumerate(found.lines):
        rows += axis if n % _EVERY == 0 else []
        rows += _line(line, found.scale, bars, beside)
    lines([*rows, *axis[::-1], [""], *_legend(found, wide)])


def _line(line: Line, scale: Scale, bars: int, beside: bool) -> Iterable[Sequence[Cell]]:
    slot = f"  ({line.item.slot})" if line.item.slot else ""
    yield ["", (line.item.id, "bold"), "  ", line.item.text, (slot, "dim")]
    valid = _valid(line, scale, bars)
    record = _record(line, scale, bars)
    holds, learned = holding(line), knowing(line)
    for name, (cells, said) in {"valid ": (valid, holds), "record": (record, learned)}.items():
        gap = " " * (2 + bars - sum(len(piece) for piece, _ in cells))
        yield [(f"  {name}  ", "dim"), *cells, *([gap + said] if beside else [])]
    if not beside:
        yield ["          ", f"{holds}; {learned}"]
    for mark in line.marks:
        yield ["          ", (f"{signs.of(mark).letter} ", _STYLES.get(mark.what, "")), _told(mark)]


def holding(line: Line) -> str:
    """Where an item holds, as known now."""
    return "holds " + ", ".join(map(stretch, line.shown.holds)) if line.shown.holds else "never held"


def knowing(line: Line) -> str:
    """When the ledger learned an item, and when it closed."""
    closed = f", closed {when(line.shown.closed_at)}" if line.shown.closed_at is not None else ""
    return f"learned {when(line.item.recorded_at)}{closed}"


def _told(mark: Mark) -> str:
    return f"{when(mark.at)}  {words(mark)}"


def words(mark: Mark) -> str:
    """What a mark says: `superseded by d4`, `rejected by sam: reads are fast enough`."""
    reason = f": {mark.reason}" if mark.reason else ""
    by = f" by {mark.by}" if mark.by else ""
    if mark.what in ("superseded", "corrected"):
        return f"{mark.what} by {mark.other}"
    if mark.what == "ended" and mark.until is not None:
        return f"ended on {when(mark.until)}{by}{reason}"
    on = {"item": "", "link": f"link to {mark.other} ", "ending": "ending "}[mark.on]
    return f"{on}{mark.what}{by if mark.what != 'closed' else ''}{reason}"


class _Cells:
    """A bar as columns: what is drawn later covers what was drawn before."""

    def __init__(self, scale: Scale, columns: int) -> None:
        self.scale, self.columns = scale, columns
        self.cells: list[tuple[str, str]] = [(" ", "")] * columns

    def at(self, instant: datetime | None) -> int:
        return min(self.columns - 1, int(self.scale.place(instant) * self.columns))

    def draw(self, interval: Interval, sign: str, style: str) -> None:
        """From its start up to its end; the least is one column. What has no end here ends in an arrow."""
        start, end = interval
        first, last = self.at(start), self.at(end)
        open_end = end is None or end > self.scale.end
        for n in range(first, max(first + 1, last + open_end)):
            self.cells[n] = sign, style
        if open_end:
            self.cells[-1] = "▶" if sign != "┄" else "▷", style
        if start < self.scale.start:
            self.cells[0] = "◀" if sign != "┄" else "◁", style

    def put(self, at: datetime, sign: str, style: str) -> None:
        self.cells[self.at(at)] = sign, style

    def pieces(self) -> list[tuple[str, str]]:
        """Runs of one style as pieces of a line."""
        found: list[tuple[str, str]] = []
        for sign, style in self.cells:
            if found and found[-1][1] == style:
                found[-1] = found[-1][0] + sign, style
            else:
                found.append((sign, style))
        if found and not found[-1][0].strip():
            found.pop()
        return found


def _valid(line: Line, scale: Scale, columns: int) -> list[tuple[str, str]]:
    cells = _Cells(scale, columns)
    for interval in line.lost:
        cells.draw(interval, signs.LOST.letter, "dim")
    for interval in line.shown.holds:
        cells.draw(interval, signs.HOLDS.letter, "bold cyan")
    if not line.shown.holds:
        cells.put(claim(line.item)[0], signs.REJECTED.letter, "red")
    return cells.pieces()


def _record(line: Line, scale: Scale, columns: int) -> list[tuple[str, str]]:
    cells = _Cells(scale, columns)
    for interval in line.record:
        cells.draw(interval, "─", "magenta")
    cells.put(line.item.recorded_at, "├", "magenta")
    for mark in line.marks:
        cells.put(mark.at, signs.of(mark).letter, _STYLES.get(mark.what, "magenta"))
    return cells.pieces()


def _axis(scale: Scale, columns: int) -> list[Sequence[Cell]]:
    """The labels of the ticks, and the ticks under them."""
    labels, marks = [" "] * columns, ["─"] * columns
    free = 0
    for tick in scale.ticks(max(1, columns // _TICK)):
        at = min(columns - 1, int(scale.place(tick.at) * columns))
        marks[at] = "┬"
        start = min(at, columns - len(tick.label))
        if start >= free:
            labels[start : start + len(tick.label)] = tick.label
            free = start + len(tick.label) + 1
    return [[(" " * _NAMES + "".join(labels).rstrip(), "dim")], [(" " * _NAMES + "".join(marks), "dim")]]


def _legend(found: Timeline, wide: int) -> list[Sequence[Cell]]:
    """What the signs that were drawn mean."""
    rows: list[str] = []
    for one in (f"{sign.letter} {sign.said}" for sign in signs.drawn(found.lines, found.scale)):
        if rows and len(rows[-1]) + 3 + len(one) <= wide:
            rows[-1] += "   " + one
        else:
            rows.append(one)
    return [[(row, "dim")] for row in rows]
