"""Set a ledger up in its repository: attributes, drivers, the hook. What is somebody else's stays as it is."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ledger_cli.durable import CannotWrite
from ledger_cli.gitrepo import GitRepo, add
from ledger_cli.ledger import FOLDER, Ledger

HOOKS = ("ledger-export", "ledger-check")
OLD_ATTRIBUTES = f"{FOLDER}/ledger.json text eol=lf"
ATTRIBUTES = f"{OLD_ATTRIBUTES} merge=ledger diff=ledger"
SETTINGS = {
    "merge.ledger.name": "ledger: merge by entry",
    "merge.ledger.driver": "ledger merge-driver %O %A %B %P",
    "diff.ledger.textconv": "ledger textconv",
}
MARK = "# Written by `ledger install`."


class Done(NamedTuple):
    """One thing that was to be set up. `hint`: what is left to somebody, where something is."""

    name: str
    message: str
    hint: str = ""


def install(ledger: Ledger) -> list[Done]:
    """Set up what is missing, and say of each thing what became of it. Idempotent.

    Raises NoRepository, GitMissing and CannotWrite; what was set up before stays.
    """
    repo = GitRepo.of(ledger.root)
    try:
        return [_attributes(ledger.root), *_settings(repo), _hook(repo, ledger)]
    except OSError as fault:
        hint = "what is set up already stays; `ledger install` again does the rest"
        raise CannotWrite(f"cannot write {fault.filename}: {fault.strerror or fault}", hint) from fault


def _attributes(root: Path) -> Done:
    path = root / ".gitattributes"
    data = path.read_bytes() if path.exists() else b""
    lines = data.splitlines(keepends=True)
    if any(line.rstrip() == ATTRIBUTES.encode() for line in lines):
        return Done("attributes", f".gitattributes has them: {ATTRIBUTES}")
    end = b"\r\n" if b"\r\n" in data else b"\n"
    for n, line in enumerate(lines):
        if line.rstrip() == OLD_ATTRIBUTES.encode():  # what `init` wrote
            lines[n] = ATTRIBUTES.encode() + line[len(line.rstrip(b"\r\n")) :]
            break
    else:
        if lines and not lines[-1].endswith(b"\n"):
            lines[-1] += end
        lines.append(ATTRIBUTES.encode() + end)
    path.write_bytes(b"".join(lines))
    return Done("attributes", f"wrote .gitattributes: {ATTRIBUTES}", add(path))


def _settings(repo: GitRepo) -> Iterator[Done]:
    for name, value in SETTINGS.items():
        if repo.setting(name) != value:
            repo.set(name, value)
            yield Done(name, f"set to `{value}`")
        else:
            yield Done(name, f"is `{value}`")


def _hook(repo: GitRepo, ledger: Ledger) -> Done:
    config = repo.root / ".pre-commit-config.yaml"
    if config.is_file():
        return _through_pre_commit(repo, config)
    path, wanted = repo.hooks_path() / "pre-commit", script(repo, ledger)
    shown = os.path.relpath(path, repo.root)
    there = path.read_text(encoding="utf-8", errors="replace") if path.exists() else None
    if there is not None and MARK not in there:
        if runs_both(there):
            return Done("hook", f"{shown} runs both commands")
        line = wanted.strip().splitlines()[-1]
        return Done("hook", f"{shown} is somebody else's, and is left as it is", f"add to it: {line}")
    if not _is_own(repo, path):
        message = f"hooks are kept in {path.parent} (core.hooksPath), for other repositories too"
        return Done("hook", message, f"add to its pre-commit: {wanted.strip().splitlines()[-1]}")
    if there == wanted and os.access(path, os.X_OK):
        return Done("hook", f"{shown} exports and checks")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(wanted, encoding="utf-8", newline="\n")
    path.chmod(0o755)
    return Done("hook", f"wrote {shown}")


def script(repo: GitRepo, ledger: Ledger) -> str:
    """The hook where there is no pre-commit. Git starts it at the top of the work tree."""
    where = os.path.relpath(os.path.realpath(ledger.root), os.path.realpath(repo.root))
    program = "ledger" if where == "." else f"ledger -C {shlex.quote(where)}"
    return f"#!/bin/sh\n{MARK}\n{program} export --hook && {program} check --staged\n"


def runs_both(hook: str) -> bool:
    """Does a hook run both commands, comments aside?"""
    told = "\n".join(line for line in hook.splitlines() if not line.lstrip().startswith("#"))
    return all(re.search(rf"\bledger\b.* {word}", told) for word in ("export --hook", "check --staged"))


def missing_hooks(config: str) -> list[str]:
    """The hooks that the text of a pre-commit configuration lacks; commented ones do not count."""
    told = re.sub(r"(?m)(?:^|(?<=\s))#.*", "", config)
    found = set(re.findall(r"""\bid["']?\s*:\s*["']?([\w.-]+)""", told))
    return [hook for hook in HOOKS if hook not in found]


def _through_pre_commit(repo: GitRepo, config: Path) -> Done:
    if missing := missing_hooks(config.read_text(encoding="utf-8", errors="replace")):
        message = "this repository uses pre-commit, and its hooks do not run the ledger's"
        return Done("hook", message, add_hooks(missing))
    path = repo.hooks_path() / "pre-commit"
    if path.exists() and "pre-commit" in path.read_text(encoding="utf-8", errors="replace"):
        return Done("hook", "pre-commit runs the ledger's hooks")
    for command in (["pre-commit"], [sys.executable, "-m", "pre_commit"]):
        try:
            done = subprocess.run([*command, "install"], cwd=repo.root, capture_output=True, text=True, check=False)
        except OSError:
            continue
        if done.returncode == 0:
            return Done("hook", "pre-commit is installed, and runs the ledger's hooks")
    return Done("hook", "the hooks are configured, but pre-commit is not installed", "pre-commit install")


def add_hooks(missing: list[str]) -> str:
    """What to do about hooks that a configuration lacks."""
    return f"add {' and '.join(missing)} to the hooks in .pre-commit-config.yaml (see README)"


def _is_own(repo: GitRepo, path: Path) -> bool:
    """Are the hooks kept in this repository?"""
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(os.path.realpath(own)) for own in (repo.root, repo.git_dir()))
