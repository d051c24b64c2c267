"""A thin adapter of relate (package `relate-db`) over the same statements.

Written from the engine's documentation; it HAS NOT BEEN RUN: no package index that was tried serves the package.
"""

import os
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar, Self

import relate

from ledger_cli.store import statements
from ledger_cli.store.engine import DamagedStore, Engine, Params, Row


class RelateEngine(Engine):
    """One graph in relate, in a private copy: what is published is only ever written whole, by `save`."""

    name: ClassVar[str] = "relate"
    version: ClassVar[str] = f"relate {version('relate-db')}"  # an ImportError where `relate` is another library

    def __init__(self, origin: Path | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="ledger-")
        self._file = Path(self._folder.name) / "ledger.rl"
        if origin is not None:
            shutil.copyfile(origin, self._file)
        self._db = relate.connect(str(self._file))

    @classmethod
    def load(cls, path: Path, writable: bool) -> Self:
        try:
            return cls(path)
        except FileNotFoundError:
            raise
        except Exception as fault:
            raise DamagedStore(f"{path.name} cannot be read: {fault}", "run `ledger rebuild`") from fault

    def run(self, text: str, params: Params) -> list[Row]:
        return [dict(row) for row in self._db.execute(text, dict(params))]

    def search(self, words: str, limit: int) -> list[tuple[str, float]]:
        self.run(statements.text("index_text"), {})
        found = self.run(statements.text("search_relate"), {"words": words, "limit": limit})
        return [(row["id"], row["score"]) for row in found]

    def save(self, path: Path) -> None:
        self._db.close()  # writes its log into the file
        part = Path(shutil.copyfile(self._file, path.with_name(f"{path.name}.tmp.relate")))
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(path)
        self._db = relate.connect(str(self._file))

    def close(self) -> None:
        self._db.close()
        self._folder.cleanup()
