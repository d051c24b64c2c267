"""`ledger demo`: the orders story, played in a folder that is gone afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

    from tests.commands.conftest import Golden
    from tests.conftest import Repo


def test_the_screen(repo: Repo, golden: Golden) -> None:
    said = repo.run("demo")
    golden("demo/demo.txt", said.out)
    assert said.err == "\nThis was a temporary folder. Begin your own: `ledger init`.\n"


def test_every_answer_it_shows_is_the_one_the_command_gives(story: Repo) -> None:
    shown = story.run("demo").out.split("\n$ ")[1:]
    commands = [part.split("\n", 1) for part in shown]
    asked = [(words.split()[1:], answer) for words, answer in commands if not words.startswith("ledger session apply")]
    assert len(asked) >= 4
    for words, answer in asked:
        assert answer.rstrip("\n") == story.run(*words).out.rstrip("\n")


def test_it_leaves_nothing_behind(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = tmp_path / "tmp"
    empty.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(empty))
    before = sorted(repo.path.rglob("*"))
    repo.run("demo")
    assert list(empty.iterdir()) == []
    assert sorted(repo.path.rglob("*")) == before


def test_it_needs_no_ledger(repo: Repo) -> None:
    repo.checkpoint.unlink()
    repo.run("demo")
    assert not repo.checkpoint.exists()
