"""The only place that reads and writes times. An instant is an aware `datetime` in UTC, microseconds at most."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from ledger_cli.errors import quoted

LAST = datetime.max.replace(tzinfo=UTC)
"""The last instant there is. `known at LAST` asks with all that is known now."""

_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})\Z", re.ASCII)
_RFC3339 = re.compile(r"\d{4}-\d{2}-\d{2}[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?([Zz]|[+-]\d{2}:\d{2})?\Z", re.ASCII)
_WRITE = "write YYYY-MM-DD, or a date and time with Z or an offset such as 2024-02-01T09:00:00Z"


def parse(text: str) -> datetime:
    """Read `YYYY-MM-DD` (midnight UTC) or an RFC 3339 date-time with `Z` or an offset; return the UTC instant.

    Raises ValueError with a sentence that names the fault: no offset, a leap second, more than six fractional
    digits, a day or a year that does not exist.
    """
    if _DATE.match(text):
        return _exact(text, f"{text}T00:00:00+00:00")
    found = _RFC3339.match(text)
    if found is None:
        raise ValueError(f"{quoted(text)} is not a time; {_WRITE}")
    hour, minute, second, fraction, offset = found.groups()
    if offset is None:
        raise ValueError(f"{quoted(text)} has no offset; add Z for UTC, or +hh:mm")
    if second == "60":
        raise ValueError(f"{quoted(text)} is a leap second; write {hour}:{minute}:59")
    if hour == "24":  # newer Pythons would take it for the next midnight
        raise ValueError(f"{quoted(text)} does not exist: hour must be in 0..23")
    if fraction is not None and len(fraction) > 6:
        raise ValueError(f"{quoted(text)} has more than six fractional digits; microseconds are the finest")
    if offset not in "Zz" and not (int(offset[1:3]) < 24 and int(offset[4:6]) < 60):
        raise ValueError(f"{quoted(text)} has an offset that does not exist; {_WRITE}")
    return _exact(text, text.upper())


def asked(text: str, now: datetime) -> datetime:
    """A time to ask of: as `parse`, or `now`: the second that is running, to its end, so what was just recorded counts.

    Raises ValueError with a sentence.
    """
    if text != "now":
        return parse(text)
    return now.replace(microsecond=0) + timedelta(seconds=1) if now.microsecond else now


def _exact(text: str, iso: str) -> datetime:
    if text.startswith("0000"):
        raise ValueError(f"{quoted(text)} is in year 0; years run from 0001 to 9999")
    try:
        return datetime.fromisoformat(iso).astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{quoted(text)} is outside the years 0001 to 9999 in UTC") from None
    except ValueError as fault:
        raise ValueError(f"{quoted(text)} does not exist: {fault}") from None


def utc(at: datetime) -> datetime:
    """An aware time, in whatever zone, as the instant that everything here takes. Raises ValueError for a naive one."""
    if at.utcoffset() is None:
        raise ValueError(f"{at!r} has no time zone; say which, as in datetime(2024, 2, 1, 9, tzinfo=UTC)")
    try:
        return at.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{at!r} is outside the years 0001 to 9999 in UTC") from None


def show(at: datetime) -> str:
    """Write an instant canonically: `2024-02-01T09:00:00Z`, with the fraction only where there is one."""
    text = at.isoformat()[:-6]
    return (text.rstrip("0") if at.microsecond else text) + "Z"


def show_short(at: datetime) -> str:
    """Write an instant for people: the date alone at midnight UTC, else the canonical form."""
    text = show(at)
    return text.removesuffix("T00:00:00Z")


def days_late(valid_from: datetime, recorded_at: datetime) -> int:
    """Whole days between the UTC dates, record minus valid: positive = learned late, negative = planned."""
    return (recorded_at.date() - valid_from.date()).days


def tidy(now: datetime, newest: datetime | None) -> datetime:
    """The record time of a session that states none: now (whole seconds where that is news), or the newest entry's
    time where that is later.
    """
    whole = now.replace(microsecond=0)
    return whole if newest is None or whole > newest else max(now, newest)


FUTURE_TOLERANCE = timedelta(minutes=5)
"""How far ahead of the machine a session's clock may be: clocks of two machines disagree by seconds, not minutes."""
