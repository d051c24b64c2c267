"""The questions on the two axes: `as-of`, `believed`, `lateness`, `diff`."""

from __future__ import annotations

from typing import Annotated

import typer

from ledger_cli import views
from ledger_cli.commands.shell import AsJson, EntityAndDate, answer, shell


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
    after: Annotated[str, typer.Option("--from", metavar="DATE", help="Writes after this.")],
    until: Annotated[str, typer.Option("--to", metavar="DATE", help="Writes up to and with this.")],
    json: AsJson = False,
) -> None:
    """What each write in a period changed.

    What it added, closed, reopened, rejected, reinstated and ended. A date is its midnight in UTC: `--to 2024-02-13`
    takes in all of the 12th.
    """
    sh = shell(ctx)
    start, stop = sh.asked(after), sh.asked(until)
    if start > stop:
        raise typer.BadParameter(f"--from {after} is after --to {until}")
    changes, items = sh.ledger().diff(start, stop)
    answer(json, lambda: views.as_json.diff(start, stop, changes), lambda: views.tables.changes(changes, items))
