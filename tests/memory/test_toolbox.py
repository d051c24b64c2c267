"""The tools of the server without the protocol: same answers as the commands, readable refusals, bounded, read-only."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from ledger_cli.ledger import Ledger
from ledger_cli.memory import arguments, toolbox
from ledger_cli.memory.call_store import Calls
from ledger_cli.memory.toolbox import LIMIT, Reply, Toolbox, bounded
from ledger_cli.memory.tools import TOOLS
from ledger_cli.store.graph import Graph
from ledger_cli.views import as_json
from tests.conftest import NOW, ROOT, Repo

if TYPE_CHECKING:
    from collections.abc import Callable

READING = ["recall", "as_of", "believed", "history", "slots", "search", "check", "read_cypher", "get_schema"]
WRITING = ["apply_session", "reject", "end"]


@pytest.fixture
def box(story: Repo) -> Callable[..., Toolbox]:
    def make(**options: Any) -> Toolbox:
        ledger = Ledger(story.path, clock=lambda: NOW)
        return Toolbox(ledger, as_json, **{"session": "s1", **options})

    return make


def tree(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


SAME: list[tuple[str, dict[str, Any], list[str]]] = [
    ("recall", {"question": "what about orders?", "valid": "2024-03-01"},
     ["recall", "what about orders?", "--valid", "2024-03-01"]),
    ("recall", {"question": "caching", "known": "2024-02-10", "limit": 2, "budget": 100},
     ["recall", "caching", "--known", "2024-02-10", "-n", "2", "--budget", "100"]),
    ("as_of", {"date": "2024-01-20", "entity": "orders"}, ["as-of", "orders", "2024-01-20"]),
    ("as_of", {"date": "now"}, ["as-of", "now"]),
    ("believed", {"date": "2024-02-10"}, ["believed", "2024-02-10"]),
    ("believed", {"date": "2024-02-10", "known": ["now", "2024-02-10"], "entity": "orders"},
     ["believed", "orders", "2024-02-10", "--known", "now", "--known", "2024-02-10"]),
    ("history", {"subject": "orders"}, ["history", "orders"]),
    ("history", {"subject": "d1"}, ["history", "d1"]),
    ("slots", {}, ["slots"]),
    ("slots", {"prefix": "orders/"}, ["slots", "orders/"]),
    ("search", {"words": "redis orders", "limit": 2}, ["search", "redis", "orders", "-n", "2"]),
    ("check", {}, ["check"]),
    ("read_cypher", {"statement": "MATCH (d:Decision) RETURN d.id AS id, d.validFrom AS at ORDER BY id"},
     ["query", "MATCH (d:Decision) RETURN d.id AS id, d.validFrom AS at ORDER BY id"]),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "given", "words"), SAME, ids=lambda value: str(value)[:40])
def test_a_tool_answers_what_its_command_prints(
    story: Repo, box: Callable[..., Toolbox], tool: str, given: dict[str, Any], words: list[str]
) -> None:
    said = story.run(*words, "--json")
    assert box().call(tool, given) == Reply((said.out,))


def test_what_the_command_says_on_stderr_comes_beside_the_answer(story: Repo, box: Callable[..., Toolbox]) -> None:
    said = story.run("as-of", "oders", "2024-01-20", "--json")
    assert box().call("as_of", {"date": "2024-01-20", "entity": "oders"}) == Reply((said.out, said.err.strip()))
    cut = box().call("read_cypher", {"statement": "UNWIND range(1, 9) AS n RETURN n", "limit": 3})
    assert (len(json.loads(cut.texts[0])["rows"]), cut.texts[1]) == (3, "note: cut at 3 rows")


def test_the_writing_tools_do_as_their_commands_do(story: Repo, box: Callable[..., Toolbox]) -> None:
    other = Repo(story.path.parent / "other", story.capture)
    other.path.mkdir()
    other.run("init")
    other.run("session", "apply", *sorted((ROOT / "sessions").glob("*.yaml")))
    session = {"session": "more", "facts": [{"text": "three regions", "about": ["payments"]}]}
    writing = box(write=True)
    calls = [
        ("apply_session", {"session": session}, ["session", "apply", other.write(session)]),
        ("apply_session", {"session": session}, ["session", "apply", other.write(session)]),
        ("reject", {"id": "d4", "by": "sam", "reason": "no"}, ["reject", "d4", "--by", "sam", "--reason", "no"]),
        ("end", {"id": "d5", "on": "2026-07-01", "by": "mia"}, ["end", "d5", "--on", "2026-07-01", "--by", "mia"]),
    ]
    for tool, given, words in calls:
        assert writing.call(tool, given) == Reply((other.run(*words, "--json").out,)), tool
    assert story.checkpoint.read_bytes() == other.checkpoint.read_bytes()
    assert [call.status for call in Calls(writing.ledger.database).all()] == ["committed"] * 4


def test_a_session_may_be_given_as_yaml(box: Callable[..., Toolbox]) -> None:
    said = box(write=True).call("apply_session", {"session": "session: more\nfacts: [{text: three regions}]\n"})
    assert json.loads(said.texts[0])["sessions"][0]["added"] == ["more/f1"]


def test_a_server_reads_only_unless_it_is_told_otherwise(story: Repo, box: Callable[..., Toolbox]) -> None:
    assert list(box().tools) == READING
    assert list(box(write=True).tools) == READING + WRITING
    before = tree(story.path)
    for tool in WRITING:
        said = box().call(tool, {"id": "d4", "by": "sam", "reason": "no", "on": "2026-07-01", "session": {}})
        assert said == Reply(
            (f"{tool} writes, and this server only reads\nhint: it was started without --write",), is_error=True
        )
    after = tree(story.path)
    assert {name for name in after if after[name] != before.get(name)} <= {
        "snapshots/.store/calls/lock",
        "snapshots/.store/calls/s1.jsonl",
    }


def test_reading_writes_nothing_but_the_record_and_without_a_trace_nothing(
    story: Repo, box: Callable[..., Toolbox]
) -> None:
    story.run("slots")
    before = tree(story.path)
    for tool, given, _ in SAME:
        box(session=None).call(tool, given)
    assert tree(story.path) == before
    for tool, given, _ in SAME:
        box().call(tool, given)
    after = tree(story.path)
    new = {name for name in after if after[name] != before.get(name)}
    assert new == {"snapshots/.store/calls/lock", "snapshots/.store/calls/s1.jsonl"}
    assert story.git("status", "--short", "snapshots").strip() == "?? snapshots/"


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("frobnicate", {}, "there is no tool 'frobnicate'\nhint: there are: recall, as_of"),
    ("recall", {}, "question is missing: The question, in words."),
    ("recall", {"question": "   "}, "question: is empty"),
    ("recall", {"question": None}, "question is missing: The question, in words."),
    ("recall", {"question": "q" * 10_001}, "question: has 10001 characters, and may have 10000"),
    ("recall", {"question": "a\ud800"}, "question: holds half a character"),
    ("recall", {"question": "q", "limit": 0}, "limit: 0 is no whole number from 1 to 1000"),
    ("recall", {"question": "q", "limit": True}, "limit: True is no whole number"),
    ("recall", {"question": "q", "limit": 1.5}, "limit: 1.5 is no whole number"),
    ("recall", {"question": "q", "limit": 10**40}, "limit: 1000"),
    ("recall", {"question": "q", "valid": "monday"}, "valid: 'monday' is not a time; write YYYY-MM-DD"),
    ("recall", {"question": ["q"]}, "is no text"),
    ("as_of", {"date": "2024-02-30"}, "date: '2024-02-30' does not exist"),
    ("as_of", {"date": "2024-02-01T09:00:00"}, "has no offset; add Z"),
    ("as_of", {"date": 3, "when": 1}, "there is no argument 'when'; there are: date, entity\ndate: 3 is no text"),
    ("believed", {"date": "now", "known": "now"}, "known: 'now' is no list of at most 100 texts"),
    ("believed", {"date": "now", "known": ["now"] * 101}, "is no list of at most 100 texts"),
    ("believed", {"date": "now", "known": [1]}, "known: 1 is no text"),
    ("read_cypher", {"statement": "CREATE (:X)"}, "a query only reads, and this one writes; nothing was changed"),
    ("read_cypher", {"statement": "MATCH (n) DETACH DELETE n"}, "this one writes"),
    ("read_cypher", {"statement": "LOAD CSV FROM '/etc/passwd' AS r RETURN r"}, "LOAD CSV is refused"),
    ("read_cypher", {"statement": "LO\\u0041D CSV FROM '/etc/passwd' AS r RETURN r"}, "LOAD CSV is refused"),
    ("read_cypher", {"statement": "RETURN 1; RETURN 2"}, "a query is one statement"),
    ("read_cypher", {"statement": "RETURN 1", "parameters": [1]}, "parameters: [1] is no object"),
    ("read_cypher", {"statement": "x" * 20_001}, "statement: has 20001 characters"),
    ("history", {"subject": "x" * 201}, "subject: has 201 characters"),
    ("check", {"x" * 500: 1}, "there is no argument 'xxx"),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "given", "why"), REFUSED, ids=lambda value: str(value)[:40])
def test_what_a_tool_does_not_take_is_refused_in_a_sentence_and_on_record(
    box: Callable[..., Toolbox], tool: str, given: dict[str, Any], why: str
) -> None:
    made = box()
    said = made.call(tool, given)
    (text,) = said.texts
    assert said.is_error and why in text and len(text) <= 2_000
    assert "Traceback" not in text and "Error" not in text
    (call,) = Calls(made.ledger.database).all()
    assert (call.tool, call.status) == (tool, "rolled_back")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"session": 3}, "session: 3 is no session"),
        ({"session": {}}, "session"),
        ({"session": {"session": "x", "facts": [{"txt": "no"}], "more": 1}}, "txt"),
        ({"session": "session: x\nfacts: [{text: a, about: [b}]"}, ""),
        ({"session": "[" * 50_000}, ""),
        ({"session": {"session": "x", "at": "2020-01-01", "facts": [{"text": "late"}]}}, "backdated"),
        ({"session": {"session": "session-1", "facts": [{"text": "other"}]}}, "session-1"),
        ({"session": {"session": "x", "facts": [{"text": "a", "confidence": float("inf")}]}}, ""),
    ],
    ids=str,
)
def test_a_session_that_is_refused_writes_nothing(
    story: Repo, box: Callable[..., Toolbox], given: dict[str, Any], why: str
) -> None:
    before = story.checkpoint.read_bytes()
    said = box(write=True).call("apply_session", given)
    assert said.is_error and why in said.texts[0] and "bug" not in said.texts[0]
    assert story.checkpoint.read_bytes() == before


def test_arguments_of_any_size_are_refused_and_their_size_is_on_record(box: Callable[..., Toolbox]) -> None:
    made = box(write=True)
    said = made.call("apply_session", {"session": "x" * 3_000_000})
    assert said.is_error and "may have 1000000" in said.texts[0]
    (call,) = Calls(made.ledger.database).all()
    assert call.arguments == {"omitted": "3000015 characters"}


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("trace", ["s1", None], ids=["traced", "untraced"])
@pytest.mark.parametrize(
    ("value", "why"),
    [
        (nested(200), "nested more than 100 deep"),
        (nested(50_000), "nested more than 100 deep"),
        (10**5000, "too many digits"),
        (-(10**5000), "too many digits"),
        (float("nan"), "no JSON value"),
    ],
    ids=["deep", "bottomless", "long", "long and negative", "no number"],
)
def test_arguments_that_no_reader_of_json_would_take_are_refused_and_the_record_can_be_read(
    box: Callable[..., Toolbox], trace: str | None, value: Any, why: str
) -> None:
    made = box(write=True, session=trace)
    for tool, given in (
        ("recall", {"question": "orders", "limit": value}),
        ("recall", {"question": value}),
        ("read_cypher", {"statement": "RETURN $a AS a", "parameters": {"a": value}}),
        ("apply_session", {"session": {"session": "x", "facts": [{"text": "a", "confidence": value}]}}),
    ):
        said = made.call(tool, given)
        assert said.is_error and why in said.texts[0] and "bug" not in said.texts[0]
    assert "x" not in {row.id for row in made.ledger.sessions()}
    found = Calls(made.ledger.database).all()
    assert [call.status for call in found] == ["rolled_back"] * (0 if trace is None else 4)
    assert all(why in call.arguments["omitted"] for call in found)


def test_a_tool_of_a_hostile_name_is_on_record_without_it(box: Callable[..., Toolbox]) -> None:
    made = box()
    for name in ("x" * 10_000, "a\nb", "\u200b", "", "../../etc"):
        assert made.call(name, {}).is_error
    assert [c.tool for c in Calls(made.ledger.database).all()] == ["unknown", "a\nb", "unknown", "unknown", "../../etc"]


def test_a_call_that_is_sent_again_with_its_number_is_refused(story: Repo, box: Callable[..., Toolbox]) -> None:
    made = box(write=True)
    session = {"session": "a", "facts": [{"text": "one"}]}
    assert not made.call("apply_session", {"session": session}, ask="Tell it.", seq=7).is_error
    again = made.call("apply_session", {"session": {**session, "session": "b"}}, seq=7)
    assert again.is_error and again.texts[0].startswith("call 7 of session s1 is on record already")
    assert "b" not in {row.id for row in made.ledger.sessions()}
    (call,) = Calls(made.ledger.database).all()
    assert (call.seq, call.ask) == (7, "Tell it.")


@pytest.mark.parametrize("seq", ["7", 0, -1, True, 1.0, 1.5, 2**53, 10**5000, {}, [1]], ids=lambda seq: repr(type(seq)))
def test_a_number_that_is_none_is_refused(box: Callable[..., Toolbox], seq: Any) -> None:
    made = box()
    made.call("slots", {}, seq=1)
    said = made.call("slots", {}, seq=seq)
    assert said.is_error and "has to be a whole number" in said.texts[0]


def test_a_bug_is_an_error_that_says_so(box: Callable[..., Toolbox], monkeypatch: pytest.MonkeyPatch) -> None:
    made = box()

    def broken(*_: Any) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(Graph, "slot_items", broken)
    said = made.call("slots", {})
    assert said.is_error and said.texts[0].endswith("ZeroDivisionError: oh")
    (call,) = Calls(made.ledger.database).all()
    assert call.error == "ZeroDivisionError: oh"


def test_a_ledger_that_is_written_to_for_too_long_is_said_to_be_busy(box: Callable[..., Toolbox]) -> None:
    made = box(write=True)
    made.ledger.database.timeout = 0.05
    with made.ledger.database.generations.lock(1):
        said = made.call("reject", {"id": "d4", "by": "sam", "reason": "no"})
    assert said.is_error and "another process is writing to this ledger" in said.texts[0]


# Bounds


def test_an_answer_is_cut_behind_the_last_element_that_fits(repo: Repo) -> None:
    facts = [{"id": f"f{n:04}", "text": "x" * 40, "about": ["things"]} for n in range(400)]
    repo.apply({"session": "many", "at": "2024-01-01", "facts": facts})
    made = Toolbox(Ledger(repo.path, clock=lambda: NOW), as_json, session=None)
    text, note = made.call("as_of", {"date": "2024-02-01"}).texts
    whole = repo.run("as-of", "2024-02-01", "--json").json
    shown = json.loads(text)
    n = len(shown["items"])
    assert 0 < n < 400 and shown == {**whole, "items": whole["items"][:n]}
    assert len(text) <= LIMIT < len(as_json.render({**whole, "items": whole["items"][: n + 1]}))
    assert note == f"note: cut to {LIMIT} characters: {n} of 400 items are here; ask for less"


@pytest.mark.parametrize("limit", [60, 200, 1000, 10_000])
def test_an_answer_never_has_more_characters_than_the_limit(limit: int) -> None:
    values = [
        {"a": ["x" * 30] * 100, "b": ["y" * 70] * 3, "c": "z"},
        {"a": "x" * 20_000},
        {"rows": [{"t": "x" * 50_000}, {"t": "y"}]},
        {"a": [[["deep"] * 9] * 9] * 9},
        {},
    ]
    for value in values:
        text, note = bounded(value, as_json, limit)
        assert len(text) <= limit
        assert bool(note) == (text != as_json.render(value))


# What is told


def test_the_schema_of_the_arguments_is_one_and_says_what_is_refused() -> None:
    for tool in TOOLS:
        schema = arguments.schema(tool.arguments)
        jsonschema.Draft202012Validator.check_schema(schema)
        assert all(property["description"] for property in schema["properties"].values())
        assert tool.what.endswith(".")
    validators = {t.name: jsonschema.Draft202012Validator(arguments.schema(t.arguments)) for t in TOOLS}
    for tool, given, _ in SAME:
        validators[tool].validate(given)
    told = [
        (tool, given) for tool, given, why in REFUSED if tool in validators and ("is no " in why or "is missing" in why)
    ]
    assert len(told) > 5
    assert not any(validators[tool].is_valid(given) for tool, given in told)


def test_the_schema_of_the_graph_is_what_queries_see(story: Repo, box: Callable[..., Toolbox]) -> None:
    made = box()
    found = json.loads(made.call("get_schema", {}).texts[0])
    labels = {node["label"]: node["properties"] for node in found["nodes"]}
    for label, names in labels.items():
        rows = made.ledger.query(f"MATCH (n:{label}) RETURN n LIMIT 50").rows
        found_names = {key for row in rows for key in row["n"]["properties"]}
        assert found_names - {"id"} <= set(names), label  # the engine gives every node an id
    types = {name for r in found["relationships"] for name in r["type"].split("|")}
    assert {what for what in found["counts"] if what.isupper()} <= types
    assert found["counts"]["Decision"] == 8


def test_each_call_takes_the_time_of_the_ledgers_clock(story: Repo) -> None:
    times = iter(datetime(2030, 1, day, tzinfo=UTC) for day in range(1, 9))
    made = Toolbox(Ledger(story.path, clock=lambda: next(times)), as_json, session="s1")
    made.call("check", {})
    assert Calls(made.ledger.database).all()[0].ts == 1893456000000


def test_the_limit_is_the_one_that_is_written_down() -> None:
    assert toolbox.LIMIT == 50_000


def test_a_note_belongs_to_its_own_call(box: Callable[..., Toolbox]) -> None:
    made = box()
    assert len(made.call("as_of", {"date": "now", "entity": "oders"}).texts) == 2
    assert len(made.call("as_of", {"date": "now", "entity": "orders"}).texts) == 1
    assert made.call("as_of", {"date": "now", "entity": "x" * 300}).is_error
    assert len(made.call("slots", {}).texts) == 1


def test_a_server_sees_what_others_wrote_since(story: Repo, box: Callable[..., Toolbox]) -> None:
    made = box()
    for n in range(3):
        story.apply({"session": f"later-{n}", "facts": [{"text": f"three regions, {n}", "about": ["payments"]}]})
        for tool, given in (("recall", {"question": "payments"}), ("search", {"words": "regions"})):
            assert f"three regions, {n}" in made.call(tool, given).texts[0]


class Letters:
    """A model that takes two texts for near when they have the same letters."""

    name = "letters"

    def embed(self, texts: Any) -> list[list[float]]:
        return [[float(text.lower().count(chr(97 + n))) for n in range(26)] for text in texts]


def test_recall_finds_by_meaning_where_the_server_was_given_a_model(box: Callable[..., Toolbox]) -> None:
    def similarities(**options: Any) -> set[bool]:
        found = json.loads(box(**options).call("recall", {"question": "bananas"}).texts[0])
        return {item["similarity"] is None for item in found["items"]}

    assert similarities() <= {True}
    assert similarities(embedder=Letters()) == {False}
