"""Revisions of a ledger: `check` against the one it stands on, and `diff` between two."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import NamedTuple

from ledger_cli import append_only, checks, comparison, scan
from ledger_cli.answers import Checkup
from ledger_cli.append_only import Base
from ledger_cli.checkup import is_session_file
from ledger_cli.errors import Damaged, Refused
from ledger_cli.gitrepo import GitRepo, add, from_here
from ledger_cli.ledger import FOLDER, SESSIONS, Ledger
from ledger_cli.model import Entry

_UNREAD = {"format", "truncated"}
"""Findings with which most lines may be missing: that they are is no fault of its own."""


class _Ground(NamedTuple):
    """What a checkpoint stands on, and the checkpoint where the one base and the rest parted."""

    bases: list[Base]
    fork: bytes | None = None
    behind: bool = False  # the base is not among what this stands on


def check(ledger: Ledger, *, base: str | None = None, staged: bool = False) -> Checkup:
    """All that `Ledger.check` finds, and what no session could have done to the lines of the base.

    `staged` looks at what the next commit would hold, with HEAD as its base (in a merge: all parents) where none is
    given. Raises Refused for a revision that is not there, NoRepository, and Damaged for an index in conflict.
    """
    repo = GitRepo.of(ledger.root)
    path = _path(repo, ledger, FOLDER, ledger.database.checkpoint.name)
    ground = _stands_on(repo, path, base) if base is not None or staged else _Ground([])
    if not staged:
        data, found = ledger.database.data(), ledger.check()
    else:
        held = repo.staged(path)
        if held is None:
            return Checkup((_not_staged(repo, path, ground.bases),), path)
        data, found = held, ledger.check(held, _staged_sessions(repo, ledger))
    return _with_ground(found, data, ground, path)


def _with_ground(found: Checkup, data: bytes, ground: _Ground, path: str) -> Checkup:
    findings = list(found.findings)
    if not any(f.code in _UNREAD for f in findings):
        findings += append_only.findings(data, ground.bases, ground.fork, behind=ground.behind)
    return Checkup(checks.in_order(findings), path)


@dataclass(frozen=True)
class Compared:
    """Two revisions by their names to show and their commits (None: the work tree), and what differs.

    `checkup` is what `check` finds in the later one, with the earlier as its base.
    """

    names: tuple[str, str]
    commits: tuple[str, str | None]
    comparison: comparison.Comparison
    checkup: Checkup


def compare(ledger: Ledger, revisions: str) -> Compared:
    """What differs between `A..B`, between `A...B` (B, and where it left A), or between `A` and the work tree.

    A side left out is HEAD. Raises Refused for a revision that is not there, NoRepository, and Damaged for a
    checkpoint of which most cannot be read.
    """
    repo = GitRepo.of(ledger.root)
    path = _path(repo, ledger, FOLDER, ledger.database.checkpoint.name)
    dots = "..." if "..." in revisions else ".." if ".." in revisions else ""
    first, _, last = revisions.partition(dots) if dots else (revisions, "", "")
    start, tip = repo.commit(first or "HEAD"), repo.commit(last or "HEAD") if dots else None
    name = first or "HEAD"
    fork = repo.fork_point(start, tip)
    if dots == "...":
        if tip is None or (parted := repo.merge_base(start, tip)) is None:
            raise Refused(f"{first or 'HEAD'} and {last or 'HEAD'} have no common past here", repo.deeper())
        name, start, fork = f"{first or 'HEAD'}...", parted, parted
    held = _held(repo, start, path)
    after = ledger.database.data() if tip is None else repo.blob(tip, path)
    before = held[1] if held is not None else None
    base = _base(repo, held or (path, b""), name, start)
    to = "the work tree" if tip is None else _named(repo, last or "HEAD", tip)
    if after is None:
        found = Checkup((_not_staged(repo, path, [base] if before is not None else []),), path)
    else:
        at_fork = None if fork is None else _bytes_at(repo, fork, path)
        ground = _Ground([] if before is None else [base], at_fork, not repo.stands_on(start, tip))
        found = _with_ground(ledger.check(after), after, ground, path)
    pair = comparison.compare(_entries(before, base.name), _entries(after, to))
    return Compared((base.name, to), (start, tip), pair, found)


def _entries(data: bytes | None, name: str) -> list[Entry]:
    entries, problems = scan.scan(data) if data is not None else ([], [])
    if worst := [p for p in problems if p.code in _UNREAD]:
        raise Damaged(f"the checkpoint of {name}, {worst[0]}", worst[0].hint)
    return [entry for _, entry in entries]


def _base(repo: GitRepo, held: tuple[str, bytes], name: str, commit: str) -> Base:
    return Base(_named(repo, name, commit), repo.short(commit), *held)


def _held(repo: GitRepo, commit: str, path: str) -> tuple[str, bytes] | None:
    """The path and the bytes of a checkpoint at a commit: where it was, if its folder has been moved since."""
    moved: list[str] = []
    if (data := repo.blob(commit, path)) is None:
        moved = [p for p in repo.paths(commit, posixpath.basename(path)) if not (repo.root / p).exists()]
        data = repo.blob(commit, moved[0]) if len(moved) == 1 else None
    return None if data is None else (moved[0] if moved else path, data)


def _bytes_at(repo: GitRepo, commit: str, path: str) -> bytes:
    held = _held(repo, commit, path)
    return held[1] if held is not None else b""


def _named(repo: GitRepo, name: str, commit: str) -> str:
    short = repo.short(commit)
    return name if name.startswith(short) else f"{name} ({short})"


def _path(repo: GitRepo, ledger: Ledger, *names: str) -> str:
    """A path of the ledger as git names it. Symlinks on it are followed in the revision, not on this disk."""
    return posixpath.normpath(posixpath.join(repo.inside(ledger.root), *names))


def _stands_on(repo: GitRepo, path: str, base: str | None) -> _Ground:
    if base is None:
        commits = [("HEAD" if n == 0 else "MERGE_HEAD", commit) for n, commit in enumerate(repo.parents())]
    else:
        commits = [(base, repo.commit(base))]
    bases = []
    for name, commit in commits:
        if (held := _held(repo, commit, path)) is not None:
            bases.append(_base(repo, held, name, commit))
    if not bases:
        return _Ground(bases)
    first = commits[0][1]
    fork = repo.fork_point(first) if base is not None or len(commits) == 2 else None
    at_fork = None if fork is None else _bytes_at(repo, fork, path)
    return _Ground(bases, at_fork, base is not None and not repo.stands_on(first))


def _staged_sessions(repo: GitRepo, ledger: Ledger) -> list[tuple[str, bytes]]:
    """The session files of the index, named from the ledger's folder."""
    folder = _path(repo, ledger, SESSIONS)
    files = ((path.removeprefix(f"{folder}/"), data) for path, data in repo.staged_under([folder]))
    return [(f"{SESSIONS}/{name}", data) for name, data in files if "/" not in name and is_session_file(name)]


def _not_staged(repo: GitRepo, path: str, bases: list[Base]) -> checks.Finding:
    if bases:
        base = bases[0]
        message = f"the checkpoint is removed; {base.name} has it"
        return checks.Finding("rewritten", message, hint=f"git checkout {base.commit} -- {from_here(repo.root / path)}")
    return checks.Finding("not-tracked", "the checkpoint is not in the index", "warning", hint=add(repo.root / path))
