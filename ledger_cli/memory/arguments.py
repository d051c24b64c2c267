"""What a tool may be given: told to the agent as a JSON Schema, and read by the same words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ledger_cli.errors import Problem, Refused, quoted, told
from ledger_cli.memory.calls import CallRefused, plain

Kind = Literal["text", "texts", "whole", "yes", "object", "session"]

MOST = 1_000_000
"""Characters that the arguments of one call may have, as JSON."""

_SCHEMAS: dict[Kind, dict[str, Any]] = {
    "text": {"type": "string"},
    "texts": {"type": "array", "items": {"type": "string"}},
    "whole": {"type": "integer"},
    "yes": {"type": "boolean"},
    "object": {"type": "object"},
    "session": {"type": ["object", "string"]},
}


class ArgumentsRefused(Refused):
    """A tool was given what it does not take; every fault is in `problems`."""


@dataclass(frozen=True)
class Argument:
    """One argument of a tool: its name, what it is for, and what it may be.

    `most` bounds the characters of a text, the texts of a list, or a whole number, which is from `least` on.
    """

    name: str
    kind: Kind
    what: str
    required: bool = False
    most: int = 10_000
    least: int = 1
    default: Any = None

    def schema(self) -> dict[str, Any]:
        """Its JSON Schema."""
        bounds: dict[str, Any] = {}
        if self.kind == "whole":
            bounds = {"minimum": self.least, "maximum": self.most}
        elif self.kind == "text":
            bounds = {"maxLength": self.most}
        elif self.kind == "texts":
            bounds = {"maxItems": self.most}
        default = {} if self.default is None else {"default": self.default}
        return {**_SCHEMAS[self.kind], "description": self.what, **bounds, **default}

    def fault(self, value: object) -> str:
        """What is wrong with a value; "" = nothing."""
        if self.kind == "whole":
            if type(value) is not int or not self.least <= value <= self.most:
                return f"{_told(value)} is no whole number from {self.least} to {self.most}"
            return ""
        if self.kind == "yes":
            return "" if isinstance(value, bool) else f"{_told(value)} is neither true nor false"
        if self.kind == "object":
            return "" if isinstance(value, dict) else f"{_told(value)} is no object"
        if self.kind == "session":
            return "" if isinstance(value, (dict, str)) else f"{_told(value)} is no session: give an object, or YAML"
        if self.kind == "texts":
            if not isinstance(value, list) or len(value) > self.most:
                return f"{_told(value)} is no list of at most {self.most} texts"
            return next((why for why in map(_fault_of_text, value) if why), "")
        if why := _fault_of_text(value):
            return why
        if len(str(value)) > self.most:
            return f"has {len(str(value))} characters, and may have {self.most}"
        return "is empty" if self.required and not str(value).strip() else ""


def _fault_of_text(value: object) -> str:
    if not isinstance(value, str):
        return f"{_told(value)} is no text"
    if any(0xD800 <= ord(c) < 0xE000 for c in value):
        return "holds half a character (a lone surrogate)"
    return ""


def _told(value: object) -> str:
    return quoted(value) if isinstance(value, str) else told(value)


def schema(arguments: Sequence[Argument]) -> dict[str, Any]:
    """The JSON Schema of what a tool takes."""
    return {
        "type": "object",
        "properties": {a.name: a.schema() for a in arguments},
        "required": [a.name for a in arguments if a.required],
        "additionalProperties": False,
    }


def size(given: Mapping[str, Any]) -> int:
    """How many characters arguments have as JSON. Raises ArgumentsRefused for what no reader of JSON would take."""
    try:
        return len(json.dumps(plain(given), ensure_ascii=False))
    except CallRefused as fault:
        raise ArgumentsRefused(fault.message) from None


def read(arguments: Sequence[Argument], given: Mapping[str, Any]) -> dict[str, Any]:
    """Every argument by its name, as given or as it is left out. Raises ArgumentsRefused with every fault at once.

    An argument that is null counts as left out.
    """
    if (characters := size(given)) > MOST:
        raise ArgumentsRefused(f"the arguments have {characters} characters, and may have {MOST}")
    known = {a.name: a for a in arguments}
    problems = [
        Problem(f"there is no argument {quoted(name)}; there are: {', '.join(known) or 'none'}")
        for name in given
        if name not in known
    ]
    found: dict[str, Any] = {}
    for a in arguments:
        value = given.get(a.name)
        found[a.name] = a.default if value is None else value
        if value is None and a.required:
            problems.append(Problem(f"{a.name} is missing: {a.what}"))
        elif value is not None and (why := a.fault(value)):
            problems.append(Problem(f"{a.name}: {why}"))
    if problems:
        raise ArgumentsRefused(problems)
    return found
