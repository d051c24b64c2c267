"""Generations of the store: files named once and never changed, and `current.json`, which names the one that counts.

A reader takes no lock: it loads what `current.json` names, and starts over if that was swept meanwhile.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from ledger_cli.durable import CannotWrite, sync_folder
from ledger_cli.errors import Busy

LAYOUT = 2
"""The version of the graph's layout: a generation of another layout is rebuilt, never read."""

_SECOND = 1_000_000_000


@dataclass(frozen=True)
class Identity:
    """What tells one state of the checkpoint from another: cheap to look at, and a digest where that differs."""

    size: int
    mtime_ns: int
    inode: int
    sha256: str

    @classmethod
    def of(cls, path: Path, data: bytes) -> Self:
        """The identity of a file that holds these bytes."""
        return cls._of(path.stat(), data)

    @classmethod
    def read(cls, path: Path, known: Identity | None = None) -> tuple[Identity, bytes]:
        """A file's bytes with their identity; looks like `known` = is `known`, which spares the digest.

        Both are of one file, even if another takes its place meanwhile. Raises OSError.
        """
        with path.open("rb") as file:
            stat = os.fstat(file.fileno())  # before the bytes: one that is written to meanwhile shall look changed
            data = file.read()
        same = known is not None and known._is_surely(stat) and len(data) == stat.st_size
        return (known if known is not None and same else cls._of(stat, data)), data

    @classmethod
    def _of(cls, stat: os.stat_result, data: bytes) -> Self:
        import hashlib  # only where a file really differs

        return cls(stat.st_size, stat.st_mtime_ns, stat.st_ino, hashlib.sha256(data).hexdigest())

    def same_stat(self, path: Path) -> bool:
        """Does the file at `path` look like this one? (Where there is none, or for an instant none: no.)"""
        try:
            return self._looks_like(path.stat())
        except OSError:
            return False

    def _looks_like(self, stat: os.stat_result) -> bool:
        return (self.size, self.mtime_ns, self.inode) == (stat.st_size, stat.st_mtime_ns, stat.st_ino)

    def _is_surely(self, stat: os.stat_result) -> bool:
        # In whole seconds (some file systems, and tools that set it) an mtime does not tell two writes apart.
        return self._looks_like(stat) and stat.st_mtime_ns % _SECOND != 0


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

        Raises OSError where it cannot be read.
        """
        stat = path.stat()
        if self.checkpoint._is_surely(stat):
            return self
        if self.before is not None and self.before._is_surely(stat):
            return self._unrenamed(self.before)
        now, _ = Identity.read(path)
        if now.sha256 == self.checkpoint.sha256:
            return replace(self, checkpoint=now)
        if self.before is not None and now.sha256 == self.before.sha256:
            return self._unrenamed(now)
        return None

    def _unrenamed(self, before: Identity) -> Current:
        """The rename of the checkpoint did not happen: what was to be exported is pending."""
        return replace(self, checkpoint=before, before=None, exported=(), pending=(*self.pending, *self.exported))


class Generations:
    """The folder `.store/`: its lock, its generations, and which of them counts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.journal = folder / "journal.jsonl"
        self._current = folder / "current.json"
        self._lock = folder / "lock"
        self._holder = folder / "lock.holder"
        self._held: tuple[int, int] | None = None

    def current(self) -> Current | None:
        """What `current.json` says; None at any doubt, and then the store is rebuilt."""
        try:
            if not self._current.is_file():  # a pipe would be waited for
                return None
            return _parse(json.loads(self._current.read_bytes()))
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None

    def path(self, current: Current) -> Path:
        return self.folder / current.file

    def next(self) -> tuple[int, Path]:
        """The number and the path of a generation that there never was. Needs the lock.

        Also not one that is lost: `current.json` names it, and would name another in its place.
        """
        taken = [int(found[1]) for p in self.folder.iterdir() if (found := _FILE.fullmatch(p.name))]
        if (current := self.current()) is not None:
            taken.append(current.generation)
        number = max(taken, default=0) + 1
        return number, self.folder / f"s{number}.kgl"

    def publish(self, current: Current) -> None:
        """Make this the generation that readers load, atomically. Needs the lock. Raises CannotWrite."""
        temp = self._current.with_suffix(".tmp")
        try:
            with temp.open("w", encoding="utf-8") as file:
                json.dump(asdict(current), file)
                file.flush()
                os.fsync(file.fileno())
            temp.replace(self._current)
        except OSError as fault:
            raise self._cannot_write(fault) from fault

    def forget(self) -> None:
        """Let no generation count, durably: the journal is about to hold other things under the same names.

        Needs the lock. Raises CannotWrite.
        """
        try:
            self._current.unlink()
            sync_folder(self.folder)
        except FileNotFoundError:
            return
        except OSError as fault:
            raise self._cannot_write(fault) from fault

    def sweep(self, keep: Current | None) -> None:
        """Remove what killed writers and earlier generations left, as far as possible. Needs the lock."""
        with contextlib.suppress(OSError):
            for path in list(self.folder.iterdir()):
                stale = path.name.startswith("s") and ".kgl" in path.name
                if (stale and (keep is None or path.name != keep.file)) or path.suffix == ".tmp":
                    with contextlib.suppress(OSError):
                        path.unlink()

    @contextlib.contextmanager
    def lock(self, timeout: float) -> Iterator[None]:
        """Hold the store for writing, `timeout` seconds of waiting at most (0: at once or not at all).

        Raises Busy, which says who holds it, or CannotWrite. The operating system lets go of the lock of a process
        that dies.
        """
        from filelock import FileLock, Timeout

        lock = FileLock(self._lock)
        try:
            lock.acquire(timeout=timeout, poll_interval=0.01)
        except Timeout:
            raise Busy(
                f"another process is writing to this ledger: {self._who()}", "wait for it, or end it, and try again"
            ) from None
        except OSError as fault:
            raise self._cannot_write(fault) from fault
        try:
            self._held = self._lock_file()
            with contextlib.suppress(OSError):  # what it is good for is a message
                self._holder.write_text(f"process {os.getpid()}")
            yield
        finally:
            self._held = None
            lock.release()

    def must_hold(self) -> None:
        """Raise CannotWrite if the lock's file is gone: whoever deleted it let a second writer in."""
        if self._held is None or self._lock_file() != self._held:
            raise CannotWrite(
                f"{self.folder} was deleted while it was written to; nothing more is written",
                "apply the session again: what is recorded already changes nothing",
            )

    def _lock_file(self) -> tuple[int, int] | None:
        try:
            stat = self._lock.stat()
        except OSError:
            return None
        return stat.st_dev, stat.st_ino

    def _who(self) -> str:
        try:
            return self._holder.read_text(errors="replace") or "an unknown process"
        except OSError:
            return "an unknown process"

    def _cannot_write(self, fault: OSError) -> CannotWrite:
        return CannotWrite(f"cannot write in {self.folder}: {fault.strerror or fault}")


_FILE = re.compile(r"s([0-9]{1,15})\.kgl")


def _parse(raw: dict[str, Any]) -> Current:
    """What `current.json` holds. Raises ValueError and its like for what `publish` did not write."""
    before = raw["before"]
    current = Current(
        **{
            **raw,
            "checkpoint": _identity(raw["checkpoint"]),
            "before": None if before is None else _identity(before),
            **{name: _names(raw[name]) for name in ("exported", "pending", "aside")},
        }
    )
    named = _FILE.fullmatch(current.file)  # a file of this folder, and no other
    if named is None or type(current.generation) is not int or int(named[1]) != current.generation:
        raise ValueError(f"{current.file} is no generation")
    if current.layout != LAYOUT:
        raise ValueError(f"the layout {current.layout} is not this one's")
    return current


def _identity(raw: dict[str, Any]) -> Identity:
    found = Identity(**raw)
    if not isinstance(found.sha256, str) or any(type(n) is not int for n in (found.size, found.mtime_ns, found.inode)):
        raise ValueError("this is no file's identity")
    return found


def _names(raw: Any) -> tuple[str, ...]:
    if not isinstance(raw, list) or not all(isinstance(name, str) for name in raw):
        raise ValueError("these are no names of sessions")
    return tuple(raw)
