"""A ledger as decision records: one file of MADR an item, with links both ways.

What MADR has no place for stands in the front matter, in keys that begin with `ledger-`. So do an id, a text and a
rationale that reading the file would not give back: what is written is read again before it is handed out.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from ledger_cli import holds
from ledger_cli.exchange import adr_read, markdown
from ledger_cli.history import History, State, state_at
from ledger_cli.instant import LAST, show_short
from ledger_cli.lines import number
from ledger_cli.model import Ending, Entry, Item, Review, Stretch

_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)  # names that Windows keeps
_LINKED = re.compile(r"[\\\[\]`<&]")
_MARKUP = re.compile(r"[\\\[\]`<&*_]")
_ESCAPED = r"\\\g<0>"
_LONGEST_TITLE = 80


@dataclass(frozen=True)
class _Ledger:
    """What is recorded, what is live of it now, where each item holds, and the file of each place."""

    history: History
    state: State
    stretches: Mapping[str, list[Stretch]]
    shown: Mapping[str, Item]  # place -> the version that stands for it
    files: Mapping[str, str]
    reviews: Mapping[str, list[Review]]  # place -> the verdicts on its items, as they came
    endings: Mapping[str, list[Ending]]


def write(entries: Iterable[Entry]) -> tuple[dict[str, str], list[str]]:
    """The files, by name, and the ids of corrected versions: they have none, their corrections stand for them."""
    history = History(entries)
    state = state_at(history)
    shown = {place: _version(state, place) for place in history.versions}
    reviews, endings = defaultdict[str, list[Review]](list), defaultdict[str, list[Ending]](list)
    for review in sorted(history.reviews, key=lambda r: (r.recorded_at, r.session)):
        if review.target.on_item and review.target.id in history.place:
            reviews[history.place[review.target.id]].append(review)
    for ending in sorted(history.endings, key=lambda e: (e.recorded_at, e.session)):
        if ending.id in history.place:
            endings[history.place[ending.id]].append(ending)
    ledger = _Ledger(history, state, holds.sweep(history), shown, _files(shown), reviews, endings)
    files = {ledger.files[place]: _file(ledger, place) for place in shown}
    return files, sorted(history.items.keys() - {item.id for item in shown.values()})


def _version(state: State, place: str) -> Item:
    """The version of a place that stands: the one in force, or the latest where all were rejected."""
    found = state.in_force(place) or state.history.versions[place]
    return max(found, key=lambda item: (item.recorded_at, item.id))


def _files(shown: Mapping[str, Item]) -> dict[str, str]:
    """A name for each place's file: its item's id, as far as it makes a file name anywhere."""
    taken: set[str] = set()
    found = {}
    for place, item in sorted(shown.items(), key=lambda pair: (not _SAFE.fullmatch(pair[1].id), pair[1].id)):
        base = _UNSAFE.sub("-", item.id).strip("-.")[:200] or "item"
        if _DEVICES.fullmatch(base):
            base = f"item-{base}"
        name, n = base, 1
        while name.casefold() in taken:
            n += 1
            name = f"{base}-{n}"
        taken.add(name.casefold())
        found[place] = f"{name}.md"
    return found


def _file(ledger: _Ledger, place: str) -> str:
    item = ledger.shown[place]
    front = dict(_front(ledger, place))
    body = "\n".join(_body(ledger, place))
    read = adr_read.read(_joined(front, body), ledger.files[place])
    own: dict[str, str] = {}
    if read.faults or read.stem != item.id:
        own["ledger-id"] = _yaml(item.id)
    if read.text != item.text:
        own["ledger-text"] = _yaml(item.text)
    if read.rationale != item.rationale and item.rationale is not None:
        own["ledger-rationale"] = _yaml(item.rationale)
    return _joined(front | own, body)


def _joined(front: Mapping[str, str], body: str) -> str:
    return "".join(["---\n", *(f"{key}: {value}\n" for key, value in front.items()), "---\n\n", body])


def _front(ledger: _Ledger, place: str) -> Iterator[tuple[str, str]]:
    item, state = ledger.shown[place], ledger.state
    end = state.end(place)
    told = holds.known_at(ledger.stretches[item.id], LAST)
    news = [new for new in _sorted(ledger, state.after.get(place, ())) if state.in_force(new)]
    if not state.in_force(place):
        status = "rejected"
    elif news and (not told or told[-1][1] is not None):
        status = _yaml(f"superseded by {', '.join(_link(ledger, new, ledger.shown[new].id) for new in news)}")
    elif end is not None:
        status = f"deprecated since {show_short(end)}"
    else:
        status = "accepted"
    yield "status", status
    yield "date", show_short(item.valid_from)
    if item.kind == "fact":
        yield "ledger-kind", "fact"
    if item.slot is not None:
        yield "ledger-slot", _yaml(item.slot)
    if item.about:
        yield "ledger-about", f"[{', '.join(map(_yaml, item.about))}]"
    if item.valid_to is not None:
        yield "ledger-valid-to", show_short(item.valid_to)
    if item.confidence is not None:
        yield "ledger-confidence", number(item.confidence)
    if end is not None and not status.startswith("deprecated"):
        yield "ledger-ended", show_short(end)


def _body(ledger: _Ledger, place: str) -> Iterator[str]:
    item = ledger.shown[place]
    yield markdown.inert(f"# {' '.join(item.text.split())}") + "\n"
    if item.rationale is not None:
        if not item.rationale.startswith("## "):
            yield "## Decision Outcome\n"
        told = markdown.inert(item.rationale)
        yield (markdown.quotation(told) if markdown.is_open(item.rationale) else told) + "\n"
    yield "## More Information\n"
    yield from (f"* {line}" for line in _more(ledger, place))
    yield ""


def _more(ledger: _Ledger, place: str) -> Iterator[str]:
    item = ledger.shown[place]
    for old in _sorted(ledger, ledger.state.before.get(place, ())):
        yield f"Supersedes {_link(ledger, old)}"
    for new in _sorted(ledger, ledger.state.after.get(place, ())):
        yield f"Superseded by {_link(ledger, new)}"
    if item.slot is not None:
        yield f"Slot: {_inline(item.slot)}"
    if item.about:
        yield f"About: {', '.join(map(_inline, item.about))}"
    by = f", by {_inline(item.by)}" if item.by is not None else ""
    yield f"Recorded on {item.recorded_at.date().isoformat()} in session {_inline(item.session)}{by}"
    for version in ledger.history.versions[place]:
        if version.id != item.id:
            day = version.recorded_at.date().isoformat()
            yield f"A version before this one: {_inline(version.id)}, recorded on {day}: {_inline(version.text)}"
    for review in ledger.reviews.get(place, ()):
        verdict = "Rejected" if review.verdict == "rejects" else "Reinstated"
        day = review.recorded_at.date().isoformat()
        what = "" if review.target.id == item.id else f" (the version {_inline(review.target.id)})"
        yield f"{verdict} on {day} by {_inline(review.by)}{what}: {_inline(review.reason)}"
    for ending in ledger.endings.get(place, ()):
        why = f": {_inline(ending.reason)}" if ending.reason is not None else ""
        yield f"An end on {show_short(ending.valid_to)}, said by {_inline(ending.by)}{why}"


def _sorted(ledger: _Ledger, places: Iterable[str]) -> list[str]:
    return sorted(places, key=lambda place: ledger.shown[place].id)


def _link(ledger: _Ledger, place: str, text: str = "") -> str:
    text = " ".join((text or ledger.shown[place].text).split())
    if len(text) > _LONGEST_TITLE:
        text = text[: _LONGEST_TITLE - 1] + "…"
    return f"[{_LINKED.sub(_ESCAPED, text)}]({quote(ledger.files[place])})"


def _inline(text: str) -> str:
    """Text of the ledger within a line, as text: no tag, link or code."""
    return _MARKUP.sub(_ESCAPED, " ".join(text.split()))


def _yaml(text: str) -> str:
    """A string in double quotes, readable by YAML and JSON."""
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in json.dumps(text, ensure_ascii=False))
