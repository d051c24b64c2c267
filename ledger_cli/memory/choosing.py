"""Which embedder is asked for, by name."""

from __future__ import annotations

from ledger_cli.errors import LedgerError
from ledger_cli.memory.embedding import Embedder

CHOICES = ("none", "local", "endpoint")


def embedder(
    choice: str, *, url: str | None = None, model: str | None = None, key: str | None = None
) -> Embedder | None:
    """The embedder of a choice; None for `none`. An endpoint needs a base URL and a model. Raises LedgerError."""
    if choice == "none":
        return None
    if choice == "local":
        from ledger_cli.memory.local import LocalEmbedder

        return LocalEmbedder()
    if choice == "endpoint":
        if not url or not model:
            raise LedgerError(
                "embeddings by an endpoint need its base URL and the name of a model",
                "--embeddings-url and --embeddings-model, or LEDGER_EMBEDDINGS_URL and LEDGER_EMBEDDINGS_MODEL",
            )
        from ledger_cli.memory.endpoint import EndpointEmbedder

        return EndpointEmbedder(url, model, key)
    raise LedgerError(f"there are no embeddings {choice!r}", f"known: {', '.join(CHOICES)}")
