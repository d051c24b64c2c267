"""Recorded answers: what a model found once, read again without it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ledger_cli.errors import Problem, Refused, quoted
from ledger_cli.memory.extraction import (
    VERDICTS,
    Extraction,
    Extractor,
    KnownEntity,
    KnownSlot,
    Pair,
    Verdict,
    answered,
    checked,
    extracted,
    parsed,
)
from ledger_cli.memory.retrying import Again, NoAnswer
from ledger_cli.memory.transcript import Message


class Replay:
    """Recorded extractions in the place of a model: an Extractor that asks nobody.

    The file is JSON: `{"extractions": [...], "judgements": [{"old": TEXT, "new": TEXT, "verdict": …}]}`, an extraction
    for each question in turn; or one extraction alone.
    """

    pairs_at_once = 1  # one that was not recorded shall not cost the others their verdicts

    def __init__(self, data: bytes, source: str) -> None:
        self.name = f"the recorded answers in {source}"
        self.source = source
        try:
            recorded = parsed(data)
            if isinstance(recorded, dict) and "extractions" not in recorded:
                recorded = {"extractions": [recorded]}
            self._recorded = checked(recorded, _RECORDED)
        except Again as fault:
            raise Refused([Problem(fault.what, source)]) from None
        self._next = 0
        judgements = self._recorded["judgements"] or ()
        self._verdicts: dict[tuple[str, str], Verdict] = {(j["old"], j["new"]): j["verdict"] for j in judgements}

    def extract(
        self, messages: Sequence[Message], slots: Sequence[KnownSlot], entities: Sequence[KnownEntity]
    ) -> Extraction:
        recorded = self._recorded["extractions"]
        if self._next >= len(recorded):
            raise NoAnswer(
                f"{self.source} holds {len(recorded)} extractions, and the chat needs more",
                "give the --batch that they were recorded with",
            )
        self._next += 1
        try:
            return extracted(recorded[self._next - 1], messages)
        except Again as fault:
            where = f"extraction {self._next}, of messages {messages[0].number} to {messages[-1].number}"
            raise NoAnswer(f"{self.source}: {where}: {fault.what}") from None

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        if missing := [pair for pair in pairs if (pair.old, pair.new) not in self._verdicts]:
            raise NoAnswer(f"no verdict is recorded on {quoted(missing[0].new)} against {quoted(missing[0].old)}")
        return [self._verdicts[pair.old, pair.new] for pair in pairs]


class Recording:
    """An Extractor that asks another one, and keeps its answers: `data` is a file for `Replay`."""

    def __init__(self, extractor: Extractor) -> None:
        self.extractor, self.name, self.pairs_at_once = extractor, extractor.name, extractor.pairs_at_once
        self._extractions: list[dict[str, Any]] = []
        self._judgements: list[dict[str, str]] = []

    def extract(
        self, messages: Sequence[Message], slots: Sequence[KnownSlot], entities: Sequence[KnownEntity]
    ) -> Extraction:
        found = self.extractor.extract(messages, slots, entities)
        self._extractions.append(answered(found))
        return found

    def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        verdicts = self.extractor.judge(pairs)
        for pair, verdict in zip(pairs, verdicts, strict=True):
            self._judgements.append({"old": pair.old, "new": pair.new, "verdict": verdict})
        return verdicts

    @property
    def answers(self) -> int:
        """How many extractions were answered so far."""
        return len(self._extractions)

    @property
    def data(self) -> bytes:
        """What was answered so far, as the text of a file."""
        recorded = {"extractions": self._extractions, "judgements": self._judgements}
        return (json.dumps(recorded, ensure_ascii=True, indent=1) + "\n").encode()


_RECORDED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "extractions": {"type": "array", "items": {"type": "object"}},
        "judgements": {
            "type": ["array", "null"],
            "items": {
                "type": "object",
                "properties": {name: {"type": "string"} for name in ("old", "new")}
                | {"verdict": {"type": "string", "enum": list(VERDICTS)}},
                "required": ["old", "new", "verdict"],
            },
        },
    },
    "required": ["extractions"],
    "additionalProperties": False,
}
