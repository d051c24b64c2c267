"""The steps between what a chat tells and what is remembered, with vectors by hand and verdicts by rote."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from math import acos, cos
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger_cli.errors import LedgerError
from ledger_cli.memory.extraction import Extraction, FoundEntity, FoundItem, KnownEntity, Pair, Verdict
from ledger_cli.memory.resolution import MOST_PAIRS, RIVALS, Resolved, Standing, resolve
from ledger_cli.memory.sameness import Vectors
from ledger_cli.memory.transcript import Message, Role
from ledger_cli.model import Item, entity_key

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def day(number: int) -> datetime:
    return datetime(2026, 3, number, tzinfo=UTC)


class Hand:
    """Vectors that are written down: a text's direction, as an angle; any other text is far from all but itself."""

    def __init__(self, angles: dict[str, float]) -> None:
        self.angles = angles

    def cosines(self, text: str, others: Sequence[str]) -> list[float]:
        both = [(self.angles.get(text), self.angles.get(other), text == other) for other in others]
        return [cos(a - b) if a is not None and b is not None else float(same) for a, b, same in both]


def angle(cosine: float) -> float:
    """The angle of a cosine."""
    return acos(cosine)


def item(id: str, text: str, *about: str, **keys: Any) -> Item:
    given: dict[str, Any] = {"kind": "fact", "valid_from": day(1), "recorded_at": day(1), "session": "s0"}
    return Item(id=id, text=text, about=about, **{**given, **keys})


def fact(text: str, *about: str, **keys: Any) -> FoundItem:
    return FoundItem(text=text, about=about, **{"kind": "fact", "messages": (1,), **keys})


def unasked(pairs: Sequence[Pair]) -> list[Verdict]:
    raise AssertionError(f"nobody was to be asked: {pairs}")


def come_to(
    *items: FoundItem,
    entities: Sequence[FoundEntity] = (),
    messages: Sequence[Message] = (Message(1, "user", "said"),),
    holds: Sequence[Item] = (),
    known: Sequence[KnownEntity] = (),
    embedder: Hand | None = None,
    judge: Callable[[Sequence[Pair]], list[Verdict]] = unasked,
    at_once: int = 20,
) -> Resolved:
    standing = Standing(holds, {entity_key(e.name): e for e in known})
    found = Extraction(tuple(entities), tuple(items))
    return resolve(found, messages, standing, Vectors(embedder.cosines if embedder else None), judge, at_once, NOW)


def texts(found: Resolved) -> list[str]:
    return [kept.text for kept in found.kept]


# Names

COROLLA, TYPO = "toyota corolla hybrid", "corola hybrid"


@pytest.mark.parametrize(("cosine", "same"), [(0.87, False), (0.8801, True), (0.95, True)])
def test_a_name_near_a_known_one_of_its_kind_is_that_entity(cosine: float, same: bool) -> None:
    found = come_to(
        fact("likes it", TYPO),
        entities=[FoundEntity(TYPO, "car", (1,))],
        known=[KnownEntity(COROLLA, "car"), KnownEntity("other", "car")],
        embedder=Hand({COROLLA: 0.0, TYPO: angle(cosine)}),
    )
    assert found.kept[0].about == ((COROLLA,) if same else (TYPO,))
    assert found.names.kinds == ({} if same else {TYPO: "car"})
    assert found.names.notes == (
        [f'"{TYPO}" is taken for "{COROLLA}": the nearest "car" (cosine {cosine:.2f}, at least 0.88)'] if same else []
    )


def test_a_name_near_one_of_another_kind_is_another_entity() -> None:
    found = come_to(
        fact("likes it", TYPO),
        entities=[FoundEntity(TYPO, "song", (1,))],
        known=[KnownEntity(COROLLA, "car")],
        embedder=Hand({COROLLA: 0.0, TYPO: 0.0}),
    )
    assert found.kept[0].about == (TYPO,)


def test_an_exact_key_wins_over_any_vector_and_the_known_spelling_and_kind_stay() -> None:
    found = come_to(
        fact("likes it", "ORDERS  service", "plain"),
        entities=[FoundEntity("orders Service", "team", (1,)), FoundEntity("Plain", "thing", (1,))],
        known=[KnownEntity("Orders service", "service"), KnownEntity("near", "team"), KnownEntity("plain", None)],
        embedder=Hand({"orders Service": 0.0, "near": 0.0}),
    )
    assert found.kept[0].about == ("Orders service", "plain")
    assert found.names.kinds == {"plain": "thing"}
    assert found.names.notes == ['"Orders service" stays a "service"; it is called a "team" here']


def test_without_vectors_only_the_key_counts() -> None:
    found = come_to(
        fact("likes it", TYPO),
        entities=[FoundEntity(TYPO, "car", (1,))],
        known=[KnownEntity(COROLLA, "car")],
    )
    assert found.kept[0].about == (TYPO,)


def test_a_name_that_is_none_is_left_out_of_what_it_is_about_and_said() -> None:
    found = come_to(fact("likes it", "\u200b", "x" * 300, "car"), entities=[FoundEntity("\u200b", "car", (1,))])
    assert found.kept[0].about == ("car",)
    assert len(found.kept[0].notes) == 2
    assert found.names.notes[0].startswith('entity "\\u200b" is left out: ')


# Who says so


@pytest.mark.parametrize(
    ("roles", "kept"),
    [
        (("user",), True),
        (("tool",), True),
        (("system",), True),
        (("assistant",), False),
        (("assistant", "assistant"), False),
        (("user", "assistant"), True),
    ],
)
def test_what_only_the_assistant_says_is_no_fact(roles: Sequence[Role], kept: bool) -> None:
    messages = [Message(n, role, "said") for n, role in enumerate(roles, start=1)]
    found = come_to(fact("it gets 50 mpg", messages=tuple(range(1, len(roles) + 1))), messages=messages)
    assert texts(found) == (["it gets 50 mpg"] if kept else [])
    assert [one.reason.startswith("only the assistant says so") for one in found.left_out] == ([] if kept else [True])


# When


def test_it_holds_from_when_it_was_said_unless_the_text_says_when() -> None:
    messages = [Message(1, "user", "a", day(2)), Message(2, "user", "b", day(5)), Message(3, "user", "c")]
    found = come_to(
        fact("one", messages=(1,)),
        fact("both", messages=(1, 2)),
        fact("dated", messages=(1,), valid_from="2026-01-05"),
        fact("undated", messages=(3,)),
        fact("vague", messages=(1,), valid_from="next spring"),
        messages=messages,
    )
    assert {k.text: k.valid_from for k in found.kept} == {
        "one": day(2),
        "both": day(5),
        "dated": datetime(2026, 1, 5, tzinfo=UTC),
        "undated": None,
        "vague": day(2),
    }
    [note] = next(k.notes for k in found.kept if k.text == "vague")
    assert note.startswith("without its validFrom: 'validFrom': 'next spring' is not a time")


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ({"valid_to": "2026-03-01"}, "it ends on 2026-03-01, which is not after it was said"),
        (
            {"valid_from": "2026-05-01", "valid_to": "2026-04-01"},
            "it ends on 2026-04-01, which is not after it began (2026-05-01)",
        ),
    ],
)
def test_what_would_end_before_it_begins_is_left_out(keys: dict[str, str], reason: str) -> None:
    found = come_to(fact("x", **keys), messages=[Message(1, "user", "said", day(2))])
    assert [one.reason for one in found.left_out] == [reason]


# Repetitions


def test_the_same_text_in_the_same_slot_or_about_the_same_is_a_repetition() -> None:
    holds = [item("i1", "Alice owns it.", "orders", slot="orders/owner"), item("i2", "It is big.", "Orders")]
    found = come_to(
        fact("ALICE  owns it.", "other", slot="orders/owner"),
        fact("It is big.", "orders"),
        fact("It is big.", "billing"),
        fact("New.", "a"),
        fact("New.", "A"),
        FoundItem("decision", "It is big.", (1,), about=("orders",)),
        holds=holds,
        judge=lambda pairs: ["neither"] * len(pairs),
    )
    assert texts(found) == ["It is big.", "New.", "It is big."]
    assert [one.reason for one in found.left_out] == [
        "it repeats i1: the same text in the same slot",
        "it repeats i2: the same text about the same",
        "it repeats message 1: the same text about the same",
    ]


@pytest.mark.parametrize(("cosine", "same"), [(0.94, False), (0.9501, True)])
def test_a_text_near_one_that_holds_is_a_repetition(cosine: float, same: bool) -> None:
    old, new = "The team finds big cars too big.", "Big cars are too big for the team."
    found = come_to(
        fact(new, "team"),
        holds=[item("i1", old, "team", "cars")],
        embedder=Hand({old: 0.0, new: angle(cosine)}),
        judge=lambda pairs: ["neither"] * len(pairs),
    )
    assert texts(found) == ([] if same else [new])
    if same:
        assert found.left_out[0].reason == f'it repeats i1: "{old}" (cosine 0.95, at least 0.95)'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("Alice owns it.", "orders", "Alice"), ("Carol owns it.", "orders", "Carol")),
        (("At most 50 ms.", "orders"), ("At most 20 ms.", "orders")),
    ],
)
def test_an_update_is_no_repetition_however_near_it_reads(old: tuple[str, ...], new: tuple[str, ...]) -> None:
    found = come_to(
        fact(new[0], *new[1:], slot="orders/x"),
        holds=[item("i1", old[0], *old[1:], slot="orders/x")],
        embedder=Hand({old[0]: 0.0, new[0]: 0.0}),
    )
    assert texts(found) == [new[0]]


def test_going_back_to_what_was_there_before_is_news() -> None:
    messages = [Message(n, "user", "said", day(n + 1)) for n in (1, 2, 3)]
    asked = [
        fact(text, "orders", slot="db", messages=(n,)) for n, text in ((1, "mysql"), (2, "postgres"), (3, "mysql"))
    ]
    found = come_to(*asked, messages=messages, holds=[item("i1", "postgres", "orders", slot="db")])
    assert texts(found) == ["mysql", "postgres", "mysql"]
    again = come_to(*asked, messages=messages, holds=[item("i1", "mysql", "orders", slot="db")])
    assert texts(again) == ["postgres", "mysql"], "the first one says what holds already"


# Contradictions

GOOGLE, ANTHROPIC = "user works at google", "user works at anthropic"


def judging(verdicts: dict[tuple[str, str], Verdict]) -> Callable[[Sequence[Pair]], list[Verdict]]:
    return lambda pairs: [verdicts[pair.old, pair.new] for pair in pairs]


@pytest.mark.parametrize(
    ("verdict", "kept", "supersedes", "note"),
    [
        ("new", [ANTHROPIC], ("i1",), f'supersedes i1, "{GOOGLE}" (judged: new)'),
        ("old", [], (), f'it contradicts i1, "{GOOGLE}", which stands (judged: old)'),
        ("neither", [ANTHROPIC], (), f'stands beside i1, "{GOOGLE}" (judged: neither)'),
    ],
)
def test_what_has_no_slot_is_judged_against_what_holds_about_the_same(
    verdict: Verdict, kept: list[str], supersedes: tuple[str, ...], note: str
) -> None:
    found = come_to(
        fact(ANTHROPIC, "user", "anthropic"),
        holds=[item("i1", GOOGLE, "user", "google"), item("i2", "grass is green", "grass")],
        judge=judging({(GOOGLE, ANTHROPIC): verdict}),
    )
    assert texts(found) == kept
    assert [k.supersedes for k in found.kept] == [supersedes for _ in kept]
    assert [*[n for k in found.kept for n in k.notes], *[one.reason for one in found.left_out]] == [note]


def test_what_replaces_an_answer_takes_its_slot() -> None:
    found = come_to(
        fact(ANTHROPIC, "user"),
        holds=[
            item("i1", GOOGLE, "user", slot="user/employer"),
            item("i2", "user lives in x", "user", slot="user/home"),
        ],
        judge=lambda pairs: ["new"] * len(pairs),
    )
    [kept] = found.kept
    assert (kept.slot, kept.supersedes) == ("user/employer", ("i1",))
    assert kept.notes == (
        f'supersedes i1, "{GOOGLE}", in its slot "user/employer" (judged: new)',
        'should replace i2 too (judged: new), which is in slot "user/home"',
    )


def test_a_judgement_that_fails_is_none_and_both_stand() -> None:
    def fails(pairs: Sequence[Pair]) -> list[Verdict]:
        raise LedgerError("no answer after 4 tries: the model is on fire")

    found = come_to(fact(ANTHROPIC, "user"), holds=[item("i1", GOOGLE, "user")], judge=fails)
    assert texts(found) == [ANTHROPIC]
    assert found.kept[0].supersedes == ()
    assert found.kept[0].notes == (
        f'stands beside i1, "{GOOGLE}" (not judged: "no answer after 4 tries: the model is on fire")',
    )


@pytest.mark.parametrize(("at_once", "asked"), [(20, 1), (1, 30)])
def test_a_model_that_failed_is_not_asked_again_but_one_recorded_verdict_may_be_missing(
    at_once: int, asked: int
) -> None:
    calls: list[int] = []

    def fails(pairs: Sequence[Pair]) -> list[Verdict]:
        calls.append(len(pairs))
        raise LedgerError("no")

    new = [fact(f"user says {n}", "user") for n in range(30)]
    found = come_to(*new, holds=[item("i1", GOOGLE, "user")], judge=fails, at_once=at_once)
    assert len(calls) == asked
    assert all('(not judged: "no")' in kept.notes[0] for kept in found.kept)
    assert len(found.kept) == 30


@pytest.mark.parametrize("confidence", [0.0, 0.49, 0.5, 1.0, None])
def test_what_is_unsure_supersedes_nothing(confidence: float | None) -> None:
    unsure = confidence is not None and confidence < 0.5
    holds = [item("i1", "Alice", "orders", slot="orders/owner"), item("i2", GOOGLE, "user")]
    found = come_to(
        fact("Carol", "orders", slot="orders/owner", confidence=confidence),
        fact(ANTHROPIC, "user", confidence=confidence),
        holds=holds,
        judge=unasked if unsure else (lambda pairs: ["new"] * len(pairs)),
    )
    assert [(k.text, k.slot, k.supersedes) for k in found.kept] == [
        ("Carol", None if unsure else "orders/owner", ()),
        (ANTHROPIC, None, () if unsure else ("i2",)),
    ]
    if unsure:
        assert found.kept[0].notes == (
            f'without its slot "orders/owner": confidence {confidence:g} is below 0.5, and what is unsure supersedes '
            "nothing",
        )


def test_an_item_has_few_rivals_the_nearest_first_and_a_chat_has_few_pairs() -> None:
    holds = [item(f"i{n:02}", f"user knows word{n:02}", "user") for n in range(20)]
    asked: list[Pair] = []

    def judge(pairs: Sequence[Pair]) -> list[Verdict]:
        assert len(pairs) <= 20
        asked.extend(pairs)
        return ["neither"] * len(pairs)

    come_to(fact("user forgot word17", "user"), holds=holds, judge=judge)
    assert [p.old for p in asked] == [f"user knows word{n}" for n in ("17", "00", "01", "02", "03")]
    assert len(asked) == RIVALS
    asked.clear()
    found = come_to(*[fact(f"user says {n}", "user") for n in range(30)], holds=holds, judge=judge)
    assert len(asked) == MOST_PAIRS
    assert found.notes == (f"only {MOST_PAIRS} of 150 pairs were judged: the rest stands beside what holds",)
    assert len(found.kept) == 30


# Document 002's example, from end to end


def test_of_a_talk_about_cars_the_statements_stay_and_the_chatter_goes() -> None:
    """What is kept and dropped of the page's car-shopping talk; what the prompt drops is not there to begin with."""
    messages = [Message(1, "user", "I look for a corola hybrid"), Message(2, "assistant", "It gets 50 mpg")]
    kept = [
        ("user is interested in toyota corolla hybrid", "user", TYPO),
        ("user finds too big suvs", "user", "suvs"),
        ("user does city commuting", "user"),
        ("user wants a family car that is hybrid, easy to park, under $30k", "user"),
    ]
    fragment = "user wants a hybrid family car, easy to park, under $30k"
    found = come_to(
        *[fact(text, *about) for text, *about in kept],
        fact("toyota corolla hybrid gets 50 mpg", COROLLA, messages=(2,)),
        fact(fragment, "user"),
        entities=[FoundEntity(COROLLA, "car", (2,)), FoundEntity(TYPO, "car", (1,))],
        messages=messages,
        embedder=Hand({COROLLA: 0.0, TYPO: angle(0.9), kept[3][0]: 0.0, fragment: angle(0.96)}),
    )
    assert texts(found) == [text for text, *_ in kept]
    assert found.kept[0].about == (COROLLA, "user")
    assert found.names.kinds == {COROLLA: "car"}
    assert [one.text for one in found.left_out] == ["toyota corolla hybrid gets 50 mpg", fragment]


# Laws

WORDS = st.sampled_from(["a", "b", "c", "TODO", "", "\x07", "\ud800", "x" * 300, "<tag>", "\u200b", "no"])
FOUND = st.builds(
    FoundItem,
    st.sampled_from(["fact", "decision"]),
    WORDS,
    st.sampled_from([(1,), (2,), (1, 2)]),
    st.none() | WORDS,
    st.lists(WORDS, max_size=2).map(tuple),
    st.none() | WORDS,
    st.sampled_from([None, "2026-01-01", "2026-05-01", "soon"]),
    st.sampled_from([None, "2026-01-01", "2026-05-01", "later"]),
    st.sampled_from([None, 0.2, 0.9]),
)


@given(st.lists(FOUND, max_size=6), st.sampled_from(["old", "new", "neither"]))
def test_everything_is_kept_or_left_out_with_a_reason_and_a_second_time_nothing_is_new(
    items: list[FoundItem], verdict: Verdict
) -> None:
    messages = [Message(1, "user", "said", day(2)), Message(2, "assistant", "said", day(3))]
    holds = [item("i1", "a", "a", slot="b"), item("i2", "c", "a")]
    found = come_to(*items, messages=messages, holds=holds, judge=lambda pairs: [verdict] * len(pairs))
    assert len(found.kept) + len(found.left_out) == len(items)
    assert all(one.reason for one in found.left_out)
    # What was kept holds now, as far as no later answer to its slot replaced it; told again, it is no news.
    for kept in found.kept:
        own = item("own", kept.text, *kept.about, kind=kept.kind, slot=kept.slot, valid_from=kept.valid_from or NOW)
        again = come_to(
            FoundItem(kept.kind, kept.text, kept.messages, kept.slot, kept.about),
            messages=[Message(1, "user", "said", day(30)), Message(2, "user", "said", day(30))],
            holds=[own] if own.valid_from <= day(30) else [],
        )
        assert texts(again) == ([] if own.valid_from <= day(30) else [kept.text])
