"""The ledger as a graph in an embedded engine: what the store is asked, and how it is written.

The rule of the two axes is kept as its answer. For each item the graph holds the rectangles of the plane (valid time x
record time) in which it held, `(item)-[:HOLDS]->(:Stretch)`, so that one statement with four half-open comparisons
answers both axes at any size; walking links in a pattern stops at ten hops, and costs exponential time on diamonds.
Stretches are nodes, not properties of self-loop edges: at 100,000 items (133,000 stretches) a reader loads the nodes
in half the time, for node columns are mapped and edge properties are not; saving and asking take the same time.

Every item carries the label Item beside Decision or Fact: an id is looked up under one label, and ids of both kinds
are one name space. No index is declared: `id` has one built in, and the rest is a scan of a few milliseconds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from ledger_cli.model import Entry, Episode, Item, Kind, Stretch
from ledger_cli.store import rows, statements
from ledger_cli.store.engine import Answer, Engine, Row
from ledger_cli.store.rows import Shown, Words

__all__ = ["Graph", "Shown", "Words"]

_WORK_LIMIT = 5_000_000
"""Rows of intermediate work a stranger's query may cause: 12 times a scan of 100,000 items, and about 650 MB."""


class Graph:
    """One state of the ledger. A graph that failed half-way through `add` is to be dropped, not saved."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @classmethod
    def build(
        cls,
        engine: type[Engine],
        entries: Iterable[Entry],
        stretches: Mapping[str, Sequence[Stretch]],
        shown: Mapping[str, Shown],
    ) -> Self:
        """A new graph of all these entries, in memory. `stretches` and `shown` are by item id, missing = none."""
        empty = engine.new()
        from ledger_cli.store import writing

        writing.fill(empty, entries, stretches, shown)
        return cls(empty)

    @classmethod
    def load(cls, engine: type[Engine], path: Path, writable: bool = False) -> Self:
        """The graph saved at `path`. Raises FileNotFoundError, or DamagedStore for what cannot be read."""
        return cls(engine.load(path, writable))

    def save(self, path: Path) -> None:
        """Write the graph to a new file, whole and durable."""
        self._engine.save(path)

    def frozen(self) -> Self:
        """The graph as it is now; it refuses writes."""
        return type(self)(self._engine.freeze())

    def close(self) -> None:
        self._engine.close()

    def add(
        self, entries: Iterable[Entry], stretches: Mapping[str, Sequence[Stretch]], shown: Mapping[str, Shown]
    ) -> None:
        """Write one session: its entries, and for each item it touched the whole new set of stretches and its ends.

        Twice is once. An id that is there stays as it is; what an entry names must be there, or in the same call:
        a link, a verdict or an ending of an unknown item is left out.
        """
        from ledger_cli.store import writing

        writing.add(self._engine, entries, stretches, shown)

    def add_calls(self, calls: Iterable[Row], touched: Iterable[Row]) -> None:
        """Write an agent's calls, and what each touched: {call, what, id}. What is not here is left out."""
        from ledger_cli.store import writing

        writing.add_calls(self._engine, list(calls), list(touched))

    # What is recorded

    def newest(self) -> datetime | None:
        """The record time of the newest entry; None in an empty ledger."""
        found = self._rows("newest")[0]["at"]
        return rows.instant(found) if found is not None else None

    def session_at(self, id: str) -> datetime | None:
        """The clock of a session; None if nothing is recorded under the id."""
        found = self._rows("sessions", ids=[id])
        return rows.instant(found[0]["at"]) if found else None

    def session_ids(self) -> list[str]:
        """Every session, by clock and id."""
        return [row["id"] for row in self._rows("all_sessions")]

    def sessions(self) -> list[tuple[str, datetime, dict[str, int]]]:
        """Every session with its clock and how many of each sort it brought, by clock and id."""
        sorts = ("decision", "fact", "episode", "link", "ending", "review")
        counts: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(sorts, 0))
        for row in self._rows("session_counts"):
            counts[row["session"]][row["what"]] = row["n"]
        return [(row["id"], rows.instant(row["at"]), counts[row["id"]]) for row in self._rows("all_sessions")]

    def items(self, ids: Iterable[str]) -> dict[str, Item]:
        """The items with these ids, in order of id; unknown ids are left out."""
        return {row["id"]: rows.item(row) for row in self._rows("items", ids=list(ids))}

    def all_items(self) -> list[Item]:
        """Every item, in order of id."""
        return sorted((rows.item(row) for row in self._rows("all_items")), key=lambda i: i.id)

    def slot_items(self) -> list[Item]:
        """The items that have a slot, by slot, valid time, record time and id."""
        return [rows.item(row) for row in self._rows("slot_items")]

    def about(self, key: str) -> list[Item]:
        """The items about an entity, whether they hold or not, by valid time, record time and id."""
        return [rows.item(row) for row in self._rows("about", key=key)]

    def episodes(self, ids: Iterable[str]) -> dict[str, Episode]:
        """The episodes with these ids, in order of id; unknown ids are left out."""
        return {row["id"]: rows.episode(row) for row in self._rows("episodes", ids=list(ids))}

    def entities(self, keys: Iterable[str]) -> dict[str, tuple[str, str | None]]:
        """Name and kind (None: only named so far) of the entities with these keys; unknown keys are left out."""
        return {row["key"]: (row["name"], row["kind"]) for row in self._rows("entities", keys=list(keys))}

    def entity_names(self) -> list[str]:
        """The name of every entity, in order."""
        return [row["name"] for row in self._rows("entity_names")]

    def entities_known(self, known: datetime) -> dict[str, tuple[str, str | None]]:
        """Name and kind (None: not known yet) of every entity that was named by `known`, by key."""
        at = rows.local(known)
        found = (row for row in self._rows("all_entities") if row["namedAt"] <= at)
        return {
            row["key"]: (row["name"], row["kind"] if row["kindAt"] is not None and row["kindAt"] <= at else None)
            for row in found
        }

    def component(self, ids: Iterable[str], slots: Iterable[tuple[Kind, str]] = ()) -> list[Entry]:
        """All that bears on these items and slots: items, then links, endings and reviews, exactly as recorded.

        Closed over corrections and links in both directions and over (kind, slot). Unknown ids are left out.
        """
        seen: set[str] = set()
        asked: set[tuple[str, str]] = set()
        wanted: set[tuple[str, str]] = set(slots)
        found = self._rows("members", ids=list(ids))
        while True:
            new = {row["id"]: row for row in found if row["id"] not in seen}
            seen |= new.keys()
            wanted |= {(row["kind"], row["slot"]) for row in new.values() if row["slot"] is not None}
            if not new and not wanted - asked:
                return self._concerning(sorted(seen))
            found = self._rows("neighbours", ids=list(new)) if new else []
            if ahead := wanted - asked:
                members = self._rows("slot_members", slots=sorted({slot for _, slot in ahead}))
                found += [row for row in members if (row["kind"], row["slot"]) in ahead]
                asked |= ahead

    def touched(self, after: datetime, until: datetime) -> list[Entry]:
        """What writes in `(after, until]` recorded or changed: the items, and all links, endings and reviews of them.

        Not closed over links and corrections: what they come to is in the items' stretches.
        """
        window = {"after": rows.local(after), "until": rows.local(until)}
        return self._concerning(sorted(row["id"] for row in self._rows("touched", **window)))

    def _concerning(self, ids: list[str]) -> list[Entry]:
        found: list[Entry] = list(self.items(ids).values())
        found += [rows.link(row) for row in self._rows("links", ids=ids)]
        found += [rows.ending(row) for row in self._rows("endings", ids=ids)]
        found += [rows.review(row) for row in self._rows("reviews", ids=ids)]
        return found

    # What held

    def stretches(self, ids: Iterable[str]) -> dict[str, list[Stretch]]:
        """For each of the ids, when it held, by (knownFrom, validFrom); empty if it never did."""
        wanted = list(ids)
        return rows.stretches(wanted, self._rows("stretches", ids=wanted))

    def holding(self, key: str | None, at: datetime, known: datetime) -> list[Item]:
        """The items that held at `at`, as known at `known`, by text and id; about an entity, None = all."""
        times = {"at": rows.local(at), "known": rows.local(known)}
        if key is not None:
            return [rows.item(row) for row in self._rows("holding", key=key, **times)]
        found = (rows.item(row) for row in self._rows("holding_all", **times))
        return sorted(found, key=lambda i: (i.text, i.id))

    def facts_beside(self, keys: Iterable[str], at: datetime, known: datetime) -> list[tuple[str, Words]]:
        """The facts that held at `at`, as known at `known`, about any of the entities: with the name of that one.

        In no order; a fact once for each of the entities that it is about.
        """
        found = self._rows("facts_beside", keys=list(keys), at=rows.local(at), known=rows.local(known))
        return [(row["via"], rows.words(row)) for row in found]

    def held(self) -> list[tuple[Words, list[Stretch]]]:
        """The words of every item that ever held, and when it did; by id."""
        found: dict[str, tuple[Words, list[Stretch]]] = {}
        for row in self._rows("held"):
            if row["id"] not in found:
                found[row["id"]] = (rows.words(row), [])
            found[row["id"]][1].append(rows.stretch(row))
        return [found[id] for id in sorted(found)]

    # What people ask

    def search(self, words: str, limit: int = 10) -> list[tuple[Item, float]]:
        """Items by the words of their text and rationale, best first (BM25), ties by id.

        A word that no hit holds is looked for as a part of words, accents and case aside (score 0, after the rest):
        the index knows whole words only, and a run of CJK is one word to it.
        """
        scores = dict(self._engine.search(words, limit)) if words.strip() else {}
        hits = self.items(scores)
        texts = [_folded(f"{i.text}\n{i.rationale or ''}") for i in hits.values()]
        missed = [w for w in {_folded(w) for w in words.split()} if w and not any(w in text for text in texts)]
        if missed and len(scores) < limit:
            for row in self._rows("texts"):
                text = _folded(f"{row['text']}\n{row['rationale'] or ''}")
                if row["id"] not in scores and any(word in text for word in missed):
                    scores[row["id"]] = 0.0
        best = sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))[:limit]
        hits = self.items(id for id, _ in best)
        return [(hits[id], score) for id, score in best]

    def query(
        self, text: str, params: Mapping[str, Any] | None = None, timeout_ms: int = 10_000, row_limit: int = 10_000
    ) -> Answer:
        """Run a stranger's query, which can neither write nor read files nor run for ever. Raises QueryRefused."""
        from ledger_cli.store import guard

        guard.refuse(text)
        return self._engine.bounded(text, params or {}, timeout_ms, _WORK_LIMIT, row_limit)

    def counts(self) -> dict[str, int]:
        """How many nodes carry each label, and how many relationships there are of each type."""
        return {row["what"]: row["n"] for row in self._rows("counts")}

    # Running statements

    def _rows(self, name: str, **params: Any) -> list[Row]:
        return statements.run(self._engine, name, **params)


def _folded(text: str) -> str:
    """Case and accents aside."""
    if text.isascii():
        return text.lower()
    import unicodedata

    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
