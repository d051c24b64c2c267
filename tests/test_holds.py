"""The rule of the two axes: the sweep and the store against the oracle, and the laws that follow from the rule."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from ledger_cli import holds, invariants
from ledger_cli.errors import LedgerError
from ledger_cli.history import History, state_at
from ledger_cli.instant import LAST, days_late
from ledger_cli.model import Item
from ledger_cli.store import engine
from ledger_cli.store.graph import Graph
from tests.in_memory import Memory, invent
from tests.oracle import FOREVER

QUESTIONS = int(os.environ.get("LEDGER_QUESTIONS", "4000"))
"""How many questions the comparison with the oracle asks; 100,000 for a long run."""


def instants(memory: Memory) -> tuple[list[datetime], list[datetime]]:
    """Valid and record instants at which an answer can change, each with its neighbours."""
    oracle, tick = memory.oracle(), timedelta(microseconds=1)
    valid = sorted({t + d for t in oracle.boundaries for d in (-tick, 0 * tick, tick)})
    known = sorted({t + d for t in oracle.writes for d in (-tick, 0 * tick, tick)})
    return valid, known


def held(stretches: dict[str, list[Any]], x: datetime, k: datetime) -> list[str]:
    return sorted(
        id
        for id, its in stretches.items()
        if any(start <= x and (end is None or x < end) for start, end in holds.known_at(its, k))
    )


def graph_of(memory: Memory) -> Graph:
    history = History(memory.entries)
    stretches = holds.sweep(history)
    return Graph.build(engine.get("kglite"), memory.entries, stretches, holds.ends(history.items, stretches))


def test_the_sweep_and_the_store_answer_as_the_oracle_does() -> None:
    asked, seed = 0, int(os.environ.get("LEDGER_SEED", "0"))
    while asked < QUESTIONS:
        memory = invent(seed)
        seed += 1
        if not memory.entries:
            continue
        oracle, rng = memory.oracle(), random.Random(seed)
        stretches, graph = holds.sweep(History(memory.entries)), graph_of(memory)
        valid, known = instants(memory)
        for _ in range(40):
            x, k = rng.choice(valid), rng.choice([*known, LAST])
            right = oracle.believed(x, k)
            assert held(stretches, x, k) == right, (seed - 1, x, k)
            assert sorted(i.id for i in graph.holding(None, x, k)) == right, (seed - 1, x, k)
            asked += 1


@pytest.mark.parametrize("seed", range(60))
def test_what_is_shown_with_an_item_is_as_the_oracle_says(seed: int) -> None:
    memory = invent(1000 + seed)
    oracle, history = memory.oracle(), History(memory.entries)
    stretches = holds.sweep(history)
    for k in [*oracle.writes, LAST]:
        for id, item in history.items.items():
            if item.recorded_at <= k:
                got = holds.shown(item, stretches[id], k)
                assert [list(i) for i in got.holds] == oracle.stretches(id, k), (id, k)
                assert got.valid_to == oracle.valid_to(id, k), (id, k)
                assert got.closed_at == oracle.closed_at(id, k), (id, k)


def test_a_diff_and_the_lateness_are_as_the_oracle_says() -> None:
    compared = 0
    for seed in range(2000, 2060):
        memory = invent(seed)
        oracle, history = memory.oracle(), History(memory.entries)
        if not oracle.writes:
            continue
        first = oracle.writes[0] - timedelta(days=1)
        got = holds.changes(history, holds.sweep(history), first, FOREVER)
        names = ("added", "closed", "reopened", "rejected", "reinstated", "ended")
        told = [{"at": c.at, **{n: list(getattr(c, n)) for n in names}} for c in got]
        assert told == oracle.diff(first, FOREVER), seed
        late = sorted(((i.id, days_late(i.valid_from, i.recorded_at)) for i in history.items.values()), key=_late)
        assert late == oracle.lateness(), seed
        compared += 1
    assert compared >= 50


def _late(row: tuple[str, int]) -> tuple[int, str]:
    return -row[1], row[0]


@pytest.mark.parametrize("seed", range(60))
def test_no_accepted_history_has_two_current_answers(seed: int) -> None:
    memory = invent(3000 + seed, sessions=20)
    history = History(memory.entries)
    assert invariants.slot_conflicts(history.items.values(), holds.sweep(history)) == []
    assert memory.oracle().slot_conflicts() == []


def test_a_diff_of_a_window_is_the_same_from_what_the_store_says_was_touched() -> None:
    compared = 0
    for seed in range(4000, 4040):
        memory = invent(seed)
        writes = sorted({e.recorded_at for e in memory.entries})
        if len(writes) < 4:
            continue
        graph, history = graph_of(memory), History(memory.entries)
        after, until = writes[len(writes) // 4], writes[-2]
        part = History(graph.touched(after, until))
        some = {id: graph.stretches([id])[id] for id in part.items}
        whole = holds.changes(history, holds.sweep(history), after, until)
        assert holds.changes(part, some, after, until) == whole, seed
        compared += 1
    assert compared >= 30


# Laws: what is done and undone leaves every answer about the present as it was.


def now(memory: Memory, *without: str) -> dict[str, tuple[Any, ...]]:
    """Where each item holds, with all that is known."""
    stretches = holds.sweep(History(memory.entries))
    return {id: holds.known_at(its, LAST) for id, its in stretches.items() if id not in without}


def last(memory: Memory) -> datetime:
    return max(e.recorded_at for e in memory.entries)


def clock(at: datetime, step: int) -> str:
    return (at + timedelta(seconds=step)).isoformat()


def some_items(memory: Memory, rng: random.Random) -> list[Item]:
    """Items that may be corrected, linked or ended, in random order."""
    history = History(memory.entries)
    state = state_at(history)
    free = [i for i in history.items.values() if state.live_correction(i.id) is None]
    rng.shuffle(free)
    return free


Step = Callable[[Memory, random.Random], tuple[dict[str, Any], dict[str, Any]] | None]


def supersede(memory: Memory, rng: random.Random) -> tuple[dict[str, Any], dict[str, Any]] | None:
    for old in some_items(memory, rng):
        new: dict[str, Any] = {"id": "law", "text": "law", "supersedes": old.id, "about": ["law"]}
        new["validFrom"] = (old.valid_from + timedelta(days=rng.randint(-3, 40))).isoformat()
        if old.slot:
            new["slot"] = old.slot
        return {f"{old.kind}s": [new]}, {"reviews": [verdict("reject", "law")]}
    return None


def correct(memory: Memory, rng: random.Random) -> tuple[dict[str, Any], dict[str, Any]] | None:
    for old in some_items(memory, rng):
        new = {"id": "law", "text": "law", "corrects": old.id, "validTo": "open"}
        new["validFrom"] = (old.valid_from + timedelta(days=rng.randint(-5, 5))).isoformat()
        return {f"{old.kind}s": [new]}, {"reviews": [verdict("reject", "law")]}
    return None


def reject(memory: Memory, rng: random.Random) -> tuple[dict[str, Any], dict[str, Any]] | None:
    history = History(memory.entries)
    rejected = state_at(history).rejected
    free = [i for i in history.items if i not in rejected]
    if not free:
        return None
    id = rng.choice(free)
    return {"reviews": [verdict("reject", id)]}, {"reviews": [verdict("reinstate", id)]}


def link(memory: Memory, rng: random.Random) -> tuple[dict[str, Any], dict[str, Any]] | None:
    history = History(memory.entries)
    recorded = state_at(history).links
    items = some_items(memory, rng)
    for old in items:
        for new in items:
            pair = (history.place[old.id], history.place[new.id])
            if pair[0] != pair[1] and pair not in recorded and old.kind == new.kind and not old.slot and not new.slot:
                target = {"old": old.id, "new": new.id}
                return {"supersessions": [target]}, {"reviews": [verdict("reject", target)]}
    return None


def end(memory: Memory, rng: random.Random) -> tuple[dict[str, Any], dict[str, Any]] | None:
    history = History(memory.entries)
    ended = {history.place[e.id] for e in history.endings}
    for item in some_items(memory, rng):
        if history.place[item.id] not in ended:
            on = (item.valid_from + timedelta(days=rng.randint(0, 30))).isoformat()
            ending = {"id": item.id, "validTo": on, "by": "sam"}
            return {"endings": [ending]}, {"reviews": [verdict("reject", {"end": item.id})]}
    return None


def verdict(verb: str, target: object) -> dict[str, Any]:
    return {verb: target, "by": "sam", "reason": "law"}


@pytest.mark.parametrize("step", [supersede, correct, reject, link, end], ids=lambda s: s.__name__)
def test_done_and_undone_is_as_before(step: Step) -> None:
    told = 0
    for seed in range(120):
        memory, rng = invent(5000 + seed), random.Random(seed)
        if not memory.entries or (plan := step(memory, rng)) is None:
            continue
        do, undo = plan
        before, at = now(memory), last(memory)
        try:
            memory.apply({"session": "law-1", "at": clock(at, 1), **do})
            changed = now(memory, "law") != before
            memory.apply({"session": "law-2", "at": clock(at, 2), **undo})
        except LedgerError:
            continue
        told += changed
        assert now(memory, "law") == before, (seed, do)
    assert told >= 20  # it was undone where there was something to undo


def test_a_correction_of_the_text_alone_is_a_renaming() -> None:
    told = 0
    for seed in range(60):
        memory, rng = invent(6000 + seed), random.Random(seed)
        for old in some_items(memory, rng)[:1]:
            before, at = now(memory), last(memory)
            if old.id in state_at(History(memory.entries)).rejected:
                continue
            memory.apply(
                {
                    "session": "law",
                    "at": clock(at, 1),
                    f"{old.kind}s": [{"id": "law", "corrects": old.id, "text": "new"}],
                }
            )
            after = now(memory)
            told += bool(before[old.id])
            assert after.pop("law") == before[old.id]
            assert after.pop(old.id) == ()
            before.pop(old.id)
            assert after == before
    assert told >= 20


def test_a_second_ending_replaces_the_first() -> None:
    memory = Memory()
    memory.apply({"session": "a", "at": "2024-01-01T09:00:00Z", "decisions": [{"id": "d", "text": "d"}]})
    for n, on in enumerate(["2024-03-01", "2024-02-01", "2024-05-01"], 2):
        memory.apply(
            {"session": f"e{n}", "at": f"2024-01-0{n}T09:00:00Z", "endings": [{"id": "d", "validTo": on, "by": "sam"}]}
        )
        assert [i[1].date().isoformat() for i in now(memory)["d"]] == [on]


@pytest.mark.parametrize("seed", range(40))
def test_nothing_recorded_later_changes_what_was_known(seed: int) -> None:
    memory = invent(7000 + seed)
    valid, known = instants(memory)
    rng = random.Random(seed)
    whole = holds.sweep(History(memory.entries))
    for k in rng.sample(known, min(6, len(known))):
        part = [e for e in memory.entries if e.recorded_at <= k]
        then = holds.sweep(History(part))
        for x in rng.sample(valid, min(12, len(valid))):
            assert held(then, x, k) == held(whole, x, k)


@pytest.mark.parametrize("seed", range(40))
def test_the_order_of_the_entries_decides_nothing(seed: int) -> None:
    memory = invent(8000 + seed)
    shuffled = list(memory.entries)
    random.Random(seed).shuffle(shuffled)
    assert _as_sets(holds.sweep(History(shuffled))) == _as_sets(holds.sweep(History(memory.entries)))


def _as_sets(stretches: dict[str, list[Any]]) -> dict[str, set[Any]]:
    return {id: set(its) for id, its in stretches.items()}


def test_a_circle_that_a_bad_merge_made_is_answered_as_the_oracle_does() -> None:
    memory = Memory()
    for n, id in enumerate("abc", 1):
        memory.apply({"session": f"s{n}", "at": f"2024-01-0{n}T09:00:00Z", "decisions": [{"id": id, "text": id}]})
    for n, (old, new) in enumerate(["ab", "bc", "ca"], 4):
        other = Memory(memory.entries[:3])
        write = other.apply(
            {"session": f"s{n}", "at": f"2024-01-0{n}T09:00:00Z", "supersessions": [{"old": old, "new": new}]}
        )
        assert write is not None
        memory.entries += write.entries
    oracle, stretches = memory.oracle(), holds.sweep(History(memory.entries))
    valid, known = instants(memory)
    for x in valid:
        for k in known:
            assert held(stretches, x, k) == oracle.believed(x, k)


def test_a_long_chain_and_a_ladder_of_diamonds_are_swept_whole() -> None:
    chain = Memory()
    for n in range(400):
        at = datetime.fromisoformat("2024-01-01T00:00:00+00:00") + timedelta(days=n)
        chain.apply(
            {"session": f"c{n}", "at": at.isoformat(), "decisions": [{"id": f"c{n}", "text": "c", "slot": "s"}]}
        )
    stretches = holds.sweep(History(chain.entries))
    assert all(len([s for s in its if s.known_to is None]) == 1 for its in stretches.values())
    assert len(chain.entries) == 400 + 399  # each new item is linked to its neighbour alone


def test_a_correction_of_a_rejected_correction_still_stands_for_the_first() -> None:
    memory = Memory()
    days = iter(range(1, 9))

    def apply(**brings: Any) -> None:
        day = next(days)
        memory.apply({"session": f"s{day}", "at": f"2024-01-0{day}T09:00:00Z", **brings})

    apply(decisions=[{"id": "d", "text": "d", "validFrom": "2024-01-01"}])
    apply(decisions=[{"id": "c1", "text": "c1", "corrects": "d"}])
    apply(decisions=[{"id": "c2", "text": "c2", "corrects": "c1"}])
    apply(reviews=[verdict("reject", "c1")])
    assert {id for id, its in now(memory).items() if its} == {"c2"}
    apply(reviews=[verdict("reject", "c2")])
    assert {id for id, its in now(memory).items() if its} == {"d"}
    oracle, stretches = memory.oracle(), holds.sweep(History(memory.entries))
    for x in oracle.boundaries:
        for k in oracle.writes:
            assert held(stretches, x, k) == oracle.believed(x, k)
