"""The two axes as a plane: valid time across, record time upwards, each item the area in which it was believed to hold.

What hangs together, a slot or a chain of links, has a plane of its own, so that few areas meet; all have one scale.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from ledger_cli.instant import LAST
from ledger_cli.views.markup import clipped, escaped
from ledger_cli.views.palette import themed
from ledger_cli.views.svg import LEFT, RIGHT, STYLE, either, frame, isolated, placed, text, told
from ledger_cli.views.terminal import columns, counted

if TYPE_CHECKING:
    from ledger_cli.model import Stretch
    from ledger_cli.scale import Scale
    from ledger_cli.timeline import Line, Timeline

_FEW = 4  # planes that are drawn as wide as the page
_GAP = 32  # between two planes beside each other
_GUTTER = 96  # left of a plane: the dates of its record time
_ABOVE, _BELOW, _KEY = 44, 84, 36  # its name; the dates of its valid time; each row of its key
_PATTERNS = (
    '<path d="M0 10L10 0"/>',
    '<path d="M0 0L10 10"/>',
    '<circle cx="5" cy="5" r="1.5"/>',
    '<path d="M0 5H10"/>',
    '<path d="M5 0V10"/>',
    '<path d="M0 5H10M5 0V10"/>',
)
_STYLE = STYLE + themed(
    "".join(f"  .a{n} {{ fill: $area{n} }}\n  .p{n} {{ fill: url(#ledger-p{n}) }}\n" for n in range(len(_PATTERNS)))
    + """  .area { stroke: $ink; stroke-width: 1.25; fill-opacity: 0.7 }
  .pattern { stroke: $ink; stroke-opacity: 0.22; fill: none }
  .box { fill: none; stroke: $quiet }
  .name { font-weight: 650 }
  .diagonal { stroke: $ink; stroke-width: 1.5; stroke-dasharray: 6 4 }
  .top { stroke: $ink; stroke-width: 4 }"""
)


class _Plane(NamedTuple):
    """Where one plane stands, and its scales."""

    x: float
    y: float
    wide: float
    high: float
    valid: Scale
    known: Scale

    def across(self, at: datetime | None) -> float:
        return self.x + self.wide * self.valid.place(at)

    def up(self, at: datetime | None) -> float:
        return self.y + self.high * (1 - self.known.place(at))


def draw(found: Timeline) -> str:
    """The whole document of a timeline as planes."""
    return "\n".join(_document(found)) + "\n"


def _document(found: Timeline) -> Iterator[str]:
    about = found.subject or "the whole ledger"
    chains = list(found.chains())
    beside = 1 if len(chains) <= _FEW else 2
    wide, high = (RIGHT - LEFT - _GAP * (beside - 1)) / beside, 360 if beside == 1 else 250
    rows = [chains[n : n + beside] for n in range(0, len(chains), beside)]
    heights = [_ABOVE + high + _BELOW + _KEY * max(map(len, row)) + _GAP for row in rows]
    items = counted({"item": len(found.lines)}) or "no item"
    said = (
        "Valid time runs across, record time upwards. Each area is where an item was believed to hold. As-of reads the "
        f"top edge, believed the diagonal. {'. '.join(map(told, found.lines))}."
    )
    yield from frame(f"{about}: the plane of valid time and record time", said, 130 + sum(heights), _STYLE)
    yield "<defs>"
    for n, pattern in enumerate(_PATTERNS):
        size = 'width="10" height="10" patternUnits="userSpaceOnUse"'
        yield f'<pattern id="ledger-p{n}" {size}><g class="pattern">{pattern}</g></pattern>'
    yield "</defs>"
    yield text(LEFT, 42, isolated(about, 40), "title")
    yield text(LEFT, 70, f"{items}: valid time across, record time upwards, UTC", "quiet small")
    crosses = max(found.valid_scale.start, found.known_scale.start) < min(found.valid_scale.end, found.known_scale.end)
    legend = [*(_LEGEND if crosses else _LEGEND[:1]), *([_OVERLAP] if any(map(_overlaps, chains)) else [])]
    for n, (shape, said, briefly) in enumerate(legend):
        yield placed(shape, LEFT + 304 * n + 22, 100)
        yield from either(LEFT + 304 * n + 56, 105, said, briefly, "small")
    y = 130.0 + _ABOVE
    for row, height in zip(rows, heights, strict=True):
        for n, chain in enumerate(row):
            x = LEFT + n * (wide + _GAP) + _GUTTER
            yield from _plane(chain, _Plane(x, y, wide - _GUTTER, high, found.valid_scale, found.known_scale))
        y += height
    yield "</svg>"


_LEGEND = (
    ((("top", "M-22 0h44"),), "as-of reads the top edge", "as-of"),
    ((("diagonal", "M-22 8L22 -8"),), "believed reads the diagonal", "believed"),
)
_OVERLAP = (
    tuple((kind, f"M{x} -9h26v18h-26z") for n, x in ((0, -22), (1, -4)) for kind in (f"area a{n}", f"p{n}")),
    "overlap: both were believed",
    "both believed",
)


def _overlaps(chain: Sequence[Line]) -> bool:
    """Was there ever a moment at which two items of a chain were believed to hold at once?

    What was believed at a moment lies in the order of valid time, so that what comes has to be compared with its two
    neighbours alone.
    """
    events = sorted(
        (at, comes, s.valid_from, s.valid_to or LAST)
        for line in chain
        for s in line.stretches
        for at, comes in ((s.known_to, False), (s.known_from, True))
        if at is not None
    )
    lying: list[tuple[datetime, datetime]] = []
    for _, comes, start, end in events:
        n = bisect_left(lying, (start, end))
        if not comes:
            del lying[n]
        elif (n > 0 and lying[n - 1][1] > start) or (n < len(lying) and lying[n][0] < end):
            return True
        else:
            lying.insert(n, (start, end))
    return False


def _plane(chain: tuple[Line, ...], p: _Plane) -> Iterator[str]:
    half = 1 if p.wide > 600 else 2
    long, short = 112 // half, 54 // half  # columns that a line of text has
    left = p.x - _GUTTER
    name = chain[0].item.slot or chain[0].item.text
    yield from either(left, p.y - 18, isolated(name, long), isolated(name, short - 3), "id")
    yield f'<g role="presentation"><rect class="box" x="{p.x:g}" y="{p.y:g}" width="{p.wide:g}" height="{p.high}"/>'
    for n, line in enumerate(chain):
        yield f"<g><title>{escaped(told(line))}</title>"
        for stretch in line.stretches:
            yield from _area(p, stretch, n % len(_PATTERNS))
        yield "</g>"
    yield from _axes(p, half)
    yield from _names(p, chain)
    yield "</g>"
    for n, line in enumerate(chain):
        y = p.y + p.high + _BELOW + _KEY * n
        yield from _swatch(left, y, n % len(_PATTERNS))
        yield from either(left + 40, y + 16, _key(line, long - 5), _key(line, short - 4))


def _key(line: Line, room: int) -> str:
    id = clipped(line.item.id, room // 2)
    never = "" if line.stretches else " (never believed)"
    said = isolated(f"{line.item.text}{never}", max(2, room - columns(id) - 2))
    return f'<tspan class="id">{escaped(id)}</tspan>  {said}'


def _area(p: _Plane, s: Stretch, n: int) -> Iterator[str]:
    left, right, top, bottom = _box(p, s)
    size = f'x="{left:.5g}" y="{top:.6g}" width="{max(1, right - left):.5g}" height="{max(1, bottom - top):.5g}"'
    yield f'<rect class="area a{n}" {size}/><rect class="p{n}" {size}/>'


def _swatch(x: float, y: float, n: int) -> Iterator[str]:
    size = f'x="{x:g}" y="{y:g}" width="28" height="20"'
    yield f'<rect class="area a{n}" {size}/><rect class="p{n}" {size}/>'


def _names(p: _Plane, chain: Sequence[Line]) -> Iterator[str]:
    """The items' ids in their areas, where they have room: where few other areas lie, and no other id."""
    boxes = [(n, _box(p, stretch)) for n, line in enumerate(chain) for stretch in line.stretches]
    taken: list[tuple[float, float, float]] = []  # from, to, at the height
    for n, box in boxes:
        id = clipped(chain[n].item.id, 24)
        wide = 9.0 * columns(id)
        if not (spots := list(_spots(box, wide))):
            continue
        others = [other for m, other in boxes if m != n and other.meets(box)]

        def crowd(spot: tuple[float, float], wide: float = wide, others: list[_Box] = others) -> int:
            x, y = spot
            met = sum(left < x + wide and x - wide < right and abs(y - at) < 24 for left, right, at in taken)
            return 100 * met + sum(b.left < x < b.right and b.top < y < b.bottom for b in others)

        if crowd(best := min(spots, key=crowd)) < 100:
            taken.append((best[0] - wide / 2, best[0] + wide / 2, best[1]))
            yield text(best[0], best[1] + 5, f"<tspan>{escaped(id)}</tspan>", "name clear", "middle")


class _Box(NamedTuple):
    left: float
    right: float
    top: float
    bottom: float

    def meets(self, other: _Box) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


def _box(p: _Plane, s: Stretch) -> _Box:
    return _Box(p.across(s.valid_from), p.across(s.valid_to), p.up(s.known_to), p.up(s.known_from))


def _spots(box: _Box, wide: float) -> Iterator[tuple[float, float]]:
    """Where in an area a name may stand: in the middle first, then along its edges."""
    if box.right - box.left < wide + 8 or box.bottom - box.top < 22:
        return
    across = ((box.left + box.right) / 2, box.left + wide / 2 + 6, box.right - wide / 2 - 6)
    down = ((box.top + box.bottom) / 2, box.bottom - 13, box.top + 13)
    yield from ((x, y) for y in down for x in across)


def _axes(p: _Plane, half: int) -> Iterator[str]:
    """Both axes with their dates outside of the plane, and the two lines that the questions read."""
    bottom = p.y + p.high
    for tick in p.valid.ticks(7 // half):
        x = p.across(tick.at)
        yield f'<line class="grid" x1="{x:.5g}" y1="{bottom:g}" x2="{x:.5g}" y2="{bottom + 8:g}"/>'
        yield from _date(tick.label, x, bottom + 28, "end" if x > p.x + p.wide - 36 else "middle")
    for tick in p.known.ticks(6 // half):
        y = p.up(tick.at)
        yield f'<line class="grid" x1="{p.x - 8:g}" y1="{y:.6g}" x2="{p.x:g}" y2="{y:.6g}"/>'
        yield from _date(tick.label, p.x - 14, y, "end", beside=True)
    start, end = max(p.valid.start, p.known.start), min(p.valid.end, p.known.end)
    if start < end:
        points = f'x1="{p.across(start):.5g}" y1="{p.up(start):.6g}" x2="{p.across(end):.5g}" y2="{p.up(end):.6g}"'
        yield f'<line class="diagonal" {points}><title>believed on the day itself</title></line>'
    edge = f'x1="{p.x:g}" y1="{p.y:g}" x2="{p.x + p.wide:g}" y2="{p.y:g}"'
    yield f'<line class="top" {edge}><title>as known now</title></line>'


def _date(label: str, x: float, y: float, anchor: str, *, beside: bool = False) -> Iterator[str]:
    """A tick's label: `2024-02-11`. On a narrow page the letters are larger, and it takes two lines.

    `beside` the axis, its middle stands at `y`; else its first line does.
    """
    day, _, hour = label.partition(" ")
    year, _, rest = day.partition("-")
    long = [day, hour] if hour else [day]
    short = [rest, hour] if hour else [year, rest] if rest else [year]
    for lines, step, kind in ((long, 17, "long"), (short, 27, "short")):
        top = y + 5 - beside * step * (len(lines) - 1) / 2
        for n, line in enumerate(lines):
            yield text(x, top + step * n, line, f"quiet small {kind}", anchor)
