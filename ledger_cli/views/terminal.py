"""The one way to the terminal. stdout is data, stderr is talk; text of the ledger is text, never markup."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

Cell = str | tuple[str, str]  # a text, or a text and its style


def when(at: datetime) -> str:
    """An instant for people, in UTC: the date alone at midnight, else to the minute, or as fine as it has to be."""
    day = at.date().isoformat()  # strftime may leave the zeros of an early year out
    if not (at.hour or at.minute or at.second or at.microsecond):
        return day
    return f"{day} {at:%H:%M:%S.%f}".rstrip("0") if at.microsecond else f"{day} {at:%H:%M:%S}".removesuffix(":00")


def counted(counts: Mapping[str, int]) -> str:
    """How many of what: `2 episodes, 1 entity`."""
    return ", ".join(f"{n} {what if n == 1 else _plural(what)}" for what, n in counts.items() if n)


def _plural(what: str) -> str:
    return what[:-1] + "ies" if what.endswith("y") else what + "s"


def out(text: str) -> None:
    """Write data to stdout as it is."""
    sys.stdout.write(text)


def talk(text: str) -> None:
    """Write a line for people to stderr, behind what was written to stdout before it."""
    try:
        sys.stdout.flush()
    finally:
        sys.stderr.write(text.rstrip("\n") + "\n")


def _console() -> Any:
    """Rich's console where somebody looks; None in a pipe, where nothing is cut, folded or coloured."""
    if not (sys.stdout.isatty() or "FORCE_COLOR" in os.environ):
        return None
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def room() -> int:
    """How many columns there are: the terminal's; in a pipe, which cuts nothing, what COLUMNS says, or 100."""
    console = _console()
    if console is not None:
        return int(console.width)
    told = os.environ.get("COLUMNS", "")
    return int(told) if told.isascii() and told.isdigit() and 0 < len(told) < 5 else 100


def _text(cell: Cell) -> str:
    return cell[0] if isinstance(cell, tuple) else cell


def columns(text: str) -> int:
    """How many columns the widest line of a text takes."""
    if text.isascii() and "\n" not in text:
        return len(text)
    from rich.cells import cell_len

    return max(cell_len(line) for line in text.split("\n"))


def _hung(row: Sequence[Cell], start: int = 0) -> list[Cell]:
    """The pieces of a line, what follows a line feed indented to where its piece began."""
    hung: list[Cell] = []
    for cell in row:
        text = _text(cell)
        whole = text.replace("\n", "\n" + " " * start)
        hung.append((whole, cell[1]) if isinstance(cell, tuple) else whole)
        start += columns(text.rpartition("\n")[2])
    return hung


def lines(rows: Iterable[Sequence[Cell]]) -> None:
    """Print lines made of plain and styled pieces. On a terminal a long line goes on under where its text began:
    behind a first piece that indents it.
    """
    console = _console()
    if console is None:
        out("".join("".join(_text(cell) for cell in _hung(row)) + "\n" for row in rows))
        return
    from rich.table import Table
    from rich.text import Text

    for row in rows:
        lead = _text(row[0])
        if len(row) < 2 or not lead or not (lead.startswith("  ") or lead.strip(_LEAD) == ""):
            console.print(Text.assemble(*_hung(row)), overflow="fold")
            continue
        grid = Table.grid()
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(Text.assemble(row[0]), Text.assemble(*_hung(row[1:])))
        console.print(grid)


_LEAD = " └✗"


def table(heads: Sequence[str], rows: Iterable[Sequence[Cell]], *, right: Sequence[str] = (), wrap: str = "") -> None:
    """Print a table; on a narrow terminal the column `wrap` gives way first, then all whose values hold blanks.

    Where even that does not fit, a record for each row: a table would lose columns.
    """
    console = _console()
    if console is None:
        _plain_table(heads, [[_text(cell) for cell in row] for row in rows], right)
        return
    rows = list(rows)
    widths = _widths(heads, rows, wrap, console.width)
    if widths is None:
        _records(heads, rows)
        return
    from rich.table import Table
    from rich.text import Text

    found = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for head, width in zip(heads, widths, strict=True):
        found.add_column(head, justify="right" if head in right else "left", overflow="fold", width=width)
    for row in rows:
        found.add_row(*(Text(*cell) if isinstance(cell, tuple) else Text(cell) for cell in row))
    console.print(found)


_WRAPPED = 16
"""How narrow the column that gives way becomes."""


def _widths(heads: Sequence[str], rows: Sequence[Sequence[Cell]], wrap: str, room: int) -> list[int] | None:
    """How wide each column is: no word is broken, but in the one that gives way. None where that does not fit."""
    texts = [[head, *(_text(row[n]) for row in rows)] for n, head in enumerate(heads)]
    widths = [max(map(columns, column)) for column in texts]
    least = [max((columns(word) for text in column for word in text.split()), default=0) for column in texts]
    order = sorted(range(len(heads)), key=lambda n: (heads[n] != wrap, -widths[n]))
    over = sum(widths) + 2 * (len(heads) - 1) - room
    for n in order:
        least[n] = min(widths[n], _WRAPPED) if heads[n] == wrap else least[n]
        given = max(0, min(over, widths[n] - least[n]))
        widths[n] -= given
        over -= given
    return widths if over <= 0 else None


def _records(heads: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    """Each row as lines of `name  value`, a blank line between."""
    wide = max(map(columns, heads), default=0)
    told: list[Sequence[Cell]] = []
    for row in rows:
        told += [[""]] if told else []
        for head, cell in zip(heads, row, strict=True):
            if head or _text(cell):
                told.append([(f"  {head}{' ' * (wide - columns(head))}  ", "dim"), cell])
    lines(told)


def _plain_table(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str]) -> None:
    """Aligned columns, every value whole; a value of several lines goes on below itself."""
    table = [heads, *rows]
    widths = [max(columns(row[n]) for row in table) for n in range(len(heads))]
    for row in table:
        cells = [cell.split("\n") for cell in row]
        for line in range(max(map(len, cells), default=0)):
            texts = [cell[line] if line < len(cell) else "" for cell in cells]
            gaps = [" " * (width - columns(text)) for width, text in zip(widths, texts, strict=True)]
            padded = [
                gap + text if head in right else text + gap for head, gap, text in zip(heads, gaps, texts, strict=True)
            ]
            out("  ".join(padded).rstrip(" ") + "\n")


@contextmanager
def progress(what: str, total: int) -> Iterator[Any]:
    """A progress bar on stderr for what takes long; silent in a pipe and for a few steps. Yields a step function."""
    if total < 50 or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)
