"""Answers as tables for people. The words say all that the colours say."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ledger_cli.instant import show
from ledger_cli.model import Episode
from ledger_cli.views.as_json import compact
from ledger_cli.views.terminal import Cell, counted, lines, table, when

if TYPE_CHECKING:
    from ledger_cli.against import Compared
    from ledger_cli.answers import Answer, Checkup, SessionRow, SlotRow
    from ledger_cli.chains import Chains, Dossier, Node
    from ledger_cli.doctor import Examined
    from ledger_cli.holds import Change, Row, Shown
    from ledger_cli.model import Ending, Entry, Interval, Item, Link, Review


def stretch(interval: Interval) -> str:
    """`2024-01-10 → 2024-02-01`; nothing behind the arrow: no end."""
    start, end = interval
    return f"{when(start)} →" + (f" {when(end)}" if end is not None else "")


def _holds(shown: Shown) -> Cell:
    return ", ".join(stretch(i) for i in shown.holds) if shown.holds else ("never held", "dim")


def answer(found: Answer) -> None:
    """What held on a date."""
    about = found.entity or "the whole ledger"
    on = when(found.valid_at)
    known = "as known now" if found.known_at is None else f"as known on {when(found.known_at)}"
    lines([[(about, "bold"), f" on {on}, {known}"], [""]])
    if not found.rows:
        lines([[("nothing", "dim")]])
        return
    _items(found.rows)


def _items(rows: Iterable[Row]) -> None:
    table(
        ("id", "what", "holds", "learned", "slot"),
        [
            ((r.item.id, "bold"), r.item.text, _holds(r.shown), when(r.item.recorded_at), r.item.slot or "")
            for r in rows
        ],
        wrap="what",
    )


def answers(found: Sequence[Answer]) -> None:
    """What was believed of one date, as known on one or several."""
    if len(found) == 1:
        answer(found[0])
        return
    about = found[0].entity or "the whole ledger"
    lines([[(about, "bold"), f" on {when(found[0].valid_at)}"], [""]])
    rows: list[Sequence[Cell]] = []
    for one in found:
        known = when(one.known_at) if one.known_at is not None else "now"
        for n, row in enumerate(one.rows):
            rows.append((known if n == 0 else "", (row.item.id, "bold"), row.item.text))
        if not one.rows:
            rows.append((known, "", ("nothing", "dim")))
    table(("known on", "id", "what"), rows, wrap="what")


def lateness(found: Iterable[tuple[Item, int]]) -> None:
    rows = [((i.id, "bold"), str(days), i.text, when(i.valid_from), when(i.recorded_at)) for i, days in found]
    table(("id", "days late", "what", "valid from", "learned"), rows, right=("days late",), wrap="what")


def changes(found: Sequence[Change], items: Mapping[str, Item]) -> None:
    if not found:
        lines([[("nothing changed", "dim")]])
        return
    styles = {"added": "green", "closed": "yellow", "reopened": "green", "rejected": "red", "reinstated": "green"}
    told = {c.at: [(name, id) for name in _CHANGES for id in getattr(c, name)] for c in found}
    word, wide = (max(len(row[n]) for rows in told.values() for row in rows) for n in (0, 1))
    rows: list[Sequence[Cell]] = []
    for at, changed in told.items():
        rows += [*([[""]] if rows else []), [(when(at), "bold")]]
        for name, id in changed:
            text = items[id].text if id in items else ""
            rows.append(
                ["  ", (name.ljust(word), styles.get(name, "yellow")), "  ", (id.ljust(wide), "bold"), "  ", text]
            )
    lines(rows)


_CHANGES = ("added", "closed", "reopened", "rejected", "reinstated", "ended")


def compared(found: Compared) -> None:
    """What differs between two revisions: what each session brings, then what that changes on the two axes."""
    c = found.comparison
    if not c:
        lines([[("nothing changed", "dim")]])
        return

    def told(word: str, style: str, id: str, more: str = "") -> Sequence[Cell]:
        text = c.items[id].text if id in c.items else ""
        return ["  ", (f"{word:<10}", style), " ", (id, "bold"), "  ", text + more]

    rows: list[Sequence[Cell]] = []
    for s in c.sessions:
        rows += [*([[""]] if rows else []), [(s.session, "bold"), f"  {when(s.at)}" + (f" by {s.by}" if s.by else "")]]
        rows += [told("added", "green", i.id) for i in s.added]
        rows += [["  ", ("linked    ", "cyan"), f" {link.new} supersedes {link.old}"] for link in s.links]
        rows += [told("ended", "yellow", e.id, f" ({when(e.valid_to)})") for e in s.endings]
        rows += [["  ", (f"{'review':<10}", "yellow"), " ", _review(r)] for r in s.reviews]
    changes = [("closed", "yellow", c.closed), ("reopened", "green", c.reopened)]
    effects = [told(word, style, id) for word, style, ids in changes for id in ids]
    effects += [
        ["  ", ("removed   ", "red"), f" a line of session {e.session}: {compact(_keys(e))}"] for e in c.removed
    ]
    rows += [[""], [("together", "bold")], *effects] if effects else []
    for name, moved in (("true now", c.true), ("believed", c.believed)):
        rows += [[""], [(name, "bold")]] if moved else []
        for m in moved:
            before, after = (", ".join(map(stretch, its)) or "never" for its in (m.before, m.after))
            rows.append(["  ", (m.id, "bold"), f"  {c.items[m.id].text}: {after} (before: {before})"])
    lines(rows)


def _keys(entry: Entry) -> object:
    from ledger_cli.lines import line

    return json.loads(line(entry))


def _plain(cell: Cell) -> str:
    return cell[0] if isinstance(cell, tuple) else cell


def history(found: Chains) -> None:
    """Each chain from what stands back to the first; then what was rejected."""
    if not found.chains and not found.rejected:
        lines([[("nothing", "dim")]])
    rows: list[Sequence[Cell]] = []
    for chain in found.chains:
        for node in chain:
            rows += _node(node, "  " * node.depth + ("└ " if node.depth else ""), "replaced " if node.depth else "")
    for node in found.rejected:
        rows += _node(node, "✗ ", "")
    lines(rows)


def _node(node: Node, lead: str, word: str) -> Iterable[Sequence[Cell]]:
    item, shown = node.row.item, node.row.shown
    holds = _holds(shown)
    closed = f", closed {when(shown.closed_at)}" if shown.closed_at is not None else ""
    learned = f"learned {when(item.recorded_at)}{closed}"
    yield [lead, word, (item.id, "bold"), "  ", item.text]
    indent = " " * (len(lead) + 2)
    yield [indent, "holds " if shown.holds else "", holds, f"; {learned}"]
    for version in node.versions:
        yield [indent, ("corrected ", "yellow"), (version.item.id, "bold"), "  ", version.item.text]
    for ending in node.endings:
        yield [indent, _ending(ending)]
    for review in node.reviews:
        yield [indent, _review(review)]


def _review(r: Review) -> Cell:
    verb = "rejected" if r.verdict == "rejects" else "reinstated"
    return f"{r.target} {verb} by {r.by} on {when(r.recorded_at)}: {r.reason}", "red" if verb[2] == "j" else "green"


def _ending(e: Ending) -> Cell:
    reason = f": {e.reason}" if e.reason else ""
    return f"ended on {when(e.valid_to)} by {e.by}, learned {when(e.recorded_at)}{reason}", "yellow"


def dossier(found: Dossier) -> None:
    """All that is recorded of one item."""
    i, shown = found.row.item, found.row.shown
    rows: list[tuple[str, Cell]] = [("text", i.text)]
    rows += [("rationale", i.rationale)] if i.rationale else []
    rows += [("slot", i.slot)] if i.slot else []
    rows += [("about", ", ".join(i.about))] if i.about else []
    rows += [("claims", stretch((i.valid_from, i.valid_to))), ("holds", _holds(shown))]
    rows += [("learned", f"{show(i.recorded_at)} in {i.session}" + (f", by {i.by}" if i.by else ""))]
    rows += [("closed", show(shown.closed_at))] if shown.closed_at else []
    rows += [("confidence", f"{i.confidence:g}")] if i.confidence is not None else []
    rows += [("corrects", i.corrects)] if i.corrects else []
    rows += [("supersedes", _link(link, link.old, live)) for link, live in found.supersedes]
    rows += [("superseded", _link(link, link.new, live)) for link, live in found.superseded_by]
    versions = [v for v in (found.node.row, *found.node.versions) if v.item.id != i.id]
    rows += [("version", f"{v.item.id}  {v.item.text}") for v in versions]
    rows += [("ending", _ending(e)) for e in found.node.endings]
    rows += [("review", _review(r)) for r in found.node.reviews]
    rows += [("evidence", f"{e.id} ({e.kind})  {e.text}") for e in found.evidence]
    lines([[(i.id, "bold"), f"  {i.kind}"], *([(f"  {name:<12}", "dim"), cell] for name, cell in rows)])


def _link(link: Link, other: str, live: bool) -> Cell:
    words = f"{other}, since {when(link.recorded_at)} ({link.session})"
    return words if live else (words + ", rejected", "dim")


def recorded(found: Dossier | Episode) -> None:
    """All that is recorded under an id."""
    if isinstance(found, Episode):
        episode(found)
    else:
        dossier(found)


def episode(e: Episode) -> None:
    rows: list[tuple[str, str]] = [("text", e.text)]
    rows += [("mentions", ", ".join(e.mentions))] if e.mentions else []
    rows += [("said", show(e.at))] if e.at is not None else []
    rows += [("learned", f"{show(e.recorded_at)} in {e.session}")]
    told: list[Sequence[Cell]] = [[(f"  {name:<12}", "dim"), text] for name, text in rows]
    lines([[(e.id, "bold"), f"  {e.kind}"], *told])


def search(found: Sequence[tuple[Row, float]]) -> None:
    if not found:
        lines([[("nothing", "dim")]])
        return
    _items(row for row, _ in found)


def slots(found: Sequence[SlotRow]) -> None:
    if not found:
        lines([[("no slot answers anything", "dim")]])
        return
    rows: list[Sequence[Cell]] = []
    for slot in found:
        if (r := slot.current) is not None:
            rows.append((slot.slot, slot.kind, (r.item.id, "bold"), r.item.text, _holds(r.shown)))
        for r in slot.planned:
            planned = ("planned: " + _plain(_holds(r.shown)), "yellow")
            rows.append((slot.slot, slot.kind, (r.item.id, "bold"), r.item.text, planned))
    table(("slot", "kind", "id", "what", "holds"), rows, wrap="what")


def sessions(found: Sequence[SessionRow]) -> None:
    rows = [
        ((s.id, "bold"), when(s.at), counted(s.counts), "" if s.exported else ("not exported", "yellow")) for s in found
    ]
    table(("session", "recorded at", "brought", ""), rows)


def query(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    table(columns, [[_value(row.get(name)) for name in columns] for row in rows])


def _value(value: object) -> str:
    if isinstance(value, datetime):
        return when(value)
    if isinstance(value, dict | list):
        return compact(value)
    return "" if value is None else str(value)


def check(found: Checkup) -> None:
    """One line a problem, as `where: severity: what`, so that an editor can jump to it."""
    styles = {"error": "red", "warning": "yellow", "info": "dim"}
    rows: list[Sequence[Cell]] = []
    for f in found.findings:
        where = f"snapshots/ledger.json:{f.line}: " if f.line is not None else ""
        by = f.others
        who = f" (session{'s' if ', ' in by else ''} {by})" if by else ""
        rows.append([where, (f"{f.severity}: ", styles[f.severity]), f"{f.message}{who}", (f" [{f.code}]", "dim")])
        if f.hint:
            rows.append(["  hint: ", f.hint])
    errors = sum(f.severity == "error" for f in found.findings)
    rows.append([("ok", "green") if found.ok else (f"{errors} {'problem' if errors == 1 else 'problems'}", "red")])
    lines(rows)


def doctor(found: Sequence[Examined]) -> None:
    rows: list[Sequence[Cell]] = []
    for one in found:
        rows.append(
            [("ok  " if one.ok else "no  ", "green" if one.ok else "red"), (f"{one.name:<14}", "bold"), one.message]
        )
        if one.hint:
            rows.append([" " * 18, "hint: ", one.hint])
    lines(rows)
