"""What the store asks of an embedded Cypher engine, and how one is found by name.

An engine is a class; an instance is one graph. Nothing here imports an engine: importing one costs start-up time.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol, Self, cast

from ledger_cli.errors import Damaged, LedgerError, QueryRefused

Row = dict[str, Any]
Params = Mapping[str, Any]

_KNOWN = {
    "kglite": ("ledger_cli.store.kglite_engine", "KgliteEngine", "pip install 'kglite~=0.21.2'"),
    "relate": ("ledger_cli.store.relate_engine", "RelateEngine", "pip install 'ledger-cli[relate]'"),
}
NAMES = tuple(_KNOWN)
"""Every engine there is an adapter for, the default first."""

NARROW = "name an item or an entity by its id in the first MATCH, or add a LIMIT"
"""The hint for a query that went past a limit."""


class DamagedStore(Damaged):
    """A saved graph cannot be read. It is a cache: rebuild it."""


class Answer(NamedTuple):
    """What a user's query returned: column names in order, rows, and whether rows past the limit were left out."""

    columns: list[str]
    rows: list[Row]
    truncated: bool


class Runs(Protocol):
    """What runs statements: all that it takes to fill a graph."""

    def run(self, text: str, params: Params) -> list[Row]:
        """Run one statement and return its rows."""


class Engine(Runs, Protocol):
    """One graph in an embedded engine.

    Times in statements are local datetimes in UTC, and go in and come out as naive ones, or go in as text that a
    statement wraps in `localdatetime()`. A statement that fails changes nothing.
    """

    name: ClassVar[str]
    version: ClassVar[str]
    """A saved graph is read by the version that wrote it; any other rebuilds it."""

    @classmethod
    def new(cls) -> Self:
        """An empty graph, in memory until it is saved."""
        return cls()

    @classmethod
    def load(cls, path: Path, writable: bool) -> Self:
        """The graph saved at `path`; without `writable` it refuses every write.

        Raises FileNotFoundError, or DamagedStore for what cannot be read.
        """

    def bounded(self, text: str, params: Params, timeout_ms: int, work_limit: int, row_limit: int) -> Answer:
        """Run a stranger's statement: it cannot write and it stops at its limits. Times come out aware.

        Raises QueryRefused; so does every query on an engine whose limits were never tried.
        """
        raise QueryRefused(f"queries are not open on the engine {self.name}", "kglite, the default, takes them")

    def search(self, words: str, limit: int) -> list[tuple[str, float]]:
        """Ids of the items whose text or rationale holds any of the words, with a score, best first."""

    def freeze(self) -> Self:
        """The same graph as it is now, refusing every write (or never published by a reader anyway)."""
        return self

    def save(self, path: Path) -> None:
        """Write the graph to a new file at `path`: whole or not at all, on the disk when this returns.

        Raises OSError for a disk that does not take it.
        """

    def close(self) -> None:
        """Let go of the graph. It cannot be used afterwards."""


def get(name: str) -> type[Engine]:
    """The engine called `name`. Raises LedgerError when there is no such engine or it is not installed."""
    if name not in _KNOWN:
        raise LedgerError(f"there is no engine {name!r}", f"known engines: {', '.join(NAMES)}")
    module, cls, hint = _KNOWN[name]
    try:
        return cast(type[Engine], getattr(import_module(module), cls))
    except ImportError as fault:
        raise LedgerError(f"the engine {name!r} cannot be imported: {fault}", hint) from fault
