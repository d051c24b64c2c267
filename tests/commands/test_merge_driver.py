"""`ledger merge-driver`: what git calls, in real repositories; merges, rebases, picks and reverts of sessions."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from ledger_cli import checkpoint
from tests.conftest import NOW, ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.commands.conftest import Golden
    from tests.conftest import Repo

FILE = "snapshots/ledger.json"


@pytest.fixture
def driven(repo: Repo) -> Repo:
    """A ledger with one session, committed, in a repository that merges by the driver."""
    program = repo.path.parent / "ledger"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m ledger_cli "$@"\n')
    program.chmod(0o755)
    repo.git("config", "merge.ledger.driver", f"'{program}' merge-driver %O %A %B %P")
    attributes = repo.path / ".gitattributes"
    attributes.write_text(f"{FILE} text eol=lf merge=ledger\n")
    commit(repo, session("s0", text="orders uses postgres", id="d1"))
    return repo


def session(name: str, *, day: int = 1, slot: str | None = "orders/database", **item: Any) -> dict[str, Any]:
    item = {"text": f"what {name} says", **item, **({"slot": slot} if slot else {})}
    return {"session": name, "at": f"2024-02-{day:02}T09:00:00Z", "by": "sam", "decisions": [item]}


def commit(repo: Repo, *sessions: dict[str, Any]) -> None:
    for each in sessions:
        repo.apply(each, flags=("--backdated",))
    repo.git("add", ".")
    repo.git("commit", "-qm", ", ".join(s["session"] for s in sessions))


def git(repo: Repo, *arguments: str, code: int = 0) -> str:
    done = subprocess.run(["git", *arguments], cwd=repo.path, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def ids(repo: Repo) -> list[str]:
    return sorted(row["session"] for row in repo.run("session", "list", "--json").json["sessions"])


def sound(repo: Repo, *sessions: str) -> None:
    data = repo.checkpoint.read_bytes()
    assert data == checkpoint.render(checkpoint.read(data))
    repo.run("check")
    assert ids(repo) == sorted(sessions)


def test_new_slots_side_by_side_merge_where_git_alone_conflicts(driven: Repo) -> None:
    git(driven, "checkout", "-qb", "other")
    commit(driven, session("s1", slot="b"))
    git(driven, "checkout", "-q", "main")
    commit(driven, session("s2", slot="a", day=2))
    git(driven, "-c", "merge.ledger.driver=git merge-file %A %O %B", "merge", "other", code=1)
    git(driven, "merge", "--abort")
    git(driven, "merge", "-q", "--no-edit", "other")
    sound(driven, "s0", "s1", "s2")


def conflicted(driven: Repo) -> str:
    """Both branches answer one slot; what git and the driver say of the merge."""
    git(driven, "checkout", "-qb", "other")
    commit(driven, session("s1", id="d2", text="orders uses mysql", validFrom="2024-02-03"))
    git(driven, "checkout", "-q", "main")
    commit(
        driven,
        session("s2", day=2, id="d3", text="orders uses sqlite", validFrom="2024-02-03"),
        session("s3", day=2, slot="a"),
    )
    return git(driven, "merge", "other", code=1)


def test_two_answers_in_one_slot_are_a_conflict_there_alone(driven: Repo, golden: Golden) -> None:
    said = conflicted(driven)
    told = "".join(
        row + "\n" for row in said.splitlines() if not row.startswith(("Auto-merging", "CONFLICT", "Automatic"))
    )
    golden("merge-driver/two-current.txt", told)
    golden("merge-driver/two-current.json", driven.checkpoint.read_text())
    assert "UU snapshots/ledger.json" in git(driven, "status", "--short")
    assert driven.run("check", code=3).out.count("run `ledger resolve`") >= 1


def test_what_it_says_to_run_settles_it(driven: Repo) -> None:
    said = conflicted(driven)
    driven.run(
        "resolve", "--slot", "orders/database", "--keep", "ours", "--by", "sam", "--reason", "one file is enough"
    )
    assert "ledger resolve --slot orders/database --keep ours --by NAME --reason TEXT" in said
    git(driven, "commit", "-qam", "Merge")
    clock = (NOW).isoformat().replace("+00:00", "Z")
    sound(driven, "s0", "s1", "s2", "s3", f"reject-d2-{clock}")
    assert driven.run("as-of", "2024-03-01", "--json").ids == ["d3", "s3/d1"]


TWICE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "one id for two items": (
        session("s1", slot=None, id="d7", text="theirs"),
        session("s2", slot=None, id="d7", text="ours", day=2),
    ),
    "one id for two items that others name": (
        {**session("s1", slot=None, id="d7", text="theirs"), "decisions": [
            {"id": "d7", "text": "theirs"}, {"id": "d8", "text": "after it", "supersedes": "d7"}]},
        session("s2", slot=None, id="d7", text="ours", day=2),
    ),
    "one id for two episodes": (
        {**session("s1", slot=None, **{"from": ["e2", "e1"]}),
         "episodes": [{"id": "e1", "kind": "note", "text": "a"}, {"id": "e2", "kind": "note", "text": "b"}]},
        {**session("s2", slot=None, day=2), "episodes": [{"id": "e2", "kind": "note", "text": "c"}]},
    ),
    "one session id": (
        session("same", slot=None, id="d7", text="theirs"),
        session("same", slot=None, id="d8", text="ours"),
    ),
    "two kinds of an entity": (
        {**session("s1", slot=None), "entities": [{"name": "Orders", "kind": "service"}]},
        {**session("s2", slot=None, day=2), "entities": [{"name": "orders", "kind": "team"}]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("keep", ["ours", "theirs"])
@pytest.mark.parametrize("theirs, ours", TWICE.values(), ids=TWICE)
def test_what_resolve_wrote_can_be_committed_and_what_else_changed_cannot(
    driven: Repo, program: Path, theirs: dict[str, Any], ours: dict[str, Any], keep: str
) -> None:
    """Of one id for two things, a line of one parent gives way: that is no rewritten history."""
    driven.run("install")
    git(driven, "checkout", "-qb", "other")
    commit(driven, theirs)
    git(driven, "checkout", "-q", "main")
    commit(driven, ours)
    git(driven, "merge", "other", code=1)
    driven.run("resolve", "--keep", keep)
    git(driven, "add", "snapshots")
    resolved = driven.checkpoint.read_text()
    told = driven.run("check", "--staged", "--json").json["problems"]
    gave_way = [p for p in told if p["code"] == "gave-way"]
    assert gave_way and all(p["severity"] == "info" for p in gave_way)
    driven.checkpoint.write_text(resolved.replace("orders uses postgres", "orders uses oracle"))
    git(driven, "add", "snapshots")
    assert "rewritten" in git(driven, "commit", "-qm", "forged", code=1)
    driven.checkpoint.write_text(resolved)
    git(driven, "add", "snapshots")
    git(driven, "commit", "-qm", "Merge")
    kept = "HEAD^1" if keep == "ours" else "HEAD^2"
    assert [p for p in driven.run("check", "--base", kept, "--json").json["problems"] if p["severity"] == "error"] == []


def test_a_session_on_both_branches_merges_once(driven: Repo) -> None:
    git(driven, "checkout", "-qb", "other")
    commit(driven, session("s1", slot="a"))
    picked = git(driven, "rev-parse", "HEAD").strip()
    commit(driven, session("s2", slot="c", day=2))
    git(driven, "checkout", "-q", "main")
    commit(driven, session("s3", slot="b", day=3))
    git(driven, "cherry-pick", picked)
    git(driven, "merge", "-q", "--no-edit", "other")
    sound(driven, "s0", "s1", "s2", "s3")


def test_a_cherry_pick_brings_its_own_session_alone(driven: Repo) -> None:
    git(driven, "checkout", "-qb", "other")
    commit(driven, session("s1", slot="a"))
    commit(driven, session("s2", slot="b", day=2))
    git(driven, "checkout", "-q", "main")
    commit(driven, session("s3", slot="c", day=3))
    assert "s1: recorded where this change comes from, not here; left out" in git(driven, "cherry-pick", "other")
    sound(driven, "s0", "s2", "s3")


def test_a_cherry_pick_of_what_builds_on_more_is_refused(driven: Repo) -> None:
    git(driven, "checkout", "-qb", "other")
    commit(driven, session("s1", slot=None, id="d2"))
    commit(driven, session("s2", slot=None, day=2, supersedes="d2", id="d3"))
    git(driven, "checkout", "-q", "main")
    commit(driven, session("s3", slot="c", day=3))
    said = git(driven, "cherry-pick", "other", code=1)
    assert "names d2, which is not recorded" in said
    assert "and bring first what it names" in said
    before = driven.checkpoint.read_bytes()
    driven.run("resolve", "--keep", "ours", "--by", "sam", "--reason", "so", code=1)
    assert driven.checkpoint.read_bytes() == before


def test_a_branch_rebases_session_by_session(driven: Repo) -> None:
    git(driven, "checkout", "-qb", "other")
    commit(driven, session("s1", slot="b"))
    commit(driven, session("s2", slot="b", day=2))
    git(driven, "checkout", "-q", "main")
    commit(driven, session("s3", slot="a", day=3))
    git(driven, "checkout", "-q", "other")
    git(driven, "rebase", "-q", "main")
    sound(driven, "s0", "s1", "s2", "s3")
    assert git(driven, "log", "--format=%s", "main..").split() == ["s2", "s1"]


def test_a_rebase_stops_where_both_answered_and_goes_on_once_settled(driven: Repo) -> None:
    conflicted(driven)
    git(driven, "merge", "--abort")
    git(driven, "checkout", "-q", "other")
    commit(driven, session("s4", slot="z", day=5))
    git(driven, "rebase", "main", code=1)
    driven.run("resolve", "--keep", "theirs", "--by", "sam", "--reason", "mysql it is")
    git(driven, "add", ".")
    git(driven, "-c", "core.editor=true", "rebase", "--continue")
    clock = NOW.isoformat().replace("+00:00", "Z")
    sound(driven, "s0", "s1", "s2", "s3", "s4", f"reject-d3-{clock}")


def test_a_revert_of_a_session_is_refused_where_others_follow(driven: Repo) -> None:
    commit(driven, session("s1", slot="a"))
    commit(driven, session("s2", slot="b", day=2))
    said = git(driven, "revert", "--no-edit", "HEAD~1", code=1)
    assert "rewritten history: theirs changed what session s1 had recorded before" in said
    assert "`ledger reject` takes a decision back" in said
    assert driven.run("resolve").out.startswith("kept what was recorded: ")
    sound(driven, "s0", "s1", "s2")
    assert git(driven, "diff", "HEAD", "--", FILE) == ""


def test_a_session_that_one_branch_took_out_is_no_clean_merge(driven: Repo) -> None:
    commit(driven, session("s1", slot="a"))
    git(driven, "checkout", "-qb", "other")
    commit(driven, session("s2", slot="b", day=2))
    git(driven, "checkout", "-q", "main")
    git(driven, "revert", "--no-edit", "HEAD")  # of the newest commit: git asks nobody
    commit(driven, session("s3", slot="c", day=3))
    said = git(driven, "merge", "other", code=1)
    assert "rewritten history: ours changed what session s1 had recorded before" in said
    driven.run("resolve")
    sound(driven, "s0", "s1", "s2", "s3")


def test_a_squash_of_sessions_merges(driven: Repo) -> None:
    git(driven, "checkout", "-qb", "other")
    commit(driven, session("s1", slot="b"))
    commit(driven, session("s2", slot="b", day=2))
    git(driven, "checkout", "-q", "main")
    commit(driven, session("s3", slot="a", day=3))
    git(driven, "merge", "-q", "--squash", "other")
    git(driven, "commit", "-qm", "Squashed")
    sound(driven, "s0", "s1", "s2", "s3")
    git(driven, "checkout", "-q", "other")
    commit(driven, session("s4", slot="d", day=4))
    git(driven, "merge", "-q", "--no-edit", "main")
    sound(driven, "s0", "s1", "s2", "s3", "s4")


@pytest.mark.parametrize("keep", ["ours", "theirs"])
def test_criss_cross(driven: Repo, keep: str) -> None:
    """Each branch merged the other's first commit: the base is a merge, with markers where the two disagree."""
    git(driven, "checkout", "-qb", "other")
    commit(driven, session("s1", id="d2", validFrom="2024-02-03"))
    git(driven, "tag", "other-1")
    git(driven, "checkout", "-q", "main")
    commit(driven, session("s2", day=2, id="d3", validFrom="2024-02-03"))
    git(driven, "tag", "main-1")
    git(driven, "merge", "other-1", code=1)
    reject = ("--keep", "d3", "--by", "sam", "--reason", "agreed")
    driven.run("resolve", *reject)
    git(driven, "commit", "-qam", "Merge")
    git(driven, "checkout", "-q", "other")
    git(driven, "merge", "main-1", code=1)
    driven.now += timedelta(hours=1)
    driven.run("resolve", *reject)
    git(driven, "commit", "-qam", "Merge")
    commit(driven, session("s4", slot="z", day=5))
    git(driven, "checkout", "-q", "main")
    commit(driven, session("s3", slot="a", day=4))
    if keep == "theirs":
        git(driven, "checkout", "-q", "other")
    git(driven, "merge", "-q", "--no-edit", "other" if keep == "ours" else "main")
    assert {"s0", "s1", "s2", "s3", "s4"} <= set(ids(driven))
    driven.run("check")


def test_a_file_that_both_branches_began(repo: Repo, driven: Repo) -> None:
    git(driven, "checkout", "-q", "--orphan", "new")
    driven.checkpoint.write_bytes(checkpoint.EMPTY)
    commit(driven, session("n1", slot="a"))
    git(driven, "merge", "-q", "--no-edit", "--allow-unrelated-histories", "main")
    sound(driven, "n1", "s0")


def test_a_stash_comes_back_upon_other_sessions(driven: Repo) -> None:
    driven.apply(session("s1", slot="b"), flags=("--backdated",))
    git(driven, "stash", "-q")
    commit(driven, session("s2", slot="a", day=2))
    git(driven, "stash", "pop", "-q")
    sound(driven, "s0", "s1", "s2")


# The command itself


def test_a_damaged_side_is_named_and_ours_stays_as_it_was(driven: Repo) -> None:
    data = driven.checkpoint.read_bytes()
    for name, bad, says in (
        ("markers", data.replace(b'"slot', b'<<<<<<< HEAD\n"slot', 1), "merge conflict in the checkpoint"),
        ("cut", data[:200], "the checkpoint"),
        ("empty", b"", "the checkpoint is empty"),
        ("newer", data.replace(b'"ledger": 1', b'"ledger": 2'), "written by a newer ledger"),
        ("binary", b"\xff\xfe\x00", "the checkpoint"),
    ):
        for side in ("OURS", "THEIRS"):
            for file in ("BASE", "OURS", "THEIRS"):
                (driven.path / file).write_bytes(bad if file == side else data)
            said = driven.run("merge-driver", "BASE", "OURS", "THEIRS", FILE, code=3)
            assert said.out == ""
            assert said.err.startswith(f"error: {FILE} is not merged, and holds our side alone: {side.lower()}: "), name
            assert says in said.err, name
            assert (driven.path / "OURS").read_bytes() == (bad if side == "OURS" else data)


def test_a_damaged_base_is_no_obstacle(driven: Repo) -> None:
    data = driven.checkpoint.read_bytes()
    for bad in (b"", data[:150], b"\xff", data.replace(b'"slot', b'>>>>>>> x\n"slot')):
        for file in ("BASE", "OURS", "THEIRS"):
            (driven.path / file).write_bytes(bad if file == "BASE" else data)
        driven.run("merge-driver", "BASE", "OURS", "THEIRS")
        assert (driven.path / "OURS").read_bytes() == data


def test_a_missing_file_is_a_sentence(driven: Repo) -> None:
    said = driven.run("merge-driver", "no", "such", "files", code=3)
    assert f"holds our side alone: cannot read {driven.path / 'no'}: " in said.err


def test_git_gets_its_answer_without_the_parser_of_the_command_line(repo: Repo) -> None:
    """It is started once a merge, and the parser would take as long as the merge."""
    code = (
        "import sys\n"
        "from ledger_cli.app import run\n"
        "assert run(['merge-driver', 'base', 'ours', 'theirs', 'file']) == 0\n"
        "print(sorted({'typer', 'rich', 'yaml', 'git', 'kglite'} & set(sys.modules)))\n"
    )
    for name in ("base", "ours", "theirs"):
        (repo.path / name).write_bytes(checkpoint.EMPTY)
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=repo.path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"
