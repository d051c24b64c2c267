"""Entries as rows that statements take, and rows as entries again: exactly, spelling included.

Times are kept as local datetimes in UTC: columns of zoned ones have no mapped form, and cost 25 ms of every load at
100,000 items. (A comparison with `datetime('…Z')` in somebody's query is right all the same.) They go in as text that
statements wrap in `localdatetime()`: as parameters they take twice as long. Lists of names and ids are kept as one
text, a line each (neither may hold a line feed): a list property costs 10 ms of a load.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

from ledger_cli.model import Ending, Entity, Entry, Episode, Item, Link, Review, Stretch, Target, entity_key
from ledger_cli.store.engine import Row

Shown = tuple[datetime | None, datetime | None]
"""What is shown of an item's end, as known now: (validTo, closedAt)."""


class Words(NamedTuple):
    """What of an item it is found by."""

    id: str
    text: str
    rationale: str | None
    slot: str | None
    about: tuple[str, ...]


@lru_cache(1 << 14)
def when(at: datetime | None) -> str | None:
    """An instant as text for `localdatetime()`."""
    return None if at is None else at.isoformat()[:-6]  # an instant is in UTC: `+00:00` goes


def local(at: datetime) -> datetime:
    """An instant as a parameter of a statement."""
    return at.replace(tzinfo=None)


def instant(at: datetime) -> datetime:
    """An instant as it comes back. (`replace(tzinfo=UTC)` says the same in more than twice the time.)"""
    return datetime.combine(at, at.time(), UTC)


def _end(at: datetime | None) -> datetime | None:
    return None if at is None else datetime.combine(at, at.time(), UTC)


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
        instant(row["validFrom"]),
        instant(row["recordedAt"]),
        row["session"],
        _end(row["statedTo"]),
        row["rationale"],
        row["slot"],
        _split(row["about"]),
        _split(row["evidence"]),
        row["confidence"],
        row["corrects"],
        row["by"],
    )


def stretches(ids: Iterable[str], rows: Iterable[Row]) -> dict[str, list[Stretch]]:
    """For each of the ids its stretches, in the order of the rows; empty where there are none."""
    found: dict[str, list[Stretch]] = {id: [] for id in ids}
    for row in rows:
        found[row["id"]].append(stretch(row))
    return found


def stretch(row: Row) -> Stretch:
    return Stretch(instant(row["validFrom"]), _end(row["validTo"]), instant(row["knownFrom"]), _end(row["knownTo"]))


def words(row: Row) -> Words:
    return Words(row["id"], row["text"], row["rationale"], row["slot"], _split(row["about"]))


def episode(row: Row) -> Episode:
    mentions = _split(row["mentions"])
    return Episode(
        row["id"], row["kind"], row["text"], instant(row["recordedAt"]), row["session"], mentions, _end(row["at"])
    )


def link(row: Row) -> Link:
    return Link(row["old"], row["new"], instant(row["recordedAt"]), row["session"], row["by"])


def ending(row: Row) -> Ending:
    return Ending(
        row["id"], instant(row["validTo"]), row["by"], instant(row["recordedAt"]), row["session"], row["reason"]
    )


def review(row: Row) -> Review:
    target = Target(row["id"], row["new"], row["ending"])
    return Review(row["verdict"], target, row["by"], row["reason"], instant(row["recordedAt"]), row["session"])


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
    spans: dict[str, tuple[datetime, datetime]] = {
        row["id"]: (instant(row["at"]), instant(row["newestAt"])) for row in known
    }
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
        self._kept: dict[str, bool] = {}  # key -> is it kept otherwise than it is now?

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
            key = row["key"]
            _earliest(self._names, key, (instant(row["namedAt"]), row["namedIn"], row["name"]))
            if row["kind"] is not None:
                _earliest(self._kinds, key, (instant(row["kindAt"]), row["kindIn"], row["kind"]))
            self._kept[key] = self._row(key) != {k: _kept(v) for k, v in row.items()}

    def new(self) -> list[Row]:
        """Rows of the entities that are not kept yet."""
        return [self._row(key) for key in self._names if key not in self._kept]

    def changed(self) -> list[Row]:
        """Rows of the entities that are kept, but otherwise."""
        return [self._row(key) for key, changed in self._kept.items() if changed]

    def _row(self, key: str) -> Row:
        named_at, named_in, name = self._names[key]
        kind_at, kind_in, kind = self._kinds.get(key, (None, None, None))
        return {
            "key": key,
            "name": name,
            "namedAt": when(named_at),
            "namedIn": named_in,
            "kind": kind,
            "kindAt": when(kind_at),
            "kindIn": kind_in,
        }


def _kept(value: object) -> object:
    return when(instant(value)) if isinstance(value, datetime) else value


def _earliest(told: dict[str, _Told], key: str, new: _Told) -> None:
    if (old := told.get(key)) is None or new < old:
        told[key] = new
