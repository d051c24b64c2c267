"""A call and its line: one value, one spelling, and nothing that is no call."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger_cli.memory import calls
from ledger_cli.memory.calls import CallRefused, Node, ToolCall, file_stem, line, parse, plain, touched

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
NODES = st.builds(Node, st.sampled_from(["decision", "fact", "episode", "entity"]), st.text(min_size=1, max_size=8))
READS = st.builds(
    ToolCall,
    session=st.sampled_from(["s1", "die Sitzung/1", "Ω-9"]),
    seq=st.integers(1, 10**9),
    tool=st.sampled_from(["recall", "read_cypher"]),
    status=st.sampled_from(["read", "committed"]),
    ts=st.integers(-62_135_596_800_000, 253_402_300_799_999),
    ask=st.text(),
    rows=st.integers(0, 10**6),
    touched=st.lists(NODES, max_size=4).map(touched),
    arguments=VALUES,
    took=st.floats(0, 1e9).map(lambda ms: round(ms, 3)),
)


@given(READS)
def test_a_line_is_read_back_as_the_call_it_was_written_from(call: ToolCall) -> None:
    said = line(call)
    assert "\n" not in said and said.encode()
    assert parse(said) == call
    assert line(parse(said)) == said


def test_a_line_has_its_keys_in_one_order_and_leaves_out_what_is_empty() -> None:
    call = ToolCall(
        "s1", 7, "remember", "committed", 1772442420000, ask="Do it.", rows=1, arguments={"b": 1, "a": [True, None]},
        touched=touched([Node("fact", "f1"), Node("entity", "kafka"), Node("fact", "f1")]), took=12.0,
    )  # fmt: skip
    assert line(call) == (
        '{"call": 7, "session": "s1", "tool": "remember", "status": "committed", "rows": 1, '
        '"touched": ["entity kafka", "fact f1"], "ask": "Do it.", "arguments": {"a": [true, null], "b": 1}, '
        '"ts": 1772442420000, "took": 12}'
    )
    failed = ToolCall("s1", 1, "recall", "rolled_back", 0, error="no")
    assert line(failed) == (
        '{"call": 1, "session": "s1", "tool": "recall", "status": "rolled_back", "rows": 0, "error": "no", '
        '"ts": 0, "took": 0}'
    )


def test_the_order_in_which_arguments_were_given_does_not_count() -> None:
    one, other = ({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1})
    assert line(ToolCall("s", 1, "t", "read", 0, arguments=one)) == line(
        ToolCall("s", 1, "t", "read", 0, arguments=other)
    )


def test_half_a_character_is_escaped_and_read_back() -> None:
    call = ToolCall("s", 1, "t", "read", 0, arguments={"q": "a\ud800b", "e": "𝒳"})
    assert r"a\ud800b" in line(call) and "𝒳" in line(call)
    assert parse(line(call)) == call


GOOD = json.loads(line(ToolCall("s1", 1, "recall", "read", 5)))


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("{", "Expecting"),
        ("[]", "no JSON object"),
        ("[" * 100_000, "nested too deeply"),
        (json.dumps({**GOOD, "ts": 5.5}), "whole number"),
        (json.dumps({**GOOD, "took": -1}), "milliseconds"),
        (json.dumps({**GOOD, "took": 10**400}), "milliseconds"),
        (json.dumps({**GOOD, "ask": ["x"]}), "are texts"),
        (json.dumps({**GOOD, "status": "rolled_back", "error": {"a": 1}}), "are texts"),
        (json.dumps({**GOOD, "status": []}), "no status"),
        (json.dumps({**GOOD, "touched": [["fact f1"]]}), "are texts"),
        (json.dumps({**GOOD, "touched": ["fact f1", "entity a"]}), "not in order"),
        (json.dumps({**GOOD, "touched": ["thing f1"]}), "names no item"),
        (json.dumps({**GOOD, "touched": 3}), "not iterable"),
        (json.dumps({**GOOD, "more": 1}), "canonical"),
        (json.dumps(GOOD, indent=1), "canonical"),
        (json.dumps({key: GOOD[key] for key in sorted(GOOD)}), "canonical"),
        (json.dumps({key: value for key, value in GOOD.items() if key != "tool"}), "has no 'tool'"),
    ],
)
def test_what_is_no_line_of_a_call_is_refused(said: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse(said)


@given(st.text(min_size=1, max_size=20).filter(lambda text: not re.search("[\ud800-\udfff]", text)))
def test_the_name_of_a_file_holds_nothing_but_letters_digits_and_two_marks_and_tells_the_session(id: str) -> None:
    stem = file_stem(id)
    assert re.fullmatch(r"(?:[A-Za-z0-9_-]|%[0-9A-F]{2})+", stem)
    assert unquote(stem) == id


@pytest.mark.parametrize(
    ("id", "why"),
    [
        ("", "shows nothing"),
        (" ", "shows nothing"),
        ("a\nb", "control character"),
        ("a\ud800", "control character"),
        (" a", "not written canonically"),
        ("x" * 201, "201 characters"),
        ("日" * 84, "too long for the name of a file: 756"),
        ("../../etc/passwd", ""),
        ("日" * 27, ""),
    ],
)
def test_a_session_that_makes_no_file_is_refused_by_name(id: str, why: str) -> None:
    assert why in calls.fault_of_session(id)
    assert bool(calls.fault_of_session(id)) == bool(why)


def test_arguments_from_python_become_json() -> None:
    at = datetime(2024, 2, 1, 9, tzinfo=timezone(timedelta(hours=2)))
    assert plain({"at": at.astimezone(UTC), "on": at.date(), "ids": ("a", 1, None)}) == {
        "at": "2024-02-01T07:00:00Z",
        "on": "2024-02-01",
        "ids": ["a", 1, None],
    }


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), object(), b"bytes", {1, 2}], ids=lambda v: type(v).__name__
)
def test_what_is_no_json_value_is_refused(value: Any) -> None:
    with pytest.raises(CallRefused, match="no JSON value"):
        plain({"x": value})
