"""What the pages of a site are called: names that every disk keeps apart and every address can hold."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

_PLAIN = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,58}[a-z0-9])?")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")  # on Windows, whatever follows the dot


@lru_cache(1 << 17)
def stem(name: str) -> str:
    """A file's name for an id or a key: itself where it is plain, else some of it and a digest of all of it.

    No two names share one, also where case does not count: a plain one has no `~`, and no capital.
    """
    if _PLAIN.fullmatch(name) and not _RESERVED.fullmatch(name):
        return name
    some = re.sub(r"[^a-z0-9]+", "-", name.lower())[:32].strip("-") or "x"
    return f"{some}~{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def item(id: str) -> str:
    """The page of an item."""
    return f"items/{stem(id)}.html"


def entity(key: str, page: int = 1) -> str:
    """A page of an entity, from 1."""
    return f"entities/{stem(key)}{f'~~{page}' if page > 1 else ''}.html"


def numbered(name: str, page: int) -> str:
    """A page of a list that takes several, from 1."""
    return f"{name}{f'-{page}' if page > 1 else ''}.html"
