"""At home in git: `textconv`, which `git diff` runs, and `install`, which sets all of it up."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ledger_cli import views


def textconv(file: Annotated[Path, typer.Argument(metavar="FILE", help="A checkpoint, or a copy of one.")]) -> None:
    """Print a checkpoint in words, a line an entry, for `git diff`."""
    from ledger_cli.errors import LedgerError

    try:
        data = file.read_bytes()
    except OSError as fault:
        raise LedgerError(f"cannot read {file}: {fault.strerror}", "give the path of a checkpoint") from None
    views.readable.textconv(data)
