"""The pre-commit hook, by the real pre-commit: it exports, it checks what is staged, and it never touches the index."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Repo

pytestmark = pytest.mark.filterwarnings("default")


def install(folder: Path) -> None:
    (folder / ".pre-commit-config.yaml").write_bytes((ROOT / ".pre-commit-config.yaml").read_bytes())
    subprocess.run([sys.executable, "-m", "pre_commit", "install"], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def hooked(repo: Repo, program: Path) -> Repo:
    """A repository with this repository's own hooks, installed by the real pre-commit, and one commit."""
    install(repo.path)
    repo.git("add", "-A")
    assert commit(repo).returncode == 0  # before the first commit there is no base
    return repo


def commit(repo: Repo, *files: str, folder: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    command = ["git", "commit", "-m", "x", *files]
    return subprocess.run(
        command, cwd=folder or repo.path, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )


def tamper(path: Path, old: str = "text 1", new: str = "text 9") -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def said(done: subprocess.CompletedProcess[str]) -> str:
    return done.stdout + done.stderr


def session(n: int = 1) -> dict[str, object]:
    return {"session": f"s{n}", "at": f"2024-01-0{n}T09:00:00Z", "decisions": [{"text": f"text {n}"}]}


def test_a_commit_exports_what_was_applied_and_the_second_passes(hooked: Repo) -> None:
    hooked.apply(session(), flags=("--no-export",))
    hooked.git("add", "sessions")
    first = commit(hooked)
    assert first.returncode == 1
    assert "git add snapshots/ledger.json" in first.stdout + first.stderr
    assert hooked.git("diff", "--cached", "--name-only").split() == ["sessions/s001.json"]  # the index is as it was
    hooked.git("add", "snapshots/ledger.json")
    assert commit(hooked).returncode == 0
    assert hooked.git("status", "--porcelain") == ""


def test_a_second_commit_passes_even_without_what_the_first_said_to_add(hooked: Repo) -> None:
    """There is no loop: what was exported stands in the work tree, in no commit yet, and nothing of it is lost."""
    hooked.apply(session(), flags=("--no-export",))
    hooked.git("add", "sessions")
    assert commit(hooked).returncode == 1
    exported = hooked.checkpoint.read_bytes()
    done = commit(hooked)
    assert done.returncode == 0, said(done)
    assert hooked.checkpoint.read_bytes() == exported
    assert hooked.git("status", "--porcelain").split() == ["M", "snapshots/ledger.json"]
    hooked.git("add", "-A")
    assert commit(hooked).returncode == 0


def test_a_checkpoint_that_no_session_wrote_is_refused(hooked: Repo) -> None:
    hooked.apply(session())
    text = hooked.checkpoint.read_text().replace("text 1", "text 2 ").replace('", "valid', '","valid', 1)
    hooked.checkpoint.write_text(text)
    hooked.git("add", "-A")
    refused = commit(hooked)
    assert refused.returncode == 1
    assert "line 4" in refused.stdout + refused.stderr
    assert hooked.checkpoint.read_text() == text  # and not repaired in silence


def test_unstaged_edits_beside_staged_ones_stay(hooked: Repo) -> None:
    path = hooked.write(session(), name="a.json")
    hooked.run("session", "apply", path)
    hooked.git("add", "-A")
    path.write_text(path.read_text() + "\n")
    assert commit(hooked).returncode == 0
    assert hooked.git("status", "--porcelain").split() == ["M", "sessions/a.json"]


def test_rewritten_history_is_refused(hooked: Repo) -> None:
    hooked.apply(session())
    hooked.git("add", "-A")
    assert commit(hooked).returncode == 0
    tamper(hooked.checkpoint)
    hooked.git("add", "-A")
    index = hooked.git("ls-files", "-s")
    refused = commit(hooked)
    assert refused.returncode == 1
    assert "[rewritten]" in said(refused)
    assert hooked.git("ls-files", "-s") == index
    hooked.git("checkout", "-q", "HEAD", "--", "snapshots/ledger.json")
    assert hooked.git("status", "--porcelain") == ""


def test_the_staged_blob_is_checked_and_unstaged_edits_stay(hooked: Repo) -> None:
    hooked.apply(session())
    hooked.git("add", "-A")
    tamper(hooked.checkpoint, '"text": ', '"text":')  # not staged, and not canonical
    unstaged = hooked.checkpoint.read_bytes()
    done = commit(hooked)
    assert done.returncode == 0, said(done)
    assert hooked.checkpoint.read_bytes() == unstaged
    assert hooked.git("status", "--porcelain").split() == ["M", "snapshots/ledger.json"]


def test_half_a_session_staged_by_hand_is_refused_for_what_it_lacks(repo: Repo, program: Path) -> None:
    """`git add -p` takes the lines that somebody says yes to: a decision, and not what it rests on."""
    evidence = {"id": "e1", "kind": "message", "text": "it was said"}
    repo.apply(
        {"session": "s0", "at": "2024-01-01", "decisions": [{"text": str(n), "slot": f"m{n}"} for n in range(9)]}
    )
    repo.run("install")
    repo.git("add", "-A")
    assert commit(repo).returncode == 0
    two = [{"id": slot, "text": slot, "slot": slot, "from": "e1"} for slot in ("a", "z")]
    repo.apply({"session": "s1", "at": "2024-01-02", "episodes": [evidence], "decisions": two})
    whole = repo.checkpoint.read_bytes()
    words = ["git", "add", "-p", "snapshots/ledger.json"]
    subprocess.run(words, cwd=repo.path, input=b"n\ny\n", check=True, capture_output=True)
    index = repo.git("ls-files", "-s")
    refused = commit(repo)
    assert (refused.returncode, "e1" in said(refused), "[unknown-id]" in said(refused)) == (1, True, True)
    assert (repo.git("ls-files", "-s"), repo.checkpoint.read_bytes()) == (index, whole)
    repo.run("check")  # of which the work tree shows nothing
    repo.git("add", "-A")
    done = commit(repo)
    assert done.returncode == 0, said(done)


def test_committing_one_file_checks_what_that_commit_holds(hooked: Repo) -> None:
    hooked.apply(session())
    hooked.git("add", "-A")
    assert commit(hooked).returncode == 0
    hooked.apply(session(2))
    tamper(hooked.checkpoint)  # staged: the usual index holds a rewritten history
    hooked.git("add", "snapshots")
    other = hooked.path / "README"
    other.write_text("x")
    hooked.git("add", "--intent-to-add", "README")
    done = commit(hooked, "README")  # of which this commit takes nothing
    assert done.returncode == 0, said(done)
    assert "[rewritten]" in said(commit(hooked, "snapshots/ledger.json"))
    assert "[rewritten]" in said(commit(hooked))


def test_a_linked_worktree_with_a_detached_head(hooked: Repo) -> None:
    hooked.apply(session())
    hooked.git("add", "-A")
    assert commit(hooked).returncode == 0
    main = (hooked.path / ".git" / "index").read_bytes()
    tree = hooked.path.parent / "a tree"
    hooked.git("worktree", "add", "-q", "--detach", str(tree))
    checkpoint = tree / "snapshots" / "ledger.json"
    hooked.run("-C", tree, "session", "apply", hooked.write(session(2)), "--no-export")
    first = commit(hooked, "-a", folder=tree)
    assert (first.returncode, "git add snapshots/ledger.json" in said(first)) == (1, True)
    done = commit(hooked, "-a", folder=tree)
    assert done.returncode == 0, said(done)
    tamper(checkpoint)
    assert "[rewritten]" in said(commit(hooked, "-a", folder=tree))
    assert (hooked.path / ".git" / "index").read_bytes() == main
    assert "text 2" not in hooked.checkpoint.read_text()


def test_a_submodule(hooked: Repo, tmp_path: Path) -> None:
    hooked.apply(session())
    hooked.git("add", "-A")
    assert commit(hooked).returncode == 0
    outer = tmp_path / "outer"
    subprocess.run(["git", "init", "-q", str(outer)], check=True)
    add = ["-c", "protocol.file.allow=always", "submodule", "-q", "add", str(hooked.path), "sub"]
    subprocess.run(["git", *add], cwd=outer, check=True, capture_output=True)
    install(outer / "sub")
    tamper(outer / "sub" / "snapshots" / "ledger.json")
    assert "[rewritten]" in said(commit(hooked, "-a", folder=outer / "sub"))


@pytest.mark.parametrize("relative", [False, True], ids=["absolute", "relative"])
def test_git_dir_and_an_index_of_its_own(hooked: Repo, relative: bool) -> None:
    hooked.apply(session())
    hooked.git("add", "-A")
    assert commit(hooked).returncode == 0
    git = hooked.path / ".git"
    (git / "mine").write_bytes((git / "index").read_bytes())
    folder = Path(".git") if relative else git
    variables = {"GIT_DIR": str(folder), "GIT_INDEX_FILE": str(folder / "mine")}
    usual = (git / "index").read_bytes()
    tamper(hooked.checkpoint)
    subprocess.run(["git", "add", "-A"], cwd=hooked.path, env={**os.environ, **variables}, check=True)
    refused = commit(hooked, **variables)
    assert (refused.returncode, "[rewritten]" in said(refused)) == (1, True)
    assert (git / "index").read_bytes() == usual


def test_a_merge_has_all_its_parents_as_the_base(hooked: Repo) -> None:
    hooked.git("checkout", "-q", "-b", "theirs")
    hooked.apply(session(1))
    hooked.git("add", "-A")
    assert commit(hooked).returncode == 0
    hooked.git("checkout", "-q", "main")
    hooked.git("commit", "-qm", "x", "--allow-empty")
    hooked.git("merge", "-q", "--no-commit", "--no-ff", "-s", "ours", "theirs")
    refused = commit(hooked)
    assert (refused.returncode, "MERGE_HEAD" in said(refused)) == (1, True)


def test_nothing_outside_of_snapshots_is_written(hooked: Repo) -> None:
    def files() -> dict[str, tuple[int, bytes]]:
        found = (p for p in hooked.path.rglob("*") if p.is_file() and ".git" not in p.parts and ".store" not in p.parts)
        return {str(p): (p.stat().st_mtime_ns, p.read_bytes()) for p in found if "snapshots" not in p.parts}

    hooked.apply(session(), flags=("--no-export",))
    before, index = files(), hooked.git("ls-files", "-s")
    assert commit(hooked, "--allow-empty").returncode == 1
    assert (files(), hooked.git("ls-files", "-s")) == (before, index)


def test_the_hooks_others_take_are_the_ones_this_repository_runs() -> None:
    import yaml

    offered = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    own = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    for mine, theirs in zip(own, offered, strict=True):
        assert {k: mine[k] for k in ("id", "entry", "pass_filenames", "always_run")} == {
            k: theirs[k] for k in ("id", "entry", "pass_filenames", "always_run")
        }
