"""Scales: instants fall in order, ticks stand where calendars put them, and no year breaks one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger_cli.instant import LAST, parse
from ledger_cli.scale import FIRST, Scale

INSTANTS = st.datetimes(timezones=st.just(UTC))


@given(st.lists(INSTANTS, min_size=1, max_size=8), st.integers(1, 20))
def test_instants_keep_their_order_and_ticks_are_at_most_as_many_as_fit(found: list[datetime], most: int) -> None:
    scale = Scale.over(found)
    assert scale.start < scale.end
    places = [scale.place(at) for at in sorted(found)]
    assert places == sorted(places)
    assert all(0 <= place <= 1 for place in places)
    assert scale.place(None) == 1
    ticks = scale.ticks(most)
    assert len(ticks) <= most
    assert all(scale.shows(tick.at) for tick in ticks)
    assert all(a.at < b.at for a, b in pairwise(ticks))


@pytest.mark.parametrize(
    ("start", "end", "labels"),
    [
        ("2024-01-01", "2024-02-12", ["2024-01", "2024-02"]),
        ("2024-01-30", "2024-03-02", ["2024-02", "2024-03"]),
        ("2000-07-13", "2026-01-01", ["2010", "2020"]),
        ("2023-12-31", "2024-01-01T02:00:00Z", ["2023-12-31 00:00", "12:00", "2024-01-01 00:00"]),
        ("2024-01-01T01:00:00Z", "2024-01-01T23:00:00Z", ["2024-01-01 12:00", "2024-01-02 00:00"]),
    ],
)
def test_ticks_are_the_finest_that_fit(start: str, end: str, labels: list[str]) -> None:
    assert [tick.label for tick in Scale.over([parse(start), parse(end)]).ticks(3)] == labels


def test_a_month_of_ten_day_steps_has_no_tick_a_day_before_the_next_first() -> None:
    labels = [t.label for t in Scale.over([parse("2024-01-01"), parse("2024-03-01")]).ticks(8)]
    assert labels == [
        "2024-01-01", "2024-01-11", "2024-01-21", "2024-02-01", "2024-02-11", "2024-02-21", "2024-03-01",
    ]  # fmt: skip


def test_an_end_for_good_does_not_squeeze_the_rest() -> None:
    lived = [parse("2024-01-01"), parse("2024-06-01")]
    far = [parse("9999-12-31"), LAST, parse("0001-01-01"), FIRST]
    for lone in ([at] for at in far), combinations(far, 2):
        for ats in lone:
            scale = Scale.over([*lived, *(lived[0] + timedelta(days=n) for n in range(3)), *ats])
            assert scale.end - scale.start < timedelta(days=365)
            assert not any(map(scale.shows, ats))
            assert all(scale.place(at) in (0, 1) for at in ats)


@pytest.mark.parametrize("years", [(1, 1012, 2024), (1990, 2012, 2034), (1900, 1950, 2000, 2050), (1500, 2024)])
def test_what_is_sparse_all_over_is_shown_whole(years: tuple[int, ...]) -> None:
    found = [datetime(year, 1, 1, tzinfo=UTC) for year in years]
    assert all(map(Scale.over(found).shows, found))


def test_one_instant_alone_has_a_day_around_it() -> None:
    at = parse("2024-02-06T09:00:00Z")
    scale = Scale.over([at])
    assert scale.start < at < scale.end
    assert scale.ticks(6)
    assert Scale.over([]).start < Scale.over([]).end
