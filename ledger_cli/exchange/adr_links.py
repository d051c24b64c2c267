"""Who supersedes whom among the records of a folder: references looked up, and what contradicts or is missing named."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from ledger_cli.errors import quoted
from ledger_cli.exchange.adr_read import Record
from ledger_cli.exchange.adr_statements import Reference, Statement

_NUMBER = re.compile(r"(?<![0-9A-Za-z])0*(\d{1,6})(?![0-9A-Za-z])")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
_RFC = re.compile(r"rfc", re.IGNORECASE)
_INDEX = ("readme", "index")


class Unresolved(ValueError):
    """A reference that names none of the records, or several."""


class Folder:
    """The records of a folder, and how one names another."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.records = {record.file: record for record in records}
        self._numbers: dict[int, list[str]] = defaultdict(list)
        for record in self.records.values():
            name = posixpath.basename(record.stem)
            if found := _NUMBER.search(name) or _NUMBER.match(record.title):
                self._numbers[int(found[1])].append(record.file)

    def find(self, reference: Reference, of: Record) -> str:
        """The file that a record means by a reference. Raises Unresolved."""
        if reference.target:
            if _ADDRESS.match(reference.target):
                raise Unresolved(f"{quoted(str(reference))} leads out of this folder, to {reference.target}")
            path = unquote(re.split(r"[#?]", reference.target)[0])
            here = posixpath.normpath(posixpath.join(posixpath.dirname(of.file), path))
            candidates = [here] if here in self.records else self._by_name(path)
        elif _RFC.match(reference.text) and not _RFC.search(f"{of.file} {of.title}"):
            candidates = []  # the world has RFCs too
        else:
            candidates = self._by_words(reference.text)
        if len(candidates) != 1:
            what = f"may be any of {', '.join(candidates)}" if candidates else "is not among these records"
            raise Unresolved(f"{quoted(str(reference))} {what}")
        return candidates[0]

    def _by_name(self, path: str) -> list[str]:
        """The files whose names end with that of a path that leads nowhere: records are moved about."""
        name = posixpath.splitext(posixpath.basename(path))[0]
        if name.casefold() in _INDEX:  # a record in a folder of its own
            name = posixpath.basename(posixpath.dirname(path))
        ends = re.compile(rf"(?:^|[^0-9A-Za-z]){re.escape(name)}(?:/(?:{'|'.join(_INDEX)}))?$", re.IGNORECASE)
        return [record.file for record in self.records.values() if name and ends.search(record.stem)]

    def _by_words(self, text: str) -> list[str]:
        """By a file's name, or by its number."""
        found = self._by_name(text) if re.search(r"\w[\w-]*-\w|\.md$", text) and not _NUMBER.fullmatch(text) else []
        if not found and (number := _NUMBER.search(text)):
            found = self._numbers.get(int(number[1]), [])
        return found


@dataclass
class Decided:
    """The records that can be imported, the links between them (old, new), and what is to be said of each file."""

    records: dict[str, Record]
    links: list[tuple[str, str]] = field(default_factory=list)
    reasons: dict[str, list[str]] = field(default_factory=dict)
    stated: dict[tuple[str, str], list[tuple[str, Statement]]] = field(default_factory=dict)
    """Where a link is stated: the file, and its statement."""


def decide(records: Sequence[Record]) -> Decided:
    """Look up who supersedes whom, and set aside the records of which that cannot be told.

    Set aside are those superseded by what is not there, by two, or in a circle: to import them without would say that
    they hold on.
    """
    folder = Folder(records)
    faults: dict[str, list[str]] = {file: list(record.faults) for file, record in folder.records.items()}
    remarks: dict[str, list[str]] = {file: list(record.remarks) for file, record in folder.records.items()}
    own: dict[str, set[str]] = defaultdict(set)  # old -> what it says supersedes it
    told: dict[str, set[str]] = defaultdict(set)  # old -> what says that it supersedes it
    stated: dict[tuple[str, str], list[tuple[str, Statement]]] = defaultdict(list)
    for record in folder.records.values():
        for statement in record.statements:
            is_old = statement.relation == "superseded by"
            for other in _others(folder, record, statement, (faults if is_old else remarks)[record.file]):
                if other == record.file:
                    faults[record.file].append(f"{quoted(statement.said)} names this record itself")
                    continue
                old, new = (record.file, other) if is_old else (other, record.file)
                (own if is_old else told)[old].add(new)
                stated[old, new].append((record.file, statement))
                date = folder.records[new].date
                if is_old and statement.since is not None and date not in (None, statement.since):
                    said = f"{quoted(statement.said)}, but {new} is of {date.date().isoformat()}, and that counts"
                    remarks[old].append(said)
    for old in folder.records:
        # What is not decided, or was rejected, replaces nothing by saying so.
        both = sorted(own[old] | {new for new in told[old] if folder.records[new].status not in ("open", "rejected")})
        for new in sorted(own[old]):
            if folder.records[new].status == "rejected":
                faults[old].append(f"superseded by {new}, which was rejected")
        if len(both) > 1:
            faults[old].append(f"{len(both)} records supersede it: {' and '.join(both)}")
        elif not both and folder.records[old].status == "superseded" and not faults[old]:
            faults[old].append(f"its status is {quoted(folder.records[old].said)}, and no record says that it did that")
    for old in _on_a_circle({old: own[old] | told[old] for old in folder.records}):
        faults[old].append("it supersedes itself, over others")
    _spread(own, faults)
    links = []
    for old in folder.records:
        for new in sorted(own[old] | told[old]):
            if faults[old]:
                remarks[new].append(f"supersedes {old}, which is not imported")
            elif faults[new]:
                remarks[old].append(f"{new} says that it supersedes this one, and is not imported")
            else:
                links.append((old, new))
    imported = {file: record for file, record in folder.records.items() if not faults[file]}
    return Decided(imported, links, {f: faults[f] or remarks[f] for f in folder.records}, stated)


def _others(folder: Folder, record: Record, statement: Statement, unclear: list[str]) -> list[str]:
    """The files that a statement names; what it does not name is said in `unclear`."""
    if not statement.references:
        unclear.append(f"{quoted(statement.said)} names no other record")
    found: dict[str, None] = {}
    for reference in statement.references:
        try:
            found[folder.find(reference, record)] = None
        except Unresolved as fault:
            unclear.append(f"{statement.relation} {fault}")
    return list(found)


def _spread(own: Mapping[str, set[str]], faults: Mapping[str, list[str]]) -> None:
    """What says that it is superseded by a record that is not imported cannot be imported either."""
    ahead = [file for file, found in faults.items() if found]
    while ahead:
        gone = ahead.pop()
        for old in [file for file, news in own.items() if gone in news and not faults[file]]:
            faults[old].append(f"superseded by {gone}, which is not imported")
            ahead.append(old)


def _on_a_circle(after: Mapping[str, set[str]]) -> list[str]:
    found = []
    for start in after:
        seen, ahead = set[str](), list(after[start])
        while ahead:
            file = ahead.pop()
            if file not in seen:
                seen.add(file)
                ahead += after.get(file, ())
        if start in seen:
            found.append(start)
    return found
