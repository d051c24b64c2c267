"""`ledger rebuild`: the store anew from the checkpoint and what is pending."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.conftest import Repo

QUESTIONS = (("lateness",), ("slots",), ("history", "orders"), ("as-of", "2024-03-15"), ("session", "list"))


def answers(repo: Repo) -> list[Any]:
    return [repo.run(*question, "--json").json for question in QUESTIONS]


def test_it_counts_the_entries_it_was_built_from(story: Repo) -> None:
    entries = [line for line in story.checkpoint.read_text(encoding="utf-8").splitlines() if line.startswith('{"')]
    said = story.run("rebuild")
    assert (said.out, said.err) == (f"rebuilt the store from {len(entries)} entries\n", "")


def test_the_answers_stay_the_same(long_story: Repo) -> None:
    before = answers(long_story)
    long_story.run("rebuild")
    assert answers(long_story) == before


def test_a_deleted_store_is_built_by_the_next_question(long_story: Repo) -> None:
    before = answers(long_story)
    shutil.rmtree(long_story.store)
    assert answers(long_story) == before


def test_what_is_pending_is_kept(story: Repo) -> None:
    story.apply({"session": "a", "decisions": [{"id": "d", "text": "one"}]}, flags=("--no-export",))
    story.run("rebuild")
    assert story.run("show", "d", "--json").json["text"] == "one"


def test_the_checkpoint_is_not_touched(story: Repo) -> None:
    before = story.checkpoint.read_bytes()
    story.run("rebuild")
    assert story.checkpoint.read_bytes() == before


def test_a_damaged_checkpoint_is_named_and_nothing_is_thrown_away(story: Repo) -> None:
    story.checkpoint.write_bytes(story.checkpoint.read_bytes()[:-20])
    before = sorted(path.name for path in story.store.iterdir())
    said = story.run("rebuild", code=3)
    assert said.out == ""
    assert said.err.startswith("error: the checkpoint")
    assert sorted(path.name for path in story.store.iterdir()) == before
