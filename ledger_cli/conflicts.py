"""What two sides of a merge do not agree on, pure: what keeps all that they hold from being one ledger."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ledger_cli import checks, invariants, markers
from ledger_cli.history import History, state_at
from ledger_cli.layout import rank
from ledger_cli.lines import line
from ledger_cli.markers import Lines, Sides
from ledger_cli.model import Entity, Entry, Episode, Item, Link, Review, entity_key

MENDABLE = {"two-current", "corrected-twice", "duplicate-id", "two-clocks", "two-kinds", "cycle", "unknown-id"}
"""What `resolve` answers for, also where one side had it alone; for the rest there is no command."""


@dataclass(frozen=True)
class Conflict:
    """What two sides do not agree on: what each of them holds, and the groups of the file that it concerns.

    `code` is that of `checks`, or `rewritten` (a recorded session changed) or `session-twice` (one id, two contents).
    """

    code: str
    message: str
    ids: tuple[str, ...]
    ours: tuple[Entry, ...]
    theirs: tuple[Entry, ...]
    groups: tuple[str, ...]
    slot: str | None = None
    hint: str = ""
    plain: bool = False  # nothing is to be decided: `ledger resolve` alone settles it
    told_apart: bool = True  # False: git merged both in silence, and which is whose cannot be said

    @property
    def key(self) -> tuple[str, tuple[str, ...], str | None]:
        """What makes it the same conflict after another was settled."""
        return self.code, self.ids, self.slot


def conflicts(sides: Sides, alone: tuple[Lines, ...] | None = None) -> list[Conflict]:
    """What keeps the union of two sides from being a ledger.

    `alone` are the whole sides: what was wrong with one of them before is no conflict of this merge. Left out, the
    sides were read out of markers: what git merged in silence counts as held by both, and all that is wrong counts.
    """
    union = sides.union
    found = [*_rewritten(sides, union)]
    found += _sessions_twice(sides, union, {c.ids[0] for c in found}, whole=alone is not None)
    named = {c.ids[0] for c in found}
    errors = _errors(union)
    known = {_key(f) for lines in alone or () for f in _errors(lines)} if errors else set()
    errors = [f for f in errors if _key(f) not in known and (alone is not None or f.code in MENDABLE)]
    # Of what stands twice under one id, nothing else can be said before it has two.
    unclear = {id for f in errors if f.code == "duplicate-id" for id in f.ids}
    history = History(union.values()) if errors else History(())
    for finding in errors:
        if finding.code in ("two-clocks", "duplicate-id"):
            if set(finding.sessions) <= named:
                continue
        elif not unclear.isdisjoint(finding.ids):
            continue
        found.append(_of_finding(finding, sides, union, history))
    return _with_groups(found, sides, union)


def _errors(lines: Lines) -> list[checks.Finding]:
    # In one order, whoever merged: of two items with one id, the first is the one that others are held against.
    return [f for f in checks.findings((None, lines[text]) for text in sorted(lines)) if f.severity == "error"]


def _key(finding: checks.Finding) -> tuple[str, tuple[str, ...], str | None]:
    return finding.code, finding.ids or finding.sessions, finding.slot


def _rewritten(sides: Sides, union: Lines) -> Iterator[Conflict]:
    """Sessions of the base of which a side changed, removed or added lines."""
    recorded = {entry.session for entry in sides.base.values()}
    touched: dict[str, list[str]] = defaultdict(list)
    for text, entry in union.items():
        in_both = text in sides.ours and text in sides.theirs
        if not in_both and (text in sides.base or entry.session in recorded):
            touched[entry.session].append(text)
    for session, texts in sorted(touched.items()):
        new = [t for t in texts if t not in sides.base]
        who = [n for n, its in (("ours", sides.ours), ("theirs", sides.theirs)) if _changed(texts, its, sides.base)]
        hint = "a recorded entry never changes: a correction is a session of its own, with `corrects`"
        if not new:
            hint = "nothing is ever removed: `ledger reject` takes a decision back"
        yield Conflict(
            "rewritten",
            f"rewritten history: {' and '.join(who)} changed what session {session} had recorded before",
            (session,),
            tuple(union[t] for t in texts if t in sides.ours),
            tuple(union[t] for t in texts if t in sides.theirs),
            (),
            hint=hint,
            plain=not new,
        )


def _changed(texts: Iterable[str], side: Lines, base: Lines) -> bool:
    return any((text in side) != (text in base) for text in texts)


def _sessions_twice(sides: Sides, union: Lines, rewritten: set[str], *, whole: bool) -> Iterator[Conflict]:
    """One session id under which the two sides recorded different things."""
    clocks: dict[str, set[object]] = defaultdict(set)
    for entry in union.values():
        clocks[entry.session].add(entry.recorded_at)
    ours, theirs = _by_session(sides.ours, sides.theirs), _by_session(sides.theirs, sides.ours)
    recorded = {e.session for e in sides.base.values()}
    both = {e.session for e in sides.ours.values()} & {e.session for e in sides.theirs.values()} - recorded
    for session in sorted({*ours, *theirs, *(s for s, its in clocks.items() if len(its) > 1)} - rewritten):
        one, other = ours.get(session, []), theirs.get(session, [])
        if not (one and other) and not (whole and session in both):
            if whole or len(clocks[session]) == 1:
                continue
            its = [e for e in union.values() if e.session == session]  # git merged them in silence: part by the clock
            one = [e for e in its if e.recorded_at == its[0].recorded_at]
            other = [e for e in its if e.recorded_at != its[0].recorded_at]
        yield Conflict(
            "session-twice",
            f"session {session} is recorded by both sides, with different content",
            (session,),
            tuple(one),
            tuple(other),
            (),
            hint="" if one and other else "what one side adds to the session of the other is kept",
            plain=not (one and other),
        )


def _by_session(side: Lines, other: Lines) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = defaultdict(list)
    for text, entry in side.items():
        if text not in other:
            found[entry.session].append(entry)
    return found


def _of_finding(finding: checks.Finding, sides: Sides, union: Lines, history: History) -> Conflict:
    if finding.code == "cycle":  # of links that one side holds, the last is what closed it
        concerned: Lines = {line(e): e for e in _on_a_cycle(history)}
        ours, theirs = _divided(concerned, sides, first=-1)
    else:
        concerned = {text: e for text, e in union.items() if _is_on(finding, e)}
        ours, theirs = _divided(concerned, sides)
    slots = {e.slot for e in concerned.values() if isinstance(e, Item)}
    slot = finding.slot or (slots.pop() if len(slots) == 1 else None)
    ids = finding.ids or finding.sessions
    return Conflict(finding.code, finding.message, ids, ours, theirs, (), slot=slot, hint=finding.hint)


def _is_on(finding: checks.Finding, entry: Entry) -> bool:
    """Is this entry what the finding is about?"""
    if finding.code == "unknown-id":
        evidence = entry.evidence if isinstance(entry, Item) else ()
        return not {*invariants.named(entry), *evidence}.isdisjoint(finding.ids)
    if finding.code == "two-kinds":
        return isinstance(entry, Entity) and entity_key(entry.name) in map(entity_key, finding.ids)
    if finding.code == "two-clocks":
        return entry.session in finding.sessions
    return isinstance(entry, Item | Episode) and entry.id in finding.ids


def _on_a_cycle(history: History) -> list[Link | Review]:
    """The links on cycles, and the verdicts that brought one back, by clock; those never live, rejected then, apart."""
    struck = {(history.pair(r.target), r.recorded_at) for r in history.reviews if r.verdict == "rejects"}
    entries: list[Link | Review] = [*history.links]
    entries += [r for r in history.reviews if r.verdict == "reinstates" and r.target.new is not None]
    pairs = {e: history.pair(e if isinstance(e, Link) else e.target) for e in entries}
    live = {e: pair for e, pair in pairs.items() if pair is not None and (pair, e.recorded_at) not in struck}
    after: dict[str, set[str]] = defaultdict(set)
    for old, new in live.values():
        after[old].add(new)
    state = state_at(history)
    found = [e for e, (old, new) in live.items() if old in state.reach(new, links=after)]
    return sorted(found, key=lambda e: (e.recorded_at, e.session))


def _divided(concerned: Lines, sides: Sides, first: int = 1) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
    """What of the entries is ours, and what theirs; what both hold stands against what only one of them holds.

    Where both hold all of it, the `first` so many stand against the others.
    """
    ours = [e for t, e in concerned.items() if t in sides.ours and t not in sides.theirs]
    theirs = [e for t, e in concerned.items() if t in sides.theirs and t not in sides.ours]
    rest = [e for e in concerned.values() if e not in ours and e not in theirs]
    if not ours and not theirs:
        return tuple(rest[:first]), tuple(rest[first:])
    return tuple(ours or rest), tuple(theirs or rest)


def _with_groups(found: list[Conflict], sides: Sides, union: Lines) -> list[Conflict]:
    """The same conflicts, each with the groups in which its lines differ."""
    if not found:
        return found
    group_of, lone = markers.grouped(union), sides.lone()
    everywhere = tuple(sorted({group_of(e) for e in lone.values()}, key=rank))
    placed = []
    for conflict in found:
        its = {group_of(e) for e in (*conflict.ours, *conflict.theirs) if line(e) in lone}
        if conflict.slot is not None and any(group_of(e) == f"slot {conflict.slot}" for e in lone.values()):
            its.add(f"slot {conflict.slot}")
        if conflict.code == "rewritten":
            gone = (e for t, e in sides.base.items() if t not in sides.ours or t not in sides.theirs)
            its |= {group_of(e) for e in gone if e.session == conflict.ids[0]}
        told = any(line(e) in lone for e in (*conflict.ours, *conflict.theirs))
        placed.append(replace(conflict, groups=tuple(sorted(its, key=rank)) or everywhere, told_apart=told))
    return placed
