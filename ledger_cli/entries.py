"""Entries in a few words, and by what they are about, whatever they say of it."""

from __future__ import annotations

import json

from ledger_cli.lines import line as as_line
from ledger_cli.model import Ending, Entity, Entry, Episode, Item, Link, Review, entity_key


def subject(entry: Entry) -> object:
    """What an entry is about, whatever it says of it: two lines of one subject are one line, rewritten."""
    if isinstance(entry, Item | Episode):
        return isinstance(entry, Item), entry.id
    if isinstance(entry, Entity):
        return entity_key(entry.name), entry.session
    if isinstance(entry, Link):
        return entry.old, entry.new, entry.session
    if isinstance(entry, Ending):
        return "ends", entry.id, entry.session
    return entry.target, entry.session


def item_of(entry: Entry) -> str:
    """The item, or the episode, that an entry is or is on."""
    if isinstance(entry, Item | Episode | Ending):
        return entry.id
    if isinstance(entry, Link):
        return entry.old
    return entry.target.id if isinstance(entry, Review) else ""


def describe(entry: Entry) -> str:
    """An entry in a few words."""
    if isinstance(entry, Item):
        return f"{entry.kind} {entry.id}"
    if isinstance(entry, Episode):
        return f"episode {entry.id}"
    if isinstance(entry, Entity):
        return f"the kind of {entry.name}"
    if isinstance(entry, Link):
        return f"the link {entry.old} -> {entry.new}"
    if isinstance(entry, Ending):
        return f"the ending of {entry.id}"
    return f"the verdict on {entry.target}"


def difference(old: bytes, new: Entry) -> str:
    """Which keys of a line differ, the first with both its values."""
    was, is_ = json.loads(old), json.loads(as_line(new))
    keys = [k for k in {**was, **is_} if was.get(k) != is_.get(k)] or ["its writing"]
    first = keys[0]
    told = f"`{first}` was {_short(was.get(first))}, is {_short(is_.get(first))}"
    return told + (f"; and {', '.join(f'`{k}`' for k in keys[1:])}" if keys[1:] else "")


def _short(value: object) -> str:
    if value is None:
        return "absent"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:79] + "…"
