"""Are two texts, or two names, the same? Exactly, or by the vectors of a model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ledger_cli.model import entity_key

SAME_ENTITY, SAME_TEXT = 0.88, 0.95
"""From which cosine on two names are one entity, and two statements one."""


def text_key(text: str) -> str:
    """What makes two statements the same text: as for names, white space and case aside."""
    return entity_key(text)


def keys(names: Iterable[str]) -> frozenset[str]:
    """The keys of entities."""
    return frozenset(entity_key(name) for name in names)


Cosines = Callable[[str, Sequence[str]], Sequence[float]]
"""The cosine of a text's vector to each of other texts'."""


@dataclass
class Vectors:
    """How near texts are, of those that were learned; without `cosines`, no two texts are near each other."""

    cosines: Cosines | None = None
    _known: dict[tuple[str, str], float] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.cosines is not None

    def learn(self, ones: Iterable[str], others: Iterable[str]) -> None:
        """Compute how near each of the ones is to each of the others. Raises LedgerError where that cannot be had."""
        others = list(dict.fromkeys(others))
        if self.cosines is not None and others:
            for one in dict.fromkeys(ones):
                self._known.update(zip(((one, o) for o in others), self.cosines(one, others), strict=True))

    def cosine(self, one: str, other: str) -> float:
        """How near one is to the other, -1 to 1; 0 where that was not learned."""
        return self._known.get((one, other), 0.0)


def fits(about: frozenset[str], others: frozenset[str]) -> bool:
    """May two statements that read alike be one? Not where each is about something that the other is not about.

    Of "Alice owns it" and "Carol owns it" any model says that they are near.
    """
    return about <= others or others <= about


def same_numbers(one: str, other: str) -> bool:
    """Do two texts hold the same numbers? "At most 50 ms" and "at most 20 ms" are near, and not the same."""
    return sorted(re.findall(r"\d+", one)) == sorted(re.findall(r"\d+", other))
