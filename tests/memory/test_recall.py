"""`recall`: the published pages on agent memory as one document, as written and renamed, and what each part holds."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING, Any

import pytest

from ledger_cli import instant
from ledger_cli.ledger import Ledger
from ledger_cli.memory.embedding import cosine
from ledger_cli.memory.recall import Recalled, recall
from tests.conftest import NOW
from tests.test_seeds import (
    ADA,
    ALICE,
    BETWEEN_THE_UPDATES,
    BOB_CALL,
    BOB_TEAM,
    BUILT,
    CAROL,
    COCKROACH,
    CONSUMES,
    GRACE,
    MEMORY,
    NOOR,
    ON_9_MARCH,
    OWNERS_FILE,
    POSTGRES,
    PUBLISHES,
    RELEASES,
    RUNS,
    SERVICE,
    SLOW,
    Told,
    both,
    telling,
)

if TYPE_CHECKING:
    from tests.conftest import Repo

NEARBY = [("billing service", BOB_CALL), ("checkout team", BOB_TEAM)]
DOCUMENT_1 = {
    "facts": [(ALICE, "session-1"), (BUILT, "session-1"), (CONSUMES, "session-1"), (PUBLISHES, "session-1")],
    "decisions": [(POSTGRES, RUNS, "session-1", [])],
    "history": [],
    "nearby": NEARBY,
}
DOCUMENT_2 = {
    "facts": [(BUILT, "session-1"), (CONSUMES, "session-1"), (PUBLISHES, "session-1"), (CAROL, "session-2")],
    "decisions": [(COCKROACH, SLOW, "session-2", [POSTGRES])],
    "history": [ALICE],
    "nearby": NEARBY,
}


@pytest.fixture
def memory(repo: Repo, how: str) -> Told:
    return telling(repo, MEMORY, how)


@pytest.fixture
def releases(repo: Repo, how: str) -> Told:
    return telling(repo, RELEASES, how)


def opened(repo: Repo) -> Ledger:
    return Ledger(repo.path, clock=lambda: repo.now)


def ask(told: Told, question: str, *options: str) -> Any:
    """The document on a question about `{}`, the service."""
    [name] = told.rows([SERVICE])
    return told.repo.run("recall", question.format(name), "--json", *map(told.of.of, options)).json


def document(found: Any) -> dict[str, Any]:
    """The document in the page's own shape."""
    return {
        "facts": [[f["text"], f["session"]] for f in found["facts"]],
        "decisions": [
            [d["text"], d["rationale"], d["session"], [old["text"] for old in d["replaced"]]]
            for d in found["decisions"]
        ],
        "history": [item["text"] for item in found["history"]],
        "nearby": [[n["via"], n["text"]] for n in found["nearby"]],
    }


# The agent's memory


@both
@pytest.mark.parametrize(("count", "expected"), [(1, DOCUMENT_1), (2, DOCUMENT_2)])
def test_the_one_document_of_the_recall_tool(memory: Told, count: int, expected: Any) -> None:
    memory.apply(count)
    found = ask(memory, "What do you remember about the {}?")
    assert (found["entity"], found["kind"]) == (*memory.rows([SERVICE]), "service")
    assert document(found) == {key: memory.rows(rows) for key, rows in expected.items()}
    assert (found["items"], found["leftOut"]) == ([], 0)


@both
def test_what_each_fact_replaced_is_told_too(memory: Told) -> None:
    memory.apply()
    facts = ask(memory, "What do you remember about the {}?")["facts"]
    replaced = {f["text"]: [old["text"] for old in f["replaced"]] for f in facts}
    carol, alice = memory.rows([CAROL, ALICE])
    assert replaced == {f["text"]: [alice] if f["text"] == carol else [] for f in facts}


@both
def test_the_other_question_of_the_page_is_about_the_other_service(memory: Told) -> None:
    memory.apply()
    [billing, call, consumes] = memory.rows(["billing service", BOB_CALL, CONSUMES])
    found = memory.repo.run("recall", f"What do you remember about the {billing}?", "--json").json
    assert (found["entity"], [f["text"] for f in found["facts"]]) == (billing, [consumes, call])
    via = {(n["via"], n["text"]) for n in found["nearby"]}
    assert via >= set(map(tuple, memory.rows([("Bob", BOB_TEAM), (SERVICE, CAROL), (SERVICE, BUILT)])))
    assert not {text for _, text in via} & {call, consumes}


@both
@pytest.mark.parametrize(
    ("day", "expected"), [("2026-03-09", ON_9_MARCH), ("2026-03-16T14:05:00Z", BETWEEN_THE_UPDATES)]
)
def test_what_was_true_on_a_given_day(memory: Told, day: str, expected: Any) -> None:
    memory.apply()
    found = ask(memory, "{}", "--valid", day)
    rows = [[i["kind"], i["text"], i["validFrom"]] for i in (*found["facts"], *found["decisions"])]
    assert sorted(rows) == sorted(memory.rows(expected))


@both
def test_evidence_is_the_message_itself(memory: Told) -> None:
    memory.apply()
    [told] = memory.rows(["Carol is taking over ownership of the orders service from Alice."])
    carol = ask(memory, "{}")["facts"][-1]
    assert [(e["kind"], e["text"]) for e in carol["evidence"]] == [("message", told)]


@both
def test_the_offline_template(memory: Told) -> None:
    memory.apply()
    said = memory.repo.run("recall", f"What do you remember about the {memory.rows([SERVICE])[0]}?", "--prose").out
    carol, cockroach, slow, postgres, alice = memory.rows([CAROL, COCKROACH, SLOW, POSTGRES, ALICE])
    ended = [text if text.endswith(".") else f"{text}." for text in (carol, postgres, alice)]
    told = f"{ended[0]} Decision: {cockroach} ({slow}); this replaced: {ended[1]} No longer true: {ended[2]}"
    assert told in said


# The release reviewer, by meaning


def turned(similarity: float, axis: int, length: float) -> list[float]:
    """A vector of four dimensions whose cosine to QUESTION is `similarity`."""
    vector = [similarity, 0.0, 0.0, 0.0]
    vector[axis] = sqrt(1 - similarity**2)
    return [length * x for x in vector]


QUESTION = [2.0, 0.0, 0.0, 0.0]
VECTORS = {GRACE: turned(0.9996, 1, 1.0), ADA: turned(0.999, 2, 3.0), NOOR: turned(0.6178, 3, 0.5)}
"""The nearest by meaning is the one that no longer holds, as on the page."""


class Given:
    """The vectors that are given for texts, and the question's for any other."""

    name = "by hand"

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self.vectors = vectors
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked += texts
        return [self.vectors.get(text, QUESTION) for text in texts]


def given(told: Told) -> Given:
    return Given({told.of.of(text): vector for text, vector in VECTORS.items()})


def by_meaning(found: Recalled) -> list[list[Any]]:
    """The page's rows: memory, score, about, learnedFrom, evidence, replaced; best first."""
    memories = sorted((*found.facts, *found.items), key=lambda m: -(m.similarity or 0))
    return [
        [
            m.row.item.text,
            round(m.similarity or 0, 4),
            sorted(m.row.item.about),
            *((e.kind, e.text) for e in m.evidence),
            [old.text for old in m.replaced],
        ]
        for m in memories
    ]


RECALLED_BY_MEANING = [
    (ADA, 0.999, ["Ada", "relate"], ("tool_call", OWNERS_FILE), [GRACE]),
    (NOOR, 0.6178, ["Noor", "relate"], ("message", "Noor goes through new relate issues every Monday."), []),
]


@both
@pytest.mark.parametrize("question", ["Who reviews {} releases?", "Who looks over it before it ships?"])
def test_recall_by_meaning_finds_only_what_is_current(releases: Told, question: str) -> None:
    releases.apply()
    asked = question.format(*releases.rows(["relate"]))
    rows = by_meaning(recall(opened(releases.repo), asked, embedder=given(releases)))
    wanted = [releases.of.of([text, score, about, list(how), old]) for text, score, about, how, old in (
        (*row[:3], row[3], row[4]) for row in RECALLED_BY_MEANING
    )]  # fmt: skip
    assert [[*row[:3], list(row[3]), row[4]] for row in rows] == wanted
    exact = [round(cosine(QUESTION, VECTORS[text]), 4) for text in (ADA, NOOR)]
    assert [row[1] for row in rows] == exact


@both
def test_the_nearest_is_told_where_it_holds(releases: Told) -> None:
    releases.apply()
    [day] = releases.rows(["2026-03-05"])
    found = recall(opened(releases.repo), "Who?", valid=instant.parse(day), embedder=given(releases))
    assert [m.row.item.text for m in found.items] == releases.rows([GRACE, NOOR])


@both
def test_what_was_believed_is_recalled_as_it_was(releases: Told) -> None:
    releases.apply()
    asked = (*releases.rows(["relate"]), "--json", "--valid", *releases.rows(["2026-03-15"]))
    now = releases.repo.run("recall", *asked).json
    then = releases.repo.run("recall", *asked, "--known", *releases.rows(["2026-03-15"])).json
    assert [f["text"] for f in now["facts"]] == releases.rows([NOOR, ADA])
    assert [f["text"] for f in then["facts"]] == releases.rows([GRACE, NOOR])
    assert [h["text"] for h in now["history"]] == releases.rows([GRACE])
    assert then["history"] == []
    assert [old["text"] for old in now["facts"][-1]["replaced"]] == releases.rows([GRACE])


# Which entity is named


def one(id: str, text: str, *about: str, **keys: Any) -> dict[str, Any]:
    return {"id": id, "text": text, "about": list(about), **keys}


def test_of_several_entities_the_longest_is_the_one(repo: Repo) -> None:
    facts = [one("f1", "a", "orders"), one("f2", "b", "Orders  Service"), one("f3", "c", "order")]
    repo.apply({"session": "s", "at": "2024-01-01", "facts": facts})
    for question, entity in {
        "orders": "orders",
        "the ORDERS service?": "Orders Service",
        "orders\n service's": "Orders Service",
        "order-book": "order",
        "reorders": None,
        "borders service": None,
    }.items():
        assert repo.run("recall", question, "--json").json["entity"] == entity, question


def test_an_entity_that_nothing_was_recorded_about_is_not_the_one(repo: Repo) -> None:
    entities = [{"name": "orders and billing", "kind": "programme"}]
    repo.apply({"session": "s", "at": "2024-01-01", "entities": entities, "facts": [one("f1", "a", "orders")]})
    assert repo.run("recall", "orders and billing", "--json").json["entity"] == "orders"


def test_an_entity_is_unknown_before_it_is_recorded(repo: Repo) -> None:
    repo.apply({"session": "s1", "at": "2024-01-01", "facts": [one("f1", "postgres is here", "db")]})
    kind = [{"name": "db", "kind": "database"}]
    facts = [one("f2", "x", "postgres", validFrom="2024-01-01")]
    repo.apply({"session": "s2", "at": "2024-03-01", "entities": kind, "facts": facts})
    early = repo.run("recall", "postgres", "--known", "2024-02-01", "--json").json
    assert (early["entity"], [i["id"] for i in early["items"]]) == (None, ["f1"])
    assert repo.run("recall", "postgres", "--json").json["entity"] == "postgres"
    assert repo.run("recall", "db", "--known", "2024-02-01", "--json").json["kind"] is None
    assert repo.run("recall", "db", "--json").json["kind"] == "database"


# What is told of it


def test_a_chain_is_told_whole_the_latest_first(repo: Repo) -> None:
    for n in range(9):
        fact = one(f"f{n}", f"host {n}", "db", slot="db/host")
        repo.apply({"session": f"s{n}", "at": f"2024-01-0{n + 1}", "facts": [fact]})
    [fact] = repo.run("recall", "db", "--json").json["facts"]
    assert (fact["id"], [old["id"] for old in fact["replaced"]]) == ("f8", [f"f{n}" for n in range(7, -1, -1)])
    [fact] = repo.run("recall", "db", "--known", "2024-01-04", "--json").json["facts"]
    assert (fact["id"], [old["id"] for old in fact["replaced"]]) == ("f3", ["f2", "f1", "f0"])


def test_history_is_what_held_once_and_not_what_is_to_come_or_was_put_right(repo: Repo) -> None:
    repo.apply(
        {
            "session": "s1",
            "at": "2024-01-01",
            "facts": [
                one("over", "over", "db", validTo="2024-02-01"),
                one("ended", "ended", "db"),
                one("struck", "struck", "db"),
                one("typo", "tpyo", "db"),
                one("old", "old", "db", slot="x"),
            ],
            "decisions": [one("dropped", "dropped", "db"), one("before", "before", "db", slot="y")],
        }
    )
    repo.apply(
        {
            "session": "s2",
            "at": "2024-03-01",
            "by": "sam",
            "facts": [
                {"id": "right", "corrects": "typo", "text": "typo"},
                one("new", "new", "db", slot="x"),
                one("plan", "plan", "db", validFrom="2024-09-01"),
            ],
            "decisions": [one("after", "after", "db", slot="y")],
            "endings": [{"id": "ended", "validTo": "2024-02-15"}, {"id": "dropped", "validTo": "2024-02-15"}],
            "reviews": [{"reject": "struck", "reason": "no"}],
        }
    )
    found = repo.run("recall", "db", "--valid", "2024-04-01", "--json").json
    assert [i["id"] for i in found["facts"]] == ["right", "new"]
    assert [i["id"] for i in found["decisions"]] == ["after"]
    verdicts = {i["id"]: (i["rejectedBy"], i["reason"]) for i in found["history"]}
    assert verdicts == dict.fromkeys(("over", "ended", "old", "dropped"), (None, None)) | {"struck": ("sam", "no")}
    prose = repo.run("recall", "db", "--valid", "2024-04-01", "--prose").out
    assert "Rejected by sam: struck (no)." in prose and "struck" not in prose.partition("Rejected")[0]
    before = repo.run("recall", "db", "--valid", "2024-01-15", "--known", "2024-02-20", "--json").json
    assert (before["history"], len(before["facts"]), len(before["decisions"])) == ([], 5, 2)


def test_what_was_never_believed_is_no_history_though_it_held_as_known_later(repo: Repo) -> None:
    reject, back = ({verb: "f1", "by": "sam", "reason": "x"} for verb in ("reject", "reinstate"))
    facts = [one("f1", "a", "db"), one("f2", "b", "db")]
    repo.apply({"session": "s1", "at": "2024-01-01", "facts": facts, "reviews": [reject]})
    repo.apply({"session": "s2", "at": "2024-03-01", "reviews": [back]})
    then = repo.run("recall", "db", "--known", "2024-02-01", "--json").json
    assert ([i["id"] for i in then["facts"]], then["history"]) == (["f2"], [])
    assert [i["id"] for i in repo.run("recall", "db", "--json").json["facts"]] == ["f1", "f2"]


def test_a_limit_keeps_what_answers_best_and_counts_the_rest(repo: Repo) -> None:
    facts = [one(f"f{n}", f"db holds table {n}", "db") for n in range(6)] + [one("f9", "db is backed up", "db")]
    repo.apply({"session": "s", "at": "2024-01-01", "facts": facts})
    found = repo.run("recall", "how is the db backed up?", "--limit", "2", "--json").json
    assert ("f9" in [i["id"] for i in found["facts"]], len(found["facts"]), found["leftOut"]) == (True, 2, 5)
    found = repo.run("recall", "which table", "--limit", "2", "--json").json
    assert ([i["id"] for i in found["items"]], found["leftOut"]) == (["f0", "f1"], 4)


def characters(found: Any) -> int:
    memories = [*found["facts"], *found["decisions"], *found["items"]]
    items = [*memories, *found["nearby"], *found["history"], *(old for m in memories for old in m["replaced"])]
    texts = [text for i in items for text in (i["text"], i["rationale"] or "")]
    return sum(map(len, [*texts, *(e["text"] for m in memories for e in m["evidence"])]))


def parts(found: Any) -> list[str]:
    return [f"{name} {i['text']}" for name in ("facts", "decisions", "history", "nearby", "items") for i in found[name]]


@both
def test_a_budget_bounds_the_texts_and_whole_items_stay(memory: Told) -> None:
    memory.apply()
    whole = ask(memory, "{}")
    size = characters(whole)
    assert parts(ask(memory, "{}", "--budget", str(size))) == parts(whole)
    before: list[str] = []
    for budget in range(0, size + 50, 50):
        found = ask(memory, "{}", "--budget", str(budget))
        assert characters(found) <= budget
        assert set(parts(found)) <= set(parts(whole))
        assert found["leftOut"] == len(parts(whole)) - len(parts(found))
        assert budget >= size or found["leftOut"] > 0
        before = parts(found) or before
    assert before == parts(whole)
    assert parts(ask(memory, "{}", "--budget", "0")) == []


def test_a_budget_takes_the_best_first(repo: Repo) -> None:
    facts = [one("f1", "the cache is warm"), one("f2", "the cache keeps a copy of each page")]
    repo.apply({"session": "s", "at": "2024-01-01", "facts": facts})
    found = repo.run("recall", "copy of a page", "--budget", "40", "--json").json
    assert [i["id"] for i in found["items"]] == ["f2"]


def test_a_question_after_a_write_sees_it(repo: Repo) -> None:
    ledger = opened(repo)
    assert recall(ledger, "caching").items == ()
    for n in range(3):
        repo.apply({"session": f"s{n}", "at": "2024-01-01", "facts": [one(f"f{n}", f"a cache {n}")]})
        assert [m.row.item.id for m in recall(ledger, "caching").items] == [f"f{m}" for m in range(n + 1)]


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_a_limit_bounds_what_no_longer_holds_down_to_nothing(repo: Repo, limit: int) -> None:
    repo.apply(
        {
            "session": "s1",
            "facts": [
                {
                    "text": f"orders is on host {n}",
                    "about": ["orders"],
                    "validFrom": "2024-01-01",
                    "validTo": "2024-02-01",
                }
                for n in range(3)
            ],
        }
    )
    found = recall(Ledger(repo.path, clock=lambda: NOW), "orders", limit=limit)
    assert (len(found.history), found.left_out) == (limit, 3 - limit)
