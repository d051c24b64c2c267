"""Read a checkpoint that a merge left in conflict: every entry stands in it, between the markers or around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ledger_cli.errors import Damaged
from ledger_cli.layout import FORMAT
from ledger_cli.lines import parse_line
from ledger_cli.model import Entry

Lines = dict[str, Entry]
"""Entries by their canonical lines. Two entries are the same one where their lines are."""

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
