"""What of an extraction goes into the ledger: resolved, without repetitions, and held against what is known.

Nothing here reads a file, a clock or the store. What is left out or changed is said, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from heapq import nsmallest

from ledger_cli import instant
from ledger_cli.errors import LedgerError
from ledger_cli.instant import show_short
from ledger_cli.memory import naming
from ledger_cli.memory.acceptable import fault_of
from ledger_cli.memory.extraction import Extraction, FoundItem, KnownEntity, Pair, Verdict
from ledger_cli.memory.naming import Names
from ledger_cli.memory.sameness import SAME_TEXT, Vectors, fits, keys, same_numbers, text_key
from ledger_cli.memory.saying import said
from ledger_cli.memory.transcript import Message
from ledger_cli.memory.words import words
from ledger_cli.model import Item, Kind, canonical_name, name_set

LEAST_CONFIDENCE = 0.5
"""What is less sure than this supersedes nothing."""
RIVALS = 5
"""How many items that hold one new item without a slot is held against, at most: the nearest."""
MOST_PAIRS = 100
"""How many such pairs are judged for one chat, at most."""


@dataclass(frozen=True)
class Standing:
    """What the ledger holds, now or from a day to come, and the entities it knows, by key."""

    items: Sequence[Item] = ()
    entities: Mapping[str, KnownEntity] = field(default_factory=dict)


@dataclass(frozen=True)
class LeftOut:
    """What was found and is not remembered, and why."""

    kind: Kind
    text: str
    reason: str


@dataclass(frozen=True)
class Kept:
    """What is remembered. `messages` are the numbers of those it rests on; `notes` say what was done to it, and why."""

    kind: Kind
    text: str
    messages: tuple[int, ...]
    slot: str | None = None
    about: tuple[str, ...] = ()
    rationale: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    confidence: float | None = None
    supersedes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def noted(self, *notes: str) -> Kept:
        return replace(self, notes=(*self.notes, *notes))

    @property
    def is_unsure(self) -> bool:
        return self.confidence is not None and self.confidence < LEAST_CONFIDENCE


@dataclass(frozen=True)
class Resolved:
    """What a chat comes to: what is kept, by the last message it rests on; what is not; names, and notes on them."""

    kept: tuple[Kept, ...]
    left_out: tuple[LeftOut, ...]
    names: Names
    notes: tuple[str, ...] = ()


Judge = Callable[[Sequence[Pair]], list[Verdict]]


def resolve(
    found: Extraction,
    messages: Sequence[Message],
    standing: Standing,
    vectors: Vectors,
    judge: Judge,
    pairs_at_once: int,
    now: datetime,
) -> Resolved:
    """Take the steps in turn: names, what the assistant said, what no session file takes, repetitions, contradictions.

    `now` is the session's clock. A judgement that fails is none: both statements stand.
    Raises LedgerError where the vectors cannot be had.
    """
    names = naming.resolve(found.entities, standing.entities, vectors)
    steps = _Steps({m.number: m for m in messages}, standing, vectors, names, now)
    order = sorted(found.items, key=lambda item: item.messages[-1])  # stable: within a message as found
    read = [kept for item in order if (kept := steps.read(item)) is not None]
    for kind in ("decision", "fact"):
        own = [kept.text for kept in read if kept.kind == kind]
        vectors.learn(own, [*(i.text for i in standing.items if i.kind == kind), *own])
    new: list[Kept] = []
    for kept in read:
        if (reason := steps.repeats(kept, new)) is not None:
            steps.leave_out(kept, reason)
        else:
            new.append(_unsure(kept))
    new = steps.judged(new, judge, pairs_at_once)
    return Resolved(tuple(new), tuple(steps.left_out), names, tuple(steps.notes))


def _unsure(kept: Kept) -> Kept:
    """What is unsure stands beside what holds, so that it supersedes nothing."""
    if not kept.is_unsure or kept.slot is None:
        return kept
    note = f"without its slot {said(kept.slot)}: confidence {kept.confidence:g} is below {LEAST_CONFIDENCE:g}, and"
    return replace(kept, slot=None).noted(f"{note} what is unsure supersedes nothing")


class _Steps:
    def __init__(
        self, messages: Mapping[int, Message], standing: Standing, vectors: Vectors, names: Names, now: datetime
    ) -> None:
        self.messages, self.standing, self.vectors, self.names, self.now = messages, standing, vectors, names, now
        self.left_out: list[LeftOut] = []
        self.notes: list[str] = []
        # Of what holds, for each new item again.
        self.text_key, self.keys, self.words = cache(text_key), cache(keys), cache(lambda text: frozenset(words(text)))

    def leave_out(self, item: Kept | FoundItem, reason: str) -> None:
        self.left_out.append(LeftOut(item.kind, item.text, reason))

    # What a session file takes

    def read(self, item: FoundItem) -> Kept | None:
        """The item with its names resolved and its times read; None where it is left out."""
        rests_on = [self.messages[n] for n in item.messages]
        if all(m.role == "assistant" for m in rests_on):
            numbers = ", ".join(str(m.number) for m in rests_on)
            self.leave_out(item, f"only the assistant says so (message {numbers})")
            return None
        if why := fault_of("text", item.text):
            self.leave_out(item, why)
            return None
        for message in rests_on:
            if why := fault_of("said", evidence_of(message)):
                self.leave_out(item, f"message {message.number} can be no evidence: {why}")
                return None
        notes: list[str] = []

        def taken(key: str, value: str | None) -> str | None:
            if value is not None and (why := fault_of(key, value)):
                notes.append(f"without its {key}: {why}")
                return None
            return value

        slot, rationale = taken("slot", item.slot), taken("rationale", item.rationale)
        stated, ends = taken("validFrom", item.valid_from), taken("validTo", item.valid_to)
        starts = instant.parse(stated) if stated is not None else _latest(rests_on)
        until = instant.parse(ends) if ends is not None else None
        if until is not None and until <= (start := starts or self.now):
            since = f"after it began ({show_short(start)})" if stated is not None else "after it was said"
            self.leave_out(item, f"it ends on {show_short(until)}, which is not {since}")
            return None
        about = [self.names.of(name) for name in item.about]
        notes += [
            f"not about {said(name)}: {fault_of('about', name)}"
            for name, one in zip(item.about, about, strict=True)
            if one is None
        ]
        return Kept(
            item.kind,
            item.text,
            item.messages,
            canonical_name(slot) if slot is not None else None,
            name_set(name for name in about if name is not None),
            rationale,
            starts,
            until,
            item.confidence,
            notes=tuple(notes),
        )

    # Repetitions

    def repeats(self, new: Kept, before: Sequence[Kept]) -> str | None:
        """What a statement repeats, in words; None where it is news."""
        about, key = self.keys(new.about), self.text_key(new.text)
        olds = self.comparable(new, before)
        for old in olds:
            if self.text_key(old.text) == key:
                if old.slot is not None and old.slot == new.slot:
                    return f"it repeats {_named(old)}: the same text in the same slot"
                if self.keys(old.about) == about:
                    return f"it repeats {_named(old)}: the same text about the same"
        if not self.vectors:
            return None
        near = [
            (self.vectors.cosine(new.text, old.text), old)
            for old in olds
            if fits(about, self.keys(old.about)) and same_numbers(new.text, old.text)
        ]
        best = max(near, key=lambda one: one[0], default=None)
        if best is None or best[0] < SAME_TEXT:
            return None
        return f"it repeats {_named(best[1])}: {said(best[1].text)} (cosine {best[0]:.2f}, at least {SAME_TEXT})"

    def comparable(self, new: Kept, before: Sequence[Kept]) -> list[Item | Kept]:
        """What a statement may repeat: what stands when it begins. Who goes back to postgres does not repeat it."""
        all_: list[Item | Kept] = [*self.standing.items, *before]
        olds = [old for old in all_ if old.kind == new.kind]
        begin = [old.valid_from or self.now for old in olds]
        start = new.valid_from or self.now
        latest: dict[str, int] = {}  # of each slot, what it answers at the start
        for n, old in enumerate(olds):
            if old.slot is not None and begin[n] <= start:
                best = latest.setdefault(old.slot, n)
                if begin[best] <= begin[n]:
                    latest[old.slot] = n
        return [
            old
            for n, old in enumerate(olds)
            if old.slot is None or (latest.get(old.slot, n) == n and (old.slot != new.slot or begin[n] <= start))
        ]

    # Contradictions

    def judged(self, new: Sequence[Kept], judge: Judge, at_once: int) -> list[Kept]:
        """What is left when each new item without a slot was held against its rivals."""
        rivals = {n: self.rivals(kept) for n, kept in enumerate(new) if kept.slot is None and not kept.is_unsure}
        asked = [(n, old) for n, olds in rivals.items() for old in olds]
        if len(asked) > MOST_PAIRS:
            self.notes.append(f"only {MOST_PAIRS} of {len(asked)} pairs were judged: the rest stands beside what holds")
            asked = asked[:MOST_PAIRS]
        verdicts: dict[int, list[tuple[Item, Verdict, str]]] = {}
        why = ""
        for start in range(0, len(asked), at_once):
            some = asked[start : start + at_once]
            told: list[Verdict] = ["neither"] * len(some)
            if not why or at_once == 1:  # a model that failed after all its tries is not asked again
                why = ""
                try:
                    told = judge([Pair(old.text, new[n].text) for n, old in some])
                except LedgerError as fault:
                    why = fault.message
            for (n, old), verdict in zip(some, told, strict=True):
                verdicts.setdefault(n, []).append((old, verdict, why))
        kept = (self.verdict(one, verdicts.get(n, ())) for n, one in enumerate(new))
        return [one for one in kept if one is not None]

    def rivals(self, new: Kept) -> list[Item]:
        """What holds of its kind that shares an entity with it: the nearest by meaning, else by words; then by id."""
        about, own = self.keys(new.about), self.words(new.text)
        found = [old for old in self.standing.items if old.kind == new.kind and about & self.keys(old.about)]

        def distance(old: Item) -> tuple[float, int, str]:
            return -self.vectors.cosine(new.text, old.text), -len(own & self.words(old.text)), old.id

        return nsmallest(RIVALS, found, key=distance)

    def verdict(self, new: Kept, verdicts: Sequence[tuple[Item, Verdict, str]]) -> Kept | None:
        for old, verdict, _ in verdicts:
            if verdict == "old":
                self.leave_out(new, f"it contradicts {_named(old)}, {said(old.text)}, which stands (judged: old)")
                return None
        for old, verdict, why in verdicts:
            if verdict == "neither":
                new = new.noted(f"stands beside {_named(old)}, {said(old.text)} " + _neither(why))
            elif old.slot is not None and new.slot not in (None, old.slot):
                new = new.noted(f"should replace {_named(old)} too (judged: new), which is in slot {said(old.slot)}")
            else:
                new = replace(new, slot=old.slot or new.slot, supersedes=(*new.supersedes, old.id))
                slot = f", in its slot {said(old.slot)}" if old.slot is not None else ""
                new = new.noted(f"supersedes {_named(old)}, {said(old.text)}{slot} (judged: new)")
        return new


def _neither(why: str) -> str:
    return f"(not judged: {said(why)})" if why else "(judged: neither)"


def _named(old: Item | Kept) -> str:
    return old.id if isinstance(old, Item) else f"message {old.messages[-1]}"


def evidence_of(message: Message) -> str:
    """The text of the episode that a message becomes: what was said, and by whom where that is told."""
    return message.content if message.name is None else f"{message.name}: {message.content}"


def _latest(messages: Sequence[Message]) -> datetime | None:
    """When all of it had been said."""
    times = [m.at for m in messages if m.at is not None]
    return max(times) if times else None
