"""The questions on the two axes: `as-of`, `believed`, `lateness`, `diff`."""

from __future__ import annotations

from typing import Annotated

import typer

from ledger_cli import views
from ledger_cli.commands.shell import AsJson, EntityAndDate, Shell, answer, shell


def as_of(ctx: typer.Context, words: EntityAndDate, json: AsJson = False) -> None:
    """What was true on a date, with all that is known now."""
    sh = shell(ctx)
    entity, valid_at = sh.entity_and_time(words)
    found = sh.ledger().as_of(valid_at, entity)
    answer(json, lambda: views.as_json.as_of(found), lambda: views.tables.answer(found))


def believed(
    ctx: typer.Context,
    words: EntityAndDate,
    known: Annotated[
        list[str] | None,
        typer.Option("--known", metavar="DATE", help="As known on this date; give several to see the answer change."),
    ] = None,
    json: AsJson = False,
) -> None:
    """What the ledger said of a date.

    On that date itself, or as known on another.
    """
    sh = shell(ctx)
    entity, valid_at = sh.entity_and_time(words)
    found = sh.ledger().believed(valid_at, entity, [sh.asked(k) for k in known or ()])
    answer(json, lambda: views.as_json.believed(found), lambda: views.tables.answers(found))


def lateness(ctx: typer.Context, json: AsJson = False) -> None:
    """How late the ledger learned each item.

    Days from valid to record date, most late first; negative = planned ahead.
    """
    rows = shell(ctx).ledger().lateness()
    answer(json, lambda: views.as_json.lateness(rows), lambda: views.tables.lateness(rows))


def diff(
    ctx: typer.Context,
    after: Annotated[str | None, typer.Option("--from", metavar="DATE", help="Writes after this.")] = None,
    until: Annotated[str | None, typer.Option("--to", metavar="DATE", help="Writes up to and with this.")] = None,
    rev: Annotated[
        str | None,
        typer.Option("--rev", metavar="A..B", help="Between two revisions; `A...B`: since B left A; `A`: up to now."),
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="A comment for a pull request (with --rev).")] = False,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 3 where there are differences.")] = False,
    json: AsJson = False,
) -> None:
    """What each write in a period changed, or what differs between revisions.

    What it added, closed, reopened, rejected, reinstated and ended. A date is its midnight in UTC: `--to 2024-02-13`
    takes in all of the 12th.
    """
    if rev is None:
        differs = _between_dates(shell(ctx), after, until, markdown=markdown, json=json)
    elif after is not None or until is not None:
        raise typer.BadParameter("give --rev, or --from and --to")
    else:
        differs = _between_revisions(shell(ctx), rev, markdown=markdown, json=json)
    if exit_code and differs:
        raise typer.Exit(3)


def _between_dates(sh: Shell, after: str | None, until: str | None, *, markdown: bool, json: bool) -> bool:
    for name, given in (("--from", after), ("--to", until)):
        if given is None:
            raise typer.BadParameter(f"Missing option '{name}' (or --rev)")
    if markdown:
        raise typer.BadParameter("--markdown goes with --rev")
    start, stop = sh.asked(after or ""), sh.asked(until or "")
    if start > stop:
        raise typer.BadParameter(f"--from {after} is after --to {until}")
    changes, items = sh.ledger().diff(start, stop)
    answer(json, lambda: views.as_json.diff(start, stop, changes), lambda: views.tables.changes(changes, items))
    return bool(changes)


def _between_revisions(sh: Shell, revisions: str, *, markdown: bool, json: bool) -> bool:
    from ledger_cli import against

    if markdown and json:
        raise typer.BadParameter("give --markdown or --json")
    found = against.compare(sh.ledger_at(revisions.partition("..")[0] or "HEAD"), revisions)
    screen = views.markdown.comment if markdown else views.tables.compared
    answer(json, lambda: views.as_json.compared(found), lambda: screen(found))
    return bool(found.comparison)
