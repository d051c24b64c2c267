"""What a session may write: every refusal once, named and placed; and how a slot orders itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ledger_cli import effects, rules, session_file
from ledger_cli.errors import Refused
from ledger_cli.history import History
from ledger_cli.holds import known_at, sweep
from ledger_cli.instant import LAST, parse, tidy
from ledger_cli.known import Known
from ledger_cli.model import Ending, Item, Link, Review
from tests.in_memory import LATER, Memory, read

Doc = dict[str, Any]


def begin() -> Memory:
    """A decision in a slot, one outside, a fact, an episode, an entity with a kind; recorded on 1 and 2 January."""
    memory = Memory()
    memory.apply(
        {
            "session": "one",
            "at": "2024-01-01T09:00:00Z",
            "by": "ada",
            "entities": [{"name": "Orders", "kind": "service"}],
            "episodes": [{"id": "e1", "kind": "message", "text": "hello"}],
            "decisions": [
                {"id": "a", "text": "A", "slot": "x/y", "about": ["Orders"], "validFrom": "2024-01-01", "from": "e1"},
                {"id": "b", "text": "B", "validFrom": "2024-01-05", "validTo": "2024-06-01"},
            ],
            "facts": [{"id": "f", "text": "F", "validFrom": "2024-01-01"}],
        }
    )
    memory.apply(
        {
            "session": "two",
            "at": "2024-01-02T09:00:00Z",
            "decisions": [
                {"id": "c", "text": "C", "validFrom": "2024-01-02"},
                {"id": "b2", "text": "B2", "corrects": "b"},
            ],
        }
    )
    return memory


def at(day: int, **session: Any) -> Doc:
    return {"session": "s", "at": f"2024-02-{day:02}T09:00:00Z", **session}


def refused(memory: Memory, document: Doc, **options: bool) -> list[str]:
    """The problems that a session is refused for; nothing is recorded."""
    before = list(memory.entries)
    with pytest.raises(Refused) as caught:
        memory.apply(document, **options)
    assert memory.entries == before
    return [p.what for p in caught.value.problems]


REFUSALS: dict[str, tuple[Doc, str]] = {
    "an unknown item to supersede": (at(1, decisions=[{"text": "n", "supersedes": "zz"}]), "zz is unknown"),
    "an unknown item to correct": (at(1, decisions=[{"text": "n", "corrects": "zz"}]), "zz is unknown"),
    "an unknown end of a link": (at(1, supersessions=[{"old": "a", "new": "zz"}]), "zz is unknown"),
    "an unknown item to end": (at(1, endings=[{"id": "zz", "validTo": "2024-03-01", "by": "sam"}]), "zz is unknown"),
    "an unknown item to reject": (at(1, reviews=[{"reject": "zz", "by": "sam", "reason": "r"}]), "zz is unknown"),
    "an unknown episode": (at(1, decisions=[{"text": "n", "from": "e9"}]), "unknown episode e9"),
    "a link that is not recorded": (
        at(1, reviews=[{"reject": {"old": "a", "new": "c"}, "by": "sam", "reason": "r"}]),
        "no link from a to c is recorded",
    ),
    "an ending that is not recorded": (
        at(1, reviews=[{"reject": {"end": "a"}, "by": "sam", "reason": "r"}]),
        "no ending of a is recorded",
    ),
    "an id recorded with another text": (at(1, decisions=[{"id": "a", "text": "Z"}]), "a is recorded already by one"),
    "an id recorded by another session": (at(1, decisions=[{"id": "a", "text": "A"}]), "a is recorded already by one"),
    "one name space for items": (at(1, facts=[{"id": "a", "text": "A"}]), "a is recorded already"),
    "an episode recorded by another session": (
        at(1, episodes=[{"id": "e1", "kind": "message", "text": "hello"}]),
        "episode e1 is recorded by one",
    ),
    "superseding across kinds": (at(1, facts=[{"id": "n", "text": "n", "supersedes": "c"}]), "cannot supersede"),
    "correcting across kinds": (at(1, facts=[{"id": "n", "text": "n", "corrects": "c"}]), "n is a fact, but c is a"),
    "an entity of another kind": (
        at(1, entities=[{"name": "ORDERS", "kind": "team"}]),
        "Orders has the kind service, not team",
    ),
    "an item of two kinds of entity at once": (
        at(1, entities=[{"name": "q", "kind": "team"}, {"name": "Q", "kind": "person"}]),
        "q has the kind team",
    ),
    "a cycle": (
        at(1, supersessions=[{"old": "c", "new": "b2"}, {"old": "b2", "new": "c"}]),
        "directly or over others",
    ),
    "superseding what this session corrects": (
        at(1, decisions=[{"id": "n", "text": "n", "corrects": "c", "supersedes": "c"}]),
        "c was corrected by n",
    ),
    "ending what this session corrects": (
        at(1, decisions=[{"id": "n", "corrects": "c"}], endings=[{"id": "c", "validTo": "2024-03-01", "by": "sam"}]),
        "c was corrected by n",
    ),
    "superseding itself": (at(1, supersessions=[{"old": "c", "new": "c"}]), "cannot supersede itself"),
    "nothing": (at(1), "brings nothing"),
    "correcting what was corrected": (at(1, decisions=[{"text": "n", "corrects": "b"}]), "b was corrected by b2"),
    "linking what was corrected": (at(1, supersessions=[{"old": "b", "new": "c"}]), "b was corrected by b2"),
    "linking with what was corrected": (at(1, supersessions=[{"old": "c", "new": "b"}]), "b was corrected by b2"),
    "ending what was corrected": (
        at(1, endings=[{"id": "b", "validTo": "2024-03-01", "by": "s"}]),
        "b was corrected by b2",
    ),
    "superseding what was corrected": (at(1, decisions=[{"text": "n", "supersedes": "b"}]), "b was corrected by b2"),
    "an end before the start": (
        at(1, decisions=[{"id": "n", "text": "n", "validFrom": "2024-03-01", "validTo": "2024-03-01"}]),
        "n would end at 2024-03-01, not after its start",
    ),
    "an end before the start, inherited": (
        at(1, decisions=[{"id": "n", "corrects": "b2", "validFrom": "2024-07-01"}]),
        "as inherited",
    ),
    "an ending before the start": (
        at(1, endings=[{"id": "a", "validTo": "2023-12-31", "by": "sam"}]),
        "a cannot end at 2023-12-31, before it starts",
    ),
    "a clock older than the newest entry": (
        {"session": "s", "at": "2024-01-01T10:00:00Z", "decisions": [{"text": "n"}]},
        "the newest entry was recorded at 2024-01-02T09:00:00Z",
    ),
    "a clock ahead of the machine's": (
        {"session": "s", "at": "2100-01-01T00:05:01Z", "decisions": [{"text": "n"}]},
        "more than five minutes ahead",
    ),
    "correcting an item of the same session": (
        at(1, decisions=[{"id": "n", "text": "n"}, {"id": "m", "corrects": "n", "text": "m"}]),
        "m corrects n of the same session",
    ),
    "a slotted item superseded from outside": (
        at(1, decisions=[{"id": "n", "text": "n", "supersedes": "a"}]),
        "n is in no slot, and cannot supersede a in slot x/y",
    ),
    "a slotted item superseded from another slot": (
        at(1, decisions=[{"id": "n", "text": "n", "slot": "x/z", "supersedes": "a"}]),
        "n is in slot x/z, and cannot supersede a in slot x/y",
    ),
    "a correction in another slot": (
        at(1, decisions=[{"id": "n", "slot": "x/z", "corrects": "a"}]),
        "n is in slot x/z, but corrects a in slot x/y",
    ),
    "two corrections of one item": (
        at(1, decisions=[{"id": "n", "corrects": "c"}, {"id": "m", "corrects": "c"}]),
        "m and n would both stand",
    ),
    "a recorded session with more in it": (
        {"session": "two", "at": "2024-01-02T09:00:00Z", "decisions": [{"id": "n", "text": "n"}]},
        "session two is recorded already, with other content",
    ),
    "a recorded session of another clock": (
        {"session": "two", "at": "2024-01-03T09:00:00Z", "decisions": [{"id": "c", "text": "C"}]},
        "session two is recorded already, with other content",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refused(name: str) -> None:
    document, what = REFUSALS[name]
    problems = refused(begin(), document)
    assert any(what in problem for problem in problems), problems


def test_all_refusals_of_a_session_come_at_once_each_at_its_line() -> None:
    text = (
        "session: s\nat: 2024-02-01T09:00:00Z\ndecisions:\n  - {id: a, text: Z}\n  - {id: n, text: n, corrects: zz}\n"
    )
    session = session_file.read(text, "sessions/s.yaml")[0]
    with pytest.raises(Refused) as caught:
        begin().apply(session)
    assert [p.where for p in caught.value.problems] == ["sessions/s.yaml:4", "sessions/s.yaml:5"]


def test_reinstating_a_link_may_not_close_a_circle() -> None:
    memory = begin()
    memory.apply(at(1, supersessions=[{"old": "c", "new": "b2"}]))
    verdict = {"by": "sam", "reason": "r"}
    memory.apply(
        {"session": "t", "at": "2024-02-02T09:00:00Z", "reviews": [{"reject": {"old": "c", "new": "b2"}, **verdict}]}
    )
    memory.apply({"session": "u", "at": "2024-02-03T09:00:00Z", "supersessions": [{"old": "b2", "new": "c"}]})
    document = {
        "session": "v",
        "at": "2024-02-04T09:00:00Z",
        "reviews": [{"reinstate": {"old": "c", "new": "b2"}, **verdict}],
    }
    assert "directly or over others" in refused(memory, document)[0]


def test_reinstating_a_correction_beside_another_is_refused() -> None:
    memory = begin()
    verdict = {"by": "sam", "reason": "r"}
    memory.apply(at(1, reviews=[{"reject": "b2", **verdict}]))
    memory.apply(
        {"session": "t", "at": "2024-02-02T09:00:00Z", "decisions": [{"id": "b3", "text": "B3", "corrects": "b"}]}
    )
    document = {"session": "u", "at": "2024-02-03T09:00:00Z", "reviews": [{"reinstate": "b2", **verdict}]}
    assert refused(memory, document) == ["b2 and b3 would both stand as the correction of one item"]


def test_a_write_that_would_leave_two_current_answers_is_refused_by_name_and_interval() -> None:
    memory = begin()
    memory.apply(at(1, decisions=[{"id": "n", "text": "n", "slot": "x/y", "validFrom": "2024-01-20"}]))
    verdict = {"reject": {"old": "a", "new": "n"}, "by": "sam", "reason": "r"}
    document = {"session": "t", "at": "2024-02-02T09:00:00Z", "reviews": [verdict]}
    assert refused(memory, document) == ["a and n would both hold in slot x/y from 2024-01-20 on"]


# Backdated


def test_backdated_accepts_an_older_clock_for_what_touches_nothing_newer() -> None:
    memory = begin()
    document = {
        "session": "s",
        "at": "2024-01-01T10:00:00Z",
        "decisions": [{"id": "n", "text": "n", "supersedes": "a", "slot": "x/y"}],
    }
    refused(memory, document)
    assert memory.apply(document, backdated=True) is not None


NEWER = "recorded at 2024-01-02T09:00:00Z"


@pytest.mark.parametrize(
    "brings",
    [
        {"decisions": [{"text": "n", "supersedes": "c"}]},
        {"decisions": [{"text": "n", "corrects": "c"}]},
        {"supersessions": [{"old": "c", "new": "b2"}]},
        {"endings": [{"id": "c", "validTo": "2024-05-01", "by": "sam"}]},
        {"reviews": [{"reject": "c", "by": "sam", "reason": "r"}]},
    ],
)
def test_backdated_never_reaches_before_what_it_touches(brings: Doc) -> None:
    problems = refused(begin(), {"session": "s", "at": "2024-01-01T10:00:00Z", **brings}, backdated=True)
    assert any(p == f"session s has the clock 2024-01-01T10:00:00Z, but touches c, {NEWER}" for p in problems), problems


# A retry


def test_the_same_session_again_is_nothing_whatever_came_since() -> None:
    memory = begin()
    memory.apply(
        at(1, reviews=[{"reject": "c", "by": "sam", "reason": "r"}], decisions=[{"text": "n", "corrects": "b2"}])
    )
    document = {
        "session": "two",
        "at": "2024-01-02T09:00:00Z",
        "decisions": [{"id": "c", "text": "C"}, {"id": "b2", "text": "B2", "corrects": "b"}],
    }
    assert memory.apply(document) is None
    assert (
        memory.apply({**document, "decisions": document["decisions"][:1]}) is None
    )  # what it leaves out is not compared


@pytest.mark.parametrize(
    "change",
    [
        {"text": "Z"},
        {"slot": "z"},
        {"about": ["z"]},
        {"validFrom": "2024-01-09"},
        {"validTo": "2025-01-01"},
        {"rationale": "z"},
        {"confidence": 0.5},
        {"supersedes": "b2"},
        {"from": "e1"},
    ],
    ids=lambda c: next(iter(c)),
)
def test_the_same_id_with_other_content_is_no_retry(change: Doc) -> None:
    document = {"session": "two", "at": "2024-01-02T09:00:00Z", "decisions": [{"id": "c", "text": "C", **change}]}
    assert "recorded already, with other content" in refused(begin(), document)[0]


def test_what_another_session_stated_is_recorded_again_under_this_id() -> None:
    memory = begin()
    write = memory.apply(at(1, entities=[{"name": "orders", "kind": "service"}]))
    assert write is not None
    assert len(write.entries) == 1


# Defaults


def test_what_is_left_out_comes_from_the_session_or_from_what_is_corrected() -> None:
    memory = begin()
    write = memory.apply(
        {
            "session": "s",
            "at": "2024-02-01T09:00:00Z",
            "by": "ada",
            "decisions": [{"text": "n"}, {"corrects": "a", "validFrom": "2024-01-03", "validTo": "open"}],
            "endings": [{"id": "b2", "validTo": "2024-03-01"}],
            "reviews": [{"reject": "c", "reason": "r"}],
        }
    )
    assert write is not None
    first, second = (e for e in write.entries if isinstance(e, Item))
    assert (first.id, first.valid_from, first.by) == ("s/d1", parse("2024-02-01T09:00:00Z"), "ada")
    assert (second.id, second.text, second.slot, second.about) == ("s/d2", "A", "x/y", ("Orders",))
    assert {e.by for e in write.entries if isinstance(e, Ending | Review)} == {"ada"}


def test_a_session_without_a_clock_takes_whole_seconds_or_the_newest_entry() -> None:
    newest = datetime(2024, 1, 1, 9, tzinfo=UTC)
    for now, at_ in [
        (newest + timedelta(seconds=5, microseconds=7), newest + timedelta(seconds=5)),
        (newest + timedelta(microseconds=7), newest + timedelta(microseconds=7)),
        (newest - timedelta(seconds=5), newest),
    ]:
        assert tidy(now, newest) == at_
    assert tidy(newest + timedelta(microseconds=7), None) == newest


# A slot orders itself


def slotted(*starts: str, clock: int = 1, **more: Any) -> list[tuple[str, str]]:
    """Items of one slot, each in a session of its own; the links that were made."""
    memory = Memory()
    for n, start in enumerate(starts, clock):
        item = {"id": start[5:], "text": start, "slot": "q", "validFrom": start, **more.get(start, {})}
        memory.apply({"session": f"s{n:02}", "at": f"2025-01-{n:02}T09:00:00Z", "decisions": [item]})
    history = History(memory.entries)
    stretches = sweep(history)
    for id in history.items:  # a slot of open claims: each holds until the next begins
        assert len(known_at(stretches[id], LAST)) == 1
    return [(e.old, e.new) for e in memory.entries if isinstance(e, Link)]


def test_each_new_item_is_linked_to_its_neighbours_alone() -> None:
    assert slotted("2024-01-01", "2024-02-01", "2024-03-01", "2024-04-01") == [
        ("01-01", "02-01"),
        ("02-01", "03-01"),
        ("03-01", "04-01"),
    ]


@pytest.mark.parametrize("turned", [False, True])
def test_several_new_items_of_one_session_are_a_chain_as_of_several_sessions(turned: bool) -> None:
    items = [{"id": f"i{n}", "text": "x", "slot": "q", "validFrom": f"2024-01-{n:02}"} for n in range(1, 21)]
    memory = Memory()
    memory.apply(at(1, decisions=items[::-1] if turned else items))
    assert sum(isinstance(e, Link) for e in memory.entries) == 19
    assert memory.oracle().slot_conflicts() == []


def test_late_news_takes_its_place_between_and_a_plan_survives() -> None:
    assert slotted("2024-01-01", "2024-05-01", "2024-03-01") == [
        ("01-01", "05-01"),
        ("01-01", "03-01"),
        ("03-01", "05-01"),
    ]


def test_one_start_the_later_recorded_supersedes() -> None:
    memory = Memory()
    for n, id in enumerate("ba", 1):
        memory.apply(
            {
                "session": id,
                "at": f"2025-01-0{n}T09:00:00Z",
                "decisions": [{"id": id, "text": id, "slot": "q", "validFrom": "2024-01-01"}],
            }
        )
    assert [(e.old, e.new) for e in memory.entries if isinstance(e, Link)] == [("b", "a")]


def test_facts_and_decisions_of_one_slot_name_do_not_meet() -> None:
    memory = Memory()
    memory.apply(
        at(1, decisions=[{"id": "d", "text": "d", "slot": "q"}], facts=[{"id": "f", "text": "f", "slot": "q"}])
    )
    assert not [e for e in memory.entries if isinstance(e, Link)]


def test_claims_that_do_not_meet_are_not_linked() -> None:
    memory = Memory()
    memory.apply(
        at(1, decisions=[{"id": "a", "text": "a", "slot": "q", "validFrom": "2024-01-01", "validTo": "2024-02-01"}])
    )
    memory.apply(
        {
            "session": "t",
            "at": "2024-02-02T09:00:00Z",
            "decisions": [{"id": "b", "text": "b", "slot": "q", "validFrom": "2024-02-01"}],
        }
    )
    assert not [e for e in memory.entries if isinstance(e, Link)]


def test_where_a_link_between_the_two_was_rejected_none_is_made() -> None:
    memory = Memory()
    memory.apply(at(1, decisions=[{"id": "a", "text": "a", "slot": "q", "validFrom": "2024-01-01"}]))
    memory.apply(
        {
            "session": "t",
            "at": "2024-02-02T09:00:00Z",
            "decisions": [{"id": "b", "text": "b", "slot": "q", "validFrom": "2024-02-01"}],
        }
    )
    verdict = {"by": "sam", "reason": "r"}
    reviews = [{"reject": "b", **verdict}, {"reject": {"old": "a", "new": "b"}, **verdict}]
    memory.apply({"session": "u", "at": "2024-02-03T09:00:00Z", "reviews": reviews})
    memory.apply(
        {
            "session": "v",
            "at": "2024-02-04T09:00:00Z",
            "decisions": [{"id": "c", "text": "c", "slot": "q", "validFrom": "2024-03-01"}],
        }
    )
    assert [(e.old, e.new) for e in memory.entries if isinstance(e, Link)] == [("a", "b"), ("b", "c"), ("a", "c")]
    assert memory.oracle().slot_conflicts() == []


def test_two_sessions_of_one_slot_and_one_clock_answer_the_same_in_either_order() -> None:
    first = {
        "session": "p",
        "at": "2024-03-01T09:00:00Z",
        "decisions": [{"id": "p", "text": "p", "slot": "q", "validFrom": "2024-02-01"}],
    }
    second = {
        "session": "r",
        "at": "2024-03-01T09:00:00Z",
        "decisions": [{"id": "r", "text": "r", "slot": "q", "validFrom": "2024-01-15"}],
    }
    answers = []
    for order in ([first, second], [second, first]):
        memory = Memory()
        memory.apply(at(1, decisions=[{"id": "o", "text": "o", "slot": "q", "validFrom": "2024-01-01"}]))
        for document in order:
            memory.apply(document)
        oracle = memory.oracle()
        answers.append([oracle.believed(x, k) for x in oracle.boundaries for k in oracle.writes])
    assert answers[0] == answers[1]


# What a write did


def test_effects_say_what_holds_again_and_what_takes_over() -> None:
    memory = Memory()
    memory.apply(at(1, decisions=[{"id": "a", "text": "a", "slot": "q", "validFrom": "2024-01-01"}]))
    planned = memory.apply(
        {
            "session": "t",
            "at": "2024-02-02T09:00:00Z",
            "decisions": [{"id": "b", "text": "b", "slot": "q", "validFrom": "2024-03-01"}],
        }
    )
    assert planned is not None
    told = effects.effects(planned)
    assert (told.added, told.linked, told.closed, told.until) == (
        ("b",),
        (("a", "b"),),
        ("a",),
        (effects.Until("a", "b", parse("2024-03-01"), None),),
    )
    undone = memory.apply(
        {"session": "u", "at": "2024-02-03T09:00:00Z", "reviews": [{"reject": "b", "by": "sam", "reason": "r"}]}
    )
    assert undone is not None
    told = effects.effects(undone)
    assert (told.rejected, told.closed, told.reopened) == (("b",), ("b",), ("a",))


def test_an_added_item_that_holds_at_no_instant_is_warned_of() -> None:
    memory = Memory()
    memory.apply(at(1, decisions=[{"id": "a", "text": "a", "slot": "q", "validFrom": "2024-01-05"}]))
    items = [
        {"id": "b", "text": "b", "validFrom": "2024-01-10"},
        {"id": "c", "text": "c", "validFrom": "2024-01-02", "supersedes": "b"},
    ]
    document = {"session": "t", "at": "2024-02-02T09:00:00Z", "decisions": items}
    write = memory.apply(document)
    assert write is not None
    assert any("b holds at no instant" in w for w in effects.effects(write).warnings)


def test_the_clock_may_be_five_minutes_ahead() -> None:
    session = read({"session": "s", "at": (LATER + timedelta(minutes=5)).isoformat(), "decisions": [{"text": "n"}]})
    assert rules.resolve(session, Known(History(())), LATER) is not None


VERDICT = {"by": "sam", "reason": "r"}


def test_a_link_to_a_version_of_the_same_item_is_refused() -> None:
    memory = begin()
    memory.apply(at(1, decisions=[{"id": "n", "text": "n", "corrects": "c"}]))
    memory.apply({"session": "t", "at": "2024-02-02T09:00:00Z", "reviews": [{"reject": "n", **VERDICT}]})
    document = {"session": "u", "at": "2024-02-03T09:00:00Z", "supersessions": [{"old": "c", "new": "n"}]}
    assert refused(memory, document) == ["n cannot supersede c, a version of the same item"]


@pytest.mark.parametrize(
    ("target", "named"),
    [({"old": "a", "new": "n"}, "the link a -> n"), ({"end": "n"}, "the ending of n"), ("n", "a review of n")],
)
def test_backdated_never_reaches_before_the_link_the_ending_or_the_verdict_it_overrules(
    target: object, named: str
) -> None:
    memory = begin()
    memory.apply(at(1, decisions=[{"id": "n", "text": "n", "slot": "x/y", "validFrom": "2024-01-20"}]))
    memory.apply(at(3, endings=[{"id": "n", "validTo": "2024-06-01", "by": "sam"}]) | {"session": "e"})
    memory.apply(at(5, reviews=[{"reject": "n", **VERDICT}]) | {"session": "v"})
    if named == "the link a -> n":  # the link was recorded with n, on the first
        memory.entries = [e for e in memory.entries if not (isinstance(e, Item) and e.id == "n")] + [
            Item("decision", "n", "n", parse("2024-01-20"), parse("2024-01-15"), "older", slot="x/y")
        ]
    early = "2024-01-20T09:00:00Z" if named == "the link a -> n" else "2024-02-02T09:00:00Z"
    document = {"session": "late", "at": early, "reviews": [{"reinstate": target, **VERDICT}]}
    problems = refused(memory, document, backdated=True)
    assert any(f"but touches {named}, recorded at" in p for p in problems), problems


def test_what_a_merge_of_three_branches_broke_is_mended_one_verdict_at_a_time() -> None:
    memory = Memory()
    for n, id in enumerate("abc", 1):  # each branch knew nothing of the others
        branch = Memory()
        item = {"id": id, "text": id, "slot": "q", "validFrom": "2024-01-01"}
        branch.apply({"session": id, "at": f"2024-01-0{n}T09:00:00Z", "decisions": [item]})
        memory.entries += branch.entries
    assert len(memory.oracle().slot_conflicts()) == 3
    memory.apply(at(1, reviews=[{"reject": "a", **VERDICT}]))
    memory.apply(at(2, reviews=[{"reject": "b", **VERDICT}]) | {"session": "t"})
    assert memory.oracle().slot_conflicts() == []
    refused(memory, at(3, reviews=[{"reinstate": "a", **VERDICT}]) | {"session": "u"})


def test_a_correction_of_the_text_makes_no_link_where_a_recorded_chain_leads() -> None:
    memory = Memory()
    for n, id in enumerate("abc", 1):
        item = {"id": id, "text": id, "slot": "q", "validFrom": f"2024-0{n}-01"}
        memory.apply({"session": id, "at": f"2024-01-0{n}T09:00:00Z", "decisions": [item]})
    memory.apply(at(1, reviews=[{"reject": "a", **VERDICT}, {"reject": {"old": "a", "new": "b"}, **VERDICT}]))
    write = memory.apply(at(2, decisions=[{"id": "c2", "corrects": "c", "text": "other words"}]) | {"session": "t"})
    assert write is not None
    assert not [e for e in write.entries if isinstance(e, Link)]


def test_faults_of_items_do_not_hide_those_of_links_and_reviews() -> None:
    document = at(
        1,
        decisions=[{"id": "a", "text": "Z"}, {"id": "n", "corrects": "zz"}],
        supersessions=[{"old": "c", "new": "yy"}, {"old": "c", "new": "n"}],
        endings=[{"id": "xx", "validTo": "2024-03-01", "by": "sam"}],
        reviews=[{"reject": "ww", **VERDICT}],
    )
    problems = refused(begin(), document)
    assert [p.split(" ")[0] for p in problems] == ["a", "zz", "yy", "xx", "ww"]


def test_effects_say_when_an_item_holds_again() -> None:
    memory = Memory()
    memory.apply(at(1, decisions=[{"id": "a", "text": "a", "slot": "q", "validFrom": "2024-01-01"}]))
    august = {"id": "b", "text": "b", "slot": "q", "validFrom": "2024-08-01", "validTo": "2024-09-01"}
    write = memory.apply(at(2, decisions=[august]) | {"session": "t"})
    assert write is not None
    assert effects.effects(write).until == (effects.Until("a", "b", parse("2024-08-01"), parse("2024-09-01")),)


def test_what_is_recorded_and_does_not_count_is_warned_of() -> None:
    memory = begin()
    memory.apply(
        at(1, supersessions=[{"old": "c", "new": "b2"}], endings=[{"id": "c", "validTo": "2024-05-01", "by": "s"}])
    )
    link = {"old": "c", "new": "b2"}
    rejects = [{"reject": t, **VERDICT} for t in ("c", link, {"end": "c"})]
    memory.apply(at(2, reviews=rejects) | {"session": "t"})
    reinstates = [{"reinstate": t, **VERDICT} for t in ("c", link, {"end": "c"})]
    write = memory.apply(at(2, reviews=reinstates, supersessions=[link]) | {"session": "u"})
    assert write is not None
    warnings = effects.effects(write).warnings
    for thing in ("c", "the link c -> b2", "the ending of c"):
        assert f"{thing} stays rejected: a rejection of the same clock wins" in warnings
    assert "the link c -> b2 is rejected, and stays so until somebody reinstates it" in warnings
