"""The JSON that scripts read: a fixed contract (keys, order, types), apart from the classes inside. Absent = null."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from ledger_cli.holds import Row
from ledger_cli.instant import show
from ledger_cli.model import Episode
from ledger_cli.views import terminal

if TYPE_CHECKING:
    from ledger_cli.against import Compared
    from ledger_cli.answers import Answer, Applied, Checkup, SessionRow, SlotRow
    from ledger_cli.chains import Chains, Dossier, Node
    from ledger_cli.checks import Finding
    from ledger_cli.comparison import Brought, Moved
    from ledger_cli.doctor import Examined
    from ledger_cli.exchange.outcomes import Import
    from ledger_cli.exchange.restore import Restored
    from ledger_cli.holds import Change
    from ledger_cli.intervals import Intervals
    from ledger_cli.memory.audits import Lineage, NodeUse, ToolUse
    from ledger_cli.memory.calls import ToolCall
    from ledger_cli.memory.recall import Memory, Recalled
    from ledger_cli.memory.remember import Remembered
    from ledger_cli.memory.threads import Prepared
    from ledger_cli.memory.tools import Schema
    from ledger_cli.model import Ending, Entry, Item, Link, Review
    from ledger_cli.timeline import Line, Timeline

Json = dict[str, Any]


def render(value: Any) -> str:
    """The text of a JSON document, with one final newline."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=_plain) + "\n"


def out(value: Any) -> None:
    """Write a JSON document to stdout."""
    terminal.out(render(value))


def compact(value: Any) -> str:
    """A value of a query on one line."""
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: object) -> object:
    """What a query may return beside plain JSON: times, and whatever else an engine has."""
    if isinstance(value, datetime):
        return show(value) if value.tzinfo is not None else value.isoformat()
    return value.isoformat() if isinstance(value, date) else str(value)


def _time(at: datetime | None) -> str | None:
    return None if at is None else show(at)


def spans(intervals: Intervals) -> list[list[str | None]]:
    return [[show(start), _time(end)] for start, end in intervals]


def item(row: Row) -> Json:
    i, s = row.item, row.shown
    return {
        "id": i.id,
        "kind": i.kind,
        "text": i.text,
        "rationale": i.rationale,
        "slot": i.slot,
        "about": list(i.about),
        "validFrom": show(i.valid_from),
        "validTo": _time(s.valid_to),
        "recordedAt": show(i.recorded_at),
        "closedAt": _time(s.closed_at),
        "holds": spans(s.holds),
        "session": i.session,
        "by": i.by,
        "corrects": i.corrects,
        "from": list(i.evidence),
        "confidence": i.confidence,
    }


def as_of(answer: Answer) -> Json:
    return {
        "entity": answer.entity,
        "validAt": show(answer.valid_at),
        "knownAt": _time(answer.known_at),
        "items": [item(row) for row in answer.rows],
    }


def believed(answers: Sequence[Answer]) -> Json:
    if len(answers) == 1:
        return as_of(answers[0])
    return {
        "entity": answers[0].entity,
        "validAt": show(answers[0].valid_at),
        "answers": [{"knownAt": _time(a.known_at), "items": [item(row) for row in a.rows]} for a in answers],
    }


def lateness(rows: Iterable[tuple[Item, int]]) -> Json:
    return {
        "items": [
            {
                "id": i.id,
                "daysLate": days,
                "text": i.text,
                "validFrom": show(i.valid_from),
                "recordedAt": show(i.recorded_at),
            }
            for i, days in rows
        ]
    }


def diff(after: datetime, until: datetime, changes: Iterable[Change]) -> Json:
    names = ("added", "closed", "reopened", "rejected", "reinstated", "ended")
    return {
        "from": show(after),
        "to": show(until),
        "writes": [{"at": show(c.at), **{name: list(getattr(c, name)) for name in names}} for c in changes],
    }


def compared(found: Compared) -> Json:
    c = found.comparison
    return {
        "from": found.names[0],
        "fromCommit": found.commits[0],
        "to": found.names[1],
        "toCommit": found.commits[1],
        "sessions": [_brought(s) for s in c.sessions],
        "added": list(c.added),
        "closed": list(c.closed),
        "reopened": list(c.reopened),
        "rejected": list(c.verdicts("rejects")),
        "reinstated": list(c.verdicts("reinstates")),
        "ended": list(c.ended),
        "removed": [_line_of(e) for e in c.removed],
        "true": [_moved(m, c.items[m.id]) for m in c.true],
        "believed": [_moved(m, c.items[m.id]) for m in c.believed],
    }


def _brought(s: Brought) -> Json:
    return {
        "session": s.session,
        "at": show(s.at),
        "by": s.by,
        "added": [i.id for i in s.added],
        "linked": [[link.old, link.new] for link in s.links],
        "ended": [e.id for e in s.endings],
        "reviews": [review(r) for r in s.reviews],
    }


def _moved(moved: Moved, i: Item) -> Json:
    return {"id": moved.id, "slot": i.slot, "before": spans(moved.before), "after": spans(moved.after)}


def _line_of(entry: Entry) -> Json:
    from ledger_cli.lines import line

    found: Json = json.loads(line(entry))
    return found


def applied(rows: Iterable[Applied]) -> Json:
    return {"sessions": [_applied(row) for row in rows]}


def _applied(row: Applied) -> Json:
    e = row.effects
    return {
        "session": row.session,
        "status": row.status,
        "added": list(e.added) if e else [],
        "linked": [list(pair) for pair in e.linked] if e else [],
        "closed": list(e.closed) if e else [],
        "reopened": list(e.reopened) if e else [],
        "rejected": list(e.rejected) if e else [],
        "reinstated": list(e.reinstated) if e else [],
        "ended": list(e.ended) if e else [],
        "warnings": list(e.warnings) if e else [],
    }


def restored(done: Restored) -> Json:
    return {"sessions": list(done.sessions), "entries": done.entries, "known": done.known}


def imported(found: Import, file: str | None) -> Json:
    """What became of every record; `file` is where the session file was written, None where nothing was imported."""
    records = [
        {
            "record": o.record,
            "outcome": "listed" if o.id is None else "imported",
            "id": o.id,
            "reasons": list(o.reasons),
        }
        for o in found.outcomes
    ]
    return {"file": file, "sessions": [session.id for session in found.sessions], "records": records}


def check(found: Checkup) -> Json:
    return {"ok": found.ok, "problems": [_finding(f) for f in found.findings]}


def _finding(f: Finding) -> Json:
    return {
        "code": f.code,
        "severity": f.severity,
        "message": f.message,
        "ids": list(f.ids),
        "slot": f.slot,
        "validFrom": _time(f.valid_from),
        "validTo": _time(f.valid_to),
        "line": f.line,
        "sessions": list(f.sessions),
        "hint": f.hint or None,
    }


def slots(rows: Iterable[SlotRow]) -> Json:
    return {
        "slots": [
            {
                "slot": row.slot,
                "kind": row.kind,
                "current": item(row.current) if row.current else None,
                "planned": [item(r) for r in row.planned],
            }
            for row in rows
        ]
    }


def timeline(found: Timeline) -> Json:
    scale = found.scale
    return {
        "subject": found.subject,
        "from": show(scale.start) if found.lines else None,
        "to": show(scale.end) if found.lines else None,
        "items": [_line(line) for line in found.lines],
    }


def _line(line: Line) -> Json:
    return {
        **item(Row(line.item, line.shown)),
        "claimedOnly": spans(line.lost),
        "recorded": spans(line.record),
        "stretches": [
            {
                "validFrom": show(s.valid_from),
                "validTo": _time(s.valid_to),
                "knownFrom": show(s.known_from),
                "knownTo": _time(s.known_to),
            }
            for s in line.stretches
        ],
        "marks": [
            {
                "at": show(m.at),
                "what": m.what,
                "other": m.other,
                "on": m.on,
                "until": _time(m.until),
                "by": m.by,
                "reason": m.reason,
            }
            for m in line.marks
        ],
    }


def search(words: str, found: Iterable[tuple[Row, float]]) -> Json:
    return {"words": words, "items": [{**item(row), "score": round(score, 6)} for row, score in found]}


def recalled(found: Recalled) -> Json:
    return {
        "question": found.question,
        "validAt": show(found.valid_at),
        "knownAt": _time(found.known_at),
        "entity": found.entity,
        "kind": found.kind,
        "facts": [_memory(m) for m in found.facts],
        "decisions": [_memory(m) for m in found.decisions],
        "history": [
            {
                **item(past.row),
                "rejectedBy": past.rejection.by if past.rejection else None,
                "reason": past.rejection.reason if past.rejection else None,
            }
            for past in found.history
        ],
        "nearby": [{"via": n.via, **item(n.row)} for n in found.nearby],
        "items": [_memory(m) for m in found.items],
        "leftOut": found.left_out,
    }


def _memory(m: Memory) -> Json:
    return {
        **item(m.row),
        "score": round(m.score, 6),
        "similarity": None if m.similarity is None else round(m.similarity, 4),
        "evidence": [episode(e) for e in m.evidence],
        "replaced": [
            {
                "id": i.id,
                "text": i.text,
                "rationale": i.rationale,
                "validFrom": show(i.valid_from),
                "recordedAt": show(i.recorded_at),
                "session": i.session,
            }
            for i in m.replaced
        ],
    }


def sessions(rows: Iterable[SessionRow]) -> Json:
    return {"sessions": [{"session": r.id, "at": show(r.at), "counts": r.counts, "exported": r.exported} for r in rows]}


def session(id: str, entries: Iterable[Entry]) -> Json:
    """What a session recorded, as the checkpoint has it."""
    from ledger_cli.lines import line

    return {"session": id, "entries": [json.loads(line(entry)) for entry in entries]}


def doctor(found: Sequence[Examined]) -> Json:
    checks = [{"name": f.name, "ok": f.ok, "message": f.message, "hint": f.hint or None} for f in found]
    return {"ok": all(f.ok for f in found), "checks": checks}


def history(found: Chains) -> Json:
    return {
        "subject": found.subject,
        "chains": [[_node(node) for node in chain] for chain in found.chains],
        "rejected": [_node(node) for node in found.rejected],
    }


def _node(node: Node) -> Json:
    return {
        **item(node.row),
        "depth": node.depth,
        "versions": [item(v) for v in node.versions],
        "reviews": [review(r) for r in node.reviews],
        "endings": [_ending(e) for e in node.endings],
    }


def dossier(found: Dossier) -> Json:
    return {
        **item(found.row),
        "versions": [item(v) for v in (found.node.row, *found.node.versions) if v.item.id != found.row.item.id],
        "supersedes": [_link(link, live) for link, live in found.supersedes],
        "supersededBy": [_link(link, live) for link, live in found.superseded_by],
        "reviews": [review(r) for r in found.node.reviews],
        "endings": [_ending(e) for e in found.node.endings],
        "evidence": [episode(e) for e in found.evidence],
    }


def recorded(found: Dossier | Episode) -> Json:
    return episode(found) if isinstance(found, Episode) else dossier(found)


def review(r: Review) -> Json:
    t = r.target
    return {
        "verdict": r.verdict,
        "item": t.id,
        "on": "link" if t.new is not None else "ending" if t.ending else "item",
        "new": t.new,
        "by": r.by,
        "reason": r.reason,
        "recordedAt": show(r.recorded_at),
        "session": r.session,
    }


def _ending(e: Ending) -> Json:
    return {
        "item": e.id,
        "validTo": show(e.valid_to),
        "by": e.by,
        "reason": e.reason,
        "recordedAt": show(e.recorded_at),
        "session": e.session,
    }


def _link(link: Link, live: bool) -> Json:
    return {
        "old": link.old,
        "new": link.new,
        "live": live,
        "recordedAt": show(link.recorded_at),
        "by": link.by,
        "session": link.session,
    }


def episode(e: Episode) -> Json:
    return {
        "id": e.id,
        "kind": e.kind,
        "text": e.text,
        "mentions": list(e.mentions),
        "at": _time(e.at),
        "recordedAt": show(e.recorded_at),
        "session": e.session,
    }


def query(rows: Iterable[Mapping[str, Any]]) -> Json:
    return {"rows": [dict(row) for row in rows]}


def call(c: ToolCall) -> Json:
    seconds, rest = divmod(c.ts, 1000)
    return {
        "session": c.session,
        "seq": c.seq,
        "tool": c.tool,
        "status": c.status,
        "ask": c.ask or None,
        "rows": c.rows,
        "touched": [{"what": node.what, "id": node.id, "wrote": str(node) in c.wrote} for node in c.nodes],
        "error": c.error,
        "arguments": c.arguments,
        "at": show(datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest * 1000)),
        "ts": c.ts,
        "took": c.took,
    }


def calls(found: Iterable[ToolCall]) -> Json:
    return {"calls": [call(c) for c in found]}


def tool_uses(found: Iterable[ToolUse]) -> Json:
    names = ("tool", "calls", "rows", "touched", "read", "committed", "rolledBack", "p50", "p95")
    return {"tools": [dict(zip(names, use, strict=True)) for use in found]}


def lineages(found: Iterable[Lineage]) -> Json:
    return {
        "nodes": [
            {
                "what": one.node.what,
                "id": one.node.id,
                "wrote": call(one.wrote) if one.wrote else None,
                "changed": [_number(c) for c in one.changed],
                "readSince": [_number(c) for c in one.read],
            }
            for one in found
        ]
    }


def node_uses(found: Iterable[NodeUse]) -> Json:
    return {
        "nodes": [
            {
                "what": use.node.what,
                "id": use.node.id,
                "name": use.name,
                "wrote": _number(use.wrote) if use.wrote else None,
                "changed": [_number(c) for c in use.changed],
                "reads": use.reads,
            }
            for use in found
        ]
    }


def _number(c: ToolCall) -> Json:
    return {"session": c.session, "seq": c.seq}


def exported_calls(written: Iterable[tuple[str, int]]) -> Json:
    return {"files": [{"file": name, "calls": n} for name, n in written]}


def schema(found: Schema) -> Json:
    names = ("from", "type", "to", "what")
    return {
        "nodes": [{"label": label, "properties": keys.split()} for label, keys in found.nodes.items()],
        "relationships": [dict(zip(names, r, strict=True)) for r in found.relationships],
        "counts": dict(found.counts),
        "notes": list(found.notes),
    }


def remembered(found: Remembered, file: str | None, applied: bool) -> Json:
    """What a chat came to; `file`: where the session file was written."""
    return {
        "session": found.id,
        "file": file,
        "applied": applied,
        "added": [i.id for i in found.session.items] if found.session else [],
        "replaced": list(found.replaced),
        "leftOut": [{"kind": one.kind, "text": one.text, "reason": one.reason} for one in found.left_out],
    }


def prepared(found: Prepared) -> list[dict[str, str]]:
    return found.chat()
