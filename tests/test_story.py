"""The published orders story through the command line: every table of the document, told as written and renamed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.histories import Renaming, rename

if TYPE_CHECKING:
    from tests.conftest import Repo

SESSIONS = Path(__file__).resolve().parents[1] / "sessions"
FILES = ("session1.yaml", "session2.yaml", "session3.yaml", "review-d6.yaml", "session4.yaml")


@dataclass(frozen=True)
class Told:
    """The story in a repository, and how its names read there."""

    repo: Repo
    sessions: list[dict[str, Any]]
    of: Renaming

    def apply(self, count: int = len(FILES)) -> Told:
        for session in self.sessions[:count]:
            self.repo.apply(session)
        return self

    def word(self, text: str) -> str:
        return str(self.of.of(text))


def each_word(text: str) -> str:
    """Another text with as many words, in the same order among the others."""
    return " ".join("q" + word for word in text.split())


@pytest.fixture(params=["as written", "renamed"])
def told(request: pytest.FixtureRequest, repo: Repo) -> Told:
    sessions = [yaml.load((SESSIONS / name).read_text(encoding="utf-8"), yaml.BaseLoader) for name in FILES]
    if request.param == "as written":
        return Told(repo, sessions, Renaming(days=0))
    renamed, renaming = rename(
        sessions,
        days=411,
        texts=each_word,
        entities=lambda name: f"Équipe {name}",
        slots=lambda slot: f"[{slot}]",
        reasons=lambda reason: f"because {reason}",
        people=lambda name: f"Dr {name}",
    )
    return Told(repo, renamed, renaming)


# The tables of the document

D1_OPEN = ("d1", "orders uses postgres", "2024-01-01T00:00:00Z", None, "2024-01-01T09:00:00Z", None)
D1_CLOSED = (*D1_OPEN[:3], "2024-01-10T00:00:00Z", D1_OPEN[4], "2024-02-01T09:00:00Z")
D2_OPEN = ("d2", "search uses elasticsearch", "2024-01-01T00:00:00Z", None, "2024-01-01T09:00:00Z", None)
D2_CLOSED = (*D2_OPEN[:3], "2024-01-25T00:00:00Z", D2_OPEN[4], "2024-02-06T09:00:00Z")
D3_OPEN = ("d3", "payments runs in eu-west-1", "2024-01-01T00:00:00Z", None, "2024-01-01T09:00:00Z", None)
D3_CLOSED = (*D3_OPEN[:3], "2024-03-01T00:00:00Z", D3_OPEN[4], "2024-02-20T09:00:00Z")
D4 = ("d4", "orders uses mysql", "2024-01-10T00:00:00Z", None, "2024-02-01T09:00:00Z", None)
D5 = ("d5", "payments retries failed charges 3 times", "2024-02-01T00:00:00Z", None, "2024-02-01T09:00:00Z", None)
D6_OPEN = ("d6", "cache order lookups in redis", "2024-02-06T00:00:00Z", None, "2024-02-06T09:00:00Z", None)
D6_REJECTED = (*D6_OPEN[:3], "2024-02-06T00:00:00Z", D6_OPEN[4], "2024-02-12T09:00:00Z")
D7 = ("d7", "search uses opensearch", "2024-01-25T00:00:00Z", None, "2024-02-06T09:00:00Z", None)
D8 = ("d8", "payments runs in us-east-1", "2024-03-01T00:00:00Z", None, "2024-02-20T09:00:00Z", None)

AFTER = {  # how many of FILES were applied -> the four times of every decision
    1: [D1_OPEN, D2_OPEN, D3_OPEN],
    2: [D1_CLOSED, D2_OPEN, D3_OPEN, D4, D5],
    3: [D1_CLOSED, D2_CLOSED, D3_OPEN, D4, D5, D6_OPEN, D7],
    4: [D1_CLOSED, D2_CLOSED, D3_OPEN, D4, D5, D6_REJECTED, D7],
    5: [D1_CLOSED, D2_CLOSED, D3_CLOSED, D4, D5, D6_REJECTED, D7, D8],
}
BROUGHT = [  # added, linked, closed, rejected
    (["d1", "d2", "d3"], [], [], []),
    (["d4", "d5"], [["d1", "d4"]], ["d1"], []),
    (["d6", "d7"], [["d2", "d7"]], ["d2"], []),
    ([], [], ["d6"], ["d6"]),
    (["d8"], [["d3", "d8"]], ["d3"], []),
]
POSTGRES, MYSQL, REDIS = "orders uses postgres", "orders uses mysql", "cache order lookups in redis"
ELASTIC, OPEN = "search uses elasticsearch", "search uses opensearch"
RETRIES, EU, US = "payments retries failed charges 3 times", "payments runs in eu-west-1", "payments runs in us-east-1"
AS_OF = {  # asOf, agree, trueOn, believedOn
    "orders": [
        ("2024-01-05", True, [POSTGRES], [POSTGRES]),
        ("2024-01-20", False, [MYSQL], [POSTGRES]),
        ("2024-02-03", True, [MYSQL], [MYSQL]),
        ("2024-02-10", False, [MYSQL], [REDIS, MYSQL]),
        ("2024-02-15", True, [MYSQL], [MYSQL]),
        ("2024-02-25", True, [MYSQL], [MYSQL]),
        ("2024-03-05", True, [MYSQL], [MYSQL]),
    ],
    "search": [
        ("2024-01-05", True, [ELASTIC], [ELASTIC]),
        ("2024-01-20", True, [ELASTIC], [ELASTIC]),
        ("2024-02-03", False, [OPEN], [ELASTIC]),
        ("2024-02-10", True, [OPEN], [OPEN]),
        ("2024-02-15", True, [OPEN], [OPEN]),
        ("2024-02-25", True, [OPEN], [OPEN]),
        ("2024-03-05", True, [OPEN], [OPEN]),
    ],
    "payments": [
        ("2024-01-05", True, [EU], [EU]),
        ("2024-01-20", True, [EU], [EU]),
        ("2024-02-03", True, [RETRIES, EU], [RETRIES, EU]),
        ("2024-02-10", True, [RETRIES, EU], [RETRIES, EU]),
        ("2024-02-15", True, [RETRIES, EU], [RETRIES, EU]),
        ("2024-02-25", True, [RETRIES, EU], [RETRIES, EU]),
        ("2024-03-05", True, [RETRIES, US], [RETRIES, US]),
    ],
}
KNOWN_AT = [
    ("2024-01-28", [POSTGRES, EU, ELASTIC]),
    ("2024-02-03", [MYSQL, EU, ELASTIC]),
    ("2024-02-10", [MYSQL, EU, OPEN]),
]
LATENESS = [
    ("d4", 22, MYSQL),
    ("d7", 12, OPEN),
    ("d1", 0, POSTGRES),
    ("d2", 0, ELASTIC),
    ("d3", 0, EU),
    ("d5", 0, RETRIES),
    ("d6", 0, REDIS),
    ("d8", -10, US),
]
DIFF = [  # written, added, closed, rejected
    ("2024-02-01T09:00:00Z", ["d4", "d5"], ["d1"], []),
    ("2024-02-06T09:00:00Z", ["d6", "d7"], ["d2"], []),
    ("2024-02-12T09:00:00Z", [], ["d6"], ["d6"]),
]
REASON = "order reads are fast enough; a cache adds an invalidation problem"


def times(item: dict[str, Any]) -> list[Any]:
    return [item[key] for key in ("id", "text", "validFrom", "validTo", "recordedAt", "closedAt")]


def texts(items: list[dict[str, Any]]) -> list[str]:
    return [item["text"] for item in items]


def renamed(told: Told, rows: Any) -> Any:
    """The document's rows, as lists, in the words of this telling."""
    if isinstance(rows, (list, tuple)):
        return [renamed(told, row) for row in rows]
    return told.of.of(rows)


@pytest.mark.parametrize("count", AFTER)
def test_after_each_session_the_four_times_are_the_documents(told: Told, count: int) -> None:
    told.apply(count)
    shown = [told.repo.run("show", told.word(row[0]), "--json").json for row in AFTER[count]]
    assert [times(item) for item in shown] == renamed(told, AFTER[count])
    assert len(told.repo.run("lateness", "--json").ids) == len(AFTER[count])


def test_each_session_says_what_it_brought_and_what_it_closed(told: Told) -> None:
    for session, brought in zip(told.sessions, BROUGHT, strict=True):
        [said] = told.repo.apply(session).json["sessions"]
        assert (said["session"], said["status"], said["warnings"]) == (session["session"], "applied", [])
        assert [said[key] for key in ("added", "linked", "closed", "rejected")] == renamed(told, brought)
        assert (said["reopened"], said["reinstated"], said["ended"]) == ([], [], [])


def test_a_retried_session_changes_no_byte_and_says_so(told: Told) -> None:
    told.apply(2)
    before = told.repo.checkpoint.read_bytes()
    [said] = told.repo.apply(told.sessions[1]).json["sessions"]
    assert said["status"] == "unchanged"
    assert said["added"] == said["linked"] == said["closed"] == []
    assert told.repo.checkpoint.read_bytes() == before
    assert times(told.repo.run("show", told.word("d1"), "--json").json) == renamed(told, D1_CLOSED)


def test_the_reviewer_finds_the_cache_by_its_words(told: Told) -> None:
    told.apply(3)
    words = "redis cache orders" if told.of.days == 0 else each_word("redis cache orders")
    assert told.repo.run("search", *words.split(), "--json").ids == renamed(told, ["d6", "d1", "d4"])


def test_a_rejected_decision_never_held_and_was_closed_by_the_review(told: Told) -> None:
    told.apply(3)
    by, reason, at = told.word("sam"), told.word(REASON), told.word("2024-02-12T09:00:00Z")
    reject = ("reject", told.word("d6"), "--by", by, "--reason", reason, "--at", at, "--json")
    [said] = told.repo.run(*reject).json["sessions"]
    assert said["session"] == f"reject-{told.word('d6')}-{at}"
    assert said["rejected"] == said["closed"] == [told.word("d6")]
    shown = told.repo.run("show", told.word("d6"), "--json").json
    assert times(shown) == renamed(told, D6_REJECTED)
    assert shown["holds"] == []
    [again] = told.repo.run(*reject).json["sessions"]
    assert (again["session"], again["status"]) == (said["session"], "unchanged"), "a repeated rejection is a no-op"


def test_the_history_of_orders_is_a_chain_and_a_rejection_with_its_review(told: Told) -> None:
    told.apply()
    found = told.repo.run("history", told.word("orders"), "--json").json
    assert [[times(node) for node in chain] for chain in found["chains"]] == renamed(told, [[D4, D1_CLOSED]])
    [rejected] = found["rejected"]
    assert times(rejected) == renamed(told, D6_REJECTED)
    [review] = rejected["reviews"]
    said = [review[key] for key in ("verdict", "item", "by", "recordedAt", "reason")]
    assert said == ["rejects", *renamed(told, ["d6", "sam", "2024-02-12T09:00:00Z", REASON])]


@pytest.mark.parametrize("entity", AS_OF)
def test_what_was_true_and_what_was_believed_on_seven_days(told: Told, entity: str) -> None:
    told.apply()
    rows = []
    for day, *_ in AS_OF[entity]:
        asked = (told.word(entity), told.word(day), "--json")
        true_on = texts(told.repo.run("as-of", *asked).json["items"])
        believed_on = texts(told.repo.run("believed", *asked).json["items"])
        rows.append([told.word(day), true_on == believed_on, true_on, believed_on])
    assert rows == renamed(told, AS_OF[entity])


def test_one_day_as_known_on_different_days(told: Told) -> None:
    told.apply()
    known = [option for day, _ in KNOWN_AT for option in ("--known", told.word(day))]
    found = told.repo.run("believed", told.word("2024-01-28"), *known, "--json").json
    rows = [[a["knownAt"].removesuffix("T00:00:00Z"), texts(a["items"])] for a in found["answers"]]
    assert rows == renamed(told, KNOWN_AT)
    last = texts(told.repo.run("as-of", told.word("2024-01-28"), "--json").json["items"])
    assert last == rows[-1][1], "after 6 February the log learns nothing more about that day"


def test_how_late_the_log_learned_each_change(told: Told) -> None:
    told.apply()
    found = told.repo.run("lateness", "--json").json["items"]
    assert [[i["id"], i["daysLate"], i["text"]] for i in found] == renamed(told, LATENESS)


def test_what_changed_between_two_reviews(told: Told) -> None:
    told.apply()
    window = ("--from", told.word("2024-01-31"), "--to", told.word("2024-02-15"))
    found = told.repo.run("diff", *window, "--json").json["writes"]
    assert [[w["at"], w["added"], w["closed"], w["rejected"]] for w in found] == renamed(told, DIFF)


def test_the_four_times_of_orders(told: Told) -> None:
    told.apply()
    found = told.repo.run("history", told.word("orders"), "--json").json
    items = [node for chain in found["chains"] for node in chain] + found["rejected"]
    by_record = sorted(items, key=lambda item: (item["recordedAt"], item["id"]))
    assert [times(item) for item in by_record] == renamed(told, [D1_CLOSED, D4, D6_REJECTED])


def test_the_story_the_package_plays_is_the_story_of_this_repository(repo: Repo) -> None:
    packaged = Path(__file__).resolve().parents[1] / "ledger_cli" / "story.yaml"
    here = [yaml.load((SESSIONS / name).read_text(encoding="utf-8"), yaml.BaseLoader) for name in FILES]
    assert yaml.load(packaged.read_text(encoding="utf-8"), yaml.BaseLoader) == here
    repo.run("session", "apply", packaged)
    assert repo.checkpoint.read_bytes() == (SESSIONS.parent / "snapshots" / "ledger.json").read_bytes()
