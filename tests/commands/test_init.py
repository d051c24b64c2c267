"""`ledger init`: begin a ledger here; again, it adds what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

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
