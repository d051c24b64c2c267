"""What a chat is asked for: the entities, facts and decisions in it. The shape of the answer, and who gives it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from ledger_cli.errors import told
from ledger_cli.memory import shape
from ledger_cli.memory.retrying import Again
from ledger_cli.memory.transcript import Message
from ledger_cli.model import Kind

Verdict = Literal["old", "new", "neither"]
"""Of two statements that may contradict each other: which one stands. `neither`: they do not, and both do."""

MOST_FOUND = 1_000
"""Entities, facts or decisions in one answer, at most: more are not in what one question is about. Each is held
against each, and a model that goes on and on would take all memory.
"""

VERDICTS: tuple[Verdict, ...] = ("old", "new", "neither")


@dataclass(frozen=True)
class KnownSlot:
    """A slot in use, and what it answers now."""

    slot: str
    kind: Kind
    text: str


@dataclass(frozen=True)
class KnownEntity:
    """An entity of the ledger; None: it has no kind yet."""

    name: str
    kind: str | None


@dataclass(frozen=True)
class FoundEntity:
    """An entity that messages mention; `messages` are their numbers."""

    name: str
    kind: str | None
    messages: tuple[int, ...]


@dataclass(frozen=True)
class FoundItem:
    """A fact or a decision that a chat tells, as it was extracted: nothing of it is judged yet.

    `messages` are the numbers of those it rests on. Times are as the text gives them.
    """

    kind: Kind
    text: str
    messages: tuple[int, ...]
    slot: str | None = None
    about: tuple[str, ...] = ()
    rationale: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    confidence: float | None = None


@dataclass(frozen=True)
class Extraction:
    """All that was found in some messages."""

    entities: tuple[FoundEntity, ...] = ()
    items: tuple[FoundItem, ...] = ()

    def __add__(self, other: Extraction) -> Extraction:
        return Extraction(self.entities + other.entities, self.items + other.items)


@dataclass(frozen=True)
class Pair:
    """What holds, and what a chat says of the same entities: do they contradict each other?"""

    old: str
    new: str


class Extractor(Protocol):
    """Who reads a chat. Raises NoAnswer where there is no answer that can be used."""

    name: str
    """Who it is, for the one who reviews what it found."""
    pairs_at_once: int
    """How many pairs one question of `judge` holds at most."""

    def extract(
        self, messages: Sequence[Message], slots: Sequence[KnownSlot], entities: Sequence[KnownEntity]
    ) -> Extraction:
        """What these messages tell. The slots in use and the entities known are given so that it names the same."""

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """Which of each pair stands, in their order."""


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(of: Any, description: str = "") -> dict[str, Any]:
    return {"type": "array", "items": of} | ({"description": description} if description else {})


_TEXT = {"type": "string"}
_FROM = _list({"type": "integer"}, "The numbers of the messages that say so.")


def _maybe(description: str, type: str = "string") -> dict[str, Any]:
    return {"type": [type, "null"], "description": description}


_ITEM = _object(
    text={"type": "string", "description": "One whole sentence that can be understood without the chat."},
    rationale=_maybe("Why, where a message says so."),
    slot=_maybe("The stable name of the question that it answers; a known slot where it updates one."),
    about=_list(_TEXT, "The names of the entities it is about."),
    **{"from": _FROM},
    validFrom=_maybe("Since when it is so, where a message says when: YYYY-MM-DD, or RFC 3339 with an offset."),
    validTo=_maybe("Until when, where a message says so."),
    confidence=_maybe("How sure it is that the messages say this, from 0 to 1.", "number"),
)
EXTRACTION: dict[str, Any] = _object(
    entities=_list(_object(name=_TEXT, kind=_maybe("One word, such as person, team, service."), **{"from": _FROM})),
    facts=_list(_ITEM),
    decisions=_list(_ITEM),
)
"""The JSON Schema of an extraction, in the strict form that chat endpoints take: no key may be missing."""

JUDGEMENT: dict[str, Any] = _object(verdicts=_list({"type": "string", "enum": list(VERDICTS)}))
"""The JSON Schema of a judgement: a verdict for each pair."""

SUMMARY: dict[str, Any] = _object(summary=_TEXT)
"""The JSON Schema of a summary."""


def extracted(answer: object, messages: Sequence[Message]) -> Extraction:
    """An answer as an extraction from these messages. Raises Again where it is of another shape, or names others."""
    found = checked(answer, EXTRACTION)
    numbers = {message.number for message in messages}
    if wrong := list(_wrong(found, numbers)):
        raise Again(f"the answer is wrong: {_some(wrong)}")
    entities = tuple(FoundEntity(e["name"], e["kind"] or None, tuple(e["from"])) for e in found["entities"])
    return Extraction(entities, tuple(_items(found)))


def answered(extraction: Extraction) -> dict[str, Any]:
    """The answer that `extracted` reads as this extraction."""

    def item(found: FoundItem) -> dict[str, Any]:
        return {
            "text": found.text,
            "rationale": found.rationale,
            "slot": found.slot,
            "about": list(found.about),
            "from": list(found.messages),
            "validFrom": found.valid_from,
            "validTo": found.valid_to,
            "confidence": found.confidence,
        }

    return {
        "entities": [{"name": e.name, "kind": e.kind, "from": list(e.messages)} for e in extraction.entities],
        "facts": [item(i) for i in extraction.items if i.kind == "fact"],
        "decisions": [item(i) for i in extraction.items if i.kind == "decision"],
    }


def judged(answer: object, pairs: Sequence[Pair]) -> list[Verdict]:
    """An answer as the verdicts on these pairs. Raises Again."""
    verdicts: list[Verdict] = checked(answer, JUDGEMENT)["verdicts"]
    if len(verdicts) != len(pairs):
        raise Again(f"the answer is wrong: {len(verdicts)} verdicts on {len(pairs)} pairs")
    return verdicts


def checked(answer: object, schema: shape.Schema) -> Any:
    """The answer, of the shape asked for. Raises Again with what is wrong with it."""
    answer = shape.filled(answer, schema)
    if wrong := list(shape.faults(answer, schema)):
        raise Again(f"the answer is of another shape: {_some(wrong)}")
    return answer


def parsed(text: str | bytes) -> object:
    """The JSON value of an answer. Raises Again."""

    def refuse(word: str) -> object:
        raise ValueError(f"{word} is no number of JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as fault:
        raise Again(f"the answer is not JSON: {getattr(fault, 'msg', None) or fault or 'nested too deeply'}") from None


def _some(faults: Sequence[str]) -> str:
    more = f" (and {len(faults) - 3} more faults)" if len(faults) > 3 else ""
    return "; ".join(faults[:3]) + more


def _wrong(answer: dict[str, Any], numbers: set[int]) -> Iterator[str]:
    """What a schema cannot say: evidence is a message of those asked about, and a share is from 0 to 1."""
    for key, records in answer.items():
        if len(records) > MOST_FOUND:
            yield f"it holds {len(records)} {key}, more than {MOST_FOUND}"
            continue
        for n, record in enumerate(records):
            path = f"{key}[{n}]"
            if strangers := [m for m in record["from"] if m not in numbers]:
                yield f"{path}.from names message {told(strangers[0])}, which was not given"
            elif not record["from"] and key != "entities":
                yield f"{path}.from names no message"
            share = record.get("confidence")
            if share is not None and not 0 <= share <= 1:
                yield f"{path}.confidence is {told(share)}, not from 0 to 1"


def _items(answer: dict[str, Any]) -> Iterator[FoundItem]:
    kinds: dict[str, Kind] = {"decisions": "decision", "facts": "fact"}
    for key, kind in kinds.items():
        for record in answer[key]:
            share = record["confidence"]
            yield FoundItem(
                kind,
                record["text"],
                tuple(sorted({int(m) for m in record["from"]})),
                record["slot"] or None,
                tuple(record["about"]),
                record["rationale"] or None,
                record["validFrom"] or None,
                record["validTo"] or None,
                None if share is None else float(share),
            )
