"""Who answers questions: a chat endpoint, or a command."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

from ledger_cli.errors import Refused, quoted, short
from ledger_cli.memory import endpoint, prompts, retrying
from ledger_cli.memory.address import Address
from ledger_cli.memory.extraction import (
    SUMMARY,
    Extraction,
    KnownEntity,
    KnownSlot,
    Pair,
    Verdict,
    checked,
    extracted,
    judged,
    parsed,
)
from ledger_cli.memory.prompts import Question
from ledger_cli.memory.retrying import Again, NoAnswer
from ledger_cli.memory.transcript import Message
from ledger_cli.names import is_seen

TIMEOUT = 120.0
"""Seconds for one answer."""
_LARGEST = 8 * 2**20
_SUMMED = 200
_AGAIN = (408, 409, 425, 429)


class Model(Protocol):
    """What answers a question with JSON."""

    name: str

    def ask(self, question: Question) -> object:
        """The JSON value of one answer. Raises Again where another try may do better, and NoAnswer."""


class Endpoint:
    """An OpenAI-compatible chat endpoint, asked for JSON of a strict schema. `timeout`: seconds for a whole answer."""

    def __init__(self, address: Address, timeout: float = TIMEOUT) -> None:
        self.address, self.timeout = address, timeout
        self.name = f"{address.model} at {address.place}"
        # It tries once: a wrong answer has to be asked for again too, and by the same count.
        self._client = endpoint.client(address.url, address.key, timeout).with_options(max_retries=0)

    def ask(self, question: Question) -> object:
        import openai

        try:
            return _content(parsed(self._completion(question)))
        except openai.APITimeoutError:
            raise Again(f"no answer within {self.timeout:g} s") from None
        except openai.APIConnectionError as fault:
            raise Again(f"no connection to {self.address.place}: {fault.__cause__ or fault}") from None
        except openai.APIStatusError as fault:
            raise self._refused(fault.status_code, fault.message, fault.response.headers) from None
        except openai.OpenAIError as fault:
            raise Again(f"the endpoint failed: {self._told(str(fault))}") from None
        except Exception as fault:
            if _is_of_the_connection(fault):  # the SDK knows them only up to the first byte of an answer
                raise Again(f"the connection to {self.address.place} broke: {self._told(str(fault))}") from None
            raise

    def _completion(self, question: Question) -> bytes:
        """The bytes of a chat completion. A server that sends them one by one has no more time than any other."""
        end = time.perf_counter() + self.timeout
        data = bytearray()
        with self._client.chat.completions.with_streaming_response.create(
            model=self.address.model,
            messages=[
                {"role": "system", "content": question.instructions},
                {"role": "user", "content": question.text()},
            ],
            response_format={
                "type": "json_schema",
                "json_schema": {"name": question.task, "schema": question.schema, "strict": True},
            },
        ) as response:
            for chunk in response.iter_bytes():
                data += chunk
                if len(data) > _LARGEST:
                    raise Again(f"the answer has more than {_LARGEST // 2**20} MiB")
                if time.perf_counter() > end:
                    raise Again(f"no whole answer within {self.timeout:g} s")
        return bytes(data)

    def _refused(self, status: int, message: str, headers: Any) -> Exception:
        what = f"{self.address.place} answered {status}: {self._told(message)}"
        if status in _AGAIN or status >= 500:
            return Again(what, retrying.seconds(headers.get("retry-after"), headers.get("date")))
        hint = {
            401: "set LEDGER_LLM_KEY or OPENAI_API_KEY",
            403: "set LEDGER_LLM_KEY or OPENAI_API_KEY",
            404: "look at --url (it often ends in /v1) and --model",
        }
        return NoAnswer(what, hint.get(status, ""))

    def _told(self, text: str) -> str:
        """What the other side says, as far as it may be repeated: no key, nothing that moves a terminal."""
        if self.address.key:
            text = text.replace(self.address.key, "(the key)")
        return quoted(short(" ".join(text.split()), 200))[:240]


def _is_of_the_connection(fault: Exception) -> bool:
    """Is this what the SDK's HTTP client raises where a connection fails? (Which client it is, is the SDK's affair.)"""
    return any(kind.__name__ == "TransportError" for kind in type(fault).__mro__)


def _content(completion: object) -> object:
    """The JSON in a chat completion. Raises Again."""
    try:
        choice = completion["choices"][0]  # type: ignore[index]
        message = choice["message"]
        content, refusal = message["content"], message.get("refusal")
    except (AttributeError, IndexError, KeyError, TypeError):
        raise Again("the answer is no chat completion") from None
    if refusal:
        raise Again(f"the model refused: {quoted(str(refusal))}")
    if choice.get("finish_reason") == "length":
        raise Again("the answer was cut off at the model's limit; ask of fewer messages at once")
    if not isinstance(content, str):
        raise Again("the answer holds no text")
    return parsed(_unfenced(content))


def _unfenced(text: str) -> str:
    """Models that know no schema like to put JSON in a block of Markdown."""
    found = re.fullmatch(r"\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*", text, re.DOTALL)
    return found[1] if found else text


class Command:
    """A command that reads a question as JSON on stdin, and writes its answer to stdout. No shell is between."""

    def __init__(self, command: str, timeout: float = TIMEOUT) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError as fault:
            raise Refused(f"--command: {fault}", "quote it as for a shell") from None
        if not self._words:
            raise Refused("--command names no command", "such as --command 'python3 extract.py'")
        self.name, self.timeout = f"the command {short(self._words[0])}", timeout

    def ask(self, question: Question) -> object:
        try:
            process = subprocess.Popen(
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # what it starts ends with it
            )
        except OSError as fault:
            raise NoAnswer(f"{self.name} cannot be run: {fault.strerror or fault}") from None
        try:
            out, err = process.communicate(question.json().encode(), timeout=self.timeout)
        except subprocess.TimeoutExpired:
            raise Again(f"{self.name} gave no answer within {self.timeout:g} s") from None
        finally:
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:  # what left the group may keep the other end open: it is not waited for
                    with suppress(OSError):
                        stream.close()
        if process.returncode:
            said = err.decode(errors="replace").strip().rpartition("\n")[2]
            raise Again(f"{self.name} ended with {process.returncode}" + (f": {quoted(said)}" if said else ""))
        if len(out) > _LARGEST:
            raise Again(f"the answer has more than {_LARGEST // 2**20} MiB")
        return parsed(out)


class Reader:
    """Reads chats with a model: an Extractor. `say` hears of tries that failed."""

    pairs_at_once = 20

    def __init__(
        self, model: Model, *, tries: int = retrying.TRIES, say: Callable[[str], None] = lambda _: None
    ) -> None:
        self.model, self.tries, self.say = model, tries, say
        self.name = model.name

    def extract(
        self, messages: Sequence[Message], slots: Sequence[KnownSlot], entities: Sequence[KnownEntity]
    ) -> Extraction:
        question = prompts.extraction(messages, slots, entities)
        return retrying.asked(lambda: extracted(self.model.ask(question), messages), say=self.say, tries=self.tries)

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        question = prompts.judgement(pairs)
        return retrying.asked(lambda: judged(self.model.ask(question), pairs), say=self.say, tries=self.tries)

    def summarise(self, so_far: str | None, messages: Sequence[Message]) -> str | None:
        """The summary of what was summed up so far and of these messages, in as many questions as they need.

        Raises NoAnswer.
        """
        for some in prompts.batches(messages, _SUMMED):
            question = prompts.summary(so_far, some)
            so_far = retrying.asked(partial(self._summary, question), say=self.say, tries=self.tries)
        return so_far

    def _summary(self, question: Question) -> str:
        text: str = checked(self.model.ask(question), SUMMARY)["summary"]
        if not is_seen(text):
            raise Again("the answer is an empty summary")
        return text.strip()
