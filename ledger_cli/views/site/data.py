"""What the timeline and the search read: every item, and what is said of it, in files small enough to open at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
_SEARCHED = 100_000  # letters of a rationale, of a long text, of what an episode says


def files(found: Atlas) -> Iterator[tuple[str, str]]:
    """`data/items-N.js`, a part of the items each; `data/texts-N.js`, what only the search reads; `data/index.js`,
    which says how many there are.
    """
    numbers = {entity.key: n for n, entity in enumerate(found.entities)}
    counts = {}
    for name, word, values in (
        ("items", "take", (_item(line, numbers) for line in found.timeline.lines)),
        ("texts", "said", _texts(found)),
    ):
        counts[name] = 0
        for part in _parts(values):
            listed = ",\n".join(part)
            yield f"data/{name}-{counts[name]}.js", f"ledger.{word}({counts[name]}, [\n{listed}\n]);\n"
            counts[name] += 1
    index = {
        "parts": counts["items"],
        "texts": counts["texts"],
        "now": instant(found.timeline.now),
        "entities": [[e.name, paths.entity(e.key)] for e in found.entities],
    }
    yield "data/index.js", f"ledger.index({encoded(index)});\n"


def _parts(values: Iterable[Any]) -> Iterator[list[str]]:
    """The values as JSON, in lists of about `SIZE` bytes."""
    part: list[str] = []
    size = 0
    for one in map(encoded, values):
        wide = len(one.encode())
        if part and size + wide > SIZE:
            yield part
            part, size = [], 0
        part.append(one)
        size += wide
    if part:
        yield part


def _item(line: Line, numbers: dict[str, int]) -> dict[str, Any]:
    found = record(line)
    found["t"] = clipped(line.item.text, _TEXT)
    found["w"] = times(line)
    if line.item.slot is not None:
        found["s"] = line.item.slot
    if line.item.about:
        found["a"] = sorted({numbers[key] for name in line.item.about if (key := entity_key(name)) in numbers})
    return found


def _texts(found: Atlas) -> Iterator[list[Any]]:
    """What is said of items at length: what it is, the text, and the numbers of the items; an episode only once."""
    cited: dict[str, list[int]] = {}
    for n, line in enumerate(found.timeline.lines):
        whole = _plain(line.item.text)
        if clipped(line.item.text, _TEXT) != whole:
            yield ["text", whole, [n]]
        if line.item.rationale is not None:
            yield ["rationale", _plain(line.item.rationale), [n]]
        for id in line.item.evidence:
            cited.setdefault(id, []).append(n)
    for id, numbers in cited.items():
        if (episode := found.episodes.get(id)) is not None:
            yield [f"evidence {id}", _plain(episode.text), numbers]


def _plain(text: str) -> str:
    return " ".join(text.split())[:_SEARCHED]
