"""What a session meets in the ledger, and what it comes to: the two sides of `rules.resolve`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ledger_cli.history import History
from ledger_cli.model import Entry, Episode, Kind, Stretch, canonical_name, entity_key
from ledger_cli.stated import Session


@dataclass(frozen=True)
class Known:
    """What the ledger knows that a session may meet.

    `history` holds all items the session names or whose ids it takes, all items of its slots, and all that is
    connected to any of them; `episodes` and `kinds` (key -> name, kind) those it names; `session` what is recorded
    under its id; `newest` the newest record time of the whole ledger.
    """

    history: History
    episodes: Mapping[str, Episode] = field(default_factory=dict)
    kinds: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)
    session: Sequence[Entry] = ()
    newest: datetime | None = None


@dataclass(frozen=True)
class Write:
    """What a session came to: the entries to record, and what the items around them come to.

    `before` and `after` hold the stretches of every item of the history, without and with the session.
    """

    session: str
    at: datetime
    entries: tuple[Entry, ...]
    history: History
    before: Mapping[str, Sequence[Stretch]]
    after: Mapping[str, Sequence[Stretch]]

    @property
    def changed(self) -> dict[str, Sequence[Stretch]]:
        """The stretches of every item for which they are new or other than before."""
        return {id: now for id, now in self.after.items() if now != self.before.get(id)}


@dataclass(frozen=True)
class Named:
    """What of the ledger a session names, so that its caller can fetch it."""

    items: frozenset[str]
    slots: frozenset[tuple[Kind, str]]
    episodes: frozenset[str]
    entities: frozenset[str]


def named(session: Session) -> Named:
    """The ids, slots and entity keys that a session names or takes."""
    items: set[str] = set()
    for stated in session.items:
        items |= {stated.id, *stated.supersedes, *([stated.corrects] if stated.corrects else [])}
    for link in session.supersessions:
        items |= {link.old, link.new}
    items.update(ending.id for ending in session.endings)
    for review in session.reviews:
        items |= {review.target.id, *([review.target.new] if review.target.new else [])}
    names = [n for i in session.items for n in i.about or ()] + [n for e in session.episodes for n in e.mentions]
    return Named(
        items=frozenset(items),
        slots=frozenset((i.kind, canonical_name(i.slot)) for i in session.items if i.slot is not None),
        episodes=frozenset([e.id for e in session.episodes] + [e for i in session.items for e in i.evidence]),
        entities=frozenset(entity_key(n) for n in [*names, *(e.name for e in session.entities)]),
    )
