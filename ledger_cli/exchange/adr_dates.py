"""Dates as people write them in decision records: read where they can mean one day only, and else refused by name."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from ledger_cli import instant
from ledger_cli.errors import quoted

_MONTHS = {
    name: month
    for month, names in enumerate(
        (
            "jan january januar janvier janv enero ene gennaio gen janeiro januari jänner января январь",
            "feb february februar février fevrier févr febrero febbraio fevereiro fev februari февраля февраль",
            "mar march märz maerz mrz mars marzo março marco maart mrt марта март",
            "apr april avril avr abril abr aprile апреля апрель",
            "may mai mayo maggio mag maio mei мая май",
            "jun june juni juin junio giugno giu junho июня июнь",
            "jul july juli juillet juil julio luglio lug julho июля июль",
            "aug august août aout agosto ago augustus августа август",
            "sep sept september septembre septiembre settembre set setembro сентября сентябрь",
            "oct october oktober okt octobre octubre ottobre ott outubro out октября октябрь",
            "nov november novembre noviembre novembro ноября ноябрь",
            "dec december dezember dez décembre decembre déc diciembre dic dicembre dezembro декабря декабрь",
        ),
        start=1,
    )
    for name in names.split()
}
_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})")
_EAST = re.compile(r"(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日일]")
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})")
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})")
_SHORT_YEAR = re.compile(r"\d{1,2}([-/.])\d{1,2}\1\d{2}")
_ORDINAL = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er|ère|º|ª|°)")
_FILLERS = frozenset(("of", "the", "de", "del", "do", "di", "г", "года"))
_WEEKDAYS = re.compile(
    r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|montag|dienstag|mittwoch|donnerstag|freitag|"
    r"samstag|sonntag|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes"
)
STAMP = re.compile(
    r"(\d{4}-\d{2}-\d{2})"
    r"(?:[Tt ]((?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?)(?: ?(Z|UTC|GMT|[+-]\d{2}:?\d{2})\b)?)?",
    re.IGNORECASE,
)
"""A day, with a time of day and an offset where they stand behind it."""
_NO_DAY = re.compile(r"\d{4}|\d{4}[-/.]\d{1,2}|\d{1,2}[-/.]\d{4}|q[1-4] ?\d{4}|\d{4}[- ]?q[1-4]", re.IGNORECASE)


def parse(text: str) -> datetime:
    """The instant that a date begins, in UTC; of a time with an offset, itself.

    Raises ValueError with a sentence that names the fault: it may be two days, has no day, or does not exist.
    """
    given = " ".join(text.split())
    if (found := STAMP.fullmatch(given)) and found[2]:
        return _stamped(given, *found.groups())
    if "T" in given or "t" in given[10:11]:
        try:
            return instant.parse(given)
        except ValueError:
            if re.match(r"\d{4}-\d{2}-\d{2}[Tt]\d", given):
                raise
    if found := _YEAR_FIRST.fullmatch(given):
        return _day(given, found[1], found[3], found[4])
    if found := _EAST.fullmatch(given) or _COMPACT.fullmatch(given):
        return _day(given, *found.groups())
    if found := _YEAR_LAST.fullmatch(given):
        return _year_last(given, int(found[1]), int(found[3]), found[4])
    if _SHORT_YEAR.fullmatch(given):
        raise ValueError(f"the date {quoted(given)} has a year of two digits; write YYYY-MM-DD")
    return _in_words(given)


def of_record(text: str) -> tuple[datetime, str]:
    """The date of a decision record, as `parse`, and what of it was left out, in words; "" for nothing.

    A record is dated by the day. A time of day without an offset is no instant, and none is made of it; but the day is
    said, as surely as where no time stands behind it. In a table the time is what the cell says: there it is refused.
    Raises ValueError.
    """
    at = STAMP.fullmatch(" ".join(text.split()))
    return parse(at[1] if at and not at[3] else text), left_out(text)


def left_out(text: str) -> str:
    """What `of_record` leaves out of the first date of a text, in words; "" for nothing."""
    at = STAMP.search(" ".join(text.split()))
    return f"the time of day of {quoted(at[0])} is left out: it has no offset" if at and at[2] and not at[3] else ""


def _stamped(given: str, day: str, time: str, offset: str | None) -> datetime:
    if offset is None:
        raise ValueError(f"{quoted(given)} has no offset; add Z for UTC, or +hh:mm")
    zone = f"{offset[:3]}:{offset[-2:]}" if offset[0] in "+-" else "Z"
    hour, _, rest = time.partition(":")
    stamp = f"{day}T{hour:0>2}:{rest}{'' if ':' in rest else ':00'}{zone}"
    try:
        return instant.parse(stamp)
    except ValueError as fault:
        raise ValueError(str(fault).replace(quoted(stamp), quoted(given))) from None


def _in_words(given: str) -> datetime:
    """A date with the name of its month: `Sep 13th, 2024`, `13. September 2024`, `13 de septiembre de 2024`."""
    words = [w for w in re.split(r"[\s,./-]+", given.casefold()) if w and w not in _FILLERS]
    words = [w for w in words if not _WEEKDAYS.fullmatch(w)]
    months = [_MONTHS[w] for w in words if w in _MONTHS]
    numbers = [found[1] if (found := _ORDINAL.fullmatch(w)) else w for w in words if w not in _MONTHS]
    years = [n for n in numbers if re.fullmatch(r"\d{4}", n)]
    days = [n for n in numbers if re.fullmatch(r"\d{1,2}", n)]
    if len(months) == 1 and len(years) == 1 and len(days) == 1 and len(numbers) == 2:
        return _day(given, years[0], months[0], days[0])
    if _NO_DAY.fullmatch(given) or (len(months) == 1 and len(numbers) == 1 and years):
        raise ValueError(f"the date {quoted(given)} has no day")
    if len(years) > 1:
        raise ValueError(f"{quoted(given)} is more than one date")
    raise ValueError(f"{quoted(given)} is no date that can be read; write YYYY-MM-DD")


def _year_last(given: str, one: int, other: int, year: str) -> datetime:
    """Day and month, or month and day? Told apart only where one of the two can be no month."""
    if 0 < one <= 12 and 0 < other <= 12 and one != other:
        raise ValueError(
            f"the date {quoted(given)} may be {year}-{other:02}-{one:02} or {year}-{one:02}-{other:02}; write which"
        )
    return _day(given, year, other, one) if one > 12 else _day(given, year, one, other)


def _day(given: str, year: str, month: str | int, day: str | int) -> datetime:
    try:
        return datetime(int(year), int(month), int(day), tzinfo=UTC)
    except ValueError as fault:
        raise ValueError(f"the date {quoted(given)} does not exist: {fault}") from None
