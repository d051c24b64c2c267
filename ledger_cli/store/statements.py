"""The statements of the store: one `.cypher` file each, found by name. Parameters only, never built from text."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ledger_cli.store.engine import Row, Runs

_FOLDER = Path(__file__).parent / "cypher"


@cache
def text(name: str) -> str:
    """The statement in `cypher/<name>.cypher`, without its header comment. Raises KeyError for an unknown name."""
    try:
        lines = (_FOLDER / f"{name}.cypher").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise KeyError(f"there is no statement {name!r}") from None
    return "\n".join(line for line in lines if not line.startswith("//")).strip()


def run(engine: Runs, name: str, **params: Any) -> list[Row]:
    """Run a statement by its name and return its rows."""
    return engine.run(text(name), params)


def header(name: str) -> str:
    """What the statement answers, its parameters and its order of rows, in words."""
    lines = (_FOLDER / f"{name}.cypher").read_text(encoding="utf-8").splitlines()
    return "\n".join(line[2:].strip() for line in lines if line.startswith("//"))


def names() -> list[str]:
    """Every statement there is, by name."""
    return sorted(path.stem for path in _FOLDER.glob("*.cypher"))
