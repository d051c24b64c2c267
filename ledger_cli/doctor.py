"""What is set up around a ledger and what is not, each with the one command that mends it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from ledger_cli.errors import LedgerError
from ledger_cli.gitrepo import GitRepo
from ledger_cli.ledger import FOLDER, Ledger
from ledger_cli.store import engine as engines

HOOKS = ("ledger-export", "ledger-check")


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
        yield Examined("checkpoint", False, f"{len(errors)} problems; the first: {errors[0].message}", "ledger check")
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
    repo = GitRepo.around(ledger.root)
    if repo is None:
        yield Examined("git", False, f"{ledger.root} is in no git repository", "git init")
        return
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
        yield Examined("tracked", False, f"{FOLDER}/ledger.json is not tracked", f"git add {FOLDER}/ledger.json")
    eol = repo.attribute(checkpoint, "eol")
    if eol == "lf":
        yield Examined("attributes", True, "the checkpoint keeps its line ends everywhere (eol=lf)")
    else:
        yield Examined("attributes", False, "line ends of the checkpoint may be changed by git", "ledger init")
    yield _hook(repo)


def _hook(repo: GitRepo) -> Examined:
    config = repo.root / ".pre-commit-config.yaml"
    text = config.read_text(encoding="utf-8", errors="replace") if config.is_file() else ""
    if missing := [hook for hook in HOOKS if hook not in _hooks(text)]:
        hint = f"add {' and '.join(missing)} to the hooks in .pre-commit-config.yaml (see README)"
        return Examined("hook", False, "no pre-commit hook exports and checks the checkpoint", hint)
    script = repo.hooks_path() / "pre-commit"
    if not script.exists():
        return Examined(
            "hook", False, "the hooks are configured, but pre-commit is not installed", "pre-commit install"
        )
    return Examined("hook", True, "exports and checks before every commit")


def _hooks(config: str) -> set[str]:
    """The ids of the hooks in the text of a pre-commit configuration, commented ones aside."""
    told = re.sub(r"(?m)(?:^|(?<=\s))#.*", "", config)
    return set(re.findall(r"""\bid["']?\s*:\s*["']?([\w.-]+)""", told))
