"""The published pages on agent memory through the command line, as written and renamed.

The agent's two sessions: facts and decisions replaced by slot, recalled, and asked about on a given day. The release
reviewer: news that comes late, and both answers about the day in between.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.histories import Renaming, rename

if TYPE_CHECKING:
    from tests.conftest import Repo

# The agent's memory

SERVICE = "orders service"
OWNER, DATABASE, TEAM, ON_CALL = (
    "orders service/owner",
    "orders service/database",
    "orders service/team",
    "billing service/on-call",
)
ALICE, CAROL = "Alice owns the orders service.", "Carol owns the orders service."
BUILT = "The orders service is built for the checkout team."
CONSUMES = "The billing service consumes OrderPlaced events from the orders service."
PUBLISHES = "The orders service publishes OrderPlaced events to Kafka."
BOB_CALL, BOB_TEAM = "Bob is on call for the billing service.", "Bob is on the checkout team."
POSTGRES, COCKROACH = "Use Postgres as the orders service database", "Use CockroachDB as the orders service database"
RUNS = "the team already runs Postgres in production"
SLOW = "Postgres failover was too slow in the multi-region test"


def episode(seq: int, at: str, text: str, *mentions: str) -> dict[str, Any]:
    return {"id": f"m{seq}", "kind": "message", "at": at, "text": text, "mentions": list(mentions)}


def item(seq: int, letter: str, at: str, text: str, *about: str, **keys: str) -> dict[str, Any]:
    """What a message told: an item's valid time is its message's time."""
    return {"id": f"m{seq}{letter}", "text": text, "about": list(about), "validFrom": at, "from": f"m{seq}", **keys}


FIRST, SECOND, THIRD, FOURTH = (f"2026-03-02T09:{minute}:00Z" for minute in ("00", "04", "11", "15"))
FIFTH, SIXTH = "2026-03-16T14:02:00Z", "2026-03-16T14:07:00Z"
MEMORY = [
    {
        "session": "session-1",
        "at": FOURTH,
        "by": "agent",
        "entities": [
            {"name": "orders service", "kind": "service"},
            {"name": "billing service", "kind": "service"},
            {"name": "Alice", "kind": "person"},
            {"name": "Bob", "kind": "person"},
            {"name": "Postgres", "kind": "technology"},
        ],
        "episodes": [
            episode(1, FIRST, "Alice owns it; the checkout team asked for it.", "Alice", SERVICE, "checkout team"),
            episode(2, SECOND, "It uses Postgres, which already runs in production.", SERVICE, "Postgres"),
            episode(3, THIRD, "It tells billing.", SERVICE, "billing service", "OrderPlaced", "Kafka"),
            episode(4, FOURTH, "Ask Bob about billing.", "Bob", "checkout team", "billing service"),
        ],
        "facts": [
            item(1, "a", FIRST, ALICE, SERVICE, "Alice", slot=OWNER),
            item(1, "b", FIRST, BUILT, SERVICE, "checkout team", slot=TEAM),
            item(3, "a", THIRD, CONSUMES, "billing service", "OrderPlaced", SERVICE),
            item(3, "b", THIRD, PUBLISHES, SERVICE, "OrderPlaced", "Kafka"),
            item(4, "a", FOURTH, BOB_CALL, "Bob", "billing service", slot=ON_CALL),
            item(4, "b", FOURTH, BOB_TEAM, "Bob", "checkout team"),
        ],
        "decisions": [item(2, "a", SECOND, POSTGRES, SERVICE, "Postgres", slot=DATABASE, rationale=RUNS)],
    },
    {
        "session": "session-2",
        "at": SIXTH,
        "by": "agent",
        "entities": [{"name": "Carol", "kind": "person"}, {"name": "CockroachDB", "kind": "technology"}],
        "episodes": [
            episode(
                5,
                FIFTH,
                "Update: Postgres failover was too slow in the multi-region test, so the orders service is switching "
                "to CockroachDB.",
                "orders service",
                "Postgres",
                "CockroachDB",
            ),
            episode(
                6,
                SIXTH,
                "Carol is taking over ownership of the orders service from Alice.",
                *("Carol", "orders service", "Alice"),
            ),
        ],
        "facts": [item(6, "a", SIXTH, CAROL, SERVICE, "Carol", slot=OWNER)],
        "decisions": [item(5, "a", FIFTH, COCKROACH, SERVICE, "CockroachDB", slot=DATABASE, rationale=SLOW)],
    },
]
RECALLED_1 = [  # kind, memory, because, session, replaced
    ("fact", ALICE, None, "session-1", []),
    ("fact", BUILT, None, "session-1", []),
    ("decision", POSTGRES, RUNS, "session-1", []),
    ("fact", CONSUMES, None, "session-1", []),
    ("fact", PUBLISHES, None, "session-1", []),
]
RECALLED_2 = [
    ("fact", BUILT, None, "session-1", []),
    ("fact", CONSUMES, None, "session-1", []),
    ("fact", PUBLISHES, None, "session-1", []),
    ("decision", COCKROACH, SLOW, "session-2", [POSTGRES]),
    ("fact", CAROL, None, "session-2", [ALICE]),
]
ON_9_MARCH = [  # kind, memory, since
    ("fact", ALICE, FIRST),
    ("fact", BUILT, FIRST),
    ("decision", POSTGRES, SECOND),
    ("fact", CONSUMES, THIRD),
    ("fact", PUBLISHES, THIRD),
]
BETWEEN_THE_UPDATES = [
    ("fact", ALICE, FIRST),
    ("fact", BUILT, FIRST),
    ("decision", COCKROACH, FIFTH),
    ("fact", CONSUMES, THIRD),
    ("fact", PUBLISHES, THIRD),
]
SLOTS_1 = [(ON_CALL, BOB_CALL), (DATABASE, POSTGRES), (OWNER, ALICE), (TEAM, BUILT)]
SLOTS_2 = [(ON_CALL, BOB_CALL), (DATABASE, COCKROACH), (OWNER, CAROL), (TEAM, BUILT)]

# The release reviewer

GRACE, ADA = "Grace reviews each relate release.", "Ada reviews each relate release."
NOOR = "Noor triages new relate issues on Mondays."
REVIEWER, TRIAGE = "relate/release-reviewer", "relate/triage"
OWNERS_FILE = "read_file CODEOWNERS: release/ @ada"
LEARNED, CORRECTED = "2026-03-02T10:00:00Z", "2026-03-20T09:00:00Z"
RELEASES = [
    {
        "session": "s1",
        "at": LEARNED,
        "episodes": [
            {"id": "e1", "kind": "message", "at": LEARNED, "text": "Grace does it.", "mentions": ["Grace", "relate"]},
            {
                "id": "e2",
                "kind": "message",
                "at": LEARNED,
                "text": "Noor goes through new relate issues every Monday.",
                "mentions": ["Noor", "relate"],
            },
        ],
        "facts": [
            {"id": "f1", "text": GRACE, "slot": REVIEWER, "about": ["Grace", "relate"], "from": "e1"}
            | {"validFrom": "2026-01-05"},
            {"id": "f2", "text": NOOR, "slot": TRIAGE, "about": ["Noor", "relate"], "from": "e2"}
            | {"validFrom": "2026-03-02"},
        ],
    },
    {
        "session": "s2",
        "at": CORRECTED,
        "episodes": [
            {"id": "e3", "kind": "tool_call", "at": CORRECTED, "text": OWNERS_FILE, "mentions": ["Ada", "relate"]}
        ],
        "facts": [
            {"id": "f3", "text": ADA, "slot": REVIEWER, "about": ["Ada", "relate"], "from": "e3"}
            | {"validFrom": "2026-03-10"}
        ],
    },
]
FOUR_TIMES = [  # fact, validFrom, validTo, recordedAt, closedAt
    (GRACE, "2026-01-05T00:00:00Z", "2026-03-10T00:00:00Z", LEARNED, CORRECTED),
    (ADA, "2026-03-10T00:00:00Z", None, CORRECTED, None),
]


@dataclass(frozen=True)
class Told:
    """A page's sessions in a repository, and how its names read there."""

    repo: Repo
    sessions: list[dict[str, Any]]
    of: Renaming

    def apply(self, count: int = 2) -> Told:
        for session in self.sessions[:count]:
            self.repo.apply(session)
        return self

    def ask(self, *arguments: str) -> Any:
        """A command with the document's words, in the words of this telling."""
        return self.repo.run(*(self.of.of(a) for a in arguments), "--json").json

    def rows(self, rows: Any) -> Any:
        return [self.rows(row) if isinstance(row, (list, tuple)) else self.of.of(row) for row in rows]


def telling(repo: Repo, sessions: list[dict[str, Any]], how: str) -> Told:
    if how == "as written":
        return Told(repo, copy.deepcopy(sessions), Renaming(days=0))
    return Told(
        repo,
        *rename(
            sessions,
            days=-500,
            texts=lambda text: f"§ {text} [ß]",
            entities=lambda name: f"Le {name}",
            slots=lambda slot: f"x/{slot}",
        ),
    )


both = pytest.mark.parametrize("how", ["as written", "renamed"])


@pytest.fixture
def memory(repo: Repo, how: str) -> Told:
    return telling(repo, MEMORY, how)


@pytest.fixture
def releases(repo: Repo, how: str) -> Told:
    return telling(repo, RELEASES, how)


def by_text(rows: Any) -> list[Any]:
    """The page orders by message; the ledger by text."""
    return sorted(rows, key=lambda row: row[1])


def recalled(told: Told) -> list[list[Any]]:
    """What stands about the service, with its reason, its session, and the texts it replaced, newest first."""
    chains = told.ask("history", SERVICE)["chains"]
    rows = [[c[0][key] for key in ("kind", "text", "rationale", "session")] for c in chains]
    return [[*row, [node["text"] for node in chain[1:]]] for row, chain in zip(rows, chains, strict=True)]


@both
@pytest.mark.parametrize(("count", "expected"), [(1, RECALLED_1), (2, RECALLED_2)])
def test_recall_gives_what_is_current_and_what_it_replaced(memory: Told, count: int, expected: Any) -> None:
    memory.apply(count)
    assert by_text(recalled(memory)) == memory.rows(by_text(expected))
    now = memory.ask("as-of", SERVICE, "now")["items"]
    assert [i["text"] for i in now] == memory.rows(row[1] for row in by_text(expected))


@both
@pytest.mark.parametrize(("count", "expected"), [(1, SLOTS_1), (2, SLOTS_2)])
def test_the_slots_in_use_and_what_each_answers(memory: Told, count: int, expected: Any) -> None:
    memory.apply(count)
    found = memory.ask("slots")["slots"]
    assert [[s["slot"], s["current"]["text"]] for s in found] == memory.rows(expected)
    assert all(s["planned"] == [] for s in found)


@both
def test_a_new_item_in_a_slot_supersedes_the_current_one_of_its_kind(memory: Told) -> None:
    memory.apply(1)
    [said] = memory.repo.apply(memory.sessions[1]).json["sessions"]
    assert said["linked"] == memory.rows([["m1a", "m6a"], ["m2a", "m5a"]])
    assert said["closed"] == memory.rows(["m1a", "m2a"])
    pairs = [[memory.ask("show", new)["text"], memory.ask("show", old)["text"]] for old, new in _links()]
    assert pairs == memory.rows([[CAROL, ALICE], [COCKROACH, POSTGRES]])
    closed = [[i["text"], i["validTo"]] for i in (memory.ask("show", old) for old, _ in _links())]
    assert closed == memory.rows([[ALICE, SIXTH], [POSTGRES, FIFTH]])


def _links() -> list[tuple[str, str]]:
    return [("m1a", "m6a"), ("m2a", "m5a")]


@both
@pytest.mark.parametrize(
    ("day", "expected"), [("2026-03-09", ON_9_MARCH), ("2026-03-16T14:05:00Z", BETWEEN_THE_UPDATES)]
)
def test_what_was_true_on_a_given_day(memory: Told, day: str, expected: Any) -> None:
    memory.apply()
    found = memory.ask("as-of", SERVICE, day)["items"]
    rows = [[i["kind"], i["text"], i["validFrom"]] for i in found]
    assert rows == memory.rows(by_text(expected))


@both
def test_without_a_slot_the_new_owner_stands_beside_the_old_one(memory: Told) -> None:
    del memory.sessions[1]["facts"][0]["slot"]
    memory.apply()
    found = [i["text"] for i in memory.ask("as-of", SERVICE, "2026-03-17")["items"]]
    assert set(memory.rows([ALICE, CAROL])) <= set(found)


@both
def test_every_item_knows_the_message_it_came_from(memory: Told) -> None:
    memory.apply()
    [evidence] = memory.ask("show", "m6a")["evidence"]
    [told] = memory.rows(["Carol is taking over ownership of the orders service from Alice."])
    assert (evidence["kind"], evidence["text"], evidence["at"]) == ("message", told, *memory.rows([SIXTH]))


@both
def test_the_late_correction_closes_the_old_reviewer(releases: Told) -> None:
    releases.apply(1)
    [said] = releases.repo.apply(releases.sessions[1]).json["sessions"]
    assert (said["linked"], said["closed"]) == (releases.rows([["f1", "f3"]]), releases.rows(["f1"]))


@both
def test_both_answers_about_15_march_are_right(releases: Told) -> None:
    releases.apply()
    for entity, true_on, believed_on in (("relate", ADA, GRACE), ("Ada", ADA, None), ("Grace", None, GRACE)):
        asked = (entity, "2026-03-15")
        true = [i["text"] for i in releases.ask("as-of", *asked)["items"] if i["id"] not in releases.rows(["f2"])]
        said = [i["text"] for i in releases.ask("believed", *asked)["items"] if i["id"] not in releases.rows(["f2"])]
        assert true == releases.rows([true_on] if true_on else [])
        assert said == releases.rows([believed_on] if believed_on else [])


@both
def test_the_four_times_of_both_reviewers(releases: Told) -> None:
    releases.apply()
    found = [releases.ask("show", id) for id in ("f1", "f3")]
    rows = [[i[key] for key in ("text", "validFrom", "validTo", "recordedAt", "closedAt")] for i in found]
    assert rows == releases.rows(FOUR_TIMES)


@both
def test_the_reviewer_is_recalled_with_the_evidence_and_what_was_replaced(releases: Told) -> None:
    releases.apply()
    found = releases.ask("show", "f3")
    [evidence] = found["evidence"]
    assert [evidence["kind"], evidence["text"]] == ["tool_call", *releases.rows([OWNERS_FILE])]
    assert found["about"] == releases.rows(["Ada", "relate"])
    [chain] = releases.ask("history", "f3")["chains"]
    assert [node["text"] for node in chain] == releases.rows([ADA, GRACE])


@both
def test_each_slot_holds_one_current_fact(releases: Told) -> None:
    releases.apply()
    found = releases.ask("slots")["slots"]
    assert [[s["slot"], s["current"]["text"]] for s in found] == releases.rows([(REVIEWER, ADA), (TRIAGE, NOOR)])
    assert releases.repo.run("check", "--json").json["ok"] is True
