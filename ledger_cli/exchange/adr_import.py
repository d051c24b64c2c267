"""A folder of decision records as sessions to review: one item a record, with what its status and links say of it."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath

from ledger_cli import session_file
from ledger_cli.errors import Refused, SessionFileError
from ledger_cli.exchange import adr_dates, adr_links, adr_read
from ledger_cli.exchange.adr_links import Decided
from ledger_cli.exchange.adr_read import Record
from ledger_cli.exchange.adr_statements import Statement
from ledger_cli.exchange.outcomes import Import, Outcome
from ledger_cli.gitrepo import GitRepo, Version
from ledger_cli.instant import FUTURE_TOLERANCE, LAST, show
from ledger_cli.model import Target
from ledger_cli.stated import Session, StatedEnding, StatedItem, StatedLink, StatedReview

BY = "ledger import adr"
"""Who writes the sessions where nobody is named."""

_MARKDOWN = (".md", ".markdown")
_OTHERS = (".adoc", ".asciidoc", ".rst", ".org", ".txt")
_LARGEST = 1 << 20


def of_folder(folder: Path, *, session: str, by: str | None = None, git: bool = False, now: datetime = LAST) -> Import:
    """Read the records in a folder and below it.

    Without `git`, one session of that id without a clock: it is recorded when it is applied. With `git`, a session for
    each commit that decided something, at the time when it was committed, which its id ends with; the files are read as
    HEAD has them. What was committed after `now` is listed: no ledger records what is to come.
    Raises Refused where there is no such folder, it holds no record, or its history is not all there.
    """
    files = _files(folder)
    past = _past(folder, files) if git else None
    records = [_record(folder / file, file, past) for file in files]
    for record, file in zip(records, files, strict=True):
        record.faults += _ahead((past or {}).get(file, ()), now)
    _name(records)
    decided = adr_links.decide(records)
    refused = _refusals(decided)
    if refused:
        for record in records:
            record.faults += refused.get(record.file, [])
        decided = adr_links.decide(records)
    one = past is None
    by_name = {_shown(file): its for file, its in (past or {}).items()}
    sessions = _one_session(decided, session, by or BY) if one else _sessions_of_commits(decided, by_name, session, by)
    return Import(sessions, tuple(_outcome(record, decided) for record in records))


# Reading


def _files(folder: Path) -> list[str]:
    """The records of a folder, by their paths in it. What is hidden is passed over."""
    if not folder.is_dir():
        raise Refused(f"{folder} is not a folder", "name the folder that holds the decision records")
    found = []
    for at, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if name.lower().endswith(_MARKDOWN + _OTHERS) and not name.startswith("."):
                found.append((Path(at) / name).relative_to(folder).as_posix())
    if not found:
        raise Refused(f"{folder} holds no decision record", "records are Markdown files: *.md")
    return sorted(found)


def _record(path: Path, file: str, past: Mapping[str, Sequence[Version]] | None) -> Record:
    shown = _shown(file)
    if path.suffix.lower() in _OTHERS:
        return Record(shown, faults=["only Markdown is read"])
    try:
        if past is None and path.exists() and not path.is_file():
            return Record(shown, faults=["not a regular file"])  # a pipe would wait for a writer, a device never end
        data = _bytes(path) if past is None else past[file][0].data
    except OSError as fault:
        return Record(shown, faults=[f"cannot be read: {fault.strerror or fault}"])
    except IndexError:
        return Record(shown, faults=["not committed: git knows no record time of it"])
    return _read(data, shown)


def _shown(file: str) -> str:
    """A file's name as text; bytes of it that are none are written out."""
    return os.fsencode(file).decode("utf-8", "backslashreplace")


def _bytes(path: Path) -> bytes:
    """The bytes of a file, or of one that is too large as many as show it."""
    with path.open("rb") as file:
        return file.read(_LARGEST + 1)


def _read(data: bytes, file: str) -> Record:
    if len(data) > _LARGEST:
        return Record(file, faults=[f"more than {_LARGEST:,} bytes: too large for a decision record"])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        return Record(file, faults=[f"not UTF-8 (byte 0x{data[fault.start]:02x})"])
    return adr_read.read(text, file)


def _name(records: Iterable[Record]) -> None:
    """Give each record the id of its item: its own word, its file's name, or its path where two have one name."""
    records = list(records)
    names = Counter(PurePosixPath(record.stem).name for record in records)
    for record in records:
        name = PurePosixPath(record.stem).name
        own = "".join(record.own.get("ledger-id", []))
        record.own["ledger-id"] = [own or (name if names[name] == 1 else record.stem)]
    ids = Counter(_id(record) for record in records)
    for record in records:
        if ids[_id(record)] > 1:
            record.faults.append(f"the id {_id(record)} is that of another record, too")


def _id(record: Record) -> str:
    return record.own["ledger-id"][0]


# What a record comes to


def _item(record: Record, supersedes: tuple[str, ...] = ()) -> StatedItem:
    own = {key.removeprefix("ledger-"): values for key, values in record.own.items()}
    return StatedItem(
        kind="fact" if own.get("kind") == ["fact"] else "decision",
        id=_id(record),
        text=record.text,
        rationale=record.rationale,
        slot="".join(own.get("slot", [])) or None,
        about=tuple(own["about"]) if own.get("about") else None,
        valid_from=record.date,
        valid_to=adr_dates.parse(own["valid-to"][0]) if own.get("valid-to") else None,
        supersedes=supersedes,
        confidence=float(own["confidence"][0]) if own.get("confidence") else None,
    )


def _refusals(decided: Decided) -> dict[str, list[str]]:
    """What no session may hold, by file: a title that is a placeholder, a name that is too long for an id."""
    found: dict[str, list[str]] = {}
    for file, record in decided.records.items():
        try:
            yaml = session_file.to_yaml([Session("import", items=(_item(record),))])
            session_file.read(yaml, file)
        except SessionFileError as fault:
            found[file] = [problem.what for problem in fault.problems]
        except ValueError as wrong:
            found[file] = [str(wrong)]
    return found


def _rejection(record: Record) -> StatedReview:
    return StatedReview("rejects", Target(_id(record)), None, f"its status is: {record.said}")


def _ending(record: Record) -> StatedEnding:
    assert record.ended is not None
    return StatedEnding(_id(record), record.ended, None, f"its status is: {record.said}")


def _outcome(record: Record, decided: Decided) -> Outcome:
    id = _id(record) if record.file in decided.records else None
    return Outcome(record.file, id, tuple(dict.fromkeys(decided.reasons[record.file])))


def _one_session(decided: Decided, session: str, by: str) -> tuple[Session, ...]:
    if not decided.records:
        return ()
    olds: dict[str, list[str]] = defaultdict(list)
    for old, new in decided.links:
        olds[new].append(_id(decided.records[old]))
    its = decided.records.values()
    return (
        Session(
            session,
            by=by,
            items=tuple(_item(record, tuple(sorted(olds[record.file]))) for record in its),
            endings=tuple(_ending(record) for record in its if record.ended is not None),
            reviews=tuple(_rejection(record) for record in its if record.status == "rejected"),
        ),
    )


# Record time from git


def _past(folder: Path, files: Iterable[str]) -> dict[str, list[Version]]:
    """The versions of each file, the latest first. Raises Refused for a clone that does not hold them all."""
    repo = GitRepo.of(folder)
    if hint := repo.deeper():
        raise Refused(f"the history of {folder} is not all here, and with it the record times", hint)
    repo.commit("HEAD")
    return {file: repo.past(repo.inside(folder / file)) for file in files}


def _ahead(versions: Iterable[Version], now: datetime) -> list[str]:
    """What to say of a file with a version that is of the future: one of the two clocks is wrong."""
    late = [v for v in versions if v.at - now > FUTURE_TOLERANCE]
    return [f"commit {v.commit[:12]} has the date {show(v.at)}, which is ahead of the clock here" for v in late[:1]]


@dataclass
class _Write:
    """What one instant brought, and who committed it."""

    authors: set[str] = field(default_factory=set)
    items: list[StatedItem] = field(default_factory=list)
    links: list[StatedLink] = field(default_factory=list)
    endings: list[StatedEnding] = field(default_factory=list)
    reviews: list[StatedReview] = field(default_factory=list)

    def session(self, id: str, at: datetime, by: str | None) -> Session:
        return Session(
            id,
            at,
            by or _authors(self.authors),
            items=tuple(self.items),
            supersessions=tuple(self.links),
            endings=tuple(self.endings),
            reviews=tuple(self.reviews),
        )


def _sessions_of_commits(
    decided: Decided, past: Mapping[str, Sequence[Version]], name: str, by: str | None
) -> tuple[Session, ...]:
    writes: dict[datetime, _Write] = defaultdict(_Write)
    read = {file: [(v, _read(v.data, file)) for v in past[file]] for file in decided.records}
    recorded: dict[str, datetime] = {}

    def write(version: Version, *after: str) -> _Write:
        """The write of a version's commit, or of the last of what it builds on: clocks of commits may go back."""
        found = writes[max([version.at, *(recorded[file] for file in after)])]
        found.authors.add(version.by)
        return found

    for file, record in decided.records.items():
        # What is rejected was proposed before: it is recorded as of then.
        version = _since(read[file], _was_there if record.status == "rejected" else _was_decided)
        recorded[file] = version.at
        write(version).items.append(_item(record))
        if record.status == "rejected":
            write(_since(read[file], _was_rejected), file).reviews.append(_rejection(record))
        if record.ended is not None:
            write(_since(read[file], partial(_ended, record.ended)), file).endings.append(_ending(record))
    for old, new in decided.links:
        stated = [_since(read[file], partial(_says, said)) for file, said in decided.stated[old, new]]
        link = StatedLink(_id(decided.records[old]), _id(decided.records[new]))
        write(min(stated, key=lambda version: version.at), old, new).links.append(link)
    return tuple(its.session(f"{name}-{show(at)}", at, by) for at, its in sorted(writes.items()))


def _since(versions: Iterable[tuple[Version, Record]], is_so: Callable[[Record], bool]) -> Version:
    """The version since which it is so to this day. The latest one says what is imported."""
    (found, _), *earlier = versions
    for version, record in earlier:
        if not is_so(record):
            break
        found = version
    return found


def _was_there(record: Record) -> bool:
    return True


def _was_decided(record: Record) -> bool:
    return record.status not in (None, "open", "rejected")


def _was_rejected(record: Record) -> bool:
    return record.status == "rejected"


def _ended(at: datetime, record: Record) -> bool:
    return record.ended == at


def _says(statement: Statement, record: Record) -> bool:
    """Does this version of a record say it, too: the same relation to the same record?"""
    return any(
        s.relation == statement.relation and not set(s.references).isdisjoint(statement.references)
        for s in record.statements
    )


def _authors(names: Iterable[str]) -> str:
    listed = " and ".join(sorted(" ".join(name.split()) for name in names))
    try:
        return session_file.check_name(listed)
    except ValueError:
        return BY
