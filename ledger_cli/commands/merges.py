"""`ledger merge-driver` and `ledger resolve`: two branches become one ledger."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from ledger_cli import views
from ledger_cli.commands.shell import shell


def merge_driver(
    ctx: typer.Context,
    base: Annotated[Path, typer.Argument(metavar="BASE", help="The base: %O.")],
    ours: Annotated[Path, typer.Argument(metavar="OURS", help="Our side, and where the result goes: %A.")],
    theirs: Annotated[Path, typer.Argument(metavar="THEIRS", help="Their side: %B.")],
    path: Annotated[str, typer.Argument(metavar="[PATH]", help="What git calls the file: %P.")] = "the checkpoint",
) -> None:
    """Merge the checkpoint by entry: what git calls.

    Exit code 0: merged; 1: a conflict, marked in the groups that it is about; else OURS is as it was.
    """
    from ledger_cli import durable, merge
    from ledger_cli.errors import Damaged, LedgerError

    folder = shell(ctx).folder
    # `git merge` names the heads that it merges in its environment. Other commands (cherry-pick, rebase, revert, stash)
    # replay a change, and what their base holds need not have been here ever.
    picked = not any(name.startswith("GITHEAD_") for name in os.environ)
    try:
        merged = merge.merge(*(_bytes(folder / file) for file in (base, ours, theirs)), picked=picked)
        durable.replace(durable.write_temp(folder / ours, merged.data), folder / ours)
    except LedgerError as fault:
        # To git, exit code 1 would say that OURS holds both sides, and what conflicts.
        message = f"{path} is not merged, and holds our side alone: {fault.message}"
        hint = f"{fault.hint}; take the merge back (`git merge --abort` or its like), and merge again once it is mended"
        raise Damaged(message, hint.removeprefix("; ")) from None
    if merged.left_out:
        names = ", ".join(merged.left_out)
        views.terminal.talk(f"note: {path}: {names}: recorded where this change comes from, not here; left out")
    if merged.conflicts:
        views.terminal.talk(f"{path}: {_counted(len(merged.conflicts))}")
        views.terminal.talk(views.conflicts.told(merged.conflicts))
        raise typer.Exit(1)


def resolve(
    ctx: typer.Context,
    keep: Annotated[
        str | None, typer.Option("--keep", metavar="ours|theirs|ID", help="What stands; `base`: as it was recorded.")
    ] = None,
    by: Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who says so.")] = None,
    reason: Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why the other is rejected.")] = None,
    slot: Annotated[str | None, typer.Option("--slot", metavar="SLOT", help="Only the conflicts in this slot.")] = None,
    id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="Only those about this item, episode, entity or session.")
    ] = None,
    session: Annotated[
        list[Path] | None, typer.Option("--session", metavar="FILE", help="Apply this session on top of both sides.")
    ] = None,
) -> None:
    """Finish a merge of the checkpoint.

    From our markers or git's own. Without options: writes the file if nothing is to be decided, else lists what is,
    with the commands. The answer given up is recorded as rejected. Never runs `git add`.
    """
    from ledger_cli import session_file
    from ledger_cli.gitrepo import typed
    from ledger_cli.settle import Choice

    if keep is None and (by is not None or reason is not None) and not session:
        raise typer.BadParameter("say what stands: --keep ours, --keep theirs or --keep ID, or give a --session")
    sh = shell(ctx)
    sessions = tuple(s for file in session or () for s in session_file.read_file(sh.folder / file, str(file)))
    ledger = sh.ledger()
    changed, settled = ledger.resolve(Choice(keep, by, reason, slot, id, sessions))
    name = ledger.database.checkpoint.relative_to(ledger.root).as_posix()
    for sentence in settled.done if changed or not settled.left else ():
        views.terminal.out(f"{sentence}\n")
    if changed:
        views.terminal.out(f"wrote {name}\n")
    if settled.left:
        views.terminal.out(f"{name}: {_counted(len(settled.left))}\n{views.conflicts.told(settled.left)}")
        raise typer.Exit(1)
    if not changed:
        views.terminal.out("nothing is in conflict\n")
    path = typed(ledger.database.checkpoint)
    views.terminal.talk(f"Next: `git add {path}`, and go on with `git commit` or `git rebase --continue`")


def _counted(count: int) -> str:
    return f"{count} conflicts" if count > 1 else "1 conflict"


def _bytes(path: Path) -> bytes:
    from ledger_cli.errors import LedgerError

    try:
        return path.read_bytes()
    except OSError as fault:
        raise LedgerError(f"cannot read {path}: {fault.strerror}", "git gives three files: %O %A %B") from None
