"""The only place that talks to git: through git's own commands, and none that touches the index or a tracked file."""

from __future__ import annotations

import os
import posixpath
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ledger_cli.errors import Damaged, LedgerError, Refused

_ELSEWHERE = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"),
    *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE"),
    *("GIT_NAMESPACE", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"),
)
"""What a hook inherits, and what may point git at another repository or index. Settings and ceilings stay."""


Entry = tuple[str, str]
"""The mode and the id of a file of a commit, or of the index."""
_LINK = "120000"


class GitMissing(LedgerError):
    """There is no git on this machine."""


class NoRepository(LedgerError):
    """The ledger is in no repository that has files."""


@contextmanager
def _environment(extra: dict[str, str] | None = None) -> Iterator[None]:
    """Without what a hook inherits, but for what is put in on purpose."""
    kept = {name: os.environ.pop(name) for name in _ELSEWHERE if name in os.environ}
    os.environ.update(extra or {})
    os.environ["GIT_PYTHON_REFRESH"] = "quiet"  # a missing git is our sentence to say, not an import error
    try:
        yield
    finally:
        for name in ("GIT_PYTHON_REFRESH", *(extra or ())):
            os.environ.pop(name, None)
        os.environ.update(kept)


def _git(folder: Path, *words: str, extra: dict[str, str] | None = None, say: bytes = b"") -> tuple[int, bytes, str]:
    """Run git in a folder; its exit code, what it answered and what it complained of. Raises GitMissing."""
    import shutil

    if shutil.which("git") is None:
        raise GitMissing("git is not installed", "install git: the checkpoint is made to be reviewed with it")
    with _environment(extra), tempfile.TemporaryFile() as stdin:
        from git import Git

        stdin.write(say)
        stdin.seek(0)
        code, out, err = Git(str(folder)).execute(
            ["git", *words],
            istream=stdin,
            with_extended_output=True,
            with_exceptions=False,
            stdout_as_string=False,
            strip_newline_in_stdout=False,
        )
    return int(code), bytes(out), err.decode(errors="replace") if isinstance(err, bytes) else str(err)


def typed(path: Path) -> str:
    """A path as somebody types it behind `git add`, where they are now. The file behind a link is what git merges."""
    import shlex

    return shlex.quote(os.path.relpath(os.path.realpath(path), os.path.realpath(".")))


class GitRepo:
    """The repository around a folder, by the top of its work tree (of a linked worktree or a submodule: its own)."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def around(cls, folder: Path) -> GitRepo | None:
        """The repository with a work tree that the folder is in; None if there is none.

        Raises GitMissing, and LedgerError with git's own sentence where git will not look ("dubious ownership").
        """
        code, out, err = _git(folder, "rev-parse", "--show-toplevel")
        if code == 0:
            return cls(Path(os.fsdecode(out).removesuffix("\n")))
        if "not a git repository" in err or "must be run in a work tree" in err:
            return None
        raise _complaint(err)

    @classmethod
    def of(cls, folder: Path) -> GitRepo:
        """As `around`. Raises NoRepository where there is none."""
        if (found := cls.around(folder)) is not None:
            return found
        code, out, _ = _git(folder, "rev-parse", "--is-bare-repository")
        if code == 0 and out.strip() == b"true":
            raise NoRepository(f"{folder} is in a bare repository: it has no files", "ask in a clone of it")
        raise NoRepository(f"{folder} is in no git repository", "git init")

    # Paths

    def inside(self, path: Path) -> str:
        """A path as git names it, from the top of the work tree; a symlink is followed. Raises NoRepository."""
        real, root = Path(os.path.realpath(path)), Path(os.path.realpath(self.root))
        if not real.is_relative_to(root):
            raise NoRepository(f"{path} is kept outside of the repository {self.root}", "git cannot tell its past")
        return real.relative_to(root).as_posix()

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
        return self._path("hooks")

    def git_dir(self) -> Path:
        """Where git keeps what is common to all worktrees of this repository."""
        return self.root / self._run("rev-parse", "--git-common-dir")

    def _path(self, name: str) -> Path:
        return self.root / self._run("rev-parse", "--git-path", name)

    # Revisions

    def commit(self, revision: str) -> str:
        """The commit a revision names. Raises Refused, and says what a shallow clone lacks."""
        if found := self._commit(revision):
            return found
        if self._run("rev-parse", "--is-shallow-repository") == "true":
            hint = "this clone is shallow: `git fetch --unshallow` (in CI: fetch-depth: 0)"
        else:
            hint = "`git fetch` brings the branches of a remote; `git branch -a` lists what is here"
        raise Refused(f"there is no commit {revision} in {self.root}", hint)

    def _commit(self, revision: str) -> str:
        code, out, err = self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        if code not in (0, 1) and err.strip():
            raise _complaint(err)
        # Git 2.30 to 2.42 echo `--end-of-options`.
        return out.decode().split("\n")[-2] if code == 0 else ""

    def short(self, commit: str) -> str:
        """A commit's short name."""
        return self._run("rev-parse", "--short", commit)

    def parents(self) -> list[str]:
        """What the next commit stands on: HEAD and, in a merge, what is merged; nothing before the first commit."""
        head = self._commit("HEAD")
        if not head:
            return []
        try:  # `git rev-parse MERGE_HEAD` names the first of an octopus alone
            merged = self._path("MERGE_HEAD").read_text().split()
        except OSError:
            merged = []
        return [head, *merged]

    def merge_base(self, one: str, other: str) -> str | None:
        """The best common ancestor of two commits; None where they have none, or a shallow clone lacks it."""
        return self._run("merge-base", one, other).partition("\n")[0] or None

    def fork_point(self, base: str, tip: str = "HEAD") -> str | None:
        """Where what a tip adds left `base`; on a merge commit, where what was merged into the base left it."""
        commit = self._commit(tip)
        if not commit:
            return None
        own, *above = self._run("rev-list", "--parents", "-1", commit).split()
        if base in above and len(above) > 1:
            return self.merge_base(base, next(p for p in above if p != base))
        return self.merge_base(base, own)

    def blob(self, commit: str, path: str) -> bytes | None:
        """A file's bytes at a commit, through symlinks of that commit; None where it was not there."""

        def entry(name: str) -> Entry | None:
            row = self._run("ls-tree", "-z", "--full-tree", commit, "--", name).partition("\0")[0]
            return (row.split(" ")[0], row.partition("\t")[0].split(" ")[2]) if row else None

        return self._followed(entry, path)

    def _followed(self, entry: Callable[[str], Entry | None], path: str) -> bytes | None:
        """The bytes at a path where `entry` gives the mode and the id of each: the files of the disk do not count."""
        for _ in range(20):
            found = entry(path)
            if found is not None and found[0].startswith("100"):
                return self._bytes(found[1])
            parts = path.split("/")
            heads = ("/".join(parts[:n]) for n in range(len(parts), 0, -1))
            links = ((head, e[1]) for head in heads if (e := entry(head)) is not None and e[0] == _LINK)
            if (link := next(links, None)) is None:
                return None
            target, rest = os.fsdecode(self._bytes(link[1])), path[len(link[0]) :].lstrip("/")
            path = posixpath.normpath(posixpath.join(posixpath.dirname(link[0]), target, rest))
            if path.startswith(("/", "..")):
                return None
        return None

    def _bytes(self, id: str) -> bytes:
        code, out, err = self._git("cat-file", "blob", id)
        if code != 0:
            raise _complaint(err)
        return out

    # The index

    def staged(self, path: str) -> bytes | None:
        """A file's bytes as the next commit would have them; None if it would not have it. Raises Damaged."""

        def entry(name: str) -> Entry | None:
            rows = [row for row in self._listed([name]) if row[3] == name]
            if any(stage != "0" for _, _, stage, _ in rows):
                hint = f"run `ledger resolve`, then `git add {typed(self.root / name)}`"
                raise Damaged(f"merge conflict in {name}: the index holds several versions of it", hint)
            return (rows[0][0], rows[0][1]) if rows else None

        return self._followed(entry, path)

    def versions(self, path: str) -> dict[int, bytes]:
        """The versions of a file between which a merge left it: 1 is the base, 2 ours, 3 theirs; none if it is merged.

        A version that is no file is left out.
        """
        rows = [row for row in self._listed([path]) if row[3] == path and row[2] != "0"]
        return {int(stage): self._bytes(id) for mode, id, stage, _ in rows if mode != _LINK}

    def staged_under(self, paths: Iterable[str]) -> list[tuple[str, bytes]]:
        """The files at or under these paths with their bytes, in the index that a hook is given, or the usual one.

        Symlinks, and files of which a merge left several versions, are left out.
        """
        listed = [(id, path) for mode, id, stage, path in self._listed(paths) if stage == "0" and mode != _LINK]
        ids = "".join(f"{id}\n" for id, _ in listed)
        code, out, err = self._git("cat-file", "--batch", extra=self._index(), say=ids.encode())
        if code != 0:
            raise _complaint(err)
        found, at = [], 0
        for id, path in listed:
            end = out.index(b"\n", at)
            head = out[at:end].split()
            if len(head) != 3:
                raise Damaged(f"git has lost the staged {path} ({id})", f"git add {typed(self.root / path)}")
            size = int(head[2])
            found.append((path, out[end + 1 : end + 1 + size]))
            at = end + size + 2
        return found

    def _listed(self, paths: Iterable[str]) -> list[tuple[str, str, str, str]]:
        words = ("--literal-pathspecs", "ls-files", "--stage", "-z", "--", *paths)
        code, out, err = self._git(*words, extra=self._index())
        if code != 0:
            raise _complaint(err)
        rows = []
        for row in os.fsdecode(out).split("\0")[:-1]:
            (mode, id, stage), path = row.partition("\t")[0].split(" "), row.partition("\t")[2]
            if mode != "160000":  # a submodule's commit is no file
                rows.append((mode, id, stage, path))
        return rows

    def _index(self) -> dict[str, str]:
        """The variables that name the index a hook is to look at (`git commit FILE` makes one of its own).

        They count only if they are of this repository: a hook of another may have called us.
        """
        index = os.environ.get("GIT_INDEX_FILE")
        if not index:
            return {}
        told = os.environ.get("GIT_DIR")
        if told is not None:
            here = Path(self._run("rev-parse", "--absolute-git-dir"))
            if os.path.realpath(told) != os.path.realpath(here):
                return {}
        # Git takes a relative one from the top of the work tree, where it starts its hooks.
        return {"GIT_INDEX_FILE": str(self.root / index)}

    # Settings

    def setting(self, name: str) -> str:
        """A git setting as it counts here; empty where there is none."""
        return self._run("config", "--get", name)

    def set(self, name: str, value: str) -> None:
        """Write a setting of this repository (of all its worktrees)."""
        code, _, err = self._git("config", "--local", "--replace-all", name, value)
        if code != 0:
            raise _complaint(err)

    def shows(self, path: Path) -> str | None:
        """What stops `git diff` from showing the tracked file through its textconv; None where nothing does."""
        code, _, err = self._git("cat-file", "--textconv", f":{self.inside(path)}")
        return None if code == 0 else err.strip().partition("\n")[0] or f"exit code {code}"

    def _git(self, *words: str, extra: dict[str, str] | None = None, say: bytes = b"") -> tuple[int, bytes, str]:
        return _git(self.root, *words, extra=extra, say=say)

    def _run(self, *words: str) -> str:
        """What git answers, without its last line end; empty where it says no. Raises with git's own sentence."""
        code, out, err = self._git(*words)
        if code > 1 or code < 0:
            raise _complaint(err)
        return os.fsdecode(out).strip() if code == 0 else ""


def _complaint(err: str) -> LedgerError:
    """Git's own sentence, and the command it advises where it does."""
    said = [line.strip() for line in err.strip().splitlines() if line.strip()]
    advice = next((line for line in said if line.startswith("git config ")), "")
    return LedgerError(f"git says: {said[0] if said else 'nothing'}", advice)
