"""The folder of a site: written anew each time, and nothing in it touched that this program did not write.

The pages are written beside the old ones first. Where the disk is full, or the run is killed, the site that was there
is there still, every byte of it. Then they are moved to their places, and `index.html` is taken away before the first
of them and put back behind the last: a folder that has one holds a whole site, the old or the new. The next run takes
over what a killed one left. Two runs at once do not meet: the second is refused.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ledger_cli.durable import CannotWrite
from ledger_cli.errors import Refused

MARKER = ".ledger-site"
"""The file that says that a folder is a site of ours, and which files in it are."""
STAGE = ".ledger-site.new"
"""The folder in it in which a new site is made."""
INDEX = "index.html"

_HEAD = "A site made by `ledger site`. It writes these files anew, and removes those that it no longer writes:\n"
_UNFINISHED = "A run that writes it has not finished. If none is running, run it again.\n"
_OURS = re.compile(r"(?:(?:items|entities|data|assets)/)?[a-z0-9][a-z0-9._~-]*\.(?:html|js|css)")


def write(folder: Path, pages: Iterable[tuple[str, str]], step: Callable[[], object] = lambda: None) -> int:
    """Write the pages (path, text) into a folder, and return how many; `step` is called after each.

    What an earlier site left there and this one has not is removed. Raises Refused for a folder that holds something
    else, a link where a page goes, or another run at it, and CannotWrite, which names the file. Either leaves the site
    that was there, unless the disk fails while pages are moved: then there is no `index.html`.
    """
    with _alone(folder):
        left = _claimed(folder)
        stage = folder / STAGE
        _refuse_link(stage)
        if stage.exists():
            with _named(stage):
                shutil.rmtree(stage)  # of a run that was killed
        try:
            done = _staged(folder, stage, pages, step)
            _mark(folder, left | done, unfinished=True)
            with _named(folder / INDEX):
                (folder / INDEX).unlink(missing_ok=True)
            for path in sorted(done - {INDEX}):
                _move(stage / path, folder / path)
            _swept(folder, left - done)
            if INDEX in done:
                _move(stage / INDEX, folder / INDEX)
            _mark(folder, done)
            return len(done)
        finally:
            shutil.rmtree(stage, ignore_errors=True)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other runs out of the folder: each would take the other's pages for those of a killed one.

    Raises Refused while another run writes it, and for a folder that holds something else: nothing is put there.
    """
    _refuse_foreign(folder)
    with _named(folder):
        folder.mkdir(parents=True, exist_ok=True)
        held = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)  # on the folder itself: no file more to publish
        except OSError as fault:
            what = f"another run is writing the site in {folder}"
            raise Refused(what, "wait for it, and run it again") from fault
        yield
    finally:
        os.close(held)


def _refuse_foreign(folder: Path) -> None:
    with _named(folder):
        if (folder / MARKER).is_file() or not folder.exists():
            return
        if not folder.is_dir() or any(each.name != f"{MARKER}.tmp" for each in folder.iterdir()):
            raise Refused(f"{folder} holds something else", "give a folder that is empty, or not there yet")


def _staged(folder: Path, stage: Path, pages: Iterable[tuple[str, str]], step: Callable[[], object]) -> set[str]:
    """Write the pages beside the old ones; their paths."""
    done: set[str] = set()
    parents: set[Path] = set()
    with _named(stage):
        stage.mkdir()
    for path, text in pages:
        if _OURS.fullmatch(path) is None:
            raise ValueError(f"{path!r} is no name for a page")
        file, place = stage / path, folder / path
        with _named(place):
            _refuse_link(place)
            if place.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            if place.parent not in parents:
                if place.parent != folder:
                    _refuse_link(place.parent)
                place.parent.mkdir(exist_ok=True)
                if not os.access(place.parent, os.W_OK):
                    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
                file.parent.mkdir(exist_ok=True)
                parents.add(place.parent)
            file.write_bytes(text.encode())
        done.add(path)
        step()
    return done


def _claimed(folder: Path) -> set[str]:
    """Make the folder ours; the files that are ours already."""
    marker = folder / MARKER
    _refuse_link(marker)
    with _named(marker):
        if marker.is_file():
            told = marker.read_text(encoding="utf-8", errors="replace").splitlines()
            return {line for line in told if _OURS.fullmatch(line)}
    _refuse_foreign(folder)
    _mark(folder, set(), unfinished=True)
    return set()


def _mark(folder: Path, paths: set[str], *, unfinished: bool = False) -> None:
    """Say which files of the folder are ours: at once, so that a killed run leaves the one or the other."""
    temp = folder / f"{MARKER}.tmp"
    with _named(folder / MARKER):
        _refuse_link(temp)
        told = _HEAD + (_UNFINISHED if unfinished else "") + "".join(f"{path}\n" for path in sorted(paths))
        temp.write_text(told, encoding="utf-8")
        temp.replace(folder / MARKER)


def _move(file: Path, place: Path) -> None:
    with _named(place):
        file.replace(place)


def _swept(folder: Path, paths: Iterable[str]) -> None:
    """Remove files of an earlier site, and the folders in which nothing is left."""
    for path in sorted(paths):
        parent = (folder / path).parent
        if parent != folder and parent.is_symlink():
            continue  # what it leads to is not ours
        with _named(folder / path):
            (folder / path).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            if parent != folder:
                parent.rmdir()


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Turn an error of the system into CannotWrite for this file: a full disk names none."""
    try:
        yield
    except OSError as fault:
        raise CannotWrite(f"cannot write {path}: {fault.strerror or fault}") from fault


def _refuse_link(path: Path) -> None:
    """Raise Refused for a link in the folder: what it leads to is not ours to write over."""
    if path.is_symlink():
        raise Refused(f"{path} is a link", "a site writes no file through a link in its folder: remove it first")
