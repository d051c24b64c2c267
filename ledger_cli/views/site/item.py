"""A page an item: all that is recorded of it, its chain, its versions, its evidence and its reviews."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ledger_cli.intervals import claim
from ledger_cli.scale import Scale
from ledger_cli.views.site import paths
from ledger_cli.views.site.html import bdi, entity_links, facts, frame, instant, item_link, table, time
from ledger_cli.views.site.lines import axis, entry, near, question, record, spans
from ledger_cli.views.terminal import counted

if TYPE_CHECKING:
    from ledger_cli.atlas import Atlas
    from ledger_cli.chains import Dossier
    from ledger_cli.model import Link
    from ledger_cli.timeline import Line

_NEAR = 40
"""Items of a chain that an item's page shows."""
_ROOT = "../"


def page(found: Atlas, line: Line) -> tuple[str, str]:
    """The page of an item: its path and its text."""
    dossier = found.dossier(line)
    whole = found.chains[line.chain]
    chain = near(whole, line, _NEAR)
    scale = Scale.over(at for one in chain for at in one.instants())
    embedded = {
        "page": "item",
        "now": instant(found.timeline.now),
        "axis": axis(scale),
        "items": [record(one) for one in chain],
    }
    rest = len(whole) - len(chain)
    more = (
        f"<p>{counted({'item': rest})} more in this chain: follow the links, or see the timeline.</p>" if rest else ""
    )
    entries = "".join(entry(one, n, _ROOT, here=one is line) for n, one in enumerate(chain))
    main = (
        f'<p class="kind">{line.item.kind} <span class="id">{bdi(line.item.id)}</span></p>\n'
        f'<h1 class="text">{bdi(line.item.text, None)}</h1>\n{facts(_facts(line, dossier))}\n'
        f'<h2 id="chain">Chain</h2>\n{question()}<div id="axis" aria-hidden="true"></div>\n'
        f'<ol class="items">\n{entries}</ol>\n{more}{"".join(_sections(line, dossier))}'
    )
    path = paths.item(line.item.id)
    return path, frame(path, f"{line.item.id}: {line.item.text}", main, found, embedded)


def _facts(line: Line, dossier: Dossier) -> Iterator[tuple[str, str]]:
    item, shown = line.item, line.shown
    if item.rationale is not None:
        yield "rationale", f'<span class="text">{bdi(item.rationale, None)}</span>'
    if item.slot is not None:
        yield "slot", bdi(item.slot, None)
    if item.about:
        yield "about", entity_links(item, _ROOT)
    yield "claims", spans((claim(item),))
    yield "holds", spans(shown.holds) or "never held"
    by = f", by {bdi(item.by)}" if item.by is not None else ""
    yield "learned", f"{time(item.recorded_at)} in session {bdi(item.session)}{by}"
    if shown.closed_at is not None:
        yield "closed", time(shown.closed_at)
    if item.confidence is not None:
        yield "confidence", f"{item.confidence:g}"
    if item.corrects is not None:
        yield "corrects", item_link(item.corrects, _ROOT)
    for link, live in dossier.supersedes:
        yield "supersedes", _link(link, link.old, live)
    for link, live in dossier.superseded_by:
        yield "superseded by", _link(link, link.new, live)


def _link(link: Link, other: str, live: bool) -> str:
    rejected = "" if live else ", rejected"
    return f"{item_link(other, _ROOT)}, since {time(link.recorded_at)} (session {bdi(link.session)}){rejected}"


def _sections(line: Line, dossier: Dossier) -> Iterator[str]:
    versions = [v for v in (dossier.node.row, *dossier.node.versions) if v.item.id != line.item.id]
    if versions:
        rows = [[item_link(v.item.id, _ROOT), bdi(v.item.text), time(v.item.recorded_at)] for v in versions]
        told = ("id", "text", "learned")
        yield f'<h2 id="versions">Versions</h2>\n{table("Versions of this item", told, rows, "stack")}\n'
    if dossier.node.reviews:
        rows = [
            [time(r.recorded_at), r.verdict, bdi(str(r.target)), bdi(r.by), bdi(r.reason, None)]
            for r in dossier.node.reviews
        ]
        heads = ("at", "verdict", "on", "by", "reason")
        yield f'<h2 id="reviews">Reviews</h2>\n{table("Reviews of this item", heads, rows, "stack")}\n'
    if dossier.node.endings:
        rows = [
            [time(e.recorded_at), f"ends on {time(e.valid_to)}", bdi(e.by), bdi(e.reason or "", None)]
            for e in dossier.node.endings
        ]
        named = ("at", "what", "by", "reason")
        yield f'<h2 id="endings">Endings</h2>\n{table("Endings of this item", named, rows, "stack")}\n'
    if dossier.evidence:
        said = "".join(
            f'<li><span class="id">{bdi(e.id)}</span> ({bdi(e.kind)}'
            f"{f', {time(e.at)}' if e.at is not None else ''})"
            f'<blockquote class="text">{bdi(e.text, None)}</blockquote></li>'
            for e in dossier.evidence
        )
        yield f'<h2 id="evidence">Evidence</h2>\n<ul class="evidence">{said}</ul>\n'
    rows = [[spans(((s.valid_from, s.valid_to),)), spans(((s.known_from, s.known_to),))] for s in line.stretches]
    if rows:
        axes = ("held", "as known")
        yield f'<h2 id="plane">When it held, as known when</h2>\n{table("Stretches of this item", axes, rows)}\n'
