"""JSON Lines: an entry a line, as in the checkpoint, in the order in which the ledger learned it; then the end."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ledger_cli.errors import quoted
from ledger_cli.exchange import entries
from ledger_cli.exchange.reading import refuse
from ledger_cli.model import Entry

Row = tuple[int, dict[str, Any]]
"""A record of a file, with the line that it stands on."""


def write(recorded: Iterable[Entry]) -> str:
    """All entries, a line each, and the end."""
    lines = entries.in_order(recorded)
    end = json.dumps(dict([entries.END, ("entries", len(lines))]))
    return "".join(f"{text}\n" for text in [*lines, end])


class _Refused(ValueError):
    """JSON that is no record, with a sentence."""


def rows(text: str, name: str) -> list[Row]:
    """The objects of a text, by line. Raises Refused with every line that is none."""
    found: list[Row] = []
    faults: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line, object_pairs_hook=_once, parse_constant=_no_constant)
        except json.JSONDecodeError as fault:
            faults.append((number, f"not JSON: {fault.msg} (column {fault.colno})"))
        except _Refused as fault:
            faults.append((number, f"not a record: {fault}"))
        except RecursionError:
            faults.append((number, "not a record: it is nested too deeply"))
        except ValueError:  # the one thing of JSON that Python does not read
            faults.append((number, "not a record: it holds a number of too many digits"))
        else:
            if isinstance(value, dict):
                found.append((number, value))
            else:
                faults.append((number, "not a record: a line is one JSON object"))
    refuse(name, faults)
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for n, (key, _) in enumerate(pairs) if key in dict(pairs[:n]))
        raise _Refused(f"the key {quoted(twice)} stands twice")
    return found


def _no_constant(name: str) -> None:
    raise _Refused(f"{name} is not a number of JSON")
