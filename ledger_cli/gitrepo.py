"""The only place that talks to git: through git's own commands, and none that touches the index or a tracked file."""

from __future__ import annotations

import os
import posixpath
import shlex
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from ledger_cli.errors import Damaged, LedgerError, Refused

_ELSEWHERE = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"),
    *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE"),
    *("GIT_NAMESPACE", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"),
)
"""What a hook inherits, and what may point git at another repository or index. Settings and ceilings stay."""


Blob = tuple[str, str]
"""The mode and the id of a file of a commit, or of the index."""
_LINK = "120000"


class Version(NamedTuple):
    """A file as a commit left it: when that was committed, and who wrote it."""

    commit: str
    at: datetime
    by: str
    data: bytes


class GitMissing(LedgerError):
    """There is no git on this machine that runs."""


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

    if (program := shutil.which("git")) is None:
        raise GitMissing("git is not installed", "install git: the checkpoint is made to be reviewed with it")
    broken = GitMissing(f"{program} does not run", "mend it, or put another git before it on the PATH")
    with _environment(extra), tempfile.TemporaryFile() as stdin:
        try:
            from git import Git, GitCommandNotFound
        except ModuleNotFoundError:
            raise
        except ImportError:  # GitPython runs git as it is imported
            raise broken from None
        stdin.write(say)
        stdin.seek(0)
        try:
            code, out, err = Git(str(folder)).execute(
                ["git", *words],
                istream=stdin,
                with_extended_output=True,
                with_exceptions=False,
                stdout_as_string=False,
                strip_newline_in_stdout=False,
            )
        except (GitCommandNotFound, OSError):
            raise broken from None
    return int(code), bytes(out), err.decode(errors="replace") if isinstance(err, bytes) else str(err)


def add(path: Path) -> str:
    """The command that stages a file, for who stands where this process was started."""
    return f"git add {from_here(path)}"


def from_here(path: Path) -> str:
    """A path, of the file behind a link, as a word of a command for who stands where this process was started."""
    return shlex.quote(os.path.relpath(os.path.realpath(path), os.path.realpath(".")))


def _in_its_folder(path: Path) -> Path:
    """A path through no symlink, but for what it names itself: git goes no other way."""
    return Path(os.path.realpath(path.parent)) / path.name


class GitRepo:
    """The repository around a folder, by the top of its work tree (of a linked worktree or a submodule: its own)."""

    def __init__(self, root: Path, told: dict[str, str] | None = None) -> None:
        """`told`: the variables that name it where git would not find it from its files."""
        self.root = root
        self._told = told or {}

    @classmethod
    def around(cls, folder: Path) -> GitRepo | None:
        """The repository with a work tree that the folder is in; None if there is none.

        Raises GitMissing, and LedgerError with git's own sentence where git will not look ("dubious ownership").
        """
        code, out, err = _git(folder, "rev-parse", "--show-toplevel")
        if code == 0:
            return cls(_path(out))
        if "not a git repository" in err or "must be run in a work tree" in err:
            return cls._kept_apart(folder)
        raise _complaint(err)

    @classmethod
    def _kept_apart(cls, folder: Path) -> GitRepo | None:
        """The repository that `git --git-dir --work-tree` names to its hooks, if the folder is in its work tree."""
        told = _inherited()
        if len(told) < 2:
            return None
        code, top, _ = _git(Path.cwd(), "rev-parse", "--show-toplevel", extra=told)
        if code != 0 or not Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(_path(top))):
            return None
        _, own, _ = _git(Path.cwd(), "rev-parse", "--absolute-git-dir", extra=told)
        return cls(_path(top), {"GIT_DIR": str(_path(own)), "GIT_WORK_TREE": str(_path(top))})

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
        return bool(self._run("check-ignore", "--no-index", "--", str(_in_its_folder(path))))

    def tracks(self, path: Path) -> bool:
        """Is the path in the index?"""
        return bool(self._run("--literal-pathspecs", "ls-files", "--", str(_in_its_folder(path))))

    def attribute(self, path: Path, name: str) -> str:
        """A git attribute of a path, `unspecified` where there is none."""
        return self._run("check-attr", name, "--", str(_in_its_folder(path))).rpartition(": ")[2] or "unspecified"

    def hooks_path(self) -> Path:
        """Where this repository keeps its hooks (in a linked worktree: the main one's)."""
        return self._own("hooks")

    def git_dir(self) -> Path:
        """Where git keeps what is common to all worktrees of this repository."""
        return self.root / self._run("rev-parse", "--git-common-dir")

    def _own(self, name: str) -> Path:
        return self.root / self._run("rev-parse", "--git-path", name)

    # Revisions

    def commit(self, revision: str) -> str:
        """The commit a revision names. Raises Refused, and says how to get what a clone lacks."""
        if found := self._commit(revision):
            return found
        if not self._commit("HEAD"):
            hint = "nothing is committed yet"
        elif fetched := self._fetched(revision):
            hint = f"`{fetched}` brings it"
        else:
            hint = self.deeper() or "`git fetch` brings the branches of a remote; `git branch -a` lists what is here"
        raise Refused(f"there is no commit {revision} in {self.root}", hint)

    def deeper(self) -> str:
        """How to get the past that a shallow clone lacks; empty where nothing is lacking."""
        if self._run("rev-parse", "--is-shallow-repository") != "true":
            return ""
        return "this clone is shallow: `git fetch --unshallow` (in CI: fetch-depth: 0)"

    def _fetched(self, revision: str) -> str:
        """How to fetch a branch of a remote; empty where it is none. A clone of one branch gets no other unasked."""
        own = f"refs/remotes/{revision}"
        remote = next((r for r in self._run("remote").splitlines() if revision.startswith(f"{r}/")), None)
        if remote is None or self._git("check-ref-format", own)[0] != 0:
            return ""
        return f"git fetch {shlex.quote(remote)} {shlex.quote(f'{revision.removeprefix(remote)[1:]}:{own}')}"

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
            merged = self._own("MERGE_HEAD").read_text().split()
        except OSError:
            merged = []
        return [head, *merged]

    def merge_base(self, one: str, other: str) -> str | None:
        """The best common ancestor of two commits; None where they have none, or a shallow clone lacks it."""
        return self._run("merge-base", one, other).partition("\n")[0] or None

    def stands_on(self, base: str, tip: str | None = None) -> bool:
        """Is a commit among what a tip (None: the next commit) builds on?"""
        tips = self.parents() if tip is None else [tip]
        return any(self._git("merge-base", "--is-ancestor", base, one)[0] == 0 for one in tips)

    def fork_point(self, base: str, tip: str | None = None) -> str | None:
        """Where what a tip (None: the next commit) adds left `base`; on a merge commit, where what was merged into the
        base left it."""
        above = self.parents() if tip is None else []
        if len(above) < 2:
            commit = self._commit(tip or "HEAD")
            if not commit:
                return None
            own, *above = self._run("rev-list", "--parents", "-1", commit).split()
        else:
            own = above[0]
        if base in above and len(above) > 1:
            return self.merge_base(base, next(p for p in above if p != base))
        return self.merge_base(base, own)

    def blob(self, commit: str, path: str) -> bytes | None:
        """A file's bytes at a commit, through symlinks of that commit; None where it was not there."""

        def entry(name: str) -> Blob | None:
            row = self._run("ls-tree", "-z", "--full-tree", commit, "--", name).partition("\0")[0]
            return (row.split(" ")[0], row.partition("\t")[0].split(" ")[2]) if row else None

        return self._followed(entry, path)

    def paths(self, commit: str, name: str) -> list[str]:
        """The files of this name at a commit, in any folder."""
        found = self._run("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit).split("\0")
        return [path for path in found if posixpath.basename(path) == name]

    def _followed(self, entry: Callable[[str], Blob | None], path: str) -> bytes | None:
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

    def past(self, path: str) -> list[Version]:
        """The versions of a file that HEAD and the commits before it made, the latest first; none where HEAD lacks it.

        A rename is followed, a copy is not: a new record begins as a copy of the template, or of another. A file that
        was removed and made again begins there. A shallow clone knows a part of the past alone: see `deeper`.
        """
        if self._run("ls-tree", "--full-tree", "HEAD", "--", path) == "":
            return []
        found: list[Version] = []
        tip, name = "HEAD", path
        while tip and name:
            log = self._run("log", "-z", "--format=%H%x02%ct%x02%aN", tip, "--", name)
            commits = [each.split("\x02") for each in log.split("\0") if each]
            for commit, clock, who in commits:
                code, out, _ = self._git("cat-file", "blob", f"{commit}:{name}")
                if code != 0:  # it was removed here
                    return found
                found.append(Version(commit, _clock(clock, commit), who, out))
            first = commits[-1][0] if commits else ""
            name = self._renamed(first, name) if first else ""
            tip = self._commit(f"{first}^") if name else ""
        return found

    def _renamed(self, commit: str, path: str) -> str:
        """What a commit renamed to this path; empty where it did not. Files of one template share half their lines."""
        rows = self._run("diff-tree", "-r", "-M75%", "--diff-filter=R", "--no-commit-id", "--name-status", "-z", commit)
        words = rows.split("\0")
        return next((old for old, new in zip(words[1::3], words[2::3], strict=False) if new == path), "")

    # The index

    def staged(self, path: str) -> bytes | None:
        """A file's bytes as the next commit would have them; None if it would not have it. Raises Damaged."""

        def entry(name: str) -> Blob | None:
            rows = [row for row in self._listed([name]) if row[3] == name]
            if any(stage != "0" for _, _, stage, _ in rows):
                hint = f"run `ledger resolve`, then `{add(self.root / name)}`"
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
                raise Damaged(f"git has lost the staged {path} ({id})", add(self.root / path))
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

        They count only if they are of this repository: a hook of another may have called us. Git starts a hook in the
        repository it is of, and names that one only where it would not be found from there.
        """
        index = os.environ.get("GIT_INDEX_FILE")
        if not index:
            return {}
        code, out, _ = _git(Path.cwd(), "rev-parse", "--absolute-git-dir", extra=_inherited())
        here = self._run("rev-parse", "--absolute-git-dir")
        if code == 0 and os.path.realpath(_path(out)) != os.path.realpath(here):
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
        return _git(self.root, *words, extra={**self._told, **(extra or {})}, say=say)

    def _run(self, *words: str) -> str:
        """What git answers, without its last line end; empty where it says no. Raises with git's own sentence."""
        code, out, err = self._git(*words)
        if code > 1 or code < 0:
            raise _complaint(err)
        return os.fsdecode(out).removesuffix("\n") if code == 0 else ""


def _inherited() -> dict[str, str]:
    """What names the repository that we were called from, where something does."""
    return {name: os.environ[name] for name in ("GIT_DIR", "GIT_WORK_TREE") if name in os.environ}


def _path(out: bytes) -> Path:
    return Path(os.fsdecode(out).removesuffix("\n"))


def _clock(seconds: str, commit: str) -> datetime:
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        raise LedgerError(
            f"commit {commit[:12]} has no date that can be read", "`git log` names its neighbours"
        ) from None


def _complaint(err: str) -> LedgerError:
    """Git's own sentence, and the command it advises where it does."""
    said = [line.strip() for line in err.strip().splitlines() if line.strip()]
    advice = next((line for line in said if line.startswith("git config ")), "")
    return LedgerError(f"git says: {said[0] if said else 'nothing'}", advice)
