"""An export taken into a ledger that is not empty: what is missing comes, what contradicts is refused as a whole."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from ledger_cli import checkpoint
from ledger_cli.exchange import csv_table, jsonl
from tests.in_memory import Memory

if TYPE_CHECKING:
    from tests.conftest import Repo

BASE: list[dict[str, Any]] = [
    {
        "session": "base",
        "at": "2024-01-01T09:00:00Z",
        "decisions": [
            {"id": "d1", "text": "orders uses postgres", "slot": "orders/database", "validFrom": "2024-01-01"}
        ],
    }
]
OURS = {"session": "ours", "at": "2024-02-01T09:00:00Z", "decisions": [{"id": "d2", "text": "ours"}]}
THEIRS = {
    "session": "theirs",
    "at": "2024-01-20T09:00:00Z",  # older than what is here: it was recorded elsewhere
    "by": "mia",
    "entities": [{"name": "orders", "kind": "service"}],
    "episodes": [{"id": "e1", "kind": "message", "text": "moved", "mentions": ["orders"]}],
    "decisions": [
        {"id": "d3", "text": "orders uses mysql", "slot": "orders/database", "validFrom": "2024-01-10", "from": "e1"},
        {"id": "d4", "text": "a plan", "validFrom": "2025-01-01", "validTo": "2025-06-01", "confidence": 0.5},
    ],
    "endings": [{"id": "d4", "validTo": "2025-03-01", "reason": "short"}],
    "reviews": [{"reject": "d4", "reason": "no"}],
}


END = '\n{"end": "ledger"}\n'


def export_of(*sessions: dict[str, Any]) -> str:
    memory = Memory()
    for session in sessions:
        memory.apply(session)
    return jsonl.write(memory.entries)


def importing(repo: Repo, text: str, *flags: str, code: int = 0) -> Any:
    file = repo.path / "in.jsonl"
    file.write_text(text, encoding="utf-8")
    return repo.run("import", "jsonl", file, *flags, code=code)


def refused(repo: Repo, text: str, *said: str) -> None:
    before = repo.checkpoint.read_bytes()
    err = importing(repo, text, code=1).err
    assert all(each in err for each in said), err
    assert repo.checkpoint.read_bytes() == before


def test_what_is_missing_is_added_with_its_own_clocks_and_ids(repo: Repo) -> None:
    repo.apply(*BASE)
    repo.apply(OURS)
    said = importing(repo, export_of(*BASE, THEIRS), "--json").json
    assert said == {"sessions": ["theirs"], "entries": 7, "known": 1}
    both = Memory()
    for session in (*BASE, THEIRS):
        both.apply(session)
    both.apply(OURS)
    assert repo.checkpoint.read_bytes() == checkpoint.render(both.entries)
    assert repo.run("check").out == "ok\n"
    assert sorted(repo.run("as-of", "2024-03-01", "--json").ids) == ["d2", "d3"]


def test_again_it_changes_nothing_and_says_so(repo: Repo) -> None:
    importing(repo, export_of(*BASE, THEIRS))
    before = repo.checkpoint.read_bytes()
    assert importing(repo, export_of(*BASE, THEIRS)).out.startswith("nothing to do, all of it is recorded already")
    assert repo.checkpoint.read_bytes() == before


def test_a_part_of_what_is_recorded_is_nothing_new(repo: Repo) -> None:
    importing(repo, export_of(*BASE, THEIRS))
    line = next(x for x in export_of(*BASE, THEIRS).splitlines() if '"d4", "text"' in x)
    assert importing(repo, line + END, "--json").json == {"sessions": [], "entries": 0, "known": 1}


def test_an_empty_export_is_nothing_to_do(repo: Repo) -> None:
    assert importing(repo, export_of()).out == "nothing to do, it holds nothing\n"


@pytest.mark.parametrize("text", ["", "\n", " \r\n\n"])
def test_an_empty_file_is_no_export(repo: Repo, text: str) -> None:
    refused(repo, text, "in.jsonl holds no record", "hint: an export ends with a record of its own")


def test_an_export_that_was_cut_behind_a_line_is_refused_with_what_to_do(repo: Repo) -> None:
    lines = export_of(*BASE, THEIRS).splitlines(keepends=True)
    refused(
        repo,
        "".join(lines[:4]),
        "in.jsonl:4: the end of the export is missing after this line",
        "hint: it was cut, or put together of parts: export again",
    )
    importing(repo, "".join(lines))  # and the whole one can be taken in afterwards
    assert repo.run("check").out == "ok\n"


def test_a_session_never_grows(repo: Repo) -> None:
    repo.apply(*BASE)
    more = [BASE[0] | {"decisions": [*BASE[0]["decisions"], {"id": "d9", "text": "smuggled"}]}]
    refused(repo, export_of(*more), "session base is recorded here with other content")


def test_one_id_for_two_things_is_refused(repo: Repo) -> None:
    repo.apply(OURS)
    refused(
        repo, export_of(OURS | {"session": "x", "decisions": [{"id": "d2", "text": "theirs"}]}), "d2 is recorded twice"
    )


def test_two_answers_to_one_question_are_refused(repo: Repo) -> None:
    repo.apply(*BASE)
    other = {"session": "o", "at": "2024-01-02", "decisions": [{"id": "o1", "text": "o", "slot": "orders/database"}]}
    refused(repo, export_of(other), "d1", "o1", "both hold in slot orders/database", "hint: keep one")


def test_an_entity_of_two_kinds_is_refused(repo: Repo) -> None:
    repo.apply({"session": "k", "at": "2024-01-01", "entities": [{"name": "orders", "kind": "team"}]})
    refused(repo, export_of(*BASE, THEIRS), "orders has the kind service here, and team in session k")


def test_what_leans_on_what_is_not_there_is_refused(repo: Repo) -> None:
    link = next(x for x in export_of(*BASE, THEIRS).splitlines() if x.startswith('{"supersedes'))
    refused(repo, link + END, "d1")
    repo.apply(*BASE)
    refused(repo, link + END, "d3")


def test_what_was_recorded_in_the_future_is_refused(repo: Repo) -> None:
    ahead = {"session": "a", "at": "2030-01-01T00:00:00Z", "decisions": [{"text": "later"}]}
    refused(repo, export_of(ahead), "session a was recorded at 2030-01-01T00:00:00Z, more than five minutes ahead")


def test_every_line_at_fault_is_named(repo: Repo) -> None:
    good = export_of(*BASE)
    bad = good.replace('"validFrom"', '"from when"') + good.replace('"text"', '"txt"')
    refused(repo, good + bad, "in.jsonl:3: unknown key 'from when'", "in.jsonl:5: unknown key 'txt'")


@pytest.mark.parametrize("column", ["about", "rationale", "validTo"])
def test_a_table_that_lost_a_column_is_refused(repo: Repo, column: str) -> None:
    memory = Memory()
    memory.apply(THEIRS)
    at = csv_table.COLUMNS.index(column)
    rows = list(csv.reader(io.StringIO(csv_table.write(memory.entries), newline="")))
    with (repo.path / "in.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([*row[:at], *row[at + 1 :]] for row in rows)
    before = repo.checkpoint.read_bytes()
    said = repo.run("import", "csv", "in.csv", code=1)
    assert f"in.csv:1: the column '{column}' of an export is missing" in said.err
    assert repo.checkpoint.read_bytes() == before


def test_a_file_is_all_export_or_none(repo: Repo) -> None:
    refused(repo, export_of(*BASE) + json.dumps({"id": "x", "text": "mine"}) + "\n" + END, "in.jsonl:3: not an entry")


def test_sessions_that_wait_to_be_exported_are_met_too_and_go_on_waiting(repo: Repo) -> None:
    repo.apply(*BASE, flags=("--no-export",))
    other = {"session": "o", "at": "2024-01-02", "decisions": [{"id": "o1", "text": "o", "slot": "orders/database"}]}
    refused(repo, export_of(other), "both hold in slot orders/database")
    importing(repo, export_of(OURS))
    assert b"orders uses postgres" not in repo.checkpoint.read_bytes()
    assert sorted(repo.run("as-of", "2024-03-01", "--json").ids) == ["d1", "d2"]
    repo.run("export")
    assert b"orders uses postgres" in repo.checkpoint.read_bytes()
    assert repo.run("check").out == "ok\n"


def test_a_session_that_waits_here_and_comes_again_is_recorded_once(repo: Repo) -> None:
    repo.apply(*BASE, flags=("--no-export",))
    assert importing(repo, export_of(*BASE, OURS), "--json").json["sessions"] == ["ours"]
    repo.run("export")
    assert sorted(repo.run("as-of", "2024-03-01", "--json").ids) == ["d1", "d2"]


@pytest.mark.parametrize("flag", [("-o", "x.yaml"), ("--session", "x"), ("--by", "sam")])
def test_an_export_takes_no_names_for_a_session(repo: Repo, flag: tuple[str, str]) -> None:
    assert "it is restored as it was" in importing(repo, export_of(*BASE), *flag, code=2).err


def test_a_checkpoint_in_conflict_is_left_alone(repo: Repo) -> None:
    conflicted = b"<<<<<<< HEAD\n" + repo.checkpoint.read_bytes()
    repo.checkpoint.write_bytes(conflicted)
    assert "merge conflict" in importing(repo, export_of(*BASE), code=3).err
    assert repo.checkpoint.read_bytes() == conflicted
