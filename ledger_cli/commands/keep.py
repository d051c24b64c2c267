"""Keeping house: `init`, `export`, `rebuild`, `check`, `doctor`."""

from __future__ import annotations

from typing import Annotated

import typer

from ledger_cli.commands.shell import AsJson, shell


def init(ctx: typer.Context) -> None:
    """Begin a ledger in this folder.

    Again: adds what is missing.
    """
    from ledger_cli.ledger import Ledger
    from ledger_cli.views import terminal

    root = shell(ctx).folder
    made = Ledger.init(root)
    terminal.out("".join(f"made {name}\n" for name in made) or f"{root} has a ledger already\n")
    if made:
        terminal.talk("Next: `ledger session new s1 > sessions/s1.yaml`, fill it in, `ledger session apply` it.")


def export(
    ctx: typer.Context,
    carry: Annotated[
        bool, typer.Option("--carry", help="Bring sessions along that were applied on another checkpoint.")
    ] = False,
    drop: Annotated[
        list[str] | None, typer.Option("--drop", metavar="SESSION", help="Give up a session that was never exported.")
    ] = None,
) -> None:
    """Write the checkpoint with all that is pending.

    In canonical form, with the lines of a merge put in order. Never runs `git add`.
    """
    from ledger_cli.views import terminal

    ledger = shell(ctx).ledger()
    changed, came = ledger.export(carry=carry, drop=drop or ())
    name = ledger.database.checkpoint.relative_to(ledger.root).as_posix()
    what = f" with {', '.join(came)}" if came else ""
    terminal.out(f"wrote {name}{what}\n" if changed else f"{name} is up to date\n")
    if changed:
        terminal.talk(f"Next: `git add {name}`")


def rebuild(ctx: typer.Context) -> None:
    """Build the store anew from the checkpoint.

    And from what was applied and not exported yet.
    """
    from ledger_cli.views import terminal

    terminal.out(f"rebuilt the store from {shell(ctx).ledger().rebuild()} entries\n")


def check(ctx: typer.Context, json: AsJson = False) -> None:
    """Refuse what no session could have written.

    Bytes that are not canonical, unknown ids, cycles, a slot with two current answers: exit code 3.
    """
    from ledger_cli.views import as_json, tables, terminal

    found = shell(ctx).ledger().check()
    if json:
        terminal.out(as_json.render(as_json.check(found)))
    else:
        tables.check(found)
    if not found.ok:
        raise typer.Exit(3)


def doctor(ctx: typer.Context, json: AsJson = False) -> None:
    """Say what is set up and what is not.

    Each with the one command that mends it.
    """
    from ledger_cli.doctor import examine
    from ledger_cli.views import tables, terminal
    from ledger_cli.views.as_json import render

    findings = examine(shell(ctx).ledger())
    if json:
        rows = [{"name": f.name, "ok": f.ok, "message": f.message, "hint": f.hint or None} for f in findings]
        terminal.out(render({"ok": all(f.ok for f in findings), "checks": rows}))
    else:
        tables.doctor(findings)
    if not all(f.ok for f in findings):
        raise typer.Exit(1)
