"""What is kept between questions: until something is written, and not a moment longer."""

from __future__ import annotations

import random
import shutil
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ledger_cli import checkpoint
from ledger_cli.ledger import Ledger
from ledger_cli.memory import corpus
from ledger_cli.memory.recall import recall
from tests.conftest import NOW, Repo
from tests.in_memory import invent


def opened(repo: Repo) -> Ledger:
    return Ledger(repo.path, clock=lambda: repo.now)


def fact(n: int) -> dict[str, Any]:
    return {"session": f"s{n}", "at": "2024-05-01", "facts": [{"id": f"f{n}", "text": f"a cache {n}"}]}


def found(ledger: Ledger) -> list[str]:
    return [m.row.item.id for m in recall(ledger, "cache", limit=100).items]


def test_nothing_written_nothing_read_again(story: Repo) -> None:
    database = opened(story).database
    first = corpus.of(database)
    assert corpus.of(database) is first
    assert corpus.of(opened(story).database) is not first


def test_what_another_process_writes_is_seen_exported_or_not(repo: Repo, ledger_process: Any) -> None:
    ledger = opened(repo)
    for n, flags in enumerate(((), ("--no-export",), ("--no-export",), ())):
        path = repo.write(fact(n))
        ledger_process("session", "apply", str(path), *flags, cwd=repo.path)
        assert found(ledger) == [f"f{m}" for m in range(n + 1)]


def test_what_git_puts_there_is_seen(story: Repo) -> None:
    ledger = opened(story)
    story.apply(fact(0))
    data = story.checkpoint.read_bytes()
    story.apply(fact(1))
    assert found(ledger) == ["f0", "f1"]
    story.checkpoint.write_bytes(data)
    assert found(ledger) == ["f0"]


def test_without_a_store_the_answer_is_the_same(repo: Repo) -> None:
    ledger = opened(repo)
    repo.apply(fact(0))
    assert found(ledger) == ["f0"]
    shutil.rmtree(repo.store)
    assert found(ledger) == ["f0"]
    repo.apply(fact(1))
    assert found(ledger) == ["f0", "f1"]


@pytest.mark.parametrize("seed", range(10))
def test_the_moments_of_one_cell_have_the_same_candidates(repo: Repo, seed: int) -> None:
    memory = invent(300 + seed)
    repo.checkpoint.write_bytes(checkpoint.render(memory.entries))
    oracle, pick = memory.oracle(), random.Random(seed)
    kept = corpus.of(Ledger(repo.path, clock=lambda: NOW).database)
    edges = [*oracle.boundaries, *oracle.writes, datetime(2020, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC)]
    for _ in range(100):
        valid, known = (pick.choice(edges) + timedelta(microseconds=pick.choice((-1, 0, 1))) for _ in range(2))
        assert [text.id for text in kept.holding(valid, known).texts] == oracle.believed(valid, known)


def test_threads_that_ask_while_others_write_see_whole_states(repo: Repo) -> None:
    ledger, wrong, stop = opened(repo), list[Any](), threading.Event()
    whole = [[f"f{m}" for m in range(n)] for n in range(9)]

    def ask() -> None:
        while not stop.is_set():
            try:
                if (ids := found(ledger)) not in whole:
                    wrong.append(ids)
            except Exception as fault:
                wrong.append(fault)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for n in range(8):
        repo.apply(fact(n))
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert found(ledger) == whole[8]
