"""Files that are made for people: whole or not at all, and over nothing that is there."""

from __future__ import annotations

from pathlib import Path

from ledger_cli import durable
from ledger_cli.errors import Refused


def check(path: Path, *, force: bool) -> None:
    """May a file be written here? Asked before the work that makes it. Raises Refused."""
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise Refused(f"{path} cannot be written: {'it is a folder' if path.is_dir() else 'there is no such folder'}")
    if not force and (path.exists() or path.is_symlink()):
        raise Refused(f"{path} is there already; nothing was written", "--force writes over it")


def write(path: Path, data: bytes, *, force: bool) -> None:
    """Write a whole file, durably. Raises Refused where something is in its place by now, CannotWrite."""
    check(path, force=force)
    durable.replace(durable.write_temp(path, data), path)
