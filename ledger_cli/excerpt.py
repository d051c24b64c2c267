"""What of a checkpoint some new entries meet, found in its bytes without reading the rest of it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable

from ledger_cli import checkpoint
from ledger_cli.invariants import named
from ledger_cli.layout import group_name, nowhere
from ledger_cli.lines import parse_line, quote
from ledger_cli.model import Ending, Entity, Entry, Episode, Item, Link, Review, entity_key


def inserted(base: bytes, data: bytes) -> list[bytes] | None:
    """The lines that `data` has more than `base`, which else stands in it as it is; None if it does not."""
    found: list[bytes] = []
    at = there = 0  # how far both are compared, in whole lines
    while True:
        same = _alike(base, at, data, there)
        at, there = at + same, there + same
        if there == len(data):
            return found if at == len(base) else None
        end = data.find(b"\n", there) + 1 or len(data)
        found.append(data[there:end])
        there = end


def _alike(one: bytes, start: int, other: bytes, there: int) -> int:
    """How many bytes from here on are the same in both, up to the end of the last line that is."""
    done, step = 0, 1 << 16
    while step:
        piece = one[start + done : start + done + step]
        if piece and piece == other[there + done : there + done + step]:
            done += len(piece)
        else:
            step >>= 1
    return max(one.rfind(b"\n", start, start + done) + 1 - start, 0)


class Excerpt:
    """A canonical checkpoint that is read where it is asked for; the lines that nobody asks for are trusted.

    Everywhere, ValueError is raised for a line that is read and is none of a checkpoint.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._items: dict[str, Item] = {}
        self._groups: dict[str, dict[str, list[Entry]]] = {}
        self._corrections: dict[str, list[str]] | None = None

    def group_of(self, id: str) -> str:
        """The group of an item that was met. Raises KeyError for any other."""
        return group_name(self._items[id]) if id in self._items else nowhere(id)

    def holds(self, entries: Iterable[Entry]) -> bool:
        """Is one of these sessions, or the id of one of these items and episodes, recorded here already?"""
        entries = list(entries)
        if any(
            f', "session": {quote(session)}}},\n'.encode() in self._data for session in {e.session for e in entries}
        ):
            return True
        items = {e.id for e in entries if isinstance(e, Item)}
        episodes = {e.id for e in entries if isinstance(e, Episode)}
        return bool(self._starting("decision|fact", items) or self._starting("episode", episodes))

    def around(self, entries: Iterable[Entry]) -> list[Entry]:
        """All that new entries meet here: what they name, what is in their slots, what is connected to any of that
        over links and corrections, and all that is on it; evidence, and other words on their entities, with it.
        """
        entries = list(entries)
        found: dict[Entry, None] = {}
        slots = {e.slot for e in entries if isinstance(e, Item) and e.slot is not None}
        ids = {id for e in entries for id in named(e)}
        whole = set[str]()  # items of which all is found
        while slots or ids:
            met = [e for slot in slots for its in self._group(f"slot {slot}").values() for e in its]
            slots = set()
            for item in self._starting("decision|fact", ids):
                if isinstance(item, Item):
                    self._items[item.id] = item
                    if item.slot is not None:
                        slots.add(item.slot)  # and with its slot the item itself
                    else:
                        met += self._group(group_name(item))[item.id]
            new = [e for e in met if e not in found]
            found.update(dict.fromkeys(new))
            items = {e.id: e for e in new if isinstance(e, Item)}
            self._items |= items
            whole |= items.keys() | ids
            ids = {id for e in new for id in named(e)} | self._followed(items)
            ids -= whole
        evidence = {id for e in (*entries, *found) if isinstance(e, Item) for id in e.evidence}
        found.update(dict.fromkeys(self._starting("episode", evidence)))
        found.update(dict.fromkeys(self._entities([e.name for e in entries if isinstance(e, Entity)])))
        return list(found)

    def _starting(self, keys: str, ids: Collection[str]) -> list[Entry]:
        """The entries whose lines start with one of these keys and ids."""
        if not ids:
            return []
        either = "|".join(re.escape(quote(id)) for id in ids)
        return self._lines(rf'\n(\{{"(?:{keys})": (?:{either}),[^\n]*)')

    def _followed(self, ids: Collection[str]) -> set[str]:
        """The old items of the links to items, and what corrects them: those may stand in groups of their own."""
        if not ids:
            return set()
        if self._corrections is None:
            self._corrections = defaultdict(list)
            at = self._data.find(b', "corrects": "')
            while at >= 0:
                start, end = self._data.rfind(b"\n", 0, at) + 1, self._data.index(b"\n", at)
                item = _parse(self._data[start:end])
                if isinstance(item, Item) and item.corrects is not None:
                    self._corrections[item.corrects].append(item.id)
                at = self._data.find(b', "corrects": "', end)
        either = "|".join(re.escape(quote(id)) for id in ids)
        links = self._lines(rf'\n(\{{"supersedes": "(?:[^"\\]|\\.)*", "with": (?:{either}),[^\n]*)')
        return {e.old for e in links if isinstance(e, Link)} | {id for i in ids for id in self._corrections.get(i, ())}

    def _entities(self, names: Collection[str]) -> list[Entry]:
        """What is stated of entities of these names, in this case or another."""
        keys = {entity_key(name) for name in names}
        lines = self._lines(r'\n(\{"entity": [^\n]*)') if keys else []
        return [e for e in lines if isinstance(e, Entity) and entity_key(e.name) in keys]

    def _lines(self, pattern: str) -> list[Entry]:
        return [_parse(line) for line in re.findall(pattern.encode(), self._data)]

    def _group(self, name: str) -> dict[str, list[Entry]]:
        """The entries of a group by the item that they are, or are on."""
        if name not in self._groups:
            its: dict[str, list[Entry]] = defaultdict(list)
            for text in checkpoint.group_lines(self._data, name):
                entry = parse_line(text)
                if isinstance(entry, Item | Ending):
                    its[entry.id].append(entry)
                elif isinstance(entry, Link):
                    its[entry.old].append(entry)
                elif isinstance(entry, Review):
                    its[entry.target.id].append(entry)
            self._groups[name] = its
        return self._groups[name]


def _parse(line: bytes) -> Entry:
    return parse_line(line.removesuffix(b",").decode())
