"""The checkpoint, format 1: every entry on a line of its own, lines in groups, one order for all. (README, "The file".)

The same entries give the same bytes, and a session only ever adds lines. Pure functions over bytes and entries. How a
line looks is in lines.py, where it stands in layout.py, what may be wrong with a file in scan.py.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from ledger_cli.durable import CannotWrite, replace, write_temp
from ledger_cli.errors import Damaged
from ledger_cli.layout import BOTTOM, FORMAT, TOP, framed, group_name, grouping, nowhere, rank
from ledger_cli.lines import Key, line, order, parse_line, quote
from ledger_cli.model import Entry
from ledger_cli.scan import UPGRADES, LineProblem, Parse, scan

__all__ = [
    "EMPTY",
    "FORMAT",
    "UPGRADES",
    "CannotWrite",
    "LineProblem",
    "entities_by_session",
    "group_lines",
    "group_name",
    "line",
    "parse_line",
    "read",
    "render",
    "replace",
    "scan",
    "session_entries",
    "splice",
    "write_temp",
]


def render(entries: Iterable[Entry]) -> bytes:
    """The whole canonical file. The order of the entries does not matter, and equal ones count once.

    Raises ValueError if an entry names an item that is not among them.
    """
    groups = _grouped(entries)
    body = (_group_text(name, (key[-1] for key in sorted(groups[name]))) for name in sorted(groups, key=rank))
    return f"{TOP}{''.join(body)}{BOTTOM}".encode()


def _grouped(entries: Iterable[Entry], elsewhere: Callable[[str], str] = nowhere) -> dict[str, set[Key]]:
    """The keys of the entries by group; the last part of a key is the line."""
    listed = list(entries)
    group_of = grouping(listed, elsewhere)
    groups: dict[str, set[Key]] = {}
    for entry in listed:
        text = line(entry)
        try:
            group = group_of(entry)
        except KeyError as unknown:
            raise ValueError(f"there is no item {unknown.args[0]!r} for the line {text}") from None
        groups.setdefault(group, set()).add(order(entry, text))
    return groups


def _group_text(name: str, lines: Iterable[str]) -> str:
    return framed(name, (f"{text}," for text in lines))


EMPTY = render(())
"""The checkpoint of a ledger that holds nothing."""


def read(data: bytes, *, any_order: bool = False, parse: Parse = parse_line) -> list[Entry]:
    """Read a canonical checkpoint, with LF or CRLF; return its entries in the order of the file.

    `any_order` accepts lines and groups in another order, as a merge resolved by hand leaves them. Raises Damaged,
    naming the line, for everything else that `render` would not have written. `parse` is for `scan`.
    """
    entries, problems = scan(data, parse)
    if any_order:
        problems = [problem for problem in problems if problem.code != "wrong-order"]
    if problems:
        first = problems[0]
        if first.code == "conflict-marker":
            raise Damaged(f"merge conflict in the checkpoint (line {first.line})", hint=first.hint)
        more = f" (and {len(problems) - 1} more; `ledger check` names them all)" if problems[1:] else ""
        raise Damaged(f"the checkpoint, {first}{more}", hint=first.hint)
    return [entry for _, entry in entries]


def splice(
    data: bytes,
    added: Iterable[Entry],
    group_of: Callable[[str], str],
    text: Callable[[str, Sequence[str]], str] = _group_text,
) -> bytes:
    """Insert the lines of whole new sessions in a canonical file: what `render` of all entries would write.

    `group_of` names the group of an item that is already in the file; `text` writes a group of its lines. Only the
    groups that get a line are looked at, and of them only as many lines as it takes to find the place; the rest is
    trusted and copied. (A file with CRLF is read as a whole.) Raises Damaged or ValueError where what it meets is not a
    checkpoint.
    """
    if not (data.startswith(TOP.encode()) and data.endswith(BOTTOM.encode())):
        return render([*read(data), *added])
    edits = []
    for name, keys in _grouped(added, group_of).items():
        start, end = _find_group(data, name)
        lines = _group_lines(data, start, end)
        for key in sorted(keys):
            row = key[-1] + ","
            at = bisect_left(lines, key, key=_key)
            if lines[at : at + 1] != [row]:
                lines.insert(at, row)
        edits.append((start, rank(name), end, text(name, [row[:-1] for row in lines])))
    pieces, copied = [], 0
    for start, _, end, new in sorted(edits):
        pieces += [data[copied:start], new.encode()]
        copied = end
    return b"".join([*pieces, data[copied:]])


def group_lines(data: bytes, name: str) -> list[str]:
    """The lines of a group of a canonical file, without their commas, found without reading the rest; maybe none."""
    return [text.removesuffix(",") for text in _group_lines(data, *_find_group(data, name))]


def _group_lines(data: bytes, start: int, end: int) -> list[str]:
    # The first piece is the header, the last the closing line; of a group that is not there, both are one.
    return data[start:end].decode().split("\n")[1:-2]


def _key(text: str) -> Key:
    body = text.removesuffix(",")
    return order(parse_line(body), body)


def _find_group(data: bytes, name: str) -> tuple[int, int]:
    """The offsets of a group's lines; twice the place where they would stand if it is not there.

    Bisects over the bytes, for only headers begin with `"s`. Each look is at most at the half that is left, so one
    huge group does not make it slow.
    """
    wanted = rank(name)
    low, high = len(TOP) - 1, len(data) - len(BOTTOM) - 1  # the line ends before the first header and after the last
    at, there = high, False
    while low < high:
        middle = (low + high) // 2
        header = data.find(b'\n"s', middle, high + 2)
        if header < 0:
            high = middle
            continue
        found = _rank_at(data, header + 1)
        if found < wanted:
            low = header + 1
        else:
            at, high, there = header, middle, found == wanted
    if not there:
        return at + 1, at + 1
    return at + 1, data.index(b"\n", data.index(b'\n"end of ', at) + 1) + 1


def _rank_at(data: bytes, start: int) -> tuple[int, str]:
    name = json.loads(data[start : data.index(b": [\n", start)])
    return rank(name)


def entities_by_session(data: bytes) -> Counter[str]:
    """How many kinds of entities each session stated, found without reading the other lines.

    The graph does not tell: of several sessions that say the same of an entity it keeps the first.
    """
    return Counter(json.loads(found) for found in _ENTITY.findall(data))


_ENTITY = re.compile(rb'^\{"entity": .*, "session": ("(?:[^"\\]|\\.)*")\}', re.MULTILINE)


def session_entries(data: bytes, session_id: str) -> list[Entry]:
    """The entries of one session in the order of the file, found without reading the rest of it.

    Raises ValueError if a line of the session is not an entry.
    """
    # Inside a string a quote is escaped, so this can only be the end of an entry.
    tail = f', "session": {quote(session_id)}}}'.encode()
    found = []
    at = data.find(tail)
    while at >= 0:
        end = at + len(tail)
        found.append(parse_line(data[data.rfind(b"\n", 0, at) + 1 : end].decode()))
        at = data.find(tail, end)
    return found
