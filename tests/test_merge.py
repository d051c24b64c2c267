"""The merge of two branches by entry: what comes of it is all they hold, or a conflict where that is no ledger."""

from __future__ import annotations

import copy
import os
import random
from collections import Counter

import pytest

from ledger_cli import checkpoint, checks, markers, merge, scan
from ledger_cli.errors import Damaged, LedgerError
from ledger_cli.lines import line
from ledger_cli.model import Entry
from tests.histories import Histories
from tests.memory import Memory

PAIRS = int(os.environ.get("MERGE_PAIRS", "200"))
Branches = tuple[list[Entry], list[Entry], list[Entry]]


def branches(seed: int) -> Branches:
    """The entries of a base, and of two branches of it with 1 to 5 sessions each."""
    rng = random.Random(seed)
    histories, base = Histories(rng, wild=0.1), Memory()
    grow(histories, base, rng.randint(0, 10))
    grown = []
    for prefix in ("a", "b"):
        mine, memory = copy.deepcopy(histories), Memory(base.entries)
        mine.rng = random.Random(seed * 2 + (prefix == "b"))
        # Now and then, two people call their sessions the same.
        mine.prefix = "same" if seed % 10 == 0 else prefix
        grow(mine, memory, mine.rng.randint(1, 5))
        grown.append(memory.entries)
    return base.entries, grown[0], grown[1]


def grow(histories: Histories, memory: Memory, sessions: int) -> None:
    for _ in range(sessions):
        document = histories.next()
        try:
            memory.apply(document, backdated=True)
        except LedgerError:
            continue
        histories.accepted(document)


def errors(entries: list[Entry]) -> set[tuple[str, tuple[str, ...], str | None]]:
    found = checks.findings((None, e) for e in dict.fromkeys(entries))
    return {(f.code, f.ids or f.sessions, f.slot) for f in found if f.severity == "error"}


def merged(base: list[Entry], ours: list[Entry], theirs: list[Entry]) -> merge.Merged:
    return merge.merge(*map(checkpoint.render, (base, ours, theirs)))


def sessions_of(entries: list[Entry], session: str) -> set[Entry]:
    return {e for e in entries if e.session == session}


def is_semantic(base: list[Entry], ours: list[Entry], theirs: list[Entry]) -> bool:
    """Told by `checks` and by the sessions alone: is the union of two branches no ledger?"""
    new = errors(ours + theirs) - errors(ours) - errors(theirs)
    shared = {e.session for e in ours} & {e.session for e in theirs}
    return bool(new) or any(sessions_of(ours, s) != sessions_of(theirs, s) for s in shared)


def test_random_branches_merge_to_all_that_they_hold_or_are_refused() -> None:
    seen: Counter[str] = Counter()
    for seed in range(PAIRS):
        base, ours, theirs = branches(seed)
        one, other = merged(base, ours, theirs), merged(base, theirs, ours)
        if is_semantic(base, ours, theirs):
            assert one.conflicts, seed
            assert other.conflicts, seed
            assert {c.code for c in one.conflicts} == {c.code for c in other.conflicts}, seed
            seen.update({c.code for c in one.conflicts})
            seen["refused"] += 1
            assert {p.code for p in scan.scan(one.data)[1]} == {"conflict-marker"}, seed
            sides = markers.read(one.data)
            assert set(sides.union) == {line(e) for e in base + ours + theirs}, seed
        else:
            assert not one.conflicts, (seed, one.conflicts)
            assert one.data == checkpoint.render(ours + theirs) == other.data, seed
            assert checkpoint.read(one.data), seed
            seen["merged"] += 1
    print(dict(seen))
    assert seen["merged"] >= PAIRS // 10
    assert seen["refused"] >= PAIRS // 10
