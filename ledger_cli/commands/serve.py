"""`ledger serve`: the ledger as a server of tools for agents."""

from __future__ import annotations

from typing import Annotated

import typer

from ledger_cli import views
from ledger_cli.commands.embeddings import Choice, Embeddings, EmbeddingsModel, EmbeddingsUrl, embedder
from ledger_cli.commands.shell import shell


def serve(
    ctx: typer.Context,
    write: Annotated[bool, typer.Option("--write", help="Offer the tools that write, too.")] = False,
    no_trace: Annotated[bool, typer.Option("--no-trace", help="Put no call on record.")] = False,
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="The session of the calls; left out: by the time.")
    ] = None,
    embeddings: Embeddings = Choice.none,
    embeddings_url: EmbeddingsUrl = None,
    embeddings_model: EmbeddingsModel = None,
) -> None:
    """Serve the ledger to agents, over MCP on stdio.

    Read-only unless told otherwise. Every call is put on record; `ledger trace` asks it.
    """
    from ledger_cli.instant import show
    from ledger_cli.memory import serve as mcp
    from ledger_cli.memory.toolbox import Toolbox

    if no_trace and session is not None:
        raise typer.BadParameter("--session names the calls on record, and --no-trace puts none there")
    sh = shell(ctx)
    calls = None if no_trace else session if session is not None else f"serve-{show(sh.clock().replace(microsecond=0))}"
    box = Toolbox(
        sh.ledger(),
        views.as_json,
        session=calls,
        write=write,
        embedder=embedder(embeddings, embeddings_url, embeddings_model),
    )
    mcp.serve(box)
