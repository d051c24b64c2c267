"""A checkpoint in conflict, read and written: every entry stands in it, between the markers or around them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ledger_cli.errors import Damaged
from ledger_cli.layout import BOTTOM, FORMAT, TOP, framed, grouping, rank
from ledger_cli.lines import Key, order, parse_line
from ledger_cli.model import Entry

Lines = dict[str, Entry]
"""Entries by their canonical lines. Two entries are the same one where their lines are."""

OURS, BASE, MIDDLE, THEIRS = "<<<<<<< ours", "||||||| base", "=======", ">>>>>>> theirs"
_MARKER = re.compile(r"([<|=>])\1{6,}(?= |$)")
_FRAME = ("{", "}", '"end": "ledger"')
_ENDED = '"end": "ledger"'
_BACK = "take the file back with `git checkout -m -- snapshots/ledger.json`, then run `ledger resolve`"


@dataclass(frozen=True)
class Sides:
    """What two sides hold, and what is known of the base they came from (from markers: at most a part of it)."""

    ours: Lines = field(default_factory=dict)
    theirs: Lines = field(default_factory=dict)
    base: Lines = field(default_factory=dict)

    @property
    def union(self) -> Lines:
        """All that any of them holds: entries are never removed."""
        return {**self.base, **self.ours, **self.theirs}

    def lone(self) -> Lines:
        """What one side alone holds."""
        return {text: e for text, e in self.union.items() if (text in self.ours) != (text in self.theirs)}


def has_markers(data: bytes) -> bool:
    """Does any line look like a conflict marker?"""
    return re.search(rb"^([<|=>])\1{6}", data, re.MULTILINE) is not None


def parts(text: str) -> Iterator[tuple[int, str, str]]:
    """Each line that is no marker, with its number and its part: `common`, `ours`, `base` or `theirs`.

    The length of the first marker holds for its conflict: in the base of a criss-cross merge, git nests longer ones.
    Raises Damaged for a marker where none can stand.
    """
    part, length = "common", 0
    after = {("common", "<"): "ours", ("ours", "|"): "base", ("ours", "="): "theirs", ("base", "="): "theirs"}
    after["theirs", ">"] = "common"
    number = 0
    for number, line in enumerate(text.split("\n"), 1):
        found = _MARKER.match(line)
        if found is None or (part != "common" and found.end() != length):
            yield number, part, line
            continue
        following = after.get((part, found[1]))
        if following is None:
            raise Damaged(f"the checkpoint, line {number}: a conflict marker that belongs to no conflict", _BACK)
        part, length = following, found.end()
    if part != "common":
        raise Damaged(f"the checkpoint, line {number}: the last conflict has no end", _BACK)


def read(data: bytes) -> Sides:
    """Both sides of a file in conflict, whoever wrote the markers: our merge driver or git, with a base or without.

    Lines stand in any order, and in any group. Raises Damaged, naming the line, for what is neither an entry nor a
    line that frames them, and for a side that has no end.
    """
    try:
        text = data.replace(b"\r\n", b"\n").decode()
    except UnicodeDecodeError as fault:
        number = data[: fault.start].count(b"\n") + 1
        raise Damaged(f"the checkpoint, line {number}: not UTF-8", _BACK) from None
    sides = Sides()
    into = {"common": (sides.ours, sides.theirs), "ours": (sides.ours,), "theirs": (sides.theirs,)}
    ends = set[str]()
    for number, part, line in parts(text):
        if line.startswith('{"'):
            body = line.removesuffix(",")
            try:
                entry = parse_line(body)
            except ValueError as fault:
                if part == "base":  # what is not a line of either side is no line of the result
                    continue
                raise Damaged(f"the checkpoint, line {number}: {fault}", _BACK) from None
            for lines in into.get(part, (sides.base,)):
                lines[body] = entry
        elif part != "base":
            ends |= {part} if line == _ENDED else set()
            _check_frame(number, line)
    if "common" not in ends and not {"ours", "theirs"} <= ends:
        raise Damaged("the checkpoint ends in the middle", _BACK)
    return sides


def outside(data: bytes, parse: Callable[[str], Entry] = parse_line) -> Lines:
    """The entries that stand in no conflict, as far as they can be read.

    For the base of a merge: where it is a merge of its own (criss-cross), git hands it over with that one's markers.
    """
    found: Lines = {}
    try:
        for _, part, line in parts(data.replace(b"\r\n", b"\n").decode(errors="replace")):
            if part == "common" and line.startswith('{"'):
                body = line.removesuffix(",")
                try:
                    found[body] = parse(body)
                except ValueError:
                    continue
    except Damaged:
        pass
    return found


def _check_frame(number: int, line: str) -> None:
    if line.startswith('"ledger": '):
        if line != f'"ledger": {FORMAT},':
            raise Damaged(
                f"the checkpoint, line {number}: not of format {FORMAT}, which this ledger reads",
                "merge with a version of ledger-cli that reads both sides",
            )
    elif line and line not in _FRAME and not line.startswith(('"session ', '"slot ', '"end of ')):
        raise Damaged(f"the checkpoint, line {number}: no line of a checkpoint: {line[:60]!r}", _BACK)


# Writing


def grouped(union: Lines) -> Callable[[Entry], str]:
    """As `layout.grouping`; what names an item that is not there stands with its session."""
    known = grouping(union.values())

    def group_of(entry: Entry) -> str:
        try:
            return known(entry)
        except KeyError:
            return f"session {entry.session}"

    return group_of


def render(sides: Sides, disputed: Collection[str] = (), rewritten: Collection[str] = ()) -> bytes:
    """The file of all that the sides hold: canonical, but for markers in the `disputed` groups.

    There the base is shown as well, of the sessions that a side has `rewritten`.
    """
    union, group_of = sides.union, grouped(sides.union)
    groups: dict[str, list[Key]] = defaultdict(list)
    before: dict[str, list[str]] = defaultdict(list)  # the base of a group that a side changed; else it is in both
    for text, entry in union.items():
        groups[group_of(entry)].append(order(entry, text))
        if entry.session in rewritten and text in sides.base:
            before[group_of(entry)].append(text)
    pieces = [TOP]  # as `checkpoint.render` writes it; but the lines are there already
    for name in sorted(groups, key=rank):
        texts = [key[-1] for key in sorted(groups[name])]
        pieces.append(framed(name, rows(texts, sides, before[name], disputed=name in disputed)))
    return "".join([*pieces, BOTTOM]).encode()


def _rows(texts: Iterable[str]) -> list[str]:
    return [f"{text}," for text in texts]


def rows(texts: Sequence[str], sides: Sides, before: Iterable[str] = (), *, disputed: bool) -> list[str]:
    """A group's lines; of one that is `disputed`, those that are not in both sides between markers, where the first of
    them stands, with what was there `before`."""
    if not disputed:
        return _rows(texts)
    differ = [t for t in texts if not (t in sides.ours and t in sides.theirs)]
    if not differ:
        return _rows(texts)
    first = texts.index(differ[0])
    ours, theirs = [t for t in differ if t in sides.ours], [t for t in differ if t in sides.theirs]
    base = [BASE, *_rows(before)] if before else []
    hunk = [OURS, *_rows(ours), *base, MIDDLE, *_rows(theirs), THEIRS]
    rest = [t for t in texts[first:] if t not in set(differ)]
    return [*_rows(texts[:first]), *hunk, *_rows(rest)]
