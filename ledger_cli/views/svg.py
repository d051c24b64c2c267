"""The timeline as a picture that needs nothing beside itself: valid time above record time, an item a row.

It is drawn 960 units wide and shrinks with the page; on a narrow one its letters grow, and labels get shorter. Light or
dark is as the reader's system has it. What a colour says, a shape or a pattern says too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ledger_cli.intervals import claim
from ledger_cli.views import signs
from ledger_cli.views.markup import clipped, escaped
from ledger_cli.views.palette import themed
from ledger_cli.views.terminal import columns, counted, when
from ledger_cli.views.timeline import holding, knowing, words

if TYPE_CHECKING:
    from ledger_cli.model import Interval
    from ledger_cli.scale import Scale, Tick
    from ledger_cli.timeline import Line, Timeline

WIDTH, LEFT, RIGHT = 960, 32, 928
_ROW = 92
_TICKS = 8
_BESIDE = 3  # signs of the legend beside each other
_LONG, _SHORT = 112, 50  # columns of a label: on a wide page, and on a narrow one

STYLE = themed("""
  svg { max-width: 100%; height: auto; color-scheme: light dark; background: $page }
  text { font: 14px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: $ink }
  tspan { unicode-bidi: isolate }
  .title { font-size: 21px; font-weight: 650 }
  .id { font-weight: 650 }
  .quiet { fill: $quiet }
  .small { font-size: 13px }
  .clear { paint-order: stroke; stroke: $page; stroke-width: 5; stroke-linejoin: round }
  .grid, .rule { stroke: $rule }
  .now { stroke: $ink; stroke-dasharray: 2 4 }
  .valid { fill: $valid; stroke: $valid }
  .lost { stroke: $quiet; stroke-width: 2; stroke-dasharray: 2 5; fill: none }
  .beyond { stroke: $quiet; stroke-width: 2; fill: none }
  .record { fill: url(#ledger-hatch); stroke: $record; stroke-width: 1.5 }
  .tip { fill: $record; stroke: $record }
  .learned { stroke: $record; stroke-width: 3 }
  .hatch { stroke: $record; stroke-width: 2 }
  .sign { stroke: $ink; stroke-width: 2.5; fill: $ink }
  .open { fill: $page; stroke-width: 1.5 }
  .bad { stroke: $bad; stroke-width: 3; fill: none }
  .halo { stroke: $page; stroke-width: 7; fill: none }
  .short { display: none }
  @media (max-width: 640px) { text, .small { font-size: 19px } }
  @media (max-width: 640px) { .title { font-size: 27px } .long, .odd { display: none } .short { display: inline } }
  @media (max-width: 460px) { text, .small { font-size: 26px } .title { font-size: 32px } }""")
HATCH = (
    '<defs><pattern id="ledger-hatch" width="6" height="6" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><line class="hatch" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>'
)


def draw(found: Timeline) -> str:
    """The whole document of a timeline's picture."""
    return "\n".join(_document(found)) + "\n"


def across(scale: Scale, at: datetime | None) -> float:
    """Where an instant of valid time stands."""
    return LEFT + (RIGHT - LEFT) * scale.place(at)


def frame(title: str, told: str, height: float, style: str = STYLE) -> Iterator[str]:
    """The beginning of a picture: its size, its name, and what it says in words for who does not see it."""
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height:g}" '
        f'viewBox="0 0 {WIDTH} {height:g}" role="img" aria-labelledby="ledger-title ledger-words">'
    )
    yield f'<title id="ledger-title">{escaped(title)}</title>'
    yield f'<desc id="ledger-words">{escaped(told)}</desc>'
    yield f"<style>{style}</style>"


def text(x: float, y: float, inside: str, kind: str = "", anchor: str = "start") -> str:
    """A line of text; `inside` is markup."""
    return f'<text x="{x:.5g}" y="{y:.6g}" class="{kind}" text-anchor="{anchor}">{inside}</text>'


def placed(shape: Iterable[tuple[str, str]], x: float, y: float) -> str:
    """A shape that is drawn around (0, 0), at a place."""
    return f'<g transform="translate({x:.5g} {y:.6g})">{signs.markup(shape)}</g>'


def told(line: Line) -> str:
    """All that a drawing says of an item, in a sentence."""
    said = [f"{line.item.id}, {line.item.text}: {holding(line)}; {knowing(line)}"]
    return "; ".join([*said, *(f"{words(mark)} ({when(mark.at)})" for mark in line.marks)])


def ticks(scale: Scale, top: float, bottom: float, found: Sequence[Tick]) -> Iterator[str]:
    """Lines down the picture, with their dates above. Every other date gives way on a narrow page."""
    for n, tick in enumerate(found):
        x = across(scale, tick.at)
        anchor = "start" if x < LEFT + 40 else "end" if x > RIGHT - 70 else "middle"
        yield f'<line class="grid" x1="{x:.5g}" y1="{top:g}" x2="{x:.5g}" y2="{bottom:g}"/>'
        yield text(x, top - 8, tick.label, "quiet small" + (" odd" if n % 2 else ""), anchor)


def _document(found: Timeline) -> Iterator[str]:
    about = found.subject or "the whole ledger"
    title = f"{about}: valid time and record time"
    legend = signs.drawn(found.lines, found.scale)
    top = 130 + 34 * -(-len(legend) // _BESIDE)
    bottom = top + _ROW * len(found.lines) + 8
    items = counted({"item": len(found.lines)}) or "no item"
    sentences = ". ".join(map(told, found.lines))
    said = f"{items}, each with its valid time above its record time, in UTC. {sentences}".rstrip() + "."
    yield from frame(title, said, bottom + 20)
    yield HATCH
    yield text(LEFT, 42, isolated(about, 40), "title")
    yield text(LEFT, 70, f"{items}, valid time above record time, UTC", "quiet small")
    for n, sign in enumerate(legend):
        x, y = LEFT + 304 * (n % _BESIDE), 106 + 34 * (n // _BESIDE)
        yield placed(sign.shape, x + 22, y)
        yield from either(x + 56, y + 5, sign.said, sign.briefly, "small")
    if not found.lines:
        yield "</svg>"
        return
    scale = found.scale
    yield from ticks(scale, top, bottom, scale.ticks(_TICKS))
    if scale.shows(found.now):
        now = f"{across(scale, found.now):.5g}"
        yield f'<line class="now" x1="{now}" y1="{top}" x2="{now}" y2="{bottom}"><title>now</title></line>'
        yield text(float(now), bottom + 14, "now", "quiet small", "middle")
    chain = None
    for n, line in enumerate(found.lines):
        down = top + _ROW * n
        if line.chain != chain:  # a rule between what hangs together and the next
            yield f'<line class="rule" x1="{LEFT}" y1="{down}" x2="{RIGHT}" y2="{down}"/>'
        chain = line.chain
        yield from _row(line, scale, down)
    yield "</svg>"


def _row(line: Line, scale: Scale, y: float) -> Iterator[str]:
    yield f"<g><title>{escaped(told(line))}</title>"
    yield from label(line, y + 30)
    yield f'<rect x="{LEFT}" y="{y + 2:g}" width="{RIGHT - LEFT}" height="{_ROW - 4}" fill="transparent"/>'
    for interval in line.lost:
        yield from _dots(scale, interval, y + 50)
    for interval in line.shown.holds:
        yield from _bar(scale, interval, y + 43, 14, "valid", "valid")
    if not line.shown.holds:
        yield placed(signs.REJECTED.shape, across(scale, claim(line.item)[0]), y + 50)
    for interval in line.record:
        yield from _bar(scale, interval, y + 65, 10, "record", "tip")
    yield placed(signs.RECORDED, across(scale, line.item.recorded_at), y + 70)
    for mark in line.marks:
        yield placed(signs.of(mark).shape, across(scale, mark.at), y + 70)
    yield "</g>"


def label(line: Line, y: float) -> Iterator[str]:
    """An item's id and the beginning of its text; a shorter one for a narrow page, where it takes one."""
    slot = line.item.slot
    if slot is not None:
        yield text(RIGHT, y, isolated(slot, 40), "quiet small clear long", "end")
    room = _LONG - (0 if slot is None else columns(clipped(slot, 40)) + 4)
    yield from either(LEFT, y, _labelled(line, room), _labelled(line, _SHORT), "clear")


def _labelled(line: Line, room: int) -> str:
    id = clipped(line.item.id, 40)
    said = isolated(line.item.text, max(10, room - columns(id)))
    return f'<tspan class="id">{escaped(id)}</tspan>  {said}'


def isolated(said: str, room: int) -> str:
    """The beginning of a text of the ledger, kept apart from what stands beside it."""
    return f"<tspan>{escaped(clipped(said, room))}</tspan>"


def either(x: float, y: float, long: str, short: str, kind: str = "") -> Iterator[str]:
    """A line of text in two lengths: one is shown on a wide page, and the other on a narrow one."""
    if long == short:
        yield text(x, y, long, kind)
    else:
        yield text(x, y, long, f"{kind} long".strip())
        yield text(x, y, short, f"{kind} short".strip())


def _dots(scale: Scale, interval: Interval, y: float) -> Iterator[str]:
    """An interval as dots; what has no end here ends in a point."""
    x1, x2 = across(scale, interval[0]), across(scale, interval[1])
    yield f'<line class="lost" x1="{x1:.5g}" y1="{y:g}" x2="{x2:.5g}" y2="{y:g}"/>'
    if interval[1] is None or interval[1] > scale.end:
        yield f'<path class="beyond" d="M{x2 - 7:.5g} {y - 5:g}l7 5l-7 5"/>'


def _bar(scale: Scale, interval: Interval, y: float, high: float, kind: str, tip: str) -> Iterator[str]:
    """An interval as a bar; what has no end here ends in an arrow."""
    start, end = interval
    x1, x2 = across(scale, start), across(scale, end)
    points = [f"{x1:.5g},{y:g}"]
    if end is None or end > scale.end:
        points += [f"{x2 - 12:.5g},{y:g}", f"{x2 - 12:.5g},{y - 4:g}", f"{x2:.5g},{y + high / 2:g}"]
        points += [f"{x2 - 12:.5g},{y + high + 4:g}", f"{x2 - 12:.5g},{y + high:g}"]
    else:
        x2 = max(x2, x1 + 2)
        points += [f"{x2:.5g},{y:g}", f"{x2:.5g},{y + high:g}"]
    yield f'<polygon class="{kind}" points="{" ".join([*points, f"{x1:.5g},{y + high:g}"])}"/>'
    if start < scale.start:
        yield f'<polygon class="{tip}" points="{x1:.5g},{y:g} {x1 - 9:.5g},{y + high / 2:g} {x1:.5g},{y + high:g}"/>'
