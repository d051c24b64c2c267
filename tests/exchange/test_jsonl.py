"""JSON Lines: an entry a line, and every fault by its line."""

from __future__ import annotations

import json

import pytest

from ledger_cli import lines
from ledger_cli.errors import Refused
from ledger_cli.exchange import entries, jsonl
from tests.in_memory import invent


def test_a_line_is_that_of_the_checkpoint_and_they_come_as_they_were_learned() -> None:
    recorded = invent(3, 20).entries
    *written, end = jsonl.write(recorded).splitlines()
    assert json.loads(end) == {"end": "ledger", "entries": len(recorded)}
    assert sorted(written) == sorted(lines.line(entry) for entry in recorded)
    times = [json.loads(line)["recordedAt"] for line in written]
    assert [t.rstrip("Z") for t in times] == sorted(t.rstrip("Z") for t in times)


def test_an_empty_ledger_is_the_end_alone() -> None:
    assert jsonl.write([]) == '{"end": "ledger", "entries": 0}\n'
    assert jsonl.rows("", "x") == jsonl.rows("\n \n", "x") == []


def test_every_line_that_is_no_record_is_named() -> None:
    text = '{"a": 1}\nnot\n[1]\n\n{"a": 1, "a": 2}\n{"a": NaN}\n'
    with pytest.raises(Refused) as fault:
        jsonl.rows(text, "x.jsonl")
    assert str(fault.value).splitlines() == [
        "x.jsonl:2: not JSON: Expecting value (column 1)",
        "x.jsonl:3: not a record: a line is one JSON object",
        "x.jsonl:5: not a record: the key 'a' stands twice",
        "x.jsonl:6: not a record: NaN is not a number of JSON",
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"text": "a", "confidence": ' + "9" * 5000 + "}", "it holds a number of too many digits"),
        ('{"text": ' + "[" * 100_000 + "]" * 100_000 + "}", "it is nested too deeply"),
        ('{"a": {"\\u001b": 1, "\\u001b": 2}}', "the key '\\x1b' stands twice"),
    ],
)
def test_what_python_does_not_read_is_told_in_words(line: str, said: str) -> None:
    with pytest.raises(Refused) as fault:
        jsonl.rows(f"{line}\n", "x")
    assert str(fault.value) == f"x:1: not a record: {said}"


def test_a_file_full_of_faults_tells_the_first_of_them() -> None:
    with pytest.raises(Refused) as fault:
        jsonl.rows("no\n" * 100, "x")
    assert str(fault.value).splitlines()[-1] == "x: and 80 more"


LINK = {"supersedes": "a", "with": "b", "recordedAt": "2024-01-01T00:00:00Z", "session": "s"}


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({}, "it needs one of"),
        (LINK | {"ends": "a"}, "and has supersedes and ends"),
        (LINK | {"by": 7}, "`by` is not a string"),
        (LINK | {"why": "x"}, "unknown key 'why'"),
        (LINK | {"recordedAt": "2024-01-01"}, ""),
        (LINK | {"recordedAt": "yesterday"}, "'yesterday' is not a time"),
        (LINK | {"session": " s"}, "white space around it"),
        (
            {"rejects": {"supersedes": "a"}, "by": "s", "reason": "r"} | {"recordedAt": "2024-01-01", "session": "s"},
            "`rej",
        ),
    ],
)
def test_an_object_that_is_no_entry_says_why(stated: dict[str, object], said: str) -> None:
    if not said:  # a time in another form is the same time
        assert entries.entry(stated) == entries.entry(LINK)
        return
    with pytest.raises(ValueError, match=said):
        entries.entry(stated)
