"""`ledger session apply | check | new | list | show`."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.commands.conftest import LATER

if TYPE_CHECKING:
    from pathlib import Path

    from tests.commands.conftest import Golden
    from tests.conftest import Repo

EFFECTS = ["added", "linked", "closed", "reopened", "rejected", "reinstated", "ended", "warnings"]


def decide(name: str, at: str | None = None, **keys: Any) -> dict[str, Any]:
    """A session of one decision, `d-<name>`."""
    clock = {} if at is None else {"at": at}
    return {"session": name, **clock, "decisions": [{"id": f"d-{name}", "text": f"use {name}", **keys}]}


# apply


def test_every_effect_is_said(story: Repo, golden: Golden) -> None:
    said = story.run("session", "apply", story.write(*LATER))
    golden("session/apply.txt", said.out)
    assert said.err == "4 applied of 4 sessions\n"


def test_the_json_of_every_effect(story: Repo, golden: Golden) -> None:
    said = story.apply(*LATER)
    assert said.err == ""
    golden("session/apply.json", said.out)


def test_the_keys_of_the_contract_in_their_order(story: Repo) -> None:
    found = story.apply(*LATER).json
    assert list(found) == ["sessions"]
    assert {tuple(s) for s in found["sessions"]} == {("session", "status", *EFFECTS)}
    again = story.apply(*LATER).json
    assert {tuple(s) for s in again["sessions"]} == {("session", "status", *EFFECTS)}


def test_a_retry_says_so_and_changes_no_byte(repo: Repo) -> None:
    file = repo.write(decide("a", "2024-01-01"), decide("b", "2024-01-02"))
    repo.run("session", "apply", file)
    before = repo.checkpoint.read_bytes()
    said = repo.run("session", "apply", file)
    assert said.out.splitlines() == [f"{id}: nothing to do, all of it is recorded already" for id in "ab"]
    assert said.err == "0 applied, 2 unchanged of 2 sessions\n"
    assert repo.checkpoint.read_bytes() == before


def test_several_files_are_applied_by_clock_and_then_id(repo: Repo) -> None:
    files = [
        repo.write(decide("c", "2024-01-02"), decide("b", "2024-01-02")),
        repo.write(decide("z", "2024-01-01")),
        repo.write(decide("now")),
        repo.write(decide("a", "2024-01-03")),
    ]
    found = repo.run("session", "apply", *files, "--json").json["sessions"]
    assert [s["session"] for s in found] == ["z", "b", "c", "a", "now"]


def test_a_refusal_stops_there_keeps_what_went_before_and_counts_it(repo: Repo) -> None:
    sessions = (
        decide("a", "2024-01-01"),
        decide("b", "2024-01-02", supersedes="d-nobody"),
        decide("c", "2024-01-03"),
    )
    said = repo.run("session", "apply", repo.write(*reversed(sessions)), code=1)
    assert said.out == "a: applied, recorded at 2024-01-01\n  added      d-a  use a\n"
    count, refusal, hint = said.err.splitlines()
    assert count == "1 applied, 2 not tried of 3 sessions"
    assert refusal.endswith(": d-nobody is unknown, there is nothing to supersede")
    assert refusal.startswith(str(repo.path / "sessions" / "s001.json") + ":")
    assert hint.startswith("  hint: ")
    assert [s["session"] for s in repo.run("session", "list", "--json").json["sessions"]] == ["a"]
    assert b"d-a" in repo.checkpoint.read_bytes()


def test_a_refusal_leaves_valid_json_of_what_went_before(repo: Repo) -> None:
    said = repo.apply(decide("a", "2024-01-01"), decide("b", "2024-01-02", corrects="d-nobody"), code=1)
    assert [s["session"] for s in said.json["sessions"]] == ["a"]
    assert "d-nobody is unknown, there is nothing to correct" in said.err


def test_a_refused_session_writes_nothing_of_itself(story: Repo) -> None:
    before = story.checkpoint.read_bytes()
    session = decide("a") | {"endings": [{"id": "nobody", "validTo": "2024-05-01", "by": "sam"}]}
    story.apply(session, code=1)
    assert story.checkpoint.read_bytes() == before
    story.run("show", "d-a", code=1)


def test_all_problems_of_a_session_are_said_at_once(story: Repo) -> None:
    session = {
        "session": "a",
        "at": "2024-01-15",
        "entities": [{"name": "orders", "kind": "animal"}],
        "decisions": [
            {"id": "d1", "text": "another text"},
            {"id": "x", "text": "x", "corrects": "nobody"},
            {"id": "y", "text": "y", "from": "e99"},
        ],
    }
    said = story.run("session", "apply", story.write(session), code=1)
    assert said.out == ""
    for problem in (
        "the newest entry was recorded at 2024-02-20T09:00:00Z",
        "orders has the kind service, not animal",
        "d1 is recorded already by session-1 with another text",
        "nobody is unknown, there is nothing to correct",
        "y cites the unknown episode e99",
    ):
        assert problem in said.err
    assert all(line.startswith(("  hint: ", str(story.path))) for line in said.err.splitlines())


def test_faults_of_all_files_are_said_at_once_and_nothing_is_written(repo: Repo) -> None:
    good, bad, worse = repo.write(decide("a")), repo.path / "bad.yaml", repo.path / "worse.json"
    bad.write_text("session: b\ndecisions:\n  - {txt: x}\n", encoding="utf-8")
    worse.write_text('{"session": 7}', encoding="utf-8")
    said = repo.run("session", "apply", good, "bad.yaml", "worse.json", "missing.yaml", code=1)
    assert said.out == ""
    assert "bad.yaml:3: " in said.err
    assert "worse.json:1: " in said.err
    assert "missing.yaml: cannot be read: No such file or directory" in said.err
    assert repo.run("session", "list", "--json").json == {"sessions": []}


def test_a_session_from_stdin(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(b"session: a\ndecisions: [{id: d, text: from a pipe}]\n"))
    monkeypatch.setattr("sys.stdin", stdin)
    repo.run("session", "apply", "-")
    assert repo.run("show", "d", "--json").json["text"] == "from a pipe"


def piped(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def test_json_from_stdin_is_read_as_json(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    piped(monkeypatch, '[{"session": "a", "decisions": [{"id": "d", "text": "\\ud83d\\ude00"}]}]')
    repo.run("session", "apply", "-")
    assert repo.run("show", "d", "--json").json["text"] == "\U0001f600"
    piped(monkeypatch, '{"session": "b", "decisions": [{"text": true}]}')
    said = repo.run("session", "apply", "-", code=1)
    assert "stdin:1: decisions[0]: 'text': true is not text; write \"true\" in quotes" in said.err


@pytest.mark.parametrize("command", ["apply", "check"])
def test_a_list_of_no_sessions_is_refused(repo: Repo, command: str) -> None:
    said = repo.run("session", command, repo.write(), code=1)
    assert "the file holds no session" in said.err


def test_left_out_the_clock_is_now_and_ids_are_the_place_in_the_list(repo: Repo) -> None:
    session = {"session": "a", "decisions": [{"text": "one"}, {"text": "two"}], "facts": [{"text": "three"}]}
    [said] = repo.apply(session).json["sessions"]
    assert said["added"] == ["a/d1", "a/d2", "a/f1"]
    found = repo.run("show", "a/d2", "--json").json
    assert found["recordedAt"] == found["validFrom"] == "2026-06-01T12:00:00Z"


def test_backdated_accepts_an_older_clock(repo: Repo) -> None:
    repo.apply(decide("a", "2024-02-01"))
    late = decide("b", "2024-01-01")
    refused = repo.apply(late, code=1)
    assert "pass --backdated" in refused.err
    [said] = repo.apply(late, flags=("--backdated",)).json["sessions"]
    assert said["status"] == "applied"


def test_a_clock_ahead_of_the_machine_is_refused(repo: Repo) -> None:
    said = repo.apply(decide("a", "2026-06-01T12:05:01Z"), code=1)
    assert "2026-06-01T12:05:01Z, more than five minutes ahead of this machine's 2026-06-01T12:00:00Z" in said.err
    repo.apply(decide("a", "2026-06-01T12:05:00Z"))


def test_no_export_leaves_the_checkpoint_alone_and_answers_all_the_same(repo: Repo) -> None:
    before = repo.checkpoint.read_bytes()
    repo.apply(decide("a", about=["x"]), flags=("--no-export",))
    assert repo.checkpoint.read_bytes() == before
    assert repo.run("as-of", "x", "now", "--json").ids == ["d-a"]
    repo.run("export")
    assert b"use a" in repo.checkpoint.read_bytes()


def test_a_planned_change_says_until_when_the_old_one_holds(story: Repo) -> None:
    said = story.run(
        "session", "apply", story.write(decide("p", supersedes="d4", slot="orders/database", validFrom="2026-07-01"))
    )
    assert "  holds      d4  until d-p takes over on 2026-07-01\n" in said.out


def test_an_item_that_holds_at_no_instant_is_warned_about(story: Repo) -> None:
    late = decide("w", slot="orders/database", validFrom="2024-01-12", validTo="2024-01-14")
    late["supersessions"] = [{"old": "d-w", "new": "d4"}]
    said = story.apply(late)
    [warning] = said.json["sessions"][0]["warnings"]
    assert warning.startswith("d-w holds at no instant")


# check


def test_a_dry_run_says_what_apply_will_do(story: Repo, golden: Golden) -> None:
    file = story.write(*LATER)
    said = story.run("session", "check", file)
    golden("session/check.txt", said.out)
    checked = story.run("session", "check", file, "--json").json
    assert checked == story.apply(*LATER).json


def test_a_dry_run_leaves_no_trace(story: Repo) -> None:
    before = story.checkpoint.read_bytes()
    story.run("session", "check", story.write(*LATER))
    assert story.checkpoint.read_bytes() == before
    assert len(story.run("session", "list", "--json").json["sessions"]) == 5
    story.run("show", "d9", code=1)


def test_a_dry_run_refuses_what_apply_refuses(story: Repo) -> None:
    file = story.write(decide("b", supersedes="nobody"))
    checked, applied = (story.run("session", verb, file, code=1) for verb in ("check", "apply"))
    assert checked.err == applied.err


# new


def test_the_skeleton(repo: Repo, golden: Golden) -> None:
    golden("session/new.txt", repo.run("session", "new", "s9").out)


def test_the_skeleton_is_refused_until_it_is_filled_in(repo: Repo) -> None:
    file = repo.path / "sessions" / "s9.yaml"
    file.write_text(repo.run("session", "new", "s9").out, encoding="utf-8")
    said = repo.run("session", "apply", file, code=1)
    assert "is a placeholder" in said.err


# list


def test_the_list_as_screen_and_json(long_story: Repo, golden: Golden) -> None:
    golden("session/list.txt", long_story.run("session", "list").out)
    golden("session/list.json", long_story.run("session", "list", "--json").out)


def test_what_is_not_exported_is_marked_in_the_list(repo: Repo) -> None:
    repo.apply(decide("a"))
    repo.apply(decide("b"), flags=("--no-export",))
    rows = repo.run("session", "list", "--json").json["sessions"]
    assert [(row["session"], row["exported"]) for row in rows] == [("a", True), ("b", False)]
    assert [line.endswith("not exported") for line in repo.run("session", "list").out.splitlines()] == [
        *(False, False),
        True,
    ]


# show


def test_a_session_is_shown_as_the_lines_of_the_checkpoint(long_story: Repo, golden: Golden) -> None:
    lines = long_story.checkpoint.read_text(encoding="utf-8").splitlines()
    for session in ("session-5", "session-8"):
        said = long_story.run("session", "show", session)
        assert all(line in {shown.removesuffix(",") for shown in lines} for line in said.out.splitlines())
        found = long_story.run("session", "show", session, "--json").json
        assert found == {"session": session, "entries": [json.loads(line) for line in said.out.splitlines()]}
    golden("session/show.txt", long_story.run("session", "show", "session-5").out)


def test_an_unknown_session_says_where_to_look(story: Repo) -> None:
    said = story.run("session", "show", "nobody", code=1)
    assert said.out == ""
    assert said.err == "error: no session nobody is recorded\n  hint: `ledger session list` names them all\n"


def test_the_files_in_sessions_are_never_written(story: Repo) -> None:
    def listed() -> list[Path]:
        return sorted((story.path / "sessions").iterdir())

    before = listed()
    story.run("reject", "d8", "--by", "sam", "--reason", "wrong")
    story.run("end", "d5", "--on", "2024-05-01", "--by", "sam")
    assert listed() == before


def test_the_list_of_sessions_is_the_same_after_a_rebuild(long_story):
    before = long_story.run("session", "list", "--json").out
    long_story.run("rebuild")
    assert long_story.run("session", "list", "--json").out == before


def test_episodes_and_entities_are_effects_too(repo: Repo) -> None:
    known = [{"name": "orders", "kind": "service"}, {"name": "Ada", "kind": "person"}]
    one = {"session": "a", "at": "2024-01-01", "entities": known}
    two = {"session": "b", "at": "2024-01-02", "entities": known[:1], "episodes": [{"kind": "message", "text": "hi"}]}
    file = repo.write(one, two)
    told = [line for line in repo.run("session", "check", file).out.splitlines() if "noted" in line]
    assert told == ["  noted      2 entities", "  noted      1 episode, 1 entity"]
    assert repo.run("session", "apply", file, "--no-export").out.count("  noted      ") == 2
    for _ in ("waiting", "exported"):
        rows = repo.run("session", "list", "--json").json["sessions"]
        assert [(row["counts"]["entity"], row["counts"]["episode"]) for row in rows] == [(2, 0), (1, 1)]
        listed = repo.run("session", "list").out
        assert "  2 entities" in listed
        assert "  1 episode, 1 entity" in listed
        repo.run("export")
    said = repo.run("session", "apply", file, "--json").json
    assert all("noted" not in row for row in said["sessions"])
