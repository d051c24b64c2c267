"""`ledger reject`, `reinstate` and `end`: a verdict or an ending, each a small session of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ledger_cli import views
from ledger_cli.commands.shell import AsJson, At, By, NoExport, answer, named, shell

if TYPE_CHECKING:
    from ledger_cli.answers import Applied
    from ledger_cli.model import Verdict

Id = Annotated[str, typer.Argument(metavar="ID", help="An item's id.", callback=named)]
Ending = Annotated[bool, typer.Option("--ending", help="The verdict is on the item's ending.")]
Link = Annotated[str | None, typer.Option("--link", metavar="NEW", help="The verdict is on the link from ID to NEW.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.")]


def reject(
    ctx: typer.Context,
    id: Id,
    by: By,
    reason: Reason,
    link: Link = None,
    ending: Ending = False,
    at: At = None,
    no_export: NoExport = False,
    json: AsJson = False,
) -> None:
    """Reject an item, a link or an ending.

    It never took effect: what it replaced holds again.
    """
    _review(ctx, "rejects", id, by, reason, link, ending, at, no_export, json)


def reinstate(
    ctx: typer.Context,
    id: Id,
    by: By,
    reason: Reason,
    link: Link = None,
    ending: Ending = False,
    at: At = None,
    no_export: NoExport = False,
    json: AsJson = False,
) -> None:
    """Take a rejection back."""
    _review(ctx, "reinstates", id, by, reason, link, ending, at, no_export, json)


def end(
    ctx: typer.Context,
    id: Id,
    on: Annotated[str, typer.Option("--on", metavar="DATE", help="From when it no longer holds.")],
    by: By,
    reason: Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why.")] = None,
    at: At = None,
    no_export: NoExport = False,
    json: AsJson = False,
) -> None:
    """End an item on a date; nothing replaces it."""
    sh = shell(ctx)
    clock = sh.time(at) if at is not None else None
    _say(
        sh.ledger().end(id, sh.time(on), by=by, reason=reason, at=clock, export=not no_export),
        f"{id} ends then already, since",
        json,
    )


def _review(
    ctx: typer.Context,
    verdict: Verdict,
    id: str,
    by: str,
    reason: str,
    link: str | None,
    ending: bool,
    at: str | None,
    no_export: bool,
    json: bool,
) -> None:
    from ledger_cli.model import Target

    if link is not None and ending:
        raise typer.BadParameter("a verdict is on the item, on --link NEW, or on --ending: give one")
    sh = shell(ctx)
    target = Target(id, link, ending)
    clock = sh.time(at) if at is not None else None
    done = sh.ledger().review(verdict, target, by=by, reason=reason, at=clock, export=not no_export)
    _say(done, f"{target} {'is rejected already, since' if verdict == 'rejects' else 'stands since'}", json)


def _say(done: Applied, already: str, json: bool) -> None:
    answer(json, lambda: views.as_json.applied([done]), lambda: views.talk.small(done, already))
