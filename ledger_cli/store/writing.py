"""How entries become nodes and edges: all at once into an empty graph, or one session into a graph that is there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from ledger_cli.model import Ending, Entry, Episode, Item, Link, Review, Stretch
from ledger_cli.store import rows, statements
from ledger_cli.store.engine import Row, Runs
from ledger_cli.store.rows import Names, Shown

_E = TypeVar("_E", Item, Episode)
_T = TypeVar("_T", Link, Ending, Review)
_BATCH = 1000

Stretches = Mapping[str, Sequence[Stretch]]


def fill(engine: Runs, entries: Iterable[Entry], stretches: Stretches, shown: Mapping[str, Shown]) -> None:
    """Write everything into an empty graph."""
    entries = list(entries)
    names = _names(entries)
    _create(engine, entries, names, rows.sessions(entries), {}, shown)
    _each(engine, "create_stretches", rows.stretch_rows(stretches))


def add(engine: Runs, entries: Iterable[Entry], stretches: Stretches, shown: Mapping[str, Shown]) -> None:
    """Write what is not there yet, and replace the stretches and ends of the items given.

    The writer holds the lock, so to look first is as good as to MERGE; create_items.cypher says what MERGE costs.
    """
    entries = list(entries)
    names = _names(entries)
    names.know(statements.run(engine, "entities", keys=names.keys()))
    sessions = statements.run(engine, "sessions", ids=sorted({e.session for e in entries}))
    corrected = [e.corrects for e in entries if isinstance(e, Item) and e.corrects is not None]
    places = {row["id"]: row["place"] for row in statements.run(engine, "members", ids=corrected)}
    _create(engine, _unknown(engine, entries), names, rows.sessions(entries, sessions), places, shown)
    _each(engine, "set_entities", names.changed())
    _replace_stretches(engine, stretches)
    ends = [{"id": id, "validTo": rows.when(a), "closedAt": rows.when(b)} for id, (a, b) in shown.items()]
    _each(engine, "set_shown", ends)


def add_calls(engine: Runs, calls: Sequence[Row], touched: Sequence[Row]) -> None:
    """Write calls that are not there yet, in their sessions, and what they touched."""
    _each(engine, "merge_callers", [{"id": id} for id in sorted({call["session"] for call in calls})])
    _each(engine, "create_calls", calls)
    for what, name in (("item", "link_touched_items"), ("episode", "link_touched_episodes"),
                       ("entity", "link_touched_entities")):  # fmt: skip
        _each(engine, name, [row for row in touched if row["what"] == what])


def _create(
    engine: Runs,
    entries: Iterable[Entry],
    names: Names,
    sessions: Sequence[Row],
    known_places: Mapping[str, str],
    shown: Mapping[str, Shown],
) -> None:
    """Write entries of which none is there, in an order in which what one names comes before it."""
    by_id = _first_by_id(e for e in entries if isinstance(e, Item))
    items = by_id.values()
    episodes = _first_by_id(e for e in entries if isinstance(e, Episode)).values()
    places = rows.places(by_id, known_places)
    none: Shown = (None, None)
    corrections = [{"id": i.id, "corrects": i.corrects, "place": places[i.id]} for i in items if i.corrects is not None]

    _each(engine, "merge_sessions", sessions)
    _each(engine, "create_entities", names.new())
    _each(engine, "create_episodes", [rows.episode_row(e) for e in episodes])
    _each(engine, "link_mentions", [{"id": e.id, "key": names.key(n)} for e in episodes for n in e.mentions])
    _each(engine, "create_items", [rows.item_row(i, places[i.id], shown.get(i.id, none)) for i in items])
    _each(engine, "link_about", [{"id": i.id, "key": names.key(n)} for i in items for n in i.about])
    _each(engine, "link_evidence", [{"id": i.id, "episode": e} for i in items for e in i.evidence])
    _each(engine, "link_corrections", corrections)
    _each(engine, "create_links", [rows.link_row(e) for e in _distinct(entries, Link)])
    _each(engine, "create_endings", [rows.ending_row(e) for e in _distinct(entries, Ending)])
    _each(engine, "create_reviews", [rows.review_row(e) for e in _distinct(entries, Review)])


def _names(entries: Iterable[Entry]) -> Names:
    names = Names()
    for entry in entries:
        names.take(entry)
    return names


def _unknown(engine: Runs, entries: Iterable[Entry]) -> list[Entry]:
    """The entries that are not there yet: items and episodes by their ids, the others by all they say."""
    asked: dict[str, list[str]] = {"members": [], "episodes": [], "links": [], "endings": [], "reviews": []}
    for entry in entries:
        if isinstance(entry, Item):
            asked["members"].append(entry.id)
        elif isinstance(entry, Episode):
            asked["episodes"].append(entry.id)
        elif isinstance(entry, Link):
            asked["links"].append(entry.old)
        elif isinstance(entry, Ending):
            asked["endings"].append(entry.id)
        elif isinstance(entry, Review):
            asked["reviews"].append(entry.target.id)
    found = {name: statements.run(engine, name, ids=sorted(set(ids))) for name, ids in asked.items()}
    items = {row["id"] for row in found["members"]}
    episodes = {row["id"] for row in found["episodes"]}
    others: set[Entry] = {rows.link(row) for row in found["links"]}
    others |= {rows.ending(row) for row in found["endings"]}
    others |= {rows.review(row) for row in found["reviews"]}

    def known(entry: Entry) -> bool:
        if isinstance(entry, Item):
            return entry.id in items
        return entry.id in episodes if isinstance(entry, Episode) else entry in others

    return [entry for entry in entries if not known(entry)]


def _replace_stretches(engine: Runs, stretches: Stretches) -> None:
    before = rows.stretches(stretches, statements.run(engine, "stretches", ids=list(stretches)))
    changed = {id: its for id, its in stretches.items() if set(its) != set(before[id])}
    if gone := [id for id in changed if before[id]]:
        statements.run(engine, "drop_stretches", ids=gone)
    _each(engine, "create_stretches", rows.stretch_rows(changed))


def _each(engine: Runs, name: str, batch: Sequence[Row]) -> None:
    for start in range(0, len(batch), _BATCH):
        statements.run(engine, name, rows=batch[start : start + _BATCH])


def _distinct(entries: Iterable[Entry], kind: type[_T]) -> Iterable[_T]:
    return dict.fromkeys(e for e in entries if isinstance(e, kind))


def _first_by_id(entries: Iterable[_E]) -> dict[str, _E]:
    """By id; of several with one id (a damaged ledger) the earliest recorded counts, whatever the order."""
    found: dict[str, _E] = {}
    for entry in entries:
        there = found.get(entry.id)
        if there is None or (entry.recorded_at, entry.session) < (there.recorded_at, there.session):
            found[entry.id] = entry
    return found
