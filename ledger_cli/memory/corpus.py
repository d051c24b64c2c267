"""What a ledger holds, kept ready between questions for as long as nothing is written."""

from __future__ import annotations

from bisect import bisect_right
from datetime import datetime
from functools import cached_property
from threading import Lock
from typing import NamedTuple
from weakref import WeakKeyDictionary

from ledger_cli.database import Database, Seen
from ledger_cli.memory.embedding import Embedder
from ledger_cli.memory.ranking import Candidates, Text
from ledger_cli.memory.vectors import Vectors
from ledger_cli.model import Item, Stretch
from ledger_cli.store.graph import Graph, Words

_Span = tuple[datetime, datetime | None, datetime, datetime | None, int]
_CELLS = 4
"""Of how many moments the candidates are kept: agents ask of now, and of the few others that they were told of."""


class _Held(NamedTuple):
    """The texts by id; all stretches flat, each with the number of its text; and where those begin and end."""

    texts: list[Text]
    spans: list[_Span]
    valid_edges: list[datetime]
    known_edges: list[datetime]


class Corpus:
    """One state of a ledger. What is costly is made when it is first asked for."""

    def __init__(self, database: Database, graph: Graph) -> None:
        self.graph = graph
        self._folder, self._say = database.generations.folder, database.say
        self._vectors: Vectors | None = None
        self._texts: dict[str, Text] = {}
        self._cells: dict[tuple[int, int], Candidates] = {}

    def vectors(self, embedder: Embedder) -> Vectors:
        """The vectors of a model, in this ledger's store."""
        if self._vectors is None or self._vectors.embedder is not embedder:
            self._vectors = Vectors(self._folder, embedder, self._say)
        return self._vectors

    def text(self, item: Item | Words) -> Text:
        """What an item is found by, the same object each time: its words are counted once."""
        if (text := self._texts.get(item.id)) is None:
            text = self._texts[item.id] = Text(item.id, item.text, item.rationale, item.about, item.slot)
        return text

    @cached_property
    def _held(self) -> _Held:
        texts: list[Text] = []
        spans: list[_Span] = []
        for n, (words, stretches) in enumerate(self.graph.held()):
            texts.append(self.text(words))
            spans += [(s.valid_from, s.valid_to, s.known_from, s.known_to, n) for s in stretches]
        valid_edges = {at for span in spans for at in span[:2] if at is not None}
        known_edges = {at for span in spans for at in span[2:4] if at is not None}
        return _Held(texts, spans, sorted(valid_edges), sorted(known_edges))

    def holding(self, valid: datetime, known: datetime) -> Candidates:
        """What holds at `valid`, as known at `known`.

        Between two edges of stretches nothing changes: of two moments there it is the same object.
        """
        held = self._held
        cell = bisect_right(held.valid_edges, valid), bisect_right(held.known_edges, known)
        if (found := self._cells.get(cell)) is None:
            holding = {
                n
                for valid_from, valid_to, known_from, known_to, n in held.spans
                if valid_from <= valid
                and known_from <= known
                and (valid_to is None or valid < valid_to)
                and (known_to is None or known < known_to)
            }
            found = Candidates(held.texts[n] for n in holding)
            self._cells = {**dict(list(self._cells.items())[-_CELLS + 1 :]), cell: found}
        return found


def covers(s: Stretch, valid: datetime, known: datetime) -> bool:
    """Does an item hold, by this stretch, at `valid`, as known at `known`? Both axes are half-open."""
    return (
        s.valid_from <= valid
        and (s.valid_to is None or valid < s.valid_to)
        and s.known_from <= known
        and (s.known_to is None or known < s.known_to)
    )


_kept: WeakKeyDictionary[Database, tuple[Seen, Corpus]] = WeakKeyDictionary()
_keeping = Lock()


def of(database: Database) -> Corpus:
    """The current state of a database; the same object as long as nothing is written."""
    with _keeping:
        seen, corpus = _kept.get(database, (None, None))
        now = database.reread(seen)
        if corpus is None or now is not seen:
            corpus = Corpus(database, now.graph)
            _kept[database] = now, corpus
        return corpus
