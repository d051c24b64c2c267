"""Are two texts, or two names, the same? Exactly, or by the vectors of a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ledger_cli.memory.embedding import Embedder, cosine
from ledger_cli.model import entity_key

SAME_ENTITY, SAME_TEXT = 0.88, 0.95
"""From which cosine on two names are one entity, and two statements one."""


def text_key(text: str) -> str:
    """What makes two statements the same text: as for names, white space and case aside."""
    return entity_key(text)


def keys(names: Iterable[str]) -> frozenset[str]:
    """The keys of entities."""
    return frozenset(entity_key(name) for name in names)


@dataclass
class Vectors:
    """The vectors of texts, each computed once; without an embedder, no two texts are near each other."""

    embedder: Embedder | None
    _known: dict[str, Sequence[float]] = field(default_factory=dict)

    def learn(self, texts: Iterable[str]) -> None:
        """Compute the vectors of these texts, in one go. Raises LedgerError where the model cannot be asked."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if self.embedder is not None and new:
            self._known.update(zip(new, self.embedder.embed(new), strict=True))

    def cosine(self, one: str, other: str) -> float:
        """How near two texts are, -1 to 1; 0 where their vectors were not learned."""
        if one in self._known and other in self._known:
            return cosine(self._known[one], self._known[other])
        return 0.0


def fits(about: frozenset[str], others: frozenset[str]) -> bool:
    """May two statements that read alike be one? Not where each is about something that the other is not about.

    Of "Alice owns it" and "Carol owns it" any model says that they are near.
    """
    return about <= others or others <= about


def same_numbers(one: str, other: str) -> bool:
    """Do two texts hold the same numbers? "At most 50 ms" and "at most 20 ms" are near, and not the same."""
    return sorted(re.findall(r"\d+", one)) == sorted(re.findall(r"\d+", other))
