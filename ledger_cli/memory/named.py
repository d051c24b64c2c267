"""Which entities a question names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ledger_cli.memory.words import _UNSPACED
from ledger_cli.model import entity_key

_JOINS = re.compile(rf"(?=\w)[^{_UNSPACED}\uac00-\ud7af]")
"""A character that goes on with the word beside it: one of a script that sets its words apart. (Korean writes its
particles against the name.)"""


def named_in(question: str, keys: Iterable[str]) -> list[str]:
    """The keys that stand in a question on word boundaries, the longest first, then by code point."""
    text = entity_key(question)
    found = [key for key in keys if key in text and any(_is_whole(text, *span) for span in _places(text, key))]
    return sorted(found, key=lambda key: (-len(key), key))


def _places(text: str, key: str) -> Iterator[tuple[int, int]]:
    start = text.find(key)
    while start >= 0:
        yield start, start + len(key)
        start = text.find(key, start + 1)


def _is_whole(text: str, start: int, end: int) -> bool:
    return not (_joins(text, start - 1, start) or _joins(text, end - 1, end))


def _joins(text: str, one: int, other: int) -> bool:
    """Do two characters beside each other belong to one word?"""
    inside = one >= 0 and other < len(text)
    return inside and bool(_JOINS.match(text, one)) and bool(_JOINS.match(text, other))
