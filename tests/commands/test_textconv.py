"""`ledger textconv`: the checkpoint in words, a line an entry, and what git shows with it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.commands.conftest import Golden
    from tests.conftest import Repo


def test_every_sort_of_entry_has_its_words(long_story: Repo, golden: Golden) -> None:
    golden("textconv/long-story.txt", long_story.run("textconv", "snapshots/ledger.json").out)


def test_a_line_an_entry_and_a_line_a_group(long_story: Repo) -> None:
    raw = long_story.checkpoint.read_text().splitlines()
    shown = long_story.run("textconv", long_story.checkpoint).out.splitlines()
    assert len(shown) == sum(line.startswith(("{", '"s')) and line != "{" for line in raw)


@pytest.mark.parametrize("data", [b"", b"{\n", b"nothing\n", b"\xff\xfe\n", b'{"decision": 1},\n', b"<<<<<<< HEAD\n"])
def test_what_is_no_checkpoint_is_shown_as_it_is(tmp_path: Path, repo: Repo, data: bytes) -> None:
    file = tmp_path / "some file"
    file.write_bytes(data)
    assert repo.run("textconv", file).out == data.decode(errors="replace").removeprefix("{\n")


def test_a_text_of_several_lines_is_one_and_nothing_turns_it_round(repo: Repo) -> None:
    repo.apply({"session": "s", "at": "2024-01-01", "decisions": [{"text": "one\ntwo\u202e"}]})
    assert "s/d1: one⏎two⟨U+202E⟩ | 2024-01-01 →" in repo.run("textconv", repo.checkpoint).out


def test_a_file_that_is_not_there_is_said(repo: Repo) -> None:
    said = repo.run("textconv", "nowhere", code=1)
    assert said.err.startswith("error: cannot read nowhere: No such file")


def test_git_diff_log_and_show_are_readable(story: Repo) -> None:
    command = f'PYTHONPATH="{ROOT}" "{sys.executable}" -m ledger_cli textconv'
    story.git("config", "diff.ledger.textconv", command)
    (story.path / ".gitattributes").write_text("snapshots/ledger.json text eol=lf diff=ledger\n")
    story.git("add", "-A")
    story.git("commit", "-qm", "story")
    story.apply({"session": "more", "at": "2024-05-01", "decisions": [{"id": "m", "text": "in words"}]})
    line = "+  m: in words | 2024-05-01 →  (2024-05-01 more)"
    assert line in story.git("diff", "-U0").splitlines()
    story.git("commit", "-qam", "more")
    for asked in (("log", "-p", "-1"), ("show",)):
        shown = story.git(*asked).splitlines()
        assert line in shown
        assert not any(x.startswith("-  ") for x in shown)
    patch = subprocess.run(["git", "format-patch", "-1", "--stdout"], cwd=story.path, capture_output=True, check=True)
    assert b'{"decision": "m"' in patch.stdout  # what is applied elsewhere is the file
