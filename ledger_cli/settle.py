"""Settle a checkpoint in conflict, pure: from both sides, and what a person chose, to the file that comes of it.

Nothing is thrown away. An answer given up is recorded as rejected, with who and why. What cannot be recorded twice
under one id is recorded under another (`d9~theirs`), and what names it follows. Two things cannot be recorded at all,
and are named aloud: lines that a side wrote into a session that was recorded before, and the second kind of an entity.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from ledger_cli import checkpoint, markers, rules, session_file
from ledger_cli.conflicts import Conflict, conflicts
from ledger_cli.errors import Refused
from ledger_cli.history import History
from ledger_cli.instant import show, tidy
from ledger_cli.known import Known
from ledger_cli.lines import line
from ledger_cli.markers import Lines, Sides
from ledger_cli.merge import render
from ledger_cli.model import Ending, Entity, Entry, Episode, Item, Link, Review, Target, entity_key, id_set
from ledger_cli.stated import Session

SIDES = {"ours": "theirs", "theirs": "ours"}


@dataclass(frozen=True)
class Choice:
    """What a person decided: which side (`ours`, `theirs`), item, or `base` to keep, and of which conflicts.

    `slot` and `id` pick the conflicts; neither: all. `sessions` are recorded on top of both sides.
    """

    keep: str | None = None
    by: str | None = None
    reason: str | None = None
    slot: str | None = None
    id: str | None = None
    sessions: tuple[Session, ...] = ()

    @property
    def decides(self) -> bool:
        """Is anything chosen?"""
        return self.keep is not None or bool(self.sessions)

    def picks(self, conflict: Conflict) -> bool:
        """Is the choice on this conflict?"""
        about = {*conflict.ids, *(e.id for e in (*conflict.ours, *conflict.theirs) if isinstance(e, Item | Episode))}
        return self.slot in (None, conflict.slot) and (self.id is None or self.id in about)


class Settled(NamedTuple):
    """The file that comes of it, the conflicts that are left in it, and what was done, in sentences."""

    data: bytes
    left: tuple[Conflict, ...]
    done: tuple[str, ...]


def settle(data: bytes, choice: Choice, now: datetime) -> Settled:
    """Settle what the choice is on. Where it decides nothing and a conflict is left, the file stays as it is.

    Raises Damaged for a file from which the sides cannot be read, Refused where the choice breaks a rule or fits none
    of the conflicts.
    """
    if markers.has_markers(data):
        sides = markers.read(data)
    else:
        entries = {line(e): e for e in checkpoint.read(data, any_order=True)}
        sides = Sides(entries, entries)
    table = _Table(sides, choice, now)
    table.restore()
    if choice.decides:
        table.decide()
    left = tuple(table.conflicts)
    return Settled(data if left and not choice.decides else render(table.sides, left), left, tuple(table.done))


class _Table:
    """Where both sides lie while they are brought together."""

    def __init__(self, sides: Sides, choice: Choice, now: datetime) -> None:
        self.sides, self.choice, self.now = sides, choice, now
        self.done: list[str] = []

    @property
    def conflicts(self) -> list[Conflict]:
        return conflicts(self.sides)

    def restore(self) -> None:
        """What was recorded before stays in the file, whichever side took it out."""
        missing = {t: e for t, e in self.sides.base.items() if t not in self.sides.ours or t not in self.sides.theirs}
        self.add(missing)
        self.done += [f"kept what was recorded: {text}" for text in missing]

    def decide(self) -> None:
        if not any(self.choice.picks(conflict) for conflict in self.conflicts):
            picked = self.choice.slot or self.choice.id
            raise Refused(
                f"no conflict is about {picked}" if picked else "nothing is in conflict",
                "`ledger resolve` without options lists what is",
            )
        for session in sorted(self.choice.sessions, key=lambda s: (s.at or self.clock(), s.id)):
            self.record(session)
            self.done.append(f"recorded session {session.id}")
        if self.choice.keep is None:
            return
        tried = set[object]()
        while todo := [
            c
            for c in self.conflicts
            if (c.key, c.ours, c.theirs) not in tried and self.choice.picks(c) and self.fits(c)
        ]:
            # What is recorded twice comes first: until it has two ids, nothing can be said of either.
            conflict = min(todo, key=lambda c: _FIRST.get(c.code, len(_FIRST)))
            tried.add((conflict.key, conflict.ours, conflict.theirs))
            _SETTLERS[conflict.code](self, conflict)
        if not tried:
            raise Refused(
                f"`--keep {self.choice.keep}` settles none of these conflicts", "`ledger resolve` says what would"
            )

    def fits(self, conflict: Conflict) -> bool:
        """Can what is to be kept be kept of this conflict?"""
        keep = self.choice.keep
        if conflict.code not in _SETTLERS or conflict.code == "rewritten":
            return conflict.code == "rewritten" and keep == "base"
        if conflict.code in ("two-current", "corrected-twice"):  # where no side is told apart, an item is to be named
            return keep in conflict.ids or (keep in SIDES and conflict.told_apart)
        return keep in SIDES

    # One conflict each

    def reject(self, conflict: Conflict) -> None:
        """One of several answers stays; the others are rejected."""
        keep = self.choice.keep
        kept = {e.id for e in self.kept(conflict) if isinstance(e, Item)} if keep in SIDES else {keep}
        for id in conflict.ids:
            if id not in kept:
                self.review(id, id, self.clock())
                self.done.append(f"rejected {id}, and kept {', '.join(sorted(i for i in kept if i))}")

    def reject_links(self, conflict: Conflict) -> None:
        """The links that closed a circle are rejected at their own clock: later, they would have been live once."""
        for entry in self.given_up(conflict):
            if isinstance(entry, Link):
                target = Target(entry.old, entry.new)
            else:
                assert isinstance(entry, Review)
                target = entry.target
            on = {"old": target.id, "new": target.new}
            self.review(f"link-{target.id}-{target.new}", on, entry.recorded_at)
            self.done.append(f"rejected {target}")

    def rename(self, conflict: Conflict) -> None:
        """One id for two things: what is given up is recorded under another, with all that names it."""
        side = SIDES[str(self.choice.keep)]
        kept, given = self.kept(conflict), self.given_up(conflict)
        sessions = {e.session for e in given} - {e.session for e in kept}
        union, lone = self.sides.union, self.sides.lone()
        of_side = self.sides.theirs if side == "theirs" else self.sides.ours
        moved = {t: e for t, e in union.items() if (t in lone and t in of_side) or e in given or e.session in sessions}
        stay = [e for t, e in union.items() if t not in moved]
        taken = {e.session for e in union.values()} | {e.id for e in union.values() if isinstance(e, Item | Episode)}
        of_session = conflict.code == "session-twice"
        items, episodes = (
            {
                e.id: _free(f"{e.id}~{side}", taken)
                for e in (moved.values() if of_session else given)
                if isinstance(e, sort)
                and (not of_session or e.session == conflict.ids[0])
                and any(isinstance(o, sort) and o.id == e.id for o in stay)
            }
            for sort in (Item, Episode)
        )
        names = {conflict.ids[0]: _free(f"{conflict.ids[0]}~{side}", taken)} if of_session else {}
        new = {text: _renamed(entry, items, episodes, names) for text, entry in moved.items()}
        self.exchange({text: entry for text, entry in new.items() if entry != moved[text]})
        if items or episodes or names:
            told = [*(f"session {o} as {n}" for o, n in names.items())]
            told += [f"{o} as {n}" for o, n in (*items.items(), *episodes.items())]
            self.done.append(f"recorded {', '.join(told)}: it was {side}")

    def leave_out(self, conflict: Conflict) -> None:
        """What cannot be recorded at all: a second kind of an entity, or a line in a session recorded before."""
        if conflict.code == "rewritten":
            recorded = self.sides.base
            gone = {t: e for t, e in self.sides.lone().items() if e.session == conflict.ids[0] and t not in recorded}
        else:
            kinds = {(entity_key(e.name), e.kind) for e in self.kept(conflict) if isinstance(e, Entity)}
            gone = {
                line(e): e
                for e in self.given_up(conflict)
                if isinstance(e, Entity) and (entity_key(e.name), e.kind) not in kinds
            }
        ours, theirs = ({t: e for t, e in its.items() if t not in gone} for its in (self.sides.ours, self.sides.theirs))
        self.sides = Sides(ours, theirs, self.sides.base)
        self.done += [f"left out: {text}" for text in gone]

    def kept(self, conflict: Conflict) -> tuple[Entry, ...]:
        return conflict.ours if self.choice.keep == "ours" else conflict.theirs

    def given_up(self, conflict: Conflict) -> tuple[Entry, ...]:
        return conflict.theirs if self.choice.keep == "ours" else conflict.ours

    # What is recorded

    def clock(self) -> datetime:
        """Of what a person says now: later than all that is recorded, as for every verdict."""
        newest = max((e.recorded_at for e in self.sides.union.values()), default=None)
        at = tidy(self.now, newest)
        return at if newest is None or at > newest else newest + timedelta(microseconds=1)

    def review(self, name: str, on: object, at: datetime) -> None:
        by, reason = self.choice.by, self.choice.reason
        if by is None or reason is None:
            raise Refused("what is given up is recorded as rejected", "add `--by NAME --reason TEXT`: who says so, why")
        name = _free(f"reject-{name}-{show(at)}", {e.session for e in self.sides.union.values()})
        reviews = [{"reject": on, "by": by, "reason": reason}]
        document: dict[str, object] = {"session": name, "at": show(at), "reviews": reviews}
        stated = session_file.of(document).reviews[0]  # refuses what no text or name may hold
        # Not by the rules of a session: what this opens again may be in conflict too, and is settled next.
        entry = Review("rejects", stated.target, stated.by or by, stated.reason or reason, at, name)
        self.add({line(entry): entry})

    def record(self, session: Session) -> None:
        """Record a session on top of both sides, by the rules of every session."""
        entries = list(self.sides.union.values())
        kinds: dict[str, tuple[str, str | None]] = {}
        for entry in entries:
            if isinstance(entry, Entity):
                kinds.setdefault(entity_key(entry.name), (entry.name, entry.kind))
        known = Known(
            History(entries),
            {e.id: e for e in entries if isinstance(e, Episode)},
            kinds,
            [e for e in entries if e.session == session.id],
            max((e.recorded_at for e in entries), default=None),
        )
        write = rules.resolve(session, known, self.now)
        self.add({line(entry): entry for entry in write.entries} if write else {})

    def add(self, new: Lines) -> None:
        self.sides = Sides({**self.sides.ours, **new}, {**self.sides.theirs, **new}, self.sides.base)

    def exchange(self, new: Mapping[str, Entry]) -> None:
        def changed(lines: Lines) -> Lines:
            its = (new.get(text, entry) for text, entry in lines.items())
            return {line(entry): entry for entry in its}

        self.sides = Sides(changed(self.sides.ours), changed(self.sides.theirs), self.sides.base)


_SETTLERS: dict[str, Callable[[_Table, Conflict], None]] = {
    "rewritten": _Table.leave_out,
    "session-twice": _Table.rename,
    "duplicate-id": _Table.rename,
    "two-kinds": _Table.leave_out,
    "cycle": _Table.reject_links,
    "corrected-twice": _Table.reject,
    "two-current": _Table.reject,
}
_FIRST = {code: n for n, code in enumerate(_SETTLERS)}


def _free(name: str, taken: Collection[str]) -> str:
    """The name, or, where something has it already, the name with a number."""
    numbered = (f"{name}{n}" for n in range(2, len(taken) + 3))
    return next(n for n in (name, *numbered) if n not in taken)


def _renamed(entry: Entry, items: Mapping[str, str], episodes: Mapping[str, str], names: Mapping[str, str]) -> Entry:
    """The entry, with what it is called and what it names under new ids."""
    session = names.get(entry.session, entry.session)

    def of(id: str) -> str:
        return items.get(id, id)

    if isinstance(entry, Item):
        evidence: Iterable[str] = (episodes.get(e, e) for e in entry.evidence)
        corrects = of(entry.corrects) if entry.corrects is not None else None
        return replace(entry, id=of(entry.id), session=session, corrects=corrects, evidence=id_set(evidence))
    if isinstance(entry, Link):
        return replace(entry, old=of(entry.old), new=of(entry.new), session=session)
    if isinstance(entry, Ending):
        return replace(entry, id=of(entry.id), session=session)
    if isinstance(entry, Review):
        new = of(entry.target.new) if entry.target.new is not None else None
        return replace(entry, target=replace(entry.target, id=of(entry.target.id), new=new), session=session)
    if isinstance(entry, Episode):
        return replace(entry, id=episodes.get(entry.id, entry.id), session=session)
    return replace(entry, session=session)
