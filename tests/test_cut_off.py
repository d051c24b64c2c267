"""The tests themselves: whatever the machine or its user set, they see none of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT, Repo

HOSTILE = """
[user]
    name = Somebody Else
    useConfigOnly = true
[init]
    defaultBranch = trunk
    templateDir = {folder}/template
[core]
    autocrlf = true
    hooksPath = {folder}/hooks
    attributesFile = {folder}/attributes
    excludesFile = {folder}/ignore
    quotePath = false
    pager = false
[commit]
    gpgSign = true
[tag]
    gpgSign = true
[merge]
    conflictStyle = zdiff3
    ff = only
[merge "ledger"]
    driver = false
[diff "ledger"]
    textconv = false
[pull]
    rebase = true
[status]
    short = true
[color]
    ui = always
[log]
    showSignature = true
[safe]
    directory =
"""


def hostile(folder: Path) -> dict[str, str]:
    """An environment with settings that would break the tests, in every place where git and the tools look."""
    (folder / "bin").mkdir(parents=True)
    for name in ("hooks", "template/hooks"):
        hook = folder / name / "pre-commit"
        hook.parent.mkdir(parents=True)
        hook.write_text("#!/bin/sh\nexit 1\n")
        hook.chmod(0o755)
    (folder / "attributes").write_text("* merge=union -text\n")
    (folder / "ignore").write_text("snapshots/\n")
    settings = HOSTILE.format(folder=folder)
    for name in (".gitconfig", ".config/git/config", "system"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(settings)
    # A git whose own settings, those of the machine, are hostile as well.
    found = next(p for d in os.environ["PATH"].split(os.pathsep) if (p := Path(d) / "git").is_file())
    git = folder / "bin" / "git"
    git.write_text(f'#!/bin/sh\nGIT_CONFIG_SYSTEM="{folder}/system" exec "{found}" "$@"\n')
    git.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "PATH": f"{git.parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / ".config"),
        "GIT_DIR": str(folder / "nowhere"),
        "GIT_INDEX_FILE": str(folder / "no-index"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.bare",
        "GIT_CONFIG_VALUE_0": "true",
        "GIT_AUTHOR_DATE": "nonsense",
        "LEDGER_ENGINE": "nonsense",
        "SKIP": "ledger-export,ledger-check",
    }


def test_no_setting_of_the_machine_or_its_user_reaches_a_test(tmp_path: Path) -> None:
    environment = hostile(tmp_path / "hostile")
    asked = ["git", "config", "--get-all", "init.defaultBranch"]
    set_there = subprocess.run(asked, env=environment, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert set_there.split() == ["trunk"] * 3
    tests = (
        "test_hook.py::test_rewritten_history_is_refused",
        "test_cut_off.py::test_git_knows_no_setting_but_its_own",
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(f"{ROOT}/tests/{test}" for test in tests)],
        cwd=ROOT,
        env=environment | {"PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_git_knows_no_setting_but_its_own(repo: Repo) -> None:
    origins = {line.split("\t")[0] for line in repo.git("config", "--list", "--show-origin").splitlines()}
    assert origins == {"file:.git/config"}
    assert repo.git("status", "--porcelain", "--ignored=no").split()[::2] == ["??"] * 3
