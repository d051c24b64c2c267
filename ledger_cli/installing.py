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

from ledger_cli import durable
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
    """One thing that was to be set up. `hint`: what is left to somebody, where something is; `ok`: it counts."""

    name: str
    message: str
    hint: str = ""
    ok: bool = True


def _left(name: str, message: str, hint: str) -> Done:
    return Done(name, message, hint, ok=False)


def install(ledger: Ledger) -> list[Done]:
    """Set up what is missing, and say of each thing what became of it. Idempotent.

    Raises NoRepository, GitMissing and CannotWrite; what was set up before stays.
    """
    repo = GitRepo.of(ledger.root)
    try:
        return [_attributes(repo, ledger), *_settings(repo), _hook(repo, ledger)]
    except OSError as fault:
        hint = "what is set up already stays; `ledger install` again does the rest"
        raise CannotWrite(f"cannot write {fault.filename}: {fault.strerror or fault}", hint) from fault


def _attributes(repo: GitRepo, ledger: Ledger) -> Done:
    path, checkpoint = ledger.root / ".gitattributes", ledger.database.checkpoint
    data = path.read_bytes() if path.exists() else b""
    for last in (False, True):  # a later line may have taken them back: then ours has to be the last
        wanted = _with_attributes(data, last=last)
        if wanted != data:
            path.write_bytes(wanted)
        if has_attributes(repo, checkpoint):
            if wanted == data:
                return Done("attributes", f".gitattributes has them: {ATTRIBUTES}")
            return Done("attributes", f"wrote .gitattributes: {ATTRIBUTES}", add(path))
    name = repo.inside(checkpoint)
    hint = f"take back what says otherwise of {name}, in a .gitattributes nearer to it or in .git/info/attributes"
    return _left("attributes", f"the line of .gitattributes does not count for {name}: {ATTRIBUTES}", hint)


def _with_attributes(data: bytes, *, last: bool) -> bytes:
    """A `.gitattributes` with our line: where it, or the one of `init`, stands, or as the last. The rest stays."""
    own = (ATTRIBUTES.encode(), OLD_ATTRIBUTES.encode())
    lines, end = data.splitlines(keepends=True), b"\r\n" if b"\r\n" in data else b"\n"
    found = [n for n, line in enumerate(lines) if line.rstrip() in own]
    if found and not last:
        lines[found[-1]] = own[0] + lines[found[-1]][len(lines[found[-1]].rstrip(b"\r\n")) :]
        return b"".join(lines)
    kept = [line for line in lines if line.rstrip() not in own]
    if kept and not kept[-1].endswith(b"\n"):
        kept[-1] += end
    return b"".join([*kept, own[0] + end])


def has_attributes(repo: GitRepo, checkpoint: Path) -> bool:
    """Has the checkpoint the attributes, by whatever line? Where it is a link, git merges the file behind it."""
    real = Path(os.path.realpath(checkpoint))
    wanted = {"eol": "lf", "merge": "ledger", "diff": "ledger"}
    return all(repo.attribute(real, name) == value for name, value in wanted.items())


def _settings(repo: GitRepo) -> Iterator[Done]:
    for name, value in SETTINGS.items():
        if repo.setting(name) == value:
            yield Done(name, f"is `{value}`")
            continue
        repo.set(name, value)
        if (counts := repo.setting(name)) == value:
            yield Done(name, f"set to `{value}`")
        else:
            yield _left(name, f"set, but what counts is `{counts}`", f"git config --show-origin --get-all {name}")


def _hook(repo: GitRepo, ledger: Ledger) -> Done:
    where, config = folder(repo, ledger), repo.root / ".pre-commit-config.yaml"
    if config.is_file():
        return _through_pre_commit(repo, config, where)
    path = repo.hooks_path() / "pre-commit"
    shown = os.path.relpath(path, repo.root)
    there = path.read_bytes().decode(errors="surrogateescape") if path.exists() else None
    if there is not None and MARK not in there:
        if runs_both(there, where):
            return Done("hook", f"{shown} runs both commands")
        return _left("hook", f"{shown} is somebody else's, and is left as it is", f"add to it: {command(where)}")
    if not _is_own(repo, path):
        message = f"hooks are kept in {path.parent} (core.hooksPath), for other repositories too"
        return _left("hook", message, f"add to its pre-commit: {command(where)}")
    if there is not None and runs_both(there, where) and os.access(path, os.X_OK):
        return Done("hook", f"{shown} exports and checks")
    path.parent.mkdir(parents=True, exist_ok=True)
    temp = durable.write_temp(path, script(there, where).encode(errors="surrogateescape"))
    temp.chmod(0o755)
    durable.replace(temp, path)
    return Done("hook", f"wrote {shown}")


def folder(repo: GitRepo, ledger: Ledger) -> str:
    """The ledger's folder from the top of the work tree, where git starts its hooks; `.` for the top itself."""
    return os.path.relpath(os.path.realpath(ledger.root), os.path.realpath(repo.root))


def command(where: str) -> str:
    """The line of a hook for the ledger in that folder: it ends the hook where the commit has to stop."""
    if where == ".":
        return "ledger export --hook && ledger check --staged || exit 1"
    name = shlex.quote(where)
    both = f"ledger -C {name} export --hook && ledger -C {name} check --staged"
    return f"test ! -d {name} || {{ {both}; }} || exit 1"  # a branch need not have the folder


def script(there: str | None, where: str) -> str:
    """Our hook with a line for this ledger. What else stands in it stays, of another ledger or of whoever."""
    if there is None:
        return f"#!/bin/sh\n{MARK}\n{command(where)}\n"
    return there if runs_both(there, where) else there.replace(MARK, f"{MARK}\n{command(where)}", 1)


def runs_both(hook: str, where: str) -> bool:
    """Does a hook run both commands for the ledger in that folder, comments aside?"""
    told = "\n".join(line for line in hook.splitlines() if not line.lstrip().startswith("#"))
    options = r"\s+" if where == "." else r"\b.*\s"
    named = where == "." or where in told or shlex.quote(where) in told
    words = ("export --hook", "check --staged")
    return named and all(re.search(rf"""\bledger(-cli)?["']?{options}{word}""", told) for word in words)


def runs_pre_commit(hook: str) -> bool:
    """Does a hook run pre-commit (or prek, which reads the same file), comments aside?"""
    told = "\n".join(line for line in hook.splitlines() if not line.lstrip().startswith("#"))
    return re.search(r"\bhook-impl\b|\b(pre[-_]commit|prek)\b.*\brun\b", told) is not None


def missing_hooks(config: str) -> list[str]:
    """The hooks that the text of a pre-commit configuration lacks; commented ones do not count."""
    told = re.sub(r"(?m)(?:^|(?<=\s))#.*", "", config)
    found = set(re.findall(r"""\bid["']?\s*:\s*["']?([\w.-]+)""", told))
    return [hook for hook in HOOKS if hook not in found]


def _through_pre_commit(repo: GitRepo, config: Path, where: str) -> Done:
    if hint := lacking(config, where):
        return _left("hook", "this repository uses pre-commit, and its hooks do not run the ledger's", hint)
    path = repo.hooks_path() / "pre-commit"
    if path.exists() and runs_pre_commit(path.read_text(encoding="utf-8", errors="replace")):
        return Done("hook", "pre-commit runs the ledger's hooks")
    for program in (["pre-commit"], [sys.executable, "-m", "pre_commit"]):
        try:
            done = subprocess.run([*program, "install"], cwd=repo.root, capture_output=True, check=False)
        except OSError:
            continue
        if done.returncode == 0:
            return Done("hook", "pre-commit is installed, and runs the ledger's hooks")
        said = (done.stdout + done.stderr).decode(errors="replace").strip().splitlines()
        if said and "No module named" not in said[-1]:
            hint = next(
                (line.partition("hint: ")[2] for line in said if line.startswith("hint: ")), "pre-commit install"
            )
            return _left("hook", f"the hooks are configured, but pre-commit says: {said[0]}", hint)
    return _left("hook", "the hooks are configured, but pre-commit is not installed", "pre-commit install")


def lacking(config: Path, where: str) -> str:
    """What is to be done to a pre-commit configuration until it runs the hooks of this ledger; nothing: empty."""
    told = config.read_text(encoding="utf-8", errors="replace")
    if missing := missing_hooks(told):
        return add_hooks(missing)
    if where == "." or runs_both(told, where):
        return ""
    program = f"ledger -C {shlex.quote(where)}"  # pre-commit starts its hooks at the top
    return f"give ledger-export `entry: {program} export --hook`, and ledger-check `entry: {program} check --staged`"


def add_hooks(missing: list[str]) -> str:
    """What to do about hooks that a configuration lacks."""
    return f"add {' and '.join(missing)} to the hooks in .pre-commit-config.yaml (see README)"


def _is_own(repo: GitRepo, path: Path) -> bool:
    """Are the hooks kept in this repository?"""
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(os.path.realpath(own)) for own in (repo.root, repo.git_dir()))
