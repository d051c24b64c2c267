"""The checkpoint: one file for one set of entries, only ever added to, and every damage named by its line."""

from __future__ import annotations

import dataclasses
import errno
import os
import random
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger_cli import checkpoint, scan
from ledger_cli.checkpoint import EMPTY, CannotWrite, group_name, read, render, session_entries, splice
from ledger_cli.errors import Damaged, LedgerError
from ledger_cli.model import Ending, Entity, Entry, Episode, Item, Link, Review, Target, name_set

ORDERS = (Path(__file__).parent / "data" / "orders.json").read_bytes()  # written by hand, by the rules of the layout
LINES = ORDERS.decode().split("\n")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


JAN, FEB1, FEB6 = at("2024-01-01T09:00:00Z"), at("2024-02-01T09:00:00Z"), at("2024-02-06T09:00:00Z")
FEB12, FEB20, FEB21 = at("2024-02-12T09:00:00Z"), at("2024-02-20T09:00:00Z"), at("2024-02-21T09:00:00Z")
DATABASE, REGION, ENGINE = "orders/database", "payments/region", "search/engine"
D1_D4 = Target("d1", new="d4")


def item(kind, item_id, text, valid_from, recorded_at, session, **more) -> Item:
    return Item(kind, item_id, text, at(f"{valid_from}T00:00:00Z"), recorded_at, session, **more)


ONE, TWO, THREE, FOUR = "session-1", "session-2", "session-3", "session-4"
WHY_NO_CACHE = "order reads are fast enough; a cache adds an invalidation problem"
READ_CODEOWNERS = Episode(
    "e3", "tool_call", "read_file CODEOWNERS", FEB1, TWO, ("mysql", "orders"), at("2024-02-01T08:59:00Z")
)
POSTGRES = item("decision", "d1", "orders uses postgres", "2024-01-01", JAN, ONE, slot=DATABASE, about=("orders",))
ELASTIC = item("decision", "d2", "search uses elasticsearch", "2024-01-01", JAN, ONE, slot=ENGINE, about=("search",))
EU = item(
    "fact", "d3", "payments runs in eu-west-1", "2024-01-01", JAN, ONE, slot=REGION, about=("eu-west-1", "payments")
)
MYSQL = item(
    "decision",
    "d4",
    "orders uses mysql",
    "2024-01-10",
    FEB1,
    TWO,
    rationale="the read replicas need it",
    slot=DATABASE,
    about=("mysql", "orders"),
    evidence=("e3",),
)
RETRIES = item(
    "decision",
    "d5",
    "payments retries failed charges 3 times",
    "2024-02-01",
    FEB1,
    TWO,
    about=("payments",),
    confidence=0.9,
    by="memory-agent",
)
CACHE = item("decision", "d6", "cache order lookups in redis", "2024-02-06", FEB6, THREE, about=("orders",))
OPENSEARCH = item(
    "decision",
    "d7",
    "search uses opensearch",
    "2024-01-25",
    FEB6,
    THREE,
    slot=ENGINE,
    about=("search",),
    corrects="d2",
)
US = item(
    "fact",
    "d8",
    "payments runs in us-east-1",
    "2024-03-01",
    FEB20,
    FOUR,
    valid_to=at("2024-12-31T00:00:00Z"),
    slot=REGION,
    about=("payments", "us-east-1"),
)
ALL: list[Entry] = [
    Entity("orders", "service", JAN, ONE),
    POSTGRES,
    ELASTIC,
    EU,
    READ_CODEOWNERS,
    Episode("e4", "message", "the read replicas are slow", FEB1, TWO, ("orders",)),
    MYSQL,
    RETRIES,
    Link("d1", "d4", FEB1, TWO),
    CACHE,
    OPENSEARCH,
    Review("rejects", Target("d6"), "sam", WHY_NO_CACHE, FEB12, "reject-d6-2024-02-12T09:00:00Z"),
    Review("rejects", D1_D4, "sam", "not the same thing", FEB12, "reject-link-d1-d4-2024-02-12T09:00:00Z"),
    Review(
        "reinstates",
        D1_D4,
        "sam",
        "rejected by mistake",
        FEB12 + timedelta(seconds=0.5),
        "reinstate-link-d1-d4-2024-02-12T09:00:00Z",
    ),
    US,
    Link("d3", "d8", FEB20, FOUR, "memory-agent"),
    Ending("d5", at("2024-03-01T00:00:00Z"), "sam", FEB20, FOUR, "the provider retries"),
    Review("rejects", Target("d5", ending=True), "sam", "it does not", FEB21, "reject-end-d5-2024-02-21T09:00:00Z"),
]


# Histories: sessions with all there is, under ids that look like the file itself.

ODD = [
    'q"uote',
    "back\\slash",
    "end of slot x",
    "end of session 1",
    '"end": "ledger"',
    'x"],',
    'x": [',
    '"], "session": "1"}',
    ', "session": "1"}',
    "session 1",
    "slot x",
    "{",
    "}",
    "<<<<<<< HEAD",
    "\u00fcn\u00ef",
    "a\u2028b",
    "\U0001f600",
    "two words",
    "[/red]",
    "ab",
    "ba",
]


def history(rnd: random.Random, sessions: int) -> list[list[Entry]]:
    """Random sessions in the order of their clocks, each naming only what is there by then."""
    ids, items, links, endings = set(), [], [], []
    clock = datetime(2024, 1, 1, tzinfo=UTC)
    slots = [" ".join(text.split()) for text in rnd.sample(ODD, 3)]

    def fresh(prefix: str) -> str:
        odd = rnd.choice(ODD) if rnd.random() < 0.5 else prefix
        new = odd if odd not in ids and rnd.random() < 0.5 else f"{odd}{len(ids)}"
        ids.add(new)
        return new

    told = []
    for _ in range(sessions):
        clock += timedelta(microseconds=rnd.choice([0, 0, 1, 500_000, 1_000_000, 86_400_000_000]))
        name, new = fresh("session-"), []
        episodes = [
            Episode(fresh("e"), "message", rnd.choice(ODD), clock, name, (), None) for _ in range(rnd.randint(0, 2))
        ]
        for _ in range(rnd.randint(0, 4)):
            start = datetime(2024, 1, rnd.randint(1, 28), tzinfo=UTC)
            item = Item(
                kind=rnd.choice(["decision", "fact"]),
                id=fresh("d"),
                text=rnd.choice(ODD),
                valid_from=start,
                recorded_at=clock,
                session=name,
                valid_to=start + timedelta(days=1) if rnd.random() < 0.2 else None,
                slot=rnd.choice(slots) if rnd.random() < 0.6 else None,
                about=name_set(rnd.sample(ODD, rnd.randint(0, 2))),
                evidence=tuple(sorted(e.id for e in episodes if rnd.random() < 0.5)),
                confidence=rnd.choice([None, 0.5, 1e-7, 1.0]),
                corrects=rnd.choice(items).id if items and rnd.random() < 0.2 else None,
                by=rnd.choice([None, "sam"]),
            )
            new.append(item)
            items.append(item)
        new += episodes
        if rnd.random() < 0.3:
            new.append(Entity(f"thing{rnd.randint(0, 3)}", "service", clock, name))
        if items:
            for _ in range(rnd.randint(0, 2)):
                links.append(Link(rnd.choice(items).id, rnd.choice(items).id, clock, name))
                new.append(links[-1])
            if rnd.random() < 0.3:
                endings.append(Ending(rnd.choice(items).id, clock, "sam", clock, name))
                new.append(endings[-1])
            targets = [Target(rnd.choice(items).id)]
            targets += [Target(link.old, new=link.new) for link in links[-2:]]
            targets += [Target(ending.id, ending=True) for ending in endings[-1:]]
            for target in rnd.sample(targets, rnd.randint(0, len(targets))):
                new.append(Review(rnd.choice(["rejects", "reinstates"]), target, "sam", "r", clock, name))
        told.append(new)
    return told


histories = st.builds(history, st.randoms(use_true_random=False), st.integers(1, 7))


def flat(sessions):
    return [entry for session in sessions for entry in session]


# One set of entries, one file.


def test_the_story_is_the_file_written_by_hand():
    assert render(ALL) == ORDERS


EXCERPT = b"""{
"ledger": 1,
"session session-3": [
{"decision": "d6", "text": "cache order lookups in redis", "about": ["orders"], \
"validFrom": "2024-02-06T00:00:00Z", "recordedAt": "2024-02-06T09:00:00Z", "session": "session-3"},
{"rejects": "d6", "by": "sam", "reason": "order reads are fast enough; a cache adds an invalidation problem", \
"recordedAt": "2024-02-12T09:00:00Z", "session": "reject-d6-2024-02-12T09:00:00Z"},
"end of session session-3"],
"slot orders/database": [
{"decision": "d1", "text": "orders uses postgres", "slot": "orders/database", "about": ["orders"], \
"validFrom": "2024-01-01T00:00:00Z", "recordedAt": "2024-01-01T09:00:00Z", "session": "session-1"},
{"decision": "d4", "text": "orders uses mysql", "slot": "orders/database", "about": ["orders"], \
"validFrom": "2024-01-10T00:00:00Z", "recordedAt": "2024-02-01T09:00:00Z", "session": "session-2"},
{"supersedes": "d1", "with": "d4", "recordedAt": "2024-02-01T09:00:00Z", "session": "session-2"},
"end of slot orders/database"],
"end": "ledger"
}
"""


def test_the_excerpt_that_documents_the_format_is_canonical():
    mysql = dataclasses.replace(MYSQL, rationale=None, about=("orders",), evidence=())
    entries = {CACHE, ALL[11], POSTGRES, mysql, ALL[8]}
    assert set(read(EXCERPT)) == entries
    assert render(entries) == EXCERPT


def test_the_file_reads_back_in_its_order():
    entries = read(ORDERS)
    assert set(entries) == set(ALL)
    assert entries[0] == ALL[0]
    assert [entry.id for entry in entries if isinstance(entry, Item)] == [
        "d5",
        "d6",
        "d1",
        "d4",
        "d3",
        "d8",
        "d2",
        "d7",
    ]


def test_an_empty_ledger_is_four_lines():
    assert EMPTY == b'{\n"ledger": 1,\n"end": "ledger"\n}\n'
    assert read(EMPTY) == []


@given(histories, st.randoms(use_true_random=False))
def test_the_order_of_the_entries_does_not_matter_and_equal_ones_count_once(sessions, rnd):
    entries = flat(sessions)
    data = render(entries)
    again = entries + rnd.sample(entries, len(entries) // 2)
    rnd.shuffle(again)
    assert render(again) == data


@given(histories)
def test_what_is_written_reads_back(sessions):
    entries = flat(sessions)
    data = render(entries)
    found = read(data)
    assert len(found) == len(set(entries))
    assert set(found) == set(entries)
    assert render(found) == data
    assert read(data.replace(b"\n", b"\r\n")) == found


@given(histories)
def test_a_session_only_ever_adds_lines(sessions):
    before = []
    for n in range(1, len(sessions) + 1):
        after = render(flat(sessions[:n])).split(b"\n")
        rest = iter(after)
        assert all(text in rest for text in before), "a line changed, moved or went away"
        assert len({*after[:-1]}) == len(after) - 1, "two lines are equal"
        before = after


@given(histories, st.integers(0, 7))
def test_splicing_sessions_in_equals_writing_all(sessions, n):
    old, new = flat(sessions[:n]), flat(sessions[n:])
    groups = {item.id: group_name(item) for item in old if isinstance(item, Item)}
    assert splice(render(old), new, groups.__getitem__) == render(old + new)


@given(histories)
def test_splicing_what_is_there_changes_nothing(sessions):
    entries = flat(sessions)
    groups = {item.id: group_name(item) for item in entries if isinstance(item, Item)}
    data = render(entries)
    assert splice(data, flat(sessions[-1:]), groups.__getitem__) == data


@given(histories)
def test_the_entries_of_a_session_are_found_in_the_bytes(sessions):
    data = render(flat(sessions))
    order = {entry: n for n, entry in enumerate(read(data))}
    for session in sessions:
        if session:
            found = session_entries(data, session[0].session)
            assert found == sorted(set(session), key=order.__getitem__)
    assert session_entries(data, "never recorded") == []


def test_splicing_reads_no_more_than_the_groups_it_touches():
    damaged = ORDERS.replace(b"cache order lookups", b"cache\x00 order lookups")
    late = Link("d3", "d1", FEB21, "late")
    out = splice(damaged, [late], {"d3": "slot payments/region"}.__getitem__)
    added = [text for text in out.split(b"\n") if text not in damaged.split(b"\n")]
    assert added == [b'{"supersedes": "d3", "with": "d1", "recordedAt": "2024-02-21T09:00:00Z", "session": "late"},']


def test_splicing_into_a_file_with_crlf_writes_lf():
    late = Link("d3", "d1", FEB21, "late")
    assert splice(ORDERS.replace(b"\n", b"\r\n"), [late], {}.__getitem__) == render([*ALL, late])


def test_splicing_into_a_damaged_file_is_refused():
    with pytest.raises(Damaged, match=r"line \d+"):
        splice(ORDERS[:-3], [], {}.__getitem__)


# The order of lines and groups.


def lines_of(*entries: Entry) -> list[str]:
    return render(entries).decode().split("\n")[2:-3]


def unslotted(item_id: str, session: str, when: datetime = JAN, **more: object) -> Item:
    return Item("decision", item_id, "t", JAN, when, session, **more)


def test_sessions_stand_by_their_ids_read_backwards_before_slots_by_code_point():
    entries = [unslotted(f"d{n}", n) for n in ("s-10", "s-2", "s-01", "z", "é")]
    entries += [unslotted(f"x{n}", "s-2", slot=n) for n in ("b", "a", "é", "B", "a b", "a/b")]
    headers = [text for text in lines_of(*entries) if text.endswith(": [")]
    assert headers == [
        '"session s-10": [',
        '"session s-01": [',
        '"session s-2": [',
        '"session z": [',
        '"session é": [',
        '"slot B": [',
        '"slot a": [',
        '"slot a b": [',
        '"slot a/b": [',
        '"slot b": [',
        '"slot é": [',
    ]


def test_instants_are_compared_as_instants():
    earlier, later = unslotted("b", "s", JAN), unslotted("a", "s", JAN + timedelta(microseconds=10))
    assert read(render([later, earlier])) == [earlier, later]


def test_inside_a_group_the_ranks_follow_record_instant_and_session():
    item, other = unslotted("m", "s"), unslotted("a", "s")
    entries = [
        Entity("zeta", "k", JAN, "s"),
        Episode("e", "message", "t", JAN, "s"),
        other,
        item,
        Link("a", "m", JAN, "s"),
        Link("m", "a", JAN, "s"),
        Ending("a", FEB1, "sam", JAN, "s"),
        Review("rejects", Target("a"), "sam", "r", JAN, "s"),
        Review("rejects", Target("m", new="a"), "sam", "r", JAN, "s"),
        Ending("a", FEB1, "sam", JAN, "t"),
        Link("a", "m", FEB1, "b"),
    ]
    assert read(render(reversed(entries))) == entries


def test_an_episode_stands_with_the_first_item_of_its_own_session_that_cites_it():
    episode = Episode("e", "message", "t", JAN, "s")
    cited_elsewhere = unslotted("a", "t", slot="elsewhere", evidence=("e",))
    second = unslotted("c", "s", slot="second", evidence=("e",))
    first = unslotted("b", "s", slot="first", evidence=("e",))
    assert '"session s": [' in lines_of(episode, cited_elsewhere)
    found = lines_of(episode, cited_elsewhere, second, first)
    assert found[found.index('"slot first": [') + 1].startswith('{"episode": "e"')


def test_two_items_under_one_id_still_give_one_file():
    one, other = unslotted("d", "s", slot="one"), unslotted("d", "t", slot="other")
    entries = [one, other, Link("d", "d2", FEB1, "u"), unslotted("d2", "u", FEB1)]
    assert render(entries) == render(reversed(entries))
    assert set(read(render(entries))) == set(entries)


def test_an_entry_that_names_an_item_that_is_not_there_is_not_written():
    with pytest.raises(ValueError, match=r"no item 'd9'.*supersedes"):
        render([Link("d9", "d1", JAN, "s")])


def test_what_json_cannot_hold_is_never_written():
    for confidence in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="confidence"):
            render([unslotted("d", "s", confidence=confidence)])
    with pytest.raises(ValueError, match="surrogate"):
        render([dataclasses.replace(unslotted("d", "s"), text="\ud800")])


# Damage.


def edit(*changes: tuple[int, str | None], insert: tuple[int, str] | None = None) -> bytes:
    """The story's file with lines (from 1) replaced (None: taken out), and one put in before a line."""
    lines: list[str | None] = list(LINES)
    for number, text in changes:
        lines[number - 1] = text
    if insert:
        lines.insert(insert[0] - 1, insert[1])
    return "\n".join(text for text in lines if text is not None).encode()


def swap(one: int, other: int) -> bytes:
    return edit((one, LINES[other - 1]), (other, LINES[one - 1]))


def test_the_table_below_counts_lines_as_the_file_has_them():
    assert LINES[2] == '"session session-1": ['
    assert LINES[15] == '"slot orders/database": ['
    assert LINES[23] == '"slot payments/region": ['
    assert (len(LINES), LINES[32:]) == (35, ['"end": "ledger"', "}", ""])


WRONG_ORDER = [
    ("two entries", swap(7, 8), [(8, "wrong-order")]),
    ("a link before its item", swap(19, 20), [(20, "wrong-order")]),
    ("an equal second read as text", swap(21, 22), [(22, "wrong-order")]),
    ("two groups", "\n".join(LINES[:2] + LINES[5:11] + LINES[2:5] + LINES[11:]).encode(), [(9, "wrong-order")]),
    (
        "a slot before a session",
        "\n".join(LINES[:2] + LINES[15:23] + LINES[2:15] + LINES[23:]).encode(),
        [(11, "wrong-order")],
    ),
]
DAMAGED = [
    ("nothing", b"", [(1, "format")]),
    ("white space", b"\n \n", [(1, "format")]),
    ("another JSON file", b'{"a": 1}\n', [(1, "format")]),
    ("not JSON", b"hello\n", [(1, "format")]),
    ("reformatted", ORDERS.replace(b'"ledger": 1', b'  "ledger": 1'), [(2, "format")]),
    ("on one line", ORDERS.replace(b"\n", b" "), [(1, "format")]),
    ("format 0", ORDERS.replace(b'"ledger": 1', b'"ledger": 0'), [(2, "format")]),
    ("format one", ORDERS.replace(b'"ledger": 1', b'"ledger": "one"'), [(2, "format")]),
    ("format 1.0", ORDERS.replace(b'"ledger": 1', b'"ledger": 1.0'), [(2, "format")]),
    ("format -1", ORDERS.replace(b'"ledger": 1', b'"ledger": -1'), [(2, "format")]),
    ("a format of 5,000 digits", ORDERS.replace(b'"ledger": 1', b'"ledger": 1' + b"0" * 5000), [(2, "format")]),
    ("a format of a long word", ORDERS.replace(b'"ledger": 1', b'"ledger": ' + b"x" * 5000), [(2, "format")]),
    ("format 2", ORDERS.replace(b'"ledger": 1', b'"ledger": 2'), [(2, "format")]),
    ("format 10, on one line", b'{"ledger": 10, "what": "ever"}', [(2, "format")]),
    ("a byte order mark", b"\xef\xbb\xbf" + ORDERS, [(1, "not-canonical")]),
    ("cut after {", b"{\n", [(2, "truncated")]),
    ("cut in the format", b'{\n"ledg', [(2, "truncated")]),
    ("cut after the format", b'{\n"ledger": 1,\n', [(2, "truncated")]),
    ("cut in a line", ORDERS[: ORDERS.index(b"redis")], [(13, "truncated")]),
    ("cut between lines", "\n".join(LINES[:13]).encode() + b"\n", [(13, "truncated")]),
    ("cut before }", ORDERS[:-2], [(33, "truncated")]),
    ("no final newline", ORDERS[:-1], [(34, "not-canonical")]),
    ("two final newlines", ORDERS + b"\n", [(35, "not-canonical")]),
    ("more after the end", ORDERS + ORDERS, None),
    ("a fragment after the end", ORDERS + b"x", [(35, "truncated")]),
    ("closed twice at the end", ORDERS + b"}\n", [(35, "not-canonical")]),
    ("no end", edit((33, None)), None),
    ("a blank line", edit(insert=(8, "")), [(8, "not-canonical")]),
    ("an indented line", edit((8, "  " + LINES[7])), [(8, "not-canonical")]),
    ("white space at the end of a line", edit((8, LINES[7] + " ")), None),
    ("no comma", edit((8, LINES[7][:-1])), [(8, "not-canonical")]),
    ("two commas", edit((8, LINES[7] + ",")), [(8, "not-canonical")]),
    ("a key nobody knows", edit((8, LINES[7].replace('"by"', '"who"'))), [(8, "not-canonical")]),
    ("NUL in a text", edit((8, LINES[7].replace("retries", "retries\\u0000"))), [(8, "not-canonical")]),
    ("a control character in a text", edit((8, LINES[7].replace("retries", "\x85"))), [(8, "not-canonical")]),
    ("a lone surrogate", edit((8, LINES[7].replace("retries", "\\ud800"))), [(8, "not-canonical")]),
    ("not UTF-8", ORDERS.replace(b"retries failed", b"\xff"), [(8, "not-canonical")] * 2),
    ("a header not UTF-8", ORDERS.replace(b'"slot search/engine": [', b'"slot search\xff": ['), None),
    ("an entry before all groups", edit(insert=(3, LINES[3])), None),
    ("an entry in the wrong group", edit((4, None), insert=(20, LINES[3])), None),
    ("a link with its new item", edit((20, None), insert=(9, LINES[19])), None),
    ("a cited episode without its item", edit((18, None), insert=(7, LINES[17])), [(7, "wrong-place")]),
    ("a line twice", edit(insert=(9, LINES[7])), [(9, "duplicate-line")]),
    ("a line twice, apart", edit(insert=(10, LINES[7])), [(10, "duplicate-line")]),
    ("a group twice", "\n".join(LINES[:5] + LINES[2:]).encode(), [(6, "duplicate-group"), (7, "duplicate-line")]),
    ("an empty group", edit((4, None)), [(4, "not-canonical")]),
    ("an empty new group", edit(insert=(16, '"slot a": [\n"end of slot a"],')), [(17, "not-canonical")]),
    ("a group not closed", edit((11, None)), [(11, "not-canonical")]),
    ("the last group not closed", edit((32, None)), [(32, "not-canonical")]),
    ("closed by another name", edit((11, LINES[14])), [(11, "not-canonical")]),
    ("closed twice", edit(insert=(12, LINES[10])), [(12, "not-canonical")]),
    ("an escaped header", edit((3, LINES[2].replace("session-1", "session\\u002d1"))), None),
    ("a header of a third kind", edit((3, LINES[2].replace('"session ', '"sitzung '))), None),
    ("LF among CRLF", ORDERS.replace(b"\n", b"\r\n").replace(b"\r\n", b"\n", 1), [(2, "not-canonical")]),
    ("CRLF among LF", edit((8, LINES[7] + "\r")), [(8, "not-canonical")]),
    ("a CR alone", edit((8, LINES[7].replace("retries", "\r"))), [(8, "not-canonical")]),
    ("a link to nothing", edit((20, LINES[19].replace('"d1"', '"d9"'))), [(20, "unknown-id")]),
    ("an item gone", edit((8, None)), [(8, "unknown-id"), (9, "unknown-id")]),
    ("conflict markers", edit(insert=(8, "<<<<<<< HEAD")), [(8, "conflict-marker")]),
    ("conflict markers at the top", b"<<<<<<< ours\n" + ORDERS, [(1, "conflict-marker")]),
    (
        "a whole conflict",
        "\n".join(
            [*LINES[:7], "<<<<<<< HEAD", LINES[7], "||||||| base", "=======", LINES[7], ">>>>>>> theirs", *LINES[8:]]
        ).encode(),
        [(n, "conflict-marker") for n in (8, 10, 11, 13)],
    ),
]


@pytest.mark.parametrize(
    ("what", "data", "expected"), DAMAGED + WRONG_ORDER, ids=[row[0] for row in DAMAGED + WRONG_ORDER]
)
def test_damage_is_named_by_line_and_code(what, data, expected):
    entries, problems = checkpoint.scan(data)
    assert problems
    if expected is not None:
        assert [(problem.line, problem.code) for problem in problems] == expected
    assert all(problem.message and problem.hint and len(problem.message) < 300 for problem in problems)
    assert all(data.replace(b"\xef\xbb\xbf", b"").split(b"\n")[n - 1][:1] == b"{" for n, _ in entries)
    with pytest.raises(Damaged, match=rf"line {problems[0].line}\b") as caught:
        read(data)
    assert caught.value.hint == problems[0].hint


@pytest.mark.parametrize(
    ("what", "first"),
    [
        ("more after the end", (35, "wrong-place")),
        ("no end", (33, "not-canonical")),
        ("white space at the end of a line", (8, "not-canonical")),
        ("a header not UTF-8", (29, "not-canonical")),
        ("an entry before all groups", (3, "wrong-place")),
        ("an entry in the wrong group", (4, "not-canonical")),
        ("a link with its new item", (9, "wrong-place")),
        ("an escaped header", (3, "not-canonical")),
        ("a header of a third kind", (3, "not-canonical")),
    ],
)
def test_the_first_of_several_faults_is_the_one_to_mend(what, first):
    data = next(data for name, data, _ in DAMAGED if name == what)
    _, problems = checkpoint.scan(data)
    assert (problems[0].line, problems[0].code) == first


def test_what_can_be_read_of_a_damaged_file_is_read():
    data = edit((8, LINES[7].replace("retries", "\\u0000")), (20, LINES[19].replace('"supersedes"', '"was"')))
    entries, problems = checkpoint.scan(data)
    assert [problem.line for problem in problems] == [8, 20]
    assert len(entries) == len(ALL) - 2
    assert (18, READ_CODEOWNERS) in entries


@pytest.mark.parametrize(("what", "data", "expected"), WRONG_ORDER, ids=[row[0] for row in WRONG_ORDER])
def test_a_merge_resolved_by_hand_may_be_in_any_order(what, data, expected):
    entries = read(data, any_order=True)
    assert render(entries) == ORDERS


@pytest.mark.parametrize(("what", "data", "expected"), DAMAGED, ids=[row[0] for row in DAMAGED])
def test_any_order_accepts_nothing_else(what, data, expected):
    with pytest.raises(Damaged):
        read(data, any_order=True)


def test_conflict_markers_are_for_resolve():
    with pytest.raises(Damaged, match="merge conflict in the checkpoint") as caught:
        read(edit((3, "nonsense"), insert=(20, "<<<<<<< HEAD")))
    assert "run `ledger resolve`" in caught.value.hint
    assert caught.value.exit_code == 3


def test_a_newer_format_is_refused_with_the_way_out():
    with pytest.raises(Damaged, match=r"written by a newer ledger \(format 2\); this one reads format 1") as caught:
        read(ORDERS.replace(b'"ledger": 1', b'"ledger": 2'))
    assert "upgrade" in caught.value.hint


def test_an_older_format_is_upgraded_step_by_step(monkeypatch):
    monkeypatch.setitem(scan.UPGRADES, 0, lambda data: data.replace(b'"ledger": 0', b'"ledger": 1'))
    assert read(ORDERS.replace(b'"ledger": 1', b'"ledger": 0')) == read(ORDERS)


def test_crlf_is_accepted_for_the_whole_file():
    assert read(ORDERS.replace(b"\n", b"\r\n")) == read(ORDERS)


@pytest.mark.parametrize("put", [b"", b"\n", b'"', b"0", b"\xff", b"\\", b" "])
def test_no_byte_can_change_unseen(put):
    """Each byte of the file taken out or replaced: refused by line, or another file that would be written so."""
    data = ORDERS[: ORDERS.index(b'"slot payments')] + ORDERS[-len(b'"end": "ledger"\n}\n') :]
    assert read(data)
    for n in range(len(data)):
        mutated = data[:n] + put + data[n + 1 :]
        if mutated == data:
            continue
        try:
            entries = read(mutated)
        except Damaged as fault:
            assert "line " in fault.message or "newer ledger" in fault.message
        else:
            assert render(entries) == mutated


@settings(max_examples=200)
@given(histories, st.randoms(use_true_random=False))
def test_lines_in_disorder_are_seen_and_read_only_when_asked(sessions, rnd):
    data = render(flat(sessions))
    lines = data.decode().split("\n")
    one, other = rnd.randrange(len(lines) - 1), rnd.randrange(len(lines) - 1)
    lines[one], lines[other] = lines[other], lines[one]
    mutated = "\n".join(lines).encode()
    if mutated != data:
        with pytest.raises(Damaged, match="line "):
            read(mutated)
        try:
            entries = read(mutated, any_order=True)
        except Damaged:
            return
        assert render(entries) == data


# The file.


def put(path: Path, data: bytes) -> None:
    checkpoint.replace(checkpoint.write_temp(path, data), path)


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "ledger.json"
    put(path, b"one")
    put(path, b"two")
    assert path.read_bytes() == b"two"
    assert names(tmp_path) == ["ledger.json"]


def test_until_it_is_replaced_the_file_is_as_it_was(tmp_path):
    path = tmp_path / "ledger.json"
    put(path, b"one")
    temp = checkpoint.write_temp(path, b"two")
    assert (path.read_bytes(), temp.read_bytes(), temp.parent) == (b"one", b"two", tmp_path)


def test_the_mode_is_kept_and_a_new_file_obeys_the_umask(tmp_path):
    path = tmp_path / "ledger.json"
    before = os.umask(0o027)
    try:
        put(path, b"one")
        assert mode(path) == 0o640
        path.chmod(0o666)
        put(path, b"two")
        assert mode(path) == 0o666
    finally:
        os.umask(before)


def test_a_symlink_stays_and_the_file_behind_it_is_replaced(tmp_path):
    real, link = tmp_path / "far" / "real.json", tmp_path / "ledger.json"
    real.parent.mkdir()
    real.write_bytes(b"one")
    link.symlink_to(Path("far") / "real.json")
    temp = checkpoint.write_temp(link, b"two")
    assert temp.parent == real.parent
    checkpoint.replace(temp, link)
    assert link.is_symlink()
    assert real.read_bytes() == b"two"


def fail(code: int):
    def failing(*_: object, **__: object):
        raise OSError(code, os.strerror(code))

    return failing


@pytest.mark.parametrize(("call", "code"), [("fsync", errno.ENOSPC), ("open", errno.EROFS), ("open", errno.EACCES)])
def test_a_disk_that_does_not_take_the_file_is_named_and_left_as_it_was(tmp_path, monkeypatch, call, code):
    path = tmp_path / "ledger.json"
    path.write_bytes(b"one")
    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail(code))
        with pytest.raises(CannotWrite, match=r"cannot write .*ledger\.json") as caught:
            checkpoint.write_temp(path, b"two")
    assert os.strerror(code) in caught.value.message
    assert isinstance(caught.value, LedgerError)
    assert names(tmp_path) == ["ledger.json"]
    assert path.read_bytes() == b"one"


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(CannotWrite, match=r"nowhere/ledger\.json"):
        checkpoint.write_temp(tmp_path / "nowhere" / "ledger.json", b"one")


def test_a_rename_that_fails_leaves_the_old_file_alone(tmp_path):
    path = tmp_path / "ledger.json"
    path.mkdir()
    (path / "inside").touch()
    temp = tmp_path / "temp"
    temp.write_bytes(b"two")
    with pytest.raises(CannotWrite, match=r"ledger\.json"):
        checkpoint.replace(temp, path)
    assert names(tmp_path) == ["ledger.json"]


def test_a_folder_that_cannot_be_flushed_is_said_to_be_so(tmp_path, monkeypatch):
    path = tmp_path / "ledger.json"
    temp = checkpoint.write_temp(path, b"one")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail(errno.EIO))
        with pytest.raises(CannotWrite, match="cannot flush"):
            checkpoint.replace(temp, path)
    assert path.read_bytes() == b"one"
    temp = checkpoint.write_temp(path, b"two")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail(errno.EINVAL))  # a file system without such a thing
        checkpoint.replace(temp, path)
    assert path.read_bytes() == b"two"
