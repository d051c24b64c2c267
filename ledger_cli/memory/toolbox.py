"""Tools, called: what an agent gives and gets, without the protocol in between.

A call has a ledger of its own, so that several at a time share nothing but the record of calls. Whatever goes wrong is
a sentence for the agent.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Mapping
from typing import Any, NamedTuple

from ledger_cli import __version__
from ledger_cli.errors import LedgerError, Refused, quoted
from ledger_cli.ledger import Ledger
from ledger_cli.memory import arguments
from ledger_cli.memory.call_store import Calls
from ledger_cli.memory.tools import TOOLS, Contracts, Json, Tool
from ledger_cli.memory.trace import Tracer
from ledger_cli.names import fault_of_id

LIMIT = 50_000
"""Characters that an answer has at the most, as JSON; the notes beside it come on top."""
_NOTE = 2_000


class Reply(NamedTuple):
    """What an agent gets: the answer and the notes on it, or a sentence that says what is wrong."""

    texts: tuple[str, ...]
    is_error: bool = False


class Toolbox:
    """The tools of one server. `session` names the calls it puts on record; None puts none there."""

    def __init__(self, ledger: Ledger, contracts: Contracts, *, write: bool = False, session: str | None) -> None:
        self.ledger, self.contracts, self.session = ledger, contracts, session
        self.tools = {tool.name: tool for tool in TOOLS if write or not tool.writes}
        self.calls = Calls(ledger.database)
        if session is not None:
            Tracer(ledger, session)  # or its name is refused, before anybody is served
            self.calls.settle()

    def call(self, name: str, given: Mapping[str, Any], *, ask: str = "", seq: int | None = None) -> Reply:
        """Call a tool. `ask` is the message that led to it; `seq` the number of a call that may be made again."""
        notes: list[str] = []
        try:
            told = self._call(name, given, ask, seq, notes)
        except LedgerError as fault:
            return Reply((_sentence(fault),), is_error=True)
        except Exception as fault:
            traceback.print_exc(file=sys.stderr)
            return Reply((f"this is a bug in ledger {__version__}: {type(fault).__name__}: {fault}",), is_error=True)
        answer, cut = bounded(told, self.contracts, LIMIT)
        notes += [cut] if cut else []
        return Reply((answer, *(note[:_NOTE] for note in notes)))

    def _call(self, name: str, given: Mapping[str, Any], ask: str, seq: int | None, notes: list[str]) -> Json:
        mine = self.ledger
        ledger = Ledger(
            mine.root,
            clock=mine.clock,
            engine=mine.database.engine_name,
            say=notes.append,
            timeout=mine.database.timeout,
        )
        tool = self.tools.get(name)
        read: dict[str, Any] = {}

        def ready() -> Tool:
            if tool is None:
                raise Refused(*self._unknown(name))
            read.update(arguments.read(tool.arguments, given))
            return tool

        if self.session is None:
            found = ready().do(ledger, read, lambda _: None)
        else:
            tracer = Tracer(ledger, self.session, self.calls)
            kept = {"ask": ask, "arguments": _on_record(given), "seq": seq}
            if tool is not None and tool.writes:
                found = tracer.write(name, lambda recording: ready().do(ledger, read, recording), **kept)
            else:
                shown = "unknown" if fault_of_id(name) else name
                found = tracer.read(shown, lambda: ready().do(ledger, read, lambda _: None), **kept)
        assert tool is not None
        return tool.told(self.contracts, read, found)

    def _unknown(self, name: str) -> tuple[str, str]:
        if any(tool.name == name for tool in TOOLS):
            return f"{name} writes, and this server only reads", "it was started without --write"
        return f"there is no tool {quoted(name)}", f"there are: {', '.join(self.tools)}"


def _on_record(given: Mapping[str, Any]) -> Any:
    """The arguments as they go on record: not those that are refused for their size."""
    size = len(json.dumps(given, ensure_ascii=False))
    return given if size <= arguments.MOST else {"omitted": f"{size} characters"}


def _sentence(fault: LedgerError) -> str:
    """A failure as an agent reads it: each problem with where it stands, and what to do."""
    problems = fault.problems if isinstance(fault, Refused) else ()
    told: list[str] = [] if problems else [fault.message]
    for problem in problems:
        told += [str(problem)] + ([f"hint: {problem.hint}"] if problem.hint and problem.hint != fault.hint else [])
    said = "\n".join([*told, *([f"hint: {fault.hint}"] if fault.hint else [])])
    return said if len(said) <= _NOTE else said[: _NOTE - 1] + "…"


def bounded(value: Json, contracts: Contracts, limit: int) -> tuple[str, str]:
    """An answer as JSON of at most `limit` characters, and a note on what was cut, "" for nothing.

    Its longest list is cut first, behind the last element that fits, so what is left is still JSON. Only where that
    does not do is the text cut itself.
    """
    said = contracts.render(value)
    if len(said) <= limit:
        return said, ""
    notes: list[str] = []
    sizes = {name: len(_on_one_line(one)) for name, one in value.items() if isinstance(one, list)}
    for name in sorted(sizes, key=lambda name: -sizes[name]):
        whole = value[name]
        low, high = 0, min(len(whole), limit)
        while low < high:
            middle = (low + high + 1) // 2
            if len(contracts.render({**value, name: whole[:middle]})) <= limit:
                low = middle
            else:
                high = middle - 1
        value = {**value, name: whole[:low]}
        notes.append(f"{low} of {len(whole)} {name}")
        said = contracts.render(value)
        if len(said) <= limit:
            return said, f"note: cut to {limit} characters: {', '.join(notes)} are here; ask for less"
    return said[:limit], f"note: cut after {limit} characters; ask for less"


def _on_one_line(value: Any) -> str:
    """A part of an answer on one line, to see which is the longest."""
    return json.dumps(value, default=str)
