"""Git as it is met: missing, wary of the owner, bare, shallow, told where it is; and folders with any name."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Repo

Process = Callable[..., "subprocess.CompletedProcess[str]"]

NEED_GIT = [("install",), ("check", "--staged"), ("check", "--base", "HEAD"), ("diff", "--rev", "HEAD")]
NEED_NONE = [
    ("init",),
    ("export", "--hook"),
    ("resolve",),
    ("check",),
    ("rebuild",),
    ("as-of", "2024-03-01"),
    ("session", "list"),
    ("textconv", "snapshots/ledger.json"),
    ("reject", "d8", "--by", "sam", "--reason", "wrong", "--at", "2024-05-01"),
]


def told(words: tuple[str, ...]) -> str:
    return " ".join(words)


def decided(session: str, *items: dict[str, Any], day: int = 1) -> dict[str, Any]:
    return {"session": session, "at": f"2024-05-{day:02}T09:00:00Z", "decisions": list(items)}


def git(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **variables}
    return subprocess.run(["git", *words], cwd=folder, env=env, capture_output=True, text=True, check=False)


def examined(repo: Repo, *options: str) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in repo.run(*options, "doctor", "--json", code=None).json["checks"]}


def tamper(repo: Repo) -> None:
    text = repo.checkpoint.read_text(encoding="utf-8")
    repo.checkpoint.write_text(text.replace("orders uses postgres", "orders uses sqlite"), encoding="utf-8")


@pytest.fixture
def kept(story: Repo) -> Repo:
    """The orders story, committed."""
    story.git("add", "-A")
    story.git("commit", "-qm", "The story")
    return story


# A machine without git, or with one that will not


@pytest.mark.parametrize("words", NEED_GIT, ids=told)
def test_what_needs_git_says_that_it_is_missing(
    kept: Repo, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    said = kept.run(*words, code=1)
    assert (said.out, said.err) == (
        "",
        "error: git is not installed\n  hint: install git: the checkpoint is made to be reviewed with it\n",
    )


def test_doctor_names_a_missing_git_beside_all_else(kept: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    found = examined(kept)
    assert [name for name, check in found.items() if not check["ok"]] == ["git"]
    assert found["git"]["message"] == "git is not installed"


@pytest.mark.parametrize("words", NEED_NONE, ids=told)
def test_what_needs_no_git_works_without(kept: Repo, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    kept.run(*words)


@pytest.mark.parametrize("program", ["#!/nonexistent\n", "no program"], ids=["no interpreter", "no program"])
def test_a_git_that_does_not_run_is_named(
    kept: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ledger_process: Process, program: str
) -> None:
    broken = tmp_path / "broken" / "git"
    broken.parent.mkdir()
    broken.write_text(program)
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(broken.parent))
    sentence = f"error: {broken} does not run\n  hint: "
    assert kept.run("check", "--staged", code=1).err.startswith(sentence)
    started = ledger_process("check", "--staged", cwd=kept.path)  # where nothing has asked git before
    assert (started.returncode, started.stdout) == (1, "")
    assert started.stderr.startswith(sentence)


@pytest.mark.parametrize("words", NEED_GIT, ids=told)
def test_where_git_is_wary_of_the_owner_its_own_sentence_is_passed_on(
    kept: Repo, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    said = kept.run(*words, code=1)
    assert said.err.startswith("error: git says: fatal: detected dubious ownership in repository at ")
    assert f"  hint: git config --global --add safe.directory {kept.path}" in said.err
    assert examined(kept)["git"]["hint"].startswith("git config --global --add safe.directory ")
