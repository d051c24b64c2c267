"""`check` against revisions: history that was rewritten, and what two sides did not know of each other."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Repo


def decided(session: str, day: int, *items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"session": session, "at": f"2024-05-{day:02}T09:00:00Z", "decisions": list(items), **more}


@pytest.fixture
def kept(story: Repo) -> Repo:
    """The orders story, committed."""
    story.git("add", "-A")
    story.git("commit", "-qm", "The story")
    return story


def found(repo: Repo, *options: str, code: int = 3) -> list[dict[str, Any]]:
    problems: list[dict[str, Any]] = repo.run("check", *options, "--json", code=code).json["problems"]
    return problems


def codes(repo: Repo, *options: str, code: int = 3) -> list[str]:
    return sorted({p["code"] for p in found(repo, *options, code=code)})


def tamper(repo: Repo, old: str, new: str) -> None:
    text = repo.checkpoint.read_text(encoding="utf-8")
    assert text.count(old) == 1, text.count(old)
    repo.checkpoint.write_text(text.replace(old, new), encoding="utf-8", newline="\n")


def drop(repo: Repo, start: str) -> None:
    lines = repo.checkpoint.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith(start)]
    assert len(kept) == len(lines) - 1
    repo.checkpoint.write_text("".join(kept), encoding="utf-8", newline="\n")


def branch(repo: Repo, name: str, *sessions: dict[str, Any]) -> None:
    repo.git("checkout", "-q", "-b", name, "main")
    repo.run("session", "apply", repo.write(*sessions, name=f"{name}.json"))
    repo.git("add", "-A")
    repo.git("commit", "-qm", name)


def test_what_only_adds_lines_is_ok(kept: Repo) -> None:
    kept.apply(decided("new", 1, {"id": "n", "text": "one", "slot": "orders/database"}))
    assert kept.run("check", "--base", "HEAD").out == "ok\n"
    assert kept.run("check", "--base", "HEAD", "--json").json == {"ok": True, "problems": []}


def test_a_text_that_was_changed_is_rewritten_history(kept: Repo) -> None:
    tamper(kept, '"text": "orders uses postgres"', '"text": "orders uses sqlite"')
    assert kept.run("check").out == "ok\n"  # nobody can see it without a base
    [problem] = found(kept, "--base", "main")
    short = kept.git("rev-parse", "--short", "main").strip()
    lines = kept.checkpoint.read_text().splitlines()
    assert (problem["code"], problem["ids"], problem["sessions"]) == ("rewritten", ["d1"], ["session-1"])
    assert lines[problem["line"] - 1].startswith('{"decision": "d1"')
    assert '`text` was "orders uses postgres", is "orders uses sqlite"' in problem["message"]
    assert f"(line {problem['line']} at main ({short}))" in problem["message"]
    assert f"`git show {short}:snapshots/ledger.json`" in problem["hint"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"validFrom": "2024-01-10T00:00:00Z"', '"validFrom": "2024-01-11T00:00:00Z"'),
        ('"reason": "order', '"reason": "Order'),
    ],
)
def test_a_moved_date_or_another_reason_is_found(kept: Repo, old: str, new: str) -> None:
    tamper(kept, old, new)
    assert codes(kept, "--base", "HEAD") == ["rewritten"]
    kept.git("add", "-A")
    assert codes(kept, "--staged") == ["rewritten"]


def test_a_review_that_was_dropped_is_found(kept: Repo) -> None:
    rows = kept.checkpoint.read_text().splitlines()
    at = next(n for n, x in enumerate(rows, 1) if x.startswith('{"rejects": "d6"'))
    drop(kept, '{"rejects": "d6"')
    [problem] = [p for p in found(kept, "--base", "HEAD") if p["severity"] == "error"]
    # Where it stood, for an annotation to point at: what followed it in another group is the nearest line left.
    left = [n for n, x in enumerate(kept.checkpoint.read_text().splitlines(), 1) if n >= at and x.startswith('{"')]
    assert (problem["code"], problem["line"]) == ("rewritten", left[0])
    assert problem["message"].startswith("the verdict on d6 of session ")
    assert "was removed (line " in problem["message"]


def test_a_session_that_gained_a_line_is_found(kept: Repo) -> None:
    line = next(x for x in kept.checkpoint.read_text().splitlines(keepends=True) if x.startswith('{"decision": "d6"'))
    tamper(kept, line, line + line.replace('"d6"', '"d60"'))
    [problem] = [p for p in found(kept, "--base", "HEAD") if p["severity"] == "error"]
    assert (problem["code"], problem["ids"]) == ("session-grew", ["d60"])
    assert "gained 1 line: decision d60" in problem["message"]


def test_a_branch_that_lacks_what_the_base_has_since_is_behind_and_no_forger(kept: Repo) -> None:
    branch(kept, "ahead", decided("more", 2, {"id": "t", "text": "t"}), decided("and", 3, {"id": "u", "text": "u"}))
    branch(kept, "mine", decided("mine", 4, {"id": "m", "text": "m"}))
    problems = found(kept, "--base", "ahead", code=0)
    assert [(p["code"], p["severity"], p["sessions"]) for p in problems] == [("behind", "info", ["and", "more"])]
    assert "❌" not in kept.run("diff", "--rev", "ahead..mine", "--markdown").out
    tamper(kept, "orders uses mysql", "orders uses oracle")  # of before they parted
    errors = [p for p in found(kept, "--base", "ahead") if p["severity"] == "error"]
    assert [(p["code"], p["ids"]) for p in errors] == [("rewritten", ["d4"])]
    kept.git("checkout", "-q", "--", ".")
    kept.git("merge", "-q", "--no-edit", "-s", "ours", "ahead")  # now it is an ancestor, and its lines are dropped
    assert {p["code"] for p in found(kept, "--base", "ahead") if p["severity"] == "error"} == {"rewritten"}


def test_a_line_that_was_not_canonical_is_history_too(kept: Repo) -> None:
    good = kept.checkpoint.read_text()
    tamper(kept, '"orders uses mysql", ', '"orders uses mysql",  ')
    kept.git("commit", "-qam", "by hand")
    kept.checkpoint.write_text(good)
    assert codes(kept, "--base", "HEAD", code=0) == []  # mended
    drop(kept, '{"decision": "d4"')
    [problem] = [p for p in found(kept, "--base", "HEAD") if p["code"] == "rewritten"]
    assert 'a line that is not canonical, {"decision": "d4"' in problem["message"]


def test_line_ends_are_no_history(kept: Repo) -> None:
    kept.checkpoint.write_bytes(kept.checkpoint.read_bytes().replace(b"\n", b"\r\n"))
    assert codes(kept, "--base", "HEAD", code=0) == []


def test_a_truncated_file_is_one_problem_and_not_a_hundred(kept: Repo) -> None:
    kept.checkpoint.write_bytes(kept.checkpoint.read_bytes()[:-40])
    assert codes(kept, "--base", "HEAD") == ["truncated"]


def test_a_link_to_what_the_other_side_rejected_is_information(kept: Repo) -> None:
    branch(kept, "theirs", decided("theirs", 2, reviews=[{"reject": "d5", "by": "sam", "reason": "no"}]))
    branch(
        kept, "mine", decided("mine", 1, {"id": "n", "text": "more", "supersedes": "d5", "slot": "payments/retries"})
    )
    [behind] = [p for p in found(kept, "--base", "theirs", code=0) if p["code"] == "behind"]  # not merged yet
    assert (behind["severity"], behind["sessions"]) == ("info", ["theirs"])
    (kept.path / ".git" / "info" / "attributes").write_text(
        "snapshots/ledger.json merge=union\n"
    )  # by hand, as it were
    kept.git("merge", "-q", "--no-commit", "theirs")
    kept.run("export")
    kept.git("commit", "-aqm", "merged")
    for base in ("theirs", "main"):
        problems = {p["code"]: p for p in found(kept, "--base", base, code=0)}
        assert ("meets-rejected" in problems) == (base == "theirs")
        if base == "theirs":
            met = problems["meets-rejected"]
            assert (met["severity"], met["sessions"]) == ("info", ["mine", "theirs"])
            assert "the link d5 -> n of session mine is on d5, which session theirs rejected" in met["message"]


def test_what_is_older_than_the_base_is_information(kept: Repo) -> None:
    branch(kept, "theirs", decided("late", 9, {"id": "l", "text": "late", "slot": "x"}))
    branch(kept, "mine", decided("early", 1, {"id": "e", "text": "early", "slot": "orders/early"}))
    kept.git("merge", "-q", "--no-edit", "theirs")
    [problem] = found(kept, "--base", "theirs", code=0)
    assert (problem["code"], problem["severity"], problem["sessions"]) == ("older-than-base", "info", ["early"])


def test_a_session_recorded_twice_is_named(kept: Repo) -> None:
    branch(kept, "theirs", decided("same", 1, {"id": "a", "text": "a", "slot": "a"}))
    branch(kept, "mine", decided("same", 1, {"id": "z", "text": "z", "slot": "z"}))
    lines = kept.git("show", "theirs:snapshots/ledger.json")
    group = lines[lines.index('"slot a"') : lines.index('"slot orders')]
    text = kept.checkpoint.read_text()
    kept.checkpoint.write_text(text.replace('"slot orders', group + '"slot orders', 1))
    assert [p["code"] for p in found(kept, "--base", "theirs")] == ["session-twice"]
    kept.git("update-ref", "MERGE_HEAD", "theirs")
    kept.git("add", "-A")
    for how in (("--staged",), ("--base", "HEAD"), ("--staged", "--base", "mine")):
        [problem] = found(kept, *how)
        assert (problem["code"], problem["sessions"]) == ("session-twice", ["same"]), how


def test_in_a_merge_every_parent_is_a_base(kept: Repo) -> None:
    branch(kept, "theirs", decided("theirs", 2, {"id": "t", "text": "t", "slot": "t"}))
    branch(kept, "mine", decided("mine", 1, {"id": "m", "text": "m", "slot": "m"}))
    mine = kept.checkpoint.read_bytes()
    kept.git("merge", "-q", "--no-commit", "--no-ff", "-s", "ours", "theirs")
    assert kept.checkpoint.read_bytes() == mine
    [problem] = [p for p in found(kept, "--staged") if p["severity"] == "error"]
    assert (problem["code"], problem["ids"]) == ("rewritten", ["t"])
    assert "MERGE_HEAD" in problem["message"]


def test_staged_looks_at_the_index_and_not_at_the_work_tree(kept: Repo) -> None:
    good = kept.checkpoint.read_bytes()
    tamper(kept, '"text": "orders uses postgres"', '"text": "orders uses sqlite"')
    assert codes(kept, "--staged", code=0) == []
    kept.git("add", "-A")
    kept.checkpoint.write_bytes(good)
    assert codes(kept, "--staged") == ["rewritten"]
    assert codes(kept, "--base", "HEAD", code=0) == []


def test_half_a_staged_file_is_what_is_checked(kept: Repo) -> None:
    path = kept.path / "sessions" / "more.json"
    path.write_text('[{"session": "more", "decisions": [{"text": "staged"}]}]')
    kept.git("add", "-A")
    path.unlink()
    [problem] = found(kept, "--staged", code=0)
    assert (problem["code"], problem["sessions"]) == ("not-applied", ["more"])


def test_an_index_of_its_own_is_obeyed(kept: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """`git commit FILE` makes one, and names it to its hooks."""
    usual = kept.path / ".git" / "index"
    shutil.copy(usual, kept.path / ".git" / "other-index")
    tamper(kept, '"text": "orders uses postgres"', '"text": "orders uses sqlite"')
    for name in (".git/other-index", str(kept.path / ".git" / "other-index")):
        monkeypatch.setenv("GIT_INDEX_FILE", name)
        kept.git("add", "snapshots/ledger.json")
        assert codes(kept, "--staged") == ["rewritten"]
    monkeypatch.setenv("GIT_DIR", ".git")  # relative, as hooks get it
    assert codes(kept, "--staged") == ["rewritten"]
    other = kept.path.parent / "elsewhere"
    subprocess.run(["git", "init", "-q", other], check=True, env={"PATH": os.environ["PATH"]})
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))  # a hook of another repository
    assert codes(kept, "--staged", code=0) == []
    monkeypatch.delenv("GIT_DIR")
    monkeypatch.delenv("GIT_INDEX_FILE")
    assert codes(kept, "--staged", code=0) == []


def test_before_the_first_commit_there_is_no_base(story: Repo) -> None:
    [problem] = found(story, "--staged", code=0)
    assert (problem["code"], problem["severity"], problem["hint"]) == (
        "not-tracked", "warning", "git add snapshots/ledger.json"
    )  # fmt: skip
    story.git("add", "-A")
    assert codes(story, "--staged", code=0) == []
    said = story.run("check", "--base", "HEAD", code=1)
    assert said.err.startswith("error: there is no commit HEAD in ")


def test_a_checkpoint_that_is_removed_is_rewritten_history(kept: Repo) -> None:
    kept.git("rm", "-q", "--cached", "snapshots/ledger.json")
    [problem] = found(kept, "--staged")
    assert problem["code"] == "rewritten"
    assert problem["hint"].startswith("git checkout ")


def test_an_index_in_conflict_is_said(kept: Repo) -> None:
    branch(kept, "theirs", decided("theirs", 2, {"id": "t", "text": "t", "slot": "orders/database"}))
    branch(kept, "mine", decided("mine", 1, {"id": "m", "text": "m", "slot": "orders/database"}))
    subprocess.run(["git", "merge", "-q", "theirs"], cwd=kept.path, capture_output=True, check=False)
    said = kept.run("check", "--staged", code=3)
    assert said.err.startswith("error: merge conflict in snapshots/ledger.json")
    assert "git add snapshots/ledger.json" in said.err


def test_a_base_without_the_file_is_nothing_to_lose(repo: Repo) -> None:
    repo.git("commit", "-qm", "empty", "--allow-empty")
    assert repo.run("check", "--base", "HEAD").out == "ok\n"


def test_a_ledger_that_was_moved_stands_on_what_it_was(kept: Repo) -> None:
    """Else moving the folder would be the way to rewrite history unseen."""
    (kept.path / "sub").mkdir()
    kept.git("mv", "snapshots", "sub")
    where = ("-C", kept.path / "sub")
    for how in (("--base", "HEAD"), ("--staged",)):
        assert kept.run(*where, "check", *how).out == "ok\n"
    file = kept.path / "sub" / "snapshots" / "ledger.json"
    file.write_text(file.read_text().replace("orders uses mysql", "orders uses oracle"))
    kept.git("commit", "-qam", "moved")
    for how in (("--base", "HEAD~1"), ("--staged", "--base", "HEAD~1")):
        problems = kept.run(*where, "check", *how, "--json", code=3).json["problems"]
        [problem] = [p for p in problems if p["severity"] == "error"]
        assert (problem["code"], problem["ids"]) == ("rewritten", ["d4"])
        assert ":snapshots/ledger.json" in problem["hint"]
    assert kept.run(*where, "diff", "--rev", "HEAD~1..HEAD", "--json").json["sessions"][0]["added"] == ["d4"]


def test_a_session_of_brackets_is_no_traceback(kept: Repo) -> None:
    text = kept.checkpoint.read_text()
    kept.checkpoint.write_text(text.replace('"session": "session-1"}', '"session": ' + "[" * 50_000 + "}", 1))
    assert "not-canonical" in codes(kept, "--base", "HEAD")
    kept.git("commit", "-qam", "deep")
    kept.checkpoint.write_text(text)
    # The line that could not be read is gone, and the session has one that it had not.
    assert codes(kept, "--base", "HEAD") == ["rewritten", "session-grew"]


def test_a_detached_head_a_worktree_and_a_folder_inside(kept: Repo) -> None:
    kept.git("checkout", "-q", "--detach")
    assert kept.run("check", "--base", "main").out == "ok\n"
    other = kept.path.parent / "a worktrée"
    kept.git("worktree", "add", "-q", "--detach", str(other))
    for folder in (other, other / "snapshots"):
        assert kept.run("-C", folder, "check", "--base", "main", "--staged").out == "ok\n"


def test_a_ledger_in_a_folder_of_the_repository(kept: Repo) -> None:
    inside = kept.path / "dép ôt" / "memory"
    inside.mkdir(parents=True)
    kept.run("-C", inside, "init")
    kept.run("-C", inside, "session", "apply", kept.write(decided("in", 1, {"id": "i", "text": "inside"})))
    kept.git("add", "-A")
    kept.git("commit", "-qm", "inside")
    file = inside / "snapshots" / "ledger.json"
    file.write_text(file.read_text().replace("inside", "outside"))
    said = kept.run("-C", inside, "check", "--base", "HEAD", "--format", "github", code=3)
    assert said.out.startswith("::error file=dép ôt/memory/snapshots/ledger.json,line=4,title=ledger%3A rewritten::")


def test_a_submodule_is_a_repository_of_its_own(kept: Repo) -> None:
    outer = kept.path.parent / "outer"
    outer.mkdir()
    for words in (
        ["init", "-q"],
        ["-c", "protocol.file.allow=always", "submodule", "-q", "add", str(kept.path), "sub"],
    ):
        subprocess.run(["git", *words], cwd=outer, check=True, capture_output=True)
    assert kept.run("-C", outer / "sub", "check", "--base", "HEAD", "--staged").out == "ok\n"


def test_a_shallow_clone_says_what_it_lacks(kept: Repo) -> None:
    kept.git("commit", "-qm", "more", "--allow-empty")
    clone = kept.path.parent / "clone"
    kept.git("clone", "-q", "--depth", "1", f"file://{kept.path}", str(clone))
    said = kept.run("-C", clone, "check", "--base", "HEAD~1", code=1)
    assert "there is no commit HEAD~1" in said.err
    assert "git fetch --unshallow" in said.err
    assert kept.run("-C", clone, "check", "--base", "origin/main").out == "ok\n"


def test_outside_of_a_repository_and_in_a_bare_one(kept: Repo) -> None:
    (kept.path / ".git").rename(kept.path / "was-git")
    assert "is in no git repository" in kept.run("check", "--base", "HEAD", code=1).err
    assert kept.run("check").out == "ok\n"
    subprocess.run(["git", "init", "-q", "--bare", "."], cwd=kept.path, check=True)
    assert "is in a bare repository" in kept.run("check", "--staged", code=1).err


@pytest.mark.parametrize("revision", ["nowhere", "--all", "HEAD:snapshots", "main..main"])
def test_a_revision_that_is_none_is_said(kept: Repo, revision: str) -> None:
    said = kept.run("check", f"--base={revision}", code=1)
    assert said.err.startswith(f"error: there is no commit {revision} in ")


def test_without_git_there_is_a_sentence(kept: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert kept.run("check", "--staged", code=1).err.startswith("error: git is not installed\n  hint: install git")
    assert kept.run("check").out == "ok\n"


def test_gits_own_sentence_is_passed_on(kept: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text(
        "#!/bin/sh\n"
        "echo \"fatal: detected dubious ownership in repository at '/x'\" >&2\n"
        "echo 'To add an exception for this directory, call:' >&2\n"
        "echo >&2; echo '\tgit config --global --add safe.directory /x' >&2\n"
        "exit 128\n"
    )
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{fake.parent}{os.pathsep}{os.environ['PATH']}")
    for command in (("check", "--staged"), ("check", "--base", "HEAD")):
        said = kept.run(*command, code=1)
        assert said.err == (
            "error: git says: fatal: detected dubious ownership in repository at '/x'\n"
            "  hint: git config --global --add safe.directory /x\n"
        )


def test_annotations_are_one_line_each_whatever_the_text(kept: Repo) -> None:
    kept.apply(decided("odd, very", 1, {"id": "o", "text": "a\n::error::b%0Ac", "slot": "s"}))
    kept.git("add", "-A")
    kept.git("commit", "-qm", "odd")
    tamper(kept, "a\\n::error::b%0Ac", "a\\n::error::d%0Ac")
    said = kept.run("check", "--base", "HEAD", "--format", "github", code=3)
    lines = [line for line in said.out.splitlines() if line.startswith("::")]
    [line] = [line for line in lines if line.startswith("::error")]
    assert line.startswith("::error file=snapshots/ledger.json,line=")
    assert "b%250Ac" in line
    assert said.out == "".join(f"{x}\n" for x in lines)


def test_annotations_of_a_sound_ledger_are_none(kept: Repo) -> None:
    assert kept.run("check", "--base", "HEAD", "--format", "github").out == ""


def test_it_touches_neither_the_index_nor_the_file(kept: Repo) -> None:
    before = (kept.path / ".git" / "index").read_bytes(), kept.checkpoint.stat().st_mtime_ns
    kept.run("check", "--staged", "--base", "HEAD")
    assert ((kept.path / ".git" / "index").read_bytes(), kept.checkpoint.stat().st_mtime_ns) == before


def test_a_checkpoint_behind_a_symlink_is_followed_in_the_revision(kept: Repo) -> None:
    kept.git("mv", "snapshots/ledger.json", "real.json")
    kept.checkpoint.symlink_to("../real.json")
    kept.git("add", "-A")
    assert codes(kept, "--staged", code=0) == []
    kept.git("commit", "-qm", "moved")
    assert codes(kept, "--base", "HEAD~1", "--staged", code=0) == []
    real = kept.path / "real.json"
    real.write_text(real.read_text().replace("orders uses postgres", "orders uses sqlite"))
    assert codes(kept, "--base", "HEAD~1") == ["rewritten"]
    kept.git("add", "-A")
    assert codes(kept, "--staged") == ["rewritten"]
