"""What a call gave back and what it touched, counted from the call itself; the orders story is asked."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from ledger_cli import instant
from ledger_cli.errors import QueryRefused, Refused
from ledger_cli.ledger import Ledger
from ledger_cli.memory.call_store import Calls
from ledger_cli.memory.calls import CallRefused, ToolCall
from ledger_cli.memory.recall import recall
from ledger_cli.memory.trace import Tracer
from ledger_cli.model import Target
from tests.conftest import NOW

if TYPE_CHECKING:
    from tests.conftest import Repo

DAY = instant.parse("2024-02-10")


@pytest.fixture
def ledger(story: Repo) -> Ledger:
    return Ledger(story.path, clock=lambda: NOW)


@pytest.fixture
def tracer(ledger: Ledger) -> Tracer:
    return Tracer(ledger, "s1")


def last(tracer: Tracer) -> ToolCall:
    return Calls(tracer.ledger.database).all()[-1]


READS: dict[str, tuple[Any, int, set[str]]] = {
    "as_of": (lambda ledger: ledger.as_of(DAY, "Orders"), 1, {"decision d4", "entity orders"}),
    "as_of the whole ledger": (
        lambda ledger: ledger.as_of(DAY),
        4,
        {"decision d3", "decision d4", "decision d5", "decision d7"},
    ),
    "believed": (
        lambda ledger: ledger.believed(DAY, "orders", [DAY, NOW]),
        3,
        {"decision d4", "decision d6", "entity orders"},
    ),
    "an entity that is not known": (lambda ledger: ledger.as_of(DAY, "nobody"), 0, set()),
    "an entity of which nothing held": (lambda ledger: ledger.as_of(instant.parse("2020-01-01"), "orders"), 0, set()),
    "history": (
        lambda ledger: ledger.history("orders"),
        3,
        {"decision d1", "decision d4", "decision d6", "entity orders"},
    ),
    "history of an item": (lambda ledger: ledger.history("d1"), 2, {"decision d1", "decision d4"}),
    "search": (lambda ledger: ledger.search("redis"), 1, {"decision d6"}),
    "slots": (lambda ledger: ledger.slots("orders/"), 1, {"decision d4"}),
    "show": (lambda ledger: ledger.show("d1"), 1, {"decision d1"}),
    "check": (lambda ledger: ledger.check(), 0, set()),
    "recall": (
        lambda ledger: recall(ledger, "what about orders?", valid=DAY),
        2,
        {"decision d1", "decision d4", "decision d6", "entity orders"},  # d1: d4 replaced it, and it is told
    ),
    "nothing": (lambda ledger: None, 0, set()),
}


@pytest.mark.parametrize("name", READS)
def test_a_read_touches_what_it_gives_back(ledger: Ledger, tracer: Tracer, name: str) -> None:
    do, rows, nodes = READS[name]
    expected = do(ledger)
    assert repr(tracer.read(name.replace(" ", "_"), lambda: do(ledger), ask="why?")) == repr(expected)
    call = last(tracer)
    assert (call.status, call.rows, set(call.touched), call.ask) == ("read", rows, nodes, "why?")


QUERIES = {
    "MATCH (d:Decision {id: 'd1'}) RETURN d": (1, {"decision d1"}),
    "MATCH (d:Decision {id: 'd1'})-[:ABOUT]->(e) RETURN [d, {in: e}] AS deep": (1, {"decision d1", "entity orders"}),
    "MATCH (d:Decision {id: 'd1'}) RETURN d.id, d.text": (1, {"decision d1"}),
    "MATCH (d:Decision {id: 'd1'}) RETURN {id: d.id} AS answer": (1, {"decision d1"}),
    "MATCH (e:Entity {key: 'orders'}) RETURN e.name, e.kind": (1, {"entity orders"}),
    "MATCH (e:Entity) RETURN count(e) AS n": (1, set()),
    "RETURN 'd1' AS id": (1, {"decision d1"}),  # it gives the id back, wherever it has it from
    "RETURN 'd1' AS text, 'nothing such' AS id, 'orders' AS slot": (1, set()),
    "MATCH (s:Session) RETURN s ORDER BY s.id LIMIT 2": (2, set()),
    "OPTIONAL MATCH (d:Decision {id: 'none'}) RETURN d, d.id AS id": (1, set()),
    "MATCH p = (d:Decision {id: 'd4'})-[:SUPERSEDES]->(o) RETURN nodes(p) AS ns": (1, {"decision d1", "decision d4"}),
}


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_touches_the_nodes_and_the_ids_in_its_rows(ledger: Ledger, tracer: Tracer, query: str) -> None:
    rows, nodes = QUERIES[query]
    assert tracer.read_cypher(query).rows == ledger.query(query).rows
    call = last(tracer)
    assert (call.tool, call.rows, set(call.touched)) == ("read_cypher", rows, nodes)
    assert call.arguments == {"statement": query}


def test_parameters_are_what_the_names_of_a_query_stand_for(tracer: Tracer) -> None:
    found = tracer.read_cypher("UNWIND $ids AS x MATCH (d:Item {id: x}) RETURN d.id AS id", {"ids": ["d2", "d1"]})
    assert [row["id"] for row in found.rows] == ["d2", "d1"]
    assert last(tracer).arguments["parameters"] == {"ids": ["d2", "d1"]}


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("CREATE (:X)", "this one writes"),
        ("MATCH (d:Decision) SET d.text = 'x'", "this one writes"),
        ("MATCH (c:ToolCall) DELETE c", "this one writes"),
        ("LOAD CSV FROM '/etc/hostname' AS row RETURN row", "LOAD CSV is refused"),
        ("MATCH (c:ToolCall) RETURN c; MATCH (n) RETURN n", "one statement"),
        ("RETURN $missing AS x", "missing"),
        ("MATCH (", "yntax"),
    ],
)
def test_a_query_that_is_refused_is_on_record_with_the_reason(tracer: Tracer, query: str, why: str) -> None:
    with pytest.raises(QueryRefused, match=why):
        tracer.read_cypher(query)
    call = last(tracer)
    assert (call.status, call.touched) == ("rolled_back", ())
    assert call.error and why in call.error


def _linked(tracer: Tracer) -> Tracer:
    facts = [{"id": "l1", "text": "one"}, {"id": "l2", "text": "two", "supersedes": "l1"}]
    tracer.apply_session({"session": "linked", "facts": facts})
    return tracer


WRITES: dict[str, tuple[Any, set[str]]] = {
    "a fact that replaces another": (
        lambda tracer: tracer.apply_session(
            {
                "session": "s",
                "entities": [{"name": "Zed", "kind": "person"}],
                "episodes": [{"id": "e1", "kind": "message", "text": "hm", "mentions": ["Orders", "Zed"]}],
                "decisions": [
                    {"id": "n1", "text": "orders uses sqlite", "slot": "orders/database", "about": ["ORDERS"],
                     "from": "e1"},
                ],
            }
        ),
        # The slot links the new one to d4, which it replaces.
        {"decision n1", "decision d4", "entity orders", "entity zed", "episode e1"},
    ),
    "a correction": (
        lambda tracer: tracer.apply_session(
            {"session": "s", "decisions": [{"id": "n1", "corrects": "d2", "text": "x"}]}
        ),
        {"decision n1", "entity search"},
    ),
    "a rejection": (lambda tracer: tracer.reject(Target("d4"), by="sam", reason="no"), {"decision d4"}),
    "a rejected link": (
        lambda tracer: _linked(tracer).reject(Target("l1", "l2"), by="sam", reason="no"),
        {"fact l1", "fact l2"},
    ),
    "an ending": (lambda tracer: tracer.end("d4", NOW, by="sam"), {"decision d4"}),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITES)
def test_a_write_touches_what_it_recorded_and_what_that_is_on(tracer: Tracer, name: str) -> None:
    do, nodes = WRITES[name]
    do(tracer)
    call = last(tracer)
    assert (call.status, call.rows, call.error) == ("committed", 1, None)
    assert set(call.touched) == nodes


def test_a_session_may_come_as_text_as_a_document_and_as_a_value(tracer: Tracer) -> None:
    from ledger_cli import session_file

    (value,) = session_file.read("session: v\nfacts: [{text: three}]", "v.yaml")
    tracer.apply_session("session: y\nfacts: [{text: one}]")
    tracer.apply_session({"session": "j", "facts": [{"text": "two"}]})
    tracer.apply_session(value)
    found = Calls(tracer.ledger.database).all()
    assert [set(call.touched) for call in found] == [{f"fact {s}/f1"} for s in "yjv"]
    assert found[2].arguments == {"session": "v"}


def test_what_a_call_raises_is_raised_again_and_on_record(tracer: Tracer) -> None:
    with pytest.raises(ZeroDivisionError):
        tracer.read("divide", lambda: 1 // 0)
    with pytest.raises(Refused):
        tracer.reject(Target("nobody"), by="sam", reason="no")
    errors = [call.error for call in Calls(tracer.ledger.database).all()]
    assert errors[0] == "ZeroDivisionError: integer division or modulo by zero"
    assert "nobody" in str(errors[1])


@pytest.mark.parametrize(
    ("tool", "seq", "arguments", "ask"),
    [
        ("", 1, None, ""),
        ("a\u200bb", 1, None, ""),
        ("t", 0, None, ""),
        ("t", "7", None, ""),
        ("t", 1.0, None, ""),
        ("t", 1, {"x": float("nan")}, ""),
        ("t", 1, {"x": object()}, ""),
    ],
)
def test_a_call_that_could_not_be_recorded_is_refused_before_it_is_made(
    tracer: Tracer, tool: str, seq: Any, arguments: Any, ask: str
) -> None:
    made: list[int] = []
    with pytest.raises(CallRefused):
        tracer.read(tool, lambda: made.append(1), seq=seq, arguments=arguments, ask=ask)
    assert made == []
    assert Calls(tracer.ledger.database).all() == []


def test_a_session_of_calls_needs_a_name_that_makes_a_file(ledger: Ledger) -> None:
    for name in ("", "a\nb", "日" * 100):
        with pytest.raises(CallRefused, match="the session of calls"):
            Tracer(ledger, name)


def test_when_a_call_began_comes_from_the_ledgers_clock(story: Repo) -> None:
    at = datetime(2030, 1, 2, 3, 4, 5, 678900, tzinfo=UTC)
    tracer = Tracer(Ledger(story.path, clock=lambda: at), "s1")
    tracer.read("recall", lambda: None)
    call = last(tracer)
    assert call.ts == 1893553445678
    assert story.run("trace", "show", "s1", "1", "--json").json["at"] == "2030-01-02T03:04:05.678Z"
