"""Where an export goes: never among the files of the ledger or of git, and never over what somebody may have edited."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ledger_cli import durable
from ledger_cli.errors import Refused
from ledger_cli.ledger import FOLDER, Ledger


def refuse_own(ledger: Ledger | None, path: Path) -> None:
    """Raise Refused for a path that nothing but this program, or git, writes: in the folder of any ledger, in that of
    git, or a link to the checkpoint of this one. Where nobody asked for a ledger, there is none to give.
    """
    real = Path(os.path.realpath(path))
    for at in (real, *real.parents, *path.absolute().parents):
        if _is_git(at):
            raise Refused(f"{path} is git's own", "give a name outside of its folder")
        if at.name == FOLDER and os.path.lexists(at / "ledger.json"):
            raise Refused(f"{path} is the ledger's own", "give a name outside of its folder")
    if ledger is not None:
        is_own = real.is_relative_to(os.path.realpath(ledger.database.folder))
        with suppress(OSError):  # the one or the other is not there
            is_own = is_own or path.samefile(ledger.database.checkpoint)
        if is_own:
            raise Refused(f"{path} is the ledger's own", "give a name outside of its folder")


def _is_git(folder: Path) -> bool:
    """Is this where git keeps a repository, whatever it is called? In a worktree, `.git` is a file that says where."""
    parts = ("HEAD", "objects", "refs")
    return folder.name.casefold() == ".git" or all(os.path.lexists(folder / part) for part in parts)


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
