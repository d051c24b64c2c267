"""What a call gave back, and what it touched: counted from the call itself, never told by the one who made it.

A write touches what it recorded: items with the entities they are about, episodes with those they mention, entities;
and the items that its links, verdicts and endings are on. A read touches the items and episodes that it gives back,
and the entity it was asked about if any of them is about it. The names in the `about` of an item do not count: they
say where else to look, and nobody looked there yet. Of a Cypher query, that is the nodes in its rows, and what stands
in a column called `id`, `key` or `name`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from ledger_cli import invariants
from ledger_cli.answers import Answer, Checkup
from ledger_cli.chains import Chains
from ledger_cli.holds import Row
from ledger_cli.memory.calls import Node, entity
from ledger_cli.memory.recall import Recalled
from ledger_cli.model import Entity, Episode, Item, entity_key
from ledger_cli.store import engine

if TYPE_CHECKING:
    from ledger_cli.known import Write


def rows(found: object) -> int:
    """How many rows a call gave back."""
    if isinstance(found, (Answer, engine.Answer)):
        return len(found.rows)
    if isinstance(found, Chains):
        return sum(map(len, found.chains)) + len(found.rejected)
    if isinstance(found, Recalled):
        return sum(map(len, (found.facts, found.decisions, found.history, found.nearby, found.items)))
    if isinstance(found, Checkup):
        return len(found.findings)
    if isinstance(found, (list, tuple)) and not hasattr(found, "_fields"):
        return sum(rows(one) if isinstance(one, Answer) else 1 for one in found)
    return 0 if found is None else 1


def written(write: Write) -> Iterator[Node]:
    """What a session recorded, and the items that its links, verdicts and endings are on."""
    items = write.history.items
    for entry in write.entries:
        if isinstance(entry, Item):
            yield Node(entry.kind, entry.id)
            yield from map(entity, entry.about)
        elif isinstance(entry, Episode):
            yield Node("episode", entry.id)
            yield from map(entity, entry.mentions)
        elif isinstance(entry, Entity):
            yield entity(entry.name)
        else:
            yield from (Node(items[id].kind, id) for id in invariants.named(entry) if id in items)


def brought(write: Write) -> Iterator[Node]:
    """The items and episodes that a session records."""
    for entry in write.entries:
        if isinstance(entry, (Item, Episode)):
            yield Node(entry.kind if isinstance(entry, Item) else "episode", entry.id)


def seen(found: object) -> Iterator[Node]:
    """The items and episodes in what a call of the ledger gave back, and the entity that it was asked about."""
    items: list[Item] = []
    for one in _inside(found):
        if isinstance(one, Episode):
            yield Node("episode", one.id)
        elif isinstance(one, Item):
            yield Node(one.kind, one.id)
            items.append(one)
    about = {entity_key(name) for item in items for name in item.about}
    for name in _asked(found):
        if entity_key(name) in about:
            yield entity(name)


def _inside(found: object) -> Iterator[Item | Episode]:
    if isinstance(found, (Item, Episode)):
        yield found
    elif isinstance(found, Row):
        yield found.item
    elif isinstance(found, Mapping):
        for inner in found.values():
            yield from _inside(inner)
    elif isinstance(found, (list, tuple)):
        for inner in found:
            yield from _inside(inner)
    elif is_dataclass(found):
        for field in fields(found):
            yield from _inside(getattr(found, field.name))


def _asked(found: object) -> Iterator[str]:
    if isinstance(found, list):
        for one in found:
            yield from _asked(one)
    for name in ("entity", "subject"):
        if isinstance(value := getattr(found, name, None), str):
            yield value


def nodes(value: object) -> Iterator[Node]:
    """The items, episodes and entities among the nodes in the rows of a query, however deep."""
    if isinstance(value, dict):
        if value.keys() == {"labels", "properties"}:
            yield from _node(value["labels"], value["properties"])
            return
        for inner in value.values():
            yield from nodes(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from nodes(inner)


def _node(labels: Any, properties: Any) -> Iterator[Node]:
    if not isinstance(labels, list) or not isinstance(properties, dict):
        return
    id = properties.get("id")
    for label, what in (("Decision", "decision"), ("Fact", "fact"), ("Episode", "episode"), ("Entity", "entity")):
        if label in labels and isinstance(id, str) and id:
            yield Node(what, id)  # type: ignore[arg-type]  # the four words of the line above


def values(value: object, name: str) -> Iterator[str]:
    """The texts under a name in the rows of a query: a column or a key, `id` or `d.id`. Nodes are not looked into."""
    if isinstance(value, dict):
        if value.keys() == {"labels", "properties"}:
            return
        for key, inner in value.items():
            if isinstance(inner, str) and str(key).rpartition(".")[2] == name:
                yield inner
            yield from values(inner, name)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from values(inner, name)
