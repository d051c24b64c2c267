"""Any OpenAI-compatible endpoint: where it is, and the official SDK's client for it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ledger_cli.errors import LedgerError, quoted

if TYPE_CHECKING:
    import openai


class NoEndpoint(LedgerError):
    """An endpoint is asked for that is not named, or cannot be: the address, the model or the SDK is missing."""


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
        missing = " and ".join(
            name
            for name, value in (("--url or LEDGER_LLM_URL", url), ("--model or LEDGER_LLM_MODEL", model))
            if not value
        )
        raise NoEndpoint(f"no endpoint is named: {missing} is missing", "such as --url http://localhost:11434/v1")
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise NoEndpoint(f"{quoted(url)} is no address of an endpoint", "write http:// or https://, a host, a path")
    return Address(url, model, os.environ.get("LEDGER_LLM_KEY") or os.environ.get("OPENAI_API_KEY") or None)


def client(url: str, key: str | None, timeout: float) -> openai.OpenAI:
    """The SDK's client for the endpoint at `url`; `timeout` in seconds. It tries once: who asks tries again.

    Raises NoEndpoint where the extra `llm` is not installed.
    """
    try:
        import openai
    except ImportError:
        raise NoEndpoint(
            "the package openai is not installed, which asks endpoints", "pip install 'ledger-cli[llm]'"
        ) from None
    # The SDK insists on a key; a local server takes any.
    return openai.OpenAI(base_url=url, api_key=key or "none", timeout=timeout, max_retries=0)


def is_of_the_connection(fault: Exception) -> bool:
    """Is this what the SDK's HTTP client raises where a connection fails? (Which client it is, is the SDK's affair.)"""
    return any(kind.__name__ == "TransportError" for kind in type(fault).__mro__)
