"""Where tool calls are kept: `snapshots/.store/calls/`, and what of them is tracked by git in `snapshots/calls/`.

One file a session of calls, one line a call, appended and flushed to the disk under a lock. A line that was cut off by
a kill is dropped when it is found, and that is said. Both folders together are what is on record.

**A write and its call.** The ledger records a session in its journal; a call has a line here; no two files change at
once. So a call that writes has two lines. Under the lock of the ledger, when all is checked and nothing is durable
yet, comes a *pending* line: the whole call, and the session that it is about to write. Then the ledger journals, and
last comes the call's own line, `committed`. A process that dies in between leaves a pending line alone. Whoever comes
next and gets the ledger's lock settles it by asking the ledger: is that session recorded, the call is committed; is
it not, the call was rolled back. A pending line has its number, so a call that repeats one is refused before it wrote.
(Who dies there, and then checks another branch out before anything is asked, loses sight of what was exported.)
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from ledger_cli import durable
from ledger_cli.database import Database
from ledger_cli.durable import CannotWrite
from ledger_cli.errors import Busy, Damaged, Refused
from ledger_cli.memory.calls import CallRepeated, ToolCall, file_stem, line, parse, text

SETTLED = "the process ended before anything was recorded"
"""The error of a call that was settled and had written nothing."""

_PENDING, _WRITES = '{"pending": ', ', "writes": '


@dataclass
class _File:
    """A session's file in the store, as far as it was read."""

    end: int = 0
    inode: int = 0
    calls: dict[int, ToolCall] = field(default_factory=dict)
    pending: dict[int, tuple[ToolCall, str]] = field(default_factory=dict)  # with the session that it writes

    @property
    def open(self) -> dict[int, tuple[ToolCall, str]]:
        return {seq: found for seq, found in self.pending.items() if seq not in self.calls}


class Calls:
    """The calls on record for one ledger. Safe for several threads and processes at a time."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.folder = database.generations.folder / "calls"
        self.tracked = database.folder / "calls"
        self._files: dict[str, _File] = {}
        self._tracked: dict[str, tuple[tuple[int, int, int], dict[int, ToolCall]]] = {}
        self._thread = threading.RLock()

    # Writing

    def append(self, session: str, seq: int | None, make: Callable[[int], ToolCall]) -> ToolCall:
        """Put the call that `make` makes of its number on record, durably; without a number it gets the next one.

        Raises CallRepeated, CallRefused, CannotWrite; nothing is kept then.
        """
        with self._locked():
            call = make(self._number(session, seq))
            self._write(session, line(call))
        return call

    def begin(self, session: str, seq: int | None, make: Callable[[int], ToolCall], writes: str) -> ToolCall:
        """Say that a call is about to write a session; see above. Only for whoever holds the ledger's lock."""
        with self._locked():
            call = make(self._number(session, seq))
            self._write(session, f"{_PENDING}{line(call)}{_WRITES}{text(writes)}}}")
        return call

    def finish(self, call: ToolCall) -> None:
        """The line of a call that was begun; nothing, where somebody settled it meanwhile."""
        with self._locked():
            if call.seq not in self._read(call.session).calls:
                self._write(call.session, line(call))

    def must_be_new(self, session: str, seq: int | None) -> None:
        """Raise CallRepeated for a number that is taken, before any work is done for it."""
        if seq is not None and (self.folder.is_dir() or self.tracked.is_dir()):
            with self._locked():
                self._number(session, seq)

    def _number(self, session: str, seq: int | None) -> int:
        mine, theirs = self._read(session), self._exported(session)
        taken = {*mine.calls, *mine.pending, *theirs}
        if seq is None:
            return max(taken, default=0) + 1
        if seq in taken:
            raise CallRepeated(session, seq)
        return seq

    def settle(self) -> None:
        """Finish what processes that died left pending; does nothing while the ledger is being written to."""
        if not self.folder.is_dir():
            return
        with contextlib.suppress(Busy, CannotWrite), self.database.generations.lock(0), self._locked():
            for session in self._sessions():
                for call, writes in self._read(session).open.values():
                    recorded = bool(self.database.recorded(writes))
                    undone = replace(call, status="rolled_back", rows=0, touched=(), wrote=(), error=SETTLED)
                    self._write(session, line(call if recorded else undone))

    # Reading

    def all(self) -> list[ToolCall]:
        """Every call on record, by time, session and number. Raises Damaged for what is no record."""
        self.settle()
        found: list[ToolCall] = []
        with self._locked(reading=True):
            for session in self._sessions():
                found += self._both(session).values()
        return sorted(found, key=lambda call: call.key)

    def export(self) -> list[tuple[Path, int]]:
        """Write the tracked files: all calls of a session by number. Returns each file that changed, and its calls.

        A file only ever gains lines. Raises Refused where it holds another call under a number, Damaged where it is
        no record; that file, and those after it, stay as they are.
        """
        self.settle()
        changed = []
        with self._locked():
            for session in self._sessions():
                calls = self._both(session)
                path = self.tracked / f"{file_stem(session)}.jsonl"
                data = "".join(f"{line(calls[seq])}\n" for seq in sorted(calls)).encode()
                if calls and (not path.exists() or path.read_bytes() != data):
                    try:
                        self.tracked.mkdir(exist_ok=True)
                    except OSError as fault:
                        raise self._cannot(self.tracked, fault) from None
                    durable.sweep(path)
                    durable.replace(durable.write_temp(path, data), path)
                    changed.append((path, len(calls)))
        return changed

    def _both(self, session: str) -> dict[int, ToolCall]:
        mine, theirs = self._read(session).calls, self._exported(session)
        for seq in sorted(mine.keys() & theirs.keys()):
            if line(mine[seq]) != line(theirs[seq]):
                raise Refused(
                    f"call {seq} of session {session} was exported with other content than is on record here",
                    f"{self.tracked}/{file_stem(session)}.jsonl holds the other; two clones used one session's id",
                )
        return {**theirs, **mine}

    # Files

    @contextlib.contextmanager
    def _locked(self, *, reading: bool = False) -> Iterator[None]:
        """Hold the lock of the calls. Who only reads goes without where the disk takes no lock."""
        with self._thread, contextlib.ExitStack() as held:
            try:
                held.enter_context(self._lock_file())
            except CannotWrite:
                if not reading:
                    raise
            yield

    @contextlib.contextmanager
    def _lock_file(self) -> Iterator[None]:
        from filelock import FileLock, Timeout

        try:
            self.database.make_store()
            self.folder.mkdir(exist_ok=True)
            lock = FileLock(self.folder / "lock")
            lock.acquire(timeout=self.database.timeout, poll_interval=0.005)
        except Timeout:
            raise Busy("another process is writing calls to this ledger", "wait for it, or end it") from None
        except OSError as fault:
            raise self._cannot(self.folder, fault) from None
        try:
            yield
        finally:
            lock.release()

    def _sessions(self) -> list[str]:
        """Every session that either folder has a file of."""
        return sorted({_session_of(path) for folder in (self.folder, self.tracked) for path in folder.glob("*.jsonl")})

    def _read(self, session: str) -> _File:
        """A session's file, read on from where it was last read. Drops a line that was cut off. Needs the lock."""
        path = self._path(session)
        known = self._files.setdefault(session, _File())
        try:
            with path.open("rb") as file:
                stat = os.fstat(file.fileno())
                if stat.st_ino != known.inode or stat.st_size < known.end:
                    known = self._files[session] = _File(inode=stat.st_ino)
                file.seek(known.end)
                data = file.read()
        except FileNotFoundError:
            self._files[session] = _File()
            return self._files[session]
        except OSError as fault:
            raise Damaged(f"cannot read {path}: {fault.strerror or fault}") from None
        whole = data.rfind(b"\n") + 1
        try:
            for said in data[:whole].splitlines():
                _take(known, said, session, path)
        except Damaged:  # what was read of it is read again, once somebody mended it
            del self._files[session]
            raise
        known.end += whole
        if whole < len(data):
            self.database.say(f"note: {path.name}: a call that was being written when its process died is dropped")
            with contextlib.suppress(OSError):  # who cannot write here does not append to it either
                os.truncate(path, known.end)
        return known

    def _write(self, session: str, said: str) -> None:
        """Append one line, durably, behind all that was read. Raises CannotWrite, and then nothing is kept of it."""
        known, path = self._read(session), self._path(session)
        try:
            with path.open("ab", buffering=0) as file:  # a buffer would be written once more as the file is closed
                new, left = not known.inode, said.encode() + b"\n"
                try:
                    while left:
                        left = left[file.write(left) :]
                    os.fsync(file.fileno())
                except OSError:
                    with contextlib.suppress(OSError):
                        os.ftruncate(file.fileno(), known.end)
                    raise
            if new:
                durable.sync_folder(self.folder)
        except OSError as fault:
            raise self._cannot(path, fault) from fault
        self._read(session)

    def _exported(self, session: str) -> dict[int, ToolCall]:
        """What the tracked file of a session holds, read again where it looks changed."""
        path = self.tracked / f"{file_stem(session)}.jsonl"
        try:
            stat = path.stat()
            looks = stat.st_ino, stat.st_size, stat.st_mtime_ns
            if (known := self._tracked.get(session)) is not None and known[0] == looks:
                return known[1]
            data = path.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as fault:
            raise Damaged(f"cannot read {path}: {fault.strerror or fault}") from None
        found = _File()
        for said in data.splitlines():
            _take(found, said, session, path, tracked=True)
        self._tracked[session] = looks, found.calls
        return found.calls

    def _path(self, session: str) -> Path:
        return self.folder / f"{file_stem(session)}.jsonl"

    def _cannot(self, path: Path, fault: OSError) -> CannotWrite:
        return CannotWrite(f"cannot write {path}: {fault.strerror or fault}", "nothing of it is kept")


def _take(known: _File, said: bytes, session: str, path: Path, *, tracked: bool = False) -> None:
    """Read one line into what is known of a file. Raises Damaged."""
    number = len(known.calls) + len(known.pending) + 1
    try:
        told, writes = said.decode(), ""
        if not tracked and told.startswith(_PENDING):
            told, _, last = told.removeprefix(_PENDING).rpartition(_WRITES)
            writes = json.loads(last.removesuffix("}"))
        call = parse(told)
        if call.session != session:
            raise ValueError(f"it is of session {call.session}")
        if call.seq in (known.pending if writes else known.calls):
            raise ValueError(f"call {call.seq} stands here a second time")
        if writes:
            known.pending[call.seq] = call, writes
        else:
            known.calls[call.seq] = call
    except ValueError as fault:
        hint = "git has the file as it was" if tracked else "mend the line, or move the file away"
        raise Damaged(f"{path}:{number}: this is no tool call: {fault}", hint) from None


def _session_of(path: Path) -> str:
    from urllib.parse import unquote

    return unquote(os.fsencode(path.stem).decode(errors="replace"))  # of a name in no UTF-8 there is no session
