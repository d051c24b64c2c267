"""The words of the ledger as values: what is recorded (entries), and what is derived from it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Kind = Literal["decision", "fact"]
Verdict = Literal["rejects", "reinstates"]
Interval = tuple[datetime, datetime | None]
"""A half-open stretch of valid time `[from, to)`; None = no end."""


def canonical_name(text: str) -> str:
    """An entity's name or a slot as it is kept: NFC, white space collapsed."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def entity_key(name: str) -> str:
    """What makes two names one entity: NFC, white space collapsed, case-folded."""
    return unicodedata.normalize("NFC", canonical_name(name).casefold())


def name_set(names: Iterable[str]) -> tuple[str, ...]:
    """Canonical names, one a key (the first by code point), by code point."""
    by_key: dict[str, str] = {}
    for name in sorted(canonical_name(n) for n in names):
        by_key.setdefault(entity_key(name), name)
    return tuple(sorted(by_key.values()))


def canonical_id(text: str) -> str:
    """An id as it is kept: NFC. Nothing else of it is changed."""
    return unicodedata.normalize("NFC", text)


def id_set(ids: Iterable[str]) -> tuple[str, ...]:
    """Ids, each once, by code point."""
    return tuple(sorted(set(ids)))


# What is recorded. Entries are immutable; a session only ever adds some.


@dataclass(frozen=True, slots=True)
class Item:
    """A decision or a fact: a text with a valid time, a record time, and the entities it is about."""

    kind: Kind
    id: str
    text: str
    valid_from: datetime
    recorded_at: datetime
    session: str
    valid_to: datetime | None = None  # as stated; what it comes to is derived
    rationale: str | None = None
    slot: str | None = None
    about: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()  # episode ids; `from` in files
    confidence: float | None = None
    corrects: str | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Episode:
    """Where something was learned: a message, a tool call's result, a document."""

    id: str
    kind: str
    text: str
    recorded_at: datetime
    session: str
    mentions: tuple[str, ...] = ()
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Entity:
    """What items are about, with its kind. (An entity without a kind exists by being named.)"""

    name: str
    kind: str
    recorded_at: datetime
    session: str


@dataclass(frozen=True, slots=True)
class Link:
    """Item `new` supersedes item `old`."""

    old: str
    new: str
    recorded_at: datetime
    session: str
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """Item `id` stops holding at `valid_to`, and nothing replaces it."""

    id: str
    valid_to: datetime
    by: str
    recorded_at: datetime
    session: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """What a verdict is on: an item (`id`), a link (`id` is the old item, `new` the new one), or an ending."""

    id: str
    new: str | None = None
    ending: bool = False

    @property
    def on_item(self) -> bool:
        """Is the verdict on the item itself?"""
        return self.new is None and not self.ending

    def __str__(self) -> str:
        if self.new is not None:
            return f"the link {self.id} -> {self.new}"
        return f"the ending of {self.id}" if self.ending else self.id


@dataclass(frozen=True, slots=True)
class Review:
    """A verdict on an item, a link or an ending, by a named person with a reason."""

    verdict: Verdict
    target: Target
    by: str
    reason: str
    recorded_at: datetime
    session: str


Entry = Item | Episode | Entity | Link | Ending | Review


# What is derived.


@dataclass(frozen=True, slots=True)
class Stretch:
    """A rectangle on the two axes: an item held in `[valid_from, valid_to)`, as known in `[known_from, known_to)`.

    None = no end. The stretches of one item never overlap; together they are all that `holds` says of it.
    """

    valid_from: datetime
    valid_to: datetime | None
    known_from: datetime
    known_to: datetime | None
