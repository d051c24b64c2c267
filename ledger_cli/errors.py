"""Everything that may go wrong on purpose: one exception a kind, one exit code a kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: `what`, `where` it stands (`file:line`, or an id), and the `hint` that mends it."""

    what: str
    where: str = ""
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" if self.where else self.what


def short(text: str, width: int = 60) -> str:
    """A value as a message tells it: its beginning, where it is long."""
    return text if len(text) <= width else text[: width - 1] + "…"


def told(value: object) -> str:
    """Any value of JSON as a message tells it, those that Python does not write out as well."""
    try:
        return short(str(value))
    except (ValueError, RecursionError):
        return (
            "a number of too many digits" if isinstance(value, int) else f"a {type(value).__name__} nested too deeply"
        )


def quoted(text: str) -> str:
    """A value in quotes, as a message tells it."""
    return repr(short(text))


class LedgerError(Exception):
    """A failure with a sentence for the user. `hint` says what to do; `exit_code` follows the kind."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Refused(LedgerError):
    """What was asked breaks a rule of the ledger. Nothing was written. Carries every problem found."""

    def __init__(self, problems: Iterable[Problem] | str, hint: str = "") -> None:
        self.problems = (Problem(problems, hint=hint),) if isinstance(problems, str) else tuple(problems)
        super().__init__("\n".join(str(p) for p in self.problems), hint)


class SessionFileError(Refused):
    """A session file is not well formed; every fault of the file is in `problems`, each with file:line."""


class NoLedger(LedgerError):
    """There is no ledger in this folder or above it."""


class Busy(LedgerError):
    """Another process holds the lock for longer than the time-out."""


class Damaged(LedgerError):
    """What is on disk is not what this tool wrote: the checkpoint, the journal, or a newer format."""

    exit_code = 3


class QueryRefused(LedgerError):
    """A query that writes, reads files, or runs past its limits."""
