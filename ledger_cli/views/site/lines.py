"""Items in a list: what is said of each, and what the script draws and lights up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ledger_cli.views import signs
from ledger_cli.views.markup import escaped
from ledger_cli.views.site import paths
from ledger_cli.views.site.html import bdi, instant, item_link, time, unbroken
from ledger_cli.views.tables import stretch
from ledger_cli.views.timeline import holding, knowing, words

if TYPE_CHECKING:
    from ledger_cli.intervals import Intervals
    from ledger_cli.scale import Scale
    from ledger_cli.timeline import Line, Mark

_TICKS = 6
_LEGEND = (
    *((sign.shape, sign.said) for sign in signs.ALL),
    ((("asked", "M0 -11v22"),), "the day asked"),
    ((("lit", "M-22 -7h44v14h-44z"),), "holds on the day asked, as known then"),
)


def _legend() -> str:
    return "".join(
        '<li><svg class="drawn" width="48" height="22" viewBox="-24 -11 48 22" aria-hidden="true">'
        f"{signs.markup(shape)}</svg> {said}</li>"
        for shape, said in _LEGEND
    )


def question() -> str:
    """The two sliders; the script shows and moves them."""
    rows = []
    for name, label in (("valid", "Valid on"), ("known", "As known on")):
        rows.append(
            f'<div class="axis"><label for="{name}">{label}</label>'
            f'<input class="when" id="{name}" type="text" size="22" spellcheck="false" aria-describedby="wrong"/>'
            f'<input class="slide" id="{name}-slide" type="range" min="0" max="1" value="0" '
            f'aria-label="{label}, as a slider"/></div>'
        )
    return (
        '<form id="question" hidden="hidden" aria-label="What held, as known when">'
        f"{''.join(rows)}"
        '<p class="choices"><button type="button" id="all-known">all known now</button> '
        '<button type="button" id="on-the-day">as believed on the day</button> '
        '<button type="button" id="today">today</button> '
        '<span id="wrong" role="status"></span></p>'
        '<p id="answer" role="status"></p>'
        '<details class="legend"><summary>What the signs mean</summary><ul>'
        f"{_legend()}</ul></details></form>"
        '<noscript><p class="note">With JavaScript, two sliders light up what holds.</p></noscript>'
    )


def entry(line: Line, n: int, root: str, *, here: bool = False) -> str:
    """An item in a list. The script fills `bars` and `state`; `n` is its number in the data of the page, and `here`
    says that the page is its own.
    """
    item = line.item
    slot = f' <span class="slot">{bdi(item.slot)}</span>' if item.slot is not None else ""
    said = "".join(f"<li>{mark(m, root)}</li>" for m in line.marks)
    return (
        f'<li class="item{" here" if here else ""}" data-n="{n}" data-id="{escaped(item.id)}">'
        f'<p class="head">{item_link(item.id, root)} {bdi(item.text)}{slot} <span class="state"></span></p>'
        f'<div class="bars"></div>'
        f'<p class="times">{unbroken(times(line))}</p>{_list(said)}</li>\n'
    )


def _list(said: str) -> str:
    return f'<ul class="marks">{said}</ul>' if said else ""


def times(line: Line) -> str:
    """When an item was learned, when it closed, and where it holds."""
    return f"{knowing(line)}; as known now {holding(line)}"


def mark(found: Mark, root: str) -> str:
    """What was recorded of an item, with a link to the item that replaced it."""
    at = time(found.at)
    if found.other is not None and found.what in ("superseded", "corrected"):
        return f"{at} {found.what} by {item_link(found.other, root)}"
    return f"{at} {bdi(words(found))}"


def record(line: Line, *, whole: bool = True) -> dict[str, Any]:
    """An item for the script: its id `i`, its page's name `f`, its rectangles `r`; and what is drawn of it: what it
    claims `q`, when it was recorded `x`, its record time `c`, and its marks `m`.
    """
    found: dict[str, Any] = {
        "i": line.item.id,
        "f": paths.stem(line.item.id),
        "r": [[*map(instant, (s.valid_from, s.valid_to, s.known_from, s.known_to))] for s in line.stretches],
    }
    if whole:
        found["x"] = instant(line.item.recorded_at)
        found["q"] = [instant(line.item.valid_from), instant(line.item.valid_to)]
        if line.record:
            found["c"] = _spans(line.record)
        if line.marks:
            found["m"] = [[instant(m.at), m.what if m.on == "item" else "beside"] for m in line.marks]
    return found


def _spans(intervals: Intervals) -> list[list[str | None]]:
    return [[instant(start), instant(end)] for start, end in intervals]


def axis(scale: Scale) -> dict[str, Any]:
    """A scale for the script: its ends, and its ticks."""
    ticks = [[instant(tick.at), tick.label] for tick in scale.ticks(_TICKS)]
    return {"from": instant(scale.start), "to": instant(scale.end), "ticks": ticks}


def spans(intervals: Intervals) -> str:
    return unbroken(", ".join(map(stretch, intervals)))


def near(chain: Sequence[Line], line: Line, most: int) -> Sequence[Line]:
    """The lines of a chain around one of them, at most so many."""
    at = next(n for n, one in enumerate(chain) if one.item.id == line.item.id)
    start = max(0, min(at - most // 2, len(chain) - most))
    return chain[start : start + most]
