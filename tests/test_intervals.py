"""Sets of instants: each operation against the instants themselves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ledger_cli.intervals import meet, subtract, union
from ledger_cli.model import Interval

START = datetime(2024, 1, 1, tzinfo=UTC)
DAYS = range(12)


def day(n: int) -> datetime:
    return START + timedelta(days=n)


def interval(pair: tuple[int, int | None]) -> Interval:
    start, length = pair
    return day(start), None if length is None else day(start + length)


intervals = st.lists(
    st.tuples(st.integers(0, 8), st.one_of(st.none(), st.integers(1, 4))).map(interval), max_size=4
)  # fmt: skip


def covers(intervals: object, at: datetime) -> bool:
    return any(start <= at and (end is None or at < end) for start, end in intervals)  # type: ignore[attr-defined]


@given(intervals, intervals)
def test_union_holds_what_either_holds_in_order_and_never_touching(one: list[Interval], other: list[Interval]) -> None:
    got = union(one, other)
    for n in DAYS:
        assert covers(got, day(n)) == (covers(one, day(n)) or covers(other, day(n)))
    assert all(a[1] is not None and a[1] < b[0] for a, b in pairwise(got))


@given(intervals, intervals)
def test_subtract_holds_what_the_first_holds_and_the_second_does_not(
    one: list[Interval], other: list[Interval]
) -> None:
    got = subtract(union(one), other)
    for n in DAYS:
        assert covers(got, day(n)) == (covers(one, day(n)) and not covers(other, day(n)))
    assert all(end is None or start < end for start, end in got)


@given(intervals, intervals)
def test_meet_is_what_both_hold(one: list[Interval], other: list[Interval]) -> None:
    for a in one:
        for b in other:
            common = meet(a, b)
            for n in DAYS:
                assert covers([common] if common else [], day(n)) == (covers([a], day(n)) and covers([b], day(n)))
