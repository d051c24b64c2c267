"""What the record of an agent's calls tells: pure functions of the calls, which come by time, session and number.

A call knows what it brought; what was recorded without a tool call was written by none. Nothing is read before it is
there, so all that read a thing did so since it was written, whatever the clocks say.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ledger_cli.memory.calls import Node, ToolCall
from ledger_cli.model import canonical_id, entity_key


class ToolUse(NamedTuple):
    """The calls of one tool: how many there were, what they gave back, how they ended, and milliseconds they took."""

    tool: str
    calls: int
    rows: int
    touched: int
    read: int
    committed: int
    rolled_back: int
    p50: float
    p95: float


class Lineage(NamedTuple):
    """The calls that touched one node: the one that wrote it, those that wrote on it, and those that read it."""

    node: Node
    wrote: ToolCall | None
    changed: tuple[ToolCall, ...]
    read: tuple[ToolCall, ...]


@dataclass(frozen=True)
class NodeUse:
    """One node: the call that wrote it, the committed ones that wrote on it, and how many reads gave it back.

    `name` is shown for it.
    """

    node: Node
    wrote: ToolCall | None
    changed: tuple[ToolCall, ...]
    reads: int
    name: str = ""


def tools(calls: Iterable[ToolCall]) -> list[ToolUse]:
    """Each tool's calls, by its name."""
    by_tool: dict[str, list[ToolCall]] = {}
    for call in calls:
        by_tool.setdefault(call.tool, []).append(call)
    return [_use(tool, by_tool[tool]) for tool in sorted(by_tool)]


def _use(tool: str, calls: Sequence[ToolCall]) -> ToolUse:
    took = sorted(call.took for call in calls)
    return ToolUse(
        tool,
        len(calls),
        sum(call.rows for call in calls),
        sum(len(call.touched) for call in calls),
        sum(call.status == "read" for call in calls),
        sum(call.status == "committed" for call in calls),
        sum(call.status == "rolled_back" for call in calls),
        percentile(took, 50),
        percentile(took, 95),
    )


def percentile(values: Sequence[float], percent: int) -> float:
    """The smallest of sorted values that `percent` in a hundred do not exceed (nearest rank). 0 of none."""
    return values[max(0, math.ceil(len(values) * percent / 100) - 1)] if values else 0


def failures(calls: Iterable[ToolCall]) -> list[ToolCall]:
    """The calls that were rolled back, earliest first."""
    return [call for call in calls if call.status == "rolled_back"]


def recent(calls: Sequence[ToolCall], n: int) -> list[ToolCall]:
    """The last `n` calls, newest first."""
    return sorted(calls, key=lambda call: call.key, reverse=True)[:n]


def lineage(calls: Sequence[ToolCall], subject: str) -> list[Lineage]:
    """The calls that touched a subject: an item or an episode by its id, an entity by its name, or `fact f1`.

    Mostly one; several where an id, another id and a name are the same word. Empty where no call touched it.
    """
    id, key = canonical_id(subject), entity_key(subject)
    names = {str(Node(what, id)) for what in ("decision", "fact", "episode")} | {str(Node("entity", key)), id}
    found = sorted({node for call in calls for node in call.touched if node in names})
    return [_lineage(calls, node) for node in found]


def _lineage(calls: Sequence[ToolCall], node: str) -> Lineage:
    touching = sorted((call for call in calls if node in call.touched), key=lambda call: call.key)
    wrote = next((call for call in touching if node in call.wrote), None)
    changed = (call for call in touching if call.status == "committed" and call is not wrote)
    return Lineage(Node.of(node), wrote, tuple(changed), tuple(call for call in touching if call.status == "read"))


def nodes(calls: Sequence[ToolCall]) -> list[NodeUse]:
    """Every node that a call touched, by what it is and its id."""
    touching: dict[str, list[ToolCall]] = {}
    for call in calls:
        for node in call.touched:
            touching.setdefault(node, []).append(call)
    found = (_lineage(touching[node], node) for node in sorted(touching))
    return [NodeUse(one.node, one.wrote, one.changed, len(one.read)) for one in found]
