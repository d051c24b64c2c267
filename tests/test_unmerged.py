"""A merge whose driver did not run leaves one side alone in the file: `ledger resolve` brings both together."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Repo

WHO = ("--by", "sam", "--reason", "they agreed")
NOTE = "note: the merge driver did not run"


def apply(repo: Repo, name: str, slot: str, day: int) -> None:
    item = {"id": f"d-{name}", "text": f"what {name} says", "slot": slot}
    repo.apply({"session": name, "at": f"2024-02-{day:02}T09:00:00Z", "decisions": [item]})
    commit(repo)


def commit(repo: Repo) -> None:
    repo.git("add", "-A")
    repo.git("commit", "-qm", "x")


def git(repo: Repo, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *words], cwd=repo.path, capture_output=True, text=True, check=False)


@pytest.fixture(params=["exit 127", "exit 3", "kill -9 $$"], ids=["not found", "refused", "killed"])
def parted(repo: Repo, request: pytest.FixtureRequest) -> Repo:
    """Two branches of a base, and a merge driver that does not come to merge."""
    repo.run("install")
    (repo.path / ".git" / "hooks" / "pre-commit").unlink()
    repo.git("config", "merge.ledger.driver", str(request.param))
    apply(repo, "s0", "q", 1)
    repo.git("checkout", "-qb", "theirs")
    apply(repo, "s1", "q", 2)
    apply(repo, "s2", "other", 3)
    repo.git("checkout", "-q", "main")
    apply(repo, "s3", "q", 4)
    return repo


def test_both_sides_are_brought_together(parted: Repo) -> None:
    before = parted.checkpoint.read_bytes()
    assert git(parted, "merge", "theirs").returncode != 0
    assert parted.checkpoint.read_bytes() == before  # our side alone, and no marker
    listed = parted.run("resolve", code=1)
    assert NOTE in listed.err
    assert "conflict in slot q" in listed.out
    assert NOTE not in parted.run("resolve", code=1).err  # now there are markers
    parted.run("resolve", "--keep", "ours", *WHO)
    commit(parted)
    assert parted.run("check", "--base", "theirs").out.endswith("ok\n")
    assert parted.run("as-of", "2024-03-01", "--json").ids == ["d-s2", "d-s3"]


def test_a_choice_at_once(parted: Repo) -> None:
    git(parted, "merge", "theirs")
    assert NOTE in parted.run("resolve", "--keep", "theirs", *WHO).err
    assert parted.run("as-of", "2024-03-01", "--json").ids == ["d-s1", "d-s2"]
    again = parted.run("resolve")  # what somebody settled counts as it is
    assert (again.out, NOTE in again.err) == ("nothing is in conflict\n", False)


def test_a_picked_change_brings_no_more_than_its_own(parted: Repo) -> None:
    git(parted, "cherry-pick", "theirs")
    said = parted.run("resolve")
    assert "note: s1: recorded where this change comes from, not here; left out" in said.err
    assert parted.run("as-of", "2024-03-01", "--json").ids == ["d-s2", "d-s3"]


def test_a_side_that_cannot_be_read_is_named(parted: Repo) -> None:
    parted.git("checkout", "-q", "theirs")
    parted.checkpoint.write_text(parted.checkpoint.read_text().replace('"text": "what s1', '"text": 1, "x": "'))
    commit(parted)
    parted.git("checkout", "-q", "main")
    git(parted, "merge", "theirs")
    before = parted.checkpoint.read_bytes()
    assert parted.run("resolve", code=3).err.startswith("error: theirs: the checkpoint, line ")
    assert parted.checkpoint.read_bytes() == before


def test_where_one_side_removed_the_file_the_other_stands(parted: Repo) -> None:
    parted.git("checkout", "-q", "theirs")
    parted.git("rm", "-q", "snapshots/ledger.json")
    commit(parted)
    parted.git("checkout", "-q", "main")
    git(parted, "merge", "theirs")
    assert parted.run("resolve").out == "nothing is in conflict\n"
    assert parted.run("as-of", "2024-03-01", "--json").ids == ["d-s3"]
