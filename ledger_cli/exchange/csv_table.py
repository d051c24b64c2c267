"""CSV (RFC 4180, UTF-8): one table, a row an entry. What a spreadsheet would take for a formula is written as text.

A cell that begins with one of `= + - @`, TAB or LF, a full-width form of them, or with an apostrophe, gets an
apostrophe before it. Reading takes exactly one off, so every text comes back as it was.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ledger_cli.errors import quoted
from ledger_cli.exchange import entries, reading
from ledger_cli.exchange.reading import refuse
from ledger_cli.line_faults import SHAPES
from ledger_cli.model import Entry

Row = tuple[int, dict[str, str]]
"""The cells of a row by column, with the line that it ends on."""

COLUMNS = (
    *("entry", "id", "with", "on", "text", "rationale", "slot", "about", "from", "confidence", "corrects"),
    *("kind", "mentions", "at", "validFrom", "validTo", "reason", "recordedAt", "by", "session"),
)
"""`entry` is the first key of the entry's line, and `id` its value. A link, and a verdict `on` one, leads from the old
item `id` to the new one `with`. Several names in a cell stand on a line each."""

_END = dict(zip(("entry", "id"), entries.END, strict=True))
_COUNT = "text"
"""The column in which the end has the number of entries."""
_LISTS = ("about", "from", "mentions")
_FORMULA = tuple("=+-@\t\r\n'\uff1d\uff0b\uff0d\uff20")
_BARE = re.compile(r"[A-Za-z0-9 ._:/-]*")
_SEP = re.compile(r'"?sep=([^"\n\w])"?\n', re.IGNORECASE)
"""What Excel reads before a header: the sign between the cells."""
_NUMBER = re.compile(r"(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def write(recorded: Iterable[Entry]) -> str:
    """All entries, in the order in which the ledger learned them, under a header; and the end, in a row of its own."""
    lines = [",".join(COLUMNS)]
    for text in entries.in_order(recorded):
        cells = _cells(json.loads(text))
        lines.append(_row(cells))
    lines.append(_row({**_END, _COUNT: str(len(lines) - 1)}))
    return "".join(f"{line}\r\n" for line in lines)


def _row(cells: Mapping[str, str]) -> str:
    return ",".join(_cell(cells.get(column, "")) for column in COLUMNS)


def _cells(stated: dict[str, Any]) -> dict[str, str]:
    sort = entries.sort_of(stated)
    target = stated.pop(sort)
    cells = {key: "\n".join(v) if isinstance(v, list) else str(v) for key, v in stated.items()}
    if sort in ("rejects", "reinstates"):
        on = "item" if isinstance(target, str) else "ending" if "ends" in target else "link"
        cells["on"] = on
        if on == "link":
            cells["with"] = target["with"]
        target = target if on == "item" else target["ends" if on == "ending" else "supersedes"]
    return cells | {"entry": sort, "id": target}


def _cell(text: str) -> str:
    if text.startswith(_FORMULA):
        text = f"'{text}"
    return text if _BARE.fullmatch(text) else '"' + text.replace('"', '""') + '"'


def entry(cells: Mapping[str, str]) -> Entry:
    """The entry of a row of an export. Raises ValueError with what is wrong with it."""
    return entries.entry(stated(cells))


def stated(cells: Mapping[str, str]) -> dict[str, Any]:
    """The keys and values of an entry's line, from a row of an export. Raises ValueError."""
    there = {key: text.removeprefix("'") for key, text in cells.items() if text}
    sort, target = there.pop("entry", ""), there.pop("id", "")
    if sort not in SHAPES:
        raise ValueError(f"`entry` is one of {', '.join(SHAPES)}, not {sort!r}")
    found: dict[str, Any] = {key: v.split("\n") if key in _LISTS else v for key, v in there.items()}
    if "confidence" in found and _NUMBER.fullmatch(found["confidence"]):
        found["confidence"] = float(found["confidence"])
    on = found.pop("on", "item")
    if sort not in ("rejects", "reinstates") or on == "item":
        return {sort: target, **found}
    if on not in ("link", "ending"):
        raise ValueError(f"`on` is one of item, link, ending, not {on!r}")
    return {
        sort: {"ends": target} if on == "ending" else {"supersedes": target, "with": found.pop("with", "")},
        **found,
    }


def whole(header: Sequence[str], rows: Iterable[Row], name: str) -> list[Row]:
    """The rows of an export that are entries. Several exports may stand one after another, each under its header.

    Raises Refused where one has lost its end, or a column: restored, its entries would stay without it for good.
    """
    there = set(header)
    refuse(name, [(1, f"the column {column!r} of an export is missing") for column in COLUMNS if column not in there])
    head = {column: column for column in header if column}
    parts: list[list[Row]] = [[(1, head)]]
    for row in rows:
        if row[1] == head:
            parts.append([])
        parts[-1].append(row)
    return [
        row
        for (line, _), *part in parts
        for row in reading.whole(name, part, _is_end, lambda cells: cells.get(_COUNT, ""), after=line)
    ]


def _is_end(cells: Mapping[str, str]) -> bool:
    return {column: text for column, text in cells.items() if text and column != _COUNT} == _END


def rows(text: str, name: str) -> tuple[list[str], list[Row]]:
    """The header of a table, and its rows by the line that they end on, empty ones left out.

    The cells stand between commas, semicolons or tabs, as the header has them, or as a line `sep=;` above it says. What
    a spreadsheet leaves beside a table, columns without a name and a cell, is left out. One with a cell is refused: the
    header may have been moved against what stands under it. Raises Refused where it is no table.
    """
    csv.field_size_limit(2**31 - 1)  # it is the process's; a text may be of any length
    # Git may have checked the file out with CRLF throughout. A CR of its own is in no text of a ledger.
    text = text.replace("\r\n", "\n")
    header, found, faults = [""], list[Row](), list[tuple[int, str]]()
    told = _SEP.match(text)
    text, before = (text[told.end() :], 1) if told else (text, 0)
    delimiter = told[1] if told else _delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = [column.strip() for column in next(reader, [])]
        nameless = [n for n, column in enumerate(header) if not column]
        for cells in reader:
            line = before + reader.line_num
            if any(cells[len(header) :]):
                faults.append((line, f"{len(cells)} cells under {len(header)} columns"))
            elif astray := [n for n in nameless if n < len(cells) and cells[n].strip()]:
                faults.append((line, f"column {astray[0] + 1} has no name, and holds {quoted(cells[astray[0]])}"))
            elif any(cells):
                found.append((line, {c: cell for c, cell in zip(header, cells, strict=False) if c}))
    except csv.Error as fault:
        faults.append((before + reader.line_num, f"not CSV: {fault}"))
    if twice := {column for column in header if column and header.count(column) > 1}:
        faults.insert(0, (before + 1, f"the column {quoted(min(twice))} stands twice"))
    refuse(name, faults)
    return header, found


def _delimiter(text: str) -> str:
    first = text.partition("\n")[0]
    return max(",;\t", key=lambda sign: (first.count(sign), sign == ","))
