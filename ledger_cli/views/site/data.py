"""What the timeline and the search read: every item, in files small enough to open at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ledger_cli.model import entity_key
from ledger_cli.views.markup import clipped
from ledger_cli.views.site import paths
from ledger_cli.views.site.html import encoded, instant
from ledger_cli.views.site.lines import record, times

if TYPE_CHECKING:
    from ledger_cli.atlas import Atlas
    from ledger_cli.timeline import Line

SIZE = 600_000
"""Bytes of one file, about."""
_TEXT = 300  # columns of a text


def files(found: Atlas) -> Iterator[tuple[str, str]]:
    """`data/items-N.js`, a part of the items each; `data/index.js`, which says how many there are."""
    numbers = {entity.key: n for n, entity in enumerate(found.entities)}
    part: list[str] = []
    size = count = 0
    for line in found.timeline.lines:
        one = encoded(_item(line, numbers))
        if part and size + len(one.encode()) > SIZE:
            yield _file(count, part)
            part, size, count = [], 0, count + 1
        part.append(one)
        size += len(one.encode())
    yield _file(count, part)
    index = {
        "parts": count + 1,
        "now": instant(found.timeline.now),
        "entities": [[e.name, paths.entity(e.key)] for e in found.entities],
    }
    yield "data/index.js", f"ledger.index({encoded(index)});\n"


def _file(number: int, part: list[str]) -> tuple[str, str]:
    listed = ",\n".join(part)
    return f"data/items-{number}.js", f"ledger.take({number}, [\n{listed}\n]);\n"


def _item(line: Line, numbers: dict[str, int]) -> dict[str, Any]:
    found = record(line)
    found["t"] = clipped(line.item.text, _TEXT)
    found["w"] = times(line)
    if line.item.slot is not None:
        found["s"] = line.item.slot
    if line.item.about:
        found["a"] = sorted({numbers[key] for name in line.item.about if (key := entity_key(name)) in numbers})
    return found
