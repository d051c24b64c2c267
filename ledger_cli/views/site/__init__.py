"""A ledger as a static site: pages that need no server and nothing from outside, and answer as the program does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import TYPE_CHECKING

from ledger_cli.views import palette, signs
from ledger_cli.views.site import data, entity, item, overview
from ledger_cli.views.site.timeline import page as timeline_page

if TYPE_CHECKING:
    from ledger_cli.atlas import Atlas

SCRIPTS = ("page", "times", "drawing", "question", "items", "lists", "search")
"""The parts of the script, each with one reason to change, in the order in which they stand in it."""


def pages(found: Atlas) -> Iterator[tuple[str, str]]:
    """Every file of the site: its path and its text. The same ledger at the same moment gives the same bytes."""
    here = files(__package__)
    yield "assets/site.css", palette.variables() + (here / "site.css").read_text(encoding="utf-8")
    head, *script = [(here / "script" / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    drawn = json.dumps({what: sign.shape for what, sign in signs.MARKS.items()} | {"beside": signs.BESIDE.shape})
    yield "assets/site.js", "\n".join([head, f"ledger.signs = {drawn};\n", *script])
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
