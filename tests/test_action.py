"""The GitHub Action: what it runs, on a merge result, with a stand-in for GitHub's own program."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT, Repo

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
WORKFLOW = yaml.load((ROOT / ".github" / "workflows" / "ledger.yml").read_text(encoding="utf-8"), yaml.BaseLoader)
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}

GH = """#!/bin/sh
# A stand-in: lists $GH_OLD, and keeps what it is called with.
printf '%s\\n' "$*" >> "$GH_LOG"
case "$*" in
  *--paginate*) printf '%s' "$GH_OLD" ;;
  *) [ -z "$GH_FAILS" ] ;;
esac
"""


@pytest.fixture
def merged(story: Repo, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A checked-out merge result, and a runner's folder with the program installed."""
    story.git("add", "-A")
    story.git("commit", "-qm", "base")
    story.git("tag", "base")
    bin_ = tmp_path / "runner" / "ledger" / "bin"
    bin_.mkdir(parents=True)
    (bin_ / "ledger").symlink_to(program)
    (program.parent / "gh").write_text(GH)
    (program.parent / "gh").chmod(0o755)
    for name, value in {
        "BASE": "base", "FOLDER": ".", "NUMBER": "7", "GITHUB_REPOSITORY": "o/r", "GITHUB_ACTION_PATH": str(ROOT),
        "RUNNER_TEMP": str(tmp_path / "runner"), "GH_LOG": str(tmp_path / "log"), "GH_OLD": "", "GH_FAILS": "",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    return story


def bring(repo: Repo) -> None:
    repo.apply({"session": "more", "at": "2024-05-01", "decisions": [{"id": "m", "text": "in words"}]})
    repo.git("add", "-A")
    repo.git("commit", "-qm", "more")


def step(repo: Repo, name: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", "-euo", "pipefail", "-c", STEPS[name]["run"]]
    environment = {**os.environ, **variables}
    return subprocess.run(command, cwd=repo.path, env=environment, capture_output=True, text=True, check=False)


def calls(tmp_path: Path) -> list[str]:
    return (tmp_path / "log").read_text().splitlines()


def test_the_first_comment_is_written_and_then_updated(merged: Repo, tmp_path: Path) -> None:
    bring(merged)
    done = step(merged, "Say what the pull request brings")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    body = tmp_path / "runner" / "ledger-comment.md"
    assert "**m** decides: “in words”" in body.read_text()
    asked, written = calls(tmp_path)
    assert '.user.type == "Bot" and (.body | startswith("<!-- ledger diff -->"))' in asked
    assert written == f"api --silent -X POST repos/o/r/issues/7/comments -F body=@{body}"
    step(merged, "Say what the pull request brings", GH_OLD="41\n42\n")
    assert calls(tmp_path)[-1] == f"api --silent -X PATCH repos/o/r/issues/comments/41 -F body=@{body}"


def test_where_nothing_changed_there_is_no_new_comment(merged: Repo, tmp_path: Path) -> None:
    assert step(merged, "Say what the pull request brings").returncode == 0
    assert len(calls(tmp_path)) == 1


def test_a_comment_that_cannot_be_written_is_a_warning(merged: Repo) -> None:
    bring(merged)
    done = step(merged, "Say what the pull request brings", GH_FAILS="yes")
    assert (done.returncode, done.stdout.startswith("::warning title=ledger::")) == (0, True)


def test_the_check_fails_on_rewritten_history(merged: Repo) -> None:
    bring(merged)
    assert step(merged, "Check the merge result").returncode == 0
    merged.checkpoint.write_text(merged.checkpoint.read_text().replace("orders uses postgres", "orders uses sqlite"))
    merged.git("commit", "-qam", "rewritten")
    done = step(merged, "Check the merge result")
    assert done.returncode == 3
    assert done.stdout.startswith("::error file=snapshots/ledger.json,line=")


def test_a_checkpoint_that_is_a_link_shows_nothing_of_the_machine(merged: Repo, tmp_path: Path) -> None:
    """Blobs are read, not files: a pull request could point anywhere."""
    secret = tmp_path / "secret"
    secret.write_text("hunter2\n")
    for target in (secret, Path("../secret")):
        merged.checkpoint.unlink()
        merged.checkpoint.symlink_to(target)
        merged.git("add", "-A")
        merged.git("commit", "-qm", "link")
        said = step(merged, "Say what the pull request brings")
        check = step(merged, "Check the merge result")
        assert check.returncode == 3, check.stderr
        assert "the checkpoint is removed" in check.stdout
        body = (tmp_path / "runner" / "ledger-comment.md").read_text()
        assert "the checkpoint is removed" in body
        assert "hunter2" not in said.stdout + said.stderr + check.stdout + check.stderr + body


def test_the_base_is_what_the_merge_result_stands_on(merged: Repo, tmp_path: Path) -> None:
    """Of an older one, the comment would give the pull request what others brought in the meantime."""

    def base(given: str = "") -> str:
        out = tmp_path / "output"
        out.write_text("")
        done = step(merged, "Find the base", GIVEN=given, EVENT="e" * 40, ROOT=".", GITHUB_OUTPUT=str(out))
        assert done.returncode == 0, done.stderr
        return out.read_text().removeprefix("commit=").rstrip()

    merged.git("checkout", "-qb", "topic")
    bring(merged)
    assert base() == "e" * 40  # no merge result
    merged.git("checkout", "-q", "main")
    merged.git("commit", "-q", "--allow-empty", "-m", "newer than the event")
    merged.git("merge", "-q", "--no-edit", "topic")
    assert base() == merged.git("rev-parse", "HEAD^1").strip()
    assert base(given="base") == "base"


def test_a_folder_that_is_a_link_out_of_the_checkout_is_refused(merged: Repo, tmp_path: Path) -> None:
    """Else the pull request could have another repository checked in its place."""
    inside, outside = merged.path / "inside", merged.path / "outside"
    inside.mkdir()
    outside.symlink_to(tmp_path)
    for folder, code in ((".", 0), ("inside", 0), ("outside", 3), ("inside/../..", 3), ("none/at/all", 3)):
        assert step(merged, "Stay in the checkout", ROOT=".", FOLDER=f"./{folder}").returncode in (code, code and 1)


def test_no_code_of_the_pull_request_is_run() -> None:
    assert "pull_request_target" in WORKFLOW["on"]
    assert WORKFLOW["permissions"] == {"contents": "read", "pull-requests": "write"}
    own, merge, action = WORKFLOW["jobs"]["ledger"]["steps"]
    assert "ref" not in own["with"]
    assert (merge["with"]["path"], action["uses"]) == ("merged", "./action")
    assert all(checkout["with"]["persist-credentials"] == "false" for checkout in (own, merge))
    for one in STEPS.values():
        assert "${{" not in one["run"]  # what others write reaches a script as a variable, never as its text
        assert one["shell"] == "bash"


def test_what_the_scripts_read_is_given() -> None:
    inputs: dict[str, Any] = ACTION["inputs"]
    assert all(one["description"] and "default" in one for one in inputs.values())
    used = json.dumps(ACTION["runs"])
    assert all(f"inputs.{name}" in used for name in inputs)


def test_a_pull_request_that_removes_the_ledger(merged: Repo, tmp_path: Path) -> None:
    merged.git("rm", "-q", "snapshots/ledger.json")
    merged.git("commit", "-qm", "removed")
    assert step(merged, "Say what the pull request brings").returncode == 0
    assert "the checkpoint is removed" in (tmp_path / "runner" / "ledger-comment.md").read_text()
    check = step(merged, "Check the merge result")
    assert (check.returncode, "the checkpoint is removed" in check.stdout) == (3, True)


@pytest.mark.parametrize("damage", ['{"ledger": 7}\n', '{\n"ledger": 1,\n"slot a": [', ""])
def test_what_cannot_be_read_is_left_to_the_check(merged: Repo, tmp_path: Path, damage: str) -> None:
    merged.checkpoint.write_text(damage)
    merged.git("commit", "-qam", "damaged")
    done = step(merged, "Say what the pull request brings")
    assert (done.returncode, done.stdout.startswith("::warning title=ledger::there is no comment")) == (0, True)
    assert not (tmp_path / "log").exists()  # what an earlier run wrote stays
    check = step(merged, "Check the merge result")
    assert (check.returncode, check.stdout.startswith("::error file=snapshots/ledger.json")) == (3, True)


def test_where_nothing_changed_but_the_bytes_there_is_a_comment(merged: Repo, tmp_path: Path) -> None:
    merged.checkpoint.write_bytes(b"\xef\xbb\xbf" + merged.checkpoint.read_bytes())
    merged.git("commit", "-qam", "reformatted")
    assert step(merged, "Say what the pull request brings").returncode == 0
    assert "❌" in (tmp_path / "runner" / "ledger-comment.md").read_text()
    assert "-X POST" in calls(tmp_path)[-1]
