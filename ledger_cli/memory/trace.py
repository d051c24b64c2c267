"""Put an agent's calls on record: what each asked, what came of it, and what it touched.

    tracer = Tracer(ledger, "s1")
    tracer.apply_session({"session": "s1-1", "facts": [{"text": "orders uses postgres"}]}, ask="Orders use Postgres.")
    rows = tracer.read_cypher("MATCH (f:Fact) RETURN f", ask="What do we know?").rows

How rows and what was touched are counted is in `touching`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from ledger_cli.answers import Applied
from ledger_cli.errors import LedgerError, Refused, short
from ledger_cli.ledger import Ledger, Recording
from ledger_cli.memory import call_graph
from ledger_cli.memory.audits import NodeUse
from ledger_cli.memory.call_store import Calls
from ledger_cli.memory.calls import CallRefused, Node, Status, ToolCall, fault_of_session, plain, touched
from ledger_cli.memory.touching import brought, nodes, rows, seen, values, written
from ledger_cli.model import Target, entity_key
from ledger_cli.stated import Session
from ledger_cli.store import engine

if TYPE_CHECKING:
    from ledger_cli.known import Write

LONGEST_ERROR = 10_000
"""Characters of an error that go on record."""

_T = TypeVar("_T")


class Tracer:
    """Calls of one session of an agent, each put on record as it ends. Safe for several threads at a time.

    Numbers are given in the order of ending, unless a call brings its own: `seq` from 1 on. A number that is taken is
    refused (`calls.CallRepeated`), and nothing of that call is kept. What a call raises is recorded and raised again.
    """

    def __init__(self, ledger: Ledger, session: str, calls: Calls | None = None) -> None:
        if why := fault_of_session(session):
            raise CallRefused(f"the session of calls {why}")
        self.ledger = ledger
        self.session = session
        self.calls = calls or Calls(ledger.database)

    def read(
        self,
        tool: str,
        do: Callable[[], _T],
        *,
        ask: str = "",
        arguments: Mapping[str, Any] | None = None,
        seq: int | None = None,
    ) -> _T:
        """What `do` gives back, on record as a read. Only a call that reads: what it writes is not known here."""
        call = self._begun(tool, ask, arguments, seq)
        try:
            found = do()
            seen = touched(self._seen(found))
        except BaseException as fault:
            call.failed(fault)
            raise
        call.ended("read", rows(found), seen)
        return found

    def write(
        self,
        tool: str,
        do: Callable[[Recording], _T],
        *,
        ask: str = "",
        arguments: Mapping[str, Any] | None = None,
        seq: int | None = None,
    ) -> _T:
        """What `do` gives back: a write of one session, which hands what it is given to the ledger as `recording`.

        The call is on record with what it wrote, or alone, with the error, when it wrote nothing. (See `call_store`.)
        """
        call = self._begun(tool, ask, arguments, seq)
        try:
            found = do(call.recording)
        except BaseException as fault:
            call.failed(fault)
            raise
        call.ended("committed", rows(found), ())
        return found

    def read_cypher(
        self,
        statement: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        tool: str = "read_cypher",
        ask: str = "",
        seq: int | None = None,
        timeout_ms: int = 10_000,
        limit: int = 1_000,
    ) -> engine.Answer:
        """A read-only Cypher query, on record with its statement and parameters. Raises as `Ledger.query`."""
        arguments = {"statement": statement, **({"parameters": parameters} if parameters else {})}
        return self.read(
            tool,
            lambda: call_graph.query(self.ledger, statement, parameters, timeout_ms=timeout_ms, limit=limit),
            ask=ask,
            arguments=arguments,
            seq=seq,
        )

    def apply_session(
        self,
        session: Session | Mapping[str, Any] | str,
        *,
        tool: str = "apply_session",
        ask: str = "",
        seq: int | None = None,
        backdated: bool = False,
        export: bool = True,
    ) -> Applied:
        """Apply one session: as a value, as a document like one in a JSON file, or as the text of a session file.

        Raises as `Ledger.apply`, and Refused for a text of several sessions: one call is one write.
        """
        arguments = {"session": session.id if isinstance(session, Session) else session}

        def do(recording: Recording) -> Applied:
            stated = one_session(session)
            return self.ledger.apply([stated], backdated=backdated, export=export, recording=recording)[0]

        return self.write(tool, do, ask=ask, arguments=arguments, seq=seq)

    def reject(
        self, target: Target, *, by: str, reason: str, ask: str = "", seq: int | None = None, export: bool = True
    ) -> Applied:
        """Reject an item, a link or an ending. Raises as `Ledger.review`."""
        arguments = {"id": target.id, "link": target.new, "ending": target.ending, "by": by, "reason": reason}

        def do(recording: Recording) -> Applied:
            return self.ledger.review("rejects", target, by=by, reason=reason, export=export, recording=recording)

        return self.write("reject", do, ask=ask, arguments=arguments, seq=seq)

    def end(
        self,
        id: str,
        on: datetime,
        *,
        by: str,
        reason: str | None = None,
        ask: str = "",
        seq: int | None = None,
        export: bool = True,
    ) -> Applied:
        """End an item at `on`. Raises as `Ledger.end`."""

        def do(recording: Recording) -> Applied:
            return self.ledger.end(id, on, by=by, reason=reason, export=export, recording=recording)

        return self.write("end", do, ask=ask, arguments={"id": id, "on": on, "by": by, "reason": reason}, seq=seq)

    def _begun(self, tool: str, ask: str, arguments: Mapping[str, Any] | None, seq: int | None) -> _Call:
        ts = int(self.ledger.clock().timestamp() * 1000)
        said = plain(arguments) if arguments else None
        ToolCall(self.session, 1 if seq is None else seq, tool, "read", ts, ask=ask, arguments=said)  # or it is refused
        self.calls.must_be_new(self.session, seq)
        return _Call(self, tool, ask, said, seq, ts)

    def _seen(self, found: object) -> Iterator[Node]:
        if not isinstance(found, engine.Answer):
            yield from seen(found)
            return
        yield from nodes(found.rows)
        named = {name: set(values(found.rows, name)) for name in ("id", "key", "name")}
        if not any(named.values()):
            return
        graph = self.ledger.database.read()
        yield from (Node(item.kind, id) for id, item in graph.items(sorted(named["id"])).items())
        yield from (Node("episode", id) for id in graph.episodes(sorted(named["id"])))
        keys = {entity_key(name) for name in named["key"] | named["name"]}
        yield from (Node("entity", key) for key in graph.entities(sorted(keys)))


class _Call:
    """A call that has begun, until it is on record."""

    def __init__(self, tracer: Tracer, tool: str, ask: str, arguments: Any, seq: int | None, ts: int) -> None:
        self.tracer = tracer
        self.said = {"tool": tool, "ask": ask, "arguments": arguments, "ts": ts}
        self.seq = seq
        self.started = time.perf_counter()
        self.begun: ToolCall | None = None
        self.writes = ""

    def recording(self, write: Write) -> None:
        """What the ledger says before it records a session."""
        if self.begun is not None:
            raise Refused(
                f"one call writes one session: {self.writes} is written, {write.session} is not", "make two calls"
            )
        on = set(written(write))
        entities = {node.id for node in on if node.what == "entity"}
        known = self.tracer.ledger.database.read().entities(sorted(entities))
        news = set(brought(write)) | {Node("entity", key) for key in entities if key not in known}
        self.begun = self.tracer.calls.begin(
            self.tracer.session,
            self.seq,
            lambda seq: replace(self._call(seq, "committed", 1, touched(on)), wrote=touched(news)),
            write.session,
        )
        self.writes = write.session

    def ended(self, status: Status, count: int, seen: tuple[str, ...]) -> None:
        if self.begun is None:
            self._append(lambda seq: self._call(seq, status, count, seen))
            return
        with suppress(LedgerError):  # it is written, and pending; whoever comes next settles it
            self.tracer.calls.finish(replace(self.begun, rows=count, took=self._took()))

    def failed(self, fault: BaseException) -> None:
        """Put it on record as rolled back, unless what it wrote is durable: then only what came after went wrong."""
        said = fault.message if isinstance(fault, LedgerError) else f"{type(fault).__name__}: {fault}"
        error = short(said.strip(), LONGEST_ERROR)
        if self.begun is None:
            try:
                self._append(lambda seq: self._call(seq, "rolled_back", 0, (), error))
            except LedgerError as unrecorded:
                fault.add_note(f"and the call is not on record: {unrecorded.message}")
            return
        with suppress(LedgerError):
            recorded = bool(self.tracer.ledger.database.recorded(self.writes))
            undone = replace(self.begun, status="rolled_back", rows=0, touched=(), wrote=(), error=error)
            self.tracer.calls.finish(replace(self.begun if recorded else undone, took=self._took()))

    def _append(self, make: Callable[[int], ToolCall]) -> None:
        self.tracer.calls.append(self.tracer.session, self.seq, make)

    def _call(self, seq: int, status: Status, count: int, seen: tuple[str, ...], error: str | None = None) -> ToolCall:
        return ToolCall(
            self.tracer.session,
            seq,
            status=status,
            rows=count,
            touched=seen,
            error=error,
            took=self._took(),
            **self.said,
        )

    def _took(self) -> float:
        return round((time.perf_counter() - self.started) * 1000, 3)


def one_session(session: Session | Mapping[str, Any] | str) -> Session:
    """A session as given to a tool. Raises SessionFileError with all its faults, Refused for none or several."""
    import json

    from ledger_cli import session_file

    if isinstance(session, Session):
        return session
    if isinstance(session, str):
        found = session_file.read(session, "session", guess=True)
    else:
        found = session_file.read(json.dumps(session), "session.json")
    if len(found) != 1:
        raise Refused(f"a call writes one session, and these are {len(found)}", "make a call for each")
    return found[0]


def named(ledger: Ledger, uses: Sequence[NodeUse]) -> list[NodeUse]:
    """The same, with the names that people know: an item's or an episode's text, an entity's name.

    Its id where the ledger here does not know it: another branch may.
    """
    graph = ledger.database.read()
    ids = [use.node.id for use in uses]
    texts: dict[tuple[str, str], str] = {(i.kind, id): i.text for id, i in graph.items(ids).items()}
    texts |= {("episode", id): episode.text for id, episode in graph.episodes(ids).items()}
    texts |= {("entity", key): name for key, (name, _) in graph.entities(ids).items()}
    return [replace(use, name=texts.get(use.node, use.node.id)) for use in uses]
