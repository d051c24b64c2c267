"""Tables that no ledger wrote: a row an item, as a session to review."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from itertools import count
from typing import Any

from ledger_cli import session_file
from ledger_cli.errors import Refused, quoted
from ledger_cli.exchange import adr_dates
from ledger_cli.exchange.outcomes import Import, Outcome
from ledger_cli.instant import show, show_short
from ledger_cli.model import Kind, canonical_id
from ledger_cli.stated import Session, StatedItem

COLUMNS = (
    *("id", "kind", "text", "rationale", "slot", "about", "validFrom", "validTo", "supersedes", "corrects"),
    "confidence",
)
"""What is read of a row: `kind` is `decision`, or `fact`; names and ids of a cell are parted by `;` or line feeds."""

_BY_NAME = {name.casefold(): name for name in COLUMNS}
_LETTERS: dict[Kind, str] = {"decision": "d", "fact": "f"}
_LISTS = ("about", "supersedes")
_DATES = ("validFrom", "validTo")


def column(name: str) -> str | None:
    """The column that a header means, as `valid_from` and `Valid From` do too; None for one that is not read."""
    return _BY_NAME.get(re.sub(r"[\s_-]", "", name).casefold())


def session(rows: Iterable[tuple[int, Mapping[str, Any]]], name: str, *, id: str, by: str | None = None) -> Import:
    """The items of the rows, by line, in one session without a clock. What cannot be an item is listed with the reason.

    An item without an id gets the one that the session file's own rule has for it: `<session>/d<n>` or `f<n>`, n = its
    place among the items of its kind, those that are listed not counted; what a row gives as its own is passed over.
    It is written out all the same: who takes an item out of the file then changes the id of no other.

    Raises Refused where there is no row, no column `text`, or two columns mean the same.
    """
    rows = list(rows)
    if not rows:
        raise Refused(
            f"{name} holds no record", "an export ends with a record of its own, and a table has a row an item"
        )
    columns = dict.fromkeys(key for _, row in rows for key in row if key)
    unread = [key for key in columns if column(key) is None]
    if "text" not in {column(key) for key in columns}:
        hint = f"give the columns {', '.join(COLUMNS)}; only text is needed"
        raise Refused(f"{name} has no column `text`: its columns are {', '.join(columns)}", hint)
    for key in columns:
        if (known := column(key)) is not None and (twice := [k for k in columns if column(k) == known])[1:]:
            raise Refused(f"{name} has the column `{known}` twice: {', '.join(twice)}", "leave one of them")
    items: list[StatedItem] = []
    outcomes: list[Outcome] = []
    taken: set[str] = set()
    stated = [{known: row[key] for key in row if (known := column(key))} for _, row in rows]
    used = {canonical_id(its["id"]) for its in stated if isinstance(its.get("id"), str)}
    places = dict.fromkeys(_LETTERS, 1)
    for (line, row), its in zip(rows, stated, strict=True):
        free = {kind: _free(f"{id}/{letter}", places[kind], used) for kind, letter in _LETTERS.items()}
        item, reasons = _item(its, free)
        if item is not None and item.id in taken:
            reasons = [f"the id {item.id} is given twice"]
            item = None
        if item is not None:
            taken.add(item.id)
            used.add(item.id)
            places[item.kind] += 1
            items.append(item)
            ignored = [key for key in unread if row.get(key) not in (None, "", [])]
            reasons += [f"not read: {', '.join(ignored)}"] if ignored else []
        outcomes.append(Outcome(f"{name}:{line}", None if item is None else item.id, tuple(reasons)))
    sessions = (Session(id, by=by or "ledger import", items=tuple(items)),) if items else ()
    return Import(sessions, tuple(outcomes))


def _free(lead: str, place: int, taken: Container[str]) -> str:
    return next(id for n in count(place) if (id := f"{lead}{n}") not in taken)


def _item(row: Mapping[str, Any], default_ids: Mapping[Kind, str]) -> tuple[StatedItem | None, list[str]]:
    stated: dict[str, Any] = {str(key): value for key, value in row.items() if value not in (None, "", [])}
    faults, remarks = list[str](), list[str]()
    said = str(stated.pop("kind", "decision")).strip().casefold()
    kind: Kind = "fact" if said == "fact" else "decision"
    if said != kind:
        faults.append(f"the kind {quoted(said)} is neither decision nor fact")
    for key in _DATES:
        if isinstance(stated.get(key), str):
            try:
                stated[key] = show(adr_dates.parse(stated[key]))
            except ValueError as fault:
                faults.append(f"{key}: {fault}")
    for key in _LISTS:
        if isinstance(stated.get(key), str):
            stated[key] = [part.strip() for part in re.split(r"[;\n]", stated[key]) if part.strip()]
    if "validFrom" not in stated:
        remarks.append("no validFrom: it will hold from when it is recorded")
    if isinstance(stated.get("confidence"), str):
        with suppress(ValueError):  # the reader says so
            stated["confidence"] = float(stated["confidence"])
    document: dict[str, object] = {"session": "import", f"{kind}s": [{"id": default_ids[kind], **stated}]}
    if faults:
        return None, faults
    try:
        item = session_file.of(document).items[0]
    except Refused as fault:
        return None, [problem.what for problem in fault.problems]
    if item.valid_from is not None and isinstance(item.valid_to, datetime) and item.valid_to <= item.valid_from:
        return None, [f"validTo: {show_short(item.valid_to)} is not after validFrom, {show_short(item.valid_from)}"]
    return item, remarks
