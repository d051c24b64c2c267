"""CSV as RFC 4180 has it, in which a spreadsheet finds no formula."""

from __future__ import annotations

import csv
import io

import hostile
import pytest

from ledger_cli.errors import Refused
from ledger_cli.exchange import csv_table
from tests.in_memory import Memory

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def one(text: str = "orders uses postgres") -> Memory:
    memory = Memory()
    memory.apply({"session": "s", "at": "2024-01-01", "decisions": [{"id": "d", "text": text, "about": ["b", "a;c"]}]})
    return memory


def test_no_cell_begins_as_a_formula_does() -> None:
    table = list(csv.reader(io.StringIO(csv_table.write(hostile.memory().entries), newline="")))
    assert len(table) > 2000
    assert [cell for row in table for cell in row if cell.startswith(FORMULA)] == []
    assert any(cell.startswith("'=") for row in table for cell in row)


def test_another_reader_of_csv_finds_a_row_an_entry_under_one_header() -> None:
    recorded = hostile.memory().entries
    header, *rows, end = csv.reader(io.StringIO(csv_table.write(recorded), newline=""), strict=True)
    assert tuple(header) == csv_table.COLUMNS
    assert [cell for cell in end if cell] == ["end", "ledger", str(len(recorded))]
    assert len(rows) == len(recorded)
    assert {len(row) for row in rows} == {len(header)}


def test_lines_end_as_the_standard_has_it_and_a_text_keeps_its_own() -> None:
    text = csv_table.write(one("a\nb").entries)
    assert text.count("\r\n") == 3  # the header, the row, the end
    assert '"a\nb"' in text
    assert not text.startswith("\ufeff")


def test_several_names_stand_on_a_line_each() -> None:
    assert '"a;c\nb"' in csv_table.write(one().entries)


def test_a_checkout_with_crlf_is_the_same_table() -> None:
    text = csv_table.write(one("a\nb").entries).replace("\r\n", "\n").replace("\n", "\r\n")
    _, [(_, row), _] = csv_table.rows(text, "x.csv")
    assert csv_table.entry(row) == one("a\nb").entries[0]


def test_a_cell_may_be_longer_than_other_readers_take() -> None:
    text = "x" * 200_000
    _, [(_, row), _] = csv_table.rows(csv_table.write(one(text).entries), "x.csv")
    assert row["text"] == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('id,text\na,"b', "x.csv:2: not CSV: unexpected end of data"),
        ('id,text\na,"b"c', "x.csv:2: not CSV: ',' expected after '\"'"),
        ("id,text\na,b,c", "x.csv:2: 3 cells under 2 columns"),
        ("id,id\na,b", "x.csv:1: the column 'id' stands twice"),
    ],
)
def test_what_is_no_table_is_refused_by_line(text: str, said: str) -> None:
    with pytest.raises(Refused) as fault:
        csv_table.rows(text, "x.csv")
    assert str(fault.value) == said


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
@pytest.mark.parametrize("first", ["sep={}", "SEP={}", '"sep={}"'])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_first_line_for_excel_says_what_stands_between_the_cells(sign: str, first: str, end: str) -> None:
    rows = [["text", "a,b;c\td"], ["one", '"x,y;z"'], ["two", ""]]  # a header that alone would mislead
    rows[0][1] = '"a,b;c\td"'
    text = end.join([first.format(sign), *(sign.join(row) for row in rows), ""])
    header, found = csv_table.rows(text, "x.csv")
    assert header == ["text", "a,b;c\td"]
    assert found == [(3, {"text": "one", "a,b;c\td": "x,y;z"}), (4, {"text": "two", "a,b;c\td": ""})]


def test_a_text_that_begins_as_that_line_does_is_a_header_like_any() -> None:
    assert csv_table.rows("sep=a,text\n1,2\n", "x")[0] == ["sep=a", "text"]
    with pytest.raises(Refused, match=r"x:4: 3 cells under 2 columns"):
        csv_table.rows("sep=;\na;b\n1;2\n1;2;3\n", "x")


def test_columns_without_a_name_are_left_out_where_they_are_empty() -> None:
    header, rows = csv_table.rows("text,,id,,\na,,b,,\nc, ,d\n", "x")
    assert [name for name in header if name] == ["text", "id"]
    assert rows == [(2, {"text": "a", "id": "b"}), (3, {"text": "c", "id": "d"})]


def test_a_cell_in_a_column_without_a_name_is_refused_by_line_and_column() -> None:
    with pytest.raises(Refused) as fault:
        csv_table.rows("text,, id\na,,b\nc,astray,d\n,x,\n", "x.csv")
    assert str(fault.value).splitlines() == [
        "x.csv:3: column 2 has no name, and holds 'astray'",
        "x.csv:4: column 2 has no name, and holds 'x'",
    ]


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"entry": "memo", "id": "x"}, "`entry` is one of decision, fact"),
        ({"entry": "rejects", "id": "d", "on": "sunday"}, "`on` is one of item, link, ending, not 'sunday'"),
        ({"entry": "decision", "id": "d", "text": "t"}, "`validFrom` is missing"),
        ({"entry": "supersedes", "id": "d", "with": "e", "recordedAt": "soon", "session": "s"}, "'soon' is not a time"),
        ({"entry": "entity", "id": "d", "kind": "k", "text": "t"}, "unknown key 'text'"),
    ],
)
def test_a_row_that_is_no_entry_says_why(cells: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        csv_table.entry(cells)
