"""A ledger as a static site: pages that need no server and nothing from outside, and answer as the program does."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from typing import TYPE_CHECKING

from ledger_cli.views.site import data, entity, item, overview
from ledger_cli.views.site.timeline import page as timeline_page

if TYPE_CHECKING:
    from ledger_cli.atlas import Atlas

ASSETS = ("site.css", "site.js")


def pages(found: Atlas) -> Iterator[tuple[str, str]]:
    """Every file of the site: its path and its text. The same ledger at the same moment gives the same bytes."""
    for name in ASSETS:
        yield f"assets/{name}", (files(__package__) / name).read_text(encoding="utf-8")
    yield from data.files(found)
    yield from overview.pages(found)
    yield "timeline.html", timeline_page(found)
    for one in found.entities:
        yield from entity.pages(found, one)
    for line in found.timeline.lines:
        yield item.page(found, line)


def count(found: Atlas) -> int:
    """About how many files there will be."""
    return len(found.timeline.lines) + len(found.entities) + 10
