"""An entry as keys and values, and back: what JSON Lines and CSV have in common."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from ledger_cli import instant
from ledger_cli.line_faults import SHAPES
from ledger_cli.lines import line, number, order, parse_line
from ledger_cli.model import Entry, id_set, name_set

_TIMES = frozenset(("validFrom", "validTo", "recordedAt", "at"))
_ORDER = {sort: [key.rstrip("?") for key in shape.split()] for sort, shape in SHAPES.items()}


END = "end", "ledger"
"""The key and the value of the last record of an export, as they end the checkpoint. Without it, the export was cut.

How many entries stand before it, it says under `entries`.
"""


def in_order(entries: Iterable[Entry]) -> list[str]:
    """The canonical lines of entries, as they were learned: by record time, session, sort and id."""
    return [text for *_, text in sorted(order(entry, line(entry)) for entry in entries)]


def sort_of(stated: Mapping[str, Any]) -> str:
    """What sort of entry this is: the key that its line would begin with. Raises ValueError."""
    found = [sort for sort in SHAPES if sort in stated]
    if len(found) != 1:
        raise ValueError(f"not an entry: it needs one of {', '.join(SHAPES)}, and has {' and '.join(found) or 'none'}")
    return found[0]


def is_ours(stated: Mapping[str, Any]) -> bool:
    """Was this written by an export? It has a record time and a session, which no stranger knows of, or is an end."""
    return is_end(stated) or ("recordedAt" in stated and "session" in stated and any(s in stated for s in SHAPES))


def is_end(stated: Mapping[str, Any]) -> bool:
    """Is this the end of an export?"""
    return stated.get(END[0]) == END[1] and stated.keys() <= {END[0], "entries"}


def counted(end: Mapping[str, Any]) -> str:
    """How many entries an end says that stand before it; "" where it does not say."""
    return str(end.get("entries", ""))


def entry(stated: Mapping[str, Any]) -> Entry:
    """The entry of these keys and values, in any order and spacing. Raises ValueError with what is wrong with them."""
    keys = _ORDER[sort_of(stated)]
    ordered = [key for key in keys if key in stated] + [key for key in stated if key not in keys]
    return parse_line("{" + ", ".join(f"{json.dumps(k)}: {_written(k, stated[k])}" for k in ordered) + "}")


def _written(key: str, value: Any) -> str:
    """A value as a line holds it, where it can be read as one; what cannot is left for `parse_line` to name."""
    is_list = isinstance(value, list) and all(isinstance(each, str) for each in value)
    if key in ("about", "mentions") and is_list:
        value = list(name_set(value))
    elif key == "from" and is_list:
        value = list(id_set(value))
    elif key in _TIMES and isinstance(value, str):
        with suppress(ValueError):
            value = instant.show(instant.parse(value))
    elif key == "confidence" and isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(ValueError):
            return number(value)
    return json.dumps(value, ensure_ascii=False)
