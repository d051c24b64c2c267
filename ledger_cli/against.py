"""`check` against revisions: the checkpoint of the work tree, or of the index, and what it stands on in git."""

from __future__ import annotations

from typing import NamedTuple

from ledger_cli import append_only, checks
from ledger_cli.append_only import Base
from ledger_cli.gitrepo import GitRepo
from ledger_cli.ledger import SESSIONS, Checkup, Ledger, is_session_file

_UNREAD = {"format", "truncated"}
"""Findings with which most lines may be missing: that they are is no fault of its own."""


class _Ground(NamedTuple):
    """What a checkpoint stands on, and the checkpoint where the one base and the rest parted."""

    bases: list[Base]
    fork: bytes | None = None


def check(ledger: Ledger, *, base: str | None = None, staged: bool = False) -> Checkup:
    """All that `Ledger.check` finds, and what no session could have done to the lines of the base.

    `staged` looks at what the next commit would hold, with HEAD as its base (in a merge: all parents) where none is
    given. Raises Refused for a revision that is not there, NoRepository, and Damaged for an index in conflict.
    """
    repo = GitRepo.of(ledger.root)
    path = repo.inside(ledger.database.checkpoint)
    ground = _stands_on(repo, path, base) if base is not None or staged else _Ground([])
    if not staged:
        data, found = ledger.database.data(), ledger.check()
    else:
        held = repo.staged(path)
        if held is None:
            return Checkup((_not_staged(path, ground.bases),), path)
        data, found = held, ledger.check(held, _staged_sessions(repo, ledger))
    findings = list(found.findings)
    if not any(f.code in _UNREAD for f in findings):
        findings += append_only.findings(data, ground.bases, ground.fork)
    return Checkup(checks.in_order(findings), path)


def _stands_on(repo: GitRepo, path: str, base: str | None) -> _Ground:
    if base is None:
        commits = [("HEAD" if n == 0 else "MERGE_HEAD", commit) for n, commit in enumerate(repo.parents())]
    else:
        commits = [(base, repo.commit(base))]
    bases = []
    for name, commit in commits:
        if (data := repo.blob(commit, path)) is not None:
            short = repo.short(commit)
            bases.append(Base(name if name.startswith(short) else f"{name} ({short})", short, path, data))
    if base is None or not bases or (fork := repo.fork_point(commits[0][1])) is None:
        return _Ground(bases)
    return _Ground(bases, repo.blob(fork, path) or b"")


def _staged_sessions(repo: GitRepo, ledger: Ledger) -> list[tuple[str, bytes]]:
    """The session files of the index, named from the ledger's folder."""
    folder = repo.inside(ledger.root / SESSIONS)
    files = ((path.removeprefix(f"{folder}/"), data) for path, data in repo.staged_under([folder]))
    return [(f"{SESSIONS}/{name}", data) for name, data in files if "/" not in name and is_session_file(name)]


def _not_staged(path: str, bases: list[Base]) -> checks.Finding:
    if bases:
        base = bases[0]
        message = f"the checkpoint is removed; {base.name} has it"
        return checks.Finding("rewritten", message, hint=f"git checkout {base.commit} -- {path}")
    return checks.Finding("not-tracked", "the checkpoint is not in the index", "warning", hint=f"git add {path}")
