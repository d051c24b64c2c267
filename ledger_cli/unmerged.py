"""A merge that no driver took part in: git found a conflict, and the checkpoint holds one side alone, unmarked.

So it is where the driver could not be started (another PATH, no environment), was killed, or could not read a side.
Who then adds the file as it is gives up all of the other side, and nothing says so.
"""

from __future__ import annotations

from pathlib import Path

from ledger_cli import markers, merge
from ledger_cli.gitrepo import GitMissing, GitRepo, NoRepository
from ledger_cli.merge import Merged

_BASE, _OURS, _THEIRS = 1, 2, 3


def merged(checkpoint: Path, data: bytes) -> Merged | None:
    """What the driver would have made of the sides that git keeps in its index; None where there is no such merge.

    A file that holds markers, or anything but the lines of one side, is somebody's work and counts as it is. Raises
    Damaged for a side that cannot be read.
    """
    if markers.has_markers(data):
        return None
    try:
        repo = GitRepo.around(checkpoint.parent)
        versions = repo.versions(repo.inside(checkpoint)) if repo is not None else {}
    except (GitMissing, NoRepository):
        return None
    if repo is None or not {_OURS, _THEIRS} <= versions.keys():  # where one side removed the file, the other stands
        return None
    ours, theirs = versions[_OURS], versions[_THEIRS]
    if _lines(data) not in (_lines(ours), _lines(theirs)):
        return None
    picked = len(repo.parents()) < 2  # one change is replayed, as in a rebase: see `merge`
    return merge.merge(versions.get(_BASE, b""), ours, theirs, picked=picked)


def _lines(data: bytes) -> list[bytes]:
    return data.replace(b"\r\n", b"\n").split(b"\n")
