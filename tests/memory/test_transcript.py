"""Chats as messages: JSON lines, a JSON list, plain text; every fault at once, with its line."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger_cli.instant import show
from ledger_cli.memory import transcript
from ledger_cli.memory.transcript import Message, TranscriptError
from ledger_cli.names import fault_of_name, is_seen


def read(text: str, source: str = "chat.jsonl", **options: Any) -> list[Message]:
    return list(transcript.read(text.encode("utf-8", "surrogatepass"), source, **options))


def faults(data: str | bytes, source: str = "chat.jsonl") -> list[str]:
    with pytest.raises(TranscriptError) as refusal:
        transcript.read(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data, source)
    return [str(problem) for problem in refusal.value.problems]


def lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


# JSON


def test_every_key_that_counts_is_read() -> None:
    text = lines(
        {"role": "user", "content": "one", "at": "2026-03-02T10:00:00+01:00", "id": "m1", "name": " Ada  L "},
        {"role": "assistant", "content": "two"},
    )
    nine = datetime(2026, 3, 2, 9, tzinfo=UTC)
    assert read(text) == [Message(1, "user", "one", nine, "m1", "Ada L"), Message(2, "assistant", "two")]


@pytest.mark.parametrize(
    ("role", "read_as"),
    [
        ("system", "system"),
        ("developer", "system"),
        ("user", "user"),
        ("human", "user"),
        ("assistant", "assistant"),
        ("tool", "tool"),
        ("function", "tool"),
    ],
)
def test_roles_of_other_makers_are_known(role: str, read_as: str) -> None:
    assert [m.role for m in read(lines({"role": role, "content": "x"}))] == [read_as]


def test_contents_in_parts_are_their_texts_and_what_is_no_text_is_named() -> None:
    said: list[str] = []
    parts = [
        {"type": "text", "text": "one"},
        {"type": "image_url", "image_url": {"url": "x"}},
        {"type": "input_text", "text": "two"},
        "three",
    ]
    found = read(lines({"role": "user", "content": parts, "model": "m"}), say=said.append)
    assert [m.content for m in found] == ["one\ntwo\nthree"]
    assert said == [
        "note: chat.jsonl: not read: 'content of type image_url', 'model' "
        "(read are role, content, at, id, name, and text)"
    ]


def test_messages_that_say_nothing_are_counted_and_left() -> None:
    text = lines(
        {"role": "assistant", "content": None, "tool_calls": [{}]},
        {"role": "user", "content": " \n"},
        {"role": "tool", "content": "42", "tool_call_id": "c"},
    )
    said: list[str] = []
    assert [(m.number, m.content) for m in read(text, say=said.append)] == [(3, "42")]
    assert said == []


def test_a_list_is_read_as_its_lines_would_be() -> None:
    records = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    for text in (json.dumps(records), json.dumps(records, indent=2), "\n [\n" + json.dumps(records)[1:] + "\n"):
        for source in ("chat.json", "stdin", "chat.txt"):
            assert read(text, source) == read(lines(*records))


def test_all_faults_of_json_lines_come_at_once_with_their_lines() -> None:
    text = "\n".join(
        [
            '{"role": "user", "content": "fine", "id": "m1"}',
            "",
            '{"role": "robot", "content": 7}',
            '{"content": "x"}',
            '{"role": "user", "content": "x", "at": "2026-03-02T09:00:00"}',
            '{"role": "user", "content": "x", "at": 1772442000}',
            '{"role": "user", "content": "x", "id": "m1"}',
            '{"role": "user", "content": "x", "id": ""}',
            '{"role": "user", "content": "x", "name": "\\u200b"}',
            '{"role": "user", "content": "a\\u0007b"}',
            '{"role": "user", "content": "a\\ud800b"}',
            '{"role": "user", "content": [{"type": "text"}, 5]}',
            "not json",
            "[1]",
        ]
    )
    found = faults(text)
    assert [line.split(": ")[0] for line in found] == [
        f"chat.jsonl:{n}" for n in (3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12, 13, 14)
    ]
    for n, what in enumerate(
        [
            "'role' must be one of system, developer, user, human, assistant, tool, function, not 'robot'",
            "'content' must be text or a list of parts, not 7",
            "not null",
            "'2026-03-02T09:00:00' has no offset; add Z for UTC",
            "'at' must be text, not 1772442000",
            "'id' 'm1' is given twice, first on line 1",
            "'' is no id",
            "shows nothing",
            "U+0007, a control character",
            "U+D800, half a character",
            "a part of type text must have a 'text', not null",
            "a part of 'content' must be an object with a 'type', not 5",
            "not JSON: Expecting value",
            "must be an object with 'role' and 'content'",
        ]
    ):
        assert what in found[n]


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ('[{"role": "user", "content": "x"}', 1, "the list of messages has no end"),
        ('[\n{"role": "user", "content": "x"}\n{"role"', 3, "the list of messages has no end"),
        ('[\n{"role": "user", "content": "x"},\n nope]', 3, "not JSON: Expecting value"),
        ('[{"role": "user", "content": "x"}] and more', 1, "'and more' behind the list of messages"),
        ("[]", 1, "the chat holds no message"),
        ("", 1, "the chat holds no message"),
        ("\n \n", 1, "the chat holds no message"),
        ('{"role": "user", "content": ""}', 1, "the chat holds no message"),
        ("[" * 100_000, 1, "nested too deeply"),
        ('{"role": "user", "content": ' + "9" * 5000 + "}", 1, "a number of too many digits"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_json_that_is_none_is_named(text: str, where: int, what: str) -> None:
    [found] = faults(text)
    assert found.startswith(f"chat.jsonl:{where}: ")
    assert what in found


def test_bytes_that_are_no_text_are_named_with_their_line() -> None:
    assert faults(b'{"role": "user", "content": "a"}\n\xff\n') == [
        "chat.jsonl:2: not UTF-8 (byte 0xff); save the chat as UTF-8"
    ]


def test_line_ends_and_marks_of_other_systems_are_no_text() -> None:
    text = "\ufeff" + lines({"role": "user", "content": "a\r\nb"}).replace("\n", "\r\n")
    assert [m.content for m in read(text)] == ["a\nb"]


# Plain text

PLAIN = """\
Ada: Alice owns the orders service.
It was built for checkout:
  - see https://example.invalid/x: y
  - what we found in the end is this: nothing

assistant: Noted.
[2026-03-02T09:04:00Z] Bob: It uses Postgres.
USER:
on several
lines
Bot:
"""


def test_a_plain_transcript_is_read_with_what_goes_on_below() -> None:
    said: list[str] = []
    first = (
        "Alice owns the orders service.\nIt was built for checkout:\n  - see https://example.invalid/x: y\n"
        "  - what we found in the end is this: nothing"
    )
    found = read(PLAIN.replace("It was built for checkout:", "It was built, and for the checkout:"), "chat.txt")
    assert [(m.number, m.role, m.name) for m in found] == [
        (1, "user", "Ada"),
        (2, "assistant", None),
        (3, "user", "Bob"),
        (4, "user", None),
    ]
    assert found[0].content == first.replace("It was built for checkout:", "It was built, and for the checkout:")
    assert found[2].at == datetime(2026, 3, 2, 9, 4, tzinfo=UTC)
    assert found[3].content == "\non several\nlines"
    read(PLAIN.replace("It was built for checkout:\n", ""), "chat.txt", say=said.append)
    assert said == ["note: chat.txt: Ada (1), assistant (1), Bob (1), USER (1), Bot (1) speak"]


def test_who_speaks_for_the_model_can_be_told() -> None:
    text = "Claude-ish: hello\nassistant: hi\nAda: ho\n"
    assert [m.role for m in read(text, "c.txt")] == ["user", "assistant", "user"]
    assert [m.role for m in read(text, "c.txt", assistants=["claude-ISH"])] == ["assistant", "assistant", "user"]


def test_faults_of_plain_text_come_at_once_with_their_lines() -> None:
    found = faults("who says this?\nand this?\n[2026-13-01] Ada: x\nBob: a\x07b\n[10:02] Cy: x\n\u200b: x\n", "c.txt")
    assert [line.split(": ")[0] for line in found] == [f"c.txt:{n}" for n in (1, 3, 4, 5, 6)]
    for line, what in zip(
        found,
        ("nobody says this", "'2026-13-01' does not exist", "U+0007", "'10:02' is not a time", "shows nothing"),
        strict=True,
    ):
        assert what in line


# Whatever comes in

TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n\t"), min_size=1).filter(is_seen)
TIMES = st.datetimes(timezones=st.just(UTC))
NAMES = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=20).filter(lambda n: not fault_of_name(n))


@given(st.lists(st.tuples(st.sampled_from(["system", "user", "assistant", "tool"]), TEXTS, TIMES), min_size=1))
def test_messages_written_as_json_are_read_back(messages: list[tuple[str, str, datetime]]) -> None:
    records = [{"role": role, "content": text, "at": show(at)} for role, text, at in messages]
    expected = [(n, *message) for n, message in enumerate(messages, start=1)]
    for text in (lines(*records), json.dumps(records, ensure_ascii=False, indent=1)):
        assert [(m.number, m.role, m.content, m.at) for m in read(text, "stdin")] == expected


def _goes_on(line: str) -> bool:
    """Is this no line that a speaker begins?"""
    return not re.match(r"[^\s\[]", line) or ":" not in line


@given(
    st.lists(
        st.tuples(
            NAMES,
            st.lists(st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"))).filter(_goes_on), max_size=3),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_plain_transcripts_are_read_back(turns: list[tuple[str, list[str]]]) -> None:
    text = "".join(f"{name}: says\n" + "".join(line + "\n" for line in more) for name, more in turns)
    found = read(text, "c.txt")
    assert [m.number for m in found] == list(range(1, len(turns) + 1))
    assert [m.content for m in found] == ["\n".join(["says", *more]).rstrip() for _, more in turns]


FRAGMENTS = st.lists(
    st.sampled_from(
        [
            *('{"role": "user", "content": "a"}', '{"role"', '"content"', ": ", ", ", "[", "]", "{", "}", "null"),
            *("1e999", "\n", "\r\n", "Ada: ", "assistant: ", "[2026-03-02] ", "text", " ", "\t", "\x00"),
            *("\u2028", "\ufeff", "\\u"),
        ]
    )
).map("".join)  # fmt: skip


@given(st.binary() | st.text().map(lambda t: t.encode("utf-8", "surrogatepass")) | FRAGMENTS.map(str.encode),
       st.sampled_from(["c.jsonl", "c.txt", "stdin"]))  # fmt: skip
def test_anything_is_messages_or_faults_with_their_lines(data: bytes, source: str) -> None:
    try:
        found = transcript.read(data, source)
    except TranscriptError as refusal:
        places = [int(p.where.removeprefix(f"{source}:")) for p in refusal.problems]
        assert places == sorted(places) != []
        assert all(1 <= line <= data.count(b"\n") + 1 for line in places)
    else:
        assert found
        assert [m.number for m in found] == sorted({m.number for m in found})
