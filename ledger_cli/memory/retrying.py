"""Asking again: what fails for the moment is tried a few times, with a longer wait before each."""

from __future__ import annotations

from collections.abc import Callable
from email.utils import parsedate_to_datetime
from time import sleep
from typing import TypeVar

from ledger_cli.errors import LedgerError

T = TypeVar("T")

TRIES = 4
"""How often a question is asked at most."""

LONGEST_WAIT = 60.0
"""Seconds that are waited before another try, at most; who asks for a longer wait is not asked again."""


class NoAnswer(LedgerError):
    """A model or a command gave no answer that can be used."""


class Again(Exception):
    """A try failed in a way that another may not: a time-out, too many requests, a wrong answer.

    `wait` is how many seconds the other side asks for; None: it did not say.
    """

    def __init__(self, what: str, wait: float | None = None) -> None:
        super().__init__(what)
        self.what, self.wait = what, wait


def asked(ask: Callable[[], T], *, say: Callable[[str], None] = lambda _: None, tries: int = TRIES) -> T:
    """What `ask` returns, asked at most `tries` times, with waits of 1, 2, 4, … seconds, or as long as it asks for.

    `say` hears of each try that failed. Raises NoAnswer with the last fault, and whatever else `ask` raises.
    """
    for n in range(1, tries + 1):
        try:
            return ask()
        except Again as fault:
            wait = max(2.0 ** (n - 1), fault.wait or 0.0)
            if wait > LONGEST_WAIT and fault.wait is not None:
                raise NoAnswer(f"{fault.what}; it asks to wait {wait:g} s", "try again then") from None
            if n == tries:
                raise NoAnswer(f"no answer after {tries} tries: {fault.what}") from None
            wait = min(wait, LONGEST_WAIT)
            say(f"note: try {n} of {tries}: {fault.what}; again in {wait:g} s")
            sleep(wait)
    raise ValueError("a question is asked at least once")


def seconds(retry_after: str | None, date: str | None) -> float | None:
    """How long a Retry-After header asks to wait, in seconds; None where it says nothing that can be read.

    A time in it is read against the answer's own Date: the clocks of two machines differ.
    """
    if retry_after is None:
        return None
    try:
        wait = float(retry_after)
    except ValueError:
        try:
            wait = (parsedate_to_datetime(retry_after) - parsedate_to_datetime(date or "")).total_seconds()
        except (TypeError, ValueError):
            return None
    return wait if 0 <= wait < float("inf") else None
