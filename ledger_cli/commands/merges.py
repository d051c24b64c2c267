"""`ledger merge-driver` and `ledger resolve`: two branches become one ledger."""

from __future__ import annotations

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
    from ledger_cli import driver

    code = driver.run(shell(ctx).folder, base, ours, theirs, path)
    if code:
        raise typer.Exit(code)


def resolve(
    ctx: typer.Context,
    keep: Annotated[
        str | None,
        typer.Option("--keep", metavar="ours|theirs|base|ID", help="What stands; `base`: as it was recorded."),
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
    from ledger_cli.gitrepo import add
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
        views.terminal.out(f"{name}: {views.conflicts.counted(settled.left)}\n{views.conflicts.told(settled.left)}")
        raise typer.Exit(1)
    if not changed:
        views.terminal.out("nothing is in conflict\n")
        return
    staged = add(ledger.database.checkpoint)
    views.terminal.talk(f"Next: `{staged}`, and go on with `git commit` or `git rebase --continue`")
