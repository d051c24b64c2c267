"""Where a chat endpoint is, by what is given or by the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from ledger_cli.errors import LedgerError, quoted


class NoEndpoint(LedgerError):
    """A model is to be asked, and no endpoint is named, or none that could be one."""


@dataclass(frozen=True)
class Address:
    """Where a model is asked: the endpoint's base URL, the model's name, and the key (None: it needs none)."""

    url: str
    model: str
    key: str | None = None

    def __repr__(self) -> str:  # a key has no place in a report
        return f"Address({self.place!r}, {self.model!r})"

    @property
    def place(self) -> str:
        """The URL as it may be said: without a user and a password."""
        parts = urlsplit(self.url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def address(url: str | None, model: str | None) -> Address:
    """The endpoint that is named, by what is given or by LEDGER_LLM_URL and LEDGER_LLM_MODEL.

    The key is LEDGER_LLM_KEY or OPENAI_API_KEY. No address is assumed: what goes there is somebody's conversation.
    Raises NoEndpoint.
    """
    url, model = url or os.environ.get("LEDGER_LLM_URL"), model or os.environ.get("LEDGER_LLM_MODEL")
    if not url or not model:
        missing = [
            *(["--url or LEDGER_LLM_URL"] if not url else []),
            *(["--model or LEDGER_LLM_MODEL"] if not model else []),
        ]
        hint = "such as --url http://localhost:11434/v1 --model NAME; or name a command with --command"
        raise NoEndpoint(f"there is nobody to ask: give {' and '.join(missing)}", hint)
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise NoEndpoint(f"{quoted(url)} is no address of an endpoint", "write http:// or https://, a host, a path")
    return Address(url, model, os.environ.get("LEDGER_LLM_KEY") or os.environ.get("OPENAI_API_KEY") or None)
