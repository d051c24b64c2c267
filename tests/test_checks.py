"""What a merge can break: each finding by its code, its line and whom it names."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ledger_cli import checkpoint, checks
from ledger_cli.lines import parse_line
from ledger_cli.model import Entry
from tests.conftest import ROOT, Repo


def entry(**keys: Any) -> Entry:
    return parse_line(json.dumps(keys, ensure_ascii=False))


def decision(id: str, day: int = 1, session: str = "s", **more: Any) -> Entry:
    keys: dict[str, Any] = {"decision": id, "text": id}
    for name in ("slot", "corrects"):
        if name in more:
            keys[name] = more[name]
    at = f"2024-01-{day:02}T00:00:00Z"
    keys |= {"validFrom": more.get("validFrom", at), "recordedAt": at, "session": session}
    return entry(**keys)


def link(old: str, new: str, day: int = 5, session: str = "l") -> Entry:
    return entry(supersedes=old, **{"with": new}, recordedAt=f"2024-01-{day:02}T00:00:00Z", session=session)


def verdict(target: object, day: int = 7) -> Entry:
    at = f"2024-01-{day:02}T00:00:00Z"
    return entry(rejects=target, by="sam", reason="r", recordedAt=at, session="v")


def found(*entries: Entry) -> list[tuple[str, tuple[str, ...], int | None]]:
    return [(f.code, f.ids, f.line) for f in checks.findings(enumerate(entries, 1))]


BROKEN: dict[str, tuple[list[Entry], list[tuple[str, tuple[str, ...], int | None]]]] = {
    "two answers in one slot": (
        [decision("a", 1, "p", slot="q"), decision("b", 2, "r", slot="q")],
        [("two-current", ("a", "b"), 2)],
    ),
    "an id recorded twice": (
        [decision("a", 1, "p"), decision("a", 2, "r")],
        [("duplicate-id", ("a",), 2)],
    ),
    "a session of two clocks": ([decision("a", 1), decision("b", 2)], [("two-clocks", (), 2)]),
    "a link to nothing": ([decision("a"), link("a", "z")], [("unknown-id", ("z",), 2)]),
    "a correction of nothing": ([decision("a", corrects="z")], [("unknown-id", ("z",), 1)]),
    "a circle": (
        [decision("a"), decision("b"), link("a", "b", 5), link("b", "a", 6, "m")],
        [("cycle", ("a", "b"), 4)],
    ),
    "an item corrected twice": (
        [decision("a", 1), decision("b", 2, "p", corrects="a"), decision("c", 3, "r", corrects="a")],
        [("corrected-twice", ("b", "c"), 3)],
    ),
    "an entity of two kinds": (
        [
            entry(entity="x", kind="team", recordedAt="2024-01-01T00:00:00Z", session="p"),
            entry(entity="X", kind="person", recordedAt="2024-01-02T00:00:00Z", session="r"),
        ],
        [("two-kinds", ("X",), 2)],
    ),
    "a link across slots": (
        [decision("a", slot="q"), decision("b", slot="r"), link("a", "b")],
        [("across-slots", ("a", "b"), 3)],
    ),
    "a link to a version of the same item": (
        [decision("a", 1), decision("b", 2, "p", corrects="a"), link("a", "b")],
        [("link-in-place", ("a", "b"), 3)],
    ),
    "an ending before the start": (
        [
            decision("a", 3),
            entry(ends="a", validTo="2024-01-01T00:00:00Z", by="sam", recordedAt="2024-01-04T00:00:00Z", session="e"),
        ],
        [("ends-before-start", ("a",), 2)],
    ),
    "a link recorded before its items": (
        [decision("a", 6, "p"), decision("b"), link("a", "b")],
        [("too-early", ("a",), 3)],
    ),
    "a correction recorded before what it corrects": (
        [decision("a", 3), decision("b", 2, "r", corrects="a")],
        [("too-early", ("a",), 2)],
    ),
    "a verdict on a link that is not recorded": (
        [decision("a"), decision("b"), verdict({"supersedes": "a", "with": "b"})],
        [("unknown-target", ("a", "b"), 3)],
    ),
    "a verdict on a link before it was recorded": (
        [decision("a"), decision("b"), link("a", "b", 8), verdict({"supersedes": "a", "with": "b"})],
        [("unknown-target", ("a", "b"), 4)],
    ),
    "a verdict on an ending that is not recorded": (
        [decision("a"), verdict({"ends": "a"})],
        [("unknown-target", ("a",), 2)],
    ),
    "items that correct each other": (
        [decision("a", 2, "p", corrects="b"), decision("b", 2, "r", corrects="a")],
        [("cycle", ("a",), 1), ("cycle", ("b",), 2)],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_found_with_its_line(name: str) -> None:
    entries, right = BROKEN[name]
    assert found(*entries) == right


@pytest.mark.parametrize("name", BROKEN)
def test_every_finding_says_what_to_do(name: str) -> None:
    for finding in checks.findings(enumerate(BROKEN[name][0], 1)):
        assert finding.hint
        assert finding.sessions


def test_a_finding_does_not_depend_on_the_order_of_the_lines() -> None:
    for entries, _ in BROKEN.values():
        forward = [(f.code, f.ids) for f in checks.findings((None, e) for e in entries)]
        backward = [(f.code, f.ids) for f in checks.findings((None, e) for e in reversed(entries))]
        assert sorted(forward) == sorted(backward)


def test_the_story_has_nothing_wrong() -> None:
    entries = checkpoint.read((ROOT / "snapshots" / "ledger.json").read_bytes())
    assert checks.findings(enumerate(entries, 1)) == []


def test_slots_that_differ_in_case_are_a_warning(repo: Repo) -> None:
    for n, slot in enumerate(("a/b", "A/b"), 1):
        item = {"text": slot, "slot": slot}
        repo.apply({"session": f"s{n}", "at": f"2024-01-0{n}T09:00:00Z", "decisions": [item]})
    said = repo.run("check", "--json").json
    assert said["ok"] is True
    assert [p["code"] for p in said["problems"]] == ["slots-alike"]


def test_session_files_that_are_not_applied_or_changed_since_are_warnings(story: Repo) -> None:
    document = {"session": "later", "at": "2024-03-01T09:00:00Z", "decisions": [{"text": "n"}]}
    story.write(document, name="later.json")
    assert [(p["code"], p["severity"]) for p in story.run("check", "--json").json["problems"]] == [
        ("not-applied", "warning")
    ]
    story.run("session", "apply", "sessions/later.json")
    assert story.run("check", "--json").json["problems"] == []
    document["decisions"] = [{"text": "other"}]
    story.write(document, name="later.json")
    assert [p["code"] for p in story.run("check", "--json").json["problems"]] == ["changed-since"]
