"""The only place that talks to git. Reads alone: nothing here touches the index or a file of the repository."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ledger_cli.errors import LedgerError

if TYPE_CHECKING:
    from git import Repo


class GitMissing(LedgerError):
    """There is no git on this machine."""


@contextmanager
def _clean_environment() -> Iterator[None]:
    """Without GIT_DIR, GIT_INDEX_FILE and their like, which a hook inherits: they point git at another repository."""
    kept = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("GIT_")}
    os.environ["GIT_PYTHON_REFRESH"] = "quiet"  # a missing git is our sentence to say, not an import error
    try:
        yield
    finally:
        del os.environ["GIT_PYTHON_REFRESH"]
        os.environ.update(kept)


class GitRepo:
    """The repository around a folder."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo
        self.root = Path(str(repo.working_tree_dir))

    @classmethod
    def around(cls, folder: Path) -> GitRepo | None:
        """The repository with a work tree that the folder is in; None if there is none. Raises GitMissing."""
        import shutil

        if shutil.which("git") is None:
            raise GitMissing("git is not installed", "install git: the checkpoint is made to be reviewed with it")
        with _clean_environment():
            from git import InvalidGitRepositoryError, NoSuchPathError, Repo

            try:
                repo = Repo(folder, search_parent_directories=True)
            except (InvalidGitRepositoryError, NoSuchPathError):
                return None
        return None if repo.working_tree_dir is None else cls(repo)

    def ignores(self, path: Path) -> bool:
        """Does git ignore this path?"""
        return bool(self._run("check-ignore", "--no-index", "--", str(path)))

    def tracks(self, path: Path) -> bool:
        """Is the path in the index?"""
        return bool(self._run("ls-files", "--", str(path)))

    def attribute(self, path: Path, name: str) -> str:
        """A git attribute of a path, `unspecified` where there is none."""
        return self._run("check-attr", name, "--", str(path)).rpartition(": ")[2] or "unspecified"

    def hooks_path(self) -> Path:
        """Where this repository keeps its hooks (in a linked worktree: the main one's)."""
        found = Path(self._run("rev-parse", "--git-path", "hooks"))
        return found if found.is_absolute() else self.root / found

    def _run(self, *arguments: str) -> str:
        from git import GitCommandError

        with _clean_environment():
            try:
                return str(self._repo.git.execute(["git", *arguments]))
            except GitCommandError as fault:
                if fault.status == 1:  # an answer: no such thing
                    return ""
                raise LedgerError(f"git says: {str(fault.stderr).strip()}") from None
