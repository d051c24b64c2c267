"""Keeping house: `init`, `export`, `rebuild`, `check`, `doctor`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ledger_cli import views
from ledger_cli.commands import exchange
from ledger_cli.commands.shell import AsJson, Shell, answer, shell

if TYPE_CHECKING:
    from ledger_cli.answers import Checkup


def init(ctx: typer.Context) -> None:
    """Begin a ledger in this folder.

    Again: adds what is missing.
    """
    from ledger_cli.ledger import FOLDER, Ledger

    root = shell(ctx).folder
    above = Ledger.above(root)
    made = Ledger.init(root)
    views.terminal.out("".join(f"made {name}\n" for name in made) or f"{root} has a ledger already\n")
    if above is not None and f"{FOLDER}/ledger.json" in made:
        views.terminal.talk(f"note: {above} has a ledger already; this one is another, and the one that counts in here")
    if made:
        views.terminal.talk("Next: `ledger session new s1 > sessions/s1.yaml`, fill it in, `ledger session apply` it.")


def export(
    ctx: typer.Context,
    carry: Annotated[
        bool, typer.Option("--carry", help="Bring sessions along that were applied on another checkpoint.")
    ] = False,
    drop: Annotated[
        list[str] | None, typer.Option("--drop", metavar="SESSION", help="Give up a session that was never exported.")
    ] = None,
    hook: Annotated[
        bool, typer.Option("--hook", help="Exit with 1 where the file changed: the commit has to take it in.")
    ] = False,
    format: Annotated[
        exchange.Form | None, typer.Option("--format", help="Write all that is recorded in another form, elsewhere.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where that goes: a file, for adr a new folder; else stdout."
        ),
    ] = None,
) -> None:
    """Write the checkpoint with all that is pending.

    In canonical form, with the lines of a merge put in order. Never runs `git add`. With --format, the checkpoint is
    only read.
    """
    from ledger_cli.errors import NoLedger

    if format is not None:
        if carry or drop or hook:
            raise typer.BadParameter(
                "--format goes without --carry, --drop and --hook: it does not touch the checkpoint"
            )
        exchange.export(shell(ctx).ledger(), format, shell(ctx).path(output or Path("-")))
        return
    if output is not None:
        raise typer.BadParameter("--output is for what --format writes; the checkpoint has its place")
    try:
        ledger = shell(ctx).ledger()
    except NoLedger:
        if not hook:
            raise
        return  # git runs a hook on every branch; whether one has lost its ledger, `check --staged` says
    changed, came = ledger.export(carry=carry, drop=drop or ())
    name = ledger.database.checkpoint.relative_to(ledger.root).as_posix()
    what = f" with {', '.join(came)}" if came else ""
    views.terminal.out(f"wrote {name}{what}\n" if changed else f"{name} is up to date\n")
    if changed:
        from ledger_cli.gitrepo import add

        views.terminal.talk(f"Next: `{add(ledger.database.checkpoint)}`")
        if hook:
            raise typer.Exit(1)


def rebuild(ctx: typer.Context) -> None:
    """Build the store anew from the checkpoint.

    And from what was applied and not exported yet.
    """
    views.terminal.out(f"rebuilt the store from {shell(ctx).ledger().rebuild()} entries\n")


class Format(StrEnum):
    """How `check` tells what it found, to people."""

    text = "text"
    github = "github"


def check(
    ctx: typer.Context,
    base: Annotated[
        str | None,
        typer.Option("--base", metavar="REV", help="Refuse what was done to the lines of this revision, too."),
    ] = None,
    staged: Annotated[
        bool, typer.Option("--staged", help="Look at what the next commit holds; its base is HEAD.")
    ] = False,
    format: Annotated[Format, typer.Option("--format", help="`github` prints annotations.")] = Format.text,
    json: AsJson = False,
) -> None:
    """Refuse what no session could have written.

    Bytes that are not canonical, unknown ids, cycles, a slot with two current answers; against a base, lines that
    were changed or removed: exit code 3.
    """
    found = _checked(shell(ctx), base, staged=staged)
    screen = views.annotations.check if format is Format.github else views.tables.check
    answer(json, lambda: views.as_json.check(found), lambda: screen(found))
    if not found.ok:
        raise typer.Exit(3)


def _checked(sh: Shell, base: str | None, *, staged: bool) -> Checkup:
    if base is None and not staged:
        return sh.ledger().check()
    from ledger_cli import against
    from ledger_cli.answers import Checkup
    from ledger_cli.errors import NoLedger

    if not staged:
        return against.check(sh.ledger(), base=base)
    try:  # a hook and a workflow run on what removes the ledger, too, and on branches that never had one
        return against.check(sh.ledger_at(base or "HEAD"), base=base, staged=True)
    except NoLedger:
        if base is not None:
            raise
        views.terminal.talk("note: there is no ledger here, and the last commit has none either")
        return Checkup(())


def doctor(ctx: typer.Context, json: AsJson = False) -> None:
    """Say what is set up and what is not.

    Each with the one command that mends it.
    """
    from ledger_cli.doctor import examine

    found = examine(shell(ctx).ledger())
    answer(json, lambda: views.as_json.doctor(found), lambda: views.tables.doctor(found))
    if not all(f.ok for f in found):
        raise typer.Exit(1)
