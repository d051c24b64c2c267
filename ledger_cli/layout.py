"""Which group of the checkpoint a line stands in, and the order of the groups. (README, "The file".)"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ledger_cli.lines import line, quote
from ledger_cli.model import Ending, Entity, Entry, Episode, Item, Link

FORMAT = 1
TOP = f'{{\n"ledger": {FORMAT},\n'
BOTTOM = '"end": "ledger"\n}\n'


def group_name(item: Item) -> str:
    """The group an item stands in, and with it all that concerns the item."""
    return f"session {item.session}" if item.slot is None else f"slot {item.slot}"


def framed(group: str, rows: Iterable[str]) -> str:
    """A group of the file, with its rows: what stands on its lines."""
    # A group closes with its own name: with one closing line for all, git takes another group's for it and puts
    # lines where they do not belong.
    body = "".join(f"{row}\n" for row in rows)
    return f"{quote(group)}: [\n{body}{quote(f'end of {group}')}],\n"


def rank(group: str) -> tuple[int, str]:
    """Where a group stands: sessions by their ids read backwards, then slots by code point.

    Backwards, neighbours in time (`session-41`, `session-42`) are not neighbours in the file, so the sessions of
    two branches land in different places and merge.
    """
    word, _, name = group.partition(" ")
    return (0, name[::-1]) if word == "session" else (1, name)


def nowhere(item_id: str) -> str:
    """The group of an item that there is none of."""
    raise KeyError(item_id)


def grouping(entries: Iterable[Entry], elsewhere: Callable[[str], str] = nowhere) -> Callable[[Entry], str]:
    """Return the function that names an entry's group, given all entries.

    `elsewhere` answers for the ids of items that are not among `entries`; what it raises, KeyError if it is left
    out, comes out of the function.
    """
    items: dict[str, Item] = {}
    citing: dict[tuple[str, str], Item] = {}  # by session and episode: the first item, by id, that cites it
    for entry in entries:
        if not isinstance(entry, Item):
            continue
        if items.setdefault(entry.id, entry) is not entry:
            items[entry.id] = _first(items[entry.id], entry)
        for episode in entry.evidence:
            known = citing.setdefault((entry.session, episode), entry)
            if known is not entry:
                citing[entry.session, episode] = _first(known, entry)
    homes = {item_id: group_name(item) for item_id, item in items.items()}

    def home(item_id: str) -> str:
        return homes[item_id] if item_id in homes else elsewhere(item_id)

    def group_of(entry: Entry) -> str:
        if isinstance(entry, Item):
            return group_name(entry)
        if isinstance(entry, Link):
            return home(entry.old)
        if isinstance(entry, Episode):
            item = citing.get((entry.session, entry.id))
            return f"session {entry.session}" if item is None else group_name(item)
        if isinstance(entry, Entity):
            return f"session {entry.session}"
        return home(entry.id if isinstance(entry, Ending) else entry.target.id)

    return group_of


def _first(one: Item, other: Item) -> Item:
    """The first by id; where a bad merge left two items under one id, the one recorded first."""
    if one.id != other.id:
        return one if one.id < other.id else other
    return min(one, other, key=lambda item: (item.recorded_at, item.session, line(item)))
