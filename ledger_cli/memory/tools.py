"""The tools that `ledger serve` offers: what each takes, does and tells. They answer as the commands' `--json`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from ledger_cli import instant
from ledger_cli.answers import Answer, Applied, Checkup, SlotRow
from ledger_cli.chains import Chains
from ledger_cli.errors import Refused
from ledger_cli.holds import Row
from ledger_cli.ledger import Ledger, Recording
from ledger_cli.memory import call_graph
from ledger_cli.memory.arguments import Argument
from ledger_cli.memory.embedding import Embedder
from ledger_cli.memory.recall import Recalled, recall
from ledger_cli.memory.trace import one_session
from ledger_cli.model import Target
from ledger_cli.store import schema

Json = dict[str, Any]
Given = Mapping[str, Any]


class Contracts(Protocol):
    """The JSON of each answer, as the commands print it: the functions of `views.as_json`."""

    def as_of(self, answer: Answer, /) -> Json: ...
    def believed(self, answers: Sequence[Answer], /) -> Json: ...
    def history(self, found: Chains, /) -> Json: ...
    def slots(self, rows: Iterable[SlotRow], /) -> Json: ...
    def search(self, words: str, found: Iterable[tuple[Row, float]], /) -> Json: ...
    def check(self, found: Checkup, /) -> Json: ...
    def query(self, rows: Iterable[Mapping[str, Any]], /) -> Json: ...
    def recalled(self, found: Recalled, /) -> Json: ...
    def schema(self, found: Schema, /) -> Json: ...
    def applied(self, rows: Iterable[Applied], /) -> Json: ...
    def render(self, value: Any, /) -> str: ...


@dataclass(frozen=True)
class Schema:
    """The graph that queries see, and how much of it there is."""

    counts: Mapping[str, int]
    nodes: Mapping[str, str] = field(default_factory=lambda: schema.NODES)
    relationships: Sequence[tuple[str, str, str, str]] = schema.RELATIONSHIPS
    notes: Sequence[str] = schema.NOTES


@dataclass(frozen=True)
class Desk:
    """What one call at a time works with: a ledger that says its notes here, and what finds by meaning, if anything."""

    ledger: Ledger
    notes: list[str]
    embedder: Embedder | None = None


@dataclass(frozen=True)
class Tool:
    """One tool. `do` answers, `told` makes the JSON of an answer. What `writes` hands `recording` to the ledger."""

    name: str
    what: str
    arguments: tuple[Argument, ...]
    do: Callable[[Desk, Given, Recording], Any]
    told: Callable[[Contracts, Given, Any], Json]
    writes: bool = False


_DATE = "YYYY-MM-DD, RFC 3339 with an offset, or `now`"
_ENTITY = Argument("entity", "text", "Only what is about this entity; left out: the whole ledger.", most=200)
_BY = Argument("by", "text", "Who says so.", required=True, most=200)


def _asked(desk: Desk, name: str, text: str) -> datetime:
    try:
        return instant.asked(text, desk.ledger.clock())
    except ValueError as fault:
        raise Refused(f"{name}: {fault}") from None


def _recall(desk: Desk, given: Given, _: Recording) -> Recalled:
    known = given["known"]
    return recall(
        desk.ledger,
        given["question"],
        valid=_asked(desk, "valid", given["valid"] or known or "now"),
        known=None if known is None else _asked(desk, "known", known),
        limit=given["limit"],
        budget=given["budget"],
        embedder=desk.embedder,
    )


def _as_of(desk: Desk, given: Given, _: Recording) -> Answer:
    return desk.ledger.as_of(_asked(desk, "date", given["date"]), given["entity"])


def _believed(desk: Desk, given: Given, _: Recording) -> list[Answer]:
    known = [_asked(desk, "known", k) for k in given["known"] or ()]
    return desk.ledger.believed(_asked(desk, "date", given["date"]), given["entity"], known)


def _query(desk: Desk, given: Given, _: Recording) -> Any:
    found = call_graph.query(desk.ledger, given["statement"], given["parameters"], limit=given["limit"])
    if found.truncated:
        desk.ledger.say(f"note: cut at {given['limit']} rows")
    return found


def _schema(desk: Desk, given: Given, _: Recording) -> Schema:
    return Schema(dict(sorted(desk.ledger.database.read().counts().items())))


def _apply(desk: Desk, given: Given, recording: Recording) -> Applied:
    stated = one_session(given["session"])
    return desk.ledger.apply([stated], backdated=bool(given["backdated"]), recording=recording)[0]


def _reject(desk: Desk, given: Given, recording: Recording) -> Applied:
    if given["link"] is not None and given["ending"]:
        raise Refused("a verdict is on the item, on `link`, or on the `ending`", "give one of the two")
    target = Target(given["id"], given["link"], bool(given["ending"]))
    return desk.ledger.review("rejects", target, by=given["by"], reason=given["reason"], recording=recording)


def _end(desk: Desk, given: Given, recording: Recording) -> Applied:
    on = desk.ledger.clock() if given["on"] == "now" else _asked(desk, "on", given["on"])
    return desk.ledger.end(given["id"], on, by=given["by"], reason=given["reason"], recording=recording)


TOOLS = (
    Tool(
        "recall",
        "What is known on a question, in one document: the entity named, the facts and decisions that hold with their "
        "evidence and what each replaced, what is no longer true, and facts nearby. Start here.",
        (
            Argument("question", "text", "The question, in words.", required=True),
            Argument("valid", "text", f"What holds then ({_DATE}); left out: `known`, or now.", most=64),
            Argument("known", "text", f"As known then ({_DATE}); left out: all that is known now.", most=64),
            Argument("limit", "whole", "How many of each at the most.", most=1000, default=10),
            Argument("budget", "whole", "How many characters of text at the most.", most=1_000_000, least=0),
        ),
        _recall,
        lambda contracts, given, found: contracts.recalled(found),
    ),
    Tool(
        "as_of",
        "What was true on a date, with all that is known now.",
        (Argument("date", "text", _DATE, required=True, most=64), _ENTITY),
        _as_of,
        lambda contracts, given, found: contracts.as_of(found),
    ),
    Tool(
        "believed",
        "What the ledger said of a date, on that date itself or as known on others.",
        (
            Argument("date", "text", _DATE, required=True, most=64),
            _ENTITY,
            Argument("known", "texts", "As known on these dates: several show when the answer changed.", most=100),
        ),
        _believed,
        lambda contracts, given, found: contracts.believed(found),
    ),
    Tool(
        "history",
        "The chain of what replaced what, of an entity or of an item by its id.",
        (Argument("subject", "text", "An entity's name, or an item's id.", required=True, most=200),),
        lambda desk, given, _: desk.ledger.history(given["subject"]),
        lambda contracts, given, found: contracts.history(found),
    ),
    Tool(
        "slots",
        "What each slot answers now, and what is planned for it. A slot names a question with one answer at a time.",
        (Argument("prefix", "text", "Only slots that begin so.", most=200, default=""),),
        lambda desk, given, _: desk.ledger.slots(given["prefix"]),
        lambda contracts, given, found: contracts.slots(found),
    ),
    Tool(
        "search",
        "Items by their words, best first; what no longer holds is found too.",
        (
            Argument("words", "text", "The words.", required=True),
            Argument("limit", "whole", "How many at the most.", most=1000, default=5),
        ),
        lambda desk, given, _: desk.ledger.search(given["words"], given["limit"]),
        lambda contracts, given, found: contracts.search(given["words"], found),
    ),
    Tool(
        "check",
        "Whether the ledger's file is one that sessions could have written, and what is wrong with it.",
        (),
        lambda desk, given, _: desk.ledger.check(),
        lambda contracts, given, found: contracts.check(found),
    ),
    Tool(
        "read_cypher",
        "Ask the graph in Cypher, read-only, with parameters apart from the statement. get_schema tells the graph.",
        (
            Argument("statement", "text", "One Cypher statement that only reads.", required=True, most=20_000),
            Argument("parameters", "object", "What its $names stand for."),
            Argument("limit", "whole", "How many rows at the most.", most=1000, default=1000),
        ),
        _query,
        lambda contracts, given, found: contracts.query(found.rows),
    ),
    Tool(
        "get_schema",
        "The labels, properties and relationships of the graph that read_cypher asks, and how many there are.",
        (),
        _schema,
        lambda contracts, given, found: contracts.schema(found),
    ),
    Tool(
        "apply_session",
        "Write one session: what it brings (entities, episodes, decisions, facts, links, endings, reviews) is recorded "
        "whole or not at all. The same session again changes nothing.",
        (
            Argument("session", "session", "The session, as in a session file: an object, or YAML.", required=True),
            Argument("backdated", "yes", "Accept a clock older than the newest entry."),
        ),
        _apply,
        lambda contracts, given, found: contracts.applied([found]),
        writes=True,
    ),
    Tool(
        "reject",
        "Reject an item, a link or an ending: it never took effect, and what it replaced holds again.",
        (
            Argument("id", "text", "The item's id.", required=True, most=200),
            _BY,
            Argument("reason", "text", "Why.", required=True),
            Argument("link", "text", "The verdict is on the link from `id` to this item.", most=200),
            Argument("ending", "yes", "The verdict is on the item's ending."),
        ),
        _reject,
        lambda contracts, given, found: contracts.applied([found]),
        writes=True,
    ),
    Tool(
        "end",
        "End an item on a date; nothing replaces it.",
        (
            Argument("id", "text", "The item's id.", required=True, most=200),
            Argument("on", "text", f"From when it no longer holds: {_DATE}.", required=True, most=64),
            _BY,
            Argument("reason", "text", "Why."),
        ),
        _end,
        lambda contracts, given, found: contracts.applied([found]),
        writes=True,
    ),
)
"""Every tool, in the order in which they are listed."""
