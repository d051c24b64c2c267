"""Calls as part of the graph: `(:Session)-[:HAS_CALL]->(:ToolCall)-[:TOUCHED]->` for the queries that ask for them.

Calls are in no generation of the store and in no checkpoint: a ledger is the same whoever read it, and a store that
grew with every read would be written by readers. So they are added in memory, by the process that answers a query, if
its text names one of the three words; no other query pays for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledger_cli import asking
from ledger_cli.database import Database
from ledger_cli.ledger import Ledger
from ledger_cli.memory.call_store import Calls
from ledger_cli.memory.calls import text
from ledger_cli.store.engine import Answer
from ledger_cli.store.graph import Graph

WORDS = ("ToolCall", "HAS_CALL", "TOUCHED")


def query(
    ledger: Ledger,
    cypher: str,
    params: Mapping[str, Any] | None = None,
    *,
    timeout_ms: int = 10_000,
    limit: int = 1_000,
) -> Answer:
    """As `Ledger.query`, with the calls in the graph where the query asks for them."""
    child = __name__ if any(word in cypher for word in WORDS) else None
    return ledger.query(cypher, params, timeout_ms=timeout_ms, limit=limit, child=child)


def with_calls(database: Database) -> Graph:
    """The ledger's graph and all calls on record, frozen."""
    calls = Calls(database).all()
    graph = database.copy()
    numbered = {f"{call.session} {call.seq}": call for call in calls}
    graph.add_calls(
        [
            {
                "id": id,
                "session": call.session,
                "seq": call.seq,
                "name": call.tool,
                "ask": call.ask,
                "status": call.status,
                "rows": call.rows,
                "error": call.error,
                "arguments": None if call.arguments is None else text(call.arguments),
                "took": float(call.took),
                "ts": call.ts,
            }
            for id, call in numbered.items()
        ],
        [
            {"call": id, "what": node.what if node.what in ("episode", "entity") else "item", "id": node.id}
            for id, call in numbered.items()
            for node in call.nodes
        ],
    )
    return graph.frozen()


if __name__ == "__main__":
    asking.main(with_calls)
