"""The folder of a site: written anew each time, and nothing in it touched that this program did not write."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from ledger_cli.durable import CannotWrite
from ledger_cli.errors import Refused

MARKER = ".ledger-site"
"""The file that says that a folder is a site of ours, and which files in it are."""

_HEAD = "A site made by `ledger site`. It writes these files anew, and removes those that it no longer writes:\n"
_OURS = re.compile(r"(?:(?:items|entities|data|assets)/)?[a-z0-9][a-z0-9._~-]*\.(?:html|js|css)")


def write(folder: Path, pages: Iterable[tuple[str, str]], step: Callable[[], object] = lambda: None) -> int:
    """Write the pages (path, text) into a folder, and return how many; `step` is called after each.

    What an earlier site left there and this one has not is removed. Raises Refused for a folder that holds something
    else, and CannotWrite.
    """
    try:
        left = _claimed(folder)
        done: set[str] = set()
        parents: set[Path] = set()
        with (folder / MARKER).open("a", encoding="utf-8", buffering=1) as marker:
            for path, text in pages:
                if _OURS.fullmatch(path) is None:
                    raise ValueError(f"{path!r} is no name for a page")
                marker.write(path + "\n")  # first the name: what a killed run left is known to the next one
                file = folder / path
                _refuse_link(file)
                if file.parent not in parents:
                    if file.parent != folder:
                        _refuse_link(file.parent)
                    file.parent.mkdir(exist_ok=True)
                    parents.add(file.parent)
                file.write_bytes(text.encode())
                done.add(path)
                step()
        for path in left - done:
            if not (folder / path).parent.is_symlink() or (folder / path).parent == folder:
                (folder / path).unlink(missing_ok=True)
        (folder / MARKER).write_text(_HEAD + "".join(f"{path}\n" for path in sorted(done)), encoding="utf-8")
        return len(done)
    except OSError as fault:
        raise CannotWrite(f"cannot write {fault.filename or folder}: {fault.strerror or fault}") from fault


def _claimed(folder: Path) -> set[str]:
    """Make the folder ours; the files that are ours already."""
    marker = folder / MARKER
    _refuse_link(marker)
    if marker.is_file():
        return {
            line for line in marker.read_text(encoding="utf-8", errors="replace").splitlines() if _OURS.fullmatch(line)
        }
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Refused(f"{folder} holds something else", "give a folder that is empty, or not there yet")
    folder.mkdir(parents=True, exist_ok=True)
    marker.write_text(_HEAD, encoding="utf-8")
    return set()


def _refuse_link(path: Path) -> None:
    """Raise Refused for a link in the folder: what it leads to is not ours to write over."""
    if path.is_symlink():
        raise Refused(f"{path} is a link", "a site writes no file through a link in its folder: remove it first")
