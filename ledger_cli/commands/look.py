"""Looking around: `history`, `show`, `search`, `slots`, `query`."""

from __future__ import annotations

from typing import Annotated

import typer

from ledger_cli import views
from ledger_cli.commands.shell import AsJson, answer, named, shell

MOST = 1_000_000
"""Rows that may be asked for."""
LONGEST = 3_600.0
"""Seconds that a query may run."""


def _number(seconds: float) -> float:
    if seconds != seconds:  # a range lets it pass: it is neither below nor above
        raise typer.BadParameter("nan is not a number of seconds")
    return seconds


def history(
    ctx: typer.Context,
    subject: Annotated[str, typer.Argument(metavar="ENTITY|ID", callback=named)],
    json: AsJson = False,
) -> None:
    """The chain of what replaced what.

    With both times, versions and reviews.
    """
    found = shell(ctx).ledger().history(subject)
    answer(json, lambda: views.as_json.history(found), lambda: views.tables.history(found))


def show(
    ctx: typer.Context, id: Annotated[str, typer.Argument(metavar="ID", callback=named)], json: AsJson = False
) -> None:
    """All that is recorded of one item, or one episode."""
    found = shell(ctx).ledger().show(id)
    answer(json, lambda: views.as_json.recorded(found), lambda: views.tables.recorded(found))


def search(
    ctx: typer.Context,
    words: Annotated[list[str], typer.Argument(metavar="WORDS")],
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, max=MOST, help="How many at the most.")
    ] = 5,
    json: AsJson = False,
) -> None:
    """Find items by words, best first.

    What no longer holds is found too.
    """
    text = " ".join(words)
    found = shell(ctx).ledger().search(text, limit)
    answer(json, lambda: views.as_json.search(text, found), lambda: views.tables.search(found))


def slots(
    ctx: typer.Context, prefix: Annotated[str, typer.Argument(metavar="[PREFIX]")] = "", json: AsJson = False
) -> None:
    """What each slot answers now, and what is planned."""
    rows = shell(ctx).ledger().slots(prefix)
    answer(json, lambda: views.as_json.slots(rows), lambda: views.tables.slots(rows))


def query(
    ctx: typer.Context,
    cypher: Annotated[str, typer.Argument(metavar="CYPHER")],
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, max=MOST, help="How many rows at the most.")
    ] = 1000,
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout", metavar="SECONDS", min=0.001, max=LONGEST, callback=_number, help="How long it may run."
        ),
    ] = 10.0,
    json: AsJson = False,
) -> None:
    """Ask the graph in Cypher, read-only."""
    from ledger_cli.memory import call_graph

    found = call_graph.query(shell(ctx).ledger(), cypher, timeout_ms=max(1, round(timeout * 1000)), limit=limit)
    answer(json, lambda: views.as_json.query(found.rows), lambda: views.tables.query(found.columns, found.rows))
    if found.truncated:
        views.terminal.talk(f"note: cut at {limit} rows; --limit takes more")
