"""One entry <-> one line: what is written, and all that is refused when read."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger_cli.lines import line, number, parse_line
from ledger_cli.model import Ending, Entity, Episode, Item, Link, Review, Target

DATA = Path(__file__).parent / "data"
JAN, FEB = datetime(2024, 1, 10, tzinfo=UTC), datetime(2024, 2, 1, 9, tzinfo=UTC)

FULL = Item(
    kind="decision",
    id="d4",
    text="orders uses mysql",
    valid_from=JAN,
    recorded_at=FEB,
    session="s2",
    valid_to=datetime(2024, 12, 31, 12, 0, 0, 250_000, tzinfo=UTC),
    rationale="the read replicas need it",
    slot="orders/database",
    about=("mysql", "orders"),
    evidence=("e3", "e4"),
    confidence=0.9,
    corrects="d3",
    by="sam",
)
FULL_LINE = (
    '{"decision": "d4", "text": "orders uses mysql", "rationale": "the read replicas need it", '
    '"slot": "orders/database", "about": ["mysql", "orders"], "from": ["e3", "e4"], "confidence": 0.9, '
    '"corrects": "d3", "validFrom": "2024-01-10T00:00:00Z", "validTo": "2024-12-31T12:00:00.25Z", '
    '"recordedAt": "2024-02-01T09:00:00Z", "by": "sam", "session": "s2"}'
)
AT = '"recordedAt": "2024-02-01T09:00:00Z"'
EVERY_KIND = [
    (FULL, FULL_LINE),
    (
        Item("fact", "f1", ".", JAN, FEB, "s2"),
        '{"fact": "f1", "text": ".", "validFrom": "2024-01-10T00:00:00Z", ' + AT + ', "session": "s2"}',
    ),
    (
        Episode("e3", "tool_call", "read_file", FEB, "s2", mentions=("orders",), at=JAN),
        '{"episode": "e3", "kind": "tool_call", "text": "read_file", "mentions": ["orders"], '
        '"at": "2024-01-10T00:00:00Z", ' + AT + ', "session": "s2"}',
    ),
    (
        Episode("e3", "message", "a\n\tb", FEB, "s2"),
        '{"episode": "e3", "kind": "message", "text": "a\\n\\tb", ' + AT + ', "session": "s2"}',
    ),
    (Entity("orders", "service", FEB, "s2"), '{"entity": "orders", "kind": "service", ' + AT + ', "session": "s2"}'),
    (Link("d1", "d4", FEB, "s2"), '{"supersedes": "d1", "with": "d4", ' + AT + ', "session": "s2"}'),
    (
        Link("d1", "d4", FEB, "s2", "sam"),
        '{"supersedes": "d1", "with": "d4", ' + AT + ', "by": "sam", "session": "s2"}',
    ),
    (
        Ending("d5", JAN, "sam", FEB, "s2", "gone"),
        '{"ends": "d5", "validTo": "2024-01-10T00:00:00Z", "by": "sam", "reason": "gone", ' + AT + ', "session": "s2"}',
    ),
    (
        Ending("d5", JAN, "sam", FEB, "s2"),
        '{"ends": "d5", "validTo": "2024-01-10T00:00:00Z", "by": "sam", ' + AT + ', "session": "s2"}',
    ),
    (
        Review("rejects", Target("d6"), "sam", "fast enough", FEB, "s3"),
        '{"rejects": "d6", "by": "sam", "reason": "fast enough", ' + AT + ', "session": "s3"}',
    ),
    (
        Review("reinstates", Target("d1", new="d4"), "sam", "same", FEB, "s3"),
        '{"reinstates": {"supersedes": "d1", "with": "d4"}, "by": "sam", "reason": "same", '
        + AT
        + ', "session": "s3"}',
    ),
    (
        Review("rejects", Target("d5", ending=True), "sam", "not gone", FEB, "s3"),
        '{"rejects": {"ends": "d5"}, "by": "sam", "reason": "not gone", ' + AT + ', "session": "s3"}',
    ),
]


@pytest.mark.parametrize(("entry", "text"), EVERY_KIND)
def test_an_entry_is_one_line_and_back(entry, text):
    assert line(entry) == text
    assert parse_line(text) == entry


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.9, "0.9"),
        (1.0, "1"),
        (1, "1"),
        (0.0, "0"),
        (-0.0, "0"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1e-4, "0.0001"),
        (1e-6, "0.000001"),
        (1.5e-5, "0.000015"),
        (1e-7, "1e-7"),
        (1.25e-10, "1.25e-10"),
        (5e-324, "5e-324"),
    ],
)
def test_a_number_is_written_with_the_fewest_digits(value, text):
    assert number(value) == text
    assert float(text) == value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.1, 1.1])
def test_a_confidence_outside_of_0_to_1_is_never_written(value):
    with pytest.raises(ValueError, match="between 0 and 1"):
        number(value)


@given(st.floats(0, 1))
def test_every_confidence_reads_back(value):
    entry = Item("fact", "f1", "t", JAN, FEB, "s", confidence=value)
    assert parse_line(line(entry)) == entry


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t")).filter(str.strip))
def test_text_is_kept_byte_for_byte(text):
    entry = Item("fact", "f1", text, JAN, FEB, "s", rationale=text)
    assert parse_line(line(entry).encode().decode()) == entry


@given(st.datetimes(timezones=st.just(UTC)))
def test_every_instant_reads_back(at):
    entry = Entity("orders", "service", at, "s")
    assert parse_line(line(entry)) == entry


def without(text, key):
    return re.sub(rf', "{key}": (\[[^]]*\]|"[^"]*"|[^,}}]*)', "", text)


REFUSED = [
    ("", "not JSON"),
    ("{", "not JSON"),
    ("{}", "one JSON object"),
    ("[]", "one JSON object"),
    ('"decision"', "one JSON object"),
    ('["decision"]', "one JSON object"),
    ("null", "one JSON object"),
    ("7", "one JSON object"),
    ("[" * 100_000, "not JSON"),
    (FULL_LINE + " ", "more in the line"),
    (FULL_LINE + FULL_LINE, "more in the line"),
    (FULL_LINE.replace('"decision"', '"idea"'), "first key.*'idea'"),
    (FULL_LINE.replace('"about"', '"sujet"'), "unknown key 'sujet'"),
    (FULL_LINE.replace('"text": ', '"text": "x", "text": '), "'text' stands twice"),
    (FULL_LINE.replace('"decision": "d4"', '"decision": "d4", "decision": "d4"'), "'decision' stands twice"),
    (FULL_LINE.replace('"decision": "d4"', '"decision": "d4", "fact": "d4"'), "unknown key 'fact'"),
    *((without(FULL_LINE, key), f"`{key}` is missing") for key in ("text", "validFrom", "recordedAt", "session")),
    (FULL_LINE.replace('"sam"', "null"), "`by` is not a string"),
    (FULL_LINE.replace('"orders uses mysql"', "7"), "`text` is not a string"),
    (FULL_LINE.replace('"d3"', "true"), "`corrects` is not a string"),
    (FULL_LINE.replace('"d3"', '["d3"]'), "`corrects` is not a string"),
    (FULL_LINE.replace('["mysql", "orders"]', '"orders"'), "`about` is not a list"),
    (FULL_LINE.replace('["mysql", "orders"]', "[]"), "`about` is not a list"),
    (FULL_LINE.replace('["mysql", "orders"]', "null"), "`about` is not a list"),
    (FULL_LINE.replace('["mysql", "orders"]', '{"mysql": 1}'), "`about` is not a list"),
    (FULL_LINE.replace('["mysql", "orders"]', '["mysql", 7]'), "`about` is not a list"),
    (FULL_LINE.replace('["mysql", "orders"]', '[["mysql"]]'), "`about` is not a list"),
    (FULL_LINE.replace('["mysql", "orders"]', '["orders", "mysql"]'), r'`about`.*write \["mysql", "orders"\]'),
    (FULL_LINE.replace('["mysql", "orders"]', '["MySQL", "mysql"]'), r'`about`.*write \["MySQL"\]'),
    (FULL_LINE.replace('["mysql", "orders"]', '["my  sql"]'), r'`about`.*write \["my sql"\]'),
    (FULL_LINE.replace('["mysql", "orders"]', '[" orders"]'), "`about`"),
    (FULL_LINE.replace('["mysql", "orders"]', '["u\u0308"]'), "`about`.*normal form C"),
    (FULL_LINE.replace('["mysql", "orders"]', '["a\u00a0b"]'), "`about`"),
    (FULL_LINE.replace('["mysql", "orders"]', '[""]'), "`about` is empty"),
    (FULL_LINE.replace('["e3", "e4"]', '["e4", "e3"]'), r'`from` is not sorted; write \["e3", "e4"\]'),
    (FULL_LINE.replace('["e3", "e4"]', '["e3", "e3"]'), r'`from` is not sorted; write \["e3"\]'),
    (FULL_LINE.replace("orders/database", " orders/database"), "the slot"),
    (FULL_LINE.replace("orders/database", "orders\\tdatabase"), r"`slot` holds.*U\+0009"),
    (FULL_LINE.replace("orders/database", ""), "`slot` is empty"),
    (FULL_LINE.replace('"d4"', '"d\\n4"'), r"`decision` holds.*U\+000A"),
    (FULL_LINE.replace('"d4"', '""'), "`decision` is empty"),
    (FULL_LINE.replace('"d4"', '"e\u0301"'), "`decision`.*normal form C"),
    (FULL_LINE.replace('"s2"', '"A\u030a"'), "`session`.*normal form C"),
    (FULL_LINE.replace("orders uses", "orders\\u0000uses"), r"`text` holds.*U\+0000"),
    (FULL_LINE.replace("orders uses", "orders\\ruses"), r"`text` holds.*U\+000D"),
    (FULL_LINE.replace("orders uses", "orders\\buses"), r"`text` holds.*U\+0008"),
    (FULL_LINE.replace("orders uses", "orders\x7fuses"), r"`text` holds.*U\+007F"),
    (FULL_LINE.replace("orders uses", "orders\x85uses"), r"`text` holds.*U\+0085"),
    (FULL_LINE.replace("orders uses", "orders\ruses"), "not JSON: Invalid control character"),
    (FULL_LINE.replace("orders uses", "\\ud800"), "`text` holds a lone surrogate"),
    (FULL_LINE.replace("orders uses", "\ud800"), "lone surrogate"),
    (FULL_LINE.replace("orders uses", "\\u006frders"), "spacing, escapes or digits"),
    (FULL_LINE.replace("orders uses", "\\ud83d\\ude00"), "spacing, escapes or digits"),
    (FULL_LINE.replace("orders/", "orders\\/"), "spacing, escapes or digits"),
    (FULL_LINE.replace('": "d4"', '":"d4"'), "spacing, escapes or digits"),
    (FULL_LINE.replace('": "d4", ', '": "d4",  '), "spacing, escapes or digits"),
    (FULL_LINE.replace("0.9", "0.90"), "spacing, escapes or digits"),
    (FULL_LINE.replace("0.9", "9e-1"), "spacing, escapes or digits"),
    (FULL_LINE.replace("0.9", "1.0"), "spacing, escapes or digits"),
    (FULL_LINE.replace("0.9", "-0"), "spacing, escapes or digits"),
    (FULL_LINE.replace("0.9", "NaN"), "`confidence`.*nan"),
    (FULL_LINE.replace("0.9", "Infinity"), "`confidence`.*inf"),
    (FULL_LINE.replace("0.9", "1e400"), "`confidence`.*inf"),
    (FULL_LINE.replace("0.9", "1" * 5000), "not JSON that an entry may hold"),
    (FULL_LINE.replace("0.9", "1" * 400), "`confidence`"),
    (FULL_LINE.replace("0.9", "1.1"), "`confidence`"),
    (FULL_LINE.replace("0.9", "-0.1"), "`confidence`"),
    (FULL_LINE.replace("0.9", "true"), "`confidence`"),
    (FULL_LINE.replace("0.9", '"0.9"'), "`confidence`"),
    (FULL_LINE.replace("0.9", "null"), "`confidence`"),
    (FULL_LINE.replace("2024-01-10T00:00:00Z", "2024-01-10"), "`validFrom` is written 2024-01-10T00:00:00Z"),
    (FULL_LINE.replace("2024-01-10T00:00:00Z", "2024-01-10T00:00:00"), "`validFrom`.*no offset"),
    (FULL_LINE.replace("2024-01-10T00:00:00Z", "2024-01-10T01:00:00+01:00"), "`validFrom` is written"),
    (FULL_LINE.replace("2024-01-10T00:00:00Z", "2024-01-10t00:00:00z"), "`validFrom` is written"),
    (FULL_LINE.replace("2024-01-10T00:00:00Z", "2024-13-10T00:00:00Z"), "`validFrom`.*does not exist"),
    (FULL_LINE.replace("12:00:00.25Z", "12:00:00.250Z"), "`validTo` is written 2024-12-31T12:00:00.25Z"),
    (FULL_LINE.replace("12:00:00.25Z", "23:59:60Z"), "leap second"),
    (FULL_LINE.replace('"2024-01-10T00:00:00Z"', "1704844800"), "`validFrom` is not a string"),
    (FULL_LINE.replace("2024-12-31T12:00:00.25Z", "2024-01-10T00:00:00Z"), "`validTo` is not after `validFrom`"),
    (FULL_LINE.replace("2024-12-31T12:00:00.25Z", "2023-01-10T00:00:00Z"), "`validTo` is not after `validFrom`"),
    (FULL_LINE.replace('"by": "sam", "session": "s2"', '"session": "s2", "by": "sam"'), "not in their order"),
    ('{"entity": " orders", "kind": "service", ' + AT + ', "session": "s2"}', "the name ' orders'"),
    ('{"rejects": {}, "by": "sam", "reason": "r", ' + AT + ', "session": "s"}', "`rejects` is not one of"),
    ('{"rejects": {"ends": 7}, "by": "sam", "reason": "r", ' + AT + ', "session": "s"}', "`rejects` is not one of"),
    ('{"rejects": {"ends": ["d"]}, "by": "sam", "reason": "r", ' + AT + ', "session": "s"}', "`rejects` is not one of"),
    ('{"rejects": {"supersedes": "a"}, "by": "s", "reason": "r", ' + AT + ', "session": "s"}', "`rejects` is not"),
    (
        '{"rejects": {"with": "b", "supersedes": "a"}, "by": "s", "reason": "r", ' + AT + ', "session": "s"}',
        "`rejects` is not",
    ),
    (
        '{"rejects": {"ends": "a", "ends": "a"}, "by": "s", "reason": "r", ' + AT + ', "session": "s"}',
        "`rejects` is not",
    ),
    ('{"reinstates": ["a"], "by": "s", "reason": "r", ' + AT + ', "session": "s"}', "`reinstates` is not"),
    ('{"rejects": {"ends": "a\\n"}, "by": "s", "reason": "r", ' + AT + ', "session": "s"}', r"`rejects`.*U\+000A"),
    ('{"rejects": "a", "reason": "r", ' + AT + ', "session": "s"}', "`by` is missing"),
]


@pytest.mark.parametrize(("text", "why"), REFUSED)
def test_a_line_that_is_not_canonical_is_refused_with_a_sentence(text, why):
    with pytest.raises(ValueError, match=why):
        parse_line(text)


SEEN = [
    (FULL_LINE.replace('"d4"', '"d\u200b4"'), r"`decision` 'd\\u200b4' holds U\+200B, which does not show"),
    (FULL_LINE.replace("orders/database", "a\u202eb"), r"`slot` .* holds U\+202E"),
    (FULL_LINE.replace('"s2"', '"\u2060"'), r"`session` '\\u2060' shows nothing: it is made of U\+2060"),
    (FULL_LINE.replace('"sam"', '"\u200b"'), "`by` .* shows nothing"),
    (FULL_LINE.replace('["mysql", "orders"]', '["\u00ad"]'), "`about` .* shows nothing"),
    (FULL_LINE.replace('["e3", "e4"]', '["e\ufeff"]'), r"`from` .* holds U\+FEFF"),
    (FULL_LINE.replace('"d4"', '"' + "x" * 201 + '"'), "`decision` 'x{59}…' has 201 characters; write at most 200"),
    (FULL_LINE.replace('"sam"', '"' + "x" * 201 + '"'), "`by` 'x{59}…' has 201 characters; write at most 200"),
    (FULL_LINE.replace("orders/database", "x" * 201), "`slot` 'x{59}…' has 201 characters"),
    ('{"rejects": {"ends": "\u200b"}, "by": "sam", "reason": "r", ' + AT + ', "session": "s"}', "`rejects` .* nothing"),
]


@pytest.mark.parametrize(("text", "why"), SEEN)
def test_ids_slots_and_names_show_and_have_an_end(text, why):
    with pytest.raises(ValueError, match=why):
        parse_line(text)


def test_texts_keep_what_does_not_show_and_have_no_end():
    for text in ("\u200b", "a\u202eb", "x" * 10_000):
        entry = Item("fact", "f1", text, JAN, FEB, "s", rationale=text, about=("x" * 200,), slot="y" * 200)
        assert parse_line(line(entry)) == entry


@given(st.data())
def test_what_is_read_is_what_would_be_written(data):
    """Whatever is done to a line: it is refused, or it is a canonical line."""
    text = data.draw(st.sampled_from([text for _, text in EVERY_KIND]))
    at = data.draw(st.integers(0, len(text) - 1))
    put = data.draw(st.text(st.sampled_from('"\\,:{}[]0159eZd \n\u0301\x85\u00fc'), max_size=3))
    mutated = text[:at] + put + text[at + data.draw(st.integers(0, 12)) :]
    try:
        entry = parse_line(mutated)
    except ValueError as fault:
        assert str(fault)
    else:
        assert line(entry) == mutated


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


JCS = ["arrays", "french", "structures", "unicode", "values", "weird"]
FILES = ["blns.json", *(f"jcs/{name}.{side}.json" for name in JCS for side in ("input", "output"))]


@pytest.mark.parametrize("name", FILES)
def test_published_strings_round_trip_or_are_refused_by_name(name):
    """RFC 8785's vectors and the big list of naughty strings, each as the text of an item."""
    content = json.loads((DATA / name).read_text(encoding="utf-8"))
    for text in {*strings(content)}:
        entry = Item("fact", "f1", text, JAN, FEB, "s")
        written = line(entry)
        if re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", text):
            with pytest.raises(ValueError, match=r"control character U\+00|surrogate"):
                parse_line(written)
        elif not text.strip(" \t\n"):
            with pytest.raises(ValueError, match="`text` is empty"):
                parse_line(written)
        else:
            assert parse_line(written.encode().decode()) == entry
            assert json.loads(written)["text"] == text
