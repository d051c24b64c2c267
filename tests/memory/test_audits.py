"""What a record of calls tells, as against a reading of the same calls by hand."""

from __future__ import annotations

import random

import pytest

from ledger_cli.memory import audits
from ledger_cli.memory.calls import Node, ToolCall, touched

FACT, OTHER, ENTITY = Node("fact", "f1"), Node("fact", "f2"), Node("entity", "orders")


def call(seq: int, status: str, *nodes: Node, session: str = "s1", ts: int | None = None, **keys: object) -> ToolCall:
    keys.setdefault("tool", "recall" if status == "read" else "remember")
    error = "no" if status == "rolled_back" else None
    at = seq * 1000 if ts is None else ts
    return ToolCall(session, seq, status=status, ts=at, touched=touched(nodes), error=error, **keys)  # type: ignore[arg-type]


CALLS = [
    call(1, "read", ENTITY),
    call(2, "committed", FACT, ENTITY, rows=1),
    call(3, "rolled_back"),
    call(4, "read", FACT, ENTITY, rows=2),
    call(1, "read", FACT, session="s2", ts=1500),  # before it was written, by the clock
    call(2, "read", FACT, session="s2", ts=4500),
    call(5, "committed", FACT),
    call(6, "read", OTHER),
]


def numbers(calls: tuple[ToolCall, ...]) -> list[tuple[str, int]]:
    return [(c.session, c.seq) for c in calls]


def test_the_first_committed_call_wrote_it_and_reads_after_it_count() -> None:
    (found,) = audits.lineage(CALLS, "f1")
    assert (found.node, found.wrote) == (FACT, CALLS[1])
    assert numbers(found.changed) == [("s1", 5)]
    assert numbers(found.read) == [("s1", 4), ("s2", 2)]


def test_what_no_call_wrote_has_all_its_reads() -> None:
    (found,) = audits.lineage(CALLS, "f2")
    assert (found.wrote, numbers(found.read)) == (None, [("s1", 6)])


@pytest.mark.parametrize("subject", ["orders", "ORDERS", "  Orders", "entity orders"])
def test_an_entity_is_found_however_it_is_spelled(subject: str) -> None:
    (found,) = audits.lineage(CALLS, subject)
    assert found.node == ENTITY
    assert numbers(found.read) == [("s1", 4)]


def test_one_word_for_several_things_finds_them_all() -> None:
    calls = [call(1, "committed", Node("fact", "x"), Node("entity", "x"), Node("episode", "x"))]
    assert [str(one.node) for one in audits.lineage(calls, "x")] == ["entity x", "episode x", "fact x"]
    assert [str(one.node) for one in audits.lineage(calls, "episode x")] == ["episode x"]
    assert audits.lineage(calls, "y") == []


def test_nodes_count_what_ended_well() -> None:
    found = {str(use.node): (numbers(use.committed), use.reads) for use in audits.nodes(CALLS)}
    assert found == {
        "entity orders": ([("s1", 2)], 2),
        "fact f1": ([("s1", 2), ("s1", 5)], 3),
        "fact f2": ([], 1),
    }


def test_the_latest_come_newest_first_over_all_sessions() -> None:
    assert numbers(tuple(audits.recent(CALLS, 4))) == [("s1", 6), ("s1", 5), ("s2", 2), ("s1", 4)]


def test_tools_add_up() -> None:
    rng = random.Random(7)
    calls = [
        call(n, rng.choice(["read", "committed", "rolled_back"]), tool=rng.choice("abc"), rows=rng.randrange(4),
             took=float(rng.randrange(1000)))
        for n in range(1, 200)
    ]  # fmt: skip
    found = audits.tools(calls)
    assert [use.tool for use in found] == ["a", "b", "c"]
    for use in found:
        mine = [c for c in calls if c.tool == use.tool]
        assert (use.calls, use.rows) == (len(mine), sum(c.rows for c in mine))
        assert use.read + use.committed + use.rolled_back == use.calls
        for value, percent in ((use.p50, 50), (use.p95, 95)):
            assert sum(c.took <= value for c in mine) * 100 >= percent * len(mine)
            assert sum(c.took < value for c in mine) * 100 < percent * len(mine)


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [([], 50, 0), ([3], 50, 3), ([3], 95, 3), ([1, 2], 50, 1), ([1, 2, 3, 4], 50, 2), (list(range(1, 101)), 95, 95)],
)
def test_a_percentile_is_a_value_that_was_measured(values: list[float], percent: int, expected: float) -> None:
    assert audits.percentile(values, percent) == expected
