"""The merge driver: three files that git wrote become one. (gitattributes(5), "Defining a custom merge driver".)"""

from __future__ import annotations

import os
from pathlib import Path

from ledger_cli import durable, merge, views
from ledger_cli.errors import Damaged, LedgerError

CONFLICT = 1


def run(folder: Path, base: Path | str, ours: Path | str, theirs: Path | str, name: str) -> int:
    """Merge three files of a folder into `ours`; git calls the checkpoint `name`. 0, or 1 for a conflict.

    Raises LedgerError, and leaves `ours` as it was, where a side is not to be read.
    """
    # `git merge` names the heads that it merges in its environment. Other commands (cherry-pick, rebase, revert, stash)
    # replay a change, and what their base holds need not have been here ever.
    picked = not any(variable.startswith("GITHEAD_") for variable in os.environ)
    try:
        merged = merge.merge(*(_bytes(folder / file) for file in (base, ours, theirs)), picked=picked)
        durable.replace(durable.write_temp(folder / ours, merged.data), folder / ours)
    except LedgerError as fault:
        # To git, exit code 1 would say that OURS holds both sides, and what conflicts.
        message = f"{name} is not merged, and holds our side alone: {fault.message}"
        hint = f"{fault.hint}; take the merge back (`git merge --abort` or its like), and merge again once it is mended"
        raise Damaged(message, hint.removeprefix("; ")) from None
    if merged.left_out:
        names = ", ".join(merged.left_out)
        views.terminal.talk(f"note: {name}: {names}: recorded where this change comes from, not here; left out")
    if merged.conflicts:
        views.terminal.talk(f"{name}: {views.conflicts.counted(merged.conflicts)}")
        views.terminal.talk(views.conflicts.told(merged.conflicts))
        return CONFLICT
    return 0


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as fault:
        raise LedgerError(f"cannot read {path}: {fault.strerror}", "git gives three files: %O %A %B") from None
