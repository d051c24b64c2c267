"""Tables that no ledger wrote: a row an item, in a session to review, or listed with the reason."""

from __future__ import annotations

import csv
import io
import random
import re
from typing import TYPE_CHECKING, Any

import pytest

from ledger_cli import session_file
from ledger_cli.errors import Refused
from ledger_cli.exchange import csv_table, foreign, jsonl
from ledger_cli.exchange.outcomes import Import
from ledger_cli.instant import show_short

if TYPE_CHECKING:
    from tests.conftest import Repo


def from_csv(text: str) -> Import:
    return foreign.session(csv_table.rows(text, "x.csv")[1], "x.csv", id="import")


def from_jsonl(*lines: str) -> Import:
    return foreign.session(jsonl.rows("\n".join(lines), "x.jsonl"), "x.jsonl", id="import")


def told(found: Import) -> list[tuple[str, str | None, tuple[str, ...]]]:
    return [tuple(outcome) for outcome in found.outcomes]  # type: ignore[misc]


TABLE = """\
Id,Kind,Text,Slot,About,Valid From,valid_to,supersedes,Confidence,Owner
d1,decision,orders uses postgres,orders/database,orders;postgres,"Sep 13th, 2024",,,,ada
d2,,orders uses mysql,orders/database,"orders
mysql",22-10-2024,2025-01-01,d1,0.9,
f1,Fact,ada is on call,,Ada,2024-10-01,,,,
"""


@pytest.mark.parametrize("header", ["validFrom,valid_from", "validFrom,owner,Valid From", "VALIDFROM,ValidFrom"])
def test_two_columns_that_mean_one_are_refused(header: str) -> None:
    with pytest.raises(Refused, match="has the column `validFrom` twice"):
        from_csv(f"text,{header}\nx,2024-01-01,,\n".replace(",,", "," * header.count(",")))
    with pytest.raises(Refused, match="has the column `text` twice: text, Text"):
        from_jsonl('{"text": "a"}', '{"Text": "b"}')


def test_a_table_without_a_row_is_refused_by_that_name() -> None:
    for text in ("", "text,validFrom\n", "text\n\n"):
        with pytest.raises(Refused, match=r"x\.csv holds no record"):
            from_csv(text)


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_the_columns_are_found_however_they_are_spelled_and_parted(sign: str) -> None:
    text = (
        TABLE
        if sign == ","
        else "\n".join(
            sign.join(f'"{cell}"' for cell in row.values()) if n else sign.join(row)
            for n, row in enumerate(
                [{k: k for k in csv_table.rows(TABLE, "x")[0]}, *(r for _, r in csv_table.rows(TABLE, "x")[1])]
            )
        )
    )
    found = from_csv(text)
    (session,) = found.sessions
    assert [(i.kind, i.id, i.text, i.slot, i.about, i.supersedes, i.confidence) for i in session.items] == [
        ("decision", "d1", "orders uses postgres", "orders/database", ("orders", "postgres"), (), None),
        ("decision", "d2", "orders uses mysql", "orders/database", ("mysql", "orders"), ("d1",), 0.9),
        ("fact", "f1", "ada is on call", None, ("Ada",), (), None),
    ]
    assert [show_short(i.valid_from) for i in session.items if i.valid_from] == [
        "2024-09-13",
        "2024-10-22",
        "2024-10-01",
    ]
    assert found.outcomes[0].reasons == ("not read: Owner",)
    assert (session.at, session.by) == (None, "ledger import")


def test_lines_of_json_are_read_with_their_lists() -> None:
    found = from_jsonl(
        '{"id": "d1", "text": "a", "about": ["x", "y, z"], "validFrom": "2024-01-01", "confidence": 0.5}',
        '{"text": "b", "validFrom": "2024-01-02", "about": "one"}',
    )
    (session,) = found.sessions
    found_items = [(i.id, i.about, i.confidence) for i in session.items]
    assert found_items == [
        ("d1", ("x", "y, z"), 0.5),
        ("import/d2", ("one",), None),
    ]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("d1,t,05-10-2024,,", "validFrom: the date '05-10-2024' may be 2024-10-05 or 2024-05-10"),
        ('d1,t,"January , 2026",,', "validFrom: the date 'January , 2026' has no day"),
        ("d1,,2024-01-01,,", "a decision needs 'text'"),
        ("d1,TODO,2024-01-01,,", "'text': 'TODO' is a placeholder"),
        ("d1,t,2024-01-01,opinion,", "the kind 'opinion' is neither decision nor fact"),
        ("d1,t,2024-01-01,,sure", "'confidence': 'sure' is text; write a number"),
        ("d1,t,2024-01-01,,7", "'confidence': 7.0 is not from 0 to 1"),
        ("d1,t,2024-01-01,,,2023-12-31", "validTo: 2023-12-31 is not after validFrom, 2024-01-01"),
        ("d1,t,2024-01-01,,,2024-01-01", "validTo: 2024-01-01 is not after validFrom, 2024-01-01"),
        ("d1,t,2024-01-01 09:00,,", "validFrom: '2024-01-01 09:00' has no offset; add Z for UTC, or +hh:mm"),
        (f"{'x' * 201},t,2024-01-01,,", "'id': '" + "x" * 59 + "…' has 201 characters"),
    ],
)
def test_a_row_that_cannot_be_an_item_is_listed_with_the_reason(row: str, reason: str) -> None:
    found = from_csv(f"id,text,validFrom,kind,confidence,validTo\n{row}\nok,fine,2024-01-01,,\n")
    bad, good = found.outcomes
    assert (bad.record, bad.id, good.record, good.id) == ("x.csv:2", None, "x.csv:3", "ok")
    assert bad.reasons[0].startswith(reason), bad.reasons


def test_an_id_given_twice_counts_once() -> None:
    found = from_csv("id,text,validFrom\na,one,2024-01-01\na,two,2024-01-01\n")
    assert told(found) == [("x.csv:2", "a", ()), ("x.csv:3", None, ("the id a is given twice",))]


@pytest.mark.parametrize("seed", range(20))
def test_items_without_an_id_get_the_one_that_the_session_file_gives_them(seed: int) -> None:
    rng = random.Random(seed)
    rows = [
        {
            "id": rng.choice(["", "", "", f"own{n}"]),
            "text": rng.choice(["t", "t", "t", "TODO"]),  # a row with a placeholder is listed
            "kind": rng.choice(["decision", "fact", "", "opinion"]),
            "validFrom": "2024-01-01",
        }
        for n in range(12)
    ]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    found = from_csv(out.getvalue())
    written = session_file.to_yaml(found.sessions)
    bare = re.sub(r"- id: import/[df]\d+\n +", "- ", written)
    assert written.count("import/") == sum(row["id"] == "" for row in rows) - sum(
        row["id"] == "" and (row["text"] == "TODO" or row["kind"] == "opinion") for row in rows
    )
    assert "import/" not in bare
    items = [(i.kind, i.id) for i in session_file.read(written, "x")[0].items]
    assert items == [(i.kind, i.id) for i in session_file.read(bare, "x")[0].items]
    assert sorted(id for _, id in items) == sorted(o.id for o in found.imported if o.id)


def test_an_id_that_a_row_has_for_its_own_is_given_to_no_other() -> None:
    own = "import/d2"
    texts = ["one", "two", "three", "four"]
    for place in range(4):
        rows = [f"{own if n == place else ''},{text},2024-01-01" for n, text in enumerate(texts)]
        ids = [o.id for o in from_csv("\n".join(["id,text,validFrom", *rows])).outcomes]
        assert ids[place] == own
        assert len({id for id in ids if id}) == 4


def test_rows_that_are_listed_leave_no_gap_and_move_no_id_of_the_other_kind() -> None:
    table = "kind,text,validFrom\nfact,a,2024-01-01\n,b,2024\nfact,c,2024-01-01\n,d,2024-01-01\n"
    assert [o.id for o in from_csv(table).outcomes] == ["import/f1", None, "import/f2", "import/d1"]


def test_no_date_is_no_fault_and_is_told() -> None:
    found = from_csv("text\none\n")
    assert told(found) == [("x.csv:2", "import/d1", ("no validFrom: it will hold from when it is recorded",))]
    assert found.sessions[0].items[0].valid_from is None


def test_a_formula_in_a_foreign_table_is_the_text_that_it_is() -> None:
    (session,) = from_csv("text,validFrom\n'=1+1,2024-01-01\n=1+1,2024-01-01\n").sessions
    assert [item.text for item in session.items] == ["'=1+1", "=1+1"]


def test_a_table_without_the_column_that_counts_is_refused() -> None:
    with pytest.raises(Refused, match="has no column `text`: its columns are name, when") as fault:
        from_csv("name,when\na,b\n")
    assert "only text is needed" in fault.value.hint


@pytest.mark.parametrize("value", ['{"a": 1}', "7", "true", '[{"b": 1}]'])
def test_values_that_are_no_text_are_listed(value: str) -> None:
    (outcome,) = from_jsonl(f'{{"text": {value}, "validFrom": "2024-01-01"}}').outcomes
    assert outcome.id is None
    assert outcome.reasons[0].startswith("'text': ")


def test_the_session_goes_into_a_ledger_and_orders_itself(repo: Repo) -> None:
    table = repo.path / "log.csv"
    table.write_text(TABLE)
    file = repo.path / "sessions" / "log.yaml"
    said: Any = repo.run("import", "csv", table, "-o", file, "--session", "log", "--json").json
    assert said["file"] == str(file)
    records = [(r["record"], r["outcome"], r["id"]) for r in said["records"]]
    assert records == [(f"{table}:{line}", "imported", id) for line, id in ((2, "d1"), (4, "d2"), (5, "f1"))]
    assert session_file.read_file(file)[0].id == "log"
    repo.run("session", "apply", file)
    assert repo.run("as-of", "orders", "2024-11-01", "--json").ids == ["d2"]
    assert repo.run("as-of", "orders", "2025-02-01", "--json").ids == ["d1"]
