"""A decision record, read: what its title, status, dates and links say, and what in it cannot be decided.

Nygard's layout, MADR 2 to 4, log4brains, tables and front matter are one grammar here: metadata stands in front matter,
in `Key: value` lines, bullets or table rows above the first section, or in a section of that name, wherever it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import Literal

from ledger_cli.errors import quoted
from ledger_cli.exchange import adr_dates, adr_words, markdown
from ledger_cli.exchange.adr_words import NOTHING, Class

Relation = Literal["supersedes", "superseded by"]


@dataclass(frozen=True)
class Reference:
    """Another record as this one names it: by a path, a number, or a name."""

    text: str
    target: str = ""

    def __str__(self) -> str:
        return self.text or self.target


@dataclass(frozen=True)
class Statement:
    """`supersedes` or `superseded by`, whom, and since when if that is said."""

    relation: Relation
    references: tuple[Reference, ...]
    said: str
    since: datetime | None = None


@dataclass
class Record:
    """What one file says. `faults` is what keeps it from being imported, `remarks` what is left to the reader."""

    file: str
    title: str = ""
    text: str = ""
    status: Class | None = None
    said: str = ""  # the status as it is written
    date: datetime | None = None
    ended: datetime | None = None
    rationale: str | None = None
    statements: list[Statement] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    own: dict[str, list[str]] = field(default_factory=dict)  # what an export of this program adds: `ledger-…`

    @property
    def stem(self) -> str:
        """The file's path without its ending."""
        return str(PurePosixPath(self.file).with_suffix(""))


_NUMBERED = re.compile(
    r"(?:(?:ADR|Architectur(?:e|al) Decision Records?)\b[\s#-]*\d*\s*[:.–—-]\s*|\d+[.:)]\s+|\d{3,5}\s*[–—-]\s+)",
    re.IGNORECASE,
)
_METADATA = re.compile(
    r"\s*(?:[-*+>]\s+)?(?:\*\*|__)?([^\W\d_][^:：*|\[\]]{0,40}?)(?:\*\*|__)?\s*[:：](?:\*\*|__)?\s*(.*)"
)
_BULLET = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
_ASIDE = re.compile(r"\s*\(([^()]*)\)\s*$")
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2}))?")
_NAMED = re.compile(
    r"\b(?:ADR|RFC|MADR|AD)[\s#-]*\d+\b|#\d+\b|\[\[[^\]]+\]\]|[\w./-]+\.md\b|\b\d{3,}-[\w-]*\w\b", re.IGNORECASE
)
_BARE = re.compile(r"#?(\d{1,5})(?:\s*(?:,|and|und|et|&)\s*#?\d{1,5})*")
_LINKS = re.compile(
    r"(?:related |see )?(?:links?|related|decisions|records|references?|also|more information|relations?)\b.*", re.I
)
_DATED = re.compile(r"(\d{8}|\d{4}-\d{2}-\d{2})[-_ ]")
_PLACEHOLDER = re.compile(r"\{[^{}]*[^\W\d][^{}]*\}|<[^<>/=\"]+ [^<>/=\"]+>|\[[^\[\]]+ [^\[\]]+\](?!\()")
_TEMPLATE_LINE = re.compile(r"\s*(?:[-*+]\s+)?(?:\{[^{}\"=;]{12,}\}|\[[^\[\]]*(?:, e\.g\.|…|\|)[^\[\]]*\])\s*")
_TEMPLATE_WORDS = (
    "The issue motivating this decision, and any context that influences or constrains the decision.",
    "The change that we're proposing or have agreed to implement.",
    "What is the issue that we're seeing that is motivating this decision or change?",
)
_GAP = re.compile(r"\n(?:[ \t]*\n)+")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def read(text: str, file: str) -> Record:
    """Read the text of a record, named by its path in the folder."""
    return _Reader(text.replace("\r\n", "\n").replace("\r", "\n"), file).record


class _Reader:
    def __init__(self, text: str, file: str) -> None:
        self.record = record = Record(file)
        if found := _CONTROL.search(text):
            record.faults.append(f"it holds the control character U+{ord(found[0]):04X}")
            return
        self.front, text = markdown.front_matter(text)
        record.own = {key: values for key, values in self.front.items() if key.startswith("ledger-")}
        self.statuses: list[tuple[Class | None, str, datetime | None]] = []
        self.dates: list[tuple[str, str]] = []
        self.asides: list[str] = []
        text = markdown.without_comments(text)
        self.preamble, self.parts = self._parts(text)
        self._metadata()
        self._sections()
        if not record.own and self._is_template(text):
            record.statements.clear()
            return
        if not (self.statuses or self.dates or self.front.keys() & {"status", "date"} or record.rationale):
            record.faults.append("no decision record: it has no status, no date, and no context or decision")
            return
        if not record.text:
            record.faults.append("it has no title")
        self._status()
        self._date()
        self._prose(text)

    # Its parts

    def _parts(self, text: str) -> tuple[str, list[tuple[str, str]]]:
        """What stands before the first section, and the sections: heading and body, deeper headings left in it."""
        sections = markdown.sections(text)
        title = next((n for n, s in enumerate(sections) if s.level == 1), 0)
        self.record.title = sections[title].title or " ".join(self.front.get("title", []))
        named = markdown.plain(f"# {markdown.link_texts(self.record.title)}")[2:]
        self.record.text = self._own("text") or _after(_NUMBERED, named).strip() or named
        preamble = "\n".join(s.body for s in sections[: title + 1])
        rest = sections[title + 1 :]
        top = max(2, min((s.level for s in rest), default=2))
        parts: list[tuple[str, str]] = []
        for section in rest:
            if section.level <= top:
                parts.append((section.title, section.body))
            elif parts:
                heading, body = parts[-1]
                parts[-1] = heading, f"{body}\n{'#' * section.level} {section.title}\n{section.body}"
            else:
                preamble += f"\n{section.body}"
        return preamble, parts

    def _own(self, key: str) -> str:
        return "\n".join(self.record.own.get(f"ledger-{key}", []))

    def _metadata(self) -> None:
        for key, values in self.front.items():
            for value in values:
                self._told(key, value)
        for line in markdown.without_code(self.preamble).split("\n"):
            row = markdown.cells(line)
            if row is not None and len(row) == 2:
                self._told(row[0].rstrip(":"), row[1])
            elif row is None and (found := _METADATA.fullmatch(line)):
                self._told(found[1], found[2])

    def _told(self, key: str, value: str) -> None:
        """One piece of metadata."""
        value = value.strip()
        if NOTHING.fullmatch(markdown.link_texts(value)):
            return
        known = adr_words.key_of(key)
        if known == "status":
            self._clauses(value, is_status=True)
        elif known == "date":
            self.dates.append((key.strip().casefold(), value))
        elif adr_words.status_of(key) == "decided" and key.strip().isalpha():
            if _ISO.search(value):
                self._clause(f"{key} {value}", is_status=not self.statuses)
        elif adr_words.status_of(key) in ("rejected", "ended", "superseded", "partly superseded") or any(
            words.match(key) for words in (adr_words.BY, adr_words.OF, adr_words.AMENDS)
        ):
            self._clause(f"{key.replace('-', ' ').replace('_', ' ')} {value}", is_status=True)

    def _sections(self) -> None:
        told: list[tuple[str, str, str]] = []
        has_status, has_date = bool(self.statuses), bool(self.dates)
        for heading, body in self.parts:
            known, sort = adr_words.key_of(heading), adr_words.heading_of(heading)
            if known == "status" and not has_status:
                self._clauses(body, is_status=True)
            elif known == "date" and not has_date:
                self.dates += [("date", line.strip()) for line in body.split("\n") if line.strip()][:1]
            elif sort is not None and body.strip():
                told.append((sort, heading, _GAP.sub("\n\n", body).strip("\n").rstrip()))
            elif _LINKS.fullmatch(heading):
                self._links(body)
        rationale = "\n\n".join(f"## {heading}\n\n{body.lstrip()}" for _, heading, body in told)
        if len(told) == 1 and told[0][0] == "decision":
            rationale = told[0][2]
        self.record.rationale = self._own("rationale") or markdown.plain(rationale).strip() or None

    def _links(self, body: str) -> None:
        for line in markdown.without_code(body).split("\n"):
            if bullet := _BULLET.match(line):
                said = line[bullet.end() :].strip(" *_")
                if any(
                    each.match(_words(said))
                    for each in (adr_words.BY, adr_words.OF, adr_words.AMENDS, adr_words.PARTLY)
                ):
                    self._clause(said, is_status=False)

    # What a clause says

    def _clauses(self, text: str, *, is_status: bool) -> None:
        for line in markdown.without_code(text).split("\n"):
            for clause in re.split(r";|<br\s*/?>", _after(_BULLET, line)):
                if not NOTHING.fullmatch(clause.strip(" \t>*_.")):
                    self._clause(clause.strip(" \t>*_"), is_status=is_status)

    def _clause(self, text: str, *, is_status: bool) -> None:
        said = markdown.link_texts(text).strip()
        words = _words(text)
        partly = bool(adr_words.PARTLY.search(words))
        status = adr_words.status_of(said)
        if is_status and (aside := _ASIDE.search(said)) and adr_words.status_of(said[: aside.start()]) == status:
            self.asides += [] if _ISO.fullmatch(aside[1]) else [aside[1]]
        since = _since(said)
        if adr_words.BY.search(words):
            self._superseded(text, said, since, partly=partly)
        elif status == "superseded" and _references(text):
            self.record.faults.append(f"{quoted(said)} may say that it replaces another, or that it is replaced")
            self.statuses.append((status, said, since))
        elif found := adr_words.OF.search(words):
            if partly:
                self.record.remarks.append(f"{quoted(said)}: a supersession in part has no link in the ledger")
            else:
                self.record.statements.append(Statement("supersedes", _references(text), said, since))
            if is_status and found.start() and status is not None:
                self.statuses.append((status, said, None))
        elif adr_words.AMENDS.search(words) and status is None:
            self.record.remarks.append(
                f"{quoted(said)}: an amendment is no supersession; if the decision changed, correct it"
            )
        elif is_status:
            self.statuses.append((status, said, since))

    def _superseded(self, text: str, said: str, since: datetime | None, *, partly: bool) -> None:
        if partly:
            self.statuses.append(("partly superseded", said, since))
            return
        self.statuses.append(("superseded", said, since))
        self.record.statements.append(Statement("superseded by", _references(text), said, since))

    # What it comes to

    def _status(self) -> None:
        record = self.record
        unknown = [said for status, said, _ in self.statuses if status is None]
        known = list(dict.fromkeys(status for status, _, _ in self.statuses if status is not None))
        record.said = "; ".join(dict.fromkeys(said for _, said, _ in self.statuses))
        for status in ("partly superseded", "superseded", "ended", "rejected"):
            if status in known and "open" not in known:
                known = [status]
        if not self.statuses:
            record.status = "decided"
            record.remarks.append("it has no status: read as decided")
        elif len(known) > 1:
            record.faults.append(f"its status says two things: {quoted(record.said)}")
        elif not known:
            record.faults.append(f"the status {quoted(unknown[0])} is none that is known")
        else:
            record.status = known[0]
        record.remarks += [f"the status also says {quoted(aside)}" for aside in self.asides]
        ends = [since for status, _, since in self.statuses if status == "ended" and since is not None]
        if own := self._own("ended"):
            try:
                ends = [adr_dates.parse(own)]
            except ValueError as fault:
                record.faults.append(str(fault))
        record.ended = ends[0] if ends else None
        if record.status == "open":
            record.faults.append(f"nothing is decided yet: its status is {quoted(record.said)}")
        elif record.status == "partly superseded":
            record.faults.append(f"it is superseded in part: {quoted(record.said)}")
        elif record.status == "ended" and record.ended is None:
            record.faults.append(f"its status is {quoted(record.said)}, and no date says since when")

    def _date(self) -> None:
        record = self.record
        stated = [value for key, value in self.dates if key == "date"] or [value for _, value in self.dates[:1]]
        found: set[datetime] = set()
        for value in stated:
            try:
                found.add(adr_dates.parse(_ASIDE.sub("", markdown.link_texts(value)).strip(" \t*_.")))
            except ValueError as fault:
                record.faults.append(str(fault))
        if not stated:
            found |= {since for status, _, since in self.statuses if status == "decided" and since is not None}
        name = _DATED.match(PurePosixPath(record.file).name)
        if not stated and not found and name:
            try:
                found.add(adr_dates.parse(name[1]))
                record.remarks.append("the date is that of the file's name")
            except ValueError:
                pass
        if len(found) > 1:
            record.faults.append(f"it has more than one date: {', '.join(value for _, value in self.dates)}")
        elif not found and not stated:
            record.faults.append("it has no date")
        record.date = min(found, default=None)

    def _is_template(self, text: str) -> bool:
        record = self.record
        stated = [("title", record.title), *(("status", said) for _, said, _ in self.statuses), *self.dates]
        for key, value in stated:
            whole = value.strip(' *_`"')
            bare = whole in ("STATUS", "DATE", "TITLE", "NUMBER. TITLE") or "YYYY" in whole
            if (
                bare
                or _PLACEHOLDER.fullmatch(_after(_NUMBERED, whole))
                or whole.startswith(("{", "[proposed", "[Proposed"))
            ):
                record.faults.append(f"an unfilled template: its {key} is {quoted(value)}")
                return True
        for line in markdown.without_code(text).split("\n"):
            if _TEMPLATE_LINE.fullmatch(line) or line.strip() in _TEMPLATE_WORDS:
                record.faults.append(f"an unfilled template: it says {quoted(line.strip())}")
                return True
        return False

    def _prose(self, text: str) -> None:
        """Sentences that speak of a supersession elsewhere: nothing is made of them, and the reader is told."""
        stated = {str(r) for s in self.record.statements for r in s.references}
        stated |= {r.target for s in self.record.statements for r in s.references}
        told = {s.said for s in self.record.statements} | {said for _, said, _ in self.statuses}
        for line in markdown.without_code(text).split("\n"):
            said = markdown.link_texts(line).strip(" >*_-#")
            if not (adr_words.BY.search(said) or adr_words.OF.search(said)) or any(
                said.endswith(each) for each in told
            ):
                continue
            named = [r for r in _references(line) if not r.target.startswith("http")]
            if named and stated.isdisjoint([*map(str, named), *(r.target for r in named)]):
                self.record.remarks.append(f"the text says {quoted(said)}: nothing is made of it")


def _after(lead: re.Pattern[str], text: str) -> str:
    """The text behind what it begins with, if it begins so."""
    found = lead.match(text)
    return text[found.end() :] if found else text


def _words(text: str) -> str:
    """The words of a clause without those of its links: the title of another record may say anything."""
    words = markdown.without_links(text, "\N{WHITE SQUARE}")
    return words if re.search(r"[^\W\d_]", words) else markdown.link_texts(text)


def _since(said: str) -> datetime | None:
    found = _ISO.search(said)
    try:
        return adr_dates.parse(found[0]) if found else None
    except ValueError:
        return None


def _references(text: str) -> tuple[Reference, ...]:
    """The records that a clause names: by links, and where it has none, by number or name."""
    linked = [Reference(link.text, link.target) for link in markdown.links(text) if not link.target.startswith("#")]
    if linked:
        return tuple(dict.fromkeys(linked))
    return tuple(dict.fromkeys(Reference(name) for name in _named(text)))


def _named(text: str) -> Iterator[str]:
    text = _ISO.sub(" ", text)
    found = [name.strip("[]") for name in _NAMED.findall(text)]
    if found:
        yield from found
    elif bare := _BARE.search(re.sub(r"[^\w\s#,&]", " ", text)):
        yield from re.findall(r"\d+", bare[0])
