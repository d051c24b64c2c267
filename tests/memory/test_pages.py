"""The published pages on agent memory, told as chats: through `remember` with recorded extractions, as written and
renamed.

The chats and what was extracted from them are the pages' data; every table is what the applied ledger answers.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.test_seeds import (
    ADA,
    ALICE,
    BETWEEN_THE_UPDATES,
    CAROL,
    COCKROACH,
    FOUR_TIMES,
    GRACE,
    MEMORY,
    NOOR,
    ON_9_MARCH,
    OWNERS_FILE,
    POSTGRES,
    RECALLED_1,
    RECALLED_2,
    RELEASES,
    REVIEWER,
    SERVICE,
    SLOTS_1,
    SLOTS_2,
    TRIAGE,
    Told,
    by_text,
    recalled,
    telling,
)

if TYPE_CHECKING:
    from tests.conftest import Repo, Said

ROLES = {"message": "user", "tool_call": "tool"}
KINDS = {  # of the entities, as the page's prompt has the model tell them
    "orders service": "service",
    "billing service": "service",
    "Alice": "person",
    "Bob": "person",
    "Carol": "person",
    "Postgres": "technology",
    "CockroachDB": "technology",
    "Kafka": "technology",
    "OrderPlaced": "event",
    "checkout team": "team",
}


def as_chat(session: dict[str, Any]) -> list[dict[str, str]]:
    """A session's episodes as the messages that they were."""
    return [{"role": ROLES[e["kind"]], "content": e["text"], "at": e["at"], "id": e["id"]} for e in session["episodes"]]


def as_extractions(session: dict[str, Any], kinds: dict[str, str]) -> list[dict[str, Any]]:
    """What was extracted from each message, as a model answers."""
    found = []
    for number, episode in enumerate(session["episodes"], start=1):

        def items(key: str, number: int = number, id: str = episode["id"]) -> list[dict[str, Any]]:
            keys = ("text", "rationale", "slot", "about", "validFrom")
            return [
                {k: i[k] for k in keys if k in i} | {"from": [number]} for i in session.get(key, ()) if i["from"] == id
            ]

        entities = [{"name": n, "kind": kinds.get(n), "from": [number]} for n in episode["mentions"]]
        found.append({"entities": entities, "facts": items("facts"), "decisions": items("decisions")})
    return found


def remember(told: Told, n: int, *flags: str) -> Said:
    """Session `n` of a page, from its chat: one message a question, as the page's program does."""
    session, path = told.sessions[n], told.repo.path
    kinds = {told.of.names.get(name, name): kind for name, kind in KINDS.items()}
    chat, replay = path / f"chat{n}.jsonl", path / f"replay{n}.json"
    chat.write_text("".join(json.dumps(message) + "\n" for message in as_chat(session)), encoding="utf-8")
    replay.write_text(json.dumps({"extractions": as_extractions(session, kinds)}), encoding="utf-8")
    by = ("--by", session["by"]) if "by" in session else ()
    where = ("--session", session["session"], "--at", session["at"], *by, "--batch", "1", "--replay", replay)
    return told.repo.run("remember", chat, *where, *flags)


def learn(told: Told, count: int = 2) -> Told:
    """The first sessions of a page: remembered, read, and applied."""
    for n in range(count):
        file = told.repo.path / "sessions" / f"{n}.yaml"
        remember(told, n, "-o", str(file))
        told.repo.run("session", "check", file)
        told.repo.run("session", "apply", file)
    return told


both = pytest.mark.parametrize("how", ["as written", "renamed"])


@pytest.fixture
def memory(repo: Repo, how: str) -> Told:
    return telling(repo, MEMORY, how)


@pytest.fixture
def releases(repo: Repo, how: str) -> Told:
    return telling(repo, RELEASES, how)


# The agent's two sessions


@both
@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (0, [["m1", 3, 2, 0], ["m2", 2, 0, 1], ["m3", 4, 2, 0], ["m4", 3, 2, 0]]),
        (1, [["m5", 3, 0, 1], ["m6", 3, 1, 0]]),
    ],
)
def test_each_message_stored_what_the_page_reports(memory: Told, n: int, expected: list[list[Any]]) -> None:
    learn(memory, n + 1)
    session = memory.sessions[n]["session"]
    entries = memory.repo.run("session", "show", session, "--json").json["entries"]
    told = []
    for episode in (e for e in entries if "episode" in e):
        cites = [e for e in entries if episode["episode"] in e.get("from", ())]
        counts = [sum(kind in e for e in cites) for kind in ("fact", "decision")]
        told.append([episode["episode"], len(episode["mentions"]), *counts])
    assert sorted(told) == [[f"{session}/{memory.of.of(id)}", *counts] for id, *counts in expected]


@both
def test_session_1_left_the_nodes_of_the_page(memory: Told) -> None:
    learn(memory, 1)
    for label, count in {"Decision": 1, "Entity": 8, "Fact": 6, "Episode": 4, "Session": 1}.items():
        [row] = memory.repo.run("query", f"MATCH (n:{label}) RETURN count(n) AS n", "--json").json["rows"]
        assert (label, row["n"]) == (label, count)


@both
@pytest.mark.parametrize(("count", "expected"), [(1, RECALLED_1), (2, RECALLED_2)])
def test_recall_gives_what_is_current_and_what_it_replaced(memory: Told, count: int, expected: Any) -> None:
    learn(memory, count)
    assert by_text(recalled(memory)) == memory.rows(by_text(expected))


@both
@pytest.mark.parametrize(("count", "expected"), [(1, SLOTS_1), (2, SLOTS_2)])
def test_the_slots_in_use_and_what_each_answers(memory: Told, count: int, expected: Any) -> None:
    learn(memory, count)
    found = memory.ask("slots")["slots"]
    assert [[s["slot"], s["current"]["text"]] for s in found] == memory.rows(expected)


@both
def test_the_second_session_says_what_it_supersedes_before_anyone_applies_it(memory: Told) -> None:
    learn(memory, 1)
    said = remember(memory, 1, "-o", "-")
    ids = {i["text"]: i["id"] for i in memory.ask("as-of", SERVICE, "2026-03-09")["items"]}
    notes = [line.strip() for line in said.out.splitlines() if line.strip().startswith("# supersedes ")]
    assert len(notes) == 2
    for old, note in zip(memory.rows([POSTGRES, ALICE]), notes, strict=True):
        assert f"supersedes {ids[old]}, " in note
    found = memory.ask("slots")["slots"]
    assert [[s["slot"], s["current"]["text"]] for s in found] == memory.rows(SLOTS_1), "to read a chat writes nothing"


@both
def test_both_updates_are_linked_to_what_they_replace(memory: Told) -> None:
    learn(memory)
    rows = memory.repo.run(
        "query", "MATCH (new)-[:SUPERSEDES]->(old) RETURN new.text AS new, old.text AS old", "--json"
    ).json["rows"]
    assert sorted([r["new"], r["old"]] for r in rows) == sorted(memory.rows([[COCKROACH, POSTGRES], [CAROL, ALICE]]))


@both
@pytest.mark.parametrize(
    ("day", "expected"), [("2026-03-09", ON_9_MARCH), ("2026-03-16T14:05:00Z", BETWEEN_THE_UPDATES)]
)
def test_what_was_true_on_a_given_day(memory: Told, day: str, expected: Any) -> None:
    learn(memory)
    found = memory.ask("as-of", SERVICE, day)["items"]
    assert [[i["kind"], i["text"], i["validFrom"]] for i in found] == memory.rows(by_text(expected))


@both
def test_without_a_slot_the_new_owner_stands_beside_the_old_one(memory: Told) -> None:
    del memory.sessions[1]["facts"][0]["slot"]
    learn(memory)
    found = [i["text"] for i in memory.ask("as-of", SERVICE, "2026-03-17")["items"]]
    assert set(memory.rows([ALICE, CAROL])) <= set(found)


@both
def test_without_a_slot_a_verdict_puts_the_new_owner_into_the_old_ones_place(memory: Told) -> None:
    del memory.sessions[1]["facts"][0]["slot"]
    learn(memory, 1)
    remember(memory, 1, "-o", "-")
    replay = memory.repo.path / "replay1.json"
    recorded = json.loads(replay.read_text(encoding="utf-8"))
    olds = [row[1] for row in SLOTS_1] + [row[1] for row in RECALLED_1]
    [new] = memory.rows([CAROL])
    recorded["judgements"] = [
        {"old": old, "new": new, "verdict": "new" if old == memory.rows([ALICE])[0] else "neither"}
        for old in memory.rows(dict.fromkeys(olds))
    ]
    replay.write_text(json.dumps(recorded), encoding="utf-8")
    session = memory.sessions[1]
    flags = ("--session", session["session"], "--at", session["at"], "--batch", "1", "--replay", replay, "--apply")
    memory.repo.run("remember", memory.repo.path / "chat1.jsonl", *flags)
    assert by_text(recalled(memory)) == memory.rows(by_text(RECALLED_2))


@both
def test_every_item_knows_the_message_it_came_from(memory: Told) -> None:
    learn(memory)
    [carol] = [i for i in memory.ask("as-of", SERVICE, "2026-03-17")["items"] if i["text"] == memory.rows([CAROL])[0]]
    [evidence] = memory.repo.run("show", carol["id"], "--json").json["evidence"]
    message = memory.sessions[1]["episodes"][1]
    assert (evidence["kind"], evidence["text"], evidence["at"]) == ("message", message["text"], message["at"])


@both
def test_the_same_chat_again_is_refused_by_name_and_under_another_name_holds_no_news(memory: Told) -> None:
    learn(memory)
    before = memory.repo.checkpoint.read_bytes()
    for n in (0, 1):
        chat, replay = memory.repo.path / f"chat{n}.jsonl", memory.repo.path / f"replay{n}.json"
        flags = ("--batch", "1", "--replay", replay, "--apply")
        session = memory.sessions[n]["session"]
        said = memory.repo.run("remember", chat, "--session", session, *flags, code=1)
        assert said.err.startswith(f"error: session {session} is recorded already\n")
    said = memory.repo.run("remember", chat, "--session", "again", *flags, "--json")
    assert said.json["added"] == []
    assert len(said.json["leftOut"]) == 2
    assert all("it repeats " in one["reason"] for one in said.json["leftOut"])
    assert memory.repo.checkpoint.read_bytes() == before


@both
def test_the_same_chat_gives_the_same_bytes(memory: Told) -> None:
    learn(memory, 1)
    first, second = (remember(memory, 1, "-o", "-").out for _ in range(2))
    assert first == second != ""


# The release reviewer


@both
def test_a_tool_call_that_comes_late_is_evidence_of_its_own_kind(releases: Told) -> None:
    learn(releases)
    [ada] = releases.ask("as-of", "Ada", "2026-03-21")["items"]
    [evidence] = releases.repo.run("show", ada["id"], "--json").json["evidence"]
    assert [evidence["kind"], evidence["text"]] == ["tool_call", *releases.rows([OWNERS_FILE])]
    assert ada["about"] == releases.rows(["Ada", "relate"])
    [chain] = releases.repo.run("history", ada["id"], "--json").json["chains"]
    assert [node["text"] for node in chain] == releases.rows([ADA, GRACE])


@both
def test_both_answers_about_15_march_are_right(releases: Told) -> None:
    learn(releases)
    for entity, true_on, believed_on in (("relate", ADA, GRACE), ("Ada", ADA, None), ("Grace", None, GRACE)):
        for question, expected in (("as-of", true_on), ("believed", believed_on)):
            found = [i["text"] for i in releases.ask(question, entity, "2026-03-15")["items"]]
            assert [text for text in found if text != releases.rows([NOOR])[0]] == releases.rows(
                [expected] if expected else []
            )


@both
def test_the_four_times_of_both_reviewers(releases: Told) -> None:
    learn(releases)
    chain = [node for chain in releases.ask("history", "relate")["chains"] for node in chain]
    rows = {i["text"]: [i[key] for key in ("text", "validFrom", "validTo", "recordedAt", "closedAt")] for i in chain}
    assert [rows[text] for text in releases.rows([GRACE, ADA])] == releases.rows(FOUR_TIMES)


@both
def test_each_slot_holds_one_current_fact(releases: Told) -> None:
    learn(releases)
    found = releases.ask("slots")["slots"]
    assert [[s["slot"], s["current"]["text"]] for s in found] == releases.rows([(REVIEWER, ADA), (TRIAGE, NOOR)])
    assert releases.repo.run("check", "--json").json["ok"] is True
