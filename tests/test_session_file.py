"""Session files: what is read, every fault with its line, and what is written reads back the same."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import unicodedata
from datetime import UTC, datetime
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger_cli import session_file, session_writer
from ledger_cli.errors import SessionFileError
from ledger_cli.model import Target, name_set
from ledger_cli.names import fault_of_id, fault_of_name
from ledger_cli.session_writer import Comments
from ledger_cli.stated import Session, StatedEnding, StatedEntity, StatedEpisode, StatedItem, StatedLink, StatedReview

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "data"
SCHEMA = json.loads((ROOT / "ledger_cli" / "session.schema.json").read_text(encoding="utf-8"))

EXAMPLE = """\
session: session-2                 # id, required, unique
at: 2024-02-01T09:00:00Z           # the session's clock
by: memory-agent
entities:
  - {name: orders, kind: service}
episodes:
  - {id: e3, kind: tool_call, at: 2024-02-01T08:59:00Z, text: "read_file CODEOWNERS", mentions: [orders]}
decisions:
  - id: d4
    text: orders uses mysql
    rationale: the read replicas need it
    slot: orders/database
    about: [orders, mysql]
    validFrom: 2024-01-10
    validTo: 2024-12-31
    supersedes: d1
    corrects: d3
    from: e3
    confidence: 0.9
facts: []
supersessions: [{old: d1, new: d4}]
endings: [{id: d5, validTo: 2024-03-01, by: sam, reason: the service is gone}]
reviews:
  - {reject: d6, by: sam, reason: reads are fast enough}
  - {reject: {old: d1, new: d4}, by: sam, reason: not the same thing}
  - {reject: {end: d5}, by: sam, reason: it was not gone}
  - {reinstate: d6, by: sam, reason: rejected by mistake}
"""


def read(text, source="s.yaml"):
    return session_file.read(text, source)


def one(text, source="s.yaml"):
    (session,) = read(text, source)
    return session


def item(fields, source="s.yaml"):
    """The one decision of a YAML session, from its keys."""
    return one("session: s\ndecisions:\n  - " + "\n    ".join(fields.split("\n"))).items[0]


def problems(text, source="s.yaml"):
    """Every fault of a text as it is shown."""
    with pytest.raises(SessionFileError) as refusal:
        session_file.read(text, source)
    return [str(problem) for problem in refusal.value.problems]


def day(year, month, date):
    return datetime(year, month, date, tzinfo=UTC)


# What is read


def test_every_key_of_the_design_is_read():
    assert one(EXAMPLE) == Session(
        id="session-2",
        at=datetime(2024, 2, 1, 9, tzinfo=UTC),
        by="memory-agent",
        entities=(StatedEntity("orders", "service"),),
        episodes=(
            StatedEpisode(
                "e3", "tool_call", "read_file CODEOWNERS", ("orders",), datetime(2024, 2, 1, 8, 59, tzinfo=UTC)
            ),
        ),
        items=(
            StatedItem(
                "decision",
                "d4",
                text="orders uses mysql",
                rationale="the read replicas need it",
                slot="orders/database",
                about=("mysql", "orders"),
                valid_from=day(2024, 1, 10),
                valid_to=day(2024, 12, 31),
                supersedes=("d1",),
                corrects="d3",
                evidence=("e3",),
                confidence=0.9,
            ),
        ),
        supersessions=(StatedLink("d1", "d4"),),
        endings=(StatedEnding("d5", day(2024, 3, 1), "sam", "the service is gone"),),
        reviews=(
            StatedReview("rejects", Target("d6"), "sam", "reads are fast enough"),
            StatedReview("rejects", Target("d1", new="d4"), "sam", "not the same thing"),
            StatedReview("rejects", Target("d5", ending=True), "sam", "it was not gone"),
            StatedReview("reinstates", Target("d6"), "sam", "rejected by mistake"),
        ),
    )


def test_json_and_yaml_of_one_session_are_the_same_values():
    assert one(json.dumps(as_json(EXAMPLE)), "s.json") == one(EXAMPLE)


def test_everything_knows_its_line_and_its_file():
    session = one(EXAMPLE, "sessions/two.yaml")
    assert session.where(session.items[0].line) == "sessions/two.yaml:9"
    assert [session.line, session.episodes[0].line, session.reviews[2].line] == [1, 7, 26]
    in_json = one('\n{"session": "s",\n "facts": [\n  {"text": "t"},\n  {"text": "u"}]}', "s.json")
    assert [in_json.line, *(i.line for i in in_json.items)] == [2, 4, 5]


def test_a_list_of_sessions_keeps_its_order():
    assert [s.id for s in read("- session: b\n- session: a\n")] == ["b", "a"]
    assert [s.id for s in read('[{"session": "b"}, {"session": "a"}]', "s.json")] == ["b", "a"]


def test_ids_left_out_are_the_place_in_the_list():
    session = one(
        "session: s\nepisodes: [{kind: message, text: hi}, {id: e, kind: message, text: ho}, {kind: m, text: hu}]\n"
        "facts: [{text: f}]\ndecisions: [{text: a}, {id: x, text: b}, {text: c}]\n"
    )
    assert [e.id for e in session.episodes] == ["s/e1", "e", "s/e3"]
    assert [(i.kind, i.id) for i in session.items] == [
        ("decision", "s/d1"),
        ("decision", "x"),
        ("decision", "s/d3"),
        ("fact", "s/f1"),
    ]


@pytest.mark.parametrize(
    "typed",
    ["no", "on", "yes", "1.10", "017", "1_000", "12:30", "0x1F", "1e3", "2024-01-10", "Null", "NULL", "true", ".nan"],
)
def test_a_yaml_scalar_is_the_string_as_typed(typed):
    assert item(f"text: {typed}").text == typed
    assert item(f"text: t\nabout: [{typed}]").about == (typed,)
    assert one(f"session: {typed}").id == typed


def test_the_norwegian_list_stays_a_list_of_words():
    assert item("text: t\nabout: [no, on, yes]").about == ("no", "on", "yes")


@pytest.mark.parametrize("absent", ["null", "~", "", "   # nothing"])
def test_plain_null_tilde_and_nothing_mean_absent(absent):
    decision = item(f"text: t\nrationale: {absent}\nabout: {absent}\nvalidTo: {absent}\nconfidence: {absent}")
    assert decision == item("text: t")
    assert item(f"text: t\nid: {absent}").id == "s/d1"
    assert one(f"session: s\nat: {absent}\ndecisions: {absent}").items == ()


@pytest.mark.parametrize("typed", ['"null"', "'~'", '"NULL"'])
def test_quoted_null_is_text(typed):
    assert item(f"text: {typed}").text == typed[1:-1]


def test_null_in_json_means_absent():
    assert one('{"session": "s", "by": null, "facts": [{"text": "t", "about": null}]}', "s.json").items[0].about is None


def test_a_correction_may_leave_everything_else_out():
    assert item("corrects: d1") == StatedItem("decision", "s/d1", corrects="d1")
    assert item("corrects: d1\nvalidTo: open").valid_to == "open"
    assert item("corrects: d1\nabout: []").about == ()


def test_one_value_stands_for_a_list_of_one():
    decision = item("text: t\nabout: orders\nsupersedes: d1\nfrom: e3")
    assert (decision.about, decision.supersedes, decision.evidence) == (("orders",), ("d1",), ("e3",))
    assert one("session: s\nepisodes: [{kind: k, text: t, mentions: x}]").episodes[0].mentions == ("x",)
    assert item("text: t\nsupersedes: [d2, d1, d2]").supersedes == ("d2", "d1")


@pytest.mark.parametrize(
    ("typed", "value"), [("0.90", 0.9), ("1", 1.0), ("0", 0.0), ("1e-3", 0.001), ("-0", 0.0), ("1E-2", 0.01)]
)
def test_confidence_is_a_number_as_json_writes_it(typed, value):
    assert item(f"text: t\nconfidence: {typed}").confidence == value
    in_json = one(f'{{"session": "s", "facts": [{{"text": "t", "confidence": {typed}}}]}}', "s.json")
    assert in_json.items[0].confidence == value


def test_times_become_instants_in_utc():
    assert one("session: s\nat: 2024-01-10T09:00:00+02:00").at == datetime(2024, 1, 10, 7, tzinfo=UTC)
    assert item("text: t\nvalidFrom: 2024-01-10").valid_from == day(2024, 1, 10)


def test_by_and_kind_stand_on_the_session_or_on_the_part():
    session = one("session: s\nby: sam\nendings: [{id: d1, validTo: 2024-01-01}]\nreviews: [{reject: d1, reason: r}]")
    assert (session.by, session.endings[0].by, session.reviews[0].by) == ("sam", None, None)


def test_ids_names_and_slots_are_nfc_and_names_hold_no_stray_space():
    e_acute = "e\u0301"
    session = one(
        f"session: {e_acute}\nby: Zo{e_acute}\nentities: [{{name: '  caf{e_acute}\n  bar ', kind: x}}]\n"
        f"decisions: [{{id: {e_acute}, text: {e_acute}, slot: ' {e_acute} /  x', "
        f"about: [B, b, {e_acute}], from: {e_acute}}}]"
    )
    decision = session.items[0]
    assert (session.id, session.by, session.entities[0].name) == ("é", "Zoé", "café bar")
    assert (decision.id, decision.slot, decision.about, decision.evidence) == ("é", "é / x", ("B", "é"), ("é",))
    assert decision.text == e_acute, "text is data, kept as it is"


def test_text_is_kept_byte_for_byte():
    text = "\ta  b \n\n  ﬁn \u2028\ufeff\u00a0é e\u0301 :warning: [red] <b>x</b> \U0001f600\U0001fffe "
    assert one(json.dumps({"session": "s", "facts": [{"text": text}]}), "s.json").items[0].text == text
    assert (
        item(
            "text: "
            + json.dumps(text, ensure_ascii=True)
            .replace("\\ud83d\\ude00", "\\U0001F600")
            .replace("\\ud83f\\udffe", "\\U0001FFFE")
        ).text
        == text
    )


def test_crlf_ends_lines_of_the_file_and_is_never_part_of_a_text():
    unix = "session: s\ndecisions:\n- text: |\n    one\n    two\n  about: orders\n"
    assert one(unix.replace("\n", "\r\n")) == one(unix)
    assert problems(unix.replace("about", "abuot").replace("\n", "\r\n"))[0].startswith("s.yaml:6: ")
    assert one(b'{"session":\r\n"s"}', "s.json").id == "s"


def test_files_are_read_by_their_path(tmp_path):
    (tmp_path / "s.JSON").write_bytes(b'{"session": "s"}')
    assert session_file.read_file(tmp_path / "s.JSON")[0].source == str(tmp_path / "s.JSON")
    with pytest.raises(SessionFileError, match=r"none\.yaml: cannot be read: No such file"):
        session_file.read_file(tmp_path / "none.yaml")
    with pytest.raises(SessionFileError, match="cannot be read"):
        session_file.read_file(tmp_path)


@pytest.mark.parametrize(
    "text", ['{"session": "s", "by": "\\ud83d\\ude00"}', '\r\n\t[{"session": "s", "by": "\U0001f600"}]']
)
def test_where_there_is_no_name_to_go_by_json_is_told_by_what_it_is(text):
    [session] = session_file.read(text.encode(), "stdin", guess=True)
    assert session.by == "\U0001f600"


@pytest.mark.parametrize("value", ["true", "3", "NaN"])
def test_guessed_json_is_as_strict_as_named_json(value):
    with pytest.raises(SessionFileError, match=f"'text': {value} is not text; write \"{value}\" in quotes"):
        session_file.read(f'{{"session": "s", "facts": [{{"text": {value}}}]}}', "stdin", guess=True)


@pytest.mark.parametrize("text", ["{session: s, by: no}", "session: s\nby: no", "[{session: s, by: no},]"])
def test_what_is_not_json_is_guessed_to_be_yaml(text):
    [session] = session_file.read(text, "stdin", guess=True)
    assert session.by == "no"


def test_a_name_that_ends_otherwise_is_yaml_whatever_is_in_it():
    [session] = session_file.read('{"session": "s", "by": true}', "s.yaml")
    assert session.by == "true"


# What is refused


FAULTS = {
    # the file
    "": "1: the file holds no session; `ledger session new` writes one",
    "# only a comment\n": "1: the file holds no session",
    "null": "1: the file holds no session",
    "[]": "1: the file holds no session",
    "# none yet\n[ ]\n": "2: the file holds no session",
    "just words": "1: a session must be a mapping",
    "- session: s\n-\n": "2: a session must be a mapping",
    "session: '\n\n": "3: not YAML: found unexpected end of stream while scanning a quoted scalar that starts on",
    "session: [": "1: not YAML: did not find expected node content",
    "session: s\nby: a: b": "2: not YAML: mapping values are not allowed in this context; put text in quotes",
    "session: s\nby: @sam": "2: not YAML: found character that cannot start any token; put text in quotes",
    "session: s\n---\nsession: t": "2: a second document; write the sessions of a file as one list",
    "[" * 500: "1: not a session: nested too deeply",
    "\ufeffsession: s": "1: the file starts with a byte order mark; save it as UTF-8 without one",
    # what YAML would do behind the reader's back
    "session: s\nsession: t": "2: key 'session' is given twice, first on line 1; keep one",
    "session: s\n<<: {by: sam}": "2: merge keys '<<' are not read",
    "session: &a s\nby: sam": "1: anchor '&a'; anchors are not read",
    "session: s\nby: *a": "2: alias '*a'; aliases are not read, write the value out",
    "session: !!python/object:os.system s": "1: tag 'tag:yaml.org,2002:python/object:os.system'; tags are not read",
    "session: !!int 3": "1: tag 'tag:yaml.org,2002:int'; tags are not read",
    "session: ! null": "1: tag '!'; tags are not read",
    "session: s\ndecisions: !x []": "2: tag '!x'; tags are not read",
    "session: s\n? [a]\n: b": "2: a key must be a word, not a list",
    # characters
    'session: s\nby: "\\a"': "2: control character U+0007; only line feed and tab may stand in text",
    'session: s\nby: "a\\rb"': "2: control character U+000D",
    'session: s\nby: "a\\Nb"': "2: control character U+0085",
    "session: s\nby: a\x00b": "2: control character U+0000",
    "session: s\nby: a\rb": "2: control character U+000D",
    "session: s\nby: a\x85b": "2: control character U+0085",
    "session: s\nby: a\u2028by: x": "2: character U+2028, which YAML may not keep; write \"\\u2028\" in double",
    "session: s\n\ufeffby: a": "2: character U+FEFF, which YAML may not keep",
    "session: s\nby: a\ufffe": "2: character U+FFFE, which YAML may not keep",
    "session: s\nby: \ud800": "2: lone surrogate U+D800",
    # keys and shapes
    "by: sam": "1: a session needs 'session'",
    "session: s\ndecisions:\n- text: t\n  validfrom: x": "4: unknown key 'validfrom' in a decision; write 'validFrom'",
    "session: s\nfacts:\n- text: t\n  valid_to: 2024-01-01": "4: unknown key 'valid_to' in a fact; write 'validTo'",
    "session: s\ntitle: t": "2: unknown key 'title' in a session; a session has session, at, by, entities",
    "session: s\nfacts: {text: t}": "2: 'facts': must be a list; write '- ' before a fact",
    "session: s\nfacts: t": "2: 'facts': must be a list",
    "session: s\nfacts:\n- t": "3: a fact must be a mapping with keys such as 'id'",
    "session: s\nfacts:\n-": "3: a fact must be a mapping",
    "session: [s]": "1: 'session': must be one value, not a list",
    "session: s\nby: {a: b}": "2: 'by': must be one value, not a mapping",
    "session: s\nfacts: [{text: t, about: {a: b}}]": "2: 'about': must be one value, not a mapping",
    "session: s\nfacts: [{text: t, about: [a, ~]}]": "2: 'about': an entry of the list is empty",
    # what must be there
    "session: s\nfacts: [{about: x}]": "2: a fact needs 'text'",
    "session: s\nfacts: [{text: ~}]": "2: a fact needs 'text'",
    "session: s\nentities: [{name: x}]": "2: an entity needs 'kind'",
    "session: s\nentities: [{kind: x}]": "2: an entity needs 'name'",
    "session: s\nepisodes: [{text: x}]": "2: an episode needs 'kind'",
    "session: s\nepisodes: [{kind: x}]": "2: an episode needs 'text'",
    "session: s\nsupersessions: [{old: d1}]": "2: a supersession needs 'new'",
    "session: s\nendings: [{id: d1, by: sam}]": "2: an ending needs 'validTo'",
    "session: s\nendings: [{validTo: 2024-01-01, by: sam}]": "2: an ending needs 'id'",
    "session: s\nendings: [{id: d1, validTo: 2024-01-01}]": "2: an ending needs 'by', here or on the session",
    "session: s\nreviews: [{reject: d1, reason: r}]": "2: a review needs 'by', here or on the session",
    "session: s\nreviews: [{reject: d1, by: sam}]": "2: a review needs 'reason'",
    "session: s\nreviews: [{by: sam, reason: r}]": "2: a review needs one of 'reject' and 'reinstate'",
    "session: s\nreviews: [{reject: d1, reinstate: d1, by: sam, reason: r}]": "2: a review needs one of",
    "session: s\nreviews: [{reject: {old: d1}, by: sam, reason: r}]": "2: a link to reject needs 'new'",
    "session: s\nreviews: [{reject: {end: d1, old: d2}, by: sam, reason: r}]": "2: unknown key 'old' in an ending to",
    "session: s\nreviews: [{reject: [d1, d2], by: sam, reason: r}]": "2: 'reject': must be one value, not a list",
    # values
    "session: ''": "1: 'session': '' is empty",
    "session: s\nfacts: [{text: ' \n '}]": "2: 'text': ' ' is empty",
    "session: s\nfacts: [{text: t, rationale: ''}]": "2: 'rationale': '' is empty",
    "session: s\nfacts: [{text: t, rationale: <why>}]": "2: 'rationale': '<why>' is a placeholder; write what it",
    "session: s\nfacts: [{text: t, rationale: 'TODO'}]": "2: 'rationale': 'TODO' is a placeholder; write what it",
    "session: s\nfacts: [{text: t, slot: ' '}]": "2: 'slot': ' ' is empty",
    "session: s\nfacts: [{text: t, about: [a, '']}]": "2: 'about': '' is empty",
    "session: ' s'": "1: 'session': ' s' has white space around it; write 's'",
    'session: "a\\tb"': "1: 'session': 'a\\tb' holds a control character; an id is one line",
    "session: s\nfacts: [{text: t, validTo: open}]": "2: 'validTo': 'open' removes an end in a correction",
    "session: s\nfacts: [{corrects: d1, validFrom: open}]": "2: 'validFrom': 'open' is not a time",
    # numbers
    **{
        f"session: s\nfacts: [{{text: t, confidence: {typed}}}]": f"2: 'confidence': {fault}"
        for typed, fault in {
            "1.1": "1.1 is not from 0 to 1",
            "-0.1": "-0.1 is not from 0 to 1",
            "1e400": "1e400 is not from 0 to 1",
            ".nan": "'.nan' is not a number; write one from 0 to 1, such as 0.9",
            "nan": "'nan' is not a number",
            "inf": "'inf' is not a number",
            "0x1": "'0x1' is not a number",
            ".9": "'.9' is not a number",
            "0_1": "'0_1' is not a number",
            "٠": "'٠' is not a number",
            "high": "'high' is not a number",
            "'0.9'": "'0.9' is text; write a number from 0 to 1 without quotes",
            "[1]": "must be one value, not a list",
        }.items()
    },
    # times
    **{
        f"session: s\nat: {typed}": f"2: 'at': '{typed}' {fault}"
        for typed, fault in {
            "12:30": "is not a time; write YYYY-MM-DD",
            "2024-01-10T09:00:00": "has no offset; add Z for UTC",
            "2024-13-01": "does not exist: month",
            "2024-02-30": "does not exist: day",
            "0000-01-01": "is in year 0",
            "2024-01-10T24:00:00Z": "does not exist: hour",
            "2016-12-31T23:59:60Z": "is a leap second; write 23:59:59",
            "2024-01-10T09:00:00.1234567Z": "has more than six fractional digits",
        }.items()
    },
    # templates
    "session: <id>": "1: 'session': '<id>' is a placeholder; write what it stands for",
    "session: s\nat: yyyy-mm-dd": "2: 'at': 'yyyy-mm-dd' is a placeholder; write a date",
    "session: s\nat: <date>": "2: 'at': '<date>' is a placeholder; write a date",
    "session: s\nfacts: [{text: TODO}]": "2: 'text': 'TODO' is a placeholder",
    "session: s\nfacts: [{text: '{proposed | rejected}'}]": "2: 'text': '{proposed | rejected}' is a placeholder",
    "session: s\nfacts: [{text: {proposed | rejected}}]": "2: 'text': must be one value, not a mapping",
    "session: s\nfacts: [{text: t, about: [<entity>]}]": "2: 'about': '<entity>' is a placeholder",
    "session: s\nendings: [{id: d1, by: sam, validTo: YYYY-MM-DD}]": "2: 'validTo': 'YYYY-MM-DD' is a placeholder",
    # twice
    "session: s\nfacts:\n- {id: x, text: t}\n- {id: x, text: u}": "4: item 'x' is given twice, first on line 3",
    "session: s\nfacts:\n- {id: s/d1, text: t}\ndecisions:\n- {text: u}": "3: item 's/d1' is given twice, first on",
    "session: s\nepisodes:\n- {id: e, kind: k, text: t}\n- {id: e, kind: k, text: t}": "4: episode 'e' is given twice",
    "- session: s\n- session: s": "2: session 's' is given twice, first on line 1; give one another id",
}  # fmt: skip


@pytest.mark.parametrize("text", FAULTS, ids=lambda text: repr(text[:60]))
@pytest.mark.parametrize("loader", ["libyaml", "pure"])
def test_a_fault_is_named_with_its_line(text, loader, monkeypatch):
    expected = FAULTS[text]
    if loader == "pure":
        monkeypatch.delattr(yaml, "CBaseLoader", raising=False)
        expected = re.sub("(not YAML: ).*", r"\1", expected)  # it words a fault of syntax its own way
    assert problems(text)[0].startswith("s.yaml:" + expected)


def test_only_what_is_shared_by_two_kinds_is_a_twin():
    assert one("session: s\nfacts: [{id: x, text: t}]\nepisodes: [{id: x, kind: k, text: t}]").items[0].id == "x"


@pytest.mark.parametrize("typed", ["&a x", "!!str x", "*a"])
def test_nothing_is_shared_or_typed_inside_a_list_either(typed):
    assert len(problems(f"session: s\nfacts: [{{text: t, about: [{typed}]}}]")) == 1


def test_a_billion_laughs_are_refused_at_once():
    bombs = "".join(
        f"{b}: &{b} [{','.join(f'*{a}' for _ in range(9))}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    started = time.perf_counter()
    assert len(problems("a: &a [lol]\n" + bombs)) > 80
    assert time.perf_counter() - started < 5


def test_placeholders_are_text_as_part_of_more():
    assert item("text: use <b> for bold\nrationale: see <why>").rationale == "see <why>"
    assert item("text: '{a} and {b}'").text == "{a} and {b}"


JSON_FAULTS = {
    "": "1: the file holds no session",
    "null": "1: the file holds no session",
    "[]": "1: the file holds no session",
    "3": "1: a session must be a mapping",
    '"s"': "1: a session must be a mapping",
    '{"session": "s",}': "1: not JSON: ",
    '{"session": "s"}\n{"session": "t"}': "2: not JSON: Extra data",
    "{'session': 's'}": "1: not JSON: ",
    "session: s": "1: not JSON: ",
    '\ufeff{"session": "s"}': "1: the file starts with a byte order mark",
    '{"session": "s",\n"session": "t"}': "2: key 'session' is given twice, first on line 1; keep one",
    '{"session": "s",\n"by": 3}': "2: 'by': 3 is not text; write \"3\" in quotes",
    '{"session": "s",\n"by": 1.10}': "2: 'by': 1.10 is not text; write \"1.10\" in quotes",
    '{"session": "s",\n"by": true}': "2: 'by': true is not text",
    '{"session": "s",\n"at": 1700000000}': "2: 'at': 1700000000 is not text",
    '{"session": "s",\n"by": NaN}': "2: 'by': NaN is not text",
    '{"session": "s",\n"facts": [{"text": "t", "confidence": NaN}]}': "2: facts[0]: 'confidence': 'NaN' is not",
    '{"session": "s",\n"facts": [{"text": "t", "confidence": -Infinity}]}': "2: facts[0]: 'confidence': '-Infinity'",
    '{"session": "s",\n"facts": [{"text": "t", "confidence": 1e400}]}': "2: facts[0]: 'confidence': 1e400 is not from",
    '{"session": "s",\n"facts": [{"text": "t", "confidence": true}]}': "2: facts[0]: 'confidence': 'true' is not",
    '{"session": "s",\n"facts": [{"text": "t", "confidence": "0.9"}]}': "2: facts[0]: 'confidence': '0.9' is text",
    '{"session": "s",\n"by": "\\ud800"}': "2: lone surrogate U+D800; it is half a character, write the whole one",
    '{"session": "s",\n"by": "\\u0000"}': "2: control character U+0000",
    '{"session": "s",\n"by": "a\x01"}': "2: control character U+0001",
    '{"session": "s",\n"by\\u0007": "a"}': "2: control character U+0007",
    '{"session": "s",\n"<<": {}}': "2: merge keys '<<' are not read",
    "[" * 100_000: "1: not a session: nested too deeply",
    '{"session": ' + "9" * 5000 + "}": "1: 'session': 9999",
}  # fmt: skip


@pytest.mark.parametrize("text", JSON_FAULTS, ids=lambda text: repr(text[:60]))
def test_a_fault_in_json_is_named_with_its_line(text):
    assert problems(text, "s.json")[0].startswith("s.json:" + JSON_FAULTS[text])


def test_faults_of_one_line_of_json_are_told_apart_by_their_places():
    decisions = [{"id": "a", "text": "t"}, {"id": "a", "text": ""}, {"about": ["x", 3], "wrong": 1}]
    text = json.dumps(
        [{"session": "s"}, {"session": "t", "decisions": decisions, "reviews": [{"reject": {"old": "a"}}]}]
    )
    assert problems(text, "s.json") == [
        "s.json:1: [1].decisions[1]: 'text': '' is empty; write something or leave the key out",
        "s.json:1: [1].decisions[2]: unknown key 'wrong' in a decision; a decision has " + ", ".join(session_file.ITEM),
        "s.json:1: [1].decisions[2]: a decision needs 'text' (or 'corrects', to take over another's)",
        "s.json:1: [1].decisions[2].about[1]: 'about': 3 is not text; write \"3\" in quotes",
        "s.json:1: [1].decisions[1]: item 'a' is given twice, first at [1].decisions[0]; give one another id",
        "s.json:1: [1].reviews[0].reject: a link to reject needs 'new'",
        "s.json:1: [1].reviews[0]: a review needs 'by', here or on the session: who says so",
        "s.json:1: [1].reviews[0]: a review needs 'reason'",
    ]


def test_what_a_json_session_states_knows_its_place_in_the_file():
    session = one('{"session": "s", "facts": [{"text": "t"}, {"text": "u"}]}', "s.json")
    assert session.where(session.items[1].line) == "s.json:1: facts[1]"
    assert session.where(session.line) == "s.json:1"
    assert one(EXAMPLE).where(one(EXAMPLE).items[0].line) == "s.yaml:9"


# Ids, slots and names


UNSEEN = {
    "zero width": "\u200b",
    "soft hyphen": "\u00ad",
    "joiners": "\u200d\u200c",
    "filler": "\u3164",
    "two": "\u2060 \u2060",
}


@pytest.mark.parametrize("key", ["session", "by", "id", "slot", "about", "supersedes", "from", "name", "kind"])
@pytest.mark.parametrize("text", UNSEEN.values(), ids=UNSEEN)
def test_what_shows_nothing_is_no_id_and_no_name(key, text):
    first = f"U+{ord(text[0]):04X}"
    session = {"session": "s", "by": "sam", "facts": [{"text": "t"}], "entities": [{"name": "n", "kind": "k"}]}
    holder = session if key in session else session["entities"][0] if key in ("name", "kind") else session["facts"][0]
    holder[key] = text
    [fault] = problems(json.dumps(session), "s.json")
    assert f"'{key}': {text!r} shows nothing: it is made of {first} and the like" in fault


@pytest.mark.parametrize("character", "\u202e\u2066\u200f\u200b\ufeff\u00ad\U000e0041")
def test_an_id_or_a_slot_holds_no_character_that_does_not_show(character):
    name = f"U+{ord(character):04X}"
    for key in ("id", "slot", "supersedes", "from", "corrects"):
        [fault] = problems(json.dumps({"session": "s", "facts": [{"text": "t", key: f"a{character}b"}]}), "s.json")
        assert fault.endswith(f"holds {name}, which does not show; leave it out")
    named = {"text": f"a{character}b", "rationale": character, "about": [f"a{character}b"]}
    [kept] = one(json.dumps({"session": "s", "by": f"a{character}b", "facts": [named]}), "s.json").items
    assert (kept.text, kept.rationale, kept.about) == (named["text"], character, (f"a{character}b",))


def test_the_joiners_that_words_are_spelled_with_stay_in_ids():
    for text in ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\U0001f468\u200d\U0001f469\u200d\U0001f467"):
        assert item(f"id: {text}\ntext: t\nslot: {text}").id == text


def test_ids_slots_and_names_have_an_end():
    for key in ("id", "slot", "about", "supersedes"):
        fact = {"session": "s", "facts": [{"text": "t" * 10_000, key: "x" * 200}]}
        assert len(one(json.dumps(fact), "s.json").items[0].text) == 10_000
        fact["facts"][0][key] = "x" * 10_000
        [fault] = problems(json.dumps(fact), "s.json")
        assert fault.endswith("x…' has 10000 characters; write at most 200")
        assert len(fault) < 200
    for key in ("session", "by"):
        assert problems(json.dumps({"session": "s", key: "x" * 201}), "s.json")[0].endswith("; write at most 200")


def test_ids_that_are_made_of_a_long_session_are_not_too_long():
    long = "x" * 199
    assert problems(f"session: {long}\nfacts:\n  - text: t\n  - {{id: f, text: u}}\n") == [
        "s.yaml:3: a fact needs an 'id' of its own: made of the session's it has over 200 characters"
    ]


@pytest.mark.parametrize("key", ["at", "wrong", "confidence", "validFrom", "rationale"])
def test_a_fault_does_not_echo_all_of_a_long_value(key):
    fact = {"text": "t", key: "<" + "9" * 10_000 + ">"}
    for fault in problems(json.dumps({"session": "s", "facts": [fact]}), "s.json"):
        assert len(fault) < 300


def test_json_keeps_a_pair_of_surrogates_as_the_character_it_is():
    assert one('{"session": "\\ud83d\\ude00"}', "s.json").id == "\U0001f600"


@pytest.mark.parametrize("source", ["s.yaml", "s.json"])
def test_a_file_that_is_not_utf8_says_where(source):
    assert problems(b"{\n\xff}", source) == [f"{source}:2: the file is not UTF-8 (byte 0xff); save it as UTF-8"]
    assert problems("session: s".encode("utf-16"), source)[0].startswith(f"{source}:1: the file is not UTF-8")


def test_all_faults_of_a_file_are_reported_at_once_in_the_order_of_lines():
    assert problems(
        "session: <id>\nat: 12:30\nreviews:\n  - reject: d1\n    resaon: r\n"
        "decisions:\n  - text: t\n    text: u\n    confidence: 2\n  - about: x\n    validTo: 2024-13-01\n"
    ) == [
        "s.yaml:1: 'session': '<id>' is a placeholder; write what it stands for",
        "s.yaml:2: 'at': '12:30' is not a time; write YYYY-MM-DD, or a date and time with Z or an offset "
        "such as 2024-02-01T09:00:00Z",
        "s.yaml:4: a review needs 'by', here or on the session: who says so",
        "s.yaml:4: a review needs 'reason'",
        "s.yaml:5: unknown key 'resaon' in a review; write 'reason'",
        "s.yaml:8: key 'text' is given twice, first on line 7; keep one",
        "s.yaml:9: 'confidence': 2 is not from 0 to 1",
        "s.yaml:10: a decision needs 'text' (or 'corrects', to take over another's)",
        "s.yaml:11: 'validTo': '2024-13-01' does not exist: month must be in 1..12",
    ]


@pytest.mark.parametrize("path", sorted((DATA / "keps").glob("*.yaml")), ids=lambda path: path.name)
def test_real_yaml_that_is_no_session_gives_problems_with_lines(path):
    with pytest.raises(SessionFileError) as refusal:
        session_file.read_file(path)
    assert len(refusal.value.problems) > 5
    assert all(re.fullmatch(re.escape(str(path)) + r":\d+", problem.where) for problem in refusal.value.problems)


def test_the_real_yaml_files_are_there():
    assert len(list((DATA / "keps").glob("*.yaml"))) >= 10


def test_the_real_log_is_read_from_json_and_written_as_yaml():
    data = (DATA / "peps_sessions.json").read_bytes()
    sessions = read(data, "peps.json")
    assert len(sessions) > 700
    assert read(session_file.to_yaml(sessions)) == sessions


def test_json_files_do_not_load_yaml():
    code = (
        "import sys; from ledger_cli import session_file as f; f.read('{\"session\": \"s\"}', 's.json');"
        "f.skeleton('s'); f.to_yaml(()); assert 'yaml' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_five_thousand_sessions_are_read_in_reasonable_time():
    text = "".join(
        f"- session: s{n}\n  decisions:\n  - {{text: t{n}, about: [a, b], validFrom: 2024-01-01}}\n"
        for n in range(5000)
    )
    started = time.perf_counter()
    assert len(read(text)) == 5000
    assert time.perf_counter() - started < 10


# What is written


def test_a_new_session_is_refused_until_its_placeholders_are_filled_in():
    skeleton = session_file.skeleton("session-5")
    assert problems(skeleton) == [
        "s.yaml:5: 'by': '<who writes this>' is a placeholder; write what it stands for",
        "s.yaml:9: 'text': '<what was decided, in one sentence>' is a placeholder; write what it stands for",
        "s.yaml:10: 'about': '<what it is about>' is a placeholder; write what it stands for",
    ]
    filled = one(re.sub(r"^(.*: \[?)<[^>]*>", r"\1something", skeleton, flags=re.M))
    assert (filled.id, filled.items[0].text, filled.items[0].about) == ("session-5", "something", ("something",))


def test_every_key_of_the_skeleton_works_once_its_hash_is_gone():
    used = re.sub(r"^( *)#(\w+: )", r"\1\2", session_file.skeleton("no"), flags=re.M)
    used = re.sub(r"^( *(?:at|valid\w+): ).*$", r"\g<1>2024-01-01", used, flags=re.M)
    session = one(re.sub(r"<[^>]*>(?=\]?$)", "something", used, flags=re.M))
    assert session.id == "no"
    assert session.at == session.items[0].valid_from == day(2024, 1, 1)
    assert session.items[0].slot == session.items[0].rationale == "something"
    assert session.items[0].supersedes == ("something",)


@pytest.mark.parametrize(
    "text",
    [
        *("no", "null", "~", "1e3", "2024-01-10", "12:30", "true", "017", "1.10", "=", "<<", "y", "Off", "---", "..."),
        *("a: b", "a #b", "#a", "- a", "? a", "@a", "`a`", "&a", "*a", "!a", "%a", "{a: b}", "[a]", "a, b", "'a'"),
        *(" a ", "a\n", "a\nb", "a\nb\n", "a\n\nb\n\n", "\n a", "  a\nb", "a\n  b\n", "a \nb", "a\n \nb", "\ta"),
        *('"a"', "\ta\n\tb", "a\\nb", "--- a\nb", "# a\n# b", "a:\n- b", "a\u2028b", "a\u00a0", "\ufeffa", "\ufffe"),
        *("é e\u0301", "\U0001f600"),
    ],
)  # fmt: skip
def test_what_is_written_reads_back_as_the_same_text(text):
    session = Session("s", items=(StatedItem("fact", "f", text=text, rationale=text, about=name_set([text])),))
    written = session_file.to_yaml([session])
    assert one(written) == session
    facts = yaml.safe_load(written)["facts"][0]
    assert (facts["text"], facts["rationale"]) == (text, text), "any other reader of YAML sees the same text"


def test_what_is_written_reads_well():
    written = session_file.to_yaml(read(EXAMPLE))
    assert written.startswith(
        "session: session-2\nat: 2024-02-01T09:00:00Z\nby: memory-agent\nentities:\n  - name: orders\n"
    )
    assert "  - reject: {old: d1, new: d4}\n    by: sam\n" in written
    several = Session("s", items=(StatedItem("fact", "f", text="two\n\nlines"),))
    assert session_file.to_yaml([several]) == (
        "session: s\nfacts:\n  - id: f\n    text: |-\n      two\n\n      lines\n"
    )


def words(*refused):
    """Texts that a session may hold: no control characters or surrogates, not blank, no placeholder."""
    allowed = st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n\t")
    hard = st.sampled_from("\n\t :#-?[]{},&*!|>'\"%@`~\u2028\u2029\ufeff\ufffe\uffff\u00a0é\u0301\U0001f600no")
    texts = st.text(allowed | hard, min_size=1) | st.sampled_from(
        ["no", "null", "~", "1e3", "2024-01-10", "a: b", "open"]
    )
    return texts.filter(
        lambda text: text.strip() and not re.fullmatch(r"\s*(<[^<>]*>|\{[^{}]*\|[^{}]*\}|TODO)\s*", text)
    )


NAMES = (
    words()
    .map(lambda text: " ".join(unicodedata.normalize("NFC", text).split()))
    .filter(lambda name: not fault_of_name(name))
)
IDS = NAMES.filter(lambda id: not fault_of_id(id))
TIMES = st.datetimes(timezones=st.just(UTC))
SETS = st.lists(NAMES, max_size=3).map(name_set)
ID_LISTS = st.lists(IDS, max_size=3, unique=True).map(tuple)


def maybe(strategy):
    return st.none() | strategy


def items_of(kind):
    common = {
        "rationale": maybe(words()),
        "slot": maybe(IDS),
        "about": maybe(SETS),
        "valid_from": maybe(TIMES),
        "supersedes": ID_LISTS,
        "evidence": ID_LISTS,
        "confidence": maybe(st.floats(0, 1)),
    }
    plain = st.builds(StatedItem, st.just(kind), IDS, text=words(), valid_to=maybe(TIMES), **common)
    correction = st.builds(
        StatedItem,
        st.just(kind),
        IDS,
        text=maybe(words()),
        corrects=IDS,
        valid_to=maybe(TIMES | st.just("open")),
        **common,
    )
    return st.lists(plain | correction, max_size=2)


TARGETS = st.builds(Target, IDS) | st.builds(Target, IDS, new=IDS) | st.builds(Target, IDS, ending=st.just(True))
SESSIONS = st.builds(
    Session,
    id=IDS,
    at=maybe(TIMES),
    by=NAMES,
    entities=st.lists(st.builds(StatedEntity, NAMES, NAMES), max_size=2).map(tuple),
    episodes=st.lists(
        st.builds(StatedEpisode, IDS, NAMES, words(), SETS, maybe(TIMES)), max_size=2, unique_by=lambda e: e.id
    ).map(tuple),
    items=st.tuples(items_of("decision"), items_of("fact"))
    .map(lambda both: (*both[0], *both[1]))
    .filter(lambda items: len({i.id for i in items}) == len(items)),
    supersessions=st.lists(st.builds(StatedLink, IDS, IDS), max_size=2).map(tuple),
    endings=st.lists(st.builds(StatedEnding, IDS, TIMES, maybe(NAMES), maybe(words())), max_size=2).map(tuple),
    reviews=st.lists(
        st.builds(StatedReview, st.sampled_from(["rejects", "reinstates"]), TARGETS, maybe(NAMES), words()), max_size=2
    ).map(tuple),
)


@settings(deadline=None, max_examples=150)
@given(st.lists(SESSIONS, min_size=1, max_size=2, unique_by=lambda session: session.id))
def test_sessions_written_read_back_as_the_same_values(sessions):
    assert read(session_file.to_yaml(sessions)) == tuple(sessions)


HARD = words() | st.text(max_size=200)


@given(SESSIONS, st.lists(HARD, max_size=3), st.lists(HARD, max_size=3))
def test_whatever_is_in_the_comments_the_session_reads_back_the_same(session, head, notes):
    comments = Comments(head, {item.id: notes for item in session.items})
    written = session_writer.to_yaml([session], comments)
    assert read(written) == (session,)
    plain = [line for line in written.split("\n") if not line.lstrip().startswith("#")]
    assert [line for line in session_file.to_yaml([session]).split("\n") if not line.lstrip().startswith("#")] == plain


@pytest.mark.parametrize("hidden", ["\u202e", "\u2066", "\u200b", "\u00ad", "\u200f", "\U000e0041"])
def test_what_does_not_show_is_written_as_an_escape(hidden):
    text = f"use {hidden}kafka"
    session = Session("s", items=(StatedItem("fact", "f", text=text, rationale=f"{text}\nbecause"),))
    written = session_writer.to_yaml([session], Comments([text], {"f": [text]}))
    assert hidden not in written
    assert one(written) == session
    assert yaml.safe_load(written)["facts"][0]["text"] == text


# Whatever comes in

FRAGMENTS = st.lists(
    st.sampled_from(
        [
            *("session: s\n", "session", ": ", "\n", "  ", "- ", "decisions:\n", "text: t\n", "confidence: "),
            *("[", "]", "{", "}", ",", "'", '"', "|\n", ">-\n", "&a ", "*a ", "!!int ", "!x ", "<<: ", "? ", "#", "\t"),
            *("---\n", "...\n", "%YAML 1.2\n", "null", "1e400", "2024-13-01", "\\", "\\ud800", "\\U00110000", "\\x7"),
            *("about: ", "~", "\x00", "\x85", "\u2028", "\ufeff", "\ud800", "\r", "\r\n"),
        ]
    )
).map("".join)  # fmt: skip


@settings(deadline=None, max_examples=400)
@given(st.binary() | st.text().map(str) | FRAGMENTS, st.sampled_from(["s.yaml", "s.json"]), st.booleans())
def test_anything_is_a_session_or_a_named_refusal(data, source, pure):
    with pytest.MonkeyPatch.context() as patch:
        if pure:
            patch.delattr(yaml, "CBaseLoader", raising=False)
        try:
            session_file.read(data, source)
        except SessionFileError as refusal:
            assert refusal.problems
            assert all(re.fullmatch(re.escape(source) + r":\d+", problem.where) for problem in refusal.problems)


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_a_broken_example_is_a_session_or_a_named_refusal(data):
    at = data.draw(st.integers(0, len(EXAMPLE)))
    cut = data.draw(st.integers(0, 5))
    broken = EXAMPLE[:at] + data.draw(FRAGMENTS) + EXAMPLE[at + cut :]
    try:
        read(broken)
    except SessionFileError as refusal:
        assert refusal.problems


@settings(deadline=None, max_examples=200)
@given(FRAGMENTS)
def test_the_two_yaml_parsers_agree(text):
    def outcome():
        try:
            return read(text)
        except SessionFileError as refusal:
            return [str(p) for p in refusal.problems if "not YAML" not in str(p)]

    ours = outcome()
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(yaml, "CBaseLoader", raising=False)
        pure = outcome()
    if isinstance(ours, tuple) or isinstance(pure, tuple):
        assert ours == pure


# The schema


def as_json(text):
    """The JSON form of a YAML session: strings, but for the confidence."""

    def convert(value, key=""):
        if isinstance(value, dict):
            return {k: convert(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [convert(v) for v in value]
        return float(value) if key == "confidence" else value

    return convert(yaml.load(text, Loader=yaml.BaseLoader))


def by_schema(document):
    return jsonschema.Draft202012Validator(SCHEMA).is_valid(document)


def by_reader(document):
    try:
        read(json.dumps(document), "s.json")
    except SessionFileError:
        return False
    return True


def brought(**fields):
    return {"session": "s", "by": "sam", **fields}


def fact(**fields):
    return brought(facts=[{"text": "t", **fields}])


GOOD = [
    as_json(EXAMPLE),
    {"session": "s"},
    [{"session": "a"}, {"session": "b"}],
    {"session": "s", "at": None, "by": None, "facts": None, "reviews": None},
    fact(id=None, rationale=None, slot=None, about=None, validFrom=None, validTo=None, supersedes=None, corrects=None),
    fact(about="orders", supersedes="d1", **{"from": "e1"}),
    fact(about=[], supersedes=[], confidence=1),
    fact(confidence=0),
    fact(validFrom="2024-01-10T09:00:00.123456+02:00"),
    fact(validFrom="2024-01-10t09:00:00z"),
    fact(rationale="none, see <why>"),
    fact(text='<img src="x">'),
    fact(text="use <b> for bold"),
    fact(text=" two\n\tlines "),
    fact(slot=" a  b\n"),
    brought(facts=[{"corrects": "d1", "validTo": "open"}]),
    brought(facts=[{"corrects": "d1", "text": None}]),
    brought(endings=[{"id": "d1", "validTo": "2024-01-01"}]),
    {"session": "s", "endings": [{"id": "d1", "validTo": "2024-01-01", "by": "sam"}]},
    brought(reviews=[{"reject": "d1", "reinstate": None, "reason": "r"}]),
    brought(reviews=[{"reinstate": {"end": "d1"}, "reason": "r"}]),
]

BAD = [
    None,
    [],
    "s",
    3,
    {},
    {"session": None},
    {"session": ""},
    {"session": " s"},
    {"session": "s\n"},
    {"session": "a\tb"},
    {"session": 3},
    {"session": "<id>"},
    {"session": "s", "sesion": "t"},
    {"session": "s", "at": "2024-01-10T09:00:00"},
    {"session": "s", "at": "2024-01-10T09:00:60Z"},
    {"session": "s", "at": "2024-01-10T09:00:00.1234567Z"},
    {"session": "s", "at": "2024-01-10T24:00:00Z"},
    {"session": "s", "at": "2024-01-10T09:00:00+24:00"},
    {"session": "s", "at": "2024-13-01"},
    {"session": "s", "at": "2024-00-01"},
    {"session": "s", "at": "0000-01-01"},
    {"session": "s", "at": "2024-01-10\n"},
    {"session": "s", "at": "yyyy-mm-dd"},
    {"session": "s", "at": "open"},
    {"session": "s", "facts": {}},
    {"session": "s", "facts": [None]},
    {"session": "s", "facts": [{}]},
    fact(text=None),
    fact(text=" \n"),
    fact(text=True),
    fact(text="{proposed | rejected}"),
    fact(text=" TODO "),
    fact(text="a\u0007"),
    fact(text="a\r\n"),
    fact(text="\u0085"),
    fact(about=[None]),
    fact(about=[["a"]]),
    fact(about=[3]),
    fact(about=""),
    fact(slot="YYYY-MM-DD"),
    fact(validTo="open"),
    fact(supersedes=["d1", " d2"]),
    fact(corrects=["d1"]),
    fact(confidence=1.5),
    fact(confidence=-0.5),
    fact(confidence="0.9"),
    fact(confidence=True),
    fact(rationale=""),
    fact(rationale="<none>"),
    fact(rationale="TODO"),
    brought(endings=[{"id": "d1", "validTo": "2024-01-01", "reason": "<why>"}]),
    brought(entities=[{"name": "x"}]),
    brought(episodes=[{"kind": "k"}]),
    brought(episodes=[{"kind": "k", "text": "t", "at": "now"}]),
    brought(supersessions=[{"old": "d1"}]),
    brought(endings=[{"id": "d1"}]),
    brought(endings=[{"id": "d1", "validTo": "open"}]),
    {"session": "s", "endings": [{"id": "d1", "validTo": "2024-01-01"}]},
    {"session": "s", "by": None, "reviews": [{"reject": "d1", "reason": "r", "by": None}]},
    {"session": "s", "reviews": [{"reject": "d1", "reason": "r"}]},
    brought(reviews=[{"reason": "r"}]),
    brought(reviews=[{"reject": "d1"}]),
    brought(reviews=[{"reject": "d1", "reinstate": "d1", "reason": "r"}]),
    brought(reviews=[{"reject": {"old": "d1"}, "reason": "r"}]),
    brought(reviews=[{"reject": {"end": "d1", "old": "d2"}, "reason": "r"}]),
    brought(reviews=[{"reject": ["d1"], "reason": "r"}]),
]


@pytest.mark.parametrize("document", GOOD, ids=lambda document: json.dumps(document)[:80])
def test_schema_and_reader_accept(document):
    assert (by_schema(document), by_reader(document)) == (True, True)


@pytest.mark.parametrize("document", BAD, ids=lambda document: json.dumps(document)[:80])
def test_schema_and_reader_refuse(document):
    assert (by_schema(document), by_reader(document)) == (False, False)


@pytest.mark.parametrize(
    "document",
    [
        fact(validFrom="2023-02-29"),
        fact(validFrom="0001-01-01T00:00:00+01:00"),
        brought(facts=[{"id": "x", "text": "t"}, {"id": "x", "text": "t"}]),
        [{"session": "s"}, {"session": "s"}],
        fact(text="\ud800"),
    ],
    ids=json.dumps,
)
def test_a_schema_cannot_say_it_all_and_the_reader_does(document):
    assert (by_schema(document), by_reader(document)) == (True, False)


def test_the_schema_is_a_schema_and_knows_the_keys_of_the_reader():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    keys = {name: set(part["properties"]) for name, part in SCHEMA["$defs"].items() if "additionalProperties" in part}
    assert keys == {
        "session": set(session_file.SESSION),
        "entity": set(session_file.ENTITY),
        "episode": set(session_file.EPISODE),
        "item": set(session_file.ITEM),
        "link": set(session_file.LINK),
        "ending": set(session_file.ENDING),
        "review": set(session_file.REVIEW),
    }
