"""A decision record, read: what its title, status, dates and links say, and what in it cannot be decided.

Nygard's layout, MADR 2 to 4, log4brains, tables and front matter are one grammar here: metadata stands in front matter,
in `Key: value` lines, bullets or table rows above the first section, or in a section of that name, wherever it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath

from ledger_cli.errors import quoted
from ledger_cli.exchange import adr_dates, adr_templates, adr_words, markdown
from ledger_cli.exchange.adr_statements import ISO, Statement, references, since, words
from ledger_cli.exchange.adr_words import NOTHING, Class


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
_LABEL = re.compile(r"\s*(?:(?:\*\*|__)[^*_]+(?:\*\*|__)\s*[:：]?|[^\W\d_][^:：]*[:：])\s*")
_STRUCK = re.compile(r"~~.*?~~")
_OTHER_BY_NEW = re.compile(r"replaced\b[^.;]{0,40}?(?:\d|\N{WHITE SQUARE})[^.;]{0,40}?\bby\b", re.IGNORECASE)
_BULLET = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
_ASIDE = re.compile(r"\s*\(([^()]*)\)\s*$")
_LINKS = re.compile(
    r"(?:related |see )?(?:links?|related|decisions|records|references?|also|more information|relations?)\b.*", re.I
)
_DATED = re.compile(r"(\d{8}|\d{4}-\d{2}-\d{2})[-_ ]")
_LONGEST = 2000
"""So much of a line is looked at for what it says of the record."""
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
        self.text = markdown.without_code(text)
        self.preamble, self.parts = self._parts(text)
        self._metadata()
        self._sections()
        stated = [("title", _after(_NUMBERED, record.title)), *(("status", said) for _, said, _ in self.statuses)]
        if not record.own and (fault := adr_templates.unfilled([*stated, *self.dates], text)):
            record.faults.append(fault)
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
        deepest = rest[0].level if rest else top  # what comes before the first proper section stands for itself
        for section in rest:
            if section.level <= max(top, deepest):
                deepest = min(deepest, section.level)
                parts.append((section.title, section.body))
            else:
                heading, body = parts[-1]
                parts[-1] = heading, f"{body}\n{'#' * section.level} {section.title}\n{section.body}"
        return preamble, parts

    def _own(self, key: str) -> str:
        return "\n".join(self.record.own.get(f"ledger-{key}", []))

    def _metadata(self) -> None:
        for key, values in self.front.items():
            for value in values:
                self._told(key, value)
        lines = [line[:_LONGEST] for line in markdown.without_code(self.preamble).split("\n")]
        for n, line in enumerate(lines):
            row = markdown.cells(line)
            if _LABEL.fullmatch(line) and adr_words.key_of(line.strip(" *_:：")) is not None:  # and its value below it
                self._told(line.strip(" *_:："), next((below for below in lines[n + 1 :] if below.strip()), ""))
                continue
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
            if ISO.search(value):
                self._clause(f"{key} {value}", is_status=not self.statuses)
        elif adr_words.status_of(key) in ("rejected", "ended", "superseded", "partly superseded") or any(
            each.match(key) for each in (adr_words.BY, adr_words.OF, adr_words.AMENDS)
        ):
            self._clause(f"{key.replace('-', ' ').replace('_', ' ')} {value}", is_status=True)

    def _sections(self) -> None:
        told: list[tuple[str, str, str]] = []
        has_status, has_date = bool(self.statuses), bool(self.dates)
        for heading, body in self.parts:
            name, _, said = heading.partition(":")
            known, sort = adr_words.key_of(name), adr_words.heading_of(heading)
            if known == "status" and (not has_status or (not self.record.own and _states(body))):
                self._clauses(f"{said}\n{body}", is_status=True)
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
                    each.match(words(said)) for each in (adr_words.BY, adr_words.OF, adr_words.AMENDS, adr_words.PARTLY)
                ):
                    self._clause(said, is_status=False)

    # What a clause says

    def _clauses(self, text: str, *, is_status: bool) -> None:
        for line in markdown.without_code(text).split("\n"):
            if is_status and (found := _METADATA.fullmatch(line)) and adr_words.key_of(found[1]) is not None:
                self._told(found[1], found[2])
                continue
            for clause in re.split(r";|<br\s*/?>", _after(_BULLET, line)):
                if not NOTHING.fullmatch(clause.strip(" \t>*_.")):
                    self._clause(clause.strip(" \t>*_"), is_status=is_status)

    def _clause(self, text: str, *, is_status: bool) -> None:
        for struck in _STRUCK.findall(text := text[:_LONGEST]):
            self.asides.append(struck)
        if not (text := _STRUCK.sub("", text).strip()):
            return
        said, bare = markdown.link_texts(text).strip(), words(text)
        status = adr_words.status_of(said)
        if is_status and (aside := _ASIDE.search(said)) and adr_words.status_of(said[: aside.start()]) == status:
            self.asides += [] if ISO.fullmatch(aside[1]) else [aside[1]]
            if adr_words.HEDGED.search(aside[1]):
                said, bare = said[: aside.start()], _ASIDE.sub("", bare)
        partly, at = bool(adr_words.PARTLY.search(bare)), since(said)
        self._remark(adr_dates.left_out(said) if at is not None else "")
        if adr_words.HEDGED.search(bare) and (hedged := adr_words.HEDGED.search(said)):
            self.asides.append(said[hedged.start() :])
            if is_status and hedged.start():
                self.statuses.append((status, said, None))
        elif _OTHER_BY_NEW.search(ISO.sub("", bare)):
            self.record.faults.append(f"{quoted(said)} may say that it replaces another, or that it is replaced")
        elif adr_words.BY.search(bare):
            self._superseded(text, said, at, partly=partly)
        elif status == "superseded" and references(text):
            self.record.faults.append(f"{quoted(said)} may say that it replaces another, or that it is replaced")
            self.statuses.append((status, said, at))
        elif found := adr_words.OF.search(bare):
            if partly:
                self.record.remarks.append(f"{quoted(said)}: a supersession in part has no link in the ledger")
            else:
                self.record.statements.append(Statement("supersedes", references(text), said, at))
            if is_status and found.start() and status is not None:
                self.statuses.append((status, said, None))
        elif adr_words.AMENDS.search(bare) and status is None:
            self.record.remarks.append(
                f"{quoted(said)}: an amendment is no supersession; if the decision changed, correct it"
            )
        elif is_status:
            if status == "decided" and adr_words.taken_back(_ASIDE.sub("", said)):
                self.record.faults.append(f"its status begins as decided, and says more: {quoted(said)}")
            self.statuses.append((status, said, at))

    def _superseded(self, text: str, said: str, at: datetime | None, *, partly: bool) -> None:
        if partly:
            self.statuses.append(("partly superseded", said, at))
            return
        self.statuses.append(("superseded", said, at))
        self.record.statements.append(Statement("superseded by", references(text), said, at))

    def _remark(self, said: str) -> None:
        self.record.remarks += [said] if said else []

    # What it comes to

    def _status(self) -> None:
        record = self.record
        unknown = [said for status, said, _ in self.statuses if status is None]
        known = list(dict.fromkeys(status for status, _, _ in self.statuses if status is not None))
        record.said = "; ".join(dict.fromkeys(said for _, said, _ in self.statuses))
        # A decision that ended was decided once. One that was rejected never held, whatever came after it.
        for status in ("rejected", "partly superseded", "superseded", "ended"):
            if status in known and "open" not in known and not (status == "rejected" and "decided" in known):
                known = [status]
        if not self.statuses and (line := adr_words.speaks_of_status(self.text)):
            record.faults.append(f"it has no status that can be read, but says {quoted(line)}")
        elif not self.statuses:
            record.status = "decided"
            record.remarks.append("it has no status: read as decided")
        elif len(known) > 1:
            record.faults.append(f"its status says two things: {quoted(record.said)}")
        elif not known:
            record.faults.append(f"the status {quoted(unknown[0])} is none that is known")
        else:
            record.status = known[0]
        also = [*self.asides, *(unknown if known else [])]
        record.remarks += [f"the status also says {quoted(said)}" for said in also]
        ends = [at for status, _, at in self.statuses if status == "ended" and at is not None]
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
                at, left_out = adr_dates.of_record(_ASIDE.sub("", markdown.link_texts(value)).strip(" \t*_."))
                found.add(at)
                self._remark(left_out)
            except ValueError as fault:
                record.faults.append(str(fault))
        if not stated:
            found |= {at for status, _, at in self.statuses if status == "decided" and at is not None}
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
        if record.date is not None and record.ended is not None and record.ended < record.date:
            ended, date = (at.date().isoformat() for at in (record.ended, record.date))
            record.faults.append(f"it ended on {ended}, before its date {date}")

    def _prose(self, text: str) -> None:
        """Sentences that speak of a supersession elsewhere: nothing is made of them, and the reader is told."""
        stated = {str(r) for s in self.record.statements for r in s.references}
        stated |= {r.target for s in self.record.statements for r in s.references}
        told = {s.said for s in self.record.statements} | {said for _, said, _ in self.statuses}
        for line in markdown.without_code(text).split("\n"):
            said = markdown.link_texts(line[:_LONGEST]).strip(" >*_-#")
            if not (adr_words.BY.search(said) or adr_words.OF.search(said)):
                continue
            if any(said.endswith(each) for each in told) or any(aside in said for aside in self.asides):
                continue
            named = [r for r in references(line[:_LONGEST]) if not r.target.startswith("http")]
            if named and stated.isdisjoint([*map(str, named), *(r.target for r in named)]):
                self.record.remarks.append(f"the text says {quoted(said)}: nothing is made of it")


def _states(body: str) -> bool:
    """Does a section begin with a status? One of that name may be about anything, where the metadata has the status."""
    first = next((line for line in body.split("\n") if line.strip()), "")
    return adr_words.status_of(_after(_BULLET, first)) is not None


def _after(lead: re.Pattern[str], text: str) -> str:
    """The text behind what it begins with, if it begins so."""
    found = lead.match(text)
    return text[found.end() :] if found else text
