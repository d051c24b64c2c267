"""What the memory holds on a question: `recall`."""

from __future__ import annotations

from typing import Annotated

import typer

from ledger_cli import views
from ledger_cli.commands.embeddings import Choice, Embeddings, EmbeddingsModel, EmbeddingsUrl, embedder
from ledger_cli.commands.look import MOST
from ledger_cli.commands.shell import AsJson, answer, shell


def recall(
    ctx: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION")],
    valid: Annotated[
        str | None, typer.Option("--valid", metavar="TIME", help="What holds then; left out: --known, or now.")
    ] = None,
    known: Annotated[
        str | None, typer.Option("--known", metavar="TIME", help="As known then; left out: all that is known now.")
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, max=MOST, help="How many of each at the most.")
    ] = 10,
    budget: Annotated[
        int | None, typer.Option("--budget", metavar="CHARS", min=0, help="How many characters of text at the most.")
    ] = None,
    embeddings: Embeddings = Choice.none,
    embeddings_url: EmbeddingsUrl = None,
    embeddings_model: EmbeddingsModel = None,
    prose: Annotated[bool, typer.Option("--prose", help="Print sentences.")] = False,
    json: AsJson = False,
) -> None:
    """What is known on a question, with its evidence.

    About the entity that the question names; where it names none, the items that answer best. Only what holds is told
    as true.
    """
    from ledger_cli.memory import recall as memory

    if prose and json:
        raise typer.BadParameter("give --prose or --json")
    sh = shell(ctx)
    found = memory.recall(
        sh.ledger(),
        question,
        valid=sh.asked(valid or known or "now"),
        known=None if known is None else sh.asked(known),
        limit=limit,
        budget=budget,
        embedder=embedder(embeddings, embeddings_url, embeddings_model),
        progress=views.terminal.progress,
    )
    screen = views.prose.recalled if prose else views.memory.recalled
    answer(json, lambda: views.as_json.recalled(found), lambda: screen(found))
