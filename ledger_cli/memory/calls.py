"""A tool call of an agent, as it is kept on record: one value, one canonical line.

`{"call": 7, "session": "s1", "tool": "remember", "status": "committed", "rows": 1, "touched": ["entity kafka"], …}`:
the keys in this order, what is empty left out. The same call gives the same bytes anywhere.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal, NamedTuple, get_args

from ledger_cli.errors import LedgerError, Refused, quoted, short, told
from ledger_cli.instant import show
from ledger_cli.model import canonical_id, entity_key
from ledger_cli.names import fault_of_id

Status = Literal["committed", "read", "rolled_back"]
What = Literal["decision", "fact", "episode", "entity"]

LONGEST_NAME = 255 - len(".jsonl")
"""Bytes that the encoded name of a session may have: more is no file's name."""


_FIRST, _LAST = -62_135_596_800_000, 253_402_300_799_999
"""The milliseconds since 1970 of the years 1 to 9999."""
_MOST = 2**53 - 1
"""The largest number that every reader of JSON keeps as it is."""
DEEPEST = 100
"""How deep arguments may be nested: less than what no reader of JSON follows."""
_MOST_BITS = 10_000
"""Of a whole number among them: Python writes no more than 4,300 digits."""


class CallRefused(Refused):
    """What was to be put on record is no tool call: it lacks its number, or its time is no whole number."""


class CallRepeated(Refused):
    """There is a call with this session and number already. Neither the call nor its write left anything."""

    def __init__(self, session: str, seq: int) -> None:
        super().__init__(
            f"call {seq} of session {short(session)} is on record already; nothing of this one is kept",
            "a call that is made again needs a number of its own; `ledger trace show` shows what is on record",
        )


class Node(NamedTuple):
    """What a call touched: an item or an episode by its id, an entity by its key. Written `fact f1`."""

    what: What
    id: str

    def __str__(self) -> str:
        return f"{self.what} {self.id}"

    @classmethod
    def of(cls, text: str) -> Node:
        """The node that a text writes. Raises ValueError."""
        what, _, id = text.partition(" ")
        if what not in get_args(What) or not id:
            raise ValueError(f"{quoted(text)} names no item, episode or entity")
        return cls(what, id)  # type: ignore[arg-type]  # just looked at


def entity(name: str) -> Node:
    """The node of an entity, however it is spelled."""
    return Node("entity", entity_key(name))


@dataclass(frozen=True)
class ToolCall:
    """One call of a tool, and what came of it.

    `ts` is when it began, in whole milliseconds since 1970 in UTC, and `took` the milliseconds it took. `rows` counts
    what it gave back, `touched` is what it wrote on or gave back, and `wrote` what of that nobody had recorded before.
    `error` is there when it was rolled back, and only then.
    Raises CallRefused for what is none of this.
    """

    session: str
    seq: int
    tool: str
    status: Status
    ts: int
    ask: str = ""
    rows: int = 0
    touched: tuple[str, ...] = ()
    wrote: tuple[str, ...] = ()
    error: str | None = None
    arguments: Any = None
    took: float = 0

    def __post_init__(self) -> None:
        for why in _faults(self):
            raise CallRefused(f"this is no tool call: {why}", "nothing of it is kept")

    @property
    def nodes(self) -> list[Node]:
        """What it touched, apart."""
        return [Node.of(text) for text in self.touched]

    @property
    def key(self) -> tuple[int, str, int]:
        """Where it stands among all calls: by time, then session and number."""
        return self.ts, self.session, self.seq


def _faults(call: ToolCall) -> Iterable[str]:
    for name, least, most in (("seq", 1, _MOST), ("ts", _FIRST, _LAST), ("rows", 0, _MOST)):
        value = getattr(call, name)
        if type(value) is not int or not least <= value <= most:
            yield f"`{name}` is {told(value)!r}, and has to be a whole number from {least} to {most}"
    if why := fault_of_session(call.session):
        yield f"its session {why}"
    if not isinstance(call.tool, str) or fault_of_id(call.tool):
        yield "it names no tool"
    if call.status not in get_args(Status):
        yield f"{told(call.status)!r} is no status"
    if (call.error is not None) != (call.status == "rolled_back"):
        yield "it has an error when it was rolled back, and only then"
    if call.touched and call.status == "rolled_back":
        yield "what was rolled back touched nothing"
    if not all(isinstance(one, str) for one in (call.ask, call.error or "", *call.touched)):
        yield "its ask, its error and what it touched are texts"
        return
    if any(list(its) != sorted(set(its)) for its in (call.touched, call.wrote)):
        yield "what it touched is not in order"
    if not set(call.wrote) <= set(call.touched) or (call.wrote and call.status != "committed"):
        yield "it wrote what it did not touch, or what was not committed"
    if type(call.took) not in (int, float) or not 0 <= call.took <= _MOST:
        yield f"`took` is {told(call.took)!r}, and has to be milliseconds"


def fault_of_session(id: object) -> str:
    """What is wrong with the id of a session of calls; "" = nothing."""
    if not isinstance(id, str):
        return "is no text"
    if why := fault_of_id(id):
        return why
    if any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or 0xD800 <= ord(c) < 0xE000 for c in id):
        return "holds a control character; an id is one line"
    if id != canonical_id(id) or id != id.strip():
        return f"is not written canonically; write {quoted(canonical_id(id).strip())}"
    if len(file_stem(id)) > LONGEST_NAME:
        return f"is too long for the name of a file: {len(file_stem(id))} characters when encoded"
    return ""


def file_stem(session: str) -> str:
    """The name of a session's file: all but letters, digits, `-` and `_` percent-encoded."""
    return re.sub(rb"[^A-Za-z0-9_-]", lambda found: b"%%%02X" % ord(found[0]), session.encode()).decode()


def touched(nodes: Iterable[Node]) -> tuple[str, ...]:
    """Nodes as a call keeps them: each once, in order."""
    return tuple(sorted({str(node) for node in nodes}))


# Lines


def line(call: ToolCall) -> str:
    """The canonical line of a call, without a line feed."""
    took = int(call.took) if float(call.took).is_integer() else call.took
    pairs = {
        "call": call.seq,
        "session": call.session,
        "tool": call.tool,
        "status": call.status,
        "rows": call.rows,
        **({"touched": list(call.touched)} if call.touched else {}),
        **({"wrote": list(call.wrote)} if call.wrote else {}),
        **({"error": call.error} if call.error is not None else {}),
        **({"ask": call.ask} if call.ask else {}),
        **({"arguments": call.arguments} if call.arguments is not None else {}),
        "ts": call.ts,
        "took": took,
    }
    return "{" + ", ".join(f'"{name}": {text(value)}' for name, value in pairs.items()) + "}"


def text(value: Any) -> str:
    """A JSON value on one line, its keys in order; lone surrogates escaped, since no file of UTF-8 takes them."""
    said = json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", said)


_SURROGATE = re.compile("[\ud800-\udfff]")


def plain(value: Any, deep: int = 0) -> Any:
    """An argument as a JSON value: times as text, tuples as lists, keys as text. Raises CallRefused for any other, and
    for what is nested too deeply or too long a number to be written and read.
    """
    if deep > DEEPEST:
        raise CallRefused(f"the arguments are nested more than {DEEPEST} deep")
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise CallRefused("an argument is a number of too many digits")
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, datetime):
        return show(value) if value.tzinfo is not None else value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(inner, deep + 1) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner, deep + 1) for inner in value]
    raise CallRefused(f"an argument is no JSON value: {told(value)!r}")


def parse(said: str) -> ToolCall:
    """Read a canonical line. Raises ValueError with what is wrong with it."""
    try:
        raw = json.loads(said)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(raw, dict):
        raise ValueError("it is no JSON object")
    try:
        call = ToolCall(
            session=raw["session"],
            seq=raw["call"],
            tool=raw["tool"],
            status=raw["status"],
            ts=raw["ts"],
            ask=raw.get("ask", ""),
            rows=raw["rows"],
            touched=tuple(raw.get("touched", ())),
            wrote=tuple(raw.get("wrote", ())),
            error=raw.get("error"),
            arguments=raw.get("arguments"),
            took=raw["took"],
        )
        call.nodes  # noqa: B018  # each names something
        if line(call) != said:
            raise ValueError("it is not written canonically")
    except KeyError as fault:
        raise ValueError(f"it has no {fault}") from None
    except LedgerError as fault:
        raise ValueError(fault.message) from None
    except TypeError as fault:
        raise ValueError(str(fault)) from None
    return call
