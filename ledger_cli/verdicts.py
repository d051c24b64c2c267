"""Verdicts and endings from the command line or from Python: each becomes a small session, or nothing.

Nothing is written where what would be said stands already.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ledger_cli import session_file
from ledger_cli.answers import Applied
from ledger_cli.errors import Refused
from ledger_cli.history import History, state_at
from ledger_cli.instant import show, tidy
from ledger_cli.model import Ending, Item, Link, Review, Target, Verdict, canonical_id
from ledger_cli.names import LONGEST
from ledger_cli.stated import Session

if TYPE_CHECKING:
    from ledger_cli.store.graph import Graph

Builder = Callable[["Graph", datetime], Session | Applied]
"""From the ledger as it is, and the clock, to the session to apply, or to what stands already."""


def review(verdict: Verdict, target: Target, by: str, reason: str, at: datetime | None) -> Builder:
    """A verdict, recorded at `at` (None: now). Raises Refused, when it is built, for what could not count."""
    target = Target(canonical_id(target.id), canonical_id(target.new) if target.new else None, target.ending)
    verb, on, subject = verdict.removesuffix("s"), _stated(target), target.id
    if target.new is not None:
        subject = f"link-{target.id}-{target.new}"
    elif target.ending:
        subject = f"end-{target.id}"

    def build(graph: Graph, now: datetime) -> Session | Applied:
        history = History(graph.component([i for i in (target.id, target.new) if i], []))
        if (stands := _stands(history, verdict, target)) is not None:
            return Applied(stands.session, stands.recorded_at, "unchanged")
        if verdict == "reinstates" and any(
            r.verdict == "rejects" and r.recorded_at == at and history.same_target(r.target, target)
            for r in history.reviews
        ):
            raise Refused(f"{target} was rejected at that very clock, which wins", "give a later --at")
        clock = show(at or now)
        reviews = [{verb: on, "by": by, "reason": reason}]
        return session_file.of({"session": _named(f"{verb}-{subject}", clock), "at": clock, "reviews": reviews})

    return build


def _stated(target: Target) -> object:
    """A target as a session file states it."""
    if target.new is not None:
        return {"old": target.id, "new": target.new}
    return {"end": target.id} if target.ending else target.id


def ending(id: str, on: datetime, by: str, reason: str | None, at: datetime | None) -> Builder:
    """An ending at `on`, recorded at `at` (None: now)."""

    def build(graph: Graph, now: datetime) -> Session | Applied:
        history = History(graph.component([id], []))
        if id in history.items:
            place = history.place[id]
            if state_at(history).end(place) == on:
                same = [e for e in history.endings if history.place[e.id] == place and e.valid_to == on]
                last = max(same, key=lambda e: (e.recorded_at, e.session))
                return Applied(last.session, last.recorded_at, "unchanged")
        clock = show(at or now)
        stated = {"id": id, "validTo": show(on), "by": by, "reason": reason}
        return session_file.of({"session": _named(f"end-{id}", clock), "at": clock, "endings": [stated]})

    return build


def _named(what: str, clock: str) -> str:
    """The id of a small session: what it does and when, as much of it as an id may hold."""
    return f"{what[: LONGEST - len(clock) - 1]}-{clock}"


def next_clock(now: datetime, newest: datetime | None) -> datetime:
    """The clock of a review or an ending that states none: later than the newest entry.

    With the clock of the verdict it overrules it would not count: at one instant, `rejects` wins.
    """
    at = tidy(now, newest)
    return at if newest is None or at > newest else newest + timedelta(microseconds=1)


def _stands(history: History, verdict: Verdict, target: Target) -> Review | Item | Link | Ending | None:
    """What says already what this verdict would say: the last such verdict, or, for a reinstatement of what was never
    rejected, the entry itself. None where the verdict would be news, or its target is unknown.
    """
    state = state_at(history)
    if target.id not in history.items or (target.new is not None and target.new not in history.items):
        return None
    place = history.place[target.id]
    entries: list[Review | Item | Link | Ending] = []
    if target.new is not None:
        pair = history.pair(target)
        if pair not in state.links:
            return None
        rejected = {pair in state.rejected_links}
        entries += [link for link in history.links if history.pair(link) == pair]
        said = [r for r in history.reviews if r.target.new is not None and history.pair(r.target) == pair]
    elif target.ending:
        rejected = {not live for live in state.endings.get(place, {}).values()}
        entries += [e for e in history.endings if history.place[e.id] == place]
        said = [r for r in history.reviews if r.target.ending and history.place.get(r.target.id) == place]
    else:
        rejected = {target.id in state.rejected}
        entries.append(history.items[target.id])
        said = [r for r in history.reviews if r.target == target]
    if rejected != {verdict == "rejects"}:
        return None
    entries += [r for r in said if r.verdict == verdict]
    return max(entries, key=lambda e: (isinstance(e, Review), e.recorded_at, e.session))
