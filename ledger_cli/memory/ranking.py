"""Which items answer a question best: by words, by the entities it names, by meaning; fused by reciprocal rank.

Everything is computed over the candidates given, how rare a word is among them included: what is not among them has no
influence on a score. The order is total, so the same question of the same candidates has the same answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ledger_cli.memory import words
from ledger_cli.model import Item

K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009)."""

WEIGHTS = {"words": 1.0, "entities": 1.0, "meaning": 1.0}
"""How much each ranking counts; measured in bench/, see there."""


class Ranked(NamedTuple):
    """An item, its fused score, and its cosine to the question where vectors are on."""

    item: Item
    score: float
    similarity: float | None


def ranked(question: str, items: Sequence[Item], similarity: Mapping[str, float] | None = None) -> list[Ranked]:
    """The items that answer a question in any of the ways, best first, ties by id.

    `similarity` is each item's cosine to the question, by id; None where vectors are off.
    """
    asked = words.words(question)
    rankings = {
        "words": words.bm25(asked, [Counter(words.words(told(item))) for item in items]),
        "entities": _by_entities(asked, items),
    }
    if similarity is not None:
        rankings["meaning"] = [similarity.get(item.id, 0.0) for item in items]
    scores = fused({name: _order(items, scores) for name, scores in rankings.items()})
    near = similarity or {}
    found = [Ranked(item, scores[n], near.get(item.id)) for n, item in enumerate(items) if n in scores]
    return sorted(found, key=lambda r: (-r.score, r.item.id))


def told(item: Item) -> str:
    """What of an item a question is held against: text, rationale and the names of its entities."""
    return "\n".join((item.text, item.rationale or "", *item.about))


def fused(rankings: Mapping[str, Sequence[int]]) -> dict[int, float]:
    """What stands in any of the rankings, with the sum of weight / (K + rank), ranks from 1."""
    scores: dict[int, float] = {}
    for name, order in rankings.items():
        for rank, n in enumerate(order, 1):
            scores[n] = scores.get(n, 0.0) + WEIGHTS[name] / (K + rank)
    return scores


def _order(items: Sequence[Item], scores: Sequence[float]) -> list[int]:
    """Those with a score, best first, ties by id."""
    return sorted((n for n, score in enumerate(scores) if score > 0), key=lambda n: (-scores[n], items[n].id))


def _by_entities(asked: Iterable[str], items: Sequence[Item]) -> list[float]:
    """How much of the name of one of its entities the question holds, the rarer the words the more."""
    names = sorted({name for item in items for name in item.about})
    bags = {name: Counter(words.words(name)) for name in names}
    scores = dict(zip(names, words.bm25(asked, list(bags.values())), strict=True))
    return [max((scores[name] for name in item.about), default=0.0) for item in items]
