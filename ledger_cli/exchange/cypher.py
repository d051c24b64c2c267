"""Cypher: statements that build the graph of a ledger in an empty database, in the dialect of Neo4j 5.

They are the statements that the store is built with, with their rows written out: what holds in the one holds in the
other. Texts are string literals; nothing else of a ledger gets into a statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ledger_cli import holds
from ledger_cli.history import History
from ledger_cli.model import Entry
from ledger_cli.store import writing
from ledger_cli.store.engine import Params, Row

_HEAD = """\
// A ledger as a graph: see "Engines and limits" in the README of ledger for its nodes, edges and properties.
// Run it in an empty database, as in: cypher-shell --file ledger.cypher
"""
_UNIQUE = ("Item", "Entity", "Episode", "Session")
"""Labels with a constraint. Ids of reviews and endings hold a whole reason, and an index of Neo4j takes 8 kB."""
_BATCH = 200
"""Rows a statement: a server takes a statement as a whole."""

_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_ESCAPED = re.compile(r"[\\'\n\t\r]")
_UNICODE = re.compile(r"\\(?=[uU])")


def write(entries: Iterable[Entry]) -> str:
    """Constraints, then nodes and edges with all their properties, the derived ones (`holds`, `validTo`) too."""
    entries = list(entries)
    history = History(entries)
    stretches = holds.sweep(history)
    written = _Written()
    writing.fill(written, entries, stretches, holds.ends(history.items, stretches))
    constraints = [
        f"CREATE CONSTRAINT ledger_{label.lower()}_id IF NOT EXISTS FOR (n:{label}) REQUIRE n.id IS UNIQUE"
        for label in _UNIQUE
    ]
    return _HEAD + "".join(f"{statement};\n" for statement in [*constraints, *written.statements])


class _Written:
    """Runs nothing: it keeps what it is asked to run, with the rows written out."""

    def __init__(self) -> None:
        self.statements: list[str] = []

    def run(self, text: str, params: Params) -> list[Row]:
        rows: list[Row] = params["rows"]
        for start in range(0, len(rows), _BATCH):
            listed = ",\n  ".join(map(_row, rows[start : start + _BATCH]))
            self.statements.append(text.replace("$rows", f"[\n  {listed}\n]", 1))
        return []


def _row(row: Row) -> str:
    return "{" + ", ".join(f"{key}: {_literal(value)}" for key, value in row.items()) + "}"


def _literal(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, int | float) else _string(value)


def _string(text: str) -> str:
    """A string literal. Some readers turn `\\u0027` into a quote before they look for quotes: no literal holds it."""
    pieces = (
        _ESCAPED.sub(lambda found: _ESCAPES[found[0]], piece) for piece in _UNICODE.sub("\\\\\0", text).split("\0")
    )
    return " + ".join(f"'{piece}'" for piece in pieces)
