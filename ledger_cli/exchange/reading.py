"""Files of others: read whole, with every fault named by its line."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from ledger_cli.errors import Problem, Refused, quoted

R = TypeVar("R")
T = TypeVar("T")

_MOST = 20
"""How many faults of a file are told; a file with more is another sort of file."""


def text_of(path: Path) -> str:
    """The text of a file, `-` for standard input; a byte order mark is taken off. Raises Refused."""
    name = "stdin" if str(path) == "-" else str(path)
    try:
        data = sys.stdin.buffer.read() if name == "stdin" else path.read_bytes()
    except OSError as fault:
        raise Refused([Problem(f"cannot be read: {fault.strerror or fault}", name)]) from None
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in data:
        line = data.count(b"\n", 0, data.find(b"\0")) + 1
        hint = "save it as UTF-8; a spreadsheet calls that CSV UTF-8"
        raise Refused([Problem("not UTF-8 but UTF-16, or no text at all", f"{name}:{line}", hint)])
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        raise Refused(
            [Problem(f"not UTF-8 (byte 0x{data[fault.start]:02x})", f"{name}:{line}", "save it as UTF-8")]
        ) from None


def refuse(name: str, faults: Iterable[tuple[int, str]]) -> None:
    """Raise Refused with the faults of a file, each at its line, if there are any."""
    found = [Problem(what, f"{name}:{line}") for line, what in faults]
    if found:
        more = [Problem(f"and {len(found) - _MOST} more", name)] if found[_MOST:] else []
        raise Refused([*found[:_MOST], *more])


def whole(
    name: str,
    rows: Iterable[tuple[int, R]],
    is_end: Callable[[R], bool],
    counted: Callable[[R], str],
    *,
    after: int = 0,
) -> list[tuple[int, R]]:
    """The rows of an export without the ends in it: several may stand one after another.

    An end has the number of the rows before it, which `counted` gives; "" for one that tells none. `after` is the line
    before the first row. Raises Refused where the last row is no end, or another number of rows stands before one: what
    is left of an export would be a smaller ledger, and a session that lost a row could never be completed.
    """
    found: list[tuple[int, R]] = []
    ended, begins = False, 0
    hint = "it was cut, or put together of parts: export again"
    for line, row in rows:
        after, ended = line, is_end(row)
        if not ended:
            found.append((line, row))
            continue
        if (count := counted(row)) and count != str(len(found) - begins):
            what = f"the export has {quoted(count)} entries, and {len(found) - begins} stand before its end"
            raise Refused([Problem(what, f"{name}:{line}", hint)])
        begins = len(found)
    if not ended:
        raise Refused([Problem("the end of the export is missing after this line", f"{name}:{after}", hint)])
    return found


def each(name: str, rows: Iterable[tuple[int, R]], read: Callable[[R], T]) -> list[T]:
    """What `read` makes of each row. Raises Refused with every row of which it makes a ValueError."""
    found: list[T] = []
    faults: list[tuple[int, str]] = []
    for line, row in rows:
        try:
            found.append(read(row))
        except ValueError as fault:
            faults.append((line, str(fault)))
    refuse(name, faults)
    return found
