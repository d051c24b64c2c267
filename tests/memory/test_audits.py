"""What a record of calls tells, as against a reading of the same calls by hand."""

from __future__ import annotations

import random

import pytest

from ledger_cli.memory import audits
from ledger_cli.memory.calls import Node, ToolCall, touched

FACT, OTHER, ENTITY = Node("fact", "f1"), Node("fact", "f2"), Node("entity", "orders")


def call(
    seq: int,
    status: str,
    *nodes: Node,
    session: str = "s1",
    ts: int | None = None,
    wrote: tuple[Node, ...] = (),
    **keys: object,
) -> ToolCall:
    keys.setdefault("tool", "recall" if status == "read" else "remember")
    error = "no" if status == "rolled_back" else None
    at = seq * 1000 if ts is None else ts
    keys |= {"touched": touched(nodes), "wrote": touched(wrote), "error": error}
    return ToolCall(session, seq, status=status, ts=at, **keys)  # type: ignore[arg-type]


CALLS = [
    call(1, "committed", ENTITY),  # of an item about it, when it was known already
    call(2, "committed", FACT, ENTITY, rows=1, wrote=(FACT,)),
    call(3, "rolled_back"),
    call(4, "read", FACT, ENTITY, rows=2),
    call(1, "read", FACT, session="s2", ts=1500),  # began before the write, and ended after it
    call(2, "read", FACT, session="s2", ts=4500),
    call(5, "committed", FACT),
    call(6, "read", OTHER),
]


def numbers(calls: tuple[ToolCall, ...]) -> list[tuple[str, int]]:
    return [(c.session, c.seq) for c in calls]


def test_the_call_that_brought_it_wrote_it_and_the_others_wrote_on_it() -> None:
    (found,) = audits.lineage(CALLS, "f1")
    assert (found.node, found.wrote) == (FACT, CALLS[1])
    assert numbers(found.changed) == [("s1", 5)]
    assert numbers(found.read) == [("s2", 1), ("s1", 4), ("s2", 2)]


def test_what_no_call_wrote_has_all_its_reads() -> None:
    (found,) = audits.lineage(CALLS, "f2")
    assert (found.wrote, numbers(found.read)) == (None, [("s1", 6)])


@pytest.mark.parametrize("subject", ["orders", "ORDERS", "  Orders", "entity orders"])
def test_an_entity_is_found_however_it_is_spelled(subject: str) -> None:
    (found,) = audits.lineage(CALLS, subject)
    assert found.node == ENTITY
    assert (found.wrote, numbers(found.changed), numbers(found.read)) == (None, [("s1", 1), ("s1", 2)], [("s1", 4)])


def test_one_word_for_several_things_finds_them_all() -> None:
    calls = [call(1, "committed", Node("fact", "x"), Node("entity", "x"), Node("episode", "x"))]
    assert [str(one.node) for one in audits.lineage(calls, "x")] == ["entity x", "episode x", "fact x"]
    assert [str(one.node) for one in audits.lineage(calls, "episode x")] == ["episode x"]
    assert audits.lineage(calls, "y") == []


def test_nodes_count_what_ended_well() -> None:
    found = {str(use.node): (use.wrote, numbers(use.changed), use.reads) for use in audits.nodes(CALLS)}
    assert found == {
        "entity orders": (None, [("s1", 1), ("s1", 2)], 1),
        "fact f1": (CALLS[1], [("s1", 5)], 3),
        "fact f2": (None, [], 1),
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
