"""What a ledger holds, kept ready between questions for as long as nothing is written."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from threading import Lock
from weakref import WeakKeyDictionary

from ledger_cli.database import Database, Seen
from ledger_cli.instant import LAST
from ledger_cli.memory.embedding import Embedder
from ledger_cli.memory.ranking import Candidates, Text
from ledger_cli.memory.vectors import Vectors
from ledger_cli.model import Item, Stretch
from ledger_cli.store.graph import Graph, Words

_Span = tuple[datetime, datetime | None, datetime, datetime | None, int]


class Corpus:
    """One state of a ledger. What is costly is made when it is first asked for."""

    def __init__(self, database: Database, graph: Graph) -> None:
        self.graph = graph
        self._folder, self._say = database.generations.folder, database.say
        self._vectors: Vectors | None = None
        self._texts: dict[str, Text] = {}
        self._last: tuple[set[int], Candidates] = (set(), Candidates(()))

    def vectors(self, embedder: Embedder) -> Vectors:
        """The vectors of a model, in this ledger's store."""
        if self._vectors is None or self._vectors.embedder is not embedder:
            self._vectors = Vectors(self._folder, embedder, self._say)
        return self._vectors

    def text(self, item: Item | Words) -> Text:
        """What an item is found by, the same object each time: its words are counted once."""
        if (text := self._texts.get(item.id)) is None:
            text = self._texts[item.id] = Text(item.id, item.text, item.rationale, item.about)
        return text

    @cached_property
    def _held(self) -> tuple[list[Text], list[_Span], list[_Span], datetime]:
        """The texts by id; all stretches flat, each with the number of its text; of them those that are known now; and
        the last moment at which anything was learned.
        """
        texts: list[Text] = []
        spans: list[_Span] = []
        for n, (words, stretches) in enumerate(self.graph.held()):
            texts.append(self.text(words))
            spans += [(s.valid_from, s.valid_to, s.known_from, s.known_to, n) for s in stretches]
        times = [at for _, _, *known, _ in spans for at in known if isinstance(at, datetime)]
        return texts, spans, [span for span in spans if span[3] is None], max(times, default=LAST)

    def holding(self, valid: datetime, known: datetime) -> Candidates:
        """What holds at `valid`, as known at `known`.

        The same object, where the same held at the moment that was asked of last.
        """
        texts, spans, known_now, newest = self._held
        holding = {
            n
            for valid_from, valid_to, known_from, known_to, n in (known_now if known >= newest else spans)
            if valid_from <= valid
            and (valid_to is None or valid < valid_to)
            and known_from <= known
            and (known_to is None or known < known_to)
        }
        numbers, candidates = self._last
        if numbers != holding:
            candidates = Candidates(texts[n] for n in holding)
            self._last = holding, candidates
        return candidates


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
