"""Why a line of the checkpoint is not canonical, in a sentence: for lines that are known not to be."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from ledger_cli import instant
from ledger_cli.errors import quoted

SHAPES = {
    "decision": "decision text rationale? slot? about? from? confidence? corrects? "
    "validFrom validTo? recordedAt by? session",
    "fact": "fact text rationale? slot? about? from? confidence? corrects? validFrom validTo? recordedAt by? session",
    "episode": "episode kind text mentions? at? recordedAt session",
    "supersedes": "supersedes with recordedAt by? session",
    "ends": "ends validTo by reason? recordedAt session",
    "rejects": "rejects by reason recordedAt session",
    "reinstates": "reinstates by reason recordedAt session",
    "entity": "entity kind recordedAt session",
}
"""The keys of a line in their order, by the first of them; `?` marks what may be left out."""

_LISTS = {"about", "from", "mentions"}
_TARGETS = ("an id", '{"supersedes": old, "with": new}', '{"ends": id}')
_TIMES = {"validFrom", "validTo", "recordedAt", "at"}
SURROGATE = re.compile("[\ud800-\udfff]")


class _Object(list[tuple[str, Any]]):
    """A JSON object with its keys as they stand, repeated ones too."""


_DECODER = json.JSONDecoder(object_pairs_hook=_Object)


def fault(text: str) -> str:
    """Say why a line that is known not to be canonical is not."""
    if SURROGATE.search(text):
        return "not UTF-8, or a lone surrogate"
    try:
        stated, end = _DECODER.raw_decode(text)
    except json.JSONDecodeError as why:
        return f"not JSON: {why.msg} (column {why.colno})"
    except (ValueError, RecursionError) as why:
        return f"not JSON that an entry may hold: {why}"
    if end < len(text):
        return f"more in the line than one JSON object (column {end + 1})"
    if not isinstance(stated, _Object) or not stated:
        return "not an entry: a line is one JSON object"
    first = stated[0][0]
    if first not in SHAPES:
        return f"not an entry: its first key is one of {', '.join(SHAPES)}, not {quoted(first)}"
    return (
        _fault_of_keys([key for key, _ in stated], SHAPES[first].split())
        or next(filter(None, (_fault_of_value(key, value) for key, value in stated)), "")
        or "not written as the tool writes it: spacing, escapes or digits differ"
    )


def _fault_of_keys(keys: Sequence[str], shape: Sequence[str]) -> str:
    allowed = [key.rstrip("?") for key in shape]
    for key in keys:
        if keys.count(key) > 1:
            return f"the key {quoted(key)} stands twice"
        if key not in allowed:
            return f"unknown key {quoted(key)}; the keys are {', '.join(allowed)}"
    for key in shape:
        if not key.endswith("?") and key not in keys:
            return f"`{key}` is missing"
    if list(keys) != sorted(keys, key=allowed.index):
        return f"the keys are not in their order: {', '.join(key for key in allowed if key in keys)}"
    return ""


def _fault_of_value(key: str, value: Any) -> str:
    if key in _TIMES and isinstance(value, str):
        try:
            canonical = instant.show(instant.parse(value))
        except ValueError as why:
            return f"`{key}`: {why}"
        return "" if canonical == value else f"`{key}` is written {canonical}, not {quoted(value)}"
    if key == "confidence":
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return "" if is_number and 0 <= value <= 1 else f"`confidence` is a number from 0 to 1, not {value!r}"
    if key in _LISTS:
        values, form = value, "a list of strings, left out if there are none"
        right = type(value) is list and bool(value)
    elif key in ("rejects", "reinstates"):
        is_object = isinstance(value, _Object)
        values, form = [each for _, each in value] if is_object else [value], f"one of {', '.join(_TARGETS)}"
        right = not is_object or [inner for inner, _ in value] in (["supersedes", "with"], ["ends"])
    else:
        values, form, right = [value], "a string", True
    if not right or not all(isinstance(each, str) for each in values):
        return f"`{key}` is not {form}"
    return f"`{key}` holds a lone surrogate" if any(map(SURROGATE.search, values)) else ""


def shown(values: Iterable[str]) -> str:
    """A list as the line holds it."""
    return json.dumps(list(values), ensure_ascii=False)
