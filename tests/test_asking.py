"""A query in a process of its own: what the engine does not stop is stopped, and says so in a sentence."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ledger_cli import asking
from ledger_cli.errors import LedgerError, NoLedger, QueryRefused
from ledger_cli.ledger import Ledger
from tests.conftest import NOW, ROOT

if TYPE_CHECKING:
    from tests.conftest import Repo

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the bound on memory is the kernel's")

BIG = "WITH reduce(s = 'a', x IN range(1, 23) | s + s) AS s "
ENDLESS = (
    "WITH range(1, 3000) AS l RETURN {0}(a IN l WHERE {0}(b IN l WHERE {0}(c IN l WHERE {0}(d IN l WHERE {1})))) AS x"
)
KILLERS = {
    "all": ENDLESS.format("all", "a + b + c + d > 0"),
    "any": ENDLESS.format("any", "a + b + c + d < 0"),
    "none": "WITH range(1, 3000) AS l RETURN none(a IN l WHERE any(b IN l WHERE any(c IN l WHERE a + b + c < 0))) AS x",
    "every path": "MATCH p = (a)-[*1..30]-(b) RETURN count(p) AS n",
    "doubling": "RETURN size(reduce(s = 'a', x IN range(1, 40) | s + s)) AS n",
    "replacing": BIG + "WITH left(s, 100000) AS s RETURN size(replace(s, 'a', s)) AS n",
    "heavy rows": BIG + "UNWIND range(1, 1000) AS n RETURN s",
}


@pytest.fixture
def tangle(story: Repo) -> Repo:
    """The orders story, and a ledger in which every item is about the same things."""
    names = [f"thing {n}" for n in range(12)]
    items = [{"id": f"t{n}", "text": f"text {n}", "about": names, "validFrom": "2025-01-01"} for n in range(12)]
    story.apply({"session": "tangle", "at": "2025-01-02T09:00:00Z", "by": "sam", "facts": items})
    return story


@linux
@pytest.mark.parametrize("name", KILLERS)
def test_a_killer_ends_in_time_with_a_sentence_and_leaves_nothing(tangle: Repo, name: str) -> None:
    before = tangle.checkpoint.read_bytes(), sorted(path.name for path in tangle.store.iterdir())
    start = time.monotonic()
    said = tangle.run("query", KILLERS[name], "--timeout", "0.3", code=1)
    assert time.monotonic() - start < 0.3 + 1 + 1.5  # and what it takes to start on a busy machine
    error, hint = said.err.splitlines()
    assert error.startswith("error: the query ") and error.endswith(" and was stopped")
    assert hint.startswith("  hint: ")
    assert said.out == ""
    assert (tangle.checkpoint.read_bytes(), sorted(path.name for path in tangle.store.iterdir())) == before
    assert tangle.run("query", "MATCH (d:Item {id: 'd1'}) RETURN d.id AS id", "--json").json == {"rows": [{"id": "d1"}]}


@linux
@pytest.mark.parametrize("name", ["replacing", "heavy rows"])
def test_without_memory_it_says_so(story: Repo, name: str) -> None:
    said = story.run("query", KILLERS[name], "--timeout", "30", code=1)
    assert said.err.startswith("error: the query needed more than 2 GiB of memory and was stopped\n  hint: ")


def test_an_answer_too_large_is_refused(story: Repo) -> None:
    said = story.run("query", BIG + "UNWIND range(1, 9) AS n RETURN s", code=1)
    assert said.err.startswith("error: the answer is larger than 64 MiB and was refused\n  hint: ")
    assert story.run("query", BIG + "RETURN size(s) AS n", "--json").json == {"rows": [{"n": 2**23}]}


def _child(parent: int) -> int | None:
    """The query's process, once it runs the query: it is busy."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[1]) == parent and fields[0] == "R" and int(fields[11]) > 30:  # hundredths of a second
                return int(path.parent.name)
    return None


def _wait_for(ready: Any, seconds: float = 20) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := ready():
            return found
        time.sleep(0.01)
    raise AssertionError("it did not come to that")


@pytest.fixture
def endless(story: Repo) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A query that the engine never ends, and the process it runs in."""
    command = [sys.executable, "-m", "ledger_cli", "query", KILLERS["all"], "--timeout", "60"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=story.path, env=environment, start_new_session=True, **pipes) as process:
        try:
            yield process, _wait_for(lambda: _child(process.pid))
        finally:
            process.kill()


def _is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@linux
@pytest.mark.parametrize("to_all", [False, True], ids=["the parent alone", "as the terminal does it"])
def test_an_interrupt_ends_it(endless: tuple[subprocess.Popen[str], int], to_all: bool) -> None:
    process, child = endless
    (os.killpg if to_all else os.kill)(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out, err.replace("interrupted\n", "")) == (130, "", "")
    assert _is_gone(child)


@linux
def test_no_query_outlives_who_asked(endless: tuple[subprocess.Popen[str], int]) -> None:
    process, child = endless
    process.kill()
    _wait_for(lambda: _is_gone(child))


@linux
@pytest.mark.parametrize(
    ("by", "what"), [(signal.SIGKILL, "needed more than 2 GiB of memory"), (signal.SIGTERM, "was stopped by somebody")]
)
def test_a_child_that_was_killed_is_a_refusal(
    endless: tuple[subprocess.Popen[str], int], by: signal.Signals, what: str
) -> None:
    process, child = endless
    os.kill(child, by)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, out) == (1, "")
    assert what in err


def test_the_answer_is_the_one_the_graph_gives(story: Repo) -> None:
    ledger = Ledger(story.path, clock=lambda: NOW)
    texts = (
        "MATCH (d:Item)-[:ABOUT]->(e) RETURN d, e.name AS name, d.validFrom AS at, d.validTo AS to ORDER BY d.id, name",
        "MATCH p = (:Item)-[l:SUPERSEDES]->() RETURN p, l, 1.5 AS x, null AS y, [true, 'é\U0001f980'] AS z",
        "RETURN date('2020-01-01') AS d, time('10:00') AS t, duration('P1D') AS p",
        "RETURN datetime('2020-01-01T00:00:00+02:00') AS o",
        "MATCH (d:Nobody) RETURN d.id AS id",
    )
    for text in texts:
        assert ledger.query(text) == ledger.database.read().query(text)
    at = ledger.query("MATCH (d:Item {id: 'd1'}) RETURN d.validFrom AS at").rows[0]["at"]
    assert at == datetime(2024, 1, 1, tzinfo=UTC) and at.utcoffset() is not None
    assert ledger.query("MATCH (d:Item) RETURN d.id AS id", limit=2).truncated


def test_notes_are_said_once_also_where_the_query_is_refused(repo: Repo) -> None:
    decision = {"id": "x", "text": "a text", "validFrom": "2024-01-01"}
    empty = repo.checkpoint.read_bytes()
    repo.apply({"session": "first", "at": "2024-01-02T09:00:00Z", "by": "sam", "decisions": [decision]})
    waiting = {"session": "waiting", "at": "2024-01-03T09:00:00Z", "by": "sam", "decisions": [decision | {"id": "y"}]}
    repo.apply(waiting, flags=("--no-export",))
    repo.checkpoint.write_bytes(empty)
    note = "note: waiting: applied but never exported, on a checkpoint that is not the one here."
    for _ in range(2):  # it is built, and then it is loaded
        said = repo.run("query", "MATCH (d:Item) RETURN count(d) AS n", "--json")
        assert said.json == {"rows": [{"n": 0}]}
        assert (said.err.count(note), said.err.count("\n")) == (1, 1)
    assert repo.run("query", "nonsense", code=1).err.count(note) == 1


def test_what_the_ledger_refuses_comes_as_it_was(story: Repo) -> None:
    def ask(folder: Path, engine: str = "kglite", text: str = "RETURN 1 AS x") -> Any:
        return asking.ask(folder, engine, text, timeout_ms=1000, limit=5, say=lambda _: None)

    assert ask(story.path / "snapshots").rows == [{"x": 1}]
    with pytest.raises(NoLedger, match="there is no ledger"):
        ask(story.path / "nowhere")
    with pytest.raises(LedgerError, match="there is no engine 'none'"):
        ask(story.path / "snapshots", engine="none")
    with pytest.raises(QueryRefused, match="one statement") as refused:
        ask(story.path / "snapshots", text="RETURN ';'")
    assert refused.value.hint == "leave it out; in a text, write it as `\\u003b`"
    assert ask(story.path / "snapshots", text="RETURN '\\u003b' AS x").rows == [{"x": ";"}]


def test_a_bug_in_the_child_comes_with_its_traceback(story: Repo) -> None:
    with pytest.raises(RuntimeError, match="TypeError") as bug:
        asking.ask(story.path / "snapshots", "kglite", None, timeout_ms=1000, limit=5, say=print)  # type: ignore[arg-type]
    assert "guard.py" in bug.value.__notes__[0]


@pytest.mark.parametrize("text", ["--help", "-c", "$(touch x)", "'", "\x00", "a" * 500_000])
def test_the_text_is_data(story: Repo, text: str) -> None:
    with pytest.raises(QueryRefused):
        Ledger(story.path, clock=lambda: NOW).query(text)


def test_nothing_is_imported_from_where_it_runs(story: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("pickle", "datetime", "kglite"):
        (story.path / f"{module}.py").write_text("raise SystemExit(9)")
    assert story.run("query", "RETURN 1 AS x", "--json").json == {"rows": [{"x": 1}]}


def test_the_child_has_nothing_of_the_terminal() -> None:
    code = (
        "import sys, ledger_cli.asking; print({'typer', 'click', 'rich', 'yaml', 'git', 'kglite'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
