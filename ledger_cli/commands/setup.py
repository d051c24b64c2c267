"""At home in git: `textconv`, which `git diff` runs, and `install`, which sets all of it up."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ledger_cli import views
from ledger_cli.commands.shell import shell


def textconv(file: Annotated[Path, typer.Argument(metavar="FILE", help="A checkpoint, or a copy of one.")]) -> None:
    """Print a checkpoint in words, a line an entry, for `git diff`."""
    from ledger_cli.errors import LedgerError

    try:
        data = file.read_bytes()
    except OSError as fault:
        raise LedgerError(f"cannot read {file}: {fault.strerror}", "give the path of a checkpoint") from None
    views.readable.textconv(data)


def install(ctx: typer.Context) -> None:
    """Set up the hook, the drivers and the attributes.

    Again: adds what is missing. What is somebody else's stays as it is.
    """
    from ledger_cli.installing import install

    done = install(shell(ctx).ledger())
    views.talk.installed(done)
    if not all(d.ok for d in done):
        raise typer.Exit(1)
