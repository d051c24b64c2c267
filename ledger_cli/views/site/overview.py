"""The overview, and the lists behind it: what each slot answers, the entities, the latest sessions, the lateness."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ledger_cli.views.markup import escaped
from ledger_cli.views.site import entity, paths
from ledger_cli.views.site.html import bdi, frame, item_link, numbered, table, time
from ledger_cli.views.site.lines import spans
from ledger_cli.views.terminal import counted

if TYPE_CHECKING:
    from ledger_cli.answers import SlotRow
    from ledger_cli.atlas import Atlas, Late
    from ledger_cli.holds import Row

_SLOTS = 100  # that the overview shows
_SESSIONS = 20
_ROWS = 800  # slots of one page
_NAMES = 4000  # entities of one page


def pages(found: Atlas) -> Iterator[tuple[str, str]]:
    """The overview, the slots, the entities."""
    yield "index.html", frame("index.html", "Overview", _overview(found), found)
    parts = [found.slots[n : n + _ROWS] for n in range(0, len(found.slots), _ROWS)] or [()]
    targets = [paths.numbered("slots", n) for n in range(1, len(parts) + 1)]
    for n, part in enumerate(parts, 1):
        intro = "<p>What each slot answers now, and what is planned for it.</p>"
        main = f"<h1>Slots</h1>\n{intro}\n{_slots(part)}\n{numbered(len(parts), n, targets)}"
        yield targets[n - 1], frame(targets[n - 1], "Slots", main, found)
    names = [found.entities[n : n + _NAMES] for n in range(0, len(found.entities), _NAMES)] or [()]
    targets = [paths.numbered("entities", n) for n in range(1, len(names) + 1)]
    for n, some in enumerate(names, 1):
        links = "".join(entity.link(one, len(found.about.get(one.key, ()))) for one in some)
        main = (
            f"<h1>Entities</h1>\n<p>What items are about, each with how many.</p>\n<ul class='names'>\n{links}</ul>\n"
            f"{numbered(len(names), n, targets)}"
        )
        yield targets[n - 1], frame(targets[n - 1], "Entities", main, found)


def _overview(found: Atlas) -> str:
    counts = counted({"item": len(found.timeline.lines), "entity": len(found.entities), "session": len(found.sessions)})
    all_slots = f'<p><a href="slots.html">All {len(found.slots)} slots</a></p>' if len(found.slots) > _SLOTS else ""
    now = time(found.timeline.now)
    return f"""<h1>Ledger</h1>
<p>{counts or "Nothing is recorded yet"}. Current is what holds now, at {now}, with all that is known.</p>
<h2 id="slots">Current and planned</h2>
{_slots(found.slots[:_SLOTS])}
{all_slots}
<h2 id="sessions">Latest sessions</h2>
{_sessions(found)}
<h2 id="lateness">Lateness</h2>
<p>How long after it began to hold an item was learned; ahead: it was planned.</p>
{_lateness(found.lateness())}"""


def _slots(rows: Sequence[SlotRow]) -> str:
    if not rows:
        return '<p class="note">No slot answers anything.</p>'
    cells: list[list[str]] = []
    for row in rows:
        slot = bdi(row.slot) + (' <span class="kind">fact</span>' if row.kind == "fact" else "")
        found = [(row.current, "current")] if row.current is not None else []
        found += [(planned, "planned") for planned in row.planned]
        for n, (one, word) in enumerate(found):
            cells.append([slot if n == 0 else "", *_held(one, word)])
    return table("What slots answer", ("slot", "state", "item", "what", "holds"), cells, "stack")


def _held(row: Row, word: str) -> list[str]:
    held = spans(row.shown.holds)
    return [f'<span class="{word}">{word}</span>', item_link(row.item.id, ""), bdi(row.item.text), held]


def _sessions(found: Atlas) -> str:
    latest = list(found.sessions)[: -_SESSIONS - 1 : -1]
    rows = [
        [time(s.at), bdi(s.id) + ("" if s.exported else " (not exported)"), escaped(counted(s.counts))] for s in latest
    ]
    return table("Latest sessions", ("recorded at", "session", "brought"), rows, "stack")


def _lateness(found: Sequence[Late]) -> str:
    most = max((late.items for late in found), default=0) or 1
    rows = []
    for late in found:
        wide = 100 * late.items / most
        bar = f'<rect width="{wide:.4g}%" height="14"/>'
        bar = f'<svg class="share" role="presentation" width="100%" height="14">{bar}</svg>'
        rows.append([_days(late), str(late.items), bar])
    return table("Lateness", ("learned", "items", "share"), rows, "histogram")


def _days(late: Late) -> str:
    if late.most is not None and late.most < 0:
        return f"{-late.most} days ahead or more" if late.least is None else f"{-late.most} to {-late.least} days ahead"
    if late.most == 0:
        return "on the day"
    return f"{late.least} days late or more" if late.most is None else f"{late.least} to {late.most} days late"
