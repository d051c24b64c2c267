"""The text of a session file, YAML or JSON, as nodes with their lines. Every scalar stays as typed.

Both formats come out as the same nodes, so the reader above does not know which one it reads. Faults are collected
and reading goes on, so that a file's faults are reported together; only a fault of syntax ends it.

What YAML does to text before anyone sees it is kept out: characters that it takes for line breaks, skips or does not
accept (U+2028, U+2029, U+FEFF, U+FFFE, U+FFFF) are refused where they stand raw and welcome as escapes. CRLF is a
line break of the file, not of the text: a text is the same whichever way git checked the file out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from ledger_cli.errors import Problem, SessionFileError, quoted, short
from ledger_cli.stated import Place, where

_NULLS = frozenset(("", "~", "null"))
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_RAW_IN_JSON = re.compile(r"\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_RAW_IN_YAML = re.compile(_RAW_IN_JSON.pattern + "|[\u2028\u2029\ufeff\ufffe\uffff]")
_JSON_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]]|[^\s,:{}\[\]"]+')

_DEEPEST = 100
_TOO_DEEP = "not a session: nested too deeply"

Form = Literal["string", "plain", "number", "word", "null"]
"""How a scalar was typed: quoted; plain YAML, text or number as the key wants it; JSON's numbers, true, NaN; absent."""


@dataclass(slots=True)
class Scalar:
    text: str
    line: int
    form: Form


@dataclass(slots=True)
class Sequence:
    items: list[Node]
    line: int


@dataclass(slots=True)
class Mapping:
    line: int
    values: dict[str, Node] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)  # of the keys


Node = Scalar | Sequence | Mapping
_NOTHING = Scalar("", 1, "null")


class Faults:
    """All that is wrong with one file."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._found: list[tuple[int, str]] = []

    def add(self, line: int, what: str) -> None:
        self._found.append((line, what))

    def raise_any(self) -> None:
        """Raise SessionFileError with every fault, in the order of the lines, if there is one."""
        if self._found:
            ordered = sorted(self._found, key=lambda fault: fault[0])
            raise SessionFileError(Problem(what, where(self.source, line)) for line, what in ordered)


def parse(data: bytes | str, faults: Faults, *, guess: bool = False) -> Node | None:
    """Read the text of one file: JSON where the source is named `*.json` or, to `guess`, where it is JSON; else YAML.

    None where there is no session in it or the syntax is at fault; `faults` then says so.
    """
    text = data if isinstance(data, str) else _decode(data, faults)
    if text is None:
        return None
    if text.startswith("\ufeff"):
        faults.add(1, "the file starts with a byte order mark; save it as UTF-8 without one")
        text = text[1:]
    is_json = faults.source.lower().endswith(".json") or (guess and _is_json(text))
    raw = _RAW_IN_JSON if is_json else _RAW_IN_YAML
    if raw.search(text):
        for number, line in enumerate(text.split("\n"), start=1):
            # The CR of a CRLF has lost its LF to the split.
            if found := raw.findall(line.removesuffix("\r")):
                _refuse_characters(found, number, faults)
        text = raw.sub("\ufffd", text)
    if is_json and text.strip():
        root = _from_json(text, faults)
    else:
        root = _from_yaml(text, faults) if text.strip() else _NOTHING
    if (isinstance(root, Scalar) and root.form == "null") or (isinstance(root, Sequence) and not root.items):
        faults.add(root.line, "the file holds no session; `ledger session new` writes one to fill in")
        return None
    return root


def _is_json(text: str) -> bool:
    """A session or a list of them in JSON; most of it could be read as YAML too, and by other rules."""
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _decode(data: bytes, faults: Faults) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        faults.add(line, f"the file is not UTF-8 (byte 0x{data[fault.start]:02x}); save it as UTF-8")
        return None


def _refuse_characters(found: list[str], line: int, faults: Faults) -> None:
    for character in sorted(set(found)):
        name = f"U+{ord(character):04X}"
        if character < "\xa0":
            faults.add(line, f"control character {name}; only line feed and tab may stand in text")
        elif "\ud800" <= character <= "\udfff":
            faults.add(line, f"lone surrogate {name}; it is half a character, write the whole one")
        else:
            faults.add(
                line, f'character {name}, which YAML may not keep; write "\\u{ord(character):04x}" in double quotes'
            )


def _scalar(text: str, line: int, form: Form, faults: Faults) -> Scalar:
    if found := _CONTROL.findall(text):
        _refuse_characters(found, line, faults)
        text = _CONTROL.sub("\ufffd", text)
    return Scalar(text, line, form)


def _mapping(children: list[Node], line: int, faults: Faults) -> Mapping:
    """Pair keys with values. A key given twice keeps its first value."""
    mapping = Mapping(line)
    for key, value in zip(children[::2], children[1::2], strict=True):
        if not isinstance(key, Scalar):
            faults.add(key.line, "a key must be a word, not a list or a mapping; put text in quotes if it starts so")
        elif key.text == "<<":
            faults.add(key.line, "merge keys '<<' are not read; write the keys out")
        elif key.text in mapping.values:
            first = mapping.lines[key.text]
            faults.add(key.line, f"key {quoted(key.text)} is given twice, first on line {first}; keep one")
        else:
            mapping.values[key.text] = value
            mapping.lines[key.text] = key.line
    return mapping


def _from_json(text: str, faults: Faults) -> Node | None:
    try:
        # The standard parser judges the syntax, so that the tokens below can be taken at their word.
        json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except json.JSONDecodeError as fault:
        faults.add(fault.lineno, f"not JSON: {fault.msg} (column {fault.colno})")
        return None
    except RecursionError:
        faults.add(1, _TOO_DEEP)
        return None
    done: list[Node] = []
    around: list[tuple[int, list[Node]]] = []
    line, seen = 1, 0
    for token in _JSON_TOKEN.finditer(text):
        line, seen = line + text.count("\n", seen, token.start()), token.start()
        word = token[0]
        if word in "{[":
            around.append((line, done))
            done = []
            continue
        if word in "}]":
            start, outer = around.pop()
            outer.append(_mapping(done, start, faults) if word == "}" else Sequence(done, start))
            done = outer
        elif word[0] == '"':
            done.append(_scalar(json.loads(word), line, "string", faults))
        else:
            done.append(Scalar(word, line, _json_form(word)))
    _set_places(done[0], "")
    return done[0]


def _set_places(node: Node, path: str) -> None:
    """Give nodes the path to them. What has no parts is told by its key, unless it stands in a list."""
    node.line = Place.at(node.line, path)
    if isinstance(node, Sequence):
        for n, item in enumerate(node.items):
            _set_places(item, f"{path}[{n}]")
    elif isinstance(node, Mapping):
        node.lines = {key: Place.at(line, path) for key, line in node.lines.items()}
        for key, value in node.values.items():
            inner = f"{path}.{short(key)}" if path else short(key)
            _set_places(value, path if isinstance(value, Scalar) else inner)


def _json_form(word: str) -> Form:
    if word == "null":
        return "null"
    return "number" if word[-1].isdigit() else "word"


def _from_yaml(text: str, faults: Faults) -> Node | None:
    import yaml

    loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        return _compose(yaml.parse(text, Loader=loader), faults)
    except yaml.MarkedYAMLError as fault:
        what, mark, start = f"not YAML: {fault.problem or fault.context}", fault.problem_mark, fault.context_mark
        if mark and start and start.line < mark.line:
            what += f" {fault.context} that starts on line {start.line + 1}"
        if "mapping values" in what or "cannot start any token" in what:
            what += "; put text in quotes if it holds ': ' or starts with a sign"
        faults.add(min(mark.line, text.count("\n")) + 1 if mark else 1, what)
    except (yaml.YAMLError, ValueError, OverflowError) as fault:
        faults.add(1, f"not YAML: {fault}")
    return None


def _compose(events: Iterator[Any], faults: Faults) -> Node | None:
    """Build the nodes from YAML's events: unlike its own nodes they still tell anchors, tags and quotes."""
    from yaml import events as e

    done: list[Node] = []
    around: list[tuple[int, list[Node]]] = []
    documents = 0
    for event in events:
        line = event.start_mark.line + 1
        if isinstance(event, e.NodeEvent):
            _refuse_sharing(event, line, faults)
        if isinstance(event, e.ScalarEvent):
            plain: Form = "null" if event.value in _NULLS else "plain"
            done.append(_scalar(event.value, line, "string" if event.style else plain, faults))
        elif isinstance(event, e.CollectionStartEvent):
            if len(around) == _DEEPEST:
                faults.add(line, _TOO_DEEP)
                return None
            around.append((line, done))
            done = []
        elif isinstance(event, e.CollectionEndEvent):
            start, outer = around.pop()
            is_mapping = isinstance(event, e.MappingEndEvent)
            outer.append(_mapping(done, start, faults) if is_mapping else Sequence(done, start))
            done = outer
        elif isinstance(event, e.AliasEvent):
            done.append(Scalar(f"*{event.anchor}", line, "plain"))
        elif isinstance(event, e.DocumentStartEvent):
            documents += 1
            if documents == 2:
                faults.add(line, "a second document; write the sessions of a file as one list")
                break
    return done[0] if done else _NOTHING


def _refuse_sharing(event: Any, line: int, faults: Faults) -> None:
    """Anchors and aliases let a small file grow without bound; tags make of a scalar what was not typed."""
    from yaml import AliasEvent

    if isinstance(event, AliasEvent):
        faults.add(line, f"alias '*{event.anchor}'; aliases are not read, write the value out")
    elif event.anchor is not None:
        faults.add(line, f"anchor '&{event.anchor}'; anchors are not read, leave it out")
    if getattr(event, "tag", None) is not None:
        faults.add(line, f"tag '{event.tag}'; tags are not read, every value is text: leave it out")
