"""Sessions applied with `--no-export`, and git's own commands meanwhile: kept, named, never moved in silence."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Repo

NOT_HERE = "applied but never exported, on a checkpoint that is not the one here"


SLOTS = {"common": "of/common", "own": "a/own", "own2": "a/own2", "theirs": "z/theirs", "waiting": "of/waiting"}
"""Where each session says something: git merges what is apart."""


def session(name: str, day: int, **item: Any) -> dict[str, Any]:
    stated = {"id": f"{name}/d", "text": f"what {name} says", "slot": SLOTS.get(name, name), **item}
    return {"session": name, "at": f"2024-02-{day:02}T09:00:00Z", "decisions": [stated]}


WAITING = session("waiting", 20)


def apply(repo: Repo, stated: dict[str, Any], *flags: str) -> None:
    repo.run("session", "apply", repo.write(stated, name=f"{stated['session']}.json"), "--backdated", *flags)


class Clone:
    """A clone with a session of its own that is exported and committed (`own`), beside what `upstream` has."""

    def __init__(self, repo: Repo) -> None:
        self.upstream = repo
        apply(repo, session("common", 1))
        self.commit(repo, "common")
        self.repo = Repo(repo.path.parent / "clone", repo.capture)
        repo.git("clone", "-q", str(repo.path), str(self.repo.path))

    def commit(self, repo: Repo, message: str) -> None:
        repo.git("add", "-A")
        repo.git("commit", "-qm", message)

    def own(self, name: str = "own", day: int = 3, **item: Any) -> None:
        apply(self.repo, session(name, day, **item))
        self.commit(self.repo, name)

    def pushed(self, **item: Any) -> None:
        apply(self.upstream, session("theirs", 2, **item))
        self.commit(self.upstream, "theirs")

    def waits(self) -> bytes:
        apply(self.repo, WAITING, "--no-export")
        return self.journal

    @property
    def journal(self) -> bytes:
        return (self.repo.store / "journal.jsonl").read_bytes()

    def git(self, *words: str, code: int = 0) -> str:
        done = subprocess.run(["git", *words], cwd=self.repo.path, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def seen(self) -> set[str]:
        """The sessions of an answer, where all that was applied counts."""
        said = self.repo.run("session", "list", "--json")
        assert said.err == ""
        return {row["session"] for row in said.json["sessions"]}

    def exported(self) -> set[str]:
        """The sessions of the checkpoint's lines."""
        text = self.repo.checkpoint.read_text(encoding="utf-8")
        return {name for name in SLOTS if f'"session": "{name}"' in text}

    def is_refused(self) -> None:
        """What waits does not fit: every answer says so and goes without, nothing is written, `doctor` names it."""
        checkpoint, journal = self.repo.checkpoint.read_bytes(), self.journal
        said = self.repo.run("as-of", "2024-06-01", "--json")
        assert f"note: waiting: {NOT_HERE}" in said.err
        assert "waiting/d" not in said.ids
        next_ = self.repo.write(session("next", 25))
        for words in (("export",), ("export", "--hook"), ("session", "apply", next_), ("session", "check", next_)):
            refused = self.repo.run(*words, code=1)
            assert f"waiting: {NOT_HERE}" in refused.err
            assert "`ledger export --carry`" in refused.err
            assert "`ledger export --drop SESSION`" in refused.err
        assert "waiting" in self.repo.run("doctor", code=1).out
        assert (self.repo.checkpoint.read_bytes(), self.journal) == (checkpoint, journal)
        next_.unlink()

    def comes_with(self, *sessions: str) -> None:
        """What waits is exported here, by name, beside these."""
        assert self.repo.run("export").out == "wrote snapshots/ledger.json with waiting\n"
        assert self.exported() == self.seen() == {*sessions, "waiting"}
        assert self.repo.run("check").out.endswith("ok\n")
        assert not (self.repo.store / "journal.jsonl").exists()


@pytest.fixture
def clone(repo: Repo) -> Clone:
    return Clone(repo)


def test_a_checkout_of_a_branch_that_lacks_what_it_stands_on_and_back(clone: Clone) -> None:
    clone.own()
    kept = clone.waits()
    for words in (("checkout", "-q", "-b", "old", "HEAD~1"), ("checkout", "-q", "--detach", "main~1")):
        clone.git(*words)
        clone.is_refused()
    clone.git("switch", "-q", "main")
    assert clone.journal == kept
    assert clone.seen() == {"common", "own", "waiting"}
    clone.comes_with("common", "own")


def test_a_new_branch_from_here_takes_it_along_and_the_commit_there_names_it(clone: Clone, program: Path) -> None:
    clone.repo.run("install")
    clone.own()
    clone.waits()
    clone.git("checkout", "-q", "-b", "new")
    said = clone.git("commit", "--allow-empty", "-qm", "x", code=1)
    assert "wrote snapshots/ledger.json with waiting" in said
    assert clone.exported() == {"common", "own", "waiting"}


def test_a_hook_on_a_branch_where_it_does_not_fit_stops_the_commit(clone: Clone, program: Path) -> None:
    clone.repo.run("install")
    clone.own()
    kept = clone.waits()
    clone.git("checkout", "-q", "HEAD~1")
    said = clone.git("commit", "--allow-empty", "-qm", "x", code=1)
    assert f"waiting: {NOT_HERE}" in said
    assert clone.journal == kept


def test_a_checkout_of_the_file_alone(clone: Clone) -> None:
    clone.own()
    kept = clone.waits()
    clone.git("checkout", "-q", "HEAD~1", "--", "snapshots/ledger.json")
    clone.is_refused()
    clone.git("restore", "--staged", "--worktree", "snapshots/ledger.json")
    assert clone.journal == kept
    clone.comes_with("common", "own")


def test_a_reset_takes_away_what_it_stands_on(clone: Clone) -> None:
    clone.own()
    clone.waits()
    clone.git("reset", "-q", "--hard", "HEAD~1")
    clone.is_refused()
    assert clone.repo.run("export", "--carry").out == "wrote snapshots/ledger.json with waiting\n"
    assert clone.exported() == clone.seen() == {"common", "waiting"}


@pytest.mark.parametrize("own", [False, True], ids=["fast-forward", "merge"])
def test_a_pull_brings_others_sessions_beside_it(clone: Clone, own: bool) -> None:
    mine = ["own"] if own else []
    if own:
        clone.own()
    clone.pushed()
    kept = clone.waits()
    clone.git("pull", "-q", "--no-rebase", "--no-edit", *([] if own else ["--ff-only"]))
    assert clone.repo.git("rev-list", "--merges", "HEAD").count("\n") == own
    assert clone.journal == kept
    assert clone.seen() == {"common", "theirs", *mine, "waiting"}
    assert clone.exported() == {"common", "theirs", *mine}
    clone.comes_with("common", "theirs", *mine)


def test_a_pull_that_answers_its_question_lets_it_wait_until_somebody_decides(clone: Clone) -> None:
    clone.pushed(slot="of/waiting")
    kept = clone.waits()
    clone.git("pull", "-q", "--ff-only")
    assert clone.journal == kept
    clone.is_refused()
    refused = clone.repo.run("export", "--carry", code=1)
    assert (
        "theirs/d ('what theirs says') and waiting/d ('what waiting says') both hold in slot of/waiting" in refused.err
    )
    assert (clone.journal, clone.exported()) == (kept, {"common", "theirs"})
    clone.repo.run("export", "--drop", "waiting")
    apply(clone.repo, WAITING)  # now the slot orders itself
    assert clone.exported() == {"common", "theirs", "waiting"}
    assert clone.repo.run("check").out.endswith("ok\n")


def test_a_pull_that_stops_at_a_conflict_waits_for_resolve(clone: Clone) -> None:
    clone.own(slot="shared")
    clone.pushed(slot="shared")
    kept = clone.waits()
    clone.git("pull", "-q", "--no-rebase", "--no-edit", code=1)
    for words in (("as-of", "2024-06-01"), ("export",), ("session", "apply", clone.repo.write(session("next", 25)))):
        said = clone.repo.run(*words, code=3).err
        assert said.startswith("error: merge conflict in the checkpoint")
        assert "`ledger resolve`" in said
    assert clone.journal == kept
    clone.repo.run("resolve", "--keep", "ours", "--by", "sam", "--reason", "agreed")
    assert clone.journal == kept
    assert {"common", "own", "theirs", "waiting"} <= clone.seen()
    assert clone.repo.run("export").out == "wrote snapshots/ledger.json with waiting\n"


def test_a_pull_that_rebases(clone: Clone) -> None:
    clone.own()
    clone.pushed()
    kept = clone.waits()
    clone.git("pull", "-q", "--rebase")
    assert clone.journal == kept
    clone.comes_with("common", "own", "theirs")


def test_in_the_middle_of_a_rebase_it_waits_for_what_it_stands_on(clone: Clone) -> None:
    clone.own()
    clone.own("own2", 4)
    clone.pushed()
    kept = clone.waits()
    clone.git("fetch", "-q")
    editor = {**os.environ, "GIT_SEQUENCE_EDITOR": "sed -i 1s/pick/edit/"}
    words = ["git", "rebase", "-q", "-i", "origin/main"]
    subprocess.run(words, cwd=clone.repo.path, env=editor, check=True, capture_output=True)
    assert clone.exported() == {"common", "own", "theirs"}
    clone.is_refused()
    clone.git("rebase", "--continue")
    assert clone.journal == kept
    clone.comes_with("common", "own", "own2", "theirs")


def test_a_rebase_that_drops_what_it_stands_on(clone: Clone) -> None:
    clone.own()
    kept = clone.waits()
    clone.git("rebase", "-q", "--onto", "HEAD~1", "HEAD")
    assert clone.exported() == {"common"}
    clone.is_refused()
    clone.git("reset", "-q", "--hard", "ORIG_HEAD")
    assert clone.journal == kept
    clone.comes_with("common", "own")


@pytest.mark.parametrize("flags", [(), ("--include-untracked",)], ids=["tracked", "untracked"])
def test_a_stash_of_what_it_stands_on_and_back(clone: Clone, flags: tuple[str, ...]) -> None:
    apply(clone.repo, session("own", 3))  # exported, and in no commit
    kept = clone.waits()
    clone.git("stash", "push", "-q", *flags)
    assert clone.exported() == {"common"}
    clone.is_refused()
    clone.git("stash", "pop", "-q")
    assert clone.journal == kept
    clone.comes_with("common", "own")


def test_a_stash_that_does_not_concern_it(clone: Clone) -> None:
    kept = clone.waits()
    (clone.repo.path / ".gitignore").write_text("snapshots/.*\nmore\n")
    clone.git("stash", "push", "-q")
    assert clone.journal == kept
    assert clone.seen() == {"common", "waiting"}
    clone.git("stash", "pop", "-q")
    clone.comes_with("common")


def test_a_stash_of_ignored_files_takes_it_along_and_brings_it_back(clone: Clone) -> None:
    kept = clone.waits()
    clone.git("stash", "push", "-q", "--all")
    assert clone.exported() == {"common"}
    assert not clone.repo.store.exists()
    clone.git("stash", "pop", "-q")
    assert clone.journal == kept
    clone.comes_with("common")


def test_a_linked_worktree_has_its_own(clone: Clone) -> None:
    kept = clone.waits()
    tree = Repo(clone.repo.path.parent / "tree", clone.repo.capture)
    clone.git("worktree", "add", "-q", "-b", "tree", str(tree.path))
    assert tree.run("as-of", "2024-06-01", "--json").ids == ["common/d"]
    assert tree.run("export").out.endswith("is up to date\n")
    assert clone.journal == kept
    clone.comes_with("common")
