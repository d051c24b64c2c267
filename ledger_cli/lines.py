"""One entry <-> one canonical line of JSON. (README, "The file".)"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any, NoReturn

from ledger_cli import instant
from ledger_cli.errors import quoted
from ledger_cli.line_faults import SURROGATE, fault, shown
from ledger_cli.model import Ending, Entity, Entry, Episode, Item, Link, Review, Target, canonical_name, name_set
from ledger_cli.names import LONGEST, fault_of_id, fault_of_name

_TEXTS = {"text", "rationale", "reason"}
_WORDS = {"by", "kind"}
_NAMES = {"entity", "slot", "about", "mentions"}
"""Keys of free text; the other strings are ids, names and times."""

Key = tuple[datetime, str, int, str, str]
"""Where a line stands inside its group: record instant, session, rank, the first key's id, the line itself."""


def order(entry: Entry, text: str) -> Key:
    """The sorting key of an entry inside its group; `text` is its line."""
    if isinstance(entry, Item):
        return entry.recorded_at, entry.session, 2, entry.id, text
    if isinstance(entry, Link):
        return entry.recorded_at, entry.session, 3, entry.old, text
    if isinstance(entry, Episode):
        return entry.recorded_at, entry.session, 1, entry.id, text
    if isinstance(entry, Review):
        return entry.recorded_at, entry.session, 5, entry.target.id, text
    if isinstance(entry, Ending):
        return entry.recorded_at, entry.session, 4, entry.id, text
    return entry.recorded_at, entry.session, 0, entry.name, text


quote = encode_basestring
"""A JSON string, with escapes only where JSON needs them; TypeError for what is no string."""


# Writing.


def line(entry: Entry) -> str:
    """The canonical line of an entry: a JSON object without the comma that follows it in the file.

    What the rules refuse before it is recorded (control characters, names that are not canonical) is written as it
    is; only a confidence that is no number raises ValueError.
    """
    if isinstance(entry, Item):
        return _item_line(entry)
    tail = f'"recordedAt": "{_show(entry.recorded_at)}"'
    if isinstance(entry, Link):
        head = f'{{"supersedes": {quote(entry.old)}, "with": {quote(entry.new)}'
        tail += _optional("by", entry.by)
    elif isinstance(entry, Episode):
        head = f'{{"episode": {quote(entry.id)}, "kind": {quote(entry.kind)}, "text": {quote(entry.text)}'
        head += _listed("mentions", entry.mentions)
        if entry.at is not None:
            head += f', "at": "{_show(entry.at)}"'
    elif isinstance(entry, Review):
        head = f'{{"{entry.verdict}": {_target(entry.target)}, "by": {quote(entry.by)}, "reason": {quote(entry.reason)}'
    elif isinstance(entry, Ending):
        head = f'{{"ends": {quote(entry.id)}, "validTo": "{_show(entry.valid_to)}", "by": {quote(entry.by)}'
        head += _optional("reason", entry.reason)
    else:
        head = f'{{"entity": {quote(entry.name)}, "kind": {quote(entry.kind)}'
    return f'{head}, {tail}, "session": {quote(entry.session)}}}'


def _item_line(item: Item) -> str:
    text = f'{{"{item.kind}": {quote(item.id)}, "text": {quote(item.text)}'
    if item.rationale is not None:
        text += f', "rationale": {quote(item.rationale)}'
    if item.slot is not None:
        text += f', "slot": {quote(item.slot)}'
    if item.about:
        text += _listed("about", item.about)
    if item.evidence:
        text += _listed("from", item.evidence)
    if item.confidence is not None:
        text += f', "confidence": {number(item.confidence)}'
    if item.corrects is not None:
        text += f', "corrects": {quote(item.corrects)}'
    text += f', "validFrom": "{_show(item.valid_from)}"'
    if item.valid_to is not None:
        text += f', "validTo": "{_show(item.valid_to)}"'
    text += f', "recordedAt": "{_show(item.recorded_at)}"'
    if item.by is not None:
        text += f', "by": {quote(item.by)}'
    return f'{text}, "session": {quote(item.session)}}}'


def _optional(key: str, value: str | None) -> str:
    return "" if value is None else f', "{key}": {quote(value)}'


def _listed(key: str, values: tuple[str, ...]) -> str:
    return f', "{key}": [{", ".join(map(quote, values))}]' if values else ""


def _target(target: Target) -> str:
    if target.new is not None:
        return f'{{"supersedes": {quote(target.id)}, "with": {quote(target.new)}}}'
    return f'{{"ends": {quote(target.id)}}}' if target.ending else quote(target.id)


def number(value: float) -> str:
    """The shortest digits that read back as this number between 0 and 1, written as RFC 8785 does: 0.9, 1, 1e-7.

    Raises ValueError for what lies outside, NaN included.
    """
    if not 0 <= value <= 1:
        raise ValueError(f"a confidence lies between 0 and 1, not {value!r}")
    if value in (0, 1):
        return "1" if value else "0"
    text = repr(float(value))
    digits, _, exponent = text.partition("e")
    if not exponent:
        return text
    # Python turns to exponents below 1e-4, ECMAScript (and with it RFC 8785) below 1e-6.
    return format(Decimal(text), "f") if int(exponent) >= -6 else f"{digits}e{int(exponent)}"


_show = lru_cache(1 << 16)(instant.show)  # a session's clock stands in every line it brings


# Reading.


def parse_line(text: str) -> Entry:
    """Read one line, strictly: for what is returned, `line(parse_line(text)) == text`.

    Raises ValueError with a sentence for anything else: text that is not JSON, unknown, missing or repeated keys,
    ids and names that are not as they are kept, control characters, lone surrogates, numbers and times that do not
    exist, another order or spacing or escaping than the canonical one.
    """
    try:
        stated = _DECODER.raw_decode(text)[0]
        entry = _READERS[next(iter(stated))](stated)
        same = line(entry) == text  # also proves the keys, their order, the spacing, the escapes and the times
    except (ValueError, TypeError, AttributeError, LookupError, StopIteration, RecursionError):
        same = False
    if not same:
        raise ValueError(fault(text))
    # Only what is spelled out can be odd: no escape, nothing but ASCII, nothing empty, no blank at an edge or doubled,
    # nothing long.
    if not text.isascii() or "\\" in text or _ODD.search(text):
        _check_strings(text, stated)
    if isinstance(entry, Item):
        if entry.slot is not None and not _is_name(entry.slot):
            raise ValueError(f"the slot {_not_as('slots', entry.slot)}")
        if entry.about:
            _check_names("about", entry.about)
        if entry.evidence and entry.evidence != tuple(sorted(set(entry.evidence))):
            raise ValueError(f"`from` is not sorted; write {shown(sorted(set(entry.evidence)))}")
        if entry.valid_to is not None and entry.valid_to <= entry.valid_from:
            raise ValueError("`validTo` is not after `validFrom`")
    elif isinstance(entry, Episode):
        if entry.mentions:
            _check_names("mentions", entry.mentions)
    elif isinstance(entry, Entity) and not _is_name(entry.name):
        raise ValueError(f"the name {_not_as('names', entry.name)}")
    return entry


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


_DECODER = json.JSONDecoder(parse_constant=_constant)
_instant = lru_cache(1 << 16)(datetime.fromisoformat)  # the whole line is compared, so this need not be strict

Stated = dict[str, Any]


def _item(stated: Stated) -> Item:
    get = stated.get
    valid_to = get("validTo")
    return Item(
        kind="decision" if "decision" in stated else "fact",
        id=stated["decision"] if "decision" in stated else stated["fact"],
        text=stated["text"],
        valid_from=_instant(stated["validFrom"]),
        recorded_at=_instant(stated["recordedAt"]),
        session=stated["session"],
        valid_to=None if valid_to is None else _instant(valid_to),
        rationale=get("rationale"),
        slot=get("slot"),
        about=tuple(get("about", ())),
        evidence=tuple(get("from", ())),
        confidence=get("confidence"),
        corrects=get("corrects"),
        by=get("by"),
    )


def _episode(stated: Stated) -> Episode:
    at = stated.get("at")
    return Episode(
        id=stated["episode"],
        kind=stated["kind"],
        text=stated["text"],
        recorded_at=_instant(stated["recordedAt"]),
        session=stated["session"],
        mentions=tuple(stated.get("mentions", ())),
        at=None if at is None else _instant(at),
    )


def _entity(stated: Stated) -> Entity:
    return Entity(stated["entity"], stated["kind"], _instant(stated["recordedAt"]), stated["session"])


def _link(stated: Stated) -> Link:
    return Link(
        stated["supersedes"], stated["with"], _instant(stated["recordedAt"]), stated["session"], stated.get("by")
    )


def _ending(stated: Stated) -> Ending:
    return Ending(
        id=stated["ends"],
        valid_to=_instant(stated["validTo"]),
        by=stated["by"],
        recorded_at=_instant(stated["recordedAt"]),
        session=stated["session"],
        reason=stated.get("reason"),
    )


def _review(stated: Stated) -> Review:
    verdict, on = next(iter(stated.items()))
    if isinstance(on, str):
        target = Target(on)
    else:
        target = Target(on["ends"], ending=True) if "ends" in on else Target(on["supersedes"], new=on["with"])
    return Review(
        verdict="rejects" if verdict == "rejects" else "reinstates",
        target=target,
        by=stated["by"],
        reason=stated["reason"],
        recorded_at=_instant(stated["recordedAt"]),
        session=stated["session"],
    )


_READERS: dict[str, Callable[[Stated], Entry]] = {
    "decision": _item,
    "fact": _item,
    "episode": _episode,
    "supersedes": _link,
    "ends": _ending,
    "rejects": _review,
    "reinstates": _review,
    "entity": _entity,
}


# What a line may hold.

_ODD = re.compile(rf'""|\x7f|" | "[,}}\]]|  |"[^"]{{{LONGEST + 1}}}')
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_CONTROL_IN_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@lru_cache(1 << 14)
def _is_name(name: str) -> bool:
    return canonical_name(name) == name


@lru_cache(1 << 14)
def _is_name_set(names: tuple[str, ...]) -> bool:
    return _is_name(names[0]) if len(names) == 1 else name_set(names) == names


def _not_as(what: str, name: str) -> str:
    return f"{quoted(name)} is not as {what} are kept; write {quoted(canonical_name(name))}"


def _check_names(key: str, names: tuple[str, ...]) -> None:
    if not _is_name_set(names):
        raise ValueError(f"`{key}` is not as sets of names are kept; write {shown(name_set(names))}")


def _check_strings(text: str, stated: Stated) -> None:
    if SURROGATE.search(text):
        raise ValueError("a lone surrogate is not a character")
    for key, value in stated.items():
        values = [value] if isinstance(value, str) else value.values() if isinstance(value, dict) else value
        for each in values if isinstance(values, Iterable) else ():
            _refuse_control(key, each, _CONTROL_IN_TEXT if key in _TEXTS else _CONTROL)
            if not each.strip(" \t\n"):
                raise ValueError(f"`{key}` is empty")
            if key in _TEXTS:
                continue
            if key in _WORDS and not _is_name(each):
                raise ValueError(f"`{key}` {_not_as('names', each)}")
            if key not in _NAMES and each != each.strip():
                raise ValueError(f"`{key}` {quoted(each)} has white space around it")
            if why := (fault_of_name if key in _NAMES - {"slot"} or key in _WORDS else fault_of_id)(each):
                raise ValueError(f"`{key}` {quoted(each)} {why}")
            if not unicodedata.is_normalized("NFC", each):
                raise ValueError(f"`{key}` {quoted(each)} is not in Unicode's normal form C")


def _refuse_control(key: str, value: str, pattern: re.Pattern[str]) -> None:
    found = pattern.search(value)
    if found:
        raise ValueError(f"`{key}` holds the control character U+{ord(found[0]):04X}")
