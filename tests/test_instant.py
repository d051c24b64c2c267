"""Times: what is read, what is refused by name, and what is written."""

from __future__ import annotations

import json
import os
import re
import time
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger_cli import instant

# The cases for strings of the public JSON Schema test suite, formats `date-time` and `date`.
VECTORS = json.loads((Path(__file__).parent / "data" / "rfc3339.json").read_text(encoding="utf-8"))

NEVER_A_LEAP_SECOND = {"1998-12-31T23:59:60Z", "1998-12-31T15:59:60.123-08:00"}
NEVER_FINER_THAN_MICROSECONDS = {"1985-04-12T00:59:59.999999999999999Z"}
A_TIME_WHERE_A_DATE_WAS_ASKED = {"2020-11-28T23:55:45Z"}

instants = st.datetimes(timezones=st.just(UTC))


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: f"{case['format']} {case['text']!r}")
def test_rfc3339_vectors_hold_but_for_leap_seconds_and_nanoseconds(case):
    refused_by_us = case["text"] in NEVER_A_LEAP_SECOND | NEVER_FINER_THAN_MICROSECONDS
    either_format = case["text"] in A_TIME_WHERE_A_DATE_WAS_ASKED
    if (case["valid"] or either_format) and not refused_by_us:
        assert instant.parse(case["text"]).tzinfo is UTC
    else:
        with pytest.raises(ValueError, match=re.escape(repr(case["text"]))):
            instant.parse(case["text"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-01-10", datetime(2024, 1, 10, tzinfo=UTC)),
        ("0001-01-01", datetime(1, 1, 1, tzinfo=UTC)),
        ("9999-12-31", datetime(9999, 12, 31, tzinfo=UTC)),
        ("2024-02-29", datetime(2024, 2, 29, tzinfo=UTC)),
        ("2024-01-10T09:00:00Z", datetime(2024, 1, 10, 9, tzinfo=UTC)),
        ("2024-01-10t09:00:00z", datetime(2024, 1, 10, 9, tzinfo=UTC)),
        ("2024-01-10T09:00:00+02:00", datetime(2024, 1, 10, 7, tzinfo=UTC)),
        ("2024-01-01T00:30:00+05:45", datetime(2023, 12, 31, 18, 45, tzinfo=UTC)),
        ("2024-01-10T09:00:00-00:00", datetime(2024, 1, 10, 9, tzinfo=UTC)),
        ("2024-01-10T09:00:00.5Z", datetime(2024, 1, 10, 9, 0, 0, 500_000, tzinfo=UTC)),
        ("2024-01-10T09:00:00.000001Z", datetime(2024, 1, 10, 9, 0, 0, 1, tzinfo=UTC)),
    ],
)
def test_what_is_read_is_the_utc_instant(text, expected):
    assert instant.parse(text) == expected


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("2024-01-10T09:00:00", "has no offset; add Z for UTC"),
        ("2016-12-31T23:59:60Z", "is a leap second; write 23:59:59"),
        ("2024-01-10T09:00:00.1234567Z", "more than six fractional digits"),
        ("2024-13-01", "does not exist: month must be in 1..12"),
        ("2024-02-30", "does not exist: day"),
        ("2023-02-29T00:00:00Z", "does not exist: day"),
        ("0000-01-01", "is in year 0"),
        ("0000-01-01T00:00:00Z", "is in year 0"),
        ("0001-01-01T00:00:00+00:01", "outside the years 0001 to 9999"),
        ("9999-12-31T23:59:59-00:01", "outside the years 0001 to 9999"),
        ("2024-01-10T24:00:00Z", "does not exist: hour"),
        ("2024-01-10T09:00:00+24:00", "has an offset that does not exist"),
        ("2024-01-10T09:00:00+10:60", "has an offset that does not exist"),
        ("2024-01-10 09:00:00Z", "is not a time; write YYYY-MM-DD"),
        ("2024-01-10T09:00Z", "is not a time"),
        ("12:30", "is not a time"),
        ("750", "is not a time"),
        ("20240110", "is not a time"),
        ("2024-01-10\n", "is not a time"),
        ("now", "is not a time"),
        ("", "is not a time"),
    ],
)
def test_what_is_refused_is_refused_by_name(text, fault):
    with pytest.raises(ValueError, match=re.escape(fault)):
        instant.parse(text)


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="this platform cannot change its time zone")
@pytest.mark.parametrize("zone", ["America/New_York", "Europe/Berlin", "Pacific/Kiritimati", "UTC"])
def test_the_time_zone_of_the_machine_never_matters(zone, monkeypatch):
    monkeypatch.setitem(os.environ, "TZ", zone)
    time.tzset()
    try:
        assert instant.parse("2024-01-10") == datetime(2024, 1, 10, tzinfo=UTC)
        assert instant.show(instant.parse("2024-07-10T00:00:00+02:00")) == "2024-07-09T22:00:00Z"
    finally:
        monkeypatch.undo()
        time.tzset()


@given(instants)
def test_what_is_written_reads_back(at):
    assert instant.parse(instant.show(at)) == at
    assert instant.parse(instant.show_short(at)) == at


@given(instants, instants)
def test_instants_are_ordered_as_instants_however_they_were_written(a, b):
    shifted = (
        a.astimezone(timezone(timedelta(hours=1))).isoformat() if a.year > 1 and a.year < 9999 else instant.show(a)
    )
    assert (instant.parse(shifted) < b) == (a < b)


@pytest.mark.parametrize(
    ("text", "canonical", "short"),
    [
        ("2024-02-01", "2024-02-01T00:00:00Z", "2024-02-01"),
        ("2024-02-01T09:00:00.000Z", "2024-02-01T09:00:00Z", "2024-02-01T09:00:00Z"),
        ("2024-02-01T00:00:00.120Z", "2024-02-01T00:00:00.12Z", "2024-02-01T00:00:00.12Z"),
        ("2024-02-01T10:00:00+01:00", "2024-02-01T09:00:00Z", "2024-02-01T09:00:00Z"),
        ("0800-02-01", "0800-02-01T00:00:00Z", "0800-02-01"),
    ],
)
def test_one_instant_is_written_one_way(text, canonical, short):
    assert instant.show(instant.parse(text)) == canonical
    assert instant.show_short(instant.parse(text)) == short


@pytest.mark.parametrize(
    ("valid", "recorded", "days"),
    [
        ("2024-01-10", "2024-02-01T09:00:00Z", 22),
        ("2024-03-01", "2024-02-20T09:00:00Z", -10),
        ("2024-01-01", "2024-01-01T23:59:59Z", 0),
        ("2024-01-01T23:59:59Z", "2024-01-02", 1),
        ("2024-02-01", "2024-03-01", 29),
    ],
)
def test_lateness_counts_dates_in_utc(valid, recorded, days):
    assert instant.days_late(instant.parse(valid), instant.parse(recorded)) == days


zones = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(st.datetimes(timezones=zones).filter(lambda at: 1 < at.year < 9999))
def test_a_time_in_any_zone_is_one_instant(at):
    assert instant.utc(at) == at
    assert instant.utc(at).tzinfo is UTC


def test_the_last_instant_stays_what_it_is():
    assert instant.utc(instant.LAST) == instant.LAST


@pytest.mark.parametrize(
    ("at", "fault"),
    [
        (datetime(2024, 2, 1, 9, tzinfo=UTC).replace(tzinfo=None), "has no time zone"),
        (datetime.max.replace(tzinfo=timezone(timedelta(hours=-1))), "is outside the years 0001 to 9999"),
        (datetime.min.replace(tzinfo=timezone(timedelta(hours=1))), "is outside the years 0001 to 9999"),
    ],
)
def test_what_is_no_instant_is_refused(at, fault):
    with pytest.raises(ValueError, match=fault):
        instant.utc(at)
