"""Session files: what a person or an agent writes, strictly read into `Session` values, and written back.

Text is kept byte for byte. Ids are NFC; names, slots, kinds and who said it are NFC with white space collapsed.
What stands in another session, or depends on the clock, is not judged here: `rules` does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeVar, cast

from ledger_cli import instant, stated
from ledger_cli.errors import Problem, Refused, SessionFileError, quoted, short
from ledger_cli.model import Kind, Target, Verdict, canonical_id, canonical_name, name_set
from ledger_cli.names import LONGEST, fault_of_id, fault_of_name
from ledger_cli.session_nodes import Faults, Mapping, Node, Scalar, Sequence, parse
from ledger_cli.session_writer import skeleton, to_yaml
from ledger_cli.stated import OPEN, Session

__all__ = ["check_id", "check_name", "of", "read", "read_file", "skeleton", "to_yaml"]

T = TypeVar("T")

SESSION = ("session", "at", "by", "entities", "episodes", "decisions", "facts", "supersessions", "endings", "reviews")
ENTITY = ("name", "kind")
EPISODE = ("id", "kind", "at", "text", "mentions")
ITEM = (
    "id",
    "text",
    "rationale",
    "slot",
    "about",
    "validFrom",
    "validTo",
    "supersedes",
    "corrects",
    "from",
    "confidence",
)
LINK = ("old", "new")
ENDING = ("id", "validTo", "by", "reason")
REVIEW = ("reject", "reinstate", "by", "reason")

_PLACEHOLDER = re.compile(r"\s*(?:<[^<>=\"'`/\\]*>|\{[^{}]*\|[^{}]*\}|(?i:yyyy-mm-dd)|TODO)\s*")
_TAG = re.compile(r"\s*<\S*>\s*")  # one word: as a text it may be what was said, `<br>`
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def read_file(path: Path, name: str = "") -> tuple[Session, ...]:
    """Read a session file, called `name` in messages. Raises SessionFileError, also where it cannot be read."""
    try:
        data = path.read_bytes()
    except OSError as fault:
        raise SessionFileError([Problem(f"cannot be read: {fault.strerror}", name or str(path))]) from None
    return read(data, name or str(path))


def read(data: bytes | str, source: str, *, guess: bool = False) -> tuple[Session, ...]:
    """Read the text of a file named `source`: one session, or a list.

    It is JSON where the name ends in `.json`, or, to `guess` where there is no name to go by, where it can be read as
    JSON; else YAML.

    Raises SessionFileError with every fault of the text, in the order of its lines, each with `source:line`.
    """
    faults = Faults(source)
    root = parse(data, faults, guess=guess)
    nodes = root.items if isinstance(root, Sequence) else [] if root is None else [root]
    records = [_record(node, "a session", SESSION, faults) for node in nodes]
    sessions = tuple(_session(record) for record in records if record)
    _refuse_twins("session", ((s.id, s.line) for s in sessions), faults)
    faults.raise_any()
    return sessions


def check_id(text: str) -> str:
    """An id as it is kept. Raises ValueError with why a session file with it would be refused."""
    return _id(text)


def check_name(text: str) -> str:
    """The name of who says so, as it is kept. Raises ValueError with why a session file with it would be refused."""
    name = _name(text)
    if found := _CONTROL.search(name):
        raise ValueError(f"{quoted(text)} holds the control character U+{ord(found[0]):04X}")
    return name


def of(document: dict[str, object]) -> Session:
    """A session given as the JSON form of a file. Raises Refused as for a file, without lines."""
    try:
        return replace(read(json.dumps([document]), "session.json")[0], source="")
    except SessionFileError as fault:
        raise Refused([Problem(p.what, "", p.hint) for p in fault.problems]) from None


class _Record:
    """One mapping of the file: hands out each key's value as what it should be, and notes what is wrong with it.

    Every method returns None, or nothing, for a value with a fault: the file is refused as a whole at the end.
    """

    def __init__(self, node: Mapping, what: str, keys: tuple[str, ...], faults: Faults) -> None:
        self.what, self.line, self.faults = what, node.line, faults
        self._nodes = {k: n for k, n in node.values.items() if not (isinstance(n, Scalar) and n.form == "null")}
        for key in node.values:
            if key not in keys:
                faults.add(node.lines[key], f"unknown key {quoted(key)} in {what}; {_suggestion(key, what, keys)}")

    def has(self, key: str) -> bool:
        return key in self._nodes

    def node(self, key: str) -> Node:
        return self._nodes[key]

    def fault(self, key: str, what: str) -> None:
        self.faults.add(self._nodes[key].line, f"'{key}': {what}")

    def one(self, key: str, kind: Callable[[str], T]) -> T | None:
        """The value of a key, absent allowed."""
        return self._convert(key, self._nodes[key], kind) if key in self._nodes else None

    def need(self, key: str, kind: Callable[[str], T]) -> T:
        """The value of a key that must be there."""
        if key not in self._nodes:
            self.faults.add(self.line, f"{self.what} needs '{key}'")
        return cast(T, self.one(key, kind))

    def signed(self, by_session: bool) -> str | None:
        """`by`, which may stand on the session instead."""
        if not by_session and not self.has("by"):
            self.faults.add(self.line, f"{self.what} needs 'by', here or on the session: who says so")
        return self.one("by", _name)

    def many(self, key: str, kind: Callable[[str], T]) -> tuple[T, ...] | None:
        """The values of a key that takes a list, each once; a single value is a list of one."""
        node = self._nodes.get(key)
        if node is None:
            return None
        found = [self._convert(key, n, kind) for n in (node.items if isinstance(node, Sequence) else [node])]
        return tuple(dict.fromkeys(value for value in found if value is not None))

    def records(self, key: str, what: str, keys: tuple[str, ...]) -> Iterator[tuple[int, _Record]]:
        """The mappings of a list, with their place in it from 1."""
        node = self._nodes.get(key)
        if node is not None and not isinstance(node, Sequence):
            self.fault(key, f"must be a list; write '- ' before {what}")
        elif node is not None:
            for place, child in enumerate(node.items, start=1):
                if record := _record(child, what, keys, self.faults):
                    yield place, record

    def _convert(self, key: str, node: Node, kind: Callable[[str], T]) -> T | None:
        if not isinstance(node, Scalar):
            shape, sign = ("list", "[") if isinstance(node, Sequence) else ("mapping", "{")
            fault = f"must be one value, not a {shape}; put text that starts with {sign} in quotes"
        elif node.form == "null":
            fault = "an entry of the list is empty; fill it in or remove it"
        elif kind is _share and node.form == "string":
            fault = f"{quoted(node.text)} is text; write a number from 0 to 1 without quotes"
        elif kind is not _share and node.form in ("number", "word"):
            fault = f'{short(node.text)} is not text; write "{short(node.text)}" in quotes'
        else:
            try:
                return kind(node.text)
            except ValueError as found:
                fault = str(found)
        self.faults.add(node.line, f"'{key}': {fault}")
        return None


def _record(node: Node, what: str, keys: tuple[str, ...], faults: Faults) -> _Record | None:
    if isinstance(node, Mapping):
        return _Record(node, what, keys, faults)
    faults.add(node.line, f"{what} must be a mapping with keys such as '{keys[0]}'")
    return None


def _suggestion(key: str, what: str, keys: tuple[str, ...]) -> str:
    from difflib import get_close_matches

    plain = {known.lower(): known for known in keys}
    close = get_close_matches(key.lower().replace("_", "").replace("-", ""), plain, n=1, cutoff=0.75)
    return f"write '{plain[close[0]]}'" if close else f"{what} has {', '.join(keys)}"


# How a scalar is taken. Each raises ValueError with a sentence that names the value and the way out.


def _text(text: str) -> str:
    if _PLACEHOLDER.fullmatch(text):
        raise ValueError(f"{quoted(text)} is a placeholder; write what it stands for")
    if not text.strip():
        raise ValueError(f"{quoted(text)} is empty; write something or leave the key out")
    return text


def _said(text: str) -> str:
    return text if _TAG.fullmatch(text) else _text(text)


def _name(text: str) -> str:
    return _faultless(canonical_name(_text(text)), fault_of_name)


def _slot(text: str) -> str:
    return _faultless(canonical_name(_text(text)), fault_of_id)


def _faultless(value: str, fault: Callable[[str], str]) -> str:
    if why := fault(value):
        raise ValueError(f"{quoted(value)} {why}")
    return value


def _id(text: str) -> str:
    _text(text)
    if text != text.strip():
        raise ValueError(f"{quoted(text)} has white space around it; write {quoted(text.strip())}")
    if _CONTROL.search(text):
        raise ValueError(f"{quoted(text)} holds a control character; an id is one line")
    return _faultless(canonical_id(text), fault_of_id)


def _time(text: str) -> datetime:
    if _PLACEHOLDER.fullmatch(text):
        raise ValueError(f"{quoted(text)} is a placeholder; write a date, or a date and time with Z or an offset")
    return instant.parse(text)


def _end(text: str) -> datetime | Literal["open"]:
    return OPEN if text == OPEN else _time(text)


def _share(text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{quoted(text)} is not a number; write one from 0 to 1, such as 0.9")
    if not 0 <= float(text) <= 1:
        raise ValueError(f"{short(text)} is not from 0 to 1")
    return abs(float(text))  # -0 is 0


# The parts of a session.


def _session(record: _Record) -> Session:
    id_, faults = record.need("session", _id), record.faults
    by_session = record.has("by")
    entities = tuple(
        stated.StatedEntity(r.need("name", _name), r.need("kind", _name), r.line)
        for _, r in record.records("entities", "an entity", ENTITY)
    )
    episodes = tuple(_episode(r, f"{id_}/e{n}") for n, r in record.records("episodes", "an episode", EPISODE))
    items = (
        *(_item(r, "decision", f"{id_}/d{n}") for n, r in record.records("decisions", "a decision", ITEM)),
        *(_item(r, "fact", f"{id_}/f{n}") for n, r in record.records("facts", "a fact", ITEM)),
    )
    _refuse_twins("episode", ((e.id, e.line) for e in episodes), faults)
    _refuse_twins("item", ((i.id, i.line) for i in items), faults)
    return Session(
        id=id_,
        at=record.one("at", _time),
        by=record.one("by", _name),
        entities=entities,
        episodes=episodes,
        items=items,
        supersessions=tuple(
            stated.StatedLink(r.need("old", _id), r.need("new", _id), r.line)
            for _, r in record.records("supersessions", "a supersession", LINK)
        ),
        endings=tuple(_ending(r, by_session) for _, r in record.records("endings", "an ending", ENDING)),
        reviews=tuple(_review(r, by_session) for _, r in record.records("reviews", "a review", REVIEW)),
        source=faults.source,
        line=record.line,
    )


def _own_id(record: _Record, default: str) -> str:
    if record.has("id"):
        return record.one("id", _id) or default
    if len(default) > LONGEST:
        why = f"made of the session's it has over {LONGEST} characters"
        record.faults.add(record.line, f"{record.what} needs an 'id' of its own: {why}")
    return default


def _episode(record: _Record, default_id: str) -> stated.StatedEpisode:
    return stated.StatedEpisode(
        id=_own_id(record, default_id),
        kind=record.need("kind", _name),
        text=record.need("text", _said),
        mentions=name_set(record.many("mentions", _name) or ()),
        at=record.one("at", _time),
        line=record.line,
    )


def _item(record: _Record, kind: Kind, default_id: str) -> stated.StatedItem:
    if not record.has("text") and not record.has("corrects"):
        record.faults.add(record.line, f"{record.what} needs 'text' (or 'corrects', to take over another's)")
    valid_to = record.one("validTo", _end)
    if valid_to == OPEN and not record.has("corrects"):
        record.fault("validTo", "'open' removes an end in a correction; leave the key out, or add 'corrects'")
    about = record.many("about", _name)
    return stated.StatedItem(
        kind=kind,
        id=_own_id(record, default_id),
        text=record.one("text", _said),
        rationale=record.one("rationale", _text),
        slot=record.one("slot", _slot),
        about=None if about is None else name_set(about),
        valid_from=record.one("validFrom", _time),
        valid_to=valid_to,
        supersedes=record.many("supersedes", _id) or (),
        corrects=record.one("corrects", _id),
        evidence=record.many("from", _id) or (),
        confidence=record.one("confidence", _share),
        line=record.line,
    )


def _ending(record: _Record, by_session: bool) -> stated.StatedEnding:
    id_, valid_to = record.need("id", _id), record.need("validTo", _time)
    return stated.StatedEnding(id_, valid_to, record.signed(by_session), record.one("reason", _text), record.line)


def _review(record: _Record, by_session: bool) -> stated.StatedReview:
    given = [key for key in ("reject", "reinstate") if record.has(key)]
    if len(given) != 1:
        record.faults.add(record.line, "a review needs one of 'reject' and 'reinstate'")
    verdict: Verdict = "reinstates" if given == ["reinstate"] else "rejects"
    target = _target(record, given[0]) if given else Target("")
    return stated.StatedReview(verdict, target, record.signed(by_session), record.need("reason", _text), record.line)


def _target(review: _Record, key: str) -> Target:
    node = review.node(key)
    if not isinstance(node, Mapping):
        return Target(review.need(key, _id))
    if "end" in node.values:
        record = _Record(node, f"an ending to {key}", ("end",), review.faults)
        return Target(record.need("end", _id), ending=True)
    record = _Record(node, f"a link to {key}", LINK, review.faults)
    return Target(record.need("old", _id), new=record.need("new", _id))


def _stands(line: int) -> str:
    path = stated.path_of(line)
    return f"at {path}" if path else f"on line {line}"


def _refuse_twins(what: str, ids: Iterable[tuple[str | None, int]], faults: Faults) -> None:
    first: dict[str, int] = {}
    for id_, line in ids:
        if id_ in first:
            faults.add(line, f"{what} {quoted(id_)} is given twice, first {_stands(first[id_])}; give one another id")
        elif id_ is not None:
            first[id_] = line
