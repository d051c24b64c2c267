"""`recall`: the published page on agent memory as one document, as written and renamed, and what recall leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.test_seeds import (
    ALICE,
    BOB_CALL,
    BOB_TEAM,
    BUILT,
    CAROL,
    COCKROACH,
    CONSUMES,
    MEMORY,
    POSTGRES,
    PUBLISHES,
    RUNS,
    SERVICE,
    SLOW,
    Told,
    both,
    telling,
)

if TYPE_CHECKING:
    from tests.conftest import Repo

FACTS_1 = [(ALICE, "session-1"), (BUILT, "session-1"), (CONSUMES, "session-1"), (PUBLISHES, "session-1")]
FACTS_2 = [(BUILT, "session-1"), (CONSUMES, "session-1"), (PUBLISHES, "session-1"), (CAROL, "session-2")]
DOCUMENT_1 = {
    "facts": FACTS_1,
    "decisions": [(POSTGRES, RUNS, "session-1", [])],
    "history": [],
    "nearby": [("billing service", BOB_CALL), ("checkout team", BOB_TEAM)],
}
DOCUMENT_2 = {
    "facts": FACTS_2,
    "decisions": [(COCKROACH, SLOW, "session-2", [POSTGRES])],
    "history": [ALICE],
    "nearby": [("billing service", BOB_CALL), ("checkout team", BOB_TEAM)],
}


@pytest.fixture
def memory(repo: Repo, how: str) -> Told:
    return telling(repo, MEMORY, how)


def ask(told: Told, question: str, *options: str) -> Any:
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


@both
@pytest.mark.parametrize(("count", "expected"), [(1, DOCUMENT_1), (2, DOCUMENT_2)])
def test_the_one_document_of_the_recall_tool(memory: Told, count: int, expected: Any) -> None:
    memory.apply(count)
    found = ask(memory, "What do you remember about the {}?")
    assert (found["entity"], found["kind"]) == (*memory.rows([SERVICE]), "service")
    assert document(found) == {key: memory.rows(rows) for key, rows in expected.items()}


@both
def test_the_offline_template(memory: Told) -> None:
    memory.apply()
    said = memory.repo.run("recall", f"What do you remember about the {memory.rows([SERVICE])[0]}?", "--prose").out
    carol, cockroach, slow, postgres, alice = memory.rows([CAROL, COCKROACH, SLOW, POSTGRES, ALICE])
    ended = [text if text.endswith(".") else f"{text}." for text in (carol, postgres, alice)]
    told = f"{ended[0]} Decision: {cockroach} ({slow}); this replaced: {ended[1]} No longer true: {ended[2]}"
    assert told in said
