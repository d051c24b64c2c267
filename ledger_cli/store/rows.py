"""Entries as rows that statements take, and rows as entries again: exactly, spelling included.

Times go in as text that statements wrap in `datetime()`: an aware datetime as a parameter takes twice as long. Lists
of names and ids are kept as one text, a line each (neither may hold a line feed): a list property costs 10 ms of every
load at 100,000 items.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from ledger_cli.model import Ending, Entity, Entry, Episode, Item, Link, Review, Stretch, Target, entity_key
from ledger_cli.store.engine import Row

Shown = tuple[datetime | None, datetime | None]
"""What is shown of an item's end, as known now: (validTo, closedAt)."""


def when(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


def _joined(names: tuple[str, ...]) -> str | None:
    return "\n".join(names) or None


def _split(text: str | None) -> tuple[str, ...]:
    return tuple(text.split("\n")) if text else ()


# Entries -> rows


def item_row(item: Item, place: str, shown: Shown) -> Row:
    return {
        "id": item.id,
        "kind": item.kind,
        "text": item.text,
        "rationale": item.rationale,
        "slot": item.slot,
        "about": _joined(item.about),
        "evidence": _joined(item.evidence),
        "confidence": None if item.confidence is None else float(item.confidence),
        "corrects": item.corrects,
        "validFrom": when(item.valid_from),
        "statedTo": when(item.valid_to),
        "validTo": when(shown[0]),
        "recordedAt": when(item.recorded_at),
        "closedAt": when(shown[1]),
        "by": item.by,
        "session": item.session,
        "place": place,
    }


def stretch_rows(stretches: Mapping[str, Iterable[Stretch]]) -> list[Row]:
    return [
        {
            "item": id,
            "validFrom": when(s.valid_from),
            "validTo": when(s.valid_to),
            "knownFrom": when(s.known_from),
            "knownTo": when(s.known_to),
        }
        for id, its in stretches.items()
        for s in its
    ]


def episode_row(episode: Episode) -> Row:
    return {
        "id": episode.id,
        "kind": episode.kind,
        "text": episode.text,
        "mentions": _joined(episode.mentions),
        "at": when(episode.at),
        "recordedAt": when(episode.recorded_at),
        "session": episode.session,
    }


def link_row(link: Link) -> Row:
    return {
        "old": link.old,
        "new": link.new,
        "recordedAt": when(link.recorded_at),
        "by": link.by,
        "session": link.session,
    }


def ending_row(ending: Ending) -> Row:
    row = {
        "id": ending.id,
        "validTo": when(ending.valid_to),
        "by": ending.by,
        "reason": ending.reason,
        "recordedAt": when(ending.recorded_at),
        "session": ending.session,
    }
    return row | {"key": _key("ends", row)}


def review_row(review: Review) -> Row:
    target = review.target
    on_item = target.new is None and not target.ending
    row = {
        "id": target.id,
        "edge": review.verdict.upper() if on_item else "ON",
        "new": target.new,
        "ending": target.ending,
        "verdict": review.verdict,
        "by": review.by,
        "reason": review.reason,
        "recordedAt": when(review.recorded_at),
        "session": review.session,
    }
    return row | {"key": _key(review.verdict, row)}


def _key(word: str, row: Row) -> str:
    """What makes an ending or a review itself: all of it. Two in one session may differ in the reason alone."""
    return json.dumps([word, *(v for k, v in row.items() if k not in ("edge", "verdict"))], ensure_ascii=False)


# Rows -> entries


def item(row: Row) -> Item:
    return Item(
        row["kind"],
        row["id"],
        row["text"],
        row["validFrom"],
        row["recordedAt"],
        row["session"],
        row["statedTo"],
        row["rationale"],
        row["slot"],
        _split(row["about"]),
        _split(row["evidence"]),
        row["confidence"],
        row["corrects"],
        row["by"],
    )


def stretch(row: Row) -> Stretch:
    return Stretch(row["validFrom"], row["validTo"], row["knownFrom"], row["knownTo"])


def episode(row: Row) -> Episode:
    mentions = _split(row["mentions"])
    return Episode(row["id"], row["kind"], row["text"], row["recordedAt"], row["session"], mentions, row["at"])


def link(row: Row) -> Link:
    return Link(row["old"], row["new"], row["recordedAt"], row["session"], row["by"])


def ending(row: Row) -> Ending:
    return Ending(row["id"], row["validTo"], row["by"], row["recordedAt"], row["session"], row["reason"])


def review(row: Row) -> Review:
    target = Target(row["id"], row["new"], row["ending"])
    return Review(row["verdict"], target, row["by"], row["reason"], row["recordedAt"], row["session"])


# What many entries come to


def places(items: Mapping[str, Item], known: Mapping[str, str]) -> dict[str, str]:
    """Each item's place: the item at the start of its corrections. `known` are the places of items already there."""
    found: dict[str, str] = {}
    for id in items:
        path = [id]
        while (before := items[path[-1]].corrects) is not None and before in items and before not in path:
            path.append(before)
        start = path[-1]
        found[id] = known.get(items[start].corrects or "", start)
    return found


def sessions(entries: Iterable[Entry], known: Sequence[Row] = ()) -> list[Row]:
    """Sessions with the earliest record time of what they brought (their clock), and the newest."""
    spans: dict[str, tuple[datetime, datetime]] = {row["id"]: (row["at"], row["newestAt"]) for row in known}
    for entry in entries:
        at = entry.recorded_at
        first, last = spans.get(entry.session, (at, at))
        spans[entry.session] = (min(first, at), max(last, at))
    return [{"id": id, "at": when(first), "newestAt": when(last)} for id, (first, last) in spans.items()]


_Told = tuple[datetime, str, str]  # (recorded at, session, what it says): the smallest counts


class Names:
    """Entities by their keys: the name as the earliest entry spells it, and the earliest kind.

    Which entry is the earliest is decided by what the entries say, so the order of their arrival never matters.
    """

    def __init__(self) -> None:
        self._names: dict[str, _Told] = {}
        self._kinds: dict[str, _Told] = {}
        self._keys: dict[str, str] = {}

    def key(self, name: str) -> str:
        """entity_key, remembered: half a rebuild's names are repetitions."""
        if (key := self._keys.get(name)) is None:
            key = self._keys[name] = entity_key(name)
        return key

    def keys(self) -> list[str]:
        return list(self._names)

    def take(self, entry: Entry) -> None:
        """Take in the entities an entry names."""
        if isinstance(entry, Entity):
            key = self.key(entry.name)
            _earliest(self._names, key, (entry.recorded_at, entry.session, entry.name))
            _earliest(self._kinds, key, (entry.recorded_at, entry.session, entry.kind))
        elif isinstance(entry, Item | Episode):
            for name in entry.about if isinstance(entry, Item) else entry.mentions:
                _earliest(self._names, self.key(name), (entry.recorded_at, entry.session, name))

    def know(self, rows: Iterable[Row]) -> None:
        """Take in entities as they are kept."""
        for row in rows:
            _earliest(self._names, row["key"], (row["namedAt"], row["namedIn"], row["name"]))
            if row["kind"] is not None:
                _earliest(self._kinds, row["key"], (row["kindAt"], row["kindIn"], row["kind"]))

    def rows(self) -> list[Row]:
        found = []
        for key, (named_at, named_in, name) in self._names.items():
            kind_at, kind_in, kind = self._kinds.get(key, (None, None, None))
            found.append(
                {
                    "key": key,
                    "name": name,
                    "namedAt": when(named_at),
                    "namedIn": named_in,
                    "kind": kind,
                    "kindAt": when(kind_at),
                    "kindIn": kind_in,
                }
            )
        return found


def _earliest(told: dict[str, _Told], key: str, new: _Told) -> None:
    if (old := told.get(key)) is None or new < old:
        told[key] = new
