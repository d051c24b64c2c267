"""The record of an agent's calls, for people."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ledger_cli.views.terminal import Cell, counted, lines, out, table, when

if TYPE_CHECKING:
    from ledger_cli.memory.audits import Lineage, NodeUse, ToolUse
    from ledger_cli.memory.calls import ToolCall

_STYLES = {"committed": "green", "read": "cyan", "rolled_back": "red"}


def tool_uses(found: Iterable[ToolUse]) -> None:
    rows: list[Sequence[Cell]] = [((u.tool, "bold"), *(str(n) for n in u[1:7]), _ms(u.p50), _ms(u.p95)) for u in found]
    heads = ("tool", "calls", "rows", "touched", "read", "committed", "rolled back", "p50 ms", "p95 ms")
    table(heads, rows, right=heads[1:])


def failures(found: Iterable[ToolCall]) -> None:
    rows = [(_number(c), c.tool, _at(c), (c.error or "", "red")) for c in found]
    table(("call", "tool", "at", "error"), rows, wrap="error")


def recent(found: Iterable[ToolCall]) -> None:
    rows = [(_number(c), c.tool, _status(c), _at(c), str(c.rows), _touched(c), c.ask) for c in found]
    table(("call", "tool", "status", "at", "rows", "touched", "ask"), rows, right=("rows",), wrap="ask")


def lineages(found: Sequence[Lineage]) -> None:
    rows: list[Sequence[Cell]] = []
    for one in found:
        rows += [*([[""]] if rows else []), [(str(one.node), "bold")]]
        if one.wrote is None:
            rows.append(["  ", ("written by no call on record", "dim")])
        for word, calls in (
            ("written", [one.wrote] if one.wrote else []),
            ("changed", one.changed),
            ("read", one.read),
        ):
            rows += [
                ["  ", (f"{word:<7}", "cyan"), "  ", _number(c), f"  {_at(c)}  {c.tool}", _asked(c)] for c in calls
            ]
    lines(rows)


def node_uses(found: Iterable[NodeUse]) -> None:
    rows = [
        (
            *(use.node.what, (use.node.id, "bold"), use.name, _plain(use.wrote) if use.wrote else ""),
            *(", ".join(_plain(c) for c in use.changed), str(use.reads)),
        )
        for use in found
    ]
    table(("node", "id", "what", "written by", "changed by", "reads"), rows, right=("reads",), wrap="what")


def show(call: ToolCall) -> None:
    rows: list[Sequence[Cell]] = [
        [_number(call), f"  {call.tool}  ", _status(call)],
        [f"  at {_at(call)}, took {_ms(call.took)} ms, {counted({'row': call.rows}) or 'no rows'}"],
    ]
    rows += [["  asked    ", call.ask]] if call.ask else []
    rows += [["  error    ", (call.error, "red")]] if call.error else []
    rows += [["  touched  ", node] for node in call.touched]
    if call.arguments is not None:
        rows.append(["  given    ", json.dumps(call.arguments, ensure_ascii=False, indent=2)])
    lines(rows)


def exported(written: Iterable[tuple[str, int]]) -> None:
    out("".join(f"wrote {name} with {counted({'call': n})}\n" for name, n in written) or "nothing to write\n")


def _number(call: ToolCall) -> Cell:
    return _plain(call), "bold"


def _plain(call: ToolCall) -> str:
    return f"{call.session} {call.seq}"


def _at(call: ToolCall) -> str:
    seconds, rest = divmod(call.ts, 1000)
    return when(datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest * 1000))


def _status(call: ToolCall) -> Cell:
    return call.status.replace("_", " "), _STYLES[call.status]


def _touched(call: ToolCall) -> str:
    return counted(Counter(node.what for node in call.nodes))


def _asked(call: ToolCall) -> str:
    return f"  {call.ask}" if call.ask else ""


def _ms(value: float) -> str:
    return f"{value:.1f}"
