"""Models behind an endpoint that speaks OpenAI's API, through the official SDK; imported only where one is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from ledger_cli.errors import LedgerError, short
from ledger_cli.memory.address import Address

if TYPE_CHECKING:
    import openai

T = TypeVar("T")
TIMEOUT = 30.0
"""Seconds that one answer may take."""


class EndpointError(LedgerError):
    """The endpoint did not answer as it should, after as many tries as the SDK makes."""


def client(url: str, key: str | None, timeout: float = TIMEOUT) -> openai.OpenAI:
    """The SDK's client for a base URL such as http://localhost:11434/v1. It retries what passes, with back-off.

    A server of one's own needs no key. Raises LedgerError where the SDK is not installed or the URL is none.
    """
    try:
        import openai
    except ImportError as fault:
        raise LedgerError(f"the OpenAI SDK cannot be imported: {fault}", "pip install 'ledger-cli[llm]'") from None
    if not url.startswith(("http://", "https://")):
        raise LedgerError(f"{short(url)!r} is no base URL", "write it as in https://host/v1")
    return openai.OpenAI(base_url=url, api_key=key or "none", timeout=timeout, max_retries=2)


def asking(place: str, call: Callable[[], T]) -> T:
    """What a call of the SDK returns. Raises EndpointError, with what went wrong in a sentence, instead of its own."""
    import openai

    hint = "try again, or see whether the endpoint is up"
    try:
        return call()
    except openai.APITimeoutError:
        raise EndpointError(f"{place} did not answer in time", hint) from None
    except openai.APIConnectionError as fault:
        raise EndpointError(f"{place} cannot be reached: {fault.__cause__ or fault}", hint) from None
    except openai.AuthenticationError:
        raise EndpointError(f"{place} does not take the key", "set LEDGER_LLM_KEY") from None
    except openai.RateLimitError:
        raise EndpointError(f"{place} takes no more requests for now (429)", "wait, and try again") from None
    except openai.APIStatusError as fault:
        raise EndpointError(f"{place} answered {fault.status_code}: {short(fault.message, 200)}", hint) from None
    except (openai.OpenAIError, ValueError, TypeError, AttributeError, KeyError) as fault:
        raise EndpointError(f"{place} answered what cannot be read: {short(str(fault), 200)}", hint) from None


class EndpointEmbedder:
    """Vectors by `/embeddings` of an endpoint."""

    def __init__(self, url: str, model: str, key: str | None, timeout: float = TIMEOUT) -> None:
        self._client, self._model = client(url, key, timeout), model
        self._place = Address(url, model, key).place  # a password in the URL is neither said nor kept
        self.name = f"{model} at {self._place}"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, by one request. Raises EndpointError."""

        def call() -> list[list[float]]:
            # As numbers: the SDK's own default, base64, is not known to every server.
            answer = self._client.embeddings.create(input=list(texts), model=self._model, encoding_format="float")
            return [list(row.embedding) for row in sorted(answer.data, key=lambda row: row.index)]

        return asking(self._place, call) if texts else []
