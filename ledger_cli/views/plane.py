"""The two axes as a plane: valid time across, record time upwards, each item the area in which it was believed to hold.

What hangs together, a slot or a chain of links, has a plane of its own, so that few areas meet; all have one scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ledger_cli.views.markup import clipped, escaped
from ledger_cli.views.svg import LEFT, RIGHT, STYLE, either, frame, isolated, text, told
from ledger_cli.views.terminal import columns, counted

if TYPE_CHECKING:
    from ledger_cli.model import Stretch
    from ledger_cli.scale import Scale
    from ledger_cli.timeline import Line, Timeline

_FEW = 4  # planes that are drawn as wide as the page
_GAP, _KEY = 32, 36
_PATTERNS = (
    '<path d="M0 10L10 0"/>',
    '<path d="M0 0L10 10"/>',
    '<circle cx="5" cy="5" r="1.5"/>',
    '<path d="M0 5H10"/>',
    '<path d="M5 0V10"/>',
    '<path d="M0 5H10M5 0V10"/>',
)
_LIGHT = ("#b6d4fb", "#fbdf9d", "#bfe8c6", "#f6c6e0", "#d9ccf5", "#cfd6dd")
_DARK = ("#1d426f", "#614509", "#1d4a2a", "#5c2347", "#42307a", "#3b444e")


def _style() -> str:
    light = "".join(f"  .a{n} {{ fill: {colour} }}\n" for n, colour in enumerate(_LIGHT))
    dark = "".join(f"    .a{n} {{ fill: {colour} }}\n" for n, colour in enumerate(_DARK))
    return f"""{STYLE}{light}
  .area {{ stroke: #1f2328; stroke-width: 1.25; fill-opacity: 0.7 }}
  .pattern {{ stroke: #1f2328; stroke-opacity: 0.22; fill: none }}
  .box {{ fill: none; stroke: #59636e }}
  .name {{ font-weight: 650; paint-order: stroke; stroke: #ffffff; stroke-width: 4; stroke-linejoin: round }}
  .axis {{ paint-order: stroke; stroke: #ffffff; stroke-width: 3; stroke-linejoin: round }}
  .diagonal {{ stroke: #1f2328; stroke-width: 1.5; stroke-dasharray: 6 4 }}
  .top {{ stroke: #1f2328; stroke-width: 4 }}
  @media (prefers-color-scheme: dark) {{
{dark}    .area, .diagonal, .top {{ stroke: #f0f6fc }}
    .pattern {{ stroke: #f0f6fc }}
    .box {{ stroke: #9ea7b3 }}
    .name, .axis {{ stroke: #0d1117 }}
  }}
"""


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
    wide = (RIGHT - LEFT - _GAP * (beside - 1)) / beside
    high = 360 if beside == 1 else 250
    rows = [chains[n : n + beside] for n in range(0, len(chains), beside)]
    heights = [high + 124 + _KEY * max(map(len, row)) for row in rows]
    items = counted({"item": len(found.lines)}) or "no item"
    said = (
        "Valid time runs across, record time upwards. Each area is where an item was believed to hold. As-of reads the "
        f"top edge, believed the diagonal. {'. '.join(map(told, found.lines))}."
    )
    yield from frame(f"{about}: the plane of valid time and record time", said, 120 + sum(heights), _style())
    yield "<defs>"
    for n, pattern in enumerate(_PATTERNS):
        size = 'width="10" height="10" patternUnits="userSpaceOnUse"'
        yield f'<pattern id="ledger-p{n}" {size}><g class="pattern">{pattern}</g></pattern>'
    yield "</defs>"
    yield text(LEFT, 42, isolated(about, 40), "title")
    yield text(LEFT, 70, f"{items}: valid time across, record time upwards, UTC", "quiet small")
    yield text(LEFT, 98, "as-of reads the top edge, believed the diagonal", "quiet small")
    y = 120.0
    for row, height in zip(rows, heights, strict=True):
        for n, chain in enumerate(row):
            yield from _plane(chain, _Plane(LEFT + n * (wide + _GAP), y + 40, wide, high, *_scales(found)))
        y += height
    yield "</svg>"


def _scales(found: Timeline) -> tuple[Scale, Scale]:
    return found.valid_scale, found.known_scale


def _plane(chain: tuple[Line, ...], p: _Plane) -> Iterator[str]:
    half = 1 if p.wide > 600 else 2
    long, short = 112 // half, 54 // half  # columns that a line of text has
    item = chain[0].item
    yield from either(p.x, p.y - 12, lambda room: isolated(item.slot or item.text, room), long, short - 3, "id")
    yield f'<g role="presentation"><rect class="box" x="{p.x:g}" y="{p.y:g}" width="{p.wide:g}" height="{p.high}"/>'
    for n, line in enumerate(chain):
        yield f"<g><title>{escaped(told(line))}</title>"
        for stretch in line.stretches:
            yield from _area(p, stretch, n % len(_LIGHT))
        yield "</g>"
    yield from _axes(p, half)
    yield from _names(p, chain)
    yield "</g>"
    for n, line in enumerate(chain):
        y = p.y + p.high + 62 + _KEY * n
        yield from _swatch(p.x, y, n % len(_LIGHT))
        yield from either(p.x + 40, y + 16, partial(_key, line), long - 5, short - 4)


def _key(line: Line, room: int) -> str:
    id = clipped(line.item.id, room // 2)
    never = "" if line.stretches else " (never believed)"
    said = isolated(f"{line.item.text}{never}", max(2, room - columns(id) - 2))
    return f'<tspan class="id">{escaped(id)}</tspan>  {said}'


def _area(p: _Plane, s: Stretch, n: int) -> Iterator[str]:
    left, right, top, bottom = _box(p, s)
    size = f'x="{left:.5g}" y="{top:.6g}" width="{max(1, right - left):.5g}" height="{max(1, bottom - top):.5g}"'
    yield f'<rect class="area a{n}" {size}/><rect fill="url(#ledger-p{n})" {size}/>'


def _swatch(x: float, y: float, n: int) -> Iterator[str]:
    size = f'x="{x:g}" y="{y:g}" width="28" height="20"'
    yield f'<rect class="area a{n}" {size}/><rect fill="url(#ledger-p{n})" {size}/>'


def _names(p: _Plane, chain: Sequence[Line]) -> Iterator[str]:
    """The items' ids in their areas, where they have room: where few other areas lie, and no other id."""
    boxes = [[_box(p, stretch) for stretch in line.stretches] for line in chain]
    taken: list[tuple[float, float, float]] = []  # from, to, at the height
    for n, line in enumerate(chain):
        id = clipped(line.item.id, 24)
        wide = 9.0 * columns(id)
        spots = [spot for box in boxes[n] for spot in _spots(box, wide)]
        others = [box for m, its in enumerate(boxes) if m != n for box in its]

        def crowd(spot: tuple[float, float], wide: float = wide, others: list[_Box] = others) -> int:
            x, y = spot
            met = sum(left < x + wide and x - wide < right and abs(y - at) < 24 for left, right, at in taken)
            return 100 * met + sum(b.left < x < b.right and b.top < y < b.bottom for b in others)

        if spots and crowd(best := min(spots, key=crowd)) < 100:
            taken.append((best[0] - wide / 2, best[0] + wide / 2, best[1]))
            yield text(best[0], best[1] + 5, f"<tspan>{escaped(id)}</tspan>", "name", "middle")


class _Box(NamedTuple):
    left: float
    right: float
    top: float
    bottom: float


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
    for n, tick in enumerate(p.valid.ticks(7 // half)):
        x = p.across(tick.at)
        anchor = "start" if x < p.x + 40 else "end" if x > p.x + p.wide - 60 else "middle"
        yield f'<line class="grid" x1="{x:.5g}" y1="{p.y + p.high:g}" x2="{x:.5g}" y2="{p.y + p.high + 8:g}"/>'
        kind = "quiet small" + (" odd" if n % 2 or (half == 2 and n) else "")
        yield text(x, p.y + p.high + 30, tick.label, kind, anchor)
    for n, tick in enumerate(p.known.ticks(6 // half)):
        y = p.up(tick.at)
        yield f'<line class="grid" x1="{p.x:g}" y1="{y:.6g}" x2="{p.x + 8:g}" y2="{y:.6g}"/>'
        if p.y + 20 < y < p.y + p.high - 14:
            yield text(p.x + 12, y + 5, tick.label, "quiet small axis" + (" odd" if n % 2 else ""))
    start, end = max(p.valid.start, p.known.start), min(p.valid.end, p.known.end)
    if start < end:
        points = f'x1="{p.across(start):.5g}" y1="{p.up(start):.6g}" x2="{p.across(end):.5g}" y2="{p.up(end):.6g}"'
        yield f'<line class="diagonal" {points}><title>believed on the day itself</title></line>'
    edge = f'x1="{p.x:g}" y1="{p.y:g}" x2="{p.x + p.wide:g}" y2="{p.y:g}"'
    yield f'<line class="top" {edge}><title>as known now</title></line>'
