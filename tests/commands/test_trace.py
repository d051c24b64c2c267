"""`ledger trace …`: the audits on the screen and in JSON, of calls whose every number is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ledger_cli.ledger import Ledger
from ledger_cli.memory.call_store import Calls
from ledger_cli.memory.calls import Node, ToolCall, touched
from tests.conftest import NOW

if TYPE_CHECKING:
    from tests.commands.conftest import Golden
    from tests.conftest import Repo

BEGAN = 1_780_315_200_000  # 2026-06-01T12:00:00Z
ORDERS, D4, D6, E9 = Node("entity", "orders"), Node("decision", "d4"), Node("decision", "d6"), Node("episode", "e9")


def call(session: str, seq: int, tool: str, status: Any, *nodes: Node, **keys: Any) -> ToolCall:
    at = keys.pop("ts", BEGAN + seq * 1500)
    wrote = touched(keys.pop("wrote", ()))
    return ToolCall(session, seq, tool, status, at, touched=touched(nodes), wrote=wrote, **keys)


CALLS = [
    call("s1", 1, "apply_session", "committed", ORDERS, D4, wrote=(D4,), rows=1, took=12.25,
         ask="Orders moved to MySQL.", arguments={"session": {"session": "session-2", "decisions": [{"id": "d4"}]}}),
    call("s1", 2, "recall", "read", ORDERS, D4, D6, rows=3, took=4, ask="What about orders?\nAll of it."),
    call("s1", 3, "apply_session", "rolled_back", took=1.5, ask="Again.", error="d4 is recorded with other content"),
    call("s1", 4, "recall", "read", rows=0, took=2.5),
    call("s/2", 1, "reject", "committed", D4, rows=1, took=10, ts=BEGAN + 7000),
    call("s/2", 2, "read_cypher", "read", D4, E9, rows=1, took=100.125, ts=BEGAN + 8000,
         arguments={"statement": "MATCH (n) RETURN n"}),
]  # fmt: skip


@pytest.fixture
def traced(story: Repo) -> Repo:
    calls = Calls(Ledger(story.path, clock=lambda: NOW).database)
    for one in CALLS:
        calls.append(one.session, one.seq, lambda _, one=one: one)  # type: ignore[misc]
    return story


SCREENS = {
    "calls": ("calls",),
    "calls-of-one-session": ("calls", "--session", "s1"),
    "failures": ("failures",),
    "recent": ("recent", "-n", "4"),
    "recent-of-one-session": ("recent", "--session", "s/2"),
    "lineage": ("lineage", "d4"),
    "lineage-of-an-entity": ("lineage", "Orders"),
    "lineage-unwritten": ("lineage", "d6"),
    "nodes": ("nodes",),
    "show": ("show", "s1", "1"),
    "show-failed": ("show", "s1", "3"),
}


@pytest.mark.parametrize("name", SCREENS)
def test_the_screen_and_the_json(traced: Repo, golden: Golden, name: str) -> None:
    screen, json = traced.run("trace", *SCREENS[name]), traced.run("trace", *SCREENS[name], "--json")
    assert (screen.err, json.err) == ("", "")
    golden(f"trace/{name}.txt", screen.out)
    golden(f"trace/{name}.json", json.out)


def test_what_no_call_touched_is_an_answer_and_a_word_on_stderr(traced: Repo) -> None:
    said = traced.run("trace", "lineage", "d1", "--json")
    assert (said.json, said.err) == ({"nodes": []}, "note: no call on record touched 'd1'\n")


@pytest.mark.parametrize("words", [("calls",), ("failures",), ("recent",), ("nodes",)])
def test_without_any_call_there_is_nothing_to_tell(story: Repo, words: tuple[str, ...]) -> None:
    (rows,) = story.run("trace", *words, "--json").json.values()
    assert rows == []
    assert len(story.run("trace", *words).out.splitlines()) == 1  # the heads


def test_a_call_that_is_not_on_record_is_refused(traced: Repo) -> None:
    said = traced.run("trace", "show", "s1", "9", code=1)
    assert said.err == (
        "error: there is no call 9 of session s1 on record\n  hint: `ledger trace recent` lists calls\n"
    )


def test_export_writes_a_file_a_session_and_says_which(traced: Repo) -> None:
    said = traced.run("trace", "export")
    assert said.out == "wrote snapshots/calls/s%2F2.jsonl with 2 calls\nwrote snapshots/calls/s1.jsonl with 4 calls\n"
    assert traced.run("trace", "export").out == "nothing to write\n"
    assert traced.run("trace", "export", "--json").json == {"files": []}
    files = {path.name: path.read_text().splitlines() for path in (traced.path / "snapshots" / "calls").iterdir()}
    assert {name: len(lines) for name, lines in files.items()} == {"s1.jsonl": 4, "s%2F2.jsonl": 2}
    assert files["s1.jsonl"][2] == (
        '{"call": 3, "session": "s1", "tool": "apply_session", "status": "rolled_back", "rows": 0, '
        '"error": "d4 is recorded with other content", "ask": "Again.", "ts": 1780315204500, "took": 1.5}'
    )
