"""Put a whole file in the place of another so that a reader, or a crash, meets the one or the other."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from pathlib import Path

from ledger_cli.errors import LedgerError


class CannotWrite(LedgerError):
    """The disk does not take a file: it is full, or the folder is read-only."""


def write_temp(path: Path, data: bytes) -> Path:
    """Write the bytes, durably, to a new file beside the real file behind `path`; return it for `replace`.

    It has the mode of the existing file, or of a new one under the process's umask. Raises CannotWrite, and leaves
    nothing behind; also for what is no file: a device or a pipe would be gone once the file is in its place.
    """
    real = Path(os.path.realpath(path))
    if os.path.lexists(real) and not real.is_file():
        raise CannotWrite(f"cannot write {path}: {'Is a directory' if real.is_dir() else 'it is not a regular file'}")
    temp = real.with_name(f".{real.name}.{os.urandom(6).hex()}.tmp")
    try:
        mode = real.stat().st_mode & 0o7777 if real.exists() else None
        handle = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o644)
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        if mode is not None:
            temp.chmod(mode)
    except BaseException as fault:
        _give_up(path, temp, fault)
        raise
    return temp


def replace(temp: Path, path: Path) -> None:
    """Put what `write_temp` wrote in the place of the real file behind `path`, durably.

    Raises CannotWrite; the temporary file is gone then too.
    """
    real = Path(os.path.realpath(path))
    try:
        temp.replace(real)
    except BaseException as fault:
        _give_up(path, temp, fault)
        raise
    try:
        sync_folder(real.parent)
    except OSError as fault:
        hint = "the new file is in its place, but may not survive a power failure"
        raise CannotWrite(f"cannot flush the folder of {path}: {fault.strerror}", hint) from fault


def sweep(path: Path) -> None:
    """Remove what killed writers left of `write_temp`. Only for whoever holds the lock: it takes a living one's too."""
    real = Path(os.path.realpath(path))
    ours = re.compile(rf"\.{re.escape(real.name)}\.[0-9a-f]{{12}}\.tmp")
    with contextlib.suppress(OSError):
        for left in [p for p in real.parent.iterdir() if ours.fullmatch(p.name)]:
            left.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make what was created, renamed and removed in a folder survive a power failure. Raises OSError."""
    if os.name == "nt":  # has no handle on a folder
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as fault:
        if fault.errno != errno.EINVAL:  # a network file system that has no such thing
            raise
    finally:
        os.close(handle)


def _give_up(path: Path, temp: Path, fault: BaseException) -> None:
    with contextlib.suppress(OSError):
        temp.unlink()
    if isinstance(fault, OSError):
        raise CannotWrite(f"cannot write {path}: {fault.strerror or fault}") from fault
