"""What `resolve` did to lines of a merge's parents: told from the lines alone, for whoever checks the merge."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from ledger_cli.lines import line
from ledger_cli.model import Entity, Entry, Episode, Item, entity_key

_RENAMED = re.compile(r'~(?:ours|theirs)\d*(?=")')
_NAME = re.compile(r'("(?:[^"\\]|\\.)*?)~(?:ours|theirs)\d*"')


def gave_way(gone: Mapping[bytes, Entry], news: Iterable[Entry], others: Iterable[Entry]) -> dict[bytes, Entry | None]:
    """Of a parent's lines that are gone, those that another parent left no room for.

    `others` is what the other parents have and this one has not; `news` what none of them has. Of two things with one
    id, one is recorded under another id now (`d9~theirs`), and so is what names it. Of an entity with two kinds, one is
    left out (None).
    """
    others = list(others)
    taken = {e.id for e in others if isinstance(e, Item | Episode)} | {e.session for e in others}
    kinds = {(entity_key(e.name), e.kind) for e in others if isinstance(e, Entity)}
    renamed: dict[str, Entry] = {}
    for entry in news:
        text = line(entry)
        names = [json.loads(f'{name}"') for name in _NAME.findall(text)]
        if names and taken.issuperset(names):
            renamed[_content(_RENAMED.sub("", text))] = entry
    found: dict[bytes, Entry | None] = {}
    for row, entry in gone.items():
        if (became := renamed.get(_content(row.decode()))) is not None:
            found[row] = became
        elif isinstance(entry, Entity) and any(k == entity_key(entry.name) and v != entry.kind for k, v in kinds):
            found[row] = None
    return found


def _content(text: str) -> str:
    """A line whatever the order of its evidence, which follows the ids."""
    stated = json.loads(text)
    if isinstance(stated.get("from"), list):
        stated["from"].sort()
    return json.dumps(stated, sort_keys=True)
