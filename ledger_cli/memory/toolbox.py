"""Tools, called: what an agent gives and gets, without the protocol in between.

Each call at a time has a ledger of its own, so that several share nothing but the record of calls; the next call takes
one that is free, with all it keeps ready. Whatever goes wrong is a sentence for the agent.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Mapping
from typing import Any, NamedTuple

from ledger_cli import __version__
from ledger_cli.errors import LedgerError, Refused, quoted, short
from ledger_cli.ledger import Ledger
from ledger_cli.memory import arguments
from ledger_cli.memory.call_store import Calls
from ledger_cli.memory.embedding import Embedder
from ledger_cli.memory.tools import TOOLS, Contracts, Desk, Json, Tool
from ledger_cli.memory.trace import Tracer
from ledger_cli.names import fault_of_id

LIMIT = 50_000
"""Characters that an answer has at the most, as JSON; the notes beside it come on top."""
_NOTE, _ASK = 2_000, 10_000


class Reply(NamedTuple):
    """What an agent gets: the answer and the notes on it, or a sentence that says what is wrong."""

    texts: tuple[str, ...]
    is_error: bool = False


class Toolbox:
    """The tools of one server. `session` names the calls it puts on record; None puts none there."""

    def __init__(
        self,
        ledger: Ledger,
        contracts: Contracts,
        *,
        session: str | None,
        write: bool = False,
        embedder: Embedder | None = None,
    ) -> None:
        self.ledger, self.contracts, self.session, self.embedder = ledger, contracts, session, embedder
        self._free: list[Desk] = []  # takes and gives of a list are one step each
        self.tools = {tool.name: tool for tool in TOOLS if write or not tool.writes}
        self.calls = Calls(ledger.database)
        if session is not None:
            Tracer(ledger, session)  # or its name is refused, before anybody is served
            self.calls.settle()

    def call(self, name: str, given: Mapping[str, Any], *, ask: str = "", seq: int | None = None) -> Reply:
        """Call a tool. `ask` is the message that led to it; `seq` the number of a call that may be made again."""
        try:
            desk = self._free.pop()
        except IndexError:
            desk = self._desk()
        desk.notes.clear()
        try:
            told = self._call(desk, name, given, short(ask, _ASK), seq)
            answer, cut = bounded(told, self.contracts, LIMIT)
            return Reply((answer, *(short(note, _NOTE) for note in desk.notes), *([cut] if cut else [])))
        except LedgerError as fault:
            return Reply((_sentence(fault),), is_error=True)
        except Exception as fault:
            traceback.print_exc(file=sys.stderr)
            return Reply((f"this is a bug in ledger {__version__}: {type(fault).__name__}: {fault}",), is_error=True)
        finally:
            self._free.append(desk)

    def _desk(self) -> Desk:
        mine, notes = self.ledger, list[str]()
        ledger = Ledger(
            mine.root,
            clock=mine.clock,
            engine=mine.database.engine_name,
            say=notes.append,
            timeout=mine.database.timeout,
        )
        return Desk(ledger, notes, self.embedder)

    def _call(self, desk: Desk, name: str, given: Mapping[str, Any], ask: str, seq: int | None) -> Json:
        tool = self.tools.get(name)
        read: dict[str, Any] = {}

        def ready() -> Tool:
            if tool is None:
                raise Refused(*self._unknown(name))
            read.update(arguments.read(tool.arguments, given))
            return tool

        if self.session is None:
            found = ready().do(desk, read, lambda _: None)
        else:
            tracer = Tracer(desk.ledger, self.session, self.calls)
            kept = {"ask": ask, "arguments": _on_record(given), "seq": seq}
            if tool is not None and tool.writes:
                found = tracer.write(name, lambda recording: ready().do(desk, read, recording), **kept)
            else:
                shown = "unknown" if fault_of_id(name) else name
                found = tracer.read(shown, lambda: ready().do(desk, read, lambda _: None), **kept)
        assert tool is not None
        return tool.told(self.contracts, read, found)

    def _unknown(self, name: str) -> tuple[str, str]:
        if any(tool.name == name for tool in TOOLS):
            return f"{name} writes, and this server only reads", "it was started without --write"
        return f"there is no tool {quoted(name)}", f"there are: {', '.join(self.tools)}"


def _on_record(given: Mapping[str, Any]) -> Any:
    """The arguments as they go on record: not those that are refused as a whole."""
    try:
        size = arguments.size(given)
    except Refused as fault:
        return {"omitted": fault.message}
    return given if size <= arguments.MOST else {"omitted": f"{size} characters"}


def _sentence(fault: LedgerError) -> str:
    """A failure as an agent reads it: each problem with where it stands, and what to do."""
    problems = fault.problems if isinstance(fault, Refused) else ()
    told: list[str] = [] if problems else [fault.message]
    for problem in problems:
        told += [str(problem)] + ([f"hint: {problem.hint}"] if problem.hint and problem.hint != fault.hint else [])
    said = "\n".join([*told, *([f"hint: {fault.hint}"] if fault.hint else [])])
    return short(said, _NOTE)


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
