"""The checkpoint for `git diff`: one line an entry, which says it in words and never depends on another line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ledger_cli.views.terminal import out, when

if TYPE_CHECKING:
    from ledger_cli.model import Entry, Item

_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def textconv(data: bytes) -> None:
    """Write every line of a file so that it can be read; what is no entry and no group stays as it is."""
    out(render(data))


def render(data: bytes) -> str:
    """The readable form. A line depends on its own line alone: a diff of two forms is as small as that of the files."""
    lines = data.decode(errors="replace").replace("\r\n", "\n").split("\n")
    told = (_line(line) for line in lines)
    return "".join(f"{line}\n" for line in told if line is not None)


def _line(raw: str) -> str | None:
    if raw in ("", "{", "}", '"end": "ledger"') or raw.startswith(('"end of ', '"ledger": ')):
        return None
    if raw.startswith(('"slot ', '"session ')) and raw.endswith(": ["):
        return plain(f"[{raw[1:-4]}]")
    if not raw.startswith("{"):
        return plain(raw)  # a conflict marker, or no checkpoint at all
    from ledger_cli.lines import parse_line

    try:
        entry = parse_line(raw.removesuffix(","))
    except ValueError:
        return plain(raw)
    return plain(_entry(entry))


def _entry(entry: Entry) -> str:
    from ledger_cli.model import Ending, Entity, Episode, Item, Link

    tail = f"  ({when(entry.recorded_at)} {entry.session})"
    if isinstance(entry, Item):
        return _item(entry) + tail
    if isinstance(entry, Episode):
        said = f" said {when(entry.at)}" if entry.at is not None else ""
        return f"  {entry.id} {entry.kind}{said}: {entry.text}{_listed(' mentions', entry.mentions)}{tail}"
    if isinstance(entry, Entity):
        return f"  {entry.name} is a {entry.kind}{tail}"
    by = f" by {entry.by}" if entry.by is not None else ""
    if isinstance(entry, Link):
        return f"  {entry.new} supersedes {entry.old}{by}{tail}"
    reason = f": {entry.reason}" if entry.reason else ""
    if isinstance(entry, Ending):
        return f"  {entry.id} ends {when(entry.valid_to)}{by}{reason}{tail}"
    verb = "rejected" if entry.verdict == "rejects" else "reinstated"
    return f"  {entry.target} {verb}{by}{reason}{tail}"


def _item(i: Item) -> str:
    end = f" {when(i.valid_to)}" if i.valid_to is not None else ""
    told = f"  {i.id}: {i.text} | {when(i.valid_from)} →{end}"
    told += _listed(" | about", i.about) + _listed(" | from", i.evidence)
    told += f" | corrects {i.corrects}" if i.corrects is not None else ""
    told += f" | {i.confidence:g} sure" if i.confidence is not None else ""
    told += f" | because {i.rationale}" if i.rationale is not None else ""
    told += f" | by {i.by}" if i.by is not None else ""
    return told + (" | fact" if i.kind == "fact" else "")


def _listed(word: str, values: tuple[str, ...]) -> str:
    return f"{word} {', '.join(values)}" if values else ""


def plain(text: str) -> str:
    """On one line: a line end as ⏎, what else is not seen by its number."""
    return _UNSEEN.sub(lambda found: "⏎" if found[0] == "\n" else f"⟨U+{ord(found[0]):04X}⟩", text)
