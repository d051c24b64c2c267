"""`ledger query CYPHER`: the graph, read-only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.commands.conftest import Golden
    from tests.conftest import Repo

TIMES = (
    "MATCH (d:Decision)-[:ABOUT]->(e:Entity) WHERE e.name = 'orders' "
    "RETURN d.id AS id, d.text AS text, d.validFrom AS validFrom, d.validTo AS validTo, "
    "d.recordedAt AS recordedAt, d.closedAt AS closedAt ORDER BY d.recordedAt, d.id"
)


def test_the_screen_and_the_json(story: Repo, golden: Golden) -> None:
    screen, json = story.run("query", TIMES), story.run("query", TIMES, "--json")
    assert (screen.err, json.err) == ("", "")
    golden("query/four-times.txt", screen.out)
    golden("query/four-times.json", json.out)


def test_the_properties_are_those_that_show_derives(story: Repo) -> None:
    rows = story.run("query", TIMES, "--json").json["rows"]
    shown = [story.run("show", row["id"], "--json").json for row in rows]
    keys = ("id", "text", "validFrom", "validTo", "recordedAt", "closedAt")
    assert rows == [{key: item[key] for key in keys} for item in shown]


def test_no_row_is_an_answer(story: Repo) -> None:
    said = story.run("query", "MATCH (d:Decision) WHERE d.id = 'nobody' RETURN d.id AS id", "--json")
    assert (said.json, said.err) == ({"rows": []}, "")
    assert story.run("query", "MATCH (d:Decision) WHERE d.id = 'nobody' RETURN d.id AS id").out == "id\n"


def test_limit_cuts_and_says_so(story: Repo) -> None:
    said = story.run("query", "MATCH (d:Decision) RETURN d.id AS id ORDER BY id", "--limit", "2", "--json")
    assert said.json == {"rows": [{"id": "d1"}, {"id": "d2"}]}
    assert said.err == "note: cut at 2 rows; --limit takes more\n"


@pytest.mark.parametrize(
    ("cypher", "what"),
    [
        ("MATCH (d:Decision) DETACH DELETE d", "a query only reads, and this one writes; nothing was changed"),
        ("CREATE (:Decision {id: 'x'})", "a query only reads, and this one writes; nothing was changed"),
        ("RETURN 1; RETURN 2", "a query is one statement: `;` is refused"),
        ("LOAD CSV FROM 'file:///etc/hostname' AS row RETURN row", "LOAD CSV is refused"),
        ("MATCH nonsense", "Cypher"),
        ("", "Empty query"),
    ],
)
def test_what_is_no_question_is_refused(story: Repo, cypher: str, what: str) -> None:
    before = story.checkpoint.read_bytes()
    said = story.run("query", cypher, code=1)
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert what in said.err
    assert story.checkpoint.read_bytes() == before
    assert len(story.run("lateness", "--json").ids) == 8
