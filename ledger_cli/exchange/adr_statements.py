"""What a record says of another: that it supersedes it, or is superseded by it; and how it names it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from ledger_cli.exchange import adr_dates, adr_words, markdown

Relation = Literal["supersedes", "superseded by"]


@dataclass(frozen=True)
class Reference:
    """Another record as this one names it: by a path, a number, or a name."""

    text: str
    target: str = ""

    def __str__(self) -> str:
        return self.text or self.target


@dataclass(frozen=True)
class Statement:
    """`supersedes` or `superseded by`, whom, and since when if that is said."""

    relation: Relation
    references: tuple[Reference, ...]
    said: str
    since: datetime | None = None


ISO = adr_dates.STAMP
_NAMED = re.compile(
    r"\b(?:ADR|RFC|MADR|AD)[\s#-]*\d+\b|#\d+\b|\[\[[^\[\]]+\]\]|(?<![\w./-])[\w./-]+\.md\b|\b\d{3,}-[\w-]*\w\b",
    re.IGNORECASE,
)
_BARE = re.compile(r"[\s:]*((?:#?\d{1,5})(?:\s*(?:,|and|und|et|&)\s*#?\d{1,5})*)[\s.!]*")
"""A number alone, or several: among other words a number counts anything, and names no record."""
_ASIDE = re.compile(r"\([^()]*\)|\b(?:on|since|as of|am|seit|le|el)\s*$")
_RELATION = re.compile(rf".*?(?:{adr_words.BY.pattern}|{adr_words.OF.pattern})(?:.{{0,40}}?\bby\b)?", re.IGNORECASE)
"""What a clause says before it names the other record."""


def words(text: str) -> str:
    """The words of a clause without those of its links: the title of another record may say anything."""
    found = markdown.without_links(text, "\N{WHITE SQUARE}")
    return found if re.search(r"[^\W\d_]", found) else markdown.link_texts(text)


def since(said: str) -> datetime | None:
    """The date in a clause, if it has one."""
    found = ISO.search(said)
    try:
        return adr_dates.of_record(found[0])[0] if found else None
    except ValueError:
        return None


def references(text: str) -> tuple[Reference, ...]:
    """The records that a clause names: by links, and where it has none, by number or name."""
    linked = [Reference(link.text, link.target) for link in markdown.links(text) if not link.target.startswith("#")]
    if linked:
        return tuple(dict.fromkeys(linked))
    return tuple(dict.fromkeys(Reference(name) for name in _named(text)))


def _named(text: str) -> Iterator[str]:
    text = ISO.sub(" ", text)
    found = [name.strip("[]") for name in _NAMED.findall(text)]
    if found:
        yield from found
    elif bare := _BARE.fullmatch(_ASIDE.sub("", _RELATION.sub("", text, count=1))):
        yield from re.findall(r"\d+", bare[1])
