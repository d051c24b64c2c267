"""Where nothing is written: the folders of git and of the ledger, by whatever way one gets there."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Repo

COMMANDS = {
    "import adr": ("import", "adr", "records", "-o"),
    "import csv": ("import", "csv", "x.csv", "-o"),
    "import jsonl": ("import", "jsonl", "x.jsonl", "-o"),
    "export csv": ("export", "--format", "csv", "-o"),
    "export adr": ("export", "--format", "adr", "-o"),
    "site": ("site",),
    "timeline": ("timeline", "--svg"),
}


@pytest.fixture
def inputs(story: Repo) -> Repo:
    (story.path / "records").mkdir()
    (story.path / "records" / "1-a.md").write_text("# A\n\nDate: 2024-01-01\n\n## Status\n\nAccepted\n")
    (story.path / "x.csv").write_text("text\na\n")
    (story.path / "x.jsonl").write_text('{"text": "a"}\n')
    return story


def everything(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(repo: Repo, command: str, target: str | Path, whose: str) -> None:
    before = everything(repo.path.parent)
    said = repo.run(*COMMANDS[command], target, code=1)
    assert said.err.endswith(f"{target} is {whose} own\n  hint: give a name outside of its folder\n")
    assert (said.out, everything(repo.path.parent)) == ("", before)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("target", "whose"),
    [
        (".git/x", "git's"),
        (".git/new/folder/x", "git's"),
        (".git", "git's"),
        ("sub/../.git/x", "git's"),
        ("link/x", "git's"),
        ("other/.GIT/x", "git's"),
        ("bare/hooks/x", "git's"),
        ("snapshots/x", "the ledger's"),
        ("snapshots/new/x", "the ledger's"),
        ("snapshots", "the ledger's"),
        ("snapshots/.store/x", "the ledger's"),
        ("other/snapshots/x", "the ledger's"),
    ],
)
def test_nothing_is_written_into_the_folders_of_git_and_of_a_ledger(
    inputs: Repo, command: str, target: str, whose: str
) -> None:
    inputs.git("init", "-q", "--bare", "bare")
    (inputs.path / "link").symlink_to(".git")
    (inputs.path / "sub").mkdir()
    shutil.copytree(inputs.path / "snapshots", inputs.path / "other" / "snapshots")
    refused(inputs, command, target, whose)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_file_that_makes_a_worktree_is_not_written_over(inputs: Repo, command: str) -> None:
    inputs.git("commit", "-q", "--allow-empty", "-m", "x")
    inputs.git("worktree", "add", "-q", "../tree")
    refused(inputs, command, inputs.path.parent / "tree" / ".git", "git's")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_ledger_that_lies_elsewhere_is_one_by_both_of_its_names(inputs: Repo, command: str) -> None:
    (inputs.path / "snapshots").rename(inputs.path.parent / "kept")
    (inputs.path / "snapshots").symlink_to("../kept")
    refused(inputs, command, "snapshots/x", "the ledger's")
    if not command.startswith("import"):  # which asks for no ledger, and so does not know where one lies
        refused(inputs, command, inputs.path.parent / "kept" / "x", "the ledger's")


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.startswith("import")])
def test_an_import_where_no_ledger_is_keeps_out_of_the_folder_of_git_too(inputs: Repo, command: str) -> None:
    shutil.rmtree(inputs.path / "snapshots")
    refused(inputs, command, ".git/x", "git's")
    inputs.run(*COMMANDS[command], "snapshots/x.yaml")  # it is no ledger's


@pytest.mark.parametrize("command", COMMANDS)
def test_names_that_only_look_like_them_are_free(inputs: Repo, command: str) -> None:
    for target in ("git", ".github/x", "snapshots.new/x", "sessions/x", "objects/refs/HEAD"):
        if command in ("export csv", "timeline"):
            (inputs.path / target).parent.mkdir(exist_ok=True, parents=True)
        inputs.run(*COMMANDS[command], target)
