"""Go through the bytes of a checkpoint: what can be read of it, and everything that is wrong with it."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ledger_cli.errors import short
from ledger_cli.layout import FORMAT, TOP, grouping, rank
from ledger_cli.lines import Key, order, parse_line, quote
from ledger_cli.model import Entry

UPGRADES: dict[int, Callable[[bytes], bytes]] = {}
"""By an older format: the function that turns a file of it into one of the next."""

_MARKERS = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")
_RESOLVE = "run `ledger resolve`: it reads both sides out of the markers"
_EXPORT = "run `ledger export`: it writes the lines in their order"
_RESTORE = "only the tool writes this file: take the line, or the file, back from git"


@dataclass(frozen=True, slots=True)
class LineProblem:
    """One thing that is wrong with the checkpoint's bytes: the line (from 1), a stable code, and a sentence."""

    line: int
    code: str
    message: str
    hint: str = _RESTORE

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


class _Row(NamedTuple):
    """An entry as found."""

    number: int
    text: str
    entry: Entry
    group: str | None  # the one it stands in


Parse = Callable[[str], Entry]


def scan(data: bytes, parse: Parse = parse_line) -> tuple[list[tuple[int, Entry]], list[LineProblem]]:
    """Read what can be read: the entries with the numbers of their lines, and all problems, by line.

    `parse` reads a line as `parse_line` does; who reads files that share lines need not read each of them twice.

    Codes: `conflict-marker`, `format`, `truncated`, `not-canonical`, `wrong-place` (a line in another group),
    `wrong-order`, `duplicate-line`, `duplicate-group`, `unknown-id`. What may only follow from something worse is
    left out: beside conflict markers all else, beside an entry that cannot be read what is missing because of it.
    """
    problems: list[LineProblem] = []
    text = _decoded(data, problems)
    conflicts: list[LineProblem] = []
    if text.startswith(_MARKERS) or any(f"\n{marker}" in text for marker in _MARKERS):
        conflicts = [
            LineProblem(number, "conflict-marker", "merge conflict in the checkpoint", _RESOLVE)
            for number, each in enumerate(text.split("\n"), 1)
            if each.startswith(_MARKERS)
        ]
    elif not text.startswith(TOP):
        found = _SAID.match(text)
        said = short(found[1], 20) if found else ""  # it may be anything, and of any length
        upgrade = UPGRADES.get(int(said)) if said.isdecimal() else None
        return scan(upgrade(data), parse) if upgrade else ([], [_format_problem(text, said)])
    rows, all_read = _rows(text, problems, parse)
    _check_places(rows, problems, all_read=all_read)
    problems.sort(key=lambda problem: problem.line)
    return [(row.number, row.entry) for row in rows], conflicts or problems


def _decoded(data: bytes, problems: list[LineProblem]) -> str:
    """The text, with LF; what is wrong with its encoding and its line ends goes to `problems`."""
    if data.startswith(b"\xef\xbb\xbf"):
        problems.append(LineProblem(1, "not-canonical", "a byte order mark, where none belongs"))
        data = data[3:]
    if b"\r\n" in data:
        if data.count(b"\r\n") != data.count(b"\n"):
            crlf = [each.endswith(b"\r") for each in data.split(b"\n")[:-1]]
            message = "ends otherwise than the lines before it: LF and CRLF are mixed"
            number = crlf.index(not crlf[0]) + 1
            problems.append(LineProblem(number, "not-canonical", message, "convert the file to LF"))
        data = data.replace(b"\r\n", b"\n")
    try:
        return data.decode()
    except UnicodeDecodeError:
        text = data.decode(errors="surrogateescape")
        for number, each in enumerate(text.split("\n"), 1):
            if re.search("[\udc80-\udcff]", each):
                problems.append(LineProblem(number, "not-canonical", "not UTF-8"))
        return text


_SAID = re.compile(r'\s*\{?\s*"ledger"\s*:\s*([^\s,}]*)')


def _format_problem(text: str, said: str) -> LineProblem:
    """What is wrong with a file that does not begin as format 1 does, with the format it `said` it has."""
    if not text.strip():
        return LineProblem(1, "format", "the checkpoint is empty", "take the file back from git")
    if said.isdecimal() and int(said) > FORMAT:
        message = f"written by a newer ledger (format {said}); this one reads format {FORMAT}"
        return LineProblem(2, "format", message, f"upgrade ledger-cli to a version that reads format {said}")
    if TOP.startswith(text):
        return LineProblem(text.count("\n") + 1, "truncated", "the file ends before its first group")
    if said and said != str(FORMAT):
        return LineProblem(2, "format", f"there is no format {said}; this ledger reads format {FORMAT}")
    message = f'not a checkpoint as the tool writes it: the first lines are {{ and "ledger": {FORMAT},'
    return LineProblem(2 if text.startswith("{\n") else 1, "format", message)


def _rows(text: str, problems: list[LineProblem], parse: Parse) -> tuple[list[_Row], bool]:
    """The entries, and whether all could be read; what is wrong with a line on its own goes to `problems`."""
    lines = text.split("\n")
    fragment = lines.pop()
    if fragment == "}":
        lines.append(fragment)
        problems.append(LineProblem(len(lines), "not-canonical", "no line end after the last line"))
    elif fragment:
        problems.append(LineProblem(len(lines) + 1, "truncated", "the file ends in the middle of this line"))
    frame = _Frame(problems)
    rows = []
    all_read = True
    for number, each in enumerate(lines[2:], 3):
        if not each.startswith("{"):
            frame.line(number, each)
            continue
        if frame.group is None:
            where = "after the end" if frame.ended else "outside of any group"
            problems.append(LineProblem(number, "wrong-place", f"an entry {where}"))
        if not each.endswith(","):
            problems.append(LineProblem(number, "not-canonical", "no comma at the end of the line"))
        body = each.removesuffix(",")
        try:
            rows.append(_Row(number, body, parse(body), frame.group))
        except ValueError as fault:
            problems.append(LineProblem(number, "not-canonical", str(fault)))
            all_read = False
    if not frame.done and not fragment:
        problems.append(LineProblem(len(lines), "truncated", "the file ends in the middle: this is not its last line"))
    return rows, all_read and frame.all_known


class _Frame:
    """The lines that are no entries: they open and close groups, and end the file."""

    def __init__(self, problems: list[LineProblem]) -> None:
        self.problems = problems
        self.group: str | None = None  # the open one
        self.ended = self.done = False  # after `"end": "ledger"`, and after `}`
        self.all_known = True  # no line but the known ones, which might have been an entry once
        self._headers: dict[str, int] = {}
        self._last = ""
        self._closing = ""

    def line(self, number: int, text: str) -> None:
        """Take the next line; what is wrong with it goes to the problems."""
        if self.ended:
            if self.done or text != "}":
                self._problem(number, f"no line belongs here, after the end: {text[:60]!r}")
            self.done = True
        elif self.group is not None and text.startswith('"end of '):
            if text != self._closing:
                self._problem(number, f"closes another group than the open one, {quote(self.group)}")
            elif self._headers[self.group] == number - 1:
                self._problem(number, f"the group {quote(self.group)} is empty; empty groups are not written")
            self.group = None
        elif text.startswith(('"session ', '"slot ')) and (name := _name(text)) is not None:
            self._open(number, name)
        elif text == '"end": "ledger"':
            self._must_be_closed(number)
            self.ended = True
        elif not text.startswith(_MARKERS):
            self.all_known = False
            self._problem(number, f"no line of a checkpoint: {text[:60]!r}")

    def _open(self, number: int, name: str) -> None:
        self._must_be_closed(number)
        if name in self._headers:
            message = f"the group {quote(name)} stands on line {self._headers[name]} already"
            self.problems.append(LineProblem(number, "duplicate-group", message, "make one group of the two"))
        elif self._last and rank(name) < rank(self._last):
            message = f"the group {quote(name)} belongs before {quote(self._last)}"
            self.problems.append(LineProblem(number, "wrong-order", message, _EXPORT))
        self._headers[name] = number
        self.group = self._last = name
        self._closing = f"{quote(f'end of {name}')}],"

    def _must_be_closed(self, number: int) -> None:
        if self.group is not None:
            self._problem(number, f"the group {quote(self.group)} is not closed before this line")
            self.group = None

    def _problem(self, number: int, message: str) -> None:
        self.problems.append(LineProblem(number, "not-canonical", message))


def _name(header: str) -> str | None:
    """The name of the group that a header opens; None if it is not a canonical header."""
    if not header.endswith(": ["):
        return None
    name: object = header[1:-4]
    if "\\" in header:
        with contextlib.suppress(ValueError):
            name = json.loads(header[:-3])
    return name if isinstance(name, str) and f"{quote(name)}: [" == header else None


def _check_places(rows: Sequence[_Row], problems: list[LineProblem], *, all_read: bool) -> None:
    """Compare where each entry stands with where it belongs; what is out of place goes to `problems`."""
    group_of = grouping(row.entry for row in rows)
    seen: dict[str, int] = {}
    above: tuple[str | None, Key] | None = None
    for number, text, entry, group in rows:
        key = order(entry, text)
        first = seen.setdefault(text, number)
        if first != number:
            message = f"the same line as line {first}"
            problems.append(LineProblem(number, "duplicate-line", message, "delete one of the two"))
        elif above and above[0] == group and key < above[1]:
            message = "this line belongs before the one above it"
            problems.append(LineProblem(number, "wrong-order", message, _EXPORT))
        above = group, key
        if group is None or not all_read:
            continue
        try:
            right = group_of(entry)
        except KeyError as unknown:
            message = f"no item {unknown.args[0]!r} is in the file"
            problems.append(LineProblem(number, "unknown-id", message))
        else:
            if right != group:
                message = f"this line stands in {quote(group)} and belongs in {quote(right)}"
                problems.append(LineProblem(number, "wrong-place", message, "move the line there"))
