"""The pre-commit hook in its first form: it exports, it checks, and it never touches the index."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Repo

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def hooked(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository with this repository's own hooks, installed by the real pre-commit, and one commit."""
    tools = Path(sys.executable).parent
    assert (tools / "ledger").exists(), "install the package: pip install -e '.[dev]'"
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    (repo.path / ".pre-commit-config.yaml").write_bytes((ROOT / ".pre-commit-config.yaml").read_bytes())
    subprocess.run([sys.executable, "-m", "pre_commit", "install"], cwd=repo.path, check=True, capture_output=True)
    repo.git("add", "-A")
    assert commit(repo).returncode == 0
    return repo


def commit(repo: Repo) -> subprocess.CompletedProcess[str]:
    command = ["git", "commit", "-m", "x"]
    return subprocess.run(command, cwd=repo.path, capture_output=True, text=True, check=False)


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


def test_the_hooks_others_take_are_the_ones_this_repository_runs() -> None:
    import yaml

    offered = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    own = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    for mine, theirs in zip(own, offered, strict=True):
        assert {k: mine[k] for k in ("id", "entry", "pass_filenames", "always_run")} == {
            k: theirs[k] for k in ("id", "entry", "pass_filenames", "always_run")
        }
