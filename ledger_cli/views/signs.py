"""The signs of a timeline, and what they mean: one table for the terminal, the picture and the pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ledger_cli.scale import Scale
    from ledger_cli.timeline import Line, Mark


class Sign(NamedTuple):
    """A sign as a letter and as a shape around (0, 0), and what it says: in full, and where there is no room.

    A shape is paths of SVG, each with the class that colours it.
    """

    letter: str
    said: str
    briefly: str
    shape: tuple[tuple[str, str], ...]


_CROSS = "M-6 -6l12 12m0 -12l-12 12"
_BAR = "M0 -9v18"

HOLDS = Sign("━", "valid time: holds", "holds", (("valid", "M-22 -7h44v14h-44z"),))
LOST = Sign("┄", "claims, and does not hold", "does not hold", (("lost", "M-22 0h44"),))
LEARNED = Sign(
    "├─", "record time: learned, not closed", "learned", (("record", "M-22 -5h44v10h-44z"), ("learned", "M-22 -9v18"))
)
NO_END = Sign("▶", "no end", "no end", (("valid", "M-22 -7H10V-11L22 0L10 11V7H-22z"),))
CLOSED = Sign("┤", "superseded, corrected or closed", "closed", (("sign", _BAR),))
REJECTED = Sign("✗", "rejected, or never held", "rejected", (("halo", _CROSS), ("bad", _CROSS)))
ENDED = Sign("■", "ended", "ended", (("sign", "M-4 -4h8v8h-8z"),))
REINSTATED = Sign("▲", "reinstated", "reinstated", (("sign", "M-6 6h12l-6 -12z"),))
BESIDE = Sign("◇", "a verdict on a link or an ending", "link or ending", (("sign open", "M0 -7l7 7l-7 7l-7 -7z"),))

RECORDED = (("learned", _BAR),)
"""The shape of the moment at which an item was recorded."""

ALL = (HOLDS, LOST, LEARNED, NO_END, CLOSED, REJECTED, ENDED, REINSTATED, BESIDE)
"""In the order in which a legend tells them."""

MARKS = {
    "superseded": CLOSED,
    "corrected": CLOSED,
    "closed": CLOSED,
    "ended": ENDED,
    "rejected": REJECTED,
    "reinstated": REINSTATED,
}
"""By what a mark of the timeline is. A verdict that is not on the item itself has the sign BESIDE."""


def markup(shape: Iterable[tuple[str, str]]) -> str:
    """A shape as elements of SVG."""
    return "".join(f'<path class="{kind}" d="{path}"/>' for kind, path in shape)


def of(mark: Mark) -> Sign:
    """The sign of what was recorded of an item."""
    return MARKS[mark.what] if mark.on == "item" else BESIDE


def drawn(found: Iterable[Line], scale: Scale) -> list[Sign]:
    """The signs that a drawing of these lines has."""
    there = {HOLDS, LEARNED}
    for line in found:
        there.update(map(of, line.marks))
        if line.lost:
            there.add(LOST)
        if not line.shown.holds:
            there.add(REJECTED)
        intervals = (*line.shown.holds, *line.lost, *line.record)
        if any(end is None or end > scale.end for _, end in intervals):
            there.add(NO_END)
    return [sign for sign in ALL if sign in there]
