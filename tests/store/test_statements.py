"""Every statement is a file with a header; it is used, and it runs on an empty graph."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import worlds

from ledger_cli.store import statements
from ledger_cli.store.engine import get
from ledger_cli.store.kglite_engine import _INDEXES

STORE = Path(statements.__file__).parent
NEEDED = {
    "ids": ["x"], "keys": ["x"], "slots": ["x"], "rows": [], "key": "x", "at": worlds.day(0), "known": worlds.day(0),
    "after": worlds.day(0), "until": worlds.day(1), "index": "item_text", "words": "x", "limit": 5,
}  # fmt: skip
WRITES = re.compile(r"\b(CREATE|MERGE|SET|DELETE|DROP)\b")


@pytest.mark.parametrize("name", statements.names())
def test_a_header_says_what_the_parameters_are_and_how_rows_come(name: str) -> None:
    header, text = statements.header(name), statements.text(name)
    params = set(re.findall(r"\$(\w+)", text))
    assert header
    assert params <= set(re.findall(r"\$(\w+)", header)), "a parameter is not explained"
    assert params or "No parameters" in header
    assert "Rows:" in header or WRITES.search(text), "the rows are not explained"
    assert ";" not in text
    assert "//" not in text


@pytest.mark.parametrize("name", statements.names())
def test_it_is_used(name: str) -> None:
    sources = [path.read_text() for path in STORE.glob("*.py")]
    assert any(f'"{name}"' in source for source in sources) or name in _dropping(sources)


def _dropping(sources: list[str]) -> set[str]:
    """The statements that drop an index, by the names that are put together where they are run."""
    dropped = any('text(f"drop_{_INDEXES[index]}")' in source for source in sources)
    return {f"drop_{name}" for name in _INDEXES.values()} if dropped else set()


@pytest.mark.parametrize("name", [n for n in statements.names() if not n.endswith("_relate") and n != "search_kglite"])
def test_it_runs_on_an_empty_graph(name: str) -> None:
    text = statements.text(name)
    params = {p: NEEDED[p] for p in re.findall(r"\$(\w+)", text)}
    rows = get("kglite").new().run(text, params)
    assert rows == ([{"at": None}] if name == "newest" else [])


@pytest.mark.parametrize("name", statements.names())
def test_no_pattern_is_of_any_length(name: str) -> None:
    assert not re.search(r"\[[^\]]*\*", statements.text(name)), "it would stop at ten hops without a word"


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(KeyError, match="nope"):
        statements.text("nope")
