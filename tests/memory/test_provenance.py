"""The published twelve calls of one session through `Tracer`, as written and with everything renamed.

What is expected is the page's own, but for `touched` per node, where an entity's name is its key (`orderplaced`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from ledger_cli.errors import LedgerError, Refused, SessionFileError
from ledger_cli.ledger import Ledger
from ledger_cli.memory.calls import CallRefused, CallRepeated, ToolCall
from ledger_cli.memory.trace import Tracer
from ledger_cli.model import Target
from tests.provenance import BILLING, CALLS, EVENT, KAFKA, ORDERS, POSTGRES, PUBLISH, Sent

if TYPE_CHECKING:
    from tests.conftest import Repo

BEGAN = datetime(2026, 3, 2, 9, tzinfo=UTC)
Renamed = Callable[[Any], Any]

TEXTS = (POSTGRES, PUBLISH, "Postgres", ORDERS, BILLING, "shipping service", KAFKA, EVENT, "service", "technology")
"""All that the agent says in its own words, the longest first where one holds another."""


def as_written(value: Any) -> Any:
    return value


def renamed(value: Any) -> Any:
    """The same in words of another world: texts, names, kinds, ids, and the session itself."""
    if isinstance(value, dict):
        return {key: renamed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [renamed(inner) for inner in value]
    if not isinstance(value, str) or "MATCH" in value:
        return value
    for n, text in enumerate(TEXTS):
        value = value.replace(text, f"§{n}§")
    for n, text in enumerate(TEXTS):
        value = value.replace(f"§{n}§", f"Ünder {text[::-1]} [{n}]".casefold() if text in NAMES else text[::-1])
    return value.replace("publish", "x-1").replace("postgres", "x-2").replace("s1", "die Sitzung/1")


NAMES = (ORDERS, BILLING, "shipping service", KAFKA, EVENT)


class Session:
    """The session of calls, and what each gave back or raised."""

    def __init__(self, repo: Repo, of: Renamed) -> None:
        self.repo, self.of = repo, of
        self.now = BEGAN
        self.ledger = Ledger(repo.path, clock=lambda: self.now)
        self.tracer = Tracer(self.ledger, of("s1"))
        self.came: dict[int, Any] = {}

    def play(self, calls: list[Sent] = CALLS) -> Session:
        for sent in calls:
            self.now = BEGAN + timedelta(minutes=sent.seq)
            self.repo.now = self.now
            try:
                self.came[sent.seq] = self.send(sent)
            except LedgerError as fault:
                self.came[sent.seq] = fault
        return self

    def send(self, sent: Sent) -> Any:
        if sent.remember:
            document = self.of(copy.deepcopy(sent.remember))
            return self.tracer.apply_session(document, tool="remember", ask=self.of(sent.ask), seq=sent.seq)
        return self.tracer.read_cypher(
            sent.recall, self.of(sent.parameters), tool="recall", ask=self.of(sent.ask), seq=sent.seq
        )

    def trace(self, *words: str) -> Any:
        return self.repo.run("trace", *words, "--json").json

    def call(self, seq: int) -> Any:
        return self.trace("show", self.of("s1"), str(seq))

    def census(self) -> tuple[int, int, int]:
        (row,) = self.ledger.query(
            "CALL () { MATCH (e:Entity) RETURN count(e) AS es } CALL () { MATCH (f:Fact) RETURN count(f) AS fs } "
            "CALL () { MATCH (d:Decision) RETURN count(d) AS ds } RETURN es, fs, ds"
        ).rows
        return row["es"], row["fs"], row["ds"]


@pytest.fixture(params=[as_written, renamed], ids=["as written", "renamed"])
def session(repo: Repo, request: pytest.FixtureRequest) -> Session:
    return Session(repo, request.param)


def answers(session: Session, seq: int) -> list[Any]:
    return [row["answer"] for row in session.came[seq].rows]


def test_each_tool_has_the_calls_rows_and_nodes_of_the_page(session: Session) -> None:
    session.play()
    found = session.trace("calls")["tools"]
    names = ("tool", "calls", "rows", "touched", "read", "committed", "rolledBack")
    assert [[tool[name] for name in names] for tool in found] == [
        ["recall", 7, 13, 19, 7, 0, 0],
        ["remember", 5, 3, 8, 0, 3, 2],
    ]
    assert all(0 < tool["p50"] <= tool["p95"] for tool in found)


def test_each_call_is_on_record_as_the_page_counts_it(session: Session) -> None:
    session.play()
    found = [session.call(seq) for seq in range(1, 13)]
    assert [(c["tool"], c["status"], c["rows"], len(c["touched"])) for c in found] == [
        ("remember", "committed", 1, 1),
        ("remember", "committed", 1, 2),
        ("recall", "read", 0, 0),
        ("recall", "read", 1, 2),
        ("remember", "rolled_back", 0, 0),
        ("remember", "rolled_back", 0, 0),
        ("remember", "committed", 1, 5),
        ("recall", "read", 2, 3),
        ("recall", "read", 1, 2),
        ("recall", "read", 1, 2),
        ("recall", "read", 3, 4),
        ("recall", "read", 5, 6),
    ]
    assert [c["ask"] for c in found] == [session.of(sent.ask) for sent in CALLS]
    assert [c["ts"] for c in found] == [1772442000000 + 60000 * seq for seq in range(1, 13)]
    assert found[3]["arguments"] == {"statement": CALLS[3].recall, "parameters": session.of(CALLS[3].parameters)}
    assert found[6]["arguments"] == {"session": session.of(CALLS[6].remember)}


def test_the_agent_gets_the_rows_of_the_page(session: Session) -> None:
    session.play()
    fact = {"kind": "fact", "text": POSTGRES}
    decision = {"kind": "decision", "text": PUBLISH}
    by_entity = [(e, decision) for e in (BILLING, KAFKA, ORDERS, EVENT.lower())]
    expected = {
        3: [],
        4: [fact],
        8: [decision, fact],
        9: [{"text": POSTGRES, "entity": ORDERS}],
        10: [{"entity": ORDERS, **fact}],
        11: [{"entity": e, **x} for e, x in ((BILLING, decision), (ORDERS, fact), (ORDERS, decision))],
        12: [{"entity": e, **x} for e, x in (*by_entity, (ORDERS, fact))],
    }
    for seq, rows in expected.items():
        wanted = [{**row, **{k: session.of(row[k]) for k in ("text", "entity") if k in row}} for row in rows]
        if session.of is renamed:  # it changes the order, not the rows
            wanted = [{**row, **({"entity": row["entity"].casefold()} if "entity" in row else {})} for row in wanted]
        assert _sorted(answers(session, seq)) == _sorted(_keys_as_keys(session, wanted)), seq


def _keys_as_keys(session: Session, rows: list[Any]) -> list[Any]:
    """The key of OrderPlaced, renamed, is the renamed name's."""
    lower, right = session.of(EVENT.lower()).casefold(), session.of(EVENT).casefold()
    return [{**row, "entity": right} if row.get("entity") == lower else row for row in rows]


def _sorted(rows: list[Any]) -> list[Any]:
    return sorted(rows, key=str)


def test_a_call_that_fails_leaves_nothing_but_its_record(session: Session) -> None:
    session.play(CALLS[:4])
    before = session.census(), session.repo.checkpoint.read_bytes()
    assert before[0] == (2, 1, 0)
    session.play(CALLS[4:6])
    assert (session.census(), session.repo.checkpoint.read_bytes()) == before
    assert isinstance(session.came[5], SessionFileError)
    assert isinstance(session.came[6], Refused)
    found = session.trace("failures")["calls"]
    assert [(c["seq"], c["tool"], c["touched"]) for c in found] == [(5, "remember", []), (6, "remember", [])]
    assert [c["error"] for c in found] == [session.came[5].message, session.came[6].message]
    assert "confidence" in found[0]["error"] and "kind" in found[1]["error"]
    session.play(CALLS[6:])
    assert session.census() == (4, 1, 1)


def test_the_retried_call_is_refused_and_leaves_nothing(session: Session) -> None:
    session.play()
    before = session.trace("recent", "-n", "99"), session.census(), session.repo.checkpoint.read_bytes()
    retried = CALLS[6]
    with pytest.raises(CallRepeated, match=r"call 7 of session .* is on record already"):
        session.send(retried)
    # The ledger would see by the ids that it is the same session. Without them, nothing but the record stops a copy.
    copy_ = copy.deepcopy(retried.remember) | {"session": "s1-7-again"}
    del copy_["decisions"][0]["id"]
    with pytest.raises(CallRepeated):
        session.send(replace(retried, remember=copy_))
    with pytest.raises(CallRepeated):
        session.send(replace(CALLS[3], seq=7))
    assert (
        session.trace("recent", "-n", "99"), session.census(), session.repo.checkpoint.read_bytes()
    ) == before  # fmt: skip
    assert session.tracer.apply_session(copy_, seq=13).status == "applied"  # with a number of its own it is a copy


@pytest.mark.parametrize(
    "bad",
    [
        {"seq": None},
        {"seq": 0},
        {"seq": "13"},
        {"seq": True},
        {"ts": datetime(2026, 3, 2, 9, 13, tzinfo=UTC)},
        {"ts": 1772442780000.5},
        {"ts": None},
        {"session": ""},
        {"status": "done"},
        {"status": "rolled_back"},
        {"error": "no"},
    ],
    ids=str,
)
def test_what_is_no_call_is_refused(bad: dict[str, Any]) -> None:
    good: dict[str, Any] = {"session": "s1", "seq": 13, "tool": "recall", "status": "read", "ts": 1772442780000}
    assert ToolCall(**good)
    with pytest.raises(CallRefused, match="this is no tool call"):
        ToolCall(**(good | bad))


def test_the_latest_calls_with_what_each_touched(session: Session) -> None:
    session.play()
    found = session.trace("recent", "-n", "5")["calls"]
    assert [(c["seq"], c["status"], c["at"], [node["what"] for node in c["touched"]]) for c in found] == [
        (12, "read", "2026-03-02T09:12:00Z", ["decision", "entity", "entity", "entity", "entity", "fact"]),
        (11, "read", "2026-03-02T09:11:00Z", ["decision", "entity", "entity", "fact"]),
        (10, "read", "2026-03-02T09:10:00Z", ["entity", "fact"]),
        (9, "read", "2026-03-02T09:09:00Z", ["entity", "fact"]),
        (8, "read", "2026-03-02T09:08:00Z", ["decision", "entity", "fact"]),
    ]


def test_the_fact_was_written_by_2_and_read_since_by_six(session: Session) -> None:
    session.play()
    (found,) = session.trace("lineage", session.of("postgres"))["nodes"]
    assert found["what"] == "fact"
    wrote = found["wrote"]
    assert (wrote["seq"], wrote["tool"], wrote["ask"]) == (2, "remember", session.of("Orders live in Postgres."))
    assert [c["seq"] for c in found["readSince"]] == [4, 8, 9, 10, 11, 12]
    assert found["changed"] == []


def test_every_node_with_who_wrote_it_and_how_often_it_was_read(session: Session) -> None:
    session.play()
    found = session.trace("nodes")["nodes"]
    rows = [(n["what"], n["name"], [c["seq"] for c in (n["wrote"], *n["changed"])], n["reads"]) for n in found]
    assert sorted(rows) == sorted(
        (what, session.of(name), committed, reads)
        for what, name, committed, reads in [
            ("decision", PUBLISH, [7], 3),
            ("entity", EVENT, [7], 1),
            ("entity", BILLING, [1, 7], 2),
            ("entity", KAFKA, [7], 1),
            ("entity", ORDERS, [2, 7], 6),
            ("fact", POSTGRES, [2], 6),
        ]
    )


def test_what_was_there_before_any_call_was_written_by_none(story: Repo) -> None:
    tracer = Tracer(Ledger(story.path, clock=lambda: story.now), "agent")
    tracer.reject(Target("d4"), by="sam", reason="no")
    tracer.apply_session({"session": "s9", "decisions": [{"id": "d9", "text": "t", "about": ["orders", "new"]}]})
    found = {
        subject: story.run("trace", "lineage", subject, "--json").json["nodes"][0]
        for subject in ("d4", "orders", "d9", "new")
    }
    wrote = {subject: node["wrote"] and node["wrote"]["seq"] for subject, node in found.items()}
    assert wrote == {"d4": None, "orders": None, "d9": 2, "new": 2}
    assert [[c["seq"] for c in node["changed"]] for node in found.values()] == [[1], [2], [], []]


def test_the_exported_file_is_what_is_on_record_and_the_same_every_time(session: Session) -> None:
    session.play()
    path = session.repo.path / "snapshots" / "calls"
    (said,) = session.trace("export")["files"]
    (file,) = path.iterdir()
    assert file.name == {"s1": "s1.jsonl"}.get(session.of("s1"), "die%20Sitzung%2F1.jsonl")
    assert said == {"file": f"snapshots/calls/{file.name}", "calls": 12}
    before = file.read_bytes()
    assert before.count(b"\n") == 12
    assert session.trace("export")["files"] == []
    assert file.read_bytes() == before


def cypher(session: Session, text: str) -> list[Any]:
    return [list(row.values()) for row in session.repo.run("query", text, "--json").json["rows"]]


def test_the_pages_own_audits_answer_in_cypher(session: Session) -> None:
    session.play()
    per_tool = (
        "MATCH (c:ToolCall) CALL (c) { OPTIONAL MATCH (c)-[:TOUCHED]->(n) RETURN count(n) AS t } "
        "RETURN c.name AS tool, count(*) AS calls, sum(c.rows) AS rows, sum(t) AS touched, "
        "count(CASE c.status WHEN 'read' THEN 1 END) AS read, "
        "count(CASE c.status WHEN 'committed' THEN 1 END) AS committed, "
        "count(CASE c.status WHEN 'rolled_back' THEN 1 END) AS rolled_back ORDER BY tool"
    )
    assert cypher(session, per_tool) == [["recall", 7, 13, 19, 7, 0, 0], ["remember", 5, 3, 8, 0, 3, 2]]
    latest = (
        "MATCH (s:Session)-[h:HAS_CALL]->(c:ToolCall) WHERE c.session = s.id "
        "RETURN c.seq AS seq, h.ts AS ts ORDER BY h.ts DESC LIMIT 3"
    )
    assert cypher(session, latest) == [[seq, 1772442000000 + 60000 * seq] for seq in (12, 11, 10)]
    lineage = (
        f"MATCH (c:ToolCall)-[:TOUCHED]->(f:Fact {{id: '{session.of('postgres')}'}}) RETURN c.seq AS seq ORDER BY seq"
    )
    assert [seq for (seq,) in cypher(session, lineage)] == [2, 4, 8, 9, 10, 11, 12]


def test_calls_are_in_no_checkpoint_and_in_no_generation(session: Session) -> None:
    session.play()
    assert b"remember" not in session.repo.checkpoint.read_bytes()
    cypher(session, "MATCH (c:ToolCall) RETURN count(c) AS n")
    assert session.ledger.database.read().query("MATCH (c:ToolCall) RETURN count(c) AS n").rows == [{"n": 0}]
