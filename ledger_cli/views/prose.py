"""A recalled document as prose: what an agent reads where no model writes the answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ledger_cli.views.terminal import out

if TYPE_CHECKING:
    from ledger_cli.memory.recall import Memory, Recalled


def recalled(found: Recalled) -> None:
    """Write the answer, one paragraph."""
    out(render(found) + "\n")


def render(found: Recalled) -> str:
    """The answer in sentences, in this order: facts, decisions, what no longer holds, what holds nearby."""
    return " ".join(_sentences(found)) or "Nothing is known about that."


def _sentences(found: Recalled) -> Iterator[str]:
    for memory in (*found.facts, *found.decisions, *found.items):
        yield _decision(memory) if memory.row.item.kind == "decision" else _ended(memory.row.item.text)
    if gone := [past.row.item.text for past in found.history if not past.rejection]:
        yield "No longer true: " + " ".join(map(_ended, gone))
    for past in found.history:
        if verdict := past.rejection:
            yield f"Rejected by {verdict.by}: {_open(past.row.item.text)} ({_open(verdict.reason)})."
    for near in found.nearby:
        yield f"Nearby ({near.via}): {_ended(near.row.item.text)}"
    if found.left_out:
        yield f"({found.left_out} more left out.)"


def _decision(memory: Memory) -> str:
    item = memory.row.item
    because = f" ({item.rationale})" if item.rationale else ""
    told = f"Decision: {_open(item.text) if because else item.text}{because}"
    if memory.replaced:
        told = _open(told) + "; this replaced: " + ", then ".join(_open(old.text) for old in memory.replaced)
    return _ended(told)


def _open(text: str) -> str:
    """Without the full stop at its end: the sentence goes on."""
    text = text.rstrip()
    return text[:-1] if text.endswith(".") and not text.endswith("..") else text


def _ended(text: str) -> str:
    text = text.rstrip()
    return text if text.endswith((".", "!", "?", "…", "。", "！", "？")) else text + "."
