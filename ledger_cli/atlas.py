"""The whole ledger at once, indexed for pages: what a site is made of. Nothing in it is computed anew."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from ledger_cli.answers import SessionRow, SlotRow
from ledger_cli.chains import Dossier, Entanglement, dossier
from ledger_cli.instant import days_late
from ledger_cli.model import Episode, entity_key
from ledger_cli.timeline import Line, Timeline


class Named(NamedTuple):
    """An entity as it is shown, with its kind (None: only named so far)."""

    key: str
    name: str
    kind: str | None


class Late(NamedTuple):
    """How many items were learned so many days late, from `least` to `most` (None: no bound); negative = planned."""

    least: int | None
    most: int | None
    items: int


_BOUNDS = (-90, -30, -7, 0, 1, 8, 31, 91, 366)  # where a group of days begins


@dataclass(frozen=True)
class Atlas:
    """All lines of the ledger, its entities, slots and sessions, as known at `timeline.now`."""

    entanglement: Entanglement
    timeline: Timeline
    entities: Sequence[Named]  # by name
    slots: Sequence[SlotRow]
    sessions: Sequence[SessionRow]  # by clock
    episodes: Mapping[str, Episode]

    @cached_property
    def about(self) -> Mapping[str, Sequence[Line]]:
        """The lines about each entity, by its key, in the order of the timeline."""
        found: dict[str, list[Line]] = defaultdict(list)
        for line in self.timeline.lines:
            for key in {entity_key(name) for name in line.item.about}:
                found[key].append(line)
        return found

    @cached_property
    def chains(self) -> Mapping[int, Sequence[Line]]:
        """The lines that hang together, by their number."""
        return {chain[0].chain: chain for chain in self.timeline.chains()}

    @cached_property
    def latest(self) -> SessionRow | None:
        """The session of the latest record; None in an empty ledger."""
        return max(self.sessions, key=lambda s: (s.at, s.id), default=None)

    def dossier(self, line: Line) -> Dossier:
        """All that is recorded of a line's item."""
        evidence = [self.episodes[id] for id in line.item.evidence if id in self.episodes]
        return dossier(self.entanglement, line.item, evidence)

    def lateness(self) -> list[Late]:
        """How many items were learned how late, in groups of days from planned ahead to most late."""
        days = [days_late(line.item.valid_from, line.item.recorded_at) for line in self.timeline.lines]
        bounds = [None, *_BOUNDS, None]
        found = []
        for least, following in pairwise(bounds):
            inside = sum((least is None or least <= d) and (following is None or d < following) for d in days)
            found.append(Late(least, None if following is None else following - 1, inside))
        return found
