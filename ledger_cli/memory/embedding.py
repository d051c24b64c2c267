"""What turns texts into vectors, behind one small protocol, and how near two vectors are."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from operator import mul
from typing import Protocol


class Embedder(Protocol):
    """Texts into vectors. The same text gives the same vector."""

    name: str
    """Names the model: vectors of another are no vectors of this one."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in their order, all of one length; unit length is not promised.

        Raises LedgerError where the model cannot be asked.
        """


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of the angle between two vectors, -1 to 1; 0 where one of them has no length.

    Raises ValueError where they are not of one length.
    """
    if len(one) != len(other):
        raise ValueError(f"vectors of {len(one)} and {len(other)} dimensions are not of one model")
    lengths = sqrt(sum(map(mul, one, one))) * sqrt(sum(map(mul, other, other)))
    return sum(map(mul, one, other)) / lengths if lengths else 0.0
