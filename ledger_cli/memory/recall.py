"""What the memory holds on a question: one document, of what holds at a moment, as known at a moment.

Where the question names an entity: what holds about it, each with its evidence and all that it replaced; what no longer
holds; and what holds about the entities beside it. Where it names none: the items that answer it best.

Nothing that was recorded after `known` has any part in it, and nothing that does not hold at `valid` is told as true:
the candidates are filtered before anything is counted or ranked.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ledger_cli import holds
from ledger_cli.history import History, State, state_at
from ledger_cli.holds import Row
from ledger_cli.instant import LAST, utc
from ledger_cli.ledger import Ledger
from ledger_cli.memory import corpus
from ledger_cli.memory.corpus import Corpus, covers
from ledger_cli.memory.embedding import Embedder
from ledger_cli.memory.named import named_in
from ledger_cli.memory.ranking import Candidates, Ranked
from ledger_cli.memory.vectors import Progress, silent
from ledger_cli.memory.words import asked
from ledger_cli.model import Episode, Item, Review, Stretch, entity_key


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
class Past:
    """An item that holds no more, or was told and never held; the verdict, where one rejected it."""

    row: Row
    rejection: Review | None = None


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
    history: tuple[Past, ...] = ()
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
    progress: Progress = silent,
) -> Recalled:
    """What the ledger holds on a question.

    `valid` is the day asked about (left out: `known`, or now), `known` the state of knowledge asked (left out: all that
    is known now). `limit` bounds the items, `history` and `nearby`, each; `budget` the characters of all texts.
    `embedder` ranks by meaning too; `progress` shows how far it is with vectors that are not there yet. Raises
    LedgerError where the embedder cannot be asked.
    """
    question = question.encode(errors="replace").decode()  # half a character is none: JSON may bring it
    known = utc(known) if known is not None else None
    valid = utc(valid) if valid is not None else known or ledger.clock()
    ask = _Asked(corpus.of(ledger.database), question, valid, known or LAST, embedder, progress)
    found = Recalled(question, valid, known)
    entities = ask.graph.entities_known(ask.known)
    for key in named_in(question, entities):
        if about := [item for item in ask.graph.about(key) if item.recorded_at <= ask.known]:
            name, kind = entities[key]
            return _within(_about(ask, replace(found, entity=name, kind=kind), key, about, limit), budget)
    best = ask.ranked(ask.corpus.holding(valid, ask.known))
    left_out = max(0, len(best) - limit)
    return _within(replace(found, items=ask.memories(best[:limit]), left_out=left_out), budget)


class _Asked:
    """A question at a moment, and what it takes to answer it."""

    def __init__(
        self,
        corpus: Corpus,
        question: str,
        valid: datetime,
        known: datetime,
        embedder: Embedder | None,
        progress: Progress,
    ) -> None:
        self.corpus, self.graph = corpus, corpus.graph
        self.question, self.valid, self.known = question, valid, known
        self.embedder, self.progress = embedder, progress

    def ranked(self, candidates: Candidates) -> list[Ranked]:
        """The candidates that answer the question, best first; by meaning too, where vectors are on."""
        if self.embedder is None or not candidates.texts or not self.question.strip():
            return candidates.ranked(self.question)
        vectors = self.corpus.vectors(self.embedder)
        return candidates.ranked(self.question, vectors.cosines(self.question, candidates.texts, self.progress))

    def rows(self, items: Sequence[Item]) -> list[Row]:
        stretches = self.graph.stretches([item.id for item in items])
        return [self.row(item, stretches[item.id]) for item in items]

    def row(self, item: Item, stretches: Sequence[Stretch]) -> Row:
        return Row(item, holds.shown(item, stretches, self.known))

    def memories(self, found: Sequence[Ranked], past: _Past | None = None) -> tuple[Memory, ...]:
        """The items with what they rest on and what they replaced, in the order given."""
        items = self.graph.items(r.id for r in found)
        past = past or self.past(items)
        episodes = self.graph.episodes({id for item in items.values() for id in item.evidence})
        rows = self.rows([items[r.id] for r in found])
        return tuple(
            Memory(
                row,
                tuple(episodes[id] for id in row.item.evidence if id in episodes),
                past.replaced(row.item),
                r.score,
                r.similarity,
            )
            for row, r in zip(rows, found, strict=True)
        )

    def past(self, ids: Iterable[str]) -> _Past:
        """What came before these items, with nothing that was recorded after `known`."""
        entries = self.graph.component(ids)
        return _Past(state_at(History(e for e in entries if e.recorded_at <= self.known)))


@dataclass(frozen=True)
class _Past:
    state: State

    def replaced(self, item: Item) -> tuple[Item, ...]:
        """All that an item replaced over live links, the version in force of each; the latest start first."""
        place = self.state.history.place[item.id]
        before = self.state.reach(place, links=self.state.before) - {place}
        return tuple(sorted((v for p in before for v in self.state.in_force(p)), key=_since, reverse=True))

    def place(self, item: Item) -> str | None:
        """The place of an item; None where nothing that is looked at has to do with it."""
        return self.state.history.place.get(item.id)

    def leads(self, item: Item, places: Container[str | None]) -> bool:
        """Did any of the places replace the item, over live links?"""
        return any(place in places for place in self.state.reach(self.state.history.place[item.id]))

    def rejection(self, item: Item) -> Review | None:
        """The verdict that counts against an item, the last of them."""
        its = [r for r in self.state.history.reviews if r.target.on_item and r.target.id == item.id]
        return (
            max(its, key=lambda r: (r.recorded_at, r.verdict == "rejects")) if item.id in self.state.rejected else None
        )

    def corrected(self, item: Item) -> bool:
        """Does a later version stand in its place?"""
        return self.state.live_correction(item.id) is not None


def _since(item: Item) -> tuple[datetime, datetime, str, str]:
    return item.valid_from, item.recorded_at, item.text, item.id


def _about(ask: _Asked, found: Recalled, key: str, about: Sequence[Item], limit: int) -> Recalled:
    """What is known of the entity `key`; `about` are all items about it that are known."""
    stretches = ask.graph.stretches([item.id for item in about])
    holding = [i for i in about if any(covers(s, ask.valid, ask.known) for s in stretches[i.id])]
    best = ask.ranked(Candidates(map(ask.corpus.text, holding)))
    scored = {r.id for r in best}
    best += [Ranked(i.id, 0.0, None) for i in sorted(holding, key=_since, reverse=True) if i.id not in scored]
    current = {item.id for item in holding}
    once = [  # held, as somebody knew; a plan that is still to come did not
        item
        for item in about
        if item.id not in current
        and any(s.known_from <= ask.known and s.valid_from <= ask.valid for s in stretches[item.id])
    ]
    past = ask.past([item.id for item in once] + [r.id for r in best[:limit]])
    decided = {past.place(item) for item in holding if item.kind == "decision"}
    gone = [item for item in once if not past.corrected(item) and not past.leads(item, decided)]
    memories = sorted(ask.memories(best[:limit], past), key=lambda m: _since(m.row.item))
    told = sorted(gone, key=_since)[max(0, len(gone) - limit) :]
    history = [Past(ask.row(item, stretches[item.id]), past.rejection(item)) for item in told]
    nearby, beside = _nearby(ask, key, holding, limit)
    return replace(
        found,
        facts=tuple(m for m in memories if m.row.item.kind == "fact"),
        decisions=tuple(m for m in memories if m.row.item.kind == "decision"),
        history=tuple(history),
        nearby=nearby,
        left_out=sum(max(0, n - limit) for n in (len(holding), len(gone), beside)),
    )


def _nearby(ask: _Asked, key: str, holding: Sequence[Item], limit: int) -> tuple[tuple[Nearby, ...], int]:
    """Facts that hold about an entity that shares a holding item with the named one, and not about that one itself.

    At the most `limit` of them, those with most of the question's words, and how many there are.
    """
    beside = {entity_key(name) for item in holding for name in item.about} - {key}
    found = [
        (via, words)
        for via, words in ask.graph.facts_beside(sorted(beside), ask.valid, ask.known)
        if key not in map(entity_key, words.about)
    ]
    if len(found) > limit:  # no ranking: there may be thousands beside an entity that much is about
        said = set(asked(ask.question))
        shared = {words.id: len(said & ask.corpus.text(words).words.keys()) for _, words in found}
        found.sort(key=lambda f: (-shared[f[1].id], f[0], f[1].text, f[1].id))
    chosen = sorted(found[:limit], key=lambda f: (f[0], f[1].text, f[1].id))
    items = ask.graph.items({words.id for _, words in chosen})
    rows = {row.item.id: row for row in ask.rows(list(items.values()))}
    return tuple(Nearby(via, rows[words.id]) for via, words in chosen), len(found)


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
    parts: list[Memory | Nearby | Past] = [*best, *found.nearby, *reversed(found.history)]
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
        history=tuple(p for p in found.history if id(p) in kept),
        left_out=found.left_out + dropped,
    )


def _size(part: Memory | Nearby | Past) -> int:
    """How many characters of text a part of the document has."""
    item = part.row.item
    memory = part if isinstance(part, Memory) else None
    items = (item, *memory.replaced) if memory else (item,)
    evidence = memory.evidence if memory else ()
    return sum(len(i.text) + len(i.rationale or "") for i in items) + sum(len(e.text) for e in evidence)
