"""The published bitemporal examples through the command line: every session applied, every question asked."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Repo

CASES = {
    case["id"]: case
    for case in json.loads((Path(__file__).parent / "cases" / "bitemporal.json").read_text(encoding="utf-8"))
}
ANSWERED = {"as_of", "believed", "lateness", "diff", "validTo", "closedAt"}
APPLIED = {"apply_refused", "apply_again", "apply_again_with", "same_answer_if"}
assert {ask["q"] for case in CASES.values() for ask in case["ask"]} == ANSWERED | APPLIED
assert len(CASES) == 13


def with_ask(kind: str) -> Any:
    return pytest.mark.parametrize("name", [n for n, c in CASES.items() if any(a["q"] == kind for a in c["ask"])])


def answer(repo: Repo, ask: dict[str, Any]) -> Any:
    """What the command line says to a question of a case, in the shape the case expects."""
    if ask["q"] == "as_of":
        return sorted(repo.run("as-of", ask["t"], "--json").ids)
    if ask["q"] == "believed":
        return sorted(repo.run("believed", ask["validAt"], "--known", ask["knownAt"], "--json").ids)
    if ask["q"] == "lateness":
        return [(i["id"], i["daysLate"]) for i in repo.run("lateness", "--json").json["items"]]
    if ask["q"] == "diff":
        writes = repo.run("diff", "--from", ask["from"], "--to", ask["to"], "--json").json["writes"]
        return [{"written": w["at"], **{key: w[key] for key in ("added", "closed", "rejected")}} for w in writes]
    return repo.run("show", ask["id"], "--json").json[ask["q"]]


def expected(ask: dict[str, Any]) -> Any:
    if ask["q"] in ("as_of", "believed"):
        return sorted(ask["expect"])
    return list(ask["expect"].items()) if ask["q"] == "lateness" else ask["expect"]


def check_answers(repo: Repo, case: dict[str, Any]) -> None:
    asked = [ask for ask in case["ask"] if ask["q"] in ANSWERED]
    assert [(ask, answer(repo, ask)) for ask in asked] == [(ask, expected(ask)) for ask in asked]


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if any(a["q"] in ANSWERED for a in c["ask"])])
def test_every_question_gets_the_published_answer(repo: Repo, name: str) -> None:
    for session in CASES[name]["sessions"]:
        repo.apply(session)
    check_answers(repo, CASES[name])
    assert repo.run("check", "--json").json["ok"] is True


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if any(a["q"] in ANSWERED for a in c["ask"])])
def test_all_sessions_in_one_file_get_the_same_answers(repo: Repo, name: str) -> None:
    repo.apply(*reversed(CASES[name]["sessions"]))
    check_answers(repo, CASES[name])


@with_ask("same_answer_if")
def test_the_order_in_the_file_decides_nothing(repo: Repo, name: str) -> None:
    for session in copy.deepcopy(CASES[name]["sessions"]):
        session["decisions"].reverse()
        repo.apply(session)
    check_answers(repo, CASES[name])


@with_ask("apply_refused")
@pytest.mark.parametrize("flags", [(), ("--backdated",)], ids=["plain", "backdated"])
def test_a_clock_that_goes_back_is_refused_and_nothing_is_written(
    repo: Repo, name: str, flags: tuple[str, ...]
) -> None:
    [ask] = CASES[name]["ask"]
    *before, refused = CASES[name]["sessions"][: ask["session"]]
    repo.apply(*before)
    bytes_before = repo.checkpoint.read_bytes()
    said = repo.apply(refused, code=1, flags=flags)
    assert said.json == {"sessions": []}
    assert refused["at"] in said.err
    assert before[-1]["at"] in said.err
    assert repo.checkpoint.read_bytes() == bytes_before
    assert repo.run("lateness", "--json").ids == [d["id"] for s in before for d in s["decisions"]]


@with_ask("apply_again")
def test_the_same_session_again_changes_no_byte_and_says_so(repo: Repo, name: str) -> None:
    [session] = CASES[name]["sessions"]
    repo.apply(session)
    before = repo.checkpoint.read_bytes()
    assert [s["status"] for s in repo.apply(session).json["sessions"]] == ["unchanged"]
    said = repo.run("session", "apply", repo.write(session))
    assert said.out == f"{session['session']}: nothing to do, all of it is recorded already\n"
    assert repo.checkpoint.read_bytes() == before


@with_ask("apply_again_with")
@pytest.mark.parametrize("other_session", [False, True], ids=["under its own id", "under another id"])
def test_a_changed_text_is_no_retry(repo: Repo, name: str, other_session: bool) -> None:
    [session] = CASES[name]["sessions"]
    [ask] = [a for a in CASES[name]["ask"] if a["q"] == "apply_again_with"]
    repo.apply(session)
    before = repo.checkpoint.read_bytes()
    changed = copy.deepcopy(session)
    for path, value in ask["change"].items():
        id, key = path.split(".")
        [decision] = [d for d in changed["decisions"] if d["id"] == id]
        decision[key] = value
    if other_session:
        changed["session"] += "-again"
    said = repo.apply(changed, code=1)
    assert ("r1 is recorded already" if other_session else "recorded already, with other content") in said.err
    assert "with another text" in said.err or not other_session
    assert repo.checkpoint.read_bytes() == before
