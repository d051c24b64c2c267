"""Merge checkpoints by entry, pure: what is only textual is settled, what is semantic stays a conflict where it is.

    merged = merge(base, ours, theirs)
    merged.data        # canonical where merged.conflicts is empty; else with markers, in the groups in conflict alone

Entries are never removed, so the merge of two sides is all they hold. It is a conflict where that is no ledger: two
answers to one question, one id for two things, or a side that changed what was recorded before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from ledger_cli import checkpoint, markers
from ledger_cli.conflicts import Conflict, conflicts
from ledger_cli.errors import Damaged
from ledger_cli.excerpt import Excerpt, inserted
from ledger_cli.layout import BOTTOM, TOP, framed
from ledger_cli.lines import line, parse_line
from ledger_cli.markers import Lines, Sides
from ledger_cli.model import Entry


@dataclass(frozen=True)
class Merged:
    """The merged file. `left_out`: sessions of a base that is no ancestor (see `merge`) and that ours lacks."""

    data: bytes
    conflicts: tuple[Conflict, ...] = ()
    left_out: tuple[str, ...] = ()


def merge(base: bytes, ours: bytes, theirs: bytes, *, picked: bool = False) -> Merged:
    """The merge of three checkpoints; an empty base is a file that both sides added.

    `picked`: the base need not be an ancestor of ours, as when one commit is cherry-picked or rebased. Then a session
    that theirs has from its base, and ours has no line of, is not removed by ours: it was never there, and stays out.
    Raises Damaged for a side that is no checkpoint; its lines may stand in any order. Of the lines that all three share
    only those are read that the rest concerns: what is wrong with another, `check` says before and after.
    """
    if (merged := _of_news(base, ours, theirs)) is not None:
        return merged
    parse = cache(parse_line)  # nearly all lines stand in all three
    sides = Sides(_read(ours, "ours", parse), _read(theirs, "theirs", parse), markers.outside(base, parse))
    left_out: tuple[str, ...] = ()
    taken = sides
    if picked:
        here = {entry.session for entry in sides.ours.values()}
        left_out = tuple(sorted({e.session for e in sides.base.values()} - here))
        taken = Sides(sides.ours, _without(sides.theirs, left_out), _without(sides.base, left_out))
    found = conflicts(taken, alone=(sides.ours, sides.theirs))
    return Merged(render(taken, found), tuple(found), left_out)


def _of_news(base: bytes, ours: bytes, theirs: bytes) -> Merged | None:
    """The merge where both sides only added sessions, told by what they added and what that meets; else None.

    This is nearly every merge. Of each side a few lines are read: the others are as the base has them, and were checked
    when they were recorded.
    """
    if not (base.startswith(TOP.encode()) and base.endswith(BOTTOM.encode())):
        return None
    try:
        ones, others = _added(base, ours), _added(base, theirs)
        excerpt, added = Excerpt(base), dict.fromkeys([*ones, *others])
        if excerpt.holds(added):
            return None
        met = _lines(excerpt.around(added))
        sides = Sides(met | _lines(ones), met | _lines(others), met)
        found = conflicts(sides, alone=(sides.ours, sides.theirs))
        disputed = {group for conflict in found for group in conflict.groups}
        if disputed:
            there = {text: parse_line(text) for name in disputed for text in checkpoint.group_lines(base, name)}
            sides = Sides(there | sides.ours, there | sides.theirs)

        def text(name: str, texts: Sequence[str]) -> str:
            return framed(name, markers.rows(texts, sides, disputed=name in disputed))

        data = checkpoint.splice(base, added, excerpt.group_of, text)
    except (ValueError, KeyError, Damaged):
        return None  # something is wrong with a side, or with the base
    # That each side stands in the result, line by line, proves what was not read of it: its groups, and its order.
    is_whole = inserted(ours, data) is not None and inserted(theirs, data) is not None
    return Merged(data, tuple(found)) if is_whole else None


def _lines(entries: Iterable[Entry]) -> Lines:
    return {line(entry): entry for entry in entries}


def _added(base: bytes, side: bytes) -> list[Entry]:
    """The entries that a side added; ValueError if it did more than add."""
    lines = inserted(base, side)
    if lines is None:
        raise ValueError("a line of the base is gone")
    return [parse_line(each.decode().removesuffix(",\n")) for each in lines if each.startswith(b"{")]


def _read(data: bytes, side: str, parse: Callable[[str], Entry]) -> Lines:
    try:
        entries = checkpoint.read(data, any_order=True, parse=parse)
    except Damaged as fault:
        raise Damaged(f"{side}: {fault.message}", fault.hint) from None
    rows = data.decode().replace("\r\n", "\n").split("\n")
    return dict(zip((row[:-1] for row in rows if row.startswith('{"')), entries, strict=True))


def _without(lines: Lines, sessions: Iterable[str]) -> Lines:
    gone = set(sessions)
    return {text: entry for text, entry in lines.items() if entry.session not in gone}


def render(sides: Sides, found: Iterable[Conflict]) -> bytes:
    """The file of all that the sides hold: canonical, but for markers in the groups that are in conflict."""
    found = list(found)
    rewritten = {conflict.ids[0] for conflict in found if conflict.code == "rewritten"}
    return markers.render(sides, {group for conflict in found for group in conflict.groups}, rewritten)
