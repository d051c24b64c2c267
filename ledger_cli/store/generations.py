"""Generations of the store: files named once and never changed, and `current.json`, which names the one that counts.

A reader takes no lock: it loads what `current.json` names, and starts over if that was swept meanwhile.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ledger_cli.errors import Busy

LAYOUT = 1
"""The version of the graph's layout: a generation of another layout is rebuilt, never read."""


@dataclass(frozen=True)
class Identity:
    """What tells one state of the checkpoint from another: cheap to look at, and a digest where that differs."""

    size: int
    mtime_ns: int
    inode: int
    sha256: str

    @classmethod
    def of(cls, path: Path, data: bytes) -> Identity:
        """The identity of a file that holds these bytes."""
        stat = path.stat()
        return cls(stat.st_size, stat.st_mtime_ns, stat.st_ino, hashlib.sha256(data).hexdigest())

    def same_stat(self, path: Path) -> bool:
        stat = path.stat()
        return (self.size, self.mtime_ns, self.inode) == (stat.st_size, stat.st_mtime_ns, stat.st_ino)


@dataclass(frozen=True)
class Current:
    """What the current generation equals: the checkpoint, and sessions of the journal.

    `checkpoint` is the file it was published with, `before` the one that this replaces (a writer may be killed
    between the two renames; then the journal still holds the sessions `exported`). `pending` sessions are in the
    generation and the journal only; those `aside` are in the journal only, for they do not fit this checkpoint.
    """

    generation: int
    file: str
    engine: str
    checkpoint: Identity
    before: Identity | None = None
    exported: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    aside: tuple[str, ...] = ()
    layout: int = LAYOUT

    def knows(self, path: Path) -> Current | None:
        """This generation, as against the checkpoint as it stands at `path`; None if that is another one.

        Where the rename of the checkpoint did not happen, what was to be exported is pending.
        """
        unrenamed = replace(
            self,
            checkpoint=self.before or self.checkpoint,
            before=None,
            exported=(),
            pending=(*self.pending, *self.exported),
        )
        if self.checkpoint.same_stat(path):
            return self
        if self.before is not None and self.before.same_stat(path):
            return unrenamed
        data = path.read_bytes()
        now = Identity.of(path, data)
        if now.sha256 == self.checkpoint.sha256:
            return replace(self, checkpoint=now)
        if self.before is not None and now.sha256 == self.before.sha256:
            return replace(unrenamed, checkpoint=now)
        return None


class Generations:
    """The folder `.store/`: its lock, its generations, and which of them counts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.journal = folder / "journal.jsonl"
        self._current = folder / "current.json"
        self._lock = folder / "lock"
        self._holder = folder / "lock.holder"

    def current(self) -> Current | None:
        """What `current.json` says; None at any doubt, and then the store is rebuilt."""
        try:
            raw: dict[str, Any] = json.loads(self._current.read_bytes())
            before = raw["before"]
            current = Current(
                **{
                    **raw,
                    "checkpoint": Identity(**raw["checkpoint"]),
                    "before": Identity(**before) if before else None,
                    **{name: tuple(raw[name]) for name in ("exported", "pending", "aside")},
                }
            )
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None
        named_here = current.file == f"s{current.generation}.kgl"
        return current if current.layout == LAYOUT and named_here else None

    def path(self, current: Current) -> Path:
        return self.folder / current.file

    def next(self) -> tuple[int, Path]:
        """The number and the path of a generation that does not exist yet. Needs the lock."""
        taken = [int(p.stem[1:]) for p in self.folder.glob("s*.kgl") if p.stem[1:].isdigit()]
        number = max(taken, default=0) + 1
        return number, self.folder / f"s{number}.kgl"

    def publish(self, current: Current) -> None:
        """Make this the generation that readers load, atomically and durably. Needs the lock."""
        temp = self._current.with_suffix(".tmp")
        with temp.open("w") as file:
            json.dump(asdict(current), file)
            file.flush()
            os.fsync(file.fileno())
        temp.replace(self._current)

    def sweep(self, keep: Current | None) -> None:
        """Remove what killed writers and earlier generations left. Needs the lock."""
        for path in self.folder.iterdir():
            stale = path.name.startswith("s") and ".kgl" in path.name
            if (stale and (keep is None or path.name != keep.file)) or path.suffix == ".tmp":
                path.unlink(missing_ok=True)

    @contextmanager
    def lock(self, timeout: float) -> Iterator[None]:
        """Hold the store for writing, `timeout` seconds of waiting at most (0: at once or not at all).

        Raises Busy, which says who holds it. The operating system lets go of the lock of a process that dies.
        """
        from filelock import FileLock, Timeout

        lock = FileLock(self._lock)
        try:
            lock.acquire(timeout=timeout, poll_interval=0.01)
        except Timeout:
            raise Busy(
                f"another process is writing to this ledger: {self._who()}", "wait for it, or end it, and try again"
            ) from None
        try:
            self._holder.write_text(f"process {os.getpid()}")
            yield
        finally:
            lock.release()

    def _who(self) -> str:
        try:
            return self._holder.read_text() or "an unknown process"
        except OSError:
            return "an unknown process"
