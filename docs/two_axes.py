"""Draw docs/two-axes.svg: what the ledger says of `orders`, for every day and every state of knowledge.

    python docs/two_axes.py > docs/two-axes.svg

The areas are not drawn by hand: they are the answers of `believed`, asked of this repository's own checkpoint.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from ledger_cli.instant import parse
from ledger_cli.ledger import Ledger
from ledger_cli.views.palette import themed

CHECKPOINT = Path(__file__).resolve().parents[1] / "snapshots" / "ledger.json"
FIRST, LAST = parse("2024-01-01"), parse("2024-03-01")
ASKED = parse("2024-01-20")
LEFT, RIGHT, TOP, BOTTOM = 152, 856, 92, 488

STYLE = themed("""
  text { font: 14px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: $ink }
  .quiet { fill: $quiet; font-size: 13px }
  .name { font-weight: 600 }
  .panel { fill: $page; stroke: $rule }
  .d1 { fill: $area0 }
  .d4, .plate { fill: $area1 }
  .d6 { fill: url(#hatch); stroke: $bad; stroke-width: 1.5 }
  .hatch { stroke: $bad; stroke-width: 2 }
  .line { stroke: $ink; stroke-width: 1.5; fill: none }
  .now { stroke: $ink; stroke-width: 4 }
  .asked { stroke: $ink; stroke-width: 1.5; stroke-dasharray: 2 4 }
  .tick { stroke: $quiet }
  .dot { fill: $page; stroke: $ink; stroke-width: 2.5 }""")

ALTERNATIVE = (
    "Valid time runs across, record time upwards. Until 1 February the ledger holds d1, orders uses postgres, for "
    "every day. From then on it holds d1 for 1 to 9 January only, and d4, orders uses mysql, from 10 January. d6, "
    "cache order lookups in redis, stands beside d4 from 6 February, known from 6 to 12 February; then it is rejected. "
    "as-of reads the top edge: on 20 January it meets d4. believed reads the diagonal: on 20 January it meets d1."
)


@dataclass(frozen=True)
class Area:
    """An item, the days it holds for, and how long that was what the ledger said. None: no end."""

    id: str
    valid: tuple[datetime, datetime | None]
    known: tuple[datetime, datetime | None]


def areas(ledger: Ledger) -> Iterator[Area]:
    """What `believed orders DAY --known K` answers, for all days and all K, as rectangles."""
    clocks = sorted({session.at for session in ledger.sessions()})
    days = [FIRST + timedelta(days=n) for n in range((LAST - FIRST).days)]
    since: dict[tuple[str, tuple[datetime, datetime | None]], datetime] = {}
    for clock in clocks:
        answers = [ledger.believed(day, "orders", [clock])[0] for day in days]
        said = {(row.item.id, hold) for answer in answers for row in answer.rows for hold in row.shown.holds}
        for id, valid in sorted(since.keys() - said):
            yield Area(id, valid, (since.pop((id, valid)), clock))
        for key in said:
            since.setdefault(key, clock)
    for id, valid in sorted(since):
        yield Area(id, valid, (since[id, valid], None))


def x(at: datetime | None) -> float:
    """Valid time, across."""
    return round(LEFT + (RIGHT - LEFT) * (min(at or LAST, LAST) - FIRST) / (LAST - FIRST), 1)


def y(at: datetime | None) -> float:
    """Record time, upwards."""
    return round(BOTTOM - (BOTTOM - TOP) * (min(at or LAST, LAST) - FIRST) / (LAST - FIRST), 1)


def text(across: float, down: float, words: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{across:g}" y="{down:g}" class="{kind}" text-anchor="{anchor}">{words}</text>'


def line(kind: str, *points: float) -> str:
    return '<line class="{}" x1="{:g}" y1="{:g}" x2="{:g}" y2="{:g}"/>'.format(kind, *points)


def rectangle(area: Area) -> str:
    (left, right), (bottom, top) = map(x, area.valid), map(y, area.known)
    size = f'x="{left:g}" y="{top:g}" width="{right - left:g}" height="{bottom - top:g}"'
    return f'<rect class="{area.id}" {size}/>'


def picture(found: list[Area]) -> Iterator[str]:
    """The lines of the SVG."""
    yield '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 880 560" role="img" aria-labelledby="title words">'
    yield '<title id="title">What the ledger says of orders, on both time axes</title>'
    yield f'<desc id="words">{ALTERNATIVE}</desc>'
    yield f"<style>{STYLE}</style>"
    yield '<defs><pattern id="hatch" width="9" height="9" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    yield '<line class="hatch" x1="0" y1="0" x2="0" y2="9"/></pattern></defs>'
    yield '<rect class="panel" x="0.5" y="0.5" width="879" height="559" rx="8"/>'
    yield from (rectangle(area) for area in sorted(found, key=lambda area: area.id))

    def day(of: str) -> datetime:
        return datetime.strptime(of + " 2024 09", "%d %b %Y %H").replace(tzinfo=UTC)

    # The axes, and what happened on them.
    yield text(LEFT, 40, "record time ↑ when the ledger knew it", "quiet")
    yield text(RIGHT, 540, "valid time → when it held", "quiet", "end")
    events = {"1 Jan": "d1 recorded", "1 Feb": "d4 recorded", "6 Feb": "d6 recorded", "12 Feb": "d6 rejected"}
    for when, what in events.items():
        yield line("tick", LEFT - 8, y(day(when)), LEFT, y(day(when)))
        yield text(LEFT - 14, y(day(when)) + 5, f"{when}, {what}", "quiet", "end")
    yield text(LEFT - 14, TOP + 5, "now", "name", "end")
    for when in ("1 Jan", "10 Jan", "20 Jan", "6 Feb", "1 Mar"):
        across = x(day(when).replace(hour=0))
        yield line("tick", across, BOTTOM, across, BOTTOM + 8)
        yield text(across, BOTTOM + 26, when, "quiet", "middle")
    yield line("line", LEFT, TOP, LEFT, BOTTOM)
    yield line("line", LEFT, BOTTOM, RIGHT, BOTTOM)

    # The items.
    yield text(x(parse("2024-02-09")), y(parse("2024-01-10")) + 5, "d1 · orders uses postgres", "name", "middle")
    yield text(x(parse("2024-01-05T12:00:00Z")), y(parse("2024-02-15")) + 5, "d1", "name", "middle")
    yield text(x(parse("2024-01-30")), y(parse("2024-02-21")) + 5, "d4 · orders uses mysql", "name", "middle")
    right, down = RIGHT - 10, y(parse("2024-02-09T09:00:00Z")) + 5
    yield f'<rect class="plate" x="{right - 150:g}" y="{down - 16:g}" width="156" height="22" rx="4"/>'
    yield text(right, down, "d6 · cache in redis", "name", "end")

    # The two questions.
    yield line("line", x(FIRST), y(FIRST), x(LAST), y(LAST))
    yield line("now", LEFT, TOP, RIGHT, TOP)
    yield line("asked", x(ASKED), TOP, x(ASKED), y(ASKED))
    for down, words in ((TOP, "as-of 20 January: d4, mysql"), (y(ASKED), "believed on 20 January: d1, postgres")):
        yield f'<circle class="dot" cx="{x(ASKED):g}" cy="{down:g}" r="6"/>'
        yield text(x(ASKED) + (0 if down == TOP else 16), down - 16 if down == TOP else down + 5, words, "name")
    yield text(RIGHT, TOP - 16, "as-of reads the top edge", "quiet", "end")
    slope = 29.36
    across, down = x(parse("2024-02-04")), y(parse("2024-02-04"))
    yield (
        f'<text class="quiet" text-anchor="end" transform="translate({across - 8:g} {down - 5:g}) rotate(-{slope})">'
        "believed reads the diagonal</text>"
    )
    yield "</svg>"


def main() -> None:
    with TemporaryDirectory() as folder:
        (Path(folder) / "snapshots").mkdir()
        shutil.copy(CHECKPOINT, Path(folder) / "snapshots" / "ledger.json")
        found = list(areas(Ledger(Path(folder), clock=lambda: datetime.now(UTC))))
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write("\n".join(picture(found)) + "\n")


if __name__ == "__main__":
    main()
