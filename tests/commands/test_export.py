"""`ledger export`: the checkpoint, written canonically with all that is pending."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Repo

SESSION = {"session": "a", "at": "2024-05-01", "decisions": [{"id": "d", "text": "one"}]}


def test_nothing_pending_changes_no_byte_and_says_so(story: Repo) -> None:
    before = story.checkpoint.read_bytes()
    said = story.run("export")
    assert said.out == "snapshots/ledger.json is up to date\n"
    assert story.checkpoint.read_bytes() == before


def test_what_waited_is_written_and_named(story: Repo) -> None:
    story.apply(SESSION, flags=("--no-export",))
    said = story.run("export")
    assert said.out == "wrote snapshots/ledger.json with a\n"
    assert b'{"decision": "d", "text": "one"' in story.checkpoint.read_bytes()
    assert story.run("export").out == "snapshots/ledger.json is up to date\n"


def test_in_a_hook_a_changed_file_stops_the_commit_once(story: Repo) -> None:
    story.apply(SESSION, flags=("--no-export",))
    said = story.run("export", "--hook", code=1)
    assert (said.out, said.err) == ("wrote snapshots/ledger.json with a\n", "Next: `git add snapshots/ledger.json`\n")
    assert story.run("export", "--hook").out == "snapshots/ledger.json is up to date\n"


def test_exported_at_once_or_later_the_bytes_are_the_same(story: Repo) -> None:
    before = story.checkpoint.read_bytes()
    story.apply(SESSION)
    at_once = story.checkpoint.read_bytes()
    story.checkpoint.write_bytes(before)
    story.apply(SESSION, flags=("--no-export",))
    story.run("export")
    assert story.checkpoint.read_bytes() == at_once


def test_it_never_stages_anything(story: Repo) -> None:
    story.apply(SESSION, flags=("--no-export",))
    story.run("export")
    assert story.git("diff", "--cached", "--name-only") == ""


def test_lines_in_the_wrong_order_are_put_right(story: Repo) -> None:
    right = story.checkpoint.read_bytes()
    lines = right.decode().splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if line.startswith('{"decision": "d1"'))
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    story.checkpoint.write_bytes("".join(lines).encode())
    story.run("check", code=3)
    story.run("export")
    assert story.checkpoint.read_bytes() == right


def test_conflict_markers_are_refused_and_left_alone(story: Repo) -> None:
    conflicted = story.checkpoint.read_bytes().replace(b'"slot search', b'<<<<<<< HEAD\n"slot search')
    story.checkpoint.write_bytes(conflicted)
    said = story.run("export", code=3)
    assert said.out == ""
    assert said.err.startswith("error: merge conflict in the checkpoint")
    assert "  hint: " in said.err
    assert story.checkpoint.read_bytes() == conflicted


def test_sessions_of_another_checkpoint_wait_until_carried_or_dropped(story: Repo) -> None:
    before = story.checkpoint.read_bytes()
    story.apply({"session": "base", "at": "2024-04-01", "decisions": [{"id": "b", "text": "base"}]})
    story.apply(SESSION, flags=("--no-export",))
    story.checkpoint.write_bytes(before)  # as if another branch had been checked out
    for verb in (("export",), ("session", "apply", story.write(SESSION | {"session": "c"}))):
        said = story.run(*verb, code=1)
        assert "a: applied but never exported" in said.err
        assert "`ledger export --carry`" in said.err
    asked = story.run("lateness", "--json")
    assert ("d" in asked.ids, "a: applied but never exported" in asked.err) == (False, True)
    said = story.run("export", "--carry")
    assert said.out == "wrote snapshots/ledger.json with a\n"
    assert story.run("show", "d", "--json").json["text"] == "one"


def test_a_pending_session_can_be_given_up(story: Repo) -> None:
    before = story.checkpoint.read_bytes()
    story.apply(SESSION, flags=("--no-export",))
    story.run("export", "--drop", "a")
    assert story.checkpoint.read_bytes() == before
    story.run("show", "d", code=1)


def test_what_does_not_wait_cannot_be_given_up(story: Repo) -> None:
    said = story.run("export", "--drop", "session-1", code=1)
    assert said.out == ""
    assert said.err == "error: session-1 is not waiting to be exported\n  hint: `ledger doctor` names those that are\n"


def test_what_waits_is_not_taken_along_by_a_branch_that_ignores_nothing(repo: Repo) -> None:
    repo.git("add", "-A")
    repo.git("commit", "-qm", "x")
    repo.git("checkout", "-q", "--orphan", "pages")
    repo.git("rm", "-rqf", ".")
    repo.git("commit", "-q", "--allow-empty", "-m", "x")
    repo.git("checkout", "-q", "main")
    file = repo.write({"session": "w", "at": "2024-05-01", "decisions": [{"text": "waits"}]})
    repo.run("session", "apply", file, "--no-export")
    file.unlink()
    repo.git("checkout", "-q", "pages")
    (repo.path / "index.html").write_text("x")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "x")
    assert repo.git("ls-files") == "index.html\n"
    repo.git("checkout", "-q", "main")  # which takes away what pages tracks and main does not
    assert repo.run("export").out == "wrote snapshots/ledger.json with w\n"


# In other forms


@pytest.mark.parametrize("form", ["csv", "jsonl", "cypher"])
def test_another_form_goes_to_stdout_or_a_file_and_the_ledger_stays_as_it_is(story: Repo, form: str) -> None:
    before = {path: path.read_bytes() for path in story.path.rglob("*") if path.is_file()}
    text = story.run("export", "--format", form).out
    assert story.run("export", "--format", form, "-o", "-").out == text
    assert before == {path: path.read_bytes() for path in story.path.rglob("*") if path.is_file()}
    out = story.path / "out"
    out.write_text("an earlier export")
    entries = len(story.run("export", "--format", "jsonl").out.splitlines()) - 1  # the last is the end
    assert story.run("export", "--format", form, "-o", "out").out == f"wrote out: {entries} entries\n"
    assert out.read_bytes().decode() == text


def test_what_waits_to_be_exported_is_in_it_and_goes_on_waiting(story: Repo) -> None:
    story.apply(SESSION, flags=("--no-export",))
    before = story.checkpoint.read_bytes()
    assert '"decision": "d"' in story.run("export", "--format", "jsonl").out
    assert story.checkpoint.read_bytes() == before
    assert story.run("export").out == "wrote snapshots/ledger.json with a\n"


def test_what_stands_aside_is_named_and_left_out(story: Repo) -> None:
    before = story.checkpoint.read_bytes()
    story.apply({"session": "base", "at": "2024-04-01", "decisions": [{"id": "b", "text": "base"}]})
    story.apply(SESSION, flags=("--no-export",))
    story.checkpoint.write_bytes(before)
    said = story.run("export", "--format", "jsonl")
    assert ('"decision": "d"' in said.out, "a: applied but never exported" in said.err) == (False, True)


@pytest.mark.parametrize("target", ["snapshots/ledger.json", "snapshots/x", "snapshots/.store/x", "link", "hard"])
def test_no_export_is_written_over_the_ledger(story: Repo, target: str) -> None:
    (story.path / "link").symlink_to(story.checkpoint)
    (story.path / "hard").hardlink_to(story.checkpoint)
    before = story.checkpoint.read_bytes()
    for form in ("csv", "adr"):
        said = story.run("export", "--format", form, "-o", target, code=1)
        assert (said.out, "is the ledger's own" in said.err) == ("", True)
    assert story.checkpoint.read_bytes() == before


def test_records_go_into_a_new_folder_alone(story: Repo) -> None:
    story.run("export", "--format", "adr", "-o", "docs/adr")
    assert len(list((story.path / "docs" / "adr").iterdir())) == 8
    said = story.run("export", "--format", "adr", "-o", "docs/adr", code=1)
    assert said.err.startswith("error: docs/adr is not empty: it holds d1.md\n")


def test_corrected_versions_are_named_where_they_get_no_record(long_story: Repo) -> None:
    said = long_story.run("export", "--format", "adr", "-o", "adr")
    assert said.err == "note: corrected, and told by their corrections: d5\n"


def test_a_damaged_checkpoint_is_not_passed_on(story: Repo) -> None:
    story.checkpoint.write_bytes(story.checkpoint.read_bytes().replace(b'"d1", "text"', b'"d1",  "text"'))
    assert story.run("export", "--format", "csv", code=3).out == ""
