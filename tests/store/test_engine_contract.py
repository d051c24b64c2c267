"""What the store relies on in an engine; every known engine is held to it, those not installed are named."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ledger_cli.errors import LedgerError, QueryRefused
from ledger_cli.store.engine import NAMES, DamagedStore, Engine, get

AT = datetime(2024, 1, 10, 9, 30, 0, 123456)  # noqa: DTZ001 - as engines keep it: UTC without saying so


@pytest.fixture(params=NAMES)
def engine(request: pytest.FixtureRequest) -> type[Engine]:
    try:
        return get(request.param)
    except LedgerError as fault:
        pytest.skip(f"{request.param} was not tried: {fault.message}")


@pytest.fixture
def graph(engine: type[Engine]) -> Engine:
    return engine.new()


def one(graph: Engine, text: str, **params: Any) -> Any:
    [row] = graph.run(text, params)
    [value] = row.values()
    return value


def test_an_engine_says_its_name_and_version(engine: type[Engine]) -> None:
    assert engine.name in NAMES
    assert engine.version.startswith(engine.name)
    assert any(c.isdigit() for c in engine.version)


def test_an_unknown_engine_is_refused_with_the_known_ones() -> None:
    with pytest.raises(LedgerError, match="no engine 'oracle'") as refused:
        get("oracle")
    assert "kglite" in refused.value.hint


def test_an_engine_that_is_not_installed_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError("No module named 'relate'")

    monkeypatch.setattr("ledger_cli.store.engine.import_module", missing)
    with pytest.raises(LedgerError, match="cannot be imported") as refused:
        get("relate")
    assert "ledger-cli[relate]" in refused.value.hint  # never the registry's `relate`: another library


TIMES = ["2024-01-10T09:30:00", "2024-01-10T09:30:00.000001", "1969-12-31T23:59:59.5", "2024-02-29T00:00:00"]


@pytest.mark.parametrize("text", [*TIMES, "0001-01-01T00:00:00", "9999-12-31T23:59:59.999999"])
def test_times_are_exact_both_ways(graph: Engine, text: str) -> None:
    at = datetime.fromisoformat(text)
    graph.run("CREATE (:T {id: 'x', at: localdatetime($at)})", {"at": text})
    back = one(graph, "MATCH (t:T) RETURN t.at")
    assert (back, back.tzinfo) == (at, None)
    assert one(graph, "MATCH (t:T) WHERE t.at = $at RETURN count(t)", at=at) == 1
    assert one(graph, "MATCH (t:T) WHERE t.at < $at RETURN count(t)", at=at) == 0
    assert one(graph, "MATCH (t:T) RETURN max(t.at)") == at


def test_kglite_compares_them_with_zoned_times_of_a_query_as_utc() -> None:
    """Other engines say null: there, a query compares with `localdatetime()`."""
    graph = get("kglite").new()
    graph.run("CREATE (:T {id: 'x', at: localdatetime('2024-01-10T00:00:00')})", {})
    text = """MATCH (t:T) RETURN t.at = datetime('2024-01-10T00:00:00Z')
              AND t.at < datetime('2024-01-10T01:00:01+01:00')
              AND t.at > datetime('2024-01-10T00:59:59+01:00') AND t.at = datetime('2024-01-10') AND t.at = $at"""
    assert one(graph, text, at=datetime(2024, 1, 10, tzinfo=UTC)) is True


def test_a_time_that_is_absent_is_null(graph: Engine) -> None:
    graph.run("UNWIND $rows AS r CREATE (:T {id: r.id, at: localdatetime(r.at)})", {"rows": [{"id": "x", "at": None}]})
    assert one(graph, "MATCH (t:T) WHERE t.at IS NULL RETURN count(t)") == 1
    graph.run("MATCH (t:T) SET t.at = localdatetime($at)", {"at": AT.isoformat()})
    graph.run("MATCH (t:T) SET t.at = localdatetime($at)", {"at": None})
    assert one(graph, "MATCH (t:T) RETURN t.at") is None


@pytest.mark.parametrize(
    "id", ["1", "007", "1.10", "true", "null", "2024-01-01", "Straße", "a b", "'", "\\", "`", "$id"]
)
def test_ids_are_the_text_they_are(graph: Engine, id: str) -> None:
    graph.run("UNWIND $rows AS r MERGE (d:Item {id: r.id}) ON CREATE SET d.text = r.id", {"rows": [{"id": id}] * 2})
    assert one(graph, "MATCH (d:Item {id: $id}) RETURN d.text", id=id) == id
    assert one(graph, "MATCH (d:Item) WHERE d.id IN $ids RETURN d.id", ids=[id, "other"]) == id
    assert one(graph, "MATCH (d:Item) RETURN count(d)") == 1


def test_empty_text_is_not_null(graph: Engine) -> None:
    graph.run("CREATE (:T {id: 'x', a: $a, b: $b})", {"a": "", "b": None})
    assert graph.run("MATCH (t:T) RETURN t.a AS a, t.b AS b", {}) == [{"a": "", "b": None}]


def test_a_property_that_began_as_null_takes_a_value_later(graph: Engine) -> None:
    text = "UNWIND $rows AS r CREATE (:T {id: r.id, slot: r.slot, confidence: r.confidence})"
    graph.run(text, {"rows": [{"id": "a", "slot": None, "confidence": None}]})
    graph.run(text, {"rows": [{"id": "b", "slot": "x", "confidence": 0.5}]})
    assert [r["s"] for r in graph.run("MATCH (t:T) RETURN t.slot AS s ORDER BY t.id", {})] == [None, "x"]


def test_a_second_label_finds_its_nodes(graph: Engine) -> None:
    text = (
        "UNWIND $rows AS r CREATE (d:Item {id: r}) FOREACH (_ IN CASE WHEN r = 'a' THEN [1] ELSE [] END | SET d:Fact)"
    )
    graph.run(text, {"rows": ["a", "b"]})
    assert one(graph, "MATCH (d:Fact) RETURN d.id") == "a"
    assert one(graph, "MATCH (d:Fact {id: 'a'}) RETURN labels(d)") == ["Item", "Fact"]
    assert graph.run("MATCH (d:Fact {id: 'b'}) RETURN d.id", {}) == []


def test_two_edges_of_one_type_may_join_one_pair_and_merge_finds_an_edge_that_is_there(graph: Engine) -> None:
    graph.run("CREATE (:Item {id: 'a'}), (:Item {id: 'b'})", {})
    pair = "MATCH (a:Item {id: 'a'}) MATCH (b:Item {id: 'b'}) "
    for session in ("s1", "s2"):
        graph.run(pair + "CREATE (a)-[:SUPERSEDES {session: $s, by: $by}]->(b)", {"s": session, "by": None})
        graph.run(pair + "MERGE (a)-[:ABOUT]->(b)", {})
    assert one(graph, "MATCH ()-[l:SUPERSEDES]->() RETURN count(l)") == 2
    assert one(graph, "MATCH ()-[l:ABOUT]->() RETURN count(l)") == 1


def test_an_undirected_step_over_two_types_goes_both_ways(graph: Engine) -> None:
    graph.run("CREATE (:Item {id: 'a'})-[:CORRECTS]->(:Item {id: 'b'})-[:SUPERSEDES]->(:Item {id: 'c'})", {})
    text = (
        "UNWIND $ids AS i MATCH (:Item {id: i})-[:SUPERSEDES|CORRECTS]-(d:Item) RETURN DISTINCT d.id AS id ORDER BY id"
    )
    assert [r["id"] for r in graph.run(text, {"ids": ["b"]})] == ["a", "c"]
    assert [r["id"] for r in graph.run(text, {"ids": ["a", "c"]})] == ["b"]


def test_a_statement_that_fails_changes_nothing(graph: Engine) -> None:
    graph.run("CREATE (:T {id: 'a'})", {})
    with pytest.raises(Exception):  # noqa: B017 - each engine has its own
        graph.run("UNWIND ['b', 'x'] AS i CREATE (:T {id: i, at: localdatetime(i)})", {})
    assert one(graph, "MATCH (t:T) RETURN count(t)") == 1


def test_order_is_by_code_point(graph: Engine) -> None:
    ids = ["a", "B", "é", "z", "\uffee", "🦀", "", " ", "10", "9"]
    graph.run("UNWIND $ids AS i CREATE (:T {id: 'x' + i, text: i})", {"ids": ids})
    assert [r["t"] for r in graph.run("MATCH (t:T) RETURN t.text AS t ORDER BY t", {})] == sorted(ids)


def test_what_is_saved_comes_back_and_the_reader_refuses_to_write(engine: type[Engine], tmp_path: Path) -> None:
    graph = engine.new()
    graph.run("CREATE (:Item {id: 'a', at: localdatetime($at)})-[:R {n: 1}]->(:Item {id: 'b'})", {"at": AT.isoformat()})
    graph.save(tmp_path / "s1")
    assert [p.name for p in tmp_path.iterdir()] == ["s1"], "something was left behind"
    for writable in (False, True):
        loaded = engine.load(tmp_path / "s1", writable)
        assert loaded.run("MATCH (a:Item {id: 'a'})-[r:R]->(b) RETURN a.at AS at, r.n AS n, b.id AS id", {}) == [
            {"at": AT, "n": 1, "id": "b"}
        ]
    reader = engine.load(tmp_path / "s1", False)
    with pytest.raises(Exception):  # noqa: B017
        reader.run("CREATE (:X)", {})
    frozen = engine.load(tmp_path / "s1", True).freeze()
    with pytest.raises(Exception):  # noqa: B017
        frozen.run("CREATE (:X)", {})
    reader.close()


def test_a_missing_file_and_a_broken_one_are_told_apart(engine: type[Engine], tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        engine.load(tmp_path / "nope", False)
    (tmp_path / "broken").write_bytes(b"not a graph")
    with pytest.raises(DamagedStore):
        engine.load(tmp_path / "broken", True)


def test_a_bounded_query_reads_and_nothing_else(graph: Engine) -> None:
    graph.run("UNWIND range(1, 20) AS i CREATE (:T {id: toString(i)})", {})
    answer = graph.bounded("MATCH (t:T) RETURN t.id AS id ORDER BY id", {}, 5000, 1_000_000, 5)
    assert (answer.columns, len(answer.rows), answer.truncated) == (["id"], 5, True)
    for text in ("CREATE (:X)", "MATCH (t:T) DETACH DELETE t", "MATCH (a), (b), (c), (d), (e), (f) RETURN count(*)"):
        with pytest.raises(QueryRefused):
            graph.bounded(text, {}, 5000, 100_000, 5)
    assert one(graph, "MATCH (t:T) RETURN count(t)") == 20


def test_search_ranks_by_words(graph: Engine) -> None:
    assert graph.search("redis", 5) == []
    graph = type(graph).new()
    graph.run("CREATE (:Item {id: 'a', text: 'orders in redis'}), (:Item {id: 'b', text: 'orders'})", {})
    assert [id for id, _ in graph.search("redis orders", 5)] == ["a", "b"]
    assert [id for id, _ in graph.search("redis orders", 1)] == ["a"]


def test_kglite_stops_at_ten_hops_which_is_why_no_statement_is_of_any_length() -> None:
    """The trap itself: if this fails, the engine has changed; chains in test_graph.py are whole either way."""
    graph = get("kglite").new()
    graph.run("UNWIND range(0, 20) AS i CREATE (:T {id: i})", {})
    graph.run("UNWIND range(1, 20) AS i MATCH (a:T {id: i}) MATCH (b:T {id: i - 1}) CREATE (a)-[:R]->(b)", {})
    assert one(graph, "MATCH (:T {id: 0})<-[:R*1..]-(t) RETURN count(t)") == 10
