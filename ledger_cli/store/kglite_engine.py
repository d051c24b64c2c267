"""The adapter of kglite: the only module that imports it.

Facts it is built on, each measured: `load` + `save` under a new name, never `open` (its commits are invisible to other
processes until it saves). A reader loads `mapped`, a writer `memory`. `verify="eager"` costs nothing and finds every
flipped byte. A full-text index stored in the file makes every load four times slower, so it is built in memory when
somebody searches, and is never saved.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Self

import kglite

from ledger_cli.errors import QueryRefused
from ledger_cli.store import statements
from ledger_cli.store.engine import NARROW, Answer, DamagedStore, Params, Row

kglite.set_query_warning_policy("silent")  # the warnings are advice on statements; stderr is ours

_INDEXES = {"item_text": "index_text", "item_rationale": "index_rationale"}


class KgliteEngine:
    """One graph in kglite. A reader holds a frozen snapshot, which refuses every write by itself."""

    name: ClassVar[str] = "kglite"
    version: ClassVar[str] = f"kglite {kglite.__version__}"

    def __init__(self, graph: Any, *, writable: bool) -> None:
        self._graph = graph
        self._writable = writable
        self._reader = graph if writable else graph.freeze()
        self._indexed = False
        self._indexes: list[str] = []

    @classmethod
    def new(cls) -> Self:
        return cls(kglite.KnowledgeGraph(), writable=True)

    @classmethod
    def load(cls, path: Path, writable: bool) -> Self:
        if not path.is_file():
            raise FileNotFoundError(path)  # a reader that lost a race against the sweep tries again
        try:
            with _quiet():
                graph = kglite.load(
                    str(path),
                    storage="memory" if writable else "mapped",
                    defer_index_rebuild=True,
                    verify="eager",
                )
        except (kglite.KgError, OSError, ValueError) as fault:
            raise DamagedStore(f"{path.name} cannot be read: {fault}", "run `ledger rebuild`") from fault
        return cls(graph, writable=writable)

    def run(self, text: str, params: Params) -> list[Row]:
        rows: list[Row] = self._reader.cypher(text, params=dict(params)).to_list()
        return rows

    def bounded(self, text: str, params: Params, timeout_ms: int, work_limit: int, row_limit: int) -> Answer:
        frozen = self._graph.freeze()
        try:
            found = frozen.cypher(
                text, params=dict(params), timeout_ms=timeout_ms, max_work_units=work_limit, row_limit=row_limit
            )
            if isinstance(found, str):
                raise QueryRefused("FORMAT CSV is refused: rows come back as values", "leave it out; use --json")
            rows = [{name: _plain(value) for name, value in row.items()} for row in found.to_list()]
            return Answer(list(found.columns), rows, bool(found.warnings) and len(rows) >= row_limit)
        except kglite.ReadOnlyError:
            raise QueryRefused(
                "a query only reads, and this one writes; nothing was changed",
                "the ledger is written by `ledger session apply`",
            ) from None
        except kglite.CypherTimeoutError:
            raise QueryRefused(f"the query ran longer than {timeout_ms} ms and was stopped", NARROW) from None
        except kglite.KgError as fault:
            if "max_work_units" in str(fault):
                raise QueryRefused(f"the query went past {work_limit:,} rows of work and was stopped", NARROW) from None
            raise QueryRefused(str(fault).strip()) from None
        except (ValueError, TypeError, OverflowError) as fault:
            raise QueryRefused(str(fault).strip()) from None

    def search(self, words: str, limit: int) -> list[tuple[str, float]]:
        if not self._indexed:
            # The snapshot shares the graph's data: let go of it first, or the index would be built on a copy.
            self._reader = None
            for index, statement in _INDEXES.items():
                with suppress(kglite.CypherExecutionError):  # no item has such a text: nothing to index
                    self._graph.cypher(statements.text(statement))
                    self._indexes.append(index)
            self._reader = self._graph if self._writable else self._graph.freeze()
            self._indexed = True
        found: dict[str, float] = {}
        for index in self._indexes:
            params = {"index": index, "words": words, "limit": limit}
            for row in self.run(statements.text("search_kglite"), params):
                found[row["id"]] = max(found.get(row["id"], 0.0), row["score"])
        return sorted(found.items(), key=lambda hit: (-hit[1], hit[0]))[:limit]

    def freeze(self) -> Self:
        return type(self)(self._graph, writable=False)

    def save(self, path: Path) -> None:
        if self._indexed:
            for index in self._indexes:
                self._graph.cypher(statements.text(f"drop_{_INDEXES[index]}"))
            self._indexes, self._indexed = [], False
        try:
            with _quiet():
                self._graph.save(str(path), fsync=True)
        except kglite.FileIoError as fault:
            raise OSError(str(fault)) from fault

    def close(self) -> None:
        self._graph = self._reader = None


@contextmanager
def _quiet() -> Iterator[None]:
    """Some columns may have no mapped form and are held on the heap after a load: no news to a user."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kglite.MappedFallbackWarning)
        yield


def _plain(value: Any) -> Any:
    """Instants as such; nodes, relationships and paths by their named properties, without the engine's own."""
    if isinstance(value, dict):
        if value.keys() == {"id", "labels", "properties"}:
            return {"labels": value["labels"], "properties": _named(value["properties"])}
        if value.keys() == {"id", "start", "end", "type", "properties"}:
            return {"type": value["type"], "properties": _named(value["properties"])}
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, datetime) and value.tzinfo is None:
        return value.replace(tzinfo=UTC)  # times are kept in UTC
    return value


def _named(properties: dict[str, Any]) -> dict[str, Any]:
    return {key: _plain(properties[key]) for key in sorted(properties) if key not in ("title", "type")}
