"""`ledger serve` as a process of its own, driven by the official SDK's client: the published calls, and a crowd."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from ledger_cli.ledger import Ledger
from ledger_cli.memory.call_store import Calls
from tests.conftest import NOW, ROOT
from tests.test_seeds import (
    ALICE,
    BOB_CALL,
    BOB_TEAM,
    BUILT,
    CAROL,
    COCKROACH,
    CONSUMES,
    DATABASE,
    MEMORY,
    ON_CALL,
    OWNER,
    POSTGRES,
    PUBLISHES,
    SERVICE,
    SLOW,
    TEAM,
    Told,
    telling,
)

if TYPE_CHECKING:
    from tests.conftest import Repo

T = TypeVar("T")

LAUNCH = (
    "import sys\nfrom datetime import UTC, datetime\nfrom ledger_cli.app import run\n"
    "sys.exit(run(sys.argv[1:], clock=lambda: datetime(2026, 6, 1, 12, tzinfo=UTC)))"
)
"""The program with the clock of the tests."""


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def talk(root: Path, *options: str, to: Callable[[Client], Awaitable[T]]) -> T:
    """Start a server in a folder, talk to it, and end it."""

    async def run() -> T:
        server = StdioServerParameters(
            command=sys.executable, args=["-c", LAUNCH, "serve", *options], cwd=root, env=environment()
        )
        async with Client(stdio_client(server)) as client:
            return await to(client)

    return anyio.run(run)


async def ask(client: Client, tool: str, **given: Any) -> Any:
    """The JSON that a tool answers."""
    said = await client.call_tool(tool, given)
    assert not said.is_error, said.content
    return json.loads(said.content[0].text)


def records(repo: Repo) -> list[Any]:
    return Calls(Ledger(repo.path, clock=lambda: NOW).database).all()


# The published session as tool calls
#
# The page sends four statements that write session 2: its messages and entities, the fact, the decision, and what
# supersedes what. Here a session is one write, and the last of the four is the ledger's own doing. So call 2 applies
# it whole, and calls 3 to 5 ask for what the page's counters of the other three statements counted.

KNOWN_SLOTS = (
    "MATCH (x:Item) WHERE x.slot IS NOT NULL AND x.validTo IS NULL RETURN DISTINCT x.slot AS slot ORDER BY slot"
)
COUNTED = (
    "MATCH (x:{label} {{session: $session}}) "
    "CALL (x) {{ MATCH (x)-[r:FROM|ABOUT]->() RETURN count(r) AS edges }} RETURN count(x) AS nodes, sum(edges) AS edges"
)
SUPERSEDED = "MATCH (:Item {session: $session})-[r:SUPERSEDES]->(:Item) RETURN count(r) AS edges"
REPORT = (
    "UNWIND $messages AS id MATCH (m:Episode {id: id}) "
    "CALL (m) { MATCH (m)-[r:MENTIONS]->() RETURN count(r) AS entities } "
    "CALL (m) { OPTIONAL MATCH (f:Fact)-[:FROM]->(m) RETURN count(f) AS facts } "
    "CALL (m) { OPTIONAL MATCH (d:Decision)-[:FROM]->(m) RETURN count(d) AS decisions } "
    "RETURN m.id AS id, entities, facts, decisions ORDER BY id"
)
RECALL = (
    "MATCH (e:Entity) WHERE toLower($question) CONTAINS e.key WITH e ORDER BY size(e.key) DESC LIMIT 1 "
    "CALL (e) { MATCH (e)<-[:ABOUT]-(f:Fact) WHERE f.validTo IS NULL WITH f ORDER BY f.validFrom, f.text "
    "RETURN collect({fact: f.text, session: f.session}) AS facts } "
    "CALL (e) { MATCH (e)<-[:ABOUT]-(d:Decision) WHERE d.validTo IS NULL "
    "OPTIONAL MATCH (d)-[:SUPERSEDES*1..5]->(old:Item) WITH d, old ORDER BY d.validFrom, d.text, old.validFrom DESC "
    "WITH d, collect(old.text) AS replaced "
    "RETURN collect({decision: d.text, rationale: d.rationale, session: d.session, replaced: replaced}) AS decisions } "
    "CALL (e) { MATCH (e)<-[:ABOUT]-(f:Fact) WHERE f.validTo IS NOT NULL WITH f ORDER BY f.validFrom, f.text "
    "RETURN collect(f.text) AS history } "
    "CALL (e) { MATCH (e)<-[:ABOUT]-(x:Item)-[:ABOUT]->(o:Entity) WHERE x.validTo IS NULL AND o.key <> e.key "
    "MATCH (o)<-[:ABOUT]-(g:Fact) WHERE g.validTo IS NULL AND NOT EXISTS { MATCH (g)-[:ABOUT]->(e) } "
    "RETURN collect(DISTINCT {entity: o.name, fact: g.text}) AS nearby } "
    "RETURN e.name AS entity, e.kind AS kind, facts, decisions, history, nearby"
)


@pytest.fixture(params=["as written", "renamed"])
def memory(repo: Repo, request: pytest.FixtureRequest) -> Told:
    told = telling(repo, MEMORY, request.param)
    told.apply(1)
    return told


def test_the_seven_calls_answer_as_the_page_recorded_them(memory: Told) -> None:
    of = memory.of.of
    second = memory.sessions[1]
    question = f"What do you remember about the {of(SERVICE)}?"
    before = counts(memory)

    async def seven(client: Client) -> list[Any]:
        async def cypher(statement: str, **parameters: Any) -> Any:
            return (await ask(client, "read_cypher", statement=statement, parameters=parameters))["rows"]

        return [
            await cypher(KNOWN_SLOTS),
            (await ask(client, "apply_session", session=second))["sessions"],
            await cypher(COUNTED.format(label="Fact"), session=second["session"]),
            await cypher(COUNTED.format(label="Decision"), session=second["session"]),
            await cypher(SUPERSEDED, session=second["session"]),
            await cypher(REPORT, messages=[of("m5"), of("m6")]),
            await cypher(RECALL, question=question),
            await ask(client, "recall", question=question),
        ]

    slots, [applied], fact, decision, links, report, [row], document = talk(
        memory.repo.path, "--write", "--session", "seven", to=seven
    )
    assert [r["slot"] for r in slots] == sorted(memory.rows([ON_CALL, DATABASE, OWNER, TEAM]))
    assert (applied["status"], sorted(applied["closed"])) == ("applied", sorted(memory.rows(["m1a", "m2a"])))
    # Nodes: the session, two messages, Carol, CockroachDB. Edges: two to the session, six mentions.
    assert grown(before, counts(memory)) == {"Session": 1, "Episode": 2, "Entity": 2, "in session": 2, "MENTIONS": 6}
    assert fact == decision == [{"nodes": 1, "edges": 3}]
    assert links == [{"edges": 2}]
    assert report == [
        {"id": of("m5"), "entities": 3, "facts": 0, "decisions": 1},
        {"id": of("m6"), "entities": 3, "facts": 1, "decisions": 0},
    ]
    facts = [(BUILT, "session-1"), (CONSUMES, "session-1"), (PUBLISHES, "session-1"), (CAROL, "session-2")]
    nearby = [("billing service", BOB_CALL), ("checkout team", BOB_TEAM)]
    expected = {
        "entity": of(SERVICE),
        "kind": of("service"),
        "facts": [{"fact": of(text), "session": of(session)} for text, session in facts],
        "decisions": [
            {"decision": of(COCKROACH), "rationale": of(SLOW), "replaced": [of(POSTGRES)], "session": of("session-2")}
        ],
        "history": [of(ALICE)],
        "nearby": [{"entity": of(name), "fact": of(text)} for name, text in nearby],
    }
    row["nearby"].sort(key=lambda near: near["entity"])  # the page's are in no order
    assert row == expected
    assert expected == {
        "entity": document["entity"],
        "kind": document["kind"],
        "facts": [{"fact": m["text"], "session": m["session"]} for m in document["facts"]],
        "decisions": [
            {
                "decision": m["text"],
                "rationale": m["rationale"],
                "replaced": [old["text"] for old in m["replaced"]],
                "session": m["session"],
            }
            for m in document["decisions"]
        ],
        "history": [item["text"] for item in document["history"]],
        "nearby": [{"entity": near["via"], "fact": near["text"]} for near in document["nearby"]],
    }
    assert [call.status for call in records(memory.repo)] == ["read", "committed", *["read"] * 6]


def counts(told: Told) -> dict[str, int]:
    ledger = Ledger(told.repo.path, clock=lambda: NOW)
    found = ledger.database.read().counts()
    (row,) = ledger.query("MATCH (:Episode)-[r:IN_SESSION]->(:Session) RETURN count(r) AS n").rows
    return {
        **{name: found.get(name, 0) for name in ("Session", "Episode", "Entity", "MENTIONS")},
        "in session": row["n"],
    }


def grown(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {name: after[name] - before[name] for name in after}


# A crowd

STATES = 12
QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "as_of": ("as_of", {"date": "2024-06-01", "entity": "orders"}),
    "whole": ("as_of", {"date": "2024-06-01"}),
    "believed": ("believed", {"date": "2024-06-01", "entity": "orders"}),
    "history": ("history", {"subject": "orders"}),
    "slots": ("slots", {"prefix": "orders/"}),
    "search": ("search", {"words": "runs", "limit": 50}),
    "recall": ("recall", {"question": "what about orders?", "valid": "2024-06-01", "limit": 50}),
    "cypher": (
        "read_cypher",
        {"statement": "MATCH (d:Decision)-[:ABOUT]->(:Entity {key: $key}) RETURN d.id, d.validTo ORDER BY d.id",
         "parameters": {"key": "orders"}},
    ),
}  # fmt: skip


def step(n: int) -> dict[str, Any]:
    """Each session replaces the database of orders, and adds an item beside it."""
    return {
        "session": f"step-{n:02}",
        "at": f"2024-03-{n + 1:02}T09:00:00Z",
        "decisions": [
            {"id": f"db{n:02}", "text": f"orders runs on number {n}", "slot": "orders/database", "about": ["orders"]},
            {"id": f"by{n:02}", "text": f"beside it runs {n}", "about": ["orders"]},
        ],
    }


def test_200_calls_four_at_a_time_beside_a_writer_answer_right_and_are_all_on_record(
    repo: Repo, tmp_path: Path
) -> None:
    """Each answer is that of one of the states, and in no lane does a later one tell of an earlier state."""
    files = [repo.write(step(n)) for n in range(STATES)]
    other = type(repo)(tmp_path / "other", repo.capture)
    other.path.mkdir()
    other.run("init")

    async def all_(client: Client) -> dict[str, Any]:
        return {name: await ask(client, tool, **given) for name, (tool, given) in QUESTIONS.items()}

    async def states(client: Client) -> list[dict[str, Any]]:
        found = []
        for n in range(STATES + 1):
            found.append(await all_(client))
            if n < STATES:
                await ask(client, "apply_session", session=step(n))
        return found

    expected = talk(other.path, "--write", to=states)
    for name in QUESTIONS:
        assert len({json.dumps(state[name]) for state in expected}) == STATES + 1, name

    lanes: list[list[tuple[str, Any]]] = [[] for _ in range(4)]

    async def crowd(client: Client) -> None:
        async def lane(n: int) -> None:
            rng = random.Random(n)
            for _ in range(50):
                name = rng.choice(list(QUESTIONS))
                tool, given = QUESTIONS[name]
                lanes[n].append((name, await ask(client, tool, **given)))

        async def write() -> None:
            for n, file in enumerate(files, 1):
                command = [sys.executable, "-m", "ledger_cli", "session", "apply", str(file)]
                await anyio.run_process(command, cwd=repo.path, env=environment())
                while sum(map(len, lanes)) < n * 200 // (STATES + 1):  # so that it writes all along
                    await anyio.sleep(0.01)

        async with anyio.create_task_group() as group:
            group.start_soon(write)
            for n in range(4):
                group.start_soon(lane, n)

    talk(repo.path, "--session", "crowd", to=crowd)
    seen: set[int] = set()
    for answers in lanes:
        last = 0
        for name, answer in answers:
            (state,) = [n for n, one in enumerate(expected) if one[name] == answer]
            assert state >= last, "an answer tells of an earlier state than one before it"
            last = state
            seen.add(state)
    assert len(seen) > STATES // 2, "the writer was done before anybody asked, or came after all had"
    found = [call for call in records(repo) if call.session == "crowd"]
    assert [call.seq for call in sorted(found, key=lambda call: call.seq)] == list(range(1, 201))
    assert {call.status for call in found} == {"read"}
    asked = sorted(QUESTIONS[name][0] for answers in lanes for name, _ in answers)
    assert sorted(call.tool for call in found) == asked
    for call in found:
        if call.tool == "history":
            assert len(call.touched) == (call.rows + 1 if call.rows else 0)  # its items, and orders


def test_writes_from_several_hands_at_a_time_are_each_done_once(repo: Repo) -> None:
    def session(n: int) -> dict[str, Any]:
        return {"session": f"w{n}", "facts": [{"id": f"w{n}", "text": f"fact {n}", "about": [f"thing {n % 3}"]}]}

    async def write(client: Client) -> None:
        async def one(n: int) -> None:
            await ask(client, "apply_session", session=session(n % 20))  # each twice

        async with anyio.create_task_group() as group:
            for n in range(40):
                group.start_soon(one, n)

    talk(repo.path, "--write", "--session", "hands", to=write)
    assert {row["session"] for row in repo.run("session", "list", "--json").json["sessions"]} == {
        f"w{n}" for n in range(20)
    }
    found = records(repo)
    assert [call.status for call in found] == ["committed"] * 40
    wrote = [call.touched for call in found if call.touched]
    assert sorted(wrote) == sorted((f"entity thing {n % 3}", f"fact w{n}") for n in range(20))
    assert repo.run("check", "--json").json["ok"] is True


# What is offered, and what is refused


def test_a_server_offers_no_writing_tool_unless_it_is_told_to(story: Repo) -> None:
    async def listed(client: Client) -> list[Any]:
        refused = await client.call_tool("apply_session", {"session": step(0)})
        return [(await client.list_tools()).tools, refused.is_error]

    reading, refused = talk(story.path, to=listed)
    assert refused
    assert "step-00" not in {row["session"] for row in story.run("session", "list", "--json").json["sessions"]}
    writing, refused = talk(story.path, "--write", to=listed)
    assert not refused
    assert {tool.name for tool in writing} - {tool.name for tool in reading} == {"apply_session", "reject", "end"}
    assert all(tool.annotations.read_only_hint for tool in reading)
    assert {tool.name for tool in writing if not tool.annotations.read_only_hint} == {"apply_session", "reject", "end"}


def test_hostile_calls_get_an_error_and_the_next_call_an_answer(story: Repo) -> None:
    hostile: list[tuple[str, dict[str, Any]]] = [
        ("read_cypher", {"statement": "CREATE (:X)"}),
        ("read_cypher", {"statement": "LOAD CSV FROM '/etc/passwd' AS row RETURN row"}),
        ("read_cypher", {"statement": "RETURN 1", "parameters": {"x": [[[]] * 1000] * 100}, "limit": 10**30}),
        ("recall", {"question": "x" * 5_000_000}),
        ("recall", {"question": {"$ne": None}}),
        ("search", {"words": "'; DROP TABLE items; --", "limit": -1}),
        ("as_of", {"date": "../../etc/passwd"}),
        ("__init__", {}),
        ("history", {"subject": "\u202e\u0000"}),
    ]
    before = story.checkpoint.read_bytes()

    async def attack(client: Client) -> list[Any]:
        said = [await client.call_tool(tool, given) for tool, given in hostile]
        return [said, await ask(client, "as_of", date="2024-01-20", entity="orders")]

    said, after = talk(story.path, to=attack)
    for (tool, given), answer in zip(hostile, said, strict=True):
        if tool == "history":
            assert not answer.is_error  # nobody is called so, and that is an answer
            continue
        assert answer.is_error, (tool, str(given)[:60])
        (text,) = [content.text for content in answer.content]
        assert text and len(text) <= 2_000 and "Traceback" not in text
    assert [item["id"] for item in after["items"]] == ["d4"]
    assert story.checkpoint.read_bytes() == before


def message(id: int, method: str, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


HELLO = message(
    0, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "raw", "version": "1"}
)
READY = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})


def raw(root: Path, lines: list[str], *options: str, answers: int) -> tuple[list[Any], str, int]:
    """Write lines to a server's stdin as they are; its stdout, a message a line, its stderr and its exit code."""
    with subprocess.Popen(
        [sys.executable, "-c", LAUNCH, "serve", *options], cwd=root, env=environment(), text=True, encoding="utf-8",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write("".join(line + "\n" for line in lines))
        process.stdin.flush()
        out = [process.stdout.readline() for _ in range(answers)]
        process.stdin.close()
        out += process.stdout.readlines()
        return [json.loads(line) for line in out if line], process.stderr.read(), process.wait(30)


def test_stdout_carries_the_protocol_and_nothing_else(story: Repo) -> None:
    lines = [
        HELLO,
        READY,
        "this is no JSON",
        "[" * 5_000,
        '{"jsonrpc": "2.0", "id": 1}',
        "\u0000\ufffe",
        message(2, "tools/call", name="as_of", arguments={"date": "2024-01-20", "entity": "oders"}),
        message(
            3, "tools/call", name="read_cypher", arguments={"statement": "MATCH (d:Decision) RETURN count(d) AS n"}
        ),
        message(4, "tools/call", name="check", arguments={}),
        message(5, "no/such/method"),
    ]
    said, err, code = raw(story.path, lines, answers=5)
    assert code == 0
    assert all(one["jsonrpc"] == "2.0" for one in said)
    by_id = {one.get("id"): one for one in said}
    assert by_id[0]["result"]["serverInfo"]["name"] == "ledger"
    assert "did you mean orders?" in by_id[2]["result"]["content"][1]["text"]
    assert json.loads(by_id[3]["result"]["content"][0]["text"]) == {"rows": [{"n": 8}]}
    assert json.loads(by_id[4]["result"]["content"][0]["text"])["ok"] is True
    assert "error" in by_id[5]
    assert "bug" not in err


def test_a_call_says_beside_its_arguments_what_led_to_it_and_its_number(story: Repo) -> None:
    async def calls(client: Client) -> Any:
        meta: Any = {"ledger/ask": "Which database?", "ledger/seq": 41}
        await client.call_tool("as_of", {"date": "now"}, meta=meta)
        return await client.call_tool("as_of", {"date": "now"}, meta=meta)

    again = talk(story.path, "--session", "s/1", to=calls)
    assert again.is_error and "call 41 of session s/1 is on record already" in again.content[0].text
    (call,) = records(story)
    assert (call.session, call.seq, call.ask, call.ts) == ("s/1", 41, "Which database?", 1780315200000)
    assert story.run("trace", "export").out == "wrote snapshots/calls/s%2F1.jsonl with 1 call\n"


def test_the_session_of_the_calls_is_named_by_the_time_or_is_none(story: Repo) -> None:
    async def call(client: Client) -> Any:
        return await ask(client, "slots")

    talk(story.path, to=call)
    talk(story.path, "--no-trace", to=call)
    assert [one.session for one in records(story)] == ["serve-2026-06-01T12:00:00Z"]


def test_without_a_ledger_or_with_a_bad_session_it_does_not_start(story: Repo, tmp_path: Path) -> None:
    for root, options, why in (
        (tmp_path, [], "there is no ledger in"),
        (story.path, ["--session", "a\nb"], "the session of calls holds a control character"),
        (story.path, ["--session", "x", "--no-trace"], "--no-trace puts none there"),
    ):
        said, err, code = raw(root, [HELLO], *options, answers=0)
        assert (said, code) == ([], 2 if "Usage" in err else 1)
        assert why in err


def test_without_the_sdk_it_says_how_to_get_it(story: Repo) -> None:
    code = f"import sys\nsys.modules['mcp'] = None\n{LAUNCH}"
    done = subprocess.run(
        [sys.executable, "-c", code, "serve"],
        cwd=story.path, env=environment(), capture_output=True, text=True, input="", check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: the MCP SDK cannot be imported: ")
    assert done.stderr.endswith("  hint: pip install 'ledger-cli[mcp]'\n")
