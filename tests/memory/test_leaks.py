"""Nothing that was learned later, and nothing that does not hold, comes into an answer: over random ledgers."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from ledger_cli import checkpoint
from ledger_cli.ledger import Ledger
from ledger_cli.memory.recall import Memory, Recalled, recall
from ledger_cli.model import Entry, entity_key
from tests.conftest import NOW
from tests.in_memory import invent
from tests.oracle import Oracle

QUESTIONS = (
    "what about orders?", "Payments", "team blue", "équipe?", "postgres or mysql", "which database", "cache",
    "why was it decided", "", "on call",
)  # fmt: skip
LEDGERS, MOMENTS = 20, 50


class Hashed:
    """A vector made of a text's digest: near or far without sense, and always the same."""

    name = "hashed"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[byte - 100.0 for byte in sha256(text.encode()).digest()[:8]] for text in texts]


def opened(folder: Path, entries: Sequence[Entry]) -> Ledger:
    Ledger.init(folder)
    (folder / "snapshots" / "ledger.json").write_bytes(checkpoint.render(entries))
    return Ledger(folder, clock=lambda: NOW)


def moments(oracle: Oracle, pick: random.Random) -> Iterator[tuple[datetime, datetime]]:
    """Pairs of (valid, known), most of them at or beside an instant at which something changes."""

    def near(times: Sequence[datetime]) -> datetime:
        beside = timedelta(microseconds=pick.choice((-1, 0, 0, 1)))
        return pick.choice(times) + beside if times else datetime(2024, 1, 1, tzinfo=UTC)

    for _ in range(MOMENTS):
        yield near(oracle.boundaries), near(oracle.writes)


def memories(found: Recalled) -> tuple[Memory, ...]:
    return (*found.facts, *found.decisions, *found.items)


@pytest.mark.parametrize("seed", range(LEDGERS))
def test_what_is_told_holds_and_was_known(tmp_path: Path, seed: int) -> None:
    memory = invent(seed)
    oracle, pick = memory.oracle(), random.Random(seed)
    ledger = opened(tmp_path, memory.entries)
    recorded = {id: item["recordedAt"] for id, item in oracle.items.items()}
    for valid, known in moments(oracle, pick):
        embedder = pick.choice((None, Hashed()))
        found = recall(ledger, pick.choice(QUESTIONS), valid=valid, known=known, limit=1000, embedder=embedder)
        told = [*(m.row for m in memories(found)), *(n.row for n in found.nearby)]
        for row in told:
            assert recorded[row.item.id] <= known
            assert oracle.holds(row.item.id, valid, known), (seed, row.item.id, valid, known)
        for row in (past.row for past in found.history):
            assert recorded[row.item.id] <= known
            assert not oracle.holds(row.item.id, valid, known)
        for m in memories(found):
            assert all(old.recorded_at <= known for old in m.replaced)
            assert all(episode.recorded_at <= known for episode in m.evidence)
        if found.entity is not None:
            ids = {m.row.item.id for m in memories(found)}
            assert ids == set(oracle.believed(valid, known, found.entity)), (seed, found.entity, valid, known)


@pytest.mark.parametrize("seed", range(LEDGERS))
def test_what_is_learned_later_changes_nothing_in_an_answer_not_even_a_score(tmp_path: Path, seed: int) -> None:
    memory = invent(100 + seed)
    oracle, pick = memory.oracle(), random.Random(seed)
    ledger = opened(tmp_path / "all", memory.entries)
    for n, known in enumerate(pick.sample(oracle.writes, min(3, len(oracle.writes)))):
        then = opened(tmp_path / f"then-{n}", [e for e in memory.entries if e.recorded_at <= known])
        for question in QUESTIONS:
            valid = pick.choice(oracle.boundaries)
            asked = {"valid": valid, "known": known, "limit": pick.choice((2, 100)), "embedder": Hashed()}
            assert recall(ledger, question, **asked) == recall(then, question, **asked), (seed, question, known)


@pytest.mark.parametrize("seed", range(5))
def test_nearby_are_the_facts_about_an_entity_that_shares_an_item(tmp_path: Path, seed: int) -> None:
    memory = invent(200 + seed, sessions=25)
    oracle, pick = memory.oracle(), random.Random(seed)
    ledger = opened(tmp_path, memory.entries)
    for valid, known in moments(oracle, pick):
        found = recall(ledger, pick.choice(QUESTIONS[:4]), valid=valid, known=known, limit=1000)
        if found.entity is None:
            continue
        keys = {id: {entity_key(a) for a in item.get("about", ())} for id, item in oracle.items.items()}
        holding = oracle.believed(valid, known)
        own = entity_key(found.entity)
        beside = {key for id in holding if own in keys[id] for key in keys[id]} - {own}
        facts = [id for id in holding if "fact" in oracle.items[id] and own not in keys[id]]
        wanted = {(key, id) for id in facts for key in keys[id] & beside}
        assert {(entity_key(n.via), n.row.item.id) for n in found.nearby} == wanted
