"""`ledger init`: begin a ledger here; again, it adds what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.commands.conftest import Golden
    from tests.conftest import Repo


def fresh(repo: Repo) -> Path:
    folder = repo.path.parent / "fresh"
    folder.mkdir()
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_it_says_what_it_made_and_what_comes_next(repo: Repo, golden: Golden) -> None:
    said = repo.run("-C", fresh(repo), "init")
    golden("init/init.txt", said.out)
    assert said.err == ("Next: `ledger session new s1 > sessions/s1.yaml`, fill it in, `ledger session apply` it.\n")


def test_again_it_changes_nothing_and_says_so(repo: Repo) -> None:
    folder = fresh(repo)
    repo.run("-C", folder, "init")
    before = files(folder)
    said = repo.run("-C", folder, "init")
    assert (said.out, said.err) == (f"{folder} has a ledger already\n", "")
    assert files(folder) == before


def test_it_keeps_what_is_there(repo: Repo) -> None:
    folder = fresh(repo)
    (folder / ".gitignore").write_text("*.log")
    (folder / ".gitattributes").write_text("* text=auto\n")
    repo.run("-C", folder, "init")
    assert (folder / ".gitignore").read_text() == "*.log\nsnapshots/.*\n"
    assert (folder / ".gitattributes").read_text() == "* text=auto\nsnapshots/ledger.json text eol=lf\n"


def test_a_ledger_that_holds_something_is_left_alone(story: Repo) -> None:
    before = story.checkpoint.read_bytes()
    story.run("init")
    assert story.checkpoint.read_bytes() == before


def test_only_what_is_missing_is_made(story: Repo) -> None:
    (story.path / ".gitignore").unlink()
    assert story.run("init").out == "made .gitignore: snapshots/.*\n"


def test_a_new_ledger_is_sound_and_empty(repo: Repo) -> None:
    folder = fresh(repo)
    repo.run("-C", folder, "init")
    assert repo.run("-C", folder, "check").out == "ok\n"
    assert repo.run("-C", folder, "lateness", "--json").ids == []
    assert repo.git("status", "--porcelain", "--ignored", "snapshots").strip() != ""


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("last", ["", "end"], ids=["open", "closed"])
def test_a_line_is_added_as_the_file_ends_its_lines(repo: Repo, end: str, last: str) -> None:
    folder = fresh(repo)
    written = f"*.log{end}*.tmp{end if last else ''}"
    (folder / ".gitignore").write_bytes(written.encode())
    repo.run("-C", folder, "init")
    assert (folder / ".gitignore").read_bytes() == f"*.log{end}*.tmp{end}snapshots/.*{end}".encode()
    assert repo.run("-C", folder, "init").out == f"{folder} has a ledger already\n"


def test_a_file_that_is_not_utf_8_keeps_its_bytes(repo: Repo) -> None:
    folder = fresh(repo)
    (folder / ".gitattributes").write_bytes(b"caf\xe9.txt -text\n")
    repo.run("-C", folder, "init")
    assert (folder / ".gitattributes").read_bytes() == b"caf\xe9.txt -text\nsnapshots/ledger.json text eol=lf\n"


@pytest.mark.parametrize("name", ["sessions", "snapshots"])
def test_a_file_where_a_folder_has_to_be_is_named(repo: Repo, name: str) -> None:
    folder = fresh(repo)
    (folder / name).write_text("mine")
    said = repo.run("-C", folder, "init", code=1)
    assert said.err.startswith(f"error: cannot write {folder / name}: File exists\n  hint: what is there already stays")
    assert (folder / name).read_text() == "mine"


def test_a_folder_where_a_file_has_to_be_is_named(repo: Repo) -> None:
    folder = fresh(repo)
    (folder / ".gitignore").mkdir()
    said = repo.run("-C", folder, "init", code=1)
    assert said.err.startswith(f"error: cannot write {folder / '.gitignore'}: Is a directory\n")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc")
def test_where_nothing_can_be_made_it_says_so(repo: Repo) -> None:
    said = repo.run("-C", "/proc", "init", code=1)
    assert said.err.startswith("error: cannot write /proc/sessions: ")


def test_a_ledger_inside_of_another_is_said_to_be_one(repo: Repo) -> None:
    inside = repo.path / "sessions" / "deep"
    inside.mkdir(parents=True)
    said = repo.run("-C", inside, "init")
    assert said.err.splitlines()[0] == (
        f"note: {repo.path} has a ledger already; this one is another, and the one that counts in here"
    )
    assert repo.run("-C", inside, "init").err == ""
    assert repo.run("-C", repo.path, "init").err == ""
