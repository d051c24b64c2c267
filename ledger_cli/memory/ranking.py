"""Which items answer a question best: by words, by the entities it names, by meaning; fused by reciprocal rank.

Everything is computed over the candidates given, how rare a word is among them included: what is not among them has no
influence on a score. The order is total, so the same question of the same candidates has the same answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from ledger_cli.memory import words

K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009)."""

WEIGHTS = {"words": 1.0, "entities": 1.0, "meaning": 2.0}
"""How much each ranking counts; measured in bench/, see there."""

DIGITS = 6
"""Two cosines that are equal to so many digits are one: a machine's arithmetic is not to decide an order."""


class Text:
    """An item as it is found: its id, the names of its entities, and its words."""

    def __init__(
        self, id: str, text: str, rationale: str | None, about: Sequence[str], slot: str | None = None
    ) -> None:
        self.id, self.text, self.about, self.slot = id, text, tuple(about), slot
        self.meaning = f"{text}\n{rationale}" if rationale else text
        """What is made a vector of."""

    @cached_property
    def words(self) -> Counter[str]:
        """The words of text, rationale, entities and slot, each with how often; those of the text count twice."""
        return Counter(words.words("\n".join((self.text, self.meaning, *self.about, self.slot or ""))))


class Ranked(NamedTuple):
    """An item, its fused score, and its cosine to the question where vectors are on."""

    id: str
    score: float
    similarity: float | None


class Candidates:
    """The items that an answer is chosen from."""

    def __init__(self, texts: Iterable[Text]) -> None:
        self.texts = sorted(texts, key=lambda text: text.id)

    @cached_property
    def _words(self) -> words.Index:
        return words.Index(text.words for text in self.texts)

    @cached_property
    def _about(self) -> dict[str, list[int]]:
        """The names of entities, each with the numbers of the texts that are about it."""
        found: dict[str, list[int]] = {}
        for n, text in enumerate(self.texts):
            for name in text.about:
                found.setdefault(name, []).append(n)
        return found

    @cached_property
    def _names(self) -> words.Index:
        return words.Index(Counter(words.words(name)) for name in self._about)

    def ranked(self, question: str, cosines: Sequence[float] | None = None) -> list[Ranked]:
        """The items that answer a question in any of the ways, best first, ties by id.

        `cosines` are those of the question to each of the texts, in their order; None where vectors are off.
        """
        asked = words.asked(question)
        rankings = {"words": self._words.scores(asked), "entities": self._by_entities(asked)}
        near = None if cosines is None else [round(cosine, DIGITS) for cosine in cosines]
        if near is not None:
            rankings["meaning"] = {n: cosine for n, cosine in enumerate(near) if cosine > 0}
        scores = _fused(rankings)
        found = [(-score, n) for n, score in scores.items()]  # the texts are in the order of their ids
        return [Ranked(self.texts[n].id, -score, near[n] if near is not None else None) for score, n in sorted(found)]

    def _by_entities(self, asked: Iterable[str]) -> dict[int, float]:
        """How well the question names one of an item's entities, or a part of its name; rare words count more."""
        about = list(self._about.values())
        found: dict[int, float] = {}
        for name, score in self._names.scores(asked).items():
            for n in about[name]:
                found[n] = max(score, found.get(n, 0.0))
        return found


def _fused(rankings: Mapping[str, Mapping[int, float]]) -> dict[int, float]:
    """What stands in any of the rankings, with the sum of weight / (K + rank); ranks from 1, equal scores one rank.

    (All items about an entity have one score there: ranks by id would make some of them better than others.)
    """
    scores: dict[int, float] = {}
    for name, ranking in rankings.items():
        rank, last = 0, float("nan")
        for place, n in enumerate(sorted(ranking, key=lambda n: (-ranking[n], n)), 1):
            if ranking[n] != last:
                rank, last = place, ranking[n]
            scores[n] = scores.get(n, 0.0) + WEIGHTS[name] / (K + rank)
    return scores
