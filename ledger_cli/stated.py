"""A session as stated, before any of it is recorded. None = left out; `line` is where it stands in the session file."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from ledger_cli.model import Kind, Target, Verdict

OPEN: Literal["open"] = "open"
"""`validTo: open` in a correction: the corrected item's end falls away."""


class Place(int):
    """The line of something in a JSON file, and the path there, counted from 0: one line may hold all of the file."""

    path: str

    @classmethod
    def at(cls, line: int, path: str) -> Place:
        place = cls(line)
        place.path = path
        return place


def path_of(line: int) -> str:
    """The path to what stands on a line, such as `decisions[3]`; "" where the line tells enough."""
    return line.path if isinstance(line, Place) else ""


def where(source: str, line: int) -> str:
    """`file:line`, in JSON with the path there."""
    path = path_of(line)
    return f"{source}:{line}: {path}" if path else f"{source}:{line}"


@dataclass(frozen=True, slots=True)
class StatedItem:
    kind: Kind
    id: str  # given, or <session>/d<n> | f<n>
    text: str | None = None
    rationale: str | None = None
    slot: str | None = None
    about: tuple[str, ...] | None = None
    valid_from: datetime | None = None
    valid_to: datetime | Literal["open"] | None = None
    supersedes: tuple[str, ...] = ()
    corrects: str | None = None
    evidence: tuple[str, ...] = ()
    confidence: float | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class StatedEpisode:
    id: str  # given, or <session>/e<n>
    kind: str
    text: str
    mentions: tuple[str, ...] = ()
    at: datetime | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class StatedEntity:
    name: str
    kind: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class StatedLink:
    old: str
    new: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class StatedEnding:
    id: str
    valid_to: datetime
    by: str | None = None  # defaults to the session's
    reason: str | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class StatedReview:
    verdict: Verdict
    target: Target
    by: str | None = None  # defaults to the session's
    reason: str | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Session:
    """One write as stated: an id, a clock, who wrote it, and what it brings. `source` is the file it came from."""

    id: str
    at: datetime | None = None
    by: str | None = None
    entities: tuple[StatedEntity, ...] = ()
    episodes: tuple[StatedEpisode, ...] = ()
    items: tuple[StatedItem, ...] = ()
    supersessions: tuple[StatedLink, ...] = ()
    endings: tuple[StatedEnding, ...] = ()
    reviews: tuple[StatedReview, ...] = ()
    source: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)

    def where(self, line: int) -> str:
        """Where something stands that this session states; empty for a session that no file holds."""
        return where(self.source, line) if self.source and line else self.source
