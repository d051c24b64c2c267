"""What a write did to what holds, for the one who wrote it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from ledger_cli.history import History, State, state_at
from ledger_cli.intervals import Intervals, claim, subtract
from ledger_cli.known import Write
from ledger_cli.model import Ending, Item, Link, Review, Stretch, Target, Verdict


class Until(NamedTuple):
    """An item that holds until a date to come; what takes over then (None: an ending), and when it holds again."""

    id: str
    successor: str | None
    end: datetime
    again: datetime | None


@dataclass(frozen=True)
class Effects:
    """What a write did, as sorted ids.

    `until` tells of items that hold on until a date to come.
    `corrected` pairs an item with its correction; `verdicts` are those on links and endings.
    """

    added: tuple[str, ...]
    linked: tuple[tuple[str, str], ...]
    closed: tuple[str, ...]
    reopened: tuple[str, ...]
    rejected: tuple[str, ...]
    reinstated: tuple[str, ...]
    ended: tuple[str, ...]
    warnings: tuple[str, ...]
    until: tuple[Until, ...]
    corrected: tuple[tuple[str, str], ...]
    verdicts: tuple[tuple[Verdict, Target], ...]


def effects(write: Write) -> Effects:
    """What a write changed in what holds, as known with it against as known without it."""
    items = write.history.items
    added = {e.id for e in write.entries if isinstance(e, Item)}
    closed: set[str] = set()
    reopened: set[str] = set()
    for id, after in write.changed.items():
        now = _open(after)
        before = (claim(items[id]),) if id in added else _open(write.before[id])
        if subtract(before, now):
            closed.add(id)
        if id not in added and subtract(now, before):
            reopened.add(id)
    reviews = _verdicts(write)
    return Effects(
        added=tuple(sorted(added)),
        linked=tuple(sorted({(e.old, e.new) for e in write.entries if isinstance(e, Link)})),
        closed=tuple(sorted(closed)),
        reopened=tuple(sorted(reopened)),
        rejected=tuple(sorted({r.target.id for r in reviews if r.verdict == "rejects"})),
        reinstated=tuple(sorted({r.target.id for r in reviews if r.verdict == "reinstates"})),
        ended=tuple(sorted({e.id for e in write.entries if isinstance(e, Ending)})),
        warnings=tuple(_warnings(write, added)),
        until=tuple(_until(write, sorted(closed - added))),
        corrected=tuple(
            sorted((e.corrects, e.id) for e in write.entries if isinstance(e, Item) and e.corrects is not None)
        ),
        verdicts=tuple((e.verdict, e.target) for e in write.entries if isinstance(e, Review) and not e.target.on_item),
    )


def _open(stretches: Iterable[Stretch]) -> Intervals:
    """Where an item holds, with all that is recorded."""
    return tuple((s.valid_from, s.valid_to) for s in stretches if s.known_to is None)


def _warnings(write: Write, added: set[str]) -> Iterator[str]:
    rejected = {e.target.id for e in _verdicts(write) if e.verdict == "rejects"}
    for id in sorted(added - rejected):
        if not _open(write.after[id]):
            yield f"{id} holds at no instant: what replaces or ends it covers all it claims"
    history, state = write.history, state_at(write.history)
    for id in sorted(rejected):
        if (correction := state.live_correction(id)) is not None:
            yield f"{id} was corrected by {correction.id}, which stands; to strike both, reject {correction.id} too"
    yield from _without_effect(write, state)
    links = sorted((e for e in write.entries if isinstance(e, Link)), key=lambda e: (e.old, e.new))
    new = {(history.place[e.old], history.place[e.new]) for e in links}
    for link in links:
        old, place = write.before.get(link.old), history.place[link.old]
        if old is None:
            continue
        others = sorted(p for p in state.after[place] if (place, p) not in new)
        if not _open(old):
            yield f"{link.old}, superseded by {link.new}, held at no instant before this either"
        elif others and history.items[link.old].slot is None:  # a slot orders itself
            yield f"{link.old} is superseded already, by {', '.join(others)}"


def _without_effect(write: Write, state: State) -> Iterator[str]:
    """What was recorded and does not count: at one clock a rejection wins, and a rejected link stays so if restated."""
    place = write.history.place
    for entry in write.entries:
        if isinstance(entry, Link) and write.history.pair(entry) in state.rejected_links:
            yield f"the link {entry.old} -> {entry.new} is rejected, and stays so until somebody reinstates it"
        elif isinstance(entry, Ending) and not state.endings[place[entry.id]][entry]:
            yield f"the ending of {entry.id} does not count: a rejection of the same clock wins"
        elif isinstance(entry, Review) and entry.verdict == "reinstates" and _is_rejected(write.history, state, entry):
            yield f"{entry.target} stays rejected: a rejection of the same clock wins"


def _is_rejected(history: History, state: State, review: Review) -> bool:
    target = review.target
    if target.new is not None:
        return history.pair(target) in state.rejected_links
    if target.ending:
        return not any(state.endings[history.place[target.id]].values())
    return target.id in state.rejected


def _verdicts(write: Write) -> list[Review]:
    """The verdicts on items."""
    return [e for e in write.entries if isinstance(e, Review) and e.target.on_item]


def _until(write: Write, closed: Iterable[str]) -> Iterator[Until]:
    """Of the items that hold at the session's clock, those that have an end to come."""
    successors: dict[str, list[Item]] = {}
    for link in (e for e in write.entries if isinstance(e, Link)):
        successors.setdefault(link.old, []).append(write.history.items[link.new])
    for id in closed:
        ahead = [i for i in sorted(_open(write.after[id]), key=lambda i: i[0]) if i[1] is None or i[1] > write.at]
        if not ahead or ahead[0][0] > write.at or (end := ahead[0][1]) is None:
            continue
        takes_over = [item.id for item in successors.get(id, ()) if item.valid_from == end]
        yield Until(id, takes_over[0] if takes_over else None, end, ahead[1][0] if len(ahead) > 1 else None)
