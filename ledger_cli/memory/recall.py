"""What the memory holds on a question: one document, of what holds at a moment, as known at a moment.

Where the question names an entity: what holds about it, each with its evidence and all that it replaced; what no longer
holds; and what holds about the entities beside it. Where it names none: the items that answer it best.

Nothing that was recorded after `known` has any part in it, and nothing that does not hold at `valid` is told as true:
the candidates are filtered before anything is counted or ranked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ledger_cli import holds
from ledger_cli.history import History, State, state_at
from ledger_cli.holds import Row
from ledger_cli.instant import LAST, utc
from ledger_cli.ledger import Ledger
from ledger_cli.memory import ranking
from ledger_cli.memory.embedding import Embedder, cosine
from ledger_cli.memory.named import named_in
from ledger_cli.model import Episode, Item, Stretch, entity_key
from ledger_cli.store.graph import Graph


@dataclass(frozen=True)
class Memory:
    """An item that holds, with what it rests on and what it replaced.

    `replaced` is the whole chain, the latest start first. `score` is its fused rank; `similarity` its cosine to the
    question where vectors are on.
    """

    row: Row
    evidence: tuple[Episode, ...]
    replaced: tuple[Item, ...]
    score: float
    similarity: float | None = None


@dataclass(frozen=True)
class Nearby:
    """A fact about an entity (`via`) that shares an item with the one named."""

    via: str
    row: Row


@dataclass(frozen=True)
class Recalled:
    """What is known on a question.

    With an entity named: `facts` and `decisions` about it, and `history`, what no longer holds of it, all by the start
    of their validity; `nearby` by the entity between, then text. (A decision that one of `decisions` replaced stands
    with that one.) With none named: `items`, best first. `left_out` counts what `limit` and `budget` cut off.
    """

    question: str
    valid_at: datetime
    known_at: datetime | None
    entity: str | None = None
    kind: str | None = None
    facts: tuple[Memory, ...] = ()
    decisions: tuple[Memory, ...] = ()
    history: tuple[Row, ...] = ()
    nearby: tuple[Nearby, ...] = ()
    items: tuple[Memory, ...] = ()
    left_out: int = 0


def recall(
    ledger: Ledger,
    question: str,
    *,
    valid: datetime | None = None,
    known: datetime | None = None,
    limit: int = 10,
    budget: int | None = None,
    embedder: Embedder | None = None,
) -> Recalled:
    """What the ledger holds on a question.

    `valid` is the day asked about (left out: `known`, or now), `known` the state of knowledge asked (left out: all that
    is known now). `limit` bounds the items, `history` and `nearby`, each; `budget` the characters of all texts.
    """
    known = utc(known) if known is not None else None
    valid = utc(valid) if valid is not None else known or ledger.clock()
    asked = _Asked(ledger.database.read(), question, valid, known or LAST, embedder)
    found = Recalled(question, valid, known)
    entities = asked.graph.entities_known(asked.known)
    for key in named_in(question, entities):
        if about := [item for item in asked.graph.about(key) if item.recorded_at <= asked.known]:
            name, kind = entities[key]
            return _within(_about(asked, replace(found, entity=name, kind=kind), key, about, limit), budget)
    best = asked.ranked(asked.graph.holding(None, valid, asked.known))
    left_out = max(0, len(best) - limit)
    return _within(replace(found, items=asked.memories(best[:limit]), left_out=left_out), budget)


class _Asked:
    """A question at a moment, and what it takes to answer it."""

    def __init__(
        self, graph: Graph, question: str, valid: datetime, known: datetime, embedder: Embedder | None
    ) -> None:
        self.graph, self.question, self.valid, self.known, self.embedder = graph, question, valid, known, embedder

    def ranked(self, items: Sequence[Item]) -> list[ranking.Ranked]:
        return ranking.ranked(self.question, items, self._similarity(items))

    def _similarity(self, items: Sequence[Item]) -> dict[str, float] | None:
        if self.embedder is None or not items or not self.question.strip():
            return None
        [asked] = self.embedder.embed([self.question])
        vectors = self.embedder.embed([item.text for item in items])
        return {item.id: cosine(asked, vector) for item, vector in zip(items, vectors, strict=True)}

    def rows(self, items: Sequence[Item]) -> list[Row]:
        stretches = self.graph.stretches([item.id for item in items])
        return [self.row(item, stretches[item.id]) for item in items]

    def row(self, item: Item, stretches: Sequence[Stretch]) -> Row:
        return Row(item, holds.shown(item, stretches, self.known))

    def memories(self, found: Sequence[ranking.Ranked], past: _Past | None = None) -> tuple[Memory, ...]:
        items = [r.item for r in found]
        past = past or self.past(items)
        episodes = self.graph.episodes({id for item in items for id in item.evidence})
        return tuple(
            Memory(
                row,
                tuple(e for id in r.item.evidence if (e := episodes.get(id)) is not None),
                past.replaced(r.item),
                r.score,
                r.similarity,
            )
            for row, r in zip(self.rows(items), found, strict=True)
        )

    def past(self, items: Iterable[Item]) -> _Past:
        """What came before these items, with nothing that was recorded after `known`."""
        entries = self.graph.component([item.id for item in items])
        return _Past(state_at(History(e for e in entries if e.recorded_at <= self.known)))


@dataclass(frozen=True)
class _Past:
    state: State

    def replaced(self, item: Item) -> tuple[Item, ...]:
        """All that an item replaced over live links, the version in force of each; the latest start first."""
        place = self.state.history.place[item.id]
        before = self.state.reach(place, links=self.state.before) - {place}
        return tuple(sorted((v for p in before for v in self.state.in_force(p)), key=_since, reverse=True))

    def corrected(self, item: Item) -> bool:
        """Does a later version stand in its place?"""
        return self.state.live_correction(item.id) is not None


def _since(item: Item) -> tuple[datetime, datetime, str, str]:
    return item.valid_from, item.recorded_at, item.text, item.id


def _about(asked: _Asked, found: Recalled, key: str, about: Sequence[Item], limit: int) -> Recalled:
    """What is known of the entity `key`; `about` are all items about it that are known."""
    stretches = asked.graph.stretches([item.id for item in about])
    holding = [i for i in about if any(_covers(s, asked.valid, asked.known) for s in stretches[i.id])]
    current = {item.id for item in holding}
    past = asked.past(about)
    behind = {v.id for item in holding if item.kind == "decision" for v in past.replaced(item)}
    gone = [
        item
        for item in about
        if item.id not in current
        and not (item.kind == "decision" and item.id in behind)
        and not past.corrected(item)
        and any(s.known_from <= asked.known and s.valid_from <= asked.valid for s in stretches[item.id])
    ]
    best = asked.ranked(holding)
    scored = {r.item.id for r in best}
    best += [ranking.Ranked(item, 0.0, None) for item in sorted(holding, key=_since) if item.id not in scored]
    memories = sorted(asked.memories(best[:limit], past), key=lambda m: _since(m.row.item))
    history = [asked.row(item, stretches[item.id]) for item in sorted(gone, key=_since, reverse=True)]
    nearby = _nearby(asked, key, holding)
    return replace(
        found,
        facts=tuple(m for m in memories if m.row.item.kind == "fact"),
        decisions=tuple(m for m in memories if m.row.item.kind == "decision"),
        history=tuple(reversed(history[:limit])),
        nearby=nearby[:limit],
        left_out=sum(max(0, len(rows) - limit) for rows in (holding, history, nearby)),
    )


def _covers(s: Stretch, valid: datetime, known: datetime) -> bool:
    return (
        s.valid_from <= valid
        and (s.valid_to is None or valid < s.valid_to)
        and s.known_from <= known
        and (s.known_to is None or known < s.known_to)
    )


def _nearby(asked: _Asked, key: str, holding: Sequence[Item]) -> tuple[Nearby, ...]:
    """Facts that hold about an entity that shares a holding item with the named one, and not about that one itself."""
    beside = {entity_key(name): name for item in holding for name in item.about}
    beside.pop(key, None)
    names = asked.graph.entities(beside)
    found = [
        (names[via][0], item)
        for via, items in asked.graph.holding_about(beside, asked.valid, asked.known).items()
        for item in items
        if item.kind == "fact" and key not in map(entity_key, item.about)
    ]
    found.sort(key=lambda f: (f[0], f[1].text, f[1].id))
    rows = asked.rows([item for _, item in found])
    return tuple(Nearby(via, row) for (via, _), row in zip(found, rows, strict=True))


def _within(found: Recalled, budget: int | None) -> Recalled:
    """The document without what does not fit: best first, whole items; one that does not fit is counted, not cut.

    In this order: what holds, best first; what holds nearby; what no longer holds, the latest first.
    """
    if budget is None:
        return found
    left = budget
    kept: set[int] = set()
    dropped = 0
    best = sorted((*found.facts, *found.decisions, *found.items), key=lambda m: (-m.score, m.row.item.id))
    parts: list[Memory | Nearby | Row] = [*best, *found.nearby, *reversed(found.history)]
    for part in parts:
        size = _size(part)
        if size <= left:
            left -= size
            kept.add(id(part))
        else:
            dropped += 1
    return replace(
        found,
        facts=tuple(m for m in found.facts if id(m) in kept),
        decisions=tuple(m for m in found.decisions if id(m) in kept),
        items=tuple(m for m in found.items if id(m) in kept),
        nearby=tuple(n for n in found.nearby if id(n) in kept),
        history=tuple(r for r in found.history if id(r) in kept),
        left_out=found.left_out + dropped,
    )


def _size(part: Memory | Nearby | Row) -> int:
    """How many characters of text a part of the document has."""
    item = part.item if isinstance(part, Row) else part.row.item
    size = len(item.text) + len(item.rationale or "")
    if isinstance(part, Memory):
        size += sum(len(e.text) for e in part.evidence) + sum(len(i.text) for i in part.replaced)
    return size
