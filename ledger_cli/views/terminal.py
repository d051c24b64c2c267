"""The one way to the terminal. stdout is data, stderr is talk; text of the ledger is text, never markup."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

Cell = str | tuple[str, str]  # a text, or a text and its style


def when(at: datetime) -> str:
    """An instant for people, in UTC: the date alone at midnight, else to the minute, or as fine as it has to be."""
    if not (at.hour or at.minute or at.second or at.microsecond):
        return f"{at:%Y-%m-%d}".rjust(10, "0")
    if at.microsecond:
        return f"{at:%Y-%m-%d %H:%M:%S.%f}".rstrip("0").rjust(10, "0")
    return f"{at:%Y-%m-%d %H:%M:%S}".removesuffix(":00").rjust(10, "0")


def out(text: str) -> None:
    """Write data to stdout as it is."""
    sys.stdout.write(text)


def talk(text: str) -> None:
    """Write a line for people to stderr."""
    sys.stderr.write(text.rstrip("\n") + "\n")


def _console() -> Any:
    from rich.console import Console

    # Nothing is cut where nobody resizes a window: in a pipe every value has its full width.
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=False)
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, emoji=False, width=100_000)
    return console


def _print_table(what: Any) -> None:
    console = _console()
    if console.is_terminal:
        console.print(what)
        return
    with console.capture() as captured:
        console.print(what)
    out("".join(line.rstrip() + "\n" for line in captured.get().split("\n")[:-1]))  # no padding behind a last column


def lines(rows: Iterable[Sequence[Cell]]) -> None:
    """Print lines made of plain and styled pieces. On a terminal a long line goes on under where its text began:
    behind a first piece that indents it.
    """
    from rich.table import Table
    from rich.text import Text

    console = _console()
    for row in rows:
        lead = row[0]
        words = lead[0] if isinstance(lead, tuple) else lead
        if not console.is_terminal or not (words.startswith("  ") or words.strip(_LEAD) == "") or len(row) < 2:
            console.print(Text.assemble(*row), soft_wrap=not console.is_terminal, overflow="fold")
            continue
        grid = Table.grid()
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(Text.assemble(lead), Text.assemble(*row[1:]))
        console.print(grid)


_LEAD = " └✗"


def table(heads: Sequence[str], rows: Iterable[Sequence[Cell]], *, right: Sequence[str] = (), wrap: str = "") -> None:
    """Print a table; on a narrow terminal the column `wrap` gives way first, then all whose values hold blanks."""
    from rich.table import Table
    from rich.text import Text

    console = _console()
    found = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for head in heads:
        gives_way = head == wrap
        found.add_column(
            head,
            justify="right" if head in right else "left",
            overflow="fold",
            min_width=16 if gives_way else None,
            ratio=1 if gives_way and console.is_terminal else None,
        )
    for row in rows:
        found.add_row(*(Text(*cell) if isinstance(cell, tuple) else Text(cell) for cell in row))
    _print_table(found)


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
