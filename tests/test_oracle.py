"""The oracle itself is pinned by hand: the orders story, the published cases, and one example a sentence of the rule.

Everything else that is tested about the two axes is compared with the oracle, so here nothing is computed that could
be written down.
"""

from __future__ import annotations

import json
import random
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.histories import Histories, rename
from tests.oracle import FOREVER, TICK, Entry, Oracle, instant

CASES = json.loads((Path(__file__).parent / "cases" / "bitemporal.json").read_text(encoding="utf-8"))


# Entries in few words. `at` is the record time, a day; the session is the day.


def item(id: str, start: str, at: str, end: str | None = None, **keys: Any) -> Entry:
    entry = {"decision": id, "text": id, "about": ["x"], "validFrom": start, "recordedAt": at, "session": at, **keys}
    return entry if end is None else entry | {"validTo": end}


def fact(id: str, start: str, at: str, **keys: Any) -> Entry:
    entry = item(id, start, at, **keys)
    return {"fact": entry.pop("decision"), **entry}


def link(old: str, new: str, at: str) -> Entry:
    return {"supersedes": old, "with": new, "recordedAt": at, "session": at}


def ending(id: str, on: str, at: str) -> Entry:
    return {"ends": id, "validTo": on, "by": "sam", "recordedAt": at, "session": at}


def rejects(target: Any, at: str) -> Entry:
    return {"rejects": target, "by": "sam", "reason": "wrong", "recordedAt": at, "session": at}


def reinstates(target: Any, at: str) -> Entry:
    return {"reinstates": target, "by": "sam", "reason": "right", "recordedAt": at, "session": at}


def pair(old: str, new: str) -> dict[str, str]:
    return {"supersedes": old, "with": new}


def stretches(ledger: list[Entry], id: str, k: str | None = None) -> list[list[str | None]]:
    """As dates, to be read."""
    found = Oracle(ledger).stretches(id, k)
    return [[edge and edge.isoformat().removesuffix("T00:00:00+00:00") for edge in stretch] for stretch in found]


def all_stretches(ledger: list[Entry]) -> dict[str, list[list[str | None]]]:
    return {id: stretches(ledger, id) for id in Oracle(ledger).items}


A = item("a", "2024-01-01", at="2024-01-02")
B = item("b", "2024-01-10", at="2024-02-01")
A_THEN_B = [A, B, link("a", "b", "2024-02-01")]


# The orders story

ORDERS: list[Entry] = [
    {
        "decision": id,
        "text": text,
        "about": about.split(),
        "validFrom": f"{start}T00:00:00Z",
        "recordedAt": f"{at}T09:00:00Z",
        "session": session,
    }
    for id, text, about, start, at, session in [
        ("d1", "orders uses postgres", "orders postgres", "2024-01-01", "2024-01-01", "session-1"),
        ("d2", "search uses elasticsearch", "search elasticsearch", "2024-01-01", "2024-01-01", "session-1"),
        ("d3", "payments runs in eu-west-1", "payments eu-west-1", "2024-01-01", "2024-01-01", "session-1"),
        ("d4", "orders uses mysql", "mysql orders", "2024-01-10", "2024-02-01", "session-2"),
        ("d5", "payments retries failed charges 3 times", "payments", "2024-02-01", "2024-02-01", "session-2"),
        ("d6", "cache order lookups in redis", "orders", "2024-02-06", "2024-02-06", "session-3"),
        ("d7", "search uses opensearch", "opensearch search", "2024-01-25", "2024-02-06", "session-3"),
        ("d8", "payments runs in us-east-1", "payments us-east-1", "2024-03-01", "2024-02-20", "session-4"),
    ]
] + [
    link("d1", "d4", "2024-02-01T09:00:00Z"),
    link("d2", "d7", "2024-02-06T09:00:00Z"),
    link("d3", "d8", "2024-02-20T09:00:00Z"),
    rejects("d6", "2024-02-12T09:00:00Z"),
]


@pytest.mark.parametrize(
    ("day", "true_on", "believed_on"),
    [
        ("2024-01-05", ["d1"], ["d1"]),
        ("2024-01-20", ["d4"], ["d1"]),
        ("2024-02-03", ["d4"], ["d4"]),
        ("2024-02-10", ["d4"], ["d4", "d6"]),
        ("2024-02-15", ["d4"], ["d4"]),
        ("2024-02-25", ["d4"], ["d4"]),
        ("2024-03-05", ["d4"], ["d4"]),
    ],
)
def test_orders_on_each_day(day: str, true_on: list[str], believed_on: list[str]) -> None:
    oracle = Oracle(ORDERS)
    assert oracle.as_of(day, "orders") == true_on
    assert oracle.believed(day, day, "Orders") == believed_on


@pytest.mark.parametrize(
    ("known", "held"),
    [("2024-01-28", ["d1", "d2", "d3"]), ("2024-02-03", ["d2", "d3", "d4"]), ("2024-02-10", ["d3", "d4", "d7"])],
)
def test_one_day_as_known_on_different_days(known: str, held: list[str]) -> None:
    assert Oracle(ORDERS).believed("2024-01-28", known) == held


@pytest.mark.parametrize(
    ("id", "valid_to", "closed_at"),
    [
        ("d1", "2024-01-10", "2024-02-01T09:00:00Z"),
        ("d2", "2024-01-25", "2024-02-06T09:00:00Z"),
        ("d3", "2024-03-01", "2024-02-20T09:00:00Z"),
        ("d4", None, None),
        ("d6", "2024-02-06", "2024-02-12T09:00:00Z"),
        ("d8", None, None),
    ],
)
def test_the_four_times_of_the_story(id: str, valid_to: str | None, closed_at: str | None) -> None:
    oracle = Oracle(ORDERS)
    assert oracle.valid_to(id) == (valid_to and instant(valid_to))
    assert oracle.closed_at(id) == (closed_at and instant(closed_at))


def test_how_late_the_story_was_learned() -> None:
    assert Oracle(ORDERS).lateness() == [
        ("d4", 22), ("d7", 12), ("d1", 0), ("d2", 0), ("d3", 0), ("d5", 0), ("d6", 0), ("d8", -10),
    ]  # fmt: skip


def test_what_changed_in_the_story() -> None:
    nothing: dict[str, list[str]] = {
        what: [] for what in ("added", "closed", "reopened", "rejected", "reinstated", "ended")
    }
    assert Oracle(ORDERS).diff("2024-01-31", "2024-02-15") == [
        nothing | {"at": instant("2024-02-01T09:00:00Z"), "added": ["d4", "d5"], "closed": ["d1"]},
        nothing | {"at": instant("2024-02-06T09:00:00Z"), "added": ["d6", "d7"], "closed": ["d2"]},
        nothing | {"at": instant("2024-02-12T09:00:00Z"), "closed": ["d6"], "rejected": ["d6"]},
    ]


# The published cases


def entries_of(sessions: list[dict[str, Any]]) -> list[Entry]:
    """What these sessions record. Only what the cases use: of a slot, that the later start supersedes the earlier."""
    entries: list[Entry] = []
    for session in sessions:
        recorded = {"recordedAt": session["at"], "session": session["session"]}
        for stated in session.get("decisions", []):
            new = {"validFrom": session["at"], **stated, **recorded}
            id, old = new.pop("id"), new.pop("supersedes", None)
            if old is not None:
                entries.append({"supersedes": old, "with": id, **recorded})
            if "slot" in new:
                for other in [e for e in entries if e.get("slot") == new["slot"]]:
                    first, later = sorted([(other["validFrom"], other["decision"]), (new["validFrom"], id)])
                    entries.append({"supersedes": first[1], "with": later[1], **recorded})
            entries.append({"decision": id, **new})
        for late in session.get("supersessions", []):
            entries.append({"supersedes": late["old"], "with": late["new"], **recorded})
        for review in session.get("reviews", []):
            entries.append({"rejects": review["reject"], "by": review["by"], "reason": review["reason"], **recorded})
    return entries


def questions(case: dict[str, Any]) -> list[dict[str, Any]]:
    about_writing = {"same_answer_if", "apply_refused", "apply_again", "apply_again_with"}
    return [ask for ask in case["ask"] if ask["q"] not in about_writing]


def answer(oracle: Oracle, ask: dict[str, Any]) -> Any:
    match ask["q"]:
        case "as_of":
            return oracle.as_of(ask["t"])
        case "believed":
            return oracle.believed(ask["validAt"], ask["knownAt"])
        case "validTo":
            return oracle.valid_to(ask["id"])
        case "closedAt":
            return oracle.closed_at(ask["id"])
        case "lateness":
            return oracle.lateness()
        case "diff":
            writes = oracle.diff(ask["from"], ask["to"])
            assert not any(write[what] for write in writes for what in ("reopened", "reinstated", "ended"))
            return [
                {"written": write["at"], **{what: write[what] for what in ("added", "closed", "rejected")}}
                for write in writes
            ]
        case unknown:
            raise AssertionError(f"no such question: {unknown}")


def expected(ask: dict[str, Any]) -> Any:
    match ask["q"], ask["expect"]:
        case "validTo" | "closedAt", str(time):
            return instant(time)
        case "lateness", dict(days):
            return list(days.items())
        case "diff", list(writes):
            return [write | {"written": instant(write["written"])} for write in writes]
        case _, plain:
            return plain


def test_there_are_thirteen_cases() -> None:
    assert len(CASES) == 13
    assert [case["id"] for case in CASES if not questions(case)] == ["clock-goes-back", "retry"]


@pytest.mark.parametrize(
    ("case", "ask"),
    [
        pytest.param(case, ask, id=f"{case['id']}-{n}-{ask['q']}")
        for case in CASES
        for n, ask in enumerate(questions(case))
    ],
)
def test_case(case: dict[str, Any], ask: dict[str, Any]) -> None:
    assert answer(Oracle(entries_of(case["sessions"])), ask) == expected(ask)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case_under_other_names_on_other_days(case: dict[str, Any]) -> None:
    sessions, renaming = rename(case["sessions"], days=-4321)
    oracle = Oracle(entries_of(sessions))
    for ask in questions(case):
        known = {"q": ask["q"]}
        assert answer(oracle, renaming.of(ask) | known) == expected(renaming.of(ask) | known)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case_in_another_order(case: dict[str, Any]) -> None:
    """The set of entries decides, not their order; so does the place of a decision in its session file."""
    backwards = [session | {"decisions": session.get("decisions", [])[::-1]} for session in case["sessions"]]
    oracles = [Oracle(entries_of(backwards)), Oracle(entries_of(case["sessions"])[::-1])]
    for ask in questions(case):
        assert [answer(oracle, ask) for oracle in oracles] == [expected(ask)] * 2


# "It follows, and tests must show"


def test_a_late_correction_does_not_change_what_was_believed() -> None:
    before, after = Oracle([A]), Oracle(A_THEN_B)
    assert before.believed("2024-01-20", "2024-01-20") == after.believed("2024-01-20", "2024-01-20") == ["a"]
    assert after.as_of("2024-01-20") == ["b"]

    corrected = Oracle([A, item("c", "2024-01-01", at="2024-02-01", corrects="a")])
    assert corrected.believed("2024-01-20", "2024-01-31") == ["a"]
    assert corrected.believed("2024-01-20", "2024-02-01") == corrected.as_of("2024-01-20") == ["c"]


def test_a_planned_change_holds_only_from_its_day() -> None:
    ledger = [A, item("plan", "2024-03-01", at="2024-02-01"), link("a", "plan", "2024-02-01")]
    for known in ("2024-02-01", None):
        assert stretches(ledger, "a", known) == [["2024-01-01", "2024-03-01"]]
        assert stretches(ledger, "plan", known) == [["2024-03-01", None]]


def test_a_rejected_item_was_believed_until_the_review_and_was_never_true() -> None:
    oracle = Oracle([A, rejects("a", "2024-02-12T09:00:00Z")])
    assert oracle.believed("2024-02-01", "2024-02-12T08:59:59.999999Z") == ["a"]
    assert oracle.believed("2024-02-01", "2024-02-12T09:00:00Z") == []
    assert oracle.stretches("a") == []
    assert oracle.valid_to("a") == instant("2024-01-01")
    assert oracle.closed_at("a") == instant("2024-02-12T09:00:00Z")


def test_a_link_that_arrives_late_closes_at_the_links_clock() -> None:
    oracle = Oracle([A, B, link("a", "b", "2024-03-15")])
    assert oracle.believed("2024-02-15", "2024-03-14") == ["a", "b"]
    assert oracle.believed("2024-02-15", "2024-03-15") == ["b"]
    assert (oracle.valid_to("a"), oracle.closed_at("a")) == (instant("2024-01-10"), instant("2024-03-15"))


def test_a_successor_that_starts_earlier_leaves_no_inverted_interval() -> None:
    ledger = [B, item("early", "2024-01-05", at="2024-03-01"), link("b", "early", "2024-03-01")]
    assert stretches(ledger, "b", "2024-02-29") == [["2024-01-10", None]]
    assert stretches(ledger, "b") == []
    assert Oracle(ledger).valid_to("b") == instant("2024-01-10")
    assert stretches(ledger, "early") == [["2024-01-05", None]]


def test_a_bounded_successor_replaces_only_that_portion() -> None:
    ledger = [A, item("b", "2024-01-10", at="2024-01-05", end="2024-01-20"), link("a", "b", "2024-01-05")]
    assert stretches(ledger, "a") == [["2024-01-01", "2024-01-10"], ["2024-01-20", None]]
    assert (Oracle(ledger).valid_to("a"), Oracle(ledger).closed_at("a")) == (None, None)


def test_for_good_an_ending() -> None:
    """What an ended item replaced does not hold again: the ended item still claims the time after its end."""
    ledger = [*A_THEN_B, ending("b", "2024-03-01", at="2024-02-20")]
    assert stretches(ledger, "a") == [["2024-01-01", "2024-01-10"]]
    assert stretches(ledger, "b") == [["2024-01-10", "2024-03-01"]]
    assert Oracle(ledger).closed_at("b") == instant("2024-02-20")


def test_precedence_comes_from_links_not_from_the_order_of_writing() -> None:
    """The item written last is the one superseded."""
    ledger = [A, item("later", "2024-01-01", at="2024-02-01"), link("later", "a", "2024-02-01")]
    assert Oracle(ledger).as_of("2024-03-01") == ["a"]
    assert Oracle(ledger[:2]).as_of("2024-03-01") == ["a", "later"]


# The laws

BEFORE: list[list[Entry]] = [
    [A],
    A_THEN_B,
    [A, item("b", "2024-01-10", at="2024-01-12", end="2024-01-20"), link("a", "b", "2024-01-12")],
    [A, item("c", "2024-01-05", at="2024-01-20", end="2024-03-01", corrects="a"), B, link("c", "b", "2024-02-01")],
]


@pytest.mark.parametrize("before", BEFORE)
def test_undoing_is_as_if_it_had_not_been(before: list[Entry]) -> None:
    current = "c" if any(e.get("decision") == "c" for e in before) else "a"
    new = item("new", "2024-01-07", at="2024-04-01")
    correction = item("new", "2024-01-08", at="2024-04-01", corrects=current)
    done_and_undone = [
        [new, link(current, "new", "2024-04-01"), rejects("new", "2024-04-02")],
        [correction, rejects("new", "2024-04-02")],
        [rejects(current, "2024-04-01"), reinstates(current, "2024-04-02")],
        [new, link(current, "new", "2024-04-01"), *(rejects(t, "2024-04-02") for t in ("new", pair(current, "new")))],
        [ending(current, "2024-01-09", at="2024-04-01"), rejects({"ends": current}, "2024-04-02")],
    ]  # fmt: skip
    for more in done_and_undone:
        after = all_stretches(before + more)
        assert after.pop("new", []) == []
        assert after == all_stretches(before)


def test_a_rejected_link_leaves_both_items_holding() -> None:
    assert all_stretches([*A_THEN_B, rejects(pair("a", "b"), "2024-02-02")]) == all_stretches([A, B])


@pytest.mark.parametrize("before", BEFORE)
def test_a_correction_of_the_text_alone_is_renaming(before: list[Entry]) -> None:
    current = next(e for e in before if e["decision"] == ("c" if len(before) == 4 else "a"))
    text_alone = current | {
        "decision": "new",
        "text": "new",
        "recordedAt": "2024-04-01",
        "corrects": current["decision"],
    }
    was, now = all_stretches(before), all_stretches([*before, text_alone])
    assert now.pop(current["decision"]) == []
    assert now.pop("new") == was.pop(current["decision"])
    assert now == was


def test_a_second_ending_replaces_the_first() -> None:
    first, second = ending("a", "2024-02-01", at="2024-01-20"), ending("a", "2024-03-01", at="2024-01-21")
    assert stretches([A, first, second], "a", "2024-01-20") == [["2024-01-01", "2024-02-01"]]
    assert all_stretches([A, first, second]) == all_stretches([A, second])
    sooner = ending("a", "2024-01-15", at="2024-01-21")
    assert all_stretches([A, first, sooner]) == all_stretches([A, sooner])


def test_nothing_recorded_later_changes_what_was_known() -> None:
    for k in ("2024-01-28", "2024-02-01T08:59:59.999999Z", "2024-02-01T09:00:00Z", "2024-02-12T09:00:00Z"):
        recorded = [e for e in ORDERS if instant(e["recordedAt"]) <= instant(k)]
        oracle, then = Oracle(ORDERS), Oracle(recorded)
        for day in ("2024-01-05", "2024-01-20", "2024-01-26", "2024-02-10", "2024-03-01"):
            assert oracle.believed(day, k) == then.as_of(day)


# Each clause, word by word


def test_intervals_are_half_open_to_the_microsecond() -> None:
    oracle = Oracle([item("a", "2024-01-01", at="2024-01-02", end="2024-01-10T00:00:00.5Z")])
    assert [oracle.claims("a", x) for x in (instant("2024-01-01") - TICK, "2024-01-01")] == [False, True]
    last = instant("2024-01-10T00:00:00.5Z")
    assert [oracle.holds("a", x) for x in (last - TICK, last)] == [True, False]
    assert [oracle.holds("a", "2024-01-05", k) for k in (instant("2024-01-02") - TICK, "2024-01-02")] == [False, True]


def test_times_are_instants_whatever_offset_they_are_written_with() -> None:
    assert instant("2024-02-01T02:00:00+02:00") == instant("2024-02-01") == instant("2024-01-31T19:30:00-04:30")


def test_of_two_verdicts_at_one_instant_rejects_wins() -> None:
    both = [rejects("a", "2024-02-01"), reinstates("a", "2024-02-01")]
    assert all_stretches([A, *both]) == all_stretches([A, *both[::-1]]) == {"a": []}
    assert stretches([A, *both, reinstates("a", "2024-02-02")], "a") == [["2024-01-01", None]]


def test_an_item_rejected_at_its_own_clock_was_never_believed() -> None:
    oracle = Oracle([A, rejects("a", "2024-01-02")])
    assert not any(oracle.holds("a", "2024-01-05", k) for k in ("2024-01-01", "2024-01-02", "2024-01-03", None))
    assert oracle.closed_at("a") == instant("2024-01-02")


def test_a_verdict_on_a_link_is_on_the_two_places_in_that_direction() -> None:
    """Rejected by the ids of any versions, before or after another entry of the pair; not the link the other way."""
    c = item("c", "2024-01-01", at="2024-02-10", corrects="a")
    ledger = [*A_THEN_B, c, link("c", "b", "2024-02-11")]
    assert stretches(ledger, "c") == [["2024-01-01", "2024-01-10"]]
    for names, at in [(pair("a", "b"), "2024-02-10"), (pair("c", "b"), "2024-02-12")]:
        assert stretches([*ledger, rejects(names, at)], "c") == [["2024-01-01", None]]
    assert stretches([*ledger, rejects(pair("b", "a"), "2024-02-12")], "c") == [["2024-01-01", "2024-01-10"]]
    both_ways = [*ledger, rejects(pair("a", "b"), "2024-02-12"), reinstates(pair("c", "b"), "2024-02-13")]
    assert stretches(both_ways, "c") == [["2024-01-01", "2024-01-10"]]


def test_a_verdict_on_an_ending_is_on_every_ending_of_the_place_recorded_by_then() -> None:
    c = item("c", "2024-01-01", at="2024-02-10", corrects="a")
    ended = [A, ending("a", "2024-03-01", at="2024-02-05"), c, ending("c", "2024-04-01", at="2024-02-11")]
    assert stretches(ended, "c") == [["2024-01-01", "2024-04-01"]]
    assert stretches([*ended, rejects({"ends": "c"}, "2024-02-11")], "c") == [["2024-01-01", None]]
    assert stretches([*ended, rejects({"ends": "c"}, "2024-02-10")], "c") == [["2024-01-01", "2024-04-01"]]
    again = [*ended, rejects({"ends": "a"}, "2024-02-12"), ending("c", "2024-05-01", at="2024-02-13")]
    assert stretches(again, "c") == [["2024-01-01", "2024-05-01"]]


def test_of_two_endings_of_one_clock_the_earlier_date_counts() -> None:
    ends = [ending("a", "2024-03-01", at="2024-02-05"), ending("a", "2024-02-20", at="2024-02-05")]
    assert all_stretches([A, *ends]) == all_stretches([A, *ends[::-1]]) == {"a": [["2024-01-01", "2024-02-20"]]}


def test_an_item_is_in_force_unless_something_that_corrects_it_is_live() -> None:
    c = item("c", "2024-01-01", at="2024-02-01", corrects="a")
    e = item("e", "2024-01-05", at="2024-02-03", corrects="c")
    ledger = [A, c, rejects("c", "2024-02-02"), e]
    assert [Oracle(ledger).in_force(id) for id in "ace"] == [False, False, True]  # e corrects a, over c
    assert [Oracle(ledger).in_force(id, "2024-02-02") for id in "ace"] == [True, False, False]
    assert [Oracle([*ledger, rejects("a", "2024-02-04")]).in_force(id) for id in "ace"] == [False, False, True]
    assert [Oracle([*ledger, rejects("e", "2024-02-04")]).in_force(id) for id in "ace"] == [True, False, False]


def test_links_and_endings_belong_to_the_place_whatever_its_versions_came_to() -> None:
    c = item("c", "2024-01-02", at="2024-03-01", corrects="a")
    ended = [*A_THEN_B, c, ending("c", "2024-01-09", at="2024-03-02"), rejects("c", "2024-03-03")]
    assert stretches(ended, "a") == [["2024-01-01", "2024-01-09"]]
    assert Oracle(ended).place("a") == Oracle(ended).place("c") == {"a", "c"}
    moved = [*A_THEN_B, item("d", "2024-01-20", at="2024-03-01", corrects="b")]
    assert stretches(moved, "a") == [["2024-01-01", "2024-01-20"]]


def test_what_replaced_it_is_reached_over_links_whatever_lies_between() -> None:
    chain = [*A_THEN_B, item("c", "2024-01-20", at="2024-03-01"), link("b", "c", "2024-03-01")]
    without_b = [*chain, rejects("b", "2024-03-02")]
    assert stretches(without_b, "a") == [["2024-01-01", "2024-01-20"]]
    cut = [*without_b, rejects(pair("b", "c"), "2024-03-03")]
    assert stretches(cut, "a") == [["2024-01-01", None]]


def test_places_that_replace_each_other_both_fall() -> None:
    """No writer is let do this, but two branches can merge to it; an answer must not loop."""
    ledger = [*A_THEN_B, link("b", "a", "2024-02-02")]
    assert all_stretches(ledger) == {"a": [["2024-01-01", "2024-01-10"]], "b": []}


# Shown with an item


def test_the_end_an_item_states_itself_was_never_closed() -> None:
    a = item("a", "2024-01-01", at="2024-01-02", end="2024-01-10")
    assert (Oracle([a]).valid_to("a"), Oracle([a]).closed_at("a")) == (instant("2024-01-10"), None)
    same = Oracle([a, ending("a", "2024-01-10", at="2024-01-05")])
    assert (same.valid_to("a"), same.closed_at("a")) == (instant("2024-01-10"), None)


def test_closed_at_is_since_when_that_end_has_stood_as_known_at_k() -> None:
    """A second reason for the same end moves nothing; an end that fell away and came back stands since it came back."""
    ledger = [
        *A_THEN_B,
        ending("a", "2024-01-10", at="2024-02-02"),
        rejects({"ends": "a"}, "2024-02-03"),
        rejects("b", "2024-02-04"),
        reinstates("b", "2024-02-05"),
    ]
    oracle = Oracle(ledger)
    since = {
        k: oracle.closed_at("a", k) for k in ("2024-01-31", "2024-02-01", "2024-02-03", "2024-02-04", "2024-02-05")
    }
    assert [at and at.day for at in since.values()] == [None, 1, 1, None, 5]
    assert oracle.closed_at("a") == instant("2024-02-05")


def test_what_never_held_closed_when_it_was_recorded() -> None:
    ledger = [B, item("late", "2024-01-15", at="2024-03-01"), link("late", "b", "2024-03-01")]
    assert Oracle(ledger).valid_to("late") == instant("2024-01-15")
    assert Oracle(ledger).closed_at("late") == instant("2024-03-01")


# Reports


def test_diff_names_what_was_reopened_reinstated_and_ended() -> None:
    ledger = [
        *A_THEN_B,
        rejects("b", "2024-03-01"),
        reinstates("b", "2024-03-02"),
        rejects(pair("a", "b"), "2024-03-03"),
        ending("b", "2024-05-01", at="2024-03-04"),
        rejects({"ends": "b"}, "2024-03-05"),
        {"entity": "x", "kind": "service", "recordedAt": "2024-03-06", "session": "s"},
    ]
    said = {
        w["at"].day: {k: v for k, v in w.items() if v and k != "at"} for w in Oracle(ledger).diff("2024-02-01", FOREVER)
    }
    assert said == {
        1: {"closed": ["b"], "reopened": ["a"], "rejected": ["b"]},
        2: {"closed": ["a"], "reopened": ["b"], "reinstated": ["b"]},
        3: {"reopened": ["a"]},
        4: {"closed": ["b"], "ended": ["b"]},
        5: {"reopened": ["b"]},
    }


def test_diff_of_a_plan_that_moved_closes_one_item_at_both_its_edges() -> None:
    """One write can close and reopen the same item, at different instants."""
    plan = item("plan", "2024-04-01", at="2024-02-01", end="2024-05-01")
    moved = item("moved", "2024-04-15", at="2024-02-02", end="2024-05-15", corrects="plan")
    (write,) = Oracle([A, plan, link("a", "plan", "2024-02-01"), moved]).diff("2024-02-01", "2024-02-02")
    assert (write["added"], write["closed"], write["reopened"]) == (["moved"], ["a", "plan"], ["a"])


def test_diff_of_an_item_that_is_added_and_closed_in_one_write() -> None:
    late = [B, item("late", "2024-01-05", at="2024-03-01"), link("late", "b", "2024-03-01")]
    (write,) = Oracle(late).diff("2024-02-01", "2024-03-01")
    assert (write["added"], write["closed"], write["reopened"]) == (["late"], ["late"], [])


def test_lateness_counts_days_between_utc_dates() -> None:
    ledger = [
        item("b", "2024-01-01T23:59:59Z", at="2024-01-02T00:00:01Z"),
        item("a", "2024-01-01T00:00:00Z", at="2024-01-02T23:00:00Z"),
        item("c", "2024-01-02T01:00:00+02:00", at="2024-01-01T23:00:00Z"),
    ]
    assert Oracle(ledger).lateness() == [("a", 1), ("b", 1), ("c", 0)]


def test_two_items_of_one_kind_that_hold_in_one_slot_at_once_are_a_conflict() -> None:
    a, b = item("a", "2024-01-01", at="2024-01-02", slot="s"), item("b", "2024-01-10", at="2024-02-01", slot="s")
    assert Oracle([b, a]).slot_conflicts() == [("a", "b")]
    assert Oracle([a, b, link("a", "b", "2024-02-01")]).slot_conflicts() == []
    assert Oracle([a, fact("f", "2024-01-01", at="2024-01-02", slot="s")]).slot_conflicts() == []
    assert Oracle([a, b | {"slot": "other"}]).slot_conflicts() == []
    touching = a | {"validTo": "2024-01-10"}
    assert Oracle([touching, b]).slot_conflicts() == []


def test_entities_are_one_whatever_their_case_spaces_or_composition() -> None:
    oracle = Oracle([A | {"about": ["Team Bl\u00fce"]}, fact("f", "2024-01-01", at="2024-01-02", about=[])])
    assert oracle.as_of("2024-01-05", " TEAM  blu\u0308e ") == ["a"]
    assert oracle.as_of("2024-01-05") == ["a", "f"]


# The generator and the renaming, as far as they can be tested without a tool that refuses


def history(seed: int, sessions: int = 12, **options: Any) -> list[dict[str, Any]]:
    histories, proposed = Histories(random.Random(seed), **options), []
    for _ in range(sessions):
        session = histories.next()
        histories.accepted(session)
        proposed.append(session)
    return proposed


def test_one_seed_gives_one_history_of_plain_json() -> None:
    for seed in range(20):
        first, again = history(seed), history(seed)
        assert first == again == json.loads(json.dumps(first))


def test_histories_hold_everything_a_session_can_state() -> None:
    sessions = [session for seed in range(60) for session in history(seed, wild=0)]
    seen = {key for session in sessions for key in session}
    seen |= {
        f"{group}.{key}" for s in sessions for group in s if isinstance(s[group], list) for e in s[group] for key in e
    }
    seen |= {
        f"{verb} {'an item' if isinstance(target, str) else sorted(target)}"
        for s in sessions
        for review in s.get("reviews", [])
        for verb, target in review.items()
        if verb in ("reject", "reinstate")
    }
    keys = ["id", "text", "rationale", "slot", "about", "validFrom", "validTo", "supersedes", "corrects", "from"]
    assert seen >= {f"{group}.{key}" for group in ("decisions", "facts") for key in keys}
    assert seen >= {"by", "entities", "episodes", "supersessions", "endings", "episodes.at", "episodes.mentions"}
    assert seen >= {f"{v} {t}" for v in ("reject", "reinstate") for t in ("an item", ["end"], ["new", "old"])}
    assert any(item.get("validTo") == "open" for s in sessions for item in s.get("decisions", []))
    assert any(a["at"] == b["at"] for a, b in pairwise(sessions))


def test_tame_sessions_come_in_the_order_of_clock_and_id() -> None:
    for seed in range(20):
        sessions = history(seed, wild=0)
        assert sessions == sorted(sessions, key=lambda s: (instant(s["at"]), s["session"]))


def test_renaming_renames_everything_consistently() -> None:
    session = {
        "session": "s",
        "at": "2024-02-28T23:30:00-01:00",
        "decisions": [{"text": "t", "about": ["Team  Blue"], "validTo": "open", "corrects": "a", "from": ["e"]}],
        "reviews": [{"reject": {"old": "a", "new": "b"}, "by": "sam", "reason": "r"}],
    }
    ((renamed,), renaming) = rename([session], days=2, prefix="n-")
    assert renamed == {
        "session": "n-s",
        "at": "2024-03-01T23:30:00-01:00",
        "decisions": [
            {"text": "n-t", "about": ["n-Team  Blue"], "validTo": "open", "corrects": "n-a", "from": ["n-e"]}
        ],
        "reviews": [{"reject": {"old": "n-a", "new": "n-b"}, "by": "n-sam", "reason": "n-r"}],
    }
    assert renaming.of({"id": "s/d1", "about": ["Team Blue"], "validFrom": "2024-02-29T00:00:00Z", "holds": None}) == {
        "id": "n-s/d1",
        "about": ["n-Team Blue"],
        "validFrom": "2024-03-02T00:00:00Z",
        "holds": None,
    }


def test_a_renaming_that_would_change_the_answers_is_refused() -> None:
    session = {"session": "s", "at": "2024-02-28", "decisions": [{"id": "a", "text": "t"}, {"id": "b", "text": "a"}]}
    with pytest.raises(ValueError, match="order"):
        rename([session], ids=lambda id: {"a": "z", "b": "y"}.get(id, id), texts=lambda text: "z")
    with pytest.raises(ValueError, match="both"):
        rename([session], texts=lambda text: f"other {text}")


def test_nothing_in_the_rule_knows_what_day_it_is() -> None:
    """Entries moved by whole days move their stretches by as much."""
    entries = ORDERS
    shift = timedelta(days=1000)
    moved = [{k: instant(v) + shift if k in ("recordedAt", "validFrom") else v for k, v in e.items()} for e in entries]
    for id in Oracle(entries).items:
        assert Oracle(moved).stretches(id) == [
            [edge and edge + shift for edge in stretch] for stretch in Oracle(entries).stretches(id)
        ]
