"""The timeline of the whole ledger, with two sliders that light up what holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger_cli.views.site.html import frame, instant
from ledger_cli.views.site.lines import axis, question
from ledger_cli.views.terminal import counted

if TYPE_CHECKING:
    from ledger_cli.atlas import Atlas


def page(found: Atlas) -> str:
    """The page; its items come from `data/`."""
    items = counted({"item": len(found.timeline.lines)}) or "no item"
    main = f"""<h1>Timeline</h1>
<p>{items}, each with its valid time above its record time. Move the two sliders: what holds on the day of the one, as
known on the day of the other, lights up. The address keeps the question.</p>
{question()}
<form id="filter" hidden="hidden" aria-label="Which items">
<label for="which">About or in</label>
<input id="which" type="text" list="names" autocomplete="off" placeholder="an entity or a slot"/>
<datalist id="names"></datalist>
<label class="check"><input id="only" type="checkbox"/> only what holds</label>
</form>
<p id="shown" role="status"></p>
<div id="axis" aria-hidden="true"></div>
<ol id="lines" class="items"></ol>
<p><button type="button" id="more" hidden="hidden">show more</button></p>"""
    embedded = {"page": "timeline", "now": instant(found.timeline.now), "axis": axis(found.timeline.scale)}
    return frame("timeline.html", "Timeline", main, found, embedded)
