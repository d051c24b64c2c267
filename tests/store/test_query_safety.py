"""A stranger's query reads the graph: it does not write, read files, or run for ever."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import worlds

from ledger_cli.errors import QueryRefused
from ledger_cli.store import guard
from ledger_cli.store.engine import get
from ledger_cli.store.graph import Graph


@pytest.fixture(scope="module", params=["loaded", "writable", "frozen"])
def graph(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Graph:
    world = worlds.orders()
    graph = Graph.build(get("kglite"), world.entries, world.stretches, world.shown)
    path = tmp_path_factory.mktemp("store") / "s1.kgl"
    graph.save(path)
    return {"loaded": Graph.load(get("kglite"), path), "writable": graph, "frozen": graph.frozen()}[request.param]


WRITES = [
    "CREATE (:Item {id: 'x'})",
    "create (:Item {id: 'x'})",
    "INSERT (:Item {id: 'x'})",
    "MERGE (:Item {id: 'x'})",
    "MATCH (d:Item) SET d.text = 'x'",
    "MATCH (d:Item) SET d += {text: 'x'}",
    "MATCH (d:Item) SET d:Other",
    "MATCH (d:Item) REMOVE d.text",
    "MATCH (d:Item) REMOVE d:Decision",
    "MATCH (s:Stretch) DELETE s",
    "MATCH (d) DETACH DELETE d",
    "MATCH (d) NODETACH DELETE d",
    "MATCH (a:Item), (b:Item) CREATE (a)-[:X]->(b)",
    "FOREACH (n IN [1] | CREATE (:X))",
    "MATCH (d) CALL (d) { SET d.x = 1 } RETURN d",
    "CALL { CREATE (:X) }",
    "RETURN 1 AS x UNION CREATE (:X) RETURN 1 AS x",
    "PROFILE CREATE (:X)",
    "CREATE INDEX FOR (d:Item) ON (d.text)",
    "CREATE FULLTEXT INDEX t FOR (d:Item) ON EACH [d.text]",
    "CREATE CONSTRAINT FOR (d:Item) REQUIRE d.id IS UNIQUE",
    "DROP INDEX item_text IF EXISTS",
    "CALL db.cdc.enable()",
    "CALL db.ontology.clear()",
    "CALL db.text_index.build({label: 'Item', property: 'text'})",
    "CALL db.node_text_index.build({label: 'Item', property: 'text'})",
    "CALL db.temporal.declare({label: 'Item', from: 'validFrom', to: 'validTo'})",
    "CALL table.upsert({name: 'x', rows: []})",
    "MATCH (n) CALL db.embeddings.drop({label: 'Item', property: 'text'}) RETURN n",
]


@pytest.mark.parametrize("text", WRITES)
def test_writes_are_refused_and_change_nothing(graph: Graph, text: str) -> None:
    before = graph.counts(), graph.all_items()
    with pytest.raises(QueryRefused) as refused:
        graph.query(text)
    assert refused.value.message
    assert (graph.counts(), graph.all_items()) == before


def test_a_refused_write_says_how_the_ledger_is_written(graph: Graph) -> None:
    with pytest.raises(QueryRefused, match="nothing was changed") as refused:
        graph.query("MATCH (d:Item) SET d.text = 'x'")
    assert "session apply" in refused.value.hint


FILE = "FROM '/etc/hostname' AS line RETURN line"
DISGUISES = [
    f"LOAD CSV {FILE}",
    f"load csv {FILE}",
    f"LoAd\t\n CsV {FILE}",
    f"LOAD CSV WITH HEADERS {FILE}",
    f"`LOAD` CSV {FILE}",
    f"`LOAD` `CSV` {FILE}",
    f"LOAD// a comment\nCSV {FILE}",
    f"LOAD//\nCSV {FILE}",
    f"LOAD/* a comment */CSV {FILE}",
    f"LO/* a comment */AD C/**/SV {FILE}",
    f"LO// a comment\nAD CSV {FILE}",
    f"RETURN 1 AS line UNION LOAD CSV {FILE}",
    f"RETURN '/*' AS line UNION LOAD CSV {FILE}",
    f"RETURN '//' AS line UNION `load`// x\n`csv` {FILE}",
    f'RETURN "\'" AS line UNION LOAD CSV {FILE}',
    f"FOR VALID_TIME ALL LOAD CSV {FILE}",
    f"PROFILE LOAD CSV {FILE}",
    f"EXPLAIN LOAD CSV {FILE}",
    "LOAD CSV FROM $file AS line RETURN line",
    f"ＬＯＡＤ ＣＳＶ {FILE}",
    f"LOAD C\u017fV {FILE}",
    f"LO\u200bAD CSV {FILE}",
    f"LOAD\u00a0CSV {FILE}",
    f"LOAD\u00adCSV {FILE}",
    f"LOAD\0CSV {FILE}",
    f"\\u004cOAD CSV {FILE}",
    f"\\u004C\\u006fad \\uu0043SV {FILE}",
    f"L\u0301OAD CSV {FILE}",
]


@pytest.mark.parametrize("text", DISGUISES)
def test_files_are_not_read_in_any_disguise(graph: Graph, text: str, tmp_path: Path) -> None:
    with pytest.raises(QueryRefused, match="LOAD CSV"):
        graph.query(text, {"file": "/etc/hostname"})


@pytest.mark.parametrize("text", ["RETURN 1;", "RETURN 1; RETURN 2", "; RETURN 1", "RETURN ';'"])
def test_a_semicolon_is_refused(graph: Graph, text: str) -> None:
    with pytest.raises(QueryRefused, match="one statement"):
        graph.query(text)


@pytest.mark.parametrize(
    "text", ["RETURN 'load'", "MATCH (csv) RETURN csv.id AS id", "RETURN 'create'", "RETURN 'csv', 'load'"]
)
def test_the_words_alone_are_no_offence(text: str) -> None:
    guard.refuse(text)


def test_a_query_without_end_is_stopped_by_its_work_and_by_the_clock() -> None:
    world = worlds.many(3000)
    graph = Graph.build(get("kglite"), world.entries, world.stretches, world.shown)
    start = time.monotonic()
    with pytest.raises(QueryRefused, match="stopped"):
        graph.query("MATCH (a), (b), (c) RETURN count(*) AS n")
    with pytest.raises(QueryRefused, match="longer than 1 ms"):
        graph.query("MATCH (a:Item), (b:Item) WHERE a.text CONTAINS b.id RETURN count(*) AS n", timeout_ms=1)
    with pytest.raises(QueryRefused):
        graph.query("UNWIND range(1, 1000000000) AS x RETURN x")
    assert time.monotonic() - start < 30


def test_rows_past_the_limit_are_left_out_and_said_so(graph: Graph) -> None:
    whole = graph.query("MATCH (d:Item) RETURN d.id AS id ORDER BY id")
    assert (whole.columns, whole.truncated) == (["id"], False)
    assert whole.rows == [{"id": id} for id in ("d1", "d4", "d5", "f1")]
    cut = graph.query("MATCH (d:Item) RETURN d.id AS id ORDER BY id", row_limit=3)
    assert (len(cut.rows), cut.truncated) == (3, True)
    assert graph.query("MATCH (d:Item) RETURN d.id AS id ORDER BY id", row_limit=4).truncated is False
    assert graph.query("MATCH (d:Nope) RETURN d.id AS id, 1 AS x") == (["id", "x"], [], False)


NONSENSE = ["", "  ", "RETURN", "hello", "MATCH (d RETURN d", "RETURN $x", "RETURN 1 / 0", "RETURN nope(1)"]


@pytest.mark.parametrize("text", [*NONSENSE, "RETURN date('x')", "MATCH (n) RETURN n FORMAT CSV"])
def test_nonsense_is_refused_with_a_sentence(graph: Graph, text: str) -> None:
    with pytest.raises(QueryRefused) as refused:
        graph.query(text)
    assert refused.value.message


def test_values_come_out_by_their_names(graph: Graph) -> None:
    text = """MATCH p = (n:Decision {id: 'd4'})-[l:SUPERSEDES {session: 's2'}]->(o)
              RETURN n, l, p, [n] AS list, {n: n} AS map, n.validFrom AS at"""
    row = graph.query(text).rows[0]
    node = row["n"]
    assert set(node) == {"labels", "properties"}
    assert node["labels"] == ["Item", "Decision"]
    assert node["properties"]["id"] == "d4"
    assert not {"type", "title"} & set(node["properties"])
    assert row["l"] == {
        "type": "SUPERSEDES",
        "properties": {"by": "agent", "recordedAt": worlds.day(31), "session": "s2"},
    }
    assert [n["properties"]["id"] for n in row["p"]["nodes"]] == ["d4", "d1"]
    assert [r["type"] for r in row["p"]["relationships"]] == ["SUPERSEDES"]
    assert row["list"] == [node]
    assert row["map"] == {"n": node}
    assert row["at"] == worlds.day(9)


def test_parameters_are_data(graph: Graph) -> None:
    rows = graph.query("MATCH (d:Item) WHERE d.text = $text RETURN d.id AS id", {"text": worlds.HOSTILE}).rows
    assert rows == [{"id": "f1"}]
