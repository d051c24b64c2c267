"""`ledger check`: what no session could have written is found, with its line, exit code 3."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from ledger_cli.instant import FUTURE_TOLERANCE

if TYPE_CHECKING:
    from tests.commands.conftest import Golden
    from tests.conftest import Repo

PROBLEM = ["code", "severity", "message", "ids", "slot", "validFrom", "validTo", "line", "sessions", "hint"]


def tamper(repo: Repo, old: str, new: str) -> None:
    text = repo.checkpoint.read_text(encoding="utf-8")
    assert text.count(old) == 1
    repo.checkpoint.write_text(text.replace(old, new), encoding="utf-8", newline="\n")


def two_current(repo: Repo) -> None:
    """As two branches leave it that both answered one slot: a link is missing."""
    lines = repo.checkpoint.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if '"supersedes": "d2"' not in line]
    repo.checkpoint.write_text("".join(kept), encoding="utf-8", newline="\n")


def test_a_sound_ledger_is_ok(story: Repo) -> None:
    said = story.run("check")
    assert (said.out, said.err) == ("ok\n", "")
    assert story.run("check", "--json").json == {"ok": True, "problems": []}


def test_an_empty_ledger_is_ok(repo: Repo) -> None:
    assert repo.run("check").out == "ok\n"


def test_two_current_answers_in_a_slot_are_found(story: Repo, golden: Golden) -> None:
    two_current(story)
    screen, json = story.run("check", code=3), story.run("check", "--json", code=3)
    assert (screen.err, json.err) == ("", "")
    golden("check/two-current.txt", screen.out)
    golden("check/two-current.json", json.out)
    [problem] = json.json["problems"]
    assert (problem["ids"], problem["slot"]) == (["d2", "d7"], "search/engine")
    assert (problem["validFrom"], problem["validTo"]) == ("2024-01-25T00:00:00Z", None)


def test_the_keys_of_the_contract_in_their_order(story: Repo) -> None:
    two_current(story)
    found = story.run("check", "--json", code=3).json
    assert list(found) == ["ok", "problems"]
    assert {tuple(problem) for problem in found["problems"]} == {tuple(PROBLEM)}


def test_a_line_that_is_not_canonical_is_named(story: Repo, golden: Golden) -> None:
    tamper(story, '{"decision": "d5", ', '{"decision":"d5", ')
    golden("check/not-canonical.txt", story.run("check", code=3).out)
    [problem] = story.run("check", "--json", code=3).json["problems"]
    lines = story.checkpoint.read_text(encoding="utf-8").splitlines()
    assert (problem["code"], lines[problem["line"] - 1][:15]) == ("not-canonical", '{"decision":"d5')


def test_conflict_markers_are_named_with_the_way_out(story: Repo) -> None:
    tamper(story, '"slot search/engine": [\n', '<<<<<<< HEAD\n"slot search/engine": [\n=======\n>>>>>>> b\n')
    said = story.run("check", code=3)
    assert "error: merge conflict in the checkpoint" in said.out
    assert "  hint: " in said.out
    assert "`ledger " in said.out


@pytest.mark.parametrize("changed", [False, True], ids=["not applied", "changed since"])
def test_session_files_that_the_ledger_does_not_hold_are_warned_about(
    repo: Repo, golden: Golden, changed: bool
) -> None:
    session = {"session": "a", "at": "2024-01-01", "decisions": [{"id": "d", "text": "one"}]}
    file = repo.write(session, name="a.json")
    if changed:
        repo.run("session", "apply", file)
        session["decisions"] = [{"id": "d", "text": "another"}]
        repo.write(session, name="a.json")
    screen, found = repo.run("check"), repo.run("check", "--json").json
    golden(f"check/{'changed-since' if changed else 'not-applied'}.txt", screen.out)
    [problem] = found["problems"]
    assert found["ok"] is True
    assert (problem["severity"], problem["sessions"]) == ("warning", ["a"])


def test_what_waits_to_be_exported_is_said(repo: Repo) -> None:
    repo.apply({"session": "a", "decisions": [{"text": "one"}]}, flags=("--no-export",))
    found = repo.run("check", "--json").json
    assert found["ok"] is True
    assert [(p["code"], p["severity"], p["hint"]) for p in found["problems"]] == [("pending", "info", "ledger export")]


def test_what_was_recorded_ahead_of_the_clock_is_found(story: Repo) -> None:
    newest = "2024-02-20T09:00:00Z"
    at = datetime.fromisoformat(newest)
    story.now = at - FUTURE_TOLERANCE
    assert story.run("check").out == "ok\n"
    story.now = at - FUTURE_TOLERANCE - timedelta(seconds=1)
    [problem] = story.run("check", "--json", code=3).json["problems"]
    row = story.checkpoint.read_text().splitlines()[problem["line"] - 1]
    assert (problem["code"], problem["sessions"]) == ("ahead-of-clock", ["session-4"])
    assert f'"recordedAt": "{newest}", "session": "session-4"' in row
    assert newest in problem["message"] and "2024-02-20T08:54:59Z" in problem["message"]


def test_staged_where_no_ledger_is_and_none_was(story: Repo) -> None:
    story.git("add", "-A")
    story.git("commit", "-qm", "x")
    deep = story.path / "deep"
    deep.mkdir()
    story.git("rm", "-rq", "snapshots")
    said = story.run("-C", deep, "check", "--staged", code=3)
    assert "the checkpoint is removed; HEAD" in said.out
    story.git("commit", "-qm", "x")
    said = story.run("check", "--staged")
    assert (said.out, said.err) == ("ok\n", "note: there is no ledger here, and the last commit has none either\n")
    assert story.run("export", "--hook").out == ""
    assert story.run("export", code=1).err.startswith("error: there is no ledger in ")
    assert story.run("check", "--staged", "--base", "HEAD", code=1).err.startswith("error: there is no ledger in ")
    assert "the checkpoint is removed" in story.run("check", "--staged", "--base", "HEAD~1", code=3).out
