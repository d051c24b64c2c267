"""The published session of twelve tool calls, in the ledger's words: what the agent sent, and nothing that came of it.

The page's agent has two tools, `remember` and `recall`, each of which takes Cypher. Here `recall` is a read-only query
and `remember` applies a session. The queries are the page's, whose graph is the ledger's but for these:

- An entity's kind is data of the ledger too, and `OrderPlaced` has the key `orderplaced`: keys are case-folded.
- The page returns the row that the agent sees as `answer`, and the nodes it touched as `touched`, and the tracer counts
  the second. Here the nodes are columns of the row, and nobody says which were touched.
- An OPTIONAL MATCH that finds nothing gives a null, which counts for nothing, as on the page.
- `approval` is the `confidence` of an item: 2 of 3 reviewers, and none of 0. The ledger has no division to fail, so the
  model's quotient is what it cannot read. The page's two MERGEs are the two entities that the session brings.
- To bring an entity again is no fault here: an entity is there by its name, and the earliest entry counts. What its
  unique key protects against is a second billing service that is something else, so call 6 brings one of another kind.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

ORDERS, BILLING, UNKNOWN = "orders service", "billing service", "shipping service"
KAFKA, EVENT = "kafka", "OrderPlaced"
POSTGRES, PUBLISH = "Postgres for orders", "Publish OrderPlaced events to Kafka"

ABOUT = (
    "MATCH (e:Entity {key: $key})<-[:ABOUT]-(x:Decision|Fact) "
    "RETURN {kind: x.kind, text: x.text} AS answer, e, x ORDER BY x.kind, x.text"
)
MENTIONING = (
    "MATCH (f:Fact) WHERE f.text CONTAINS $term MATCH (f)-[:ABOUT]->(e:Entity) "
    "RETURN {text: f.text, entity: e.key} AS answer, f, e ORDER BY e.key"
)
AFFECTED = (
    "MATCH (k:Entity {key: $key})<-[:ABOUT]-(d:Decision)-[:ABOUT]->(o:Entity)<-[:ABOUT]-(y) "
    "WHERE o.key <> k.key AND y.id <> d.id "
    "RETURN DISTINCT {entity: o.key, kind: y.kind, text: y.text} AS answer, o, y ORDER BY o.key, y.text"
)
OF_A_KIND = (
    "MATCH (e:Entity {kind: $kind}) OPTIONAL MATCH (e)<-[:ABOUT]-(x:Decision|Fact) "
    "RETURN {entity: e.key, kind: x.kind, text: x.text} AS answer, e, x ORDER BY e.key, x.text"
)
EVERYTHING = (
    "MATCH (x:Decision|Fact)-[:ABOUT]->(e:Entity) "
    "RETURN {kind: x.kind, text: x.text, entity: e.key} AS answer, x, e ORDER BY x.kind, x.text, e.key"
)


@dataclass(frozen=True)
class Sent:
    """A call as the agent sent it: a session to remember, or a query to recall by."""

    seq: int
    ask: str
    remember: dict[str, Any] = field(default_factory=dict)
    recall: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)


def _session(seq: int, **brings: Any) -> dict[str, Any]:
    return {"session": f"s1-{seq}", "by": "agent", **brings}


def _decision(seq: int, approval: object) -> dict[str, Any]:
    return _session(
        seq,
        entities=[{"name": KAFKA, "kind": "technology"}, {"name": EVENT, "kind": "event"}],
        decisions=[
            {"id": "publish", "text": PUBLISH, "about": [ORDERS, BILLING, KAFKA, EVENT], "confidence": approval}
        ],
    )


CALLS = [
    Sent(1, "We run a billing service.", _session(1, entities=[{"name": BILLING, "kind": "service"}])),
    Sent(
        2,
        "Orders live in Postgres.",
        _session(
            2,
            entities=[{"name": ORDERS, "kind": "service"}],
            facts=[{"id": "postgres", "text": POSTGRES, "about": [ORDERS]}],
        ),
    ),
    Sent(3, "What do we know about the shipping service?", recall=ABOUT, parameters={"key": UNKNOWN}),
    Sent(4, "Which database do orders use?", recall=ABOUT, parameters={"key": ORDERS}),
    Sent(5, "We decided to send OrderPlaced events to Kafka. Nobody has reviewed it.", _decision(5, "0/0")),
    Sent(6, "We have a billing service.", _session(6, entities=[{"name": BILLING, "kind": "system"}])),
    Sent(
        7,
        "Same decision as before: OrderPlaced events go to Kafka, billing consumes them. Two of three agreed.",
        _decision(7, round(2 / 3, 2)),
    ),
    Sent(8, "What do we know about the orders service now?", recall=ABOUT, parameters={"key": ORDERS}),
    Sent(9, "Where did anyone mention Postgres?", recall=MENTIONING, parameters={"term": "Postgres"}),
    Sent(
        10,
        "What else do we know about the things the Kafka decision affects?",
        recall=AFFECTED,
        parameters={"key": KAFKA},
    ),
    Sent(11, "List our services and what we know about each.", recall=OF_A_KIND, parameters={"kind": "service"}),
    Sent(12, "Dump everything you remember.", recall=EVERYTHING),
]
