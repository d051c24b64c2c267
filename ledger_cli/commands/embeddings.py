"""The options of every command that may look by meaning."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ledger_cli.memory.embedding import Embedder


class Choice(StrEnum):
    """Who makes vectors of texts."""

    none = "none"
    local = "local"
    endpoint = "endpoint"


Embeddings = Annotated[
    Choice,
    typer.Option(
        "--embeddings", envvar="LEDGER_EMBEDDINGS", help="Look by meaning too: with a local model, or an endpoint."
    ),
]
EmbeddingsUrl = Annotated[
    str | None,
    typer.Option(
        "--embeddings-url",
        envvar="LEDGER_EMBEDDINGS_URL",
        metavar="URL",
        help="The endpoint's base URL; its key is LEDGER_LLM_KEY or OPENAI_API_KEY.",
    ),
]
EmbeddingsModel = Annotated[
    str | None,
    typer.Option("--embeddings-model", envvar="LEDGER_EMBEDDINGS_MODEL", metavar="NAME", help="The endpoint's model."),
]


def key() -> str | None:
    """The key of an endpoint. From the environment alone: what is typed stays in the shell's history."""
    return os.environ.get("LEDGER_LLM_KEY") or os.environ.get("OPENAI_API_KEY")


def embedder(choice: Choice, url: str | None, model: str | None) -> Embedder | None:
    """The embedder that was chosen; None for none. Raises LedgerError where it is not set up."""
    if choice is Choice.none:
        return None
    from ledger_cli.memory import choosing

    return choosing.embedder(choice.value, url=url, model=model, key=key())
