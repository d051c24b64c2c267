"""What is set up around a ledger and what is not, each with the one command that mends it."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ledger_cli import checkpoint, installing
from ledger_cli.errors import LedgerError
from ledger_cli.gitrepo import GitRepo, add
from ledger_cli.ledger import FOLDER, Ledger
from ledger_cli.store import engine as engines


@dataclass(frozen=True)
class Examined:
    """One thing looked at."""

    name: str
    ok: bool
    message: str
    hint: str = ""


def examine(ledger: Ledger) -> list[Examined]:
    """Everything, in the order in which it would be mended. Writes nothing."""
    found: list[Examined] = []
    for look in (_checkpoint, _journal, _store, _engine, _git):
        found += _safely(look, ledger)
    return found


def _safely(look: Callable[[Ledger], Iterator[Examined]], ledger: Ledger) -> list[Examined]:
    try:
        return list(look(ledger))
    except LedgerError as fault:
        return [Examined(look.__name__.strip("_"), False, fault.message, fault.hint)]


def _checkpoint(ledger: Ledger) -> Iterator[Examined]:
    found = ledger.check()
    errors = [f for f in found.findings if f.severity == "error"]
    if errors:
        count = "1 problem" if len(errors) == 1 else f"{len(errors)} problems; the first"
        hint = "ledger resolve" if errors[0].code == "conflict-marker" else "ledger check"
        yield Examined("checkpoint", False, f"{count}: {errors[0].message}", hint)
    else:
        size = ledger.database.checkpoint.stat().st_size
        yield Examined("checkpoint", True, f"{FOLDER}/ledger.json, {size:,} bytes, nothing wrong with it")


def _journal(ledger: Ledger) -> Iterator[Examined]:
    aside = ledger.database.aside()
    if aside:
        names = ", ".join(aside)
        message = f"{names}: applied but never exported, on a checkpoint that is not the one here"
        yield Examined("journal", False, message, "ledger export --carry, or ledger export --drop SESSION")
    elif waiting := ledger.database.pending():
        names = ", ".join(waiting)
        yield Examined("journal", False, f"applied, waiting to be exported: {names}", "ledger export")
    else:
        yield Examined("journal", True, "nothing waits to be exported")


def _store(ledger: Ledger) -> Iterator[Examined]:
    if ledger.database.is_fresh():
        yield Examined("store", True, "equals the checkpoint")
    else:
        yield Examined("store", True, "missing or behind; the next command rebuilds it")


def _engine(ledger: Ledger) -> Iterator[Examined]:
    name = ledger.database.engine_name
    yield Examined("engine", True, engines.get(name).version)
    try:  # the package of the engine: what is called relate on the registry is another library
        installed = f"relate-db {version('relate-db')} is installed"
    except PackageNotFoundError:
        installed = "not installed"
    message = f"{installed}; the adapter for relate (package relate-db) has not been run against the engine yet"
    yield Examined("relate", True, message)


def _git(ledger: Ledger) -> Iterator[Examined]:
    repo = GitRepo.of(ledger.root)
    yield Examined("git", True, f"in the repository {repo.root}")
    checkpoint = ledger.database.checkpoint
    store = ledger.database.generations.folder
    if repo.ignores(store / "current.json"):
        yield Examined("ignored", True, f"{FOLDER}/.store/ is ignored by git")
    else:
        yield Examined("ignored", False, f"{FOLDER}/.store/ is not ignored by git", "ledger init")
    if repo.ignores(checkpoint):
        yield Examined("tracked", False, f"{FOLDER}/ledger.json is ignored by git", "take it out of .gitignore")
    elif repo.tracks(checkpoint):
        yield Examined("tracked", True, f"{FOLDER}/ledger.json is tracked")
    else:
        yield Examined("tracked", False, f"{FOLDER}/ledger.json is not tracked", add(checkpoint))
    yield _attributes(repo, checkpoint)
    yield _merge_driver(repo)
    yield _textconv(repo, checkpoint)
    yield _hook(repo, ledger)


def _attributes(repo: GitRepo, checkpoint: Path) -> Examined:
    checkpoint = Path(os.path.realpath(checkpoint))  # git merges the file, and not a link to it
    if repo.attribute(checkpoint, "eol") != "lf":
        return Examined("attributes", False, "line ends of the checkpoint may be changed by git", "ledger install")
    if lacking := [name for name in ("merge", "diff") if repo.attribute(checkpoint, name) != "ledger"]:
        told = " and ".join(f"{name}=ledger" for name in lacking)
        return Examined("attributes", False, f"the checkpoint lacks the attributes {told}", "ledger install")
    return Examined("attributes", True, "the checkpoint keeps its line ends, and has its drivers")


def _merge_driver(repo: GitRepo) -> Examined:
    """Dry run: the configured driver merges three empty checkpoints, in a folder of its own."""
    command = repo.setting("merge.ledger.driver")
    if not command:
        return Examined("merge driver", False, "git merges the checkpoint line by line", "ledger install")
    with tempfile.TemporaryDirectory() as folder:
        names = {"%O": "base", "%A": "ours", "%B": "theirs"}
        for name in names.values():
            (Path(folder) / name).write_bytes(checkpoint.EMPTY)
        for mark, name in {**names, "%P": f"{FOLDER}/ledger.json"}.items():
            command = command.replace(mark, shlex.quote(name))
        try:
            done = subprocess.run(
                command, shell=True, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60
            )
        except subprocess.TimeoutExpired:
            hint = "git config --show-origin --get-all merge.ledger.driver"
            return Examined("merge driver", False, "the driver does not end within a minute", hint)
        ours = Path(folder) / "ours"
        merged = ours.read_bytes() if ours.is_file() else None
    if done.returncode == 0 and merged == checkpoint.EMPTY:
        return Examined("merge driver", True, "merges by entry")
    said = done.stderr.decode(errors="replace").strip().splitlines()
    why = said[-1] if said else f"exit code {done.returncode}"
    return Examined("merge driver", False, f"the driver does not run: {why}", _on_path(repo, "merge.ledger.driver"))


def _textconv(repo: GitRepo, path: Path) -> Examined:
    if not repo.setting("diff.ledger.textconv"):
        return Examined("diff driver", False, "git shows the checkpoint as JSON", "ledger install")
    if len(repo.versions(repo.inside(path))) > 1:
        return Examined("diff driver", False, "was not tried: the checkpoint is in conflict", "ledger resolve")
    if repo.tracks(path) and (why := repo.shows(path)) is not None:
        return Examined("diff driver", False, f"the driver does not run: {why}", _on_path(repo, "diff.ledger.textconv"))
    return Examined("diff driver", True, "git shows the checkpoint in words")


def _on_path(repo: GitRepo, name: str) -> str:
    if repo.setting(name) != installing.SETTINGS[name]:
        return "ledger install"
    return "put the folder of this `ledger` on the PATH that git sees"


def _hook(repo: GitRepo, ledger: Ledger) -> Examined:
    config, script = repo.root / ".pre-commit-config.yaml", repo.hooks_path() / "pre-commit"
    where = installing.folder(repo, ledger)
    there = script.read_text(encoding="utf-8", errors="replace") if script.is_file() else None
    if config.is_file():
        if hint := installing.lacking(config, where):
            return Examined("hook", False, "no pre-commit hook exports and checks the checkpoint", hint)
        if there is None or not os.access(script, os.X_OK) or not installing.runs_pre_commit(there):
            message = "the hooks are configured, but pre-commit is not installed"
            return Examined("hook", False, message, "pre-commit install")
        return Examined("hook", True, "exports and checks before every commit")
    if there is None or (installing.MARK in there and not installing.runs_both(there, where)):
        return Examined("hook", False, "no hook exports and checks the checkpoint", "ledger install")
    if not installing.runs_both(there, where):
        hint = f"add to it: {installing.command(where)}"
        return Examined("hook", False, f"{script} does not run the ledger", hint)
    if not os.access(script, os.X_OK):
        return Examined("hook", False, f"git skips {script}: it cannot be executed", f"chmod +x {script}")
    return Examined("hook", True, "exports and checks before every commit")
