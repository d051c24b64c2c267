"""Dates of decision records: one day, or refused by name; never a guess between day and month."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from ledger_cli.exchange import adr_dates

READ = {
    "2024-09-13": "2024-09-13",
    "2024/9/3": "2024-09-03",
    "2024.09.13": "2024-09-13",
    "20240913": "2024-09-13",
    "Sep 13th, 2024": "2024-09-13",
    "Sep 5th, 2023": "2023-09-05",
    "September 3rd 2024": "2024-09-03",
    "13 September 2024": "2024-09-13",
    "13. September 2024": "2024-09-13",
    "13-Sep-2024": "2024-09-13",
    "Friday, 13 September 2024": "2024-09-13",
    "the 1st of March, 2024": "2024-03-01",
    "1er mars 2024": "2024-03-01",
    "13 de septiembre de 2024": "2024-09-13",
    "13 settembre 2024": "2024-09-13",
    "3. März 2024": "2024-03-03",
    "13 сентября 2024 г.": "2024-09-13",
    "2024年9月13日": "2024-09-13",
    "2024 년 9 월 3 일": "2024-09-03",
    "22-10-2024": "2024-10-22",
    "10/22/2024": "2024-10-22",
    "22.10.2024": "2024-10-22",
    "5/5/2024": "2024-05-05",
    "2024-09-13T09:30:00+02:00": "2024-09-13T07:30:00",
    "2024-09-13 09:30:00 +0200": "2024-09-13T07:30:00",
    "2024-09-13 09:30:00.25 -02:30": "2024-09-13T12:00:00.25",
    "2024-09-13 9:30 UTC": "2024-09-13T09:30:00",
    "2024-09-13T09:30Z": "2024-09-13T09:30:00",
}
REFUSED = {
    "January , 2026": "has no day",
    "January, 2026": "has no day",
    "Jan 2026": "has no day",
    "2026": "has no day",
    "2026-01": "has no day",
    "01/2026": "has no day",
    "Q3 2024": "has no day",
    "05-10-2024": "may be 2024-10-05 or 2024-05-10",
    "10/05/2024": "may be 2024-05-10 or 2024-10-05",
    "05.10.2024": "may be 2024-10-05 or 2024-05-10",
    "13/09/24": "has a year of two digits",
    "2024-02-30": "does not exist",
    "31-02-2024": "does not exist",
    "00-10-2024": "does not exist",
    "31 June 2024": "does not exist",
    "22-13-2024": "does not exist",
    "2018-12-17 and 2019-01-29": "is more than one date",
    "2024-09-13T09:30:00": "has no offset",
    "2024-09-13T25:00:00Z": "does not exist",
    "2024-09-13 09:30": "has no offset; add Z",
    "2024-09-13T09:30": "has no offset; add Z",
    "2024-02-30 09:30Z": "does not exist",
    "2024-09-13 09:30 +9900": "has an offset that does not exist",
    "2024-09-13 25:30": "no date that can be read",
    "soon": "no date that can be read",
    "": "no date that can be read",
    "13 Sep Oct 2024": "no date that can be read",
    "13 14 Sep 2024": "no date that can be read",
}


@pytest.mark.parametrize("text", READ)
def test_a_date_that_can_mean_one_day_is_that_day(text: str) -> None:
    assert adr_dates.parse(text) == datetime.fromisoformat(READ[text]).replace(tzinfo=UTC)


@pytest.mark.parametrize("text", REFUSED)
def test_any_other_is_refused_by_name(text: str) -> None:
    with pytest.raises(ValueError, match=REFUSED[text]) as fault:
        adr_dates.parse(text)
    assert repr(text) in str(fault.value)


def test_day_and_month_are_told_apart_only_where_one_of_them_is_no_month() -> None:
    day = datetime(2024, 1, 1, tzinfo=UTC)
    while day.year == 2024:
        for form in ("%d-%m-%Y", "%m/%d/%Y", "%d.%m.%Y"):
            text = day.strftime(form)
            if day.day <= 12 and day.day != day.month:
                with pytest.raises(ValueError, match="may be"):
                    adr_dates.parse(text)
            else:
                assert adr_dates.parse(text) == day, text
        for form in ("%Y-%m-%d", "%d %B %Y", "%b %d, %Y", "%Y%m%d"):
            assert adr_dates.parse(day.strftime(form)) == day
        day += timedelta(days=1)


@pytest.mark.parametrize("time", ["09:30", "9:30", "09:30:59", "23:59:59.999999999", "00:00"])
@pytest.mark.parametrize("between", [" ", "T", "t", "   "])
def test_of_a_record_a_time_of_day_without_an_offset_is_left_out_and_named(time: str, between: str) -> None:
    at, left_out = adr_dates.of_record(f"2024-09-13{between}{time}")
    assert at == datetime(2024, 9, 13, tzinfo=UTC)
    assert left_out == f"the time of day of '2024-09-13{between.strip() or ' '}{time}' is left out: it has no offset"


@pytest.mark.parametrize("text", READ)
def test_of_a_record_nothing_is_left_out_of_what_is_read_whole(text: str) -> None:
    assert adr_dates.of_record(text) == (adr_dates.parse(text), "")


@pytest.mark.parametrize("text", [*(t for t in REFUSED if "no offset" not in REFUSED[t]), "2024-02-30 09:30"])
def test_of_a_record_nothing_else_is_read_than_anywhere(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        adr_dates.of_record(text)
