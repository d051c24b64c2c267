"""Where an export goes: never over the ledger's own files, and never over what somebody may have edited."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ledger_cli import durable
from ledger_cli.errors import Refused
from ledger_cli.ledger import Ledger


def refuse_own(ledger: Ledger, path: Path) -> None:
    """Raise Refused for a path in the ledger's own folder, or a link to its checkpoint."""
    checkpoint = ledger.database.checkpoint
    own = os.path.realpath(ledger.database.folder)
    is_own = Path(os.path.realpath(path)).is_relative_to(own)
    if is_own or (path.exists() and checkpoint.exists() and path.samefile(checkpoint)):
        raise Refused(f"{path} is the ledger's own", "give a name outside of its folder")


def refuse_existing(path: Path) -> None:
    """Raise Refused for a session file that is there: it may be under review."""
    if os.path.lexists(path):
        raise Refused(f"{path} is there already, and may have been edited", "give another name, or remove it first")


def file(path: Path, text: str) -> None:
    """Write a file, in the place of what was there; whole or not at all. Raises CannotWrite."""
    durable.replace(durable.write_temp(path, text.encode()), path)


def new_file(path: Path, text: str) -> None:
    """Write a session file that is not there yet. Raises Refused, CannotWrite."""
    refuse_existing(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise durable.CannotWrite(f"cannot write {path}: {fault.strerror or fault}") from fault
    file(path, text)


def folder(path: Path, files: Mapping[str, str]) -> None:
    """Write files into a folder that is new, or empty. Raises Refused, CannotWrite."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        there = sorted(each.name for each in path.iterdir())
    except OSError as fault:
        raise durable.CannotWrite(f"cannot write in {path}: {fault.strerror or fault}") from fault
    if there:
        raise Refused(f"{path} is not empty: it holds {there[0]}", "name a new folder, and compare the two")
    for name, text in files.items():
        try:
            (path / name).write_text(text, encoding="utf-8", newline="\n")
        except OSError as fault:
            raise durable.CannotWrite(f"cannot write {path / name}: {fault.strerror or fault}") from fault
