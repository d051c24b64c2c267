"""Git as it is met: missing, wary of the owner, bare, shallow, told where it is; and folders with any name."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Repo

Process = Callable[..., "subprocess.CompletedProcess[str]"]

NEED_GIT = [("install",), ("check", "--staged"), ("check", "--base", "HEAD"), ("diff", "--rev", "HEAD")]
NEED_NONE = [
    ("init",),
    ("export", "--hook"),
    ("resolve",),
    ("check",),
    ("rebuild",),
    ("as-of", "2024-03-01"),
    ("session", "list"),
    ("textconv", "snapshots/ledger.json"),
    ("reject", "d8", "--by", "sam", "--reason", "wrong", "--at", "2024-05-01"),
]


def told(words: tuple[str, ...]) -> str:
    return " ".join(words)


def decided(session: str, *items: dict[str, Any], day: int = 1) -> dict[str, Any]:
    return {"session": session, "at": f"2024-05-{day:02}T09:00:00Z", "decisions": list(items)}


def git(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **variables}
    return subprocess.run(["git", *words], cwd=folder, env=env, capture_output=True, text=True, check=False)


def examined(repo: Repo, *options: str) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in repo.run(*options, "doctor", "--json", code=None).json["checks"]}


def tamper(repo: Repo) -> None:
    text = repo.checkpoint.read_text(encoding="utf-8")
    repo.checkpoint.write_text(text.replace("orders uses postgres", "orders uses sqlite"), encoding="utf-8")


@pytest.fixture
def kept(story: Repo) -> Repo:
    """The orders story, committed."""
    story.git("add", "-A")
    story.git("commit", "-qm", "The story")
    return story


# A machine without git, or with one that will not


@pytest.mark.parametrize("words", NEED_GIT, ids=told)
def test_what_needs_git_says_that_it_is_missing(
    kept: Repo, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    said = kept.run(*words, code=1)
    assert (said.out, said.err) == (
        "",
        "error: git is not installed\n  hint: install git: the checkpoint is made to be reviewed with it\n",
    )


def test_doctor_names_a_missing_git_beside_all_else(kept: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    found = examined(kept)
    assert [name for name, check in found.items() if not check["ok"]] == ["git"]
    assert found["git"]["message"] == "git is not installed"


@pytest.mark.parametrize("words", NEED_NONE, ids=told)
def test_what_needs_no_git_works_without(kept: Repo, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    kept.run(*words)


@pytest.mark.parametrize("program", ["#!/nonexistent\n", "no program"], ids=["no interpreter", "no program"])
def test_a_git_that_does_not_run_is_named(
    kept: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ledger_process: Process, program: str
) -> None:
    broken = tmp_path / "broken" / "git"
    broken.parent.mkdir()
    broken.write_text(program)
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(broken.parent))
    sentence = f"error: {broken} does not run\n  hint: "
    assert kept.run("check", "--staged", code=1).err.startswith(sentence)
    started = ledger_process("check", "--staged", cwd=kept.path)  # where nothing has asked git before
    assert (started.returncode, started.stdout) == (1, "")
    assert started.stderr.startswith(sentence)


@pytest.mark.parametrize("words", NEED_GIT, ids=told)
def test_where_git_is_wary_of_the_owner_its_own_sentence_is_passed_on(
    kept: Repo, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    said = kept.run(*words, code=1)
    assert said.err.startswith("error: git says: fatal: detected dubious ownership in repository at ")
    assert f"  hint: git config --global --add safe.directory {kept.path}" in said.err
    assert examined(kept)["git"]["hint"].startswith("git config --global --add safe.directory ")


# Bare and shallow repositories, and those without a branch or a commit


@pytest.mark.parametrize("words", NEED_GIT, ids=told)
def test_in_a_bare_repository_one_sentence_says_so(kept: Repo, words: tuple[str, ...]) -> None:
    (kept.path / ".git").rename(kept.path / "was-git")
    kept.git("init", "-q", "--bare", ".")
    said = kept.run(*words, code=1)
    sentence = f"{kept.path} is in a bare repository: it has no files"
    assert (said.out, said.err) == ("", f"error: {sentence}\n  hint: ask in a clone of it\n")
    found = examined(kept)["git"]
    assert (found["ok"], found["message"], found["hint"]) == (False, sentence, "ask in a clone of it")


@pytest.mark.parametrize("words", [*(w for w in NEED_GIT if "--staged" not in w), ("doctor",), ("export",)], ids=told)
def test_a_bare_clone_holds_no_ledger_to_ask(kept: Repo, words: tuple[str, ...]) -> None:
    bare = kept.path.parent / "bare"
    kept.git("clone", "-q", "--bare", str(kept.path), str(bare))
    said = kept.run("-C", bare, *words, code=1)
    assert said.err == f"error: there is no ledger in {bare} or above it\n  hint: run `ledger init` to begin one here\n"


def test_a_worktree_of_a_bare_repository_is_at_home(kept: Repo, program: Path) -> None:
    bare, tree = kept.path.parent / "bare, and a blank ", kept.path.parent / "tree"
    kept.git("clone", "-q", "--bare", str(kept.path), str(bare))
    git(bare, "worktree", "add", "-q", str(tree), "main")
    kept.run("-C", tree, "install")
    assert (bare / "hooks" / "pre-commit").is_file()
    assert git(tree, "commit", "-qam", "x").returncode == 0
    assert [name for name, check in examined(kept, "-C", str(tree)).items() if not check["ok"]] == []
    assert kept.run("-C", tree, "check", "--staged", "--base", "HEAD~1").out == "ok\n"


@pytest.fixture
def shallow(kept: Repo) -> Repo:
    """A clone of the last commit of one branch alone, which merges `topic` into `main`; `other` is not in it."""
    for branch, slot, day in (("topic", "a", 1), ("main", "z", 2)):
        kept.git("checkout", "-q", *(["-b"] if branch == "topic" else []), branch)
        kept.apply(decided(f"of-{branch}", {"id": branch, "text": branch, "slot": slot}, day=day))
        kept.git("add", "-A")
        kept.git("commit", "-qm", branch)
    kept.git("branch", "other")
    kept.git("checkout", "-q", "-b", "merged")
    kept.git("merge", "-q", "--no-edit", "topic")
    made = Repo(kept.path.parent / "clone", kept.capture)
    kept.git("clone", "-q", "--depth", "1", f"file://{kept.path}", str(made.path))
    return made


@pytest.mark.parametrize("base", ["origin/main", "origin/other", "HEAD~1", "HEAD^2"])
def test_what_a_shallow_clone_lacks_comes_with_the_command_it_names(shallow: Repo, base: str) -> None:
    said = shallow.run("check", "--base", base, code=1)
    assert said.err.startswith(f"error: there is no commit {base} in {shallow.path}\n  hint: ")
    hint = said.err.splitlines()[1]
    assert "`git fetch " in hint
    assert shallow.run("diff", "--rev", f"{base}..HEAD", code=1).err == said.err
    shallow.git(*shlex.split(hint.split("`")[1])[1:])
    assert shallow.run("check", "--base", base).out.endswith("ok\n")


def test_where_the_past_of_base_and_head_is_not_there_the_lines_of_the_base_still_count(shallow: Repo) -> None:
    shallow.git("fetch", "-q", "--depth", "1", "origin", "main:refs/remotes/origin/main")
    assert git(shallow.path, "merge-base", "origin/main", "HEAD").returncode == 1
    assert shallow.run("check", "--base", "origin/main").out.endswith("ok\n")
    said = shallow.run("diff", "--rev", "origin/main...HEAD", code=1)
    assert said.err.startswith("error: origin/main and HEAD have no common past here\n")
    assert "hint: this clone is shallow: `git fetch --unshallow`" in said.err
    assert "of-topic" in shallow.run("diff", "--rev", "origin/main..HEAD").out
    tamper(shallow)
    problems = shallow.run("check", "--base", "origin/main", "--json", code=3).json["problems"]
    assert [p["code"] for p in problems if p["severity"] == "error"] == ["rewritten"]


def test_a_branch_of_a_remote_that_is_not_here_comes_with_the_command_it_names(kept: Repo) -> None:
    clone = Repo(kept.path.parent / "clone", kept.capture)
    kept.git("clone", "-q", str(kept.path), str(clone.path))
    kept.git("branch", "it's-new")
    hint = clone.run("check", "--base", "origin/it's-new", code=1).err.splitlines()[1]
    clone.git(*shlex.split(hint.split("`")[1])[1:])
    assert clone.run("check", "--base", "origin/it's-new").out == "ok\n"
    assert "`git branch -a` lists what is here" in clone.run("check", "--base", "nowhere", code=1).err


def test_a_detached_head_is_no_obstacle(kept: Repo, program: Path) -> None:
    kept.git("checkout", "-q", "--detach")
    kept.run("install")
    kept.git("add", "-A")
    assert git(kept.path, "commit", "-qm", "x").returncode == 0
    kept.run("doctor")
    assert kept.run("check", "--base", "main", "--staged").out == "ok\n"
    assert kept.run("diff", "--rev", "main..HEAD").out == kept.run("diff", "--rev", "main").out == "nothing changed\n"


def test_before_the_first_commit_all_is_set_up_and_no_revision_is_there(story: Repo, program: Path) -> None:
    story.run("install")
    story.git("add", "-A")
    story.run("doctor")
    assert story.run("check", "--staged").out == "ok\n"
    for words in (("check", "--base", "HEAD"), ("diff", "--rev", "HEAD"), ("diff", "--rev", "HEAD..main")):
        said = story.run(*words, code=1)
        assert said.err == f"error: there is no commit HEAD in {story.path}\n  hint: nothing is committed yet\n"


# Folders with any name, anywhere


@pytest.mark.parametrize("name", ["with spaces", "ünï ☃ 日本", 'it\'s "q" [x] *?', " blanks "])
def test_a_repository_and_a_ledger_below_it_with_any_name_from_a_folder_below(
    repo: Repo, program: Path, name: str
) -> None:
    top = repo.path.parent / f"top {name}"
    ledger = top / name / "mémoire"
    deep = Repo(ledger / "sessions" / name, repo.capture)
    deep.path.mkdir(parents=True)
    git(top, "init", "-q", "-b", "main")
    deep.run("-C", ledger, "init")
    said = deep.run("install")
    files = [line.split(": ", 1)[1] for line in said.out.splitlines() if "hint: git add " in line]
    for command in files:  # as it stands there, from where it was said
        subprocess.run(command, shell=True, cwd=deep.path, check=True)
    deep.git("add", ":/")
    assert git(deep.path, "commit", "-qm", "begun").returncode == 0
    deep.run("doctor")
    deep.run("session", "apply", repo.write(decided("one", {"id": "d", "text": "one"})), "--no-export")
    refused = git(deep.path, "commit", "-qm", "one", "--allow-empty")
    assert refused.returncode == 1
    subprocess.run(refused.stderr.split("`")[1], shell=True, cwd=top, check=True)  # hooks are started there
    assert git(deep.path, "commit", "-qm", "one").returncode == 0
    assert git(top, "status", "--porcelain").stdout == ""
    assert "one" in deep.run("diff", "--rev", "HEAD~1..HEAD").out
    checkpoint = ledger / "snapshots" / "ledger.json"
    checkpoint.write_text(checkpoint.read_text().replace('"one"', '"two"', 1))
    assert "[rewritten]" in deep.run("check", "--base", "HEAD", code=3).out
    assert deep.run("check", "--staged").out == "ok\n"
    deep.git("add", ":/")
    assert "[rewritten]" in deep.run("check", "--staged", code=3).out


def test_what_export_and_resolve_say_to_add_is_named_from_where_they_were_started(repo: Repo) -> None:
    repo.apply(decided("s", {"text": "one"}), flags=("--no-export",))
    deep = Repo(repo.path / "sessions" / "deep", repo.capture)
    deep.path.mkdir()
    assert deep.run("export").err == "Next: `git add ../../snapshots/ledger.json`\n"
    assert deep.run("resolve").err == ""  # nothing to add
    repo.checkpoint.write_bytes(repo.checkpoint.read_bytes().replace(b"\n", b"\r\n"))
    assert deep.run("resolve").err.startswith("Next: `git add ../../snapshots/ledger.json`, and go on with ")
    assert examined(deep)["tracked"]["hint"] == "git add ../../snapshots/ledger.json"


def test_a_folder_whose_name_is_a_pattern_stands_for_itself_alone(repo: Repo) -> None:
    for name in ("x?", "xy"):
        (repo.path / name).mkdir()
        repo.run("-C", repo.path / name, "init")
    repo.git("add", "xy")
    assert examined(repo, "-C", "xy")["tracked"]["ok"] is True
    assert examined(repo, "-C", "x?")["tracked"]["ok"] is False


def test_a_ledger_behind_a_symlink_is_the_one_it_leads_to(kept: Repo, program: Path) -> None:
    below, link = kept.path / "below", kept.path.parent / "link"
    below.mkdir()
    link.symlink_to(below)
    for words in (("init",), ("install",)):
        kept.run("-C", link, *words)
    kept.git("add", "-A")
    assert git(kept.path, "commit", "-qm", "x").returncode == 0
    assert [name for name, check in examined(kept, "-C", str(link)).items() if not check["ok"]] == []
    assert kept.run("-C", link, "check", "--staged", "--base", "HEAD").out == "ok\n"


# What a hook inherits


def test_a_hook_of_another_repository_is_not_taken_for_one_of_this(kept: Repo, program: Path) -> None:
    """`git commit FILE` names its index, and not its repository, to the hooks."""
    other = kept.path.parent / "other"
    git(kept.path.parent, "init", "-q", str(other))
    hook = other / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\nledger -C '{kept.path}' check --staged\n")
    hook.chmod(0o755)
    (other / "file").write_text("x")
    git(other, "add", "file")
    for words in ((), ("file",)):
        done = git(other, "commit", "-m", "x", "--allow-empty", *words)
        assert (done.returncode, done.stderr.splitlines()[:1]) == (0, ["ok"] if "ok" in done.stderr else [])
    tamper(kept)
    kept.git("add", "-A")
    assert "[rewritten]" in git(other, "commit", "-m", "x", "--allow-empty", "file").stderr


def test_a_repository_kept_apart_from_its_files_is_found_by_its_hooks(
    kept: Repo, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apart = kept.path.parent / "apart"
    (kept.path / ".git").rename(apart)
    named = ("--git-dir", str(apart), "--work-tree", str(kept.path))
    assert kept.run("check", "--staged", code=1).err.startswith(f"error: {kept.path} is in no git repository\n")
    below = Repo(kept.path / "sessions", kept.capture)
    with monkeypatch.context() as told:
        told.setenv("GIT_DIR", "../../apart")
        told.setenv("GIT_WORK_TREE", "..")
        below.run("install")
    assert (apart / "hooks" / "pre-commit").is_file()
    git(kept.path, *named, "add", "-A")
    assert git(kept.path, *named, "commit", "-qm", "x").returncode == 0
    tamper(kept)
    git(kept.path, *named, "add", "-A")
    for folder in (kept.path, below.path):
        refused = git(folder, *named, "commit", "-qm", "x")
        assert (refused.returncode, "[rewritten]" in refused.stderr) == (1, True)
    elsewhere = kept.path.parent / "elsewhere"
    elsewhere.mkdir()
    kept.run("-C", elsewhere, "init")
    monkeypatch.setenv("GIT_DIR", str(apart))
    monkeypatch.setenv("GIT_WORK_TREE", str(kept.path))
    assert "is in no git repository" in kept.run("-C", elsewhere, "check", "--staged", code=1).err


# What git does to line ends


@pytest.mark.parametrize("settings", [("true", "crlf"), ("true", "native"), ("input", "crlf"), ("false", "crlf")])
def test_the_checkpoint_keeps_its_bytes_whatever_git_is_told_of_line_ends(
    story: Repo, settings: tuple[str, str]
) -> None:
    for name, value in zip(("core.autocrlf", "core.eol"), settings, strict=True):
        story.git("config", name, value)
    written = story.checkpoint.read_bytes()
    assert b"\r" not in written
    assert written.endswith(b"}\n")
    assert not any(line.endswith((b" ", b"\t")) for line in written.splitlines())
    story.git("add", "-A")
    story.git("commit", "-qm", "x")
    assert story.git("cat-file", "blob", "HEAD:snapshots/ledger.json").encode() == written
    story.checkpoint.unlink()
    story.git("checkout", "--", "snapshots")
    assert story.checkpoint.read_bytes() == written
    clone = Repo(story.path.parent / "clone", story.capture)
    words = ("-c", f"core.autocrlf={settings[0]}", "-c", f"core.eol={settings[1]}")
    story.git(*words, "clone", "-q", str(story.path), str(clone.path))
    assert clone.checkpoint.read_bytes() == written
    for repo in (story, clone):
        assert repo.run("export", "--hook").out.endswith("is up to date\n")
        assert repo.run("check", "--base", "HEAD", "--staged").out == "ok\n"
        assert repo.git("status", "--porcelain", "snapshots") == ""


def test_without_attributes_line_ends_that_git_changed_are_put_right(story: Repo) -> None:
    (story.path / ".gitattributes").unlink()
    story.git("config", "core.autocrlf", "true")
    written = story.checkpoint.read_bytes()
    story.git("add", "-A")
    story.git("commit", "-qm", "x")
    story.checkpoint.unlink()
    story.git("checkout", "--", "snapshots")
    assert b"\r\n" in story.checkpoint.read_bytes()
    assert story.run("check", "--base", "HEAD", "--staged").out == "ok\n"
    assert story.run("export", "--hook", code=1).out == "wrote snapshots/ledger.json\n"
    assert story.checkpoint.read_bytes() == written
    assert story.git("diff", "--stat") == ""
    assert story.run("export", "--hook").out.endswith("is up to date\n")


# Merges that keep the lines of both sides


def united(kept: Repo, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Merge a branch with a session of its own by `merge=union`, as people set it for files that only grow."""
    (kept.path / ".git" / "info").mkdir(exist_ok=True)
    (kept.path / ".git" / "info" / "attributes").write_text("snapshots/ledger.json merge=union\n")
    for branch, session in (("theirs", theirs), ("ours", ours)):
        kept.git("checkout", "-q", "-b", branch, "main")
        kept.apply(session)
        kept.git("add", "snapshots")
        kept.git("commit", "-qm", branch)
    kept.git("merge", "-q", "--no-edit", "theirs")


def codes(repo: Repo, *options: str) -> set[str]:
    problems = repo.run("check", *options, "--json", code=None).json["problems"]
    return {p["code"] for p in problems if p["severity"] == "error"}


def test_one_session_id_on_both_sides_is_named_and_neither_is_lost(kept: Repo) -> None:
    one, other = ({"id": id, "text": id, "slot": id} for id in ("one", "other"))
    united(kept, decided("same", one), decided("same", other))
    for base in ("HEAD^1", "HEAD^2"):
        assert codes(kept, "--base", base) == {"session-twice"}
    assert sorted(kept.run("as-of", "2024-06-01", "--json").ids)[-2:] == ["one", "other"]


def test_one_session_id_with_two_clocks_is_named_without_a_base(kept: Repo) -> None:
    one, other = ({"id": id, "text": id, "slot": id} for id in ("one", "other"))
    united(kept, decided("same", one), decided("same", other, day=2))
    assert "two-clocks" in codes(kept)


def test_one_item_id_on_both_sides_is_named_and_neither_is_lost(kept: Repo) -> None:
    united(kept, decided("one", {"id": "d", "text": "one"}), decided("other", {"id": "d", "text": "other"}))
    assert "duplicate-id" in codes(kept)
    kept.run("export")
    assert codes(kept) == {"duplicate-id"}
    assert [kept.run("session", "show", id).out.count('"decision": "d"') for id in ("one", "other")] == [1, 1]


def test_two_sessions_of_one_clock_are_both_kept(kept: Repo) -> None:
    one, other = ({"id": id, "text": id, "slot": id} for id in ("one", "other"))
    united(kept, decided("a", one), decided("b", other))
    assert codes(kept, "--base", "theirs") == set()
    assert sorted(kept.run("as-of", "2024-06-01", "--json").ids)[-2:] == ["one", "other"]
