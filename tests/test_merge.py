"""The merge of two branches by entry: what comes of it is all they hold, or a conflict where that is no ledger."""

from __future__ import annotations

import copy
import os
import random
import subprocess
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ledger_cli import checkpoint, checks, markers, merge, scan, settle
from ledger_cli.errors import Damaged, LedgerError
from ledger_cli.lines import line
from ledger_cli.model import Entity, Entry, Episode, Item, Review, Target
from tests.histories import Histories
from tests.in_memory import Memory

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


def test_what_is_told_by_the_news_alone_is_told_of_the_whole_files(monkeypatch: pytest.MonkeyPatch) -> None:
    told: Counter[bool | None] = Counter()
    by_news = merge._of_news
    for seed in range(PAIRS):
        files = [checkpoint.render(entries) for entries in branches(seed)]
        quick = by_news(*files)
        monkeypatch.setattr(merge, "_of_news", lambda *_: None)
        whole = merge.merge(*files)
        monkeypatch.undo()
        assert quick in (None, whole), seed
        told[quick and bool(quick.conflicts)] += 1
    assert told[False] > PAIRS / 3 and told[True] > PAIRS / 10  # clean ones, and conflicts


@pytest.mark.parametrize(
    "damage", [b'"end of session s9"],\n', b'"session s9": [\n', b"junk\n", b'{"decision": "d9"}\n']
)
def test_a_line_that_frames_nothing_is_not_passed_on(damage: bytes) -> None:
    good = checkpoint.render([ONE])
    bad = good.replace(b'"session s1": [\n', damage + b'"session s1": [\n')
    assert bad != good
    for sides in ((bad, good), (good, bad)):
        with pytest.raises(Damaged):
            merge.merge(good, *sides)


def test_markers_stand_in_the_groups_in_conflict_alone() -> None:
    for seed in range(0, PAIRS, 2):
        base, ours, theirs = branches(seed)
        found = merged(base, ours, theirs)
        if not found.conflicts:
            continue
        disputed = {group for conflict in found.conflicts for group in conflict.groups}
        kept, inside, group = [], False, ""
        for row in found.data.decode().splitlines():
            if row.startswith(('"session ', '"slot ')):
                group = row.removesuffix(": [").strip('"')
            if row.startswith("<<<<<<<"):
                inside = True
                assert group in disputed
            if not inside and group not in disputed:
                kept.append(row)
            if row.startswith(">>>>>>>"):
                inside = False
            assert not (inside and row.startswith(('"session ', '"slot ', '"end')))
        # All around them is as it would be without the conflict.
        whole = merge.render(markers.read(found.data), ()) if not unknown(found) else found.data
        rest, group = [], ""
        for row in whole.decode().splitlines():
            if row.startswith(('"session ', '"slot ')):
                group = row.removesuffix(": [").strip('"')
            if group not in disputed:
                rest.append(row)
        assert kept == rest, seed


def unknown(found: merge.Merged) -> bool:
    return any(c.code == "unknown-id" for c in found.conflicts)


# Settling what is in conflict

LATER = datetime(2100, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("keep", ["ours", "theirs"])
def test_every_conflict_is_settled_by_keeping_a_side_and_nothing_is_lost(keep: str) -> None:
    settled = 0
    for seed in range(PAIRS):
        base, ours, theirs = branches(seed)
        if (found := merged(base, ours, theirs)).conflicts:
            done = settle.settle(found.data, settle.Choice(keep, by="sam", reason="they agreed"), LATER)
            # What was recorded before both branches is of neither side: a person names the item.
            assert not any(c.told_apart for c in done.left), (seed, done.left)
            done = settle_by_ids(done, done.data)
            assert not done.left, (seed, done.left)
            assert_sound(done.data, base, ours, theirs, keep)
            settled += 1
    assert settled


def assert_sound(data: bytes, base: list[Entry], ours: list[Entry], theirs: list[Entry], keep: str) -> None:
    entries = checkpoint.read(data)
    assert data == checkpoint.render(entries)
    assert not errors(entries)
    lines = {line(e) for e in entries}
    mine = ours if keep == "ours" else theirs
    assert {line(e) for e in mine} <= lines
    # What was given up is there under its id, or under another.
    there = Counter(said(e) for e in entries)
    assert not Counter(said(e) for e in set(ours + theirs) if not isinstance(e, Entity)) - there
    assert {line(e) for e in base} <= lines


def said(entry: Entry) -> object:
    """What an entry says, ids apart."""
    if isinstance(entry, Item | Episode):
        return type(entry), entry.text, entry.recorded_at
    return type(entry), entry.recorded_at


def test_what_is_settled_does_not_depend_on_who_merged() -> None:
    for seed in range(0, PAIRS, 3):
        base, ours, theirs = branches(seed)
        if merged(base, ours, theirs).conflicts:
            choices = [settle.Choice(k, by="sam", reason="so") for k in ("ours", "theirs")]
            pairs = zip((merged(base, ours, theirs), merged(base, theirs, ours)), choices, strict=True)
            one, other = (settle.settle(m.data, choice, LATER) for m, choice in pairs)
            assert bool(one.left) == bool(other.left)
            if not one.left:
                assert one.data.replace(b"~theirs", b"~ours") == other.data.replace(b"~theirs", b"~ours"), seed


@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
def test_the_markers_of_git_hold_both_sides(style: str, tmp_path: Path) -> None:
    conflicted = 0
    for seed in range(min(PAIRS, 120)):
        base, ours, theirs = branches(seed)
        data = by_git(tmp_path, style, *map(checkpoint.render, (base, ours, theirs)))
        if not markers.has_markers(data):
            continue
        conflicted += 1
        assert set(markers.read(data).union) == {line(e) for e in base + ours + theirs}, seed
        done = settle.settle(data, settle.Choice(), LATER)
        assert bool(done.left) == is_semantic(base, ours, theirs), (seed, done.left)
        if not done.left:
            assert done.data == checkpoint.render(ours + theirs), seed
            continue
        assert done.data == data
        done = settle_by_ids(done, data)
        assert not done.left, (seed, done.left)
        entries = checkpoint.read(done.data)
        assert not errors(entries), seed
        assert not Counter(said(e) for e in set(ours + theirs)) - Counter(said(e) for e in entries), seed
    assert conflicted > 10


def settle_by_ids(done: settle.Settled, data: bytes) -> settle.Settled:
    """As a person would who goes through the list."""
    for _ in range(20):
        if not done.left:
            break
        first = done.left[0]
        by_id = first.code in ("two-current", "corrected-twice") and not first.told_apart
        keep = first.ids[0] if by_id else "ours"
        choice = settle.Choice(keep, by="sam", reason="so", id=first.ids[0])
        done = settle.settle(data, choice, LATER)
        data = done.data
    return done


def by_git(folder: Path, style: str, base: bytes, ours: bytes, theirs: bytes) -> bytes:
    for name, data in (("base", base), ("ours", ours), ("theirs", theirs)):
        (folder / name).write_bytes(data)
    command = ["git", "merge-file", "-p", *([f"--{style}"] if style != "merge" else []), "ours", "base", "theirs"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).stdout


# What a side may not be, and what a base may


def item(id: str, session: str, day: int = 1, **more: Any) -> Item:
    at = datetime(2024, 1, day, tzinfo=UTC)
    return Item("decision", id, more.pop("text", f"text of {id}"), at, at, session, **more)


ONE, TWO, THREE = item("d1", "s1"), item("d2", "s2", 2), item("d3", "s3", 3, slot="q")


def test_both_sides_alike_are_what_they_are() -> None:
    assert merged([ONE], [ONE, TWO], [ONE, TWO]) == merge.Merged(checkpoint.render([ONE, TWO]))


def test_a_file_that_both_sides_added_has_an_empty_base() -> None:
    data = merge.merge(b"", checkpoint.render([ONE]), checkpoint.render([TWO]))
    assert data == merge.Merged(checkpoint.render([ONE, TWO]))


def test_a_side_in_another_order_or_with_crlf_becomes_canonical() -> None:
    ours = checkpoint.render([ONE, TWO]).replace(b"\n", b"\r\n")
    rows = checkpoint.render([ONE, TWO]).splitlines(keepends=True)
    theirs = b"".join([*rows[:2], *rows[5:8], *rows[2:5], *rows[8:]])
    assert theirs != b"".join(rows)
    assert merge.merge(b"", ours, theirs).data == b"".join(rows)


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_what_a_side_took_out_is_a_conflict(side: str) -> None:
    ours, theirs = ([TWO], [ONE, THREE]) if side == "ours" else ([ONE, THREE], [TWO])
    found = merged([ONE], ours, theirs)
    [conflict] = found.conflicts
    assert (conflict.code, conflict.ids, conflict.groups) == ("rewritten", ("s1",), ("session s1",))
    assert f"rewritten history: {side} changed what session s1" in conflict.message
    assert b"||||||| base\n" in found.data
    assert settle.settle(found.data, settle.Choice(), LATER).data == checkpoint.render([ONE, TWO, THREE])


def test_what_both_sides_took_out_is_in_the_base_of_the_conflict_alone() -> None:
    found = merged([ONE], [TWO], [THREE])
    assert [c.code for c in found.conflicts] == ["rewritten"]
    assert settle.settle(found.data, settle.Choice(), LATER).data == checkpoint.render([ONE, TWO, THREE])


@pytest.mark.parametrize(
    "forged",
    [
        [replace(ONE, text="another text")],
        [ONE, replace(ONE, id="d9")],
        [ONE, Review("rejects", Target("d1"), "sam", "no", ONE.recorded_at, "s1")],
    ],
    ids=["changed", "added", "a review added"],
)
def test_a_session_of_the_base_takes_no_more_lines(forged: list[Entry]) -> None:
    found = merged([ONE], [*forged, TWO], [ONE, THREE])
    assert [c.code for c in found.conflicts] == ["rewritten"]
    done = settle.settle(found.data, settle.Choice("base"), LATER)
    assert done.data == checkpoint.render([ONE, TWO, THREE])
    assert any("left out: " in sentence for sentence in done.done)


def test_of_a_picked_change_what_was_never_here_stays_out() -> None:
    base, theirs = [ONE, TWO], [ONE, TWO, THREE]
    data = [checkpoint.render(entries) for entries in (base, [ONE], theirs)]
    assert merge.merge(*data, picked=True) == merge.Merged(checkpoint.render([ONE, THREE]), (), ("s2",))
    assert [c.code for c in merge.merge(*data).conflicts] == ["rewritten"]


def test_of_a_picked_change_a_session_that_is_here_in_part_is_rewritten() -> None:
    more = replace(TWO, id="d9")
    data = [checkpoint.render(entries) for entries in ([ONE, TWO, more], [ONE, TWO], [ONE, TWO, more, THREE])]
    assert [c.code for c in merge.merge(*data, picked=True).conflicts] == ["rewritten"]


def test_a_change_that_takes_a_session_of_here_out_is_a_conflict_picked_or_not() -> None:
    data = [checkpoint.render(entries) for entries in ([ONE, TWO], [ONE, TWO, THREE], [ONE])]
    for picked in (False, True):
        assert [c.code for c in merge.merge(*data, picked=picked).conflicts] == ["rewritten"]


def test_a_base_in_conflict_counts_for_what_is_outside_of_it() -> None:
    base = merged([ONE], [ONE, item("d4", "s4", slot="q")], [ONE, item("d5", "s5", slot="q")])
    assert base.conflicts
    ours, theirs = [ONE, item("d4", "s4", slot="q"), TWO], [ONE, item("d4", "s4", slot="q"), item("d6", "s6")]
    found = merge.merge(base.data, checkpoint.render(ours), checkpoint.render(theirs))
    assert found == merge.Merged(checkpoint.render(ours + theirs))
    assert [c.code for c in merge.merge(base.data, *map(checkpoint.render, ([TWO], theirs))).conflicts] == ["rewritten"]


def test_what_was_wrong_with_one_side_already_is_no_conflict_of_the_merge() -> None:
    broken = [item("d4", "s4", slot="q"), item("d5", "s5", slot="q")]
    found = merged([], [*broken, ONE], [*broken, TWO])
    assert not found.conflicts
    assert errors(checkpoint.read(found.data))


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_a_side_that_is_no_checkpoint_is_named(side: str) -> None:
    good = checkpoint.render([ONE])
    for bad in (b"", b"{}", good[:-5], good.replace(b"}\n", b"<<<<<<< x\n"), good.replace(b"d1", b"\xff")):
        sides = (bad, good) if side == "ours" else (good, bad)
        with pytest.raises(Damaged, match=f"^{side}: "):
            merge.merge(good, *sides)


def test_longer_markers_and_those_nested_in_a_base_are_read() -> None:
    rows = [line(e) + "," for e in (ONE, TWO, THREE)]
    text = "\n".join(
        ["{", '"ledger": 1,', "<<<<<<<<< a", rows[0], "||||||||| b", "<<<<<<<<<<< c", rows[2], "===========", "junk",
         ">>>>>>>>>>> d", "=========", rows[1], ">>>>>>>>> e", '"end": "ledger"', "}", ""]
    )  # fmt: skip
    sides = markers.read(text.encode())
    assert [list(lines.values()) for lines in (sides.ours, sides.theirs, sides.base)] == [[ONE], [TWO], [THREE]]
