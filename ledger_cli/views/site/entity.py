"""A page an entity: every item about it on both axes, and which of them hold."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from ledger_cli.scale import Scale
from ledger_cli.views.markup import escaped
from ledger_cli.views.site import paths
from ledger_cli.views.site.html import bdi, frame, instant, numbered
from ledger_cli.views.site.lines import axis, entry, question, record
from ledger_cli.views.terminal import counted

if TYPE_CHECKING:
    from ledger_cli.atlas import Atlas, Named

PAGE = 200
"""Items of one page."""
MOST = 2_000
"""Items that one page answers for."""


def pages(found: Atlas, one: Named) -> Iterator[tuple[str, str]]:
    """The page of an entity, and more of them where it has many items."""
    lines = found.about.get(one.key, ())
    scale = Scale.over(at for line in lines for at in line.instants())
    parts = [lines[n : n + PAGE] for n in range(0, len(lines), PAGE)] or [[]]
    targets = [f"../{paths.entity(one.key, n)}" for n in range(1, len(parts) + 1)]
    kind = f', <span class="kind">{bdi(one.kind)}</span>' if one.kind is not None else ""
    items = counted({"item": len(lines)}) or "no item"
    for n, part in enumerate(parts, 1):
        start = PAGE * (n - 1)
        whole = len(lines) <= MOST
        listed = lines if whole else part
        first = 0 if whole else start
        embedded = {
            "page": "entity",
            "now": instant(found.timeline.now),
            "axis": axis(scale),
            "items": [record(line, whole=start <= first + m < start + PAGE) for m, line in enumerate(listed)],
        }
        note = "" if whole else '<p class="note">This page answers for its own items; the timeline answers for all.</p>'
        numbers = enumerate(part, start - first)
        chains = "".join(
            '<li class="chain"><ol class="items">' + "".join(entry(line, m, "../") for m, line in its) + "</ol></li>\n"
            for _, its in groupby(numbers, key=lambda pair: pair[1].chain)
        )
        page = paths.entity(one.key, n)
        main = (
            f"<h1>{bdi(one.name, None)}</h1>\n<p>{items}{kind}, each with its valid time above its record time. "
            f"What hangs together stands together.</p>\n{note}{question()}"
            f'<p id="elsewhere"></p><div id="axis" aria-hidden="true"></div>\n<ol class="chains">\n{chains}</ol>\n'
            f"{numbered(len(parts), n, targets)}"
        )
        title = one.name if n == 1 else f"{one.name}, page {n}"
        yield page, frame(page, title, main, found, embedded)


def link(one: Named, count: int, root: str = "") -> str:
    """An entity in a list."""
    kind = f' <span class="kind">{escaped(one.kind)}</span>' if one.kind is not None else ""
    to = f'<a href="{root}{paths.entity(one.key)}">{bdi(one.name)}</a>'
    return f'<li>{to}{kind} <span class="count">{count}</span></li>\n'
