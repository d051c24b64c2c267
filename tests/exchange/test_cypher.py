"""Cypher that builds the graph anew: run on the embedded engine, it is the graph that the store keeps."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

import hostile
import pytest

from ledger_cli import holds
from ledger_cli.exchange import cypher
from ledger_cli.history import History
from ledger_cli.model import Ending, Entry, Episode, Item, Link, Review
from ledger_cli.store.graph import Graph
from ledger_cli.store.kglite_engine import KgliteEngine
from tests.in_memory import invent

if TYPE_CHECKING:
    from tests.conftest import Repo

EVERYTHING = (
    "MATCH (d:Item) OPTIONAL MATCH (d)-[r]->(o) "
    "RETURN properties(d) AS item, type(r) AS edge, properties(r) AS on, properties(o) AS other"
)
REST = "MATCH (n)-[r]->(o) WHERE NOT n:Item RETURN properties(n) AS node, type(r) AS edge, properties(o) AS other"


def statements(text: str) -> list[str]:
    """The statements of a script, told apart as a client tells them: by semicolons outside of strings and comments."""
    found, at = [""], 0
    for piece in re.finditer(r"'(?:[^'\\]|\\.)*'|//[^\n]*|.", text, re.DOTALL):
        if piece[0] == ";":
            found.append("")
        elif not piece[0].startswith("//"):
            found[-1] += piece[0]
        at = piece.end()
    assert at == len(text)
    assert found[-1].strip() == ""
    return [statement.strip() for statement in found[:-1]]


def built(text: str) -> KgliteEngine:
    engine = KgliteEngine.new()
    for statement in statements(text):
        engine.run(statement, {})
    return engine


def stored(entries: list[Entry]) -> KgliteEngine:
    engine: list[KgliteEngine] = []

    class Kept(KgliteEngine):
        @classmethod
        def new(cls) -> Any:
            engine.append(KgliteEngine.new())
            return engine[0]

    history = History(entries)
    stretches = holds.sweep(history)
    Graph.build(Kept, entries, stretches, holds.ends(history.items, stretches))
    return engine[0]


def rows(engine: KgliteEngine) -> list[str]:
    return sorted(repr(row) for query in (EVERYTHING, REST) for row in engine.run(query, {}))


@pytest.mark.parametrize("seed", range(12))
def test_what_it_builds_is_the_graph_of_the_store(seed: int) -> None:
    entries = invent(seed, 20).entries
    made, kept = built(cypher.write(entries)), stored(entries)
    assert Graph(made).counts() == Graph(kept).counts()
    assert rows(made) == rows(kept)


def test_hostile_texts_are_texts_in_it() -> None:
    entries = hostile.memory().entries
    made = built(cypher.write(entries))
    items = {row["id"]: row for row in made.run("MATCH (d:Item) RETURN d.id AS id, d.text AS t, d.rationale AS r", {})}
    assert items == {e.id: {"id": e.id, "t": e.text, "r": e.rationale} for e in entries if isinstance(e, Item)}
    counts = Graph(made).counts()
    for label, kind in (("Episode", Episode), ("Ending", Ending), ("SUPERSEDES", Link), ("Review", Review)):
        assert counts.get(label, 0) == sum(isinstance(e, kind) for e in entries), label


def test_no_literal_holds_what_some_readers_turn_into_a_quote() -> None:
    text = cypher.write(hostile.memory().entries)
    assert "u0027" in text
    assert re.search(r"\\u", text, re.IGNORECASE) is None


@pytest.mark.parametrize("question", ["as-of", "believed"])
def test_the_answers_of_both_axes_are_those_of_the_ledger(story: Repo, question: str) -> None:
    made = Graph(built(story.run("export", "--format", "cypher").out))
    entries = story.run("export", "--format", "jsonl").out
    assert entries
    days = [f"2024-{month:02}-{day:02}" for month in range(1, 5) for day in range(1, 29, 3)]
    asked = 0
    for day in days:
        for entity in ("orders", "search", "payments", None):
            at = datetime.fromisoformat(f"{day}T00:00:00+00:00")
            known = at if question == "believed" else datetime.max.replace(tzinfo=at.tzinfo)
            found = [item.id for item in made.holding(entity, at, known)]
            said = story.run(question, *([entity] if entity else []), day, "--json").ids
            assert found == said, (entity, day)
            asked += len(said)
    assert asked > 50


def test_large_ledgers_are_statements_of_few_rows_and_constraints_come_first() -> None:
    text = cypher.write(hostile.memory().entries)
    found = statements(text)
    labels = [re.search(r"FOR \(n:(\w+)\)", s) for s in found]
    assert [m[1] for m in labels[:4] if m] == ["Item", "Entity", "Episode", "Session"]
    assert not any(labels[4:])
    assert max(s.count("\n  {") for s in found) == 200


def test_an_empty_ledger_is_constraints_alone(repo: Repo) -> None:
    assert len(statements(repo.run("export", "--format", "cypher").out)) == 4
