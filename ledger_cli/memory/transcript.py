"""A chat as messages: JSON lines or a JSON list of {role, content}, or a plain transcript of `name: text`.

Strict about what counts: every fault is reported, all at once, each with its line. Keys that mean nothing here are
named once, and left.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, cast

from ledger_cli import instant
from ledger_cli.errors import Problem, Refused, quoted
from ledger_cli.model import canonical_id, canonical_name
from ledger_cli.names import fault_of_id, fault_of_name, is_seen

Role = Literal["system", "user", "assistant", "tool"]

ASSISTANTS = ("assistant", "ai", "bot")
"""Who speaks for the model in a plain transcript, unless told otherwise."""

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_KEYS = ("role", "content", "at", "id", "name")
_SILENT = frozenset(("tool_calls", "tool_call_id", "function_call", "refusal", "annotations", "audio"))
_TEXTS = ("text", "input_text", "output_text")

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_SPEAKER = re.compile(r"(?:\[(?P<at>[^\]\n]{1,40})\][ \t]+)?(?P<name>[^\s:\[][^:\n]{0,63}):(?:[ \t]+(?P<text>.*))?")
_WORDS = 4
"""A name has so many words at most: "What we found is this: …" is no speaker."""


class TranscriptError(Refused):
    """A chat that cannot be read; every fault is in `problems`, each with file:line."""


@dataclass(frozen=True)
class Message:
    """One message that says something. `number` is its place in the chat, from 1, those that say nothing counted."""

    number: int
    role: Role
    content: str
    at: datetime | None = None
    id: str | None = None
    name: str | None = None


def read(
    data: bytes,
    source: str,
    *,
    assistants: Collection[str] = (),
    say: Callable[[str], None] = lambda _: None,
) -> tuple[Message, ...]:
    """The messages of a chat named `source`. Raises TranscriptError.

    It is JSON where the name ends in `.json`, `.jsonl` or `.ndjson`, or its first line can be read so; else plain text,
    in which `assistants` (left out: ASSISTANTS) name the model. `say` hears of what was not read.
    """
    reader = _Reader(source, say)
    if (text := reader.decoded(data)) is not None:
        if source.lower().endswith((".json", ".jsonl", ".ndjson")) or _is_json(text):
            reader.json(text)
        else:
            reader.plain(text, {name.casefold() for name in assistants or ASSISTANTS})
    return reader.done()


def _is_json(text: str) -> bool:
    return re.match(r"\s*(?:\{|\[\s*[{\]])", text) is not None


class _Reader:
    def __init__(self, source: str, say: Callable[[str], None]) -> None:
        self.source, self.say = source, say
        self.problems: list[tuple[int, str]] = []
        self.messages: list[Message] = []
        self.ids: dict[str, int] = {}
        self.count = 0
        self.unread: Counter[str] = Counter()

    def fault(self, line: int, what: str) -> None:
        self.problems.append((line, what))

    def done(self) -> tuple[Message, ...]:
        if not self.problems and not self.messages:
            self.fault(1, 'the chat holds no message; write one a line: {"role": "user", "content": …}, or name: text')
        if self.problems:
            ordered = sorted(self.problems, key=lambda fault: fault[0])
            raise TranscriptError(Problem(what, f"{self.source}:{line}") for line, what in ordered)
        if self.unread:
            names = ", ".join(quoted(name) for name in sorted(self.unread))
            self.say(f"note: {self.source}: not read: {names} (read are {', '.join(_KEYS)}, and text)")
        return tuple(self.messages)

    def decoded(self, data: bytes) -> str | None:
        try:
            return data.decode().removeprefix("\ufeff")
        except UnicodeDecodeError as fault:
            line = data.count(b"\n", 0, fault.start) + 1
            self.fault(line, f"not UTF-8 (byte 0x{data[fault.start]:02x}); save the chat as UTF-8")
            return None

    def add(
        self, line: int, role: Role, content: str, at: datetime | None, id: str | None = None, name: str | None = None
    ) -> None:
        content = content.replace("\r\n", "\n")
        if found := _CONTROL.search(content):
            what = "half a character" if found[0] >= "\ud800" else "a control character"
            self.fault(line, f"the text holds U+{ord(found[0]):04X}, {what}; leave it out")
        elif is_seen(content):
            self.messages.append(Message(self.count, role, content, at, id, name))

    # JSON

    def json(self, text: str) -> None:
        for line, value in self.values(text):
            self.count += 1
            if isinstance(value, dict):
                self.record(line, value)
            else:
                self.fault(line, "a message must be an object with 'role' and 'content'")

    def values(self, text: str) -> Iterator[tuple[int, Any]]:
        """The values of JSON lines, or of one list, each with its line."""
        if text.lstrip().startswith("["):
            yield from self.listed(text)
            return
        for line, one in enumerate(text.split("\n"), start=1):
            if one.strip():
                try:
                    yield line, json.loads(one)
                except (ValueError, RecursionError) as fault:
                    self.fault(line, f"not JSON: {_why(fault)}; write one message a line")

    def listed(self, text: str) -> Iterator[tuple[int, Any]]:
        decoder, blank = json.JSONDecoder(), re.compile(r"[ \t\r\n]*")

        def skip(at: int) -> int:
            return cast(re.Match[str], blank.match(text, at)).end()

        at = skip(text.index("[") + 1)
        while text[at : at + 1] != "]":
            try:
                value, end = decoder.raw_decode(text, at)
            except (ValueError, RecursionError) as fault:
                self.fault(text.count("\n", 0, at) + 1, f"not JSON: {_why(fault)}")
                return
            yield text.count("\n", 0, at) + 1, value
            at = skip(end)
            if text[at : at + 1] == ",":
                at = skip(at + 1)
            elif text[at : at + 1] != "]":
                self.fault(text.count("\n", 0, min(at, len(text) - 1)) + 1, "not JSON: the list of messages has no end")
                return
        if rest := text[at + 1 :].strip():
            self.fault(text.count("\n", 0, at) + 1, f"not JSON: {quoted(rest)} behind the list of messages")

    def record(self, line: int, record: dict[str, Any]) -> None:
        self.unread.update(key for key in record if key not in _KEYS and key not in _SILENT)
        faults = len(self.problems)
        role = record.get("role")
        if not isinstance(role, str) or role not in _ROLES:
            self.fault(line, f"'role' must be one of {', '.join(_ROLES)}, not {_shown(role)}")
        content = self.content(line, record.get("content"))
        at = self.text(line, record, "at", instant.parse)
        id = self.text(line, record, "id", _id)
        name = self.text(line, record, "name", _name)
        if id is not None and self.ids.setdefault(id, line) != line:
            self.fault(line, f"'id' {quoted(id)} is given twice, first on line {self.ids[id]}")
        if len(self.problems) == faults:
            self.add(line, _ROLES[cast(str, role)], content, at, id, name)

    def text(self, line: int, record: dict[str, Any], key: str, kind: Callable[[str], Any]) -> Any:
        value = record.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            self.fault(line, f"{key!r} must be text, not {_shown(value)}")
            return None
        try:
            return kind(value)
        except ValueError as fault:
            self.fault(line, f"{key!r}: {fault}")
            return None

    def content(self, line: int, content: Any) -> str:
        """The text of a content: a text, null, or a list of parts, of which those of text count."""
        if content is None or isinstance(content, str):
            return content or ""
        if not isinstance(content, list):
            self.fault(line, f"'content' must be text or a list of parts, not {_shown(content)}")
            return ""
        texts = []
        for part in content:
            if isinstance(part, str):
                texts.append(part)
            elif not isinstance(part, dict) or not isinstance(part.get("type"), str):
                self.fault(line, f"a part of 'content' must be an object with a 'type', not {_shown(part)}")
            elif part["type"] not in _TEXTS:
                self.unread[f"content of type {part['type']}"] += 1
            elif not isinstance(part.get("text"), str):
                self.fault(line, f"a part of type {part['type']} must have a 'text', not {_shown(part.get('text'))}")
            else:
                texts.append(part["text"])
        return "\n".join(texts)

    # Plain text

    def plain(self, text: str, assistants: Collection[str]) -> None:
        speaker: tuple[int, str, datetime | None] | None = None
        said: list[str] = []
        speakers: Counter[str] = Counter()
        orphan = False

        def end() -> None:
            if speaker is not None:
                line, name, at = speaker
                role: Role = "assistant" if name.casefold() in assistants else _ROLES.get(name.casefold(), "user")
                who = None if name.casefold() in _ROLES or role == "assistant" else name
                self.add(line, role, "\n".join(said).rstrip(), at, None, who)

        for number, raw in enumerate(text.split("\n"), start=1):
            line = raw.removesuffix("\r")
            found = _SPEAKER.fullmatch(line)
            if found is None or len(found["name"].split()) > _WORDS:
                if speaker is not None:
                    said.append(line)
                elif line.strip() and not orphan:
                    orphan = True
                    self.fault(number, "nobody says this; write `name: text`, and more of it on the lines below")
                continue
            end()
            self.count += 1
            try:
                name = _name(found["name"])
            except ValueError as fault:
                self.fault(number, f"the name {fault}")
                name = "?"
            speakers[name] += 1
            speaker, said = (number, name, self.time(number, found["at"])), [found["text"] or ""]
        end()
        if not self.problems and speakers:
            told = ", ".join(f"{name} ({n})" for name, n in speakers.most_common(8))
            more = f" and {len(speakers) - 8} more" if len(speakers) > 8 else ""
            self.say(f"note: {self.source}: {told}{more} speak")

    def time(self, line: int, text: str | None) -> datetime | None:
        try:
            return None if text is None else instant.parse(text)
        except ValueError as fault:
            self.fault(line, str(fault))
            return None


def _id(text: str) -> str:
    if (id := canonical_id(text)) and not fault_of_id(id) and not _CONTROL.search(id) and id == id.strip():
        return id
    raise ValueError(f"{quoted(text)} is no id: write one line of visible characters")


def _name(text: str) -> str:
    name = canonical_name(text)
    if why := fault_of_name(name):
        raise ValueError(f"{quoted(text)} {why}")
    if _CONTROL.search(name):
        raise ValueError(f"{quoted(text)} holds a control character")
    return name


def _why(fault: Exception) -> str:
    if isinstance(fault, json.JSONDecodeError):
        return fault.msg
    return "nested too deeply" if isinstance(fault, RecursionError) else "a number of too many digits"


def _shown(value: object) -> str:
    return quoted(value) if isinstance(value, str) else "null" if value is None else str(value)[:40]
