"""What left as CSV or JSON Lines comes back as the same bytes, whatever is in it."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable
from typing import TYPE_CHECKING

import hostile
import pytest

from ledger_cli import checkpoint
from ledger_cli.errors import Refused
from ledger_cli.exchange import csv_table, entries, jsonl, reading
from ledger_cli.model import Entry
from tests.in_memory import invent

if TYPE_CHECKING:
    from tests.conftest import Repo


def read_csv(text: str) -> list[Entry]:
    header, rows = csv_table.rows(text, "x.csv")
    return [csv_table.entry(row) for _, row in csv_table.whole(header, rows, "x.csv")]


def read_jsonl(text: str) -> list[Entry]:
    rows = jsonl.rows(text, "x.jsonl")
    assert entries.is_ours(rows[0][1])
    return [entries.entry(row) for _, row in reading.whole("x.jsonl", rows, entries.is_end, entries.counted)]


def through_csv(recorded: list[Entry]) -> list[Entry]:
    return read_csv(csv_table.write(recorded))


def through_jsonl(recorded: list[Entry]) -> list[Entry]:
    return read_jsonl(jsonl.write(recorded))


def through_a_spreadsheet(recorded: list[Entry]) -> list[Entry]:
    """Read and written again by another program: semicolons, other quotes, columns moved about, a mark at the start."""
    table = list(csv.reader(io.StringIO(csv_table.write(recorded), newline="")))
    moved = list(range(len(table[0])))[::-1]
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=";", quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(
        [[row[n] for n in moved] + [""] for row in [*table, [""] * len(moved)]]
    )
    return read_csv(out.getvalue())


def through_another_writer(recorded: list[Entry]) -> list[Entry]:
    """As other programs write JSON: without spaces, everything escaped, keys by name."""
    lines = jsonl.write(recorded).rstrip("\n").split("\n")
    return read_jsonl("\r\n".join(json.dumps(json.loads(x), sort_keys=True, separators=(",", ":")) for x in lines))


WAYS = [through_csv, through_jsonl, through_a_spreadsheet, through_another_writer]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(25))
def test_a_random_ledger_comes_back_as_the_same_bytes(way: Callable[[list[Entry]], list[Entry]], seed: int) -> None:
    recorded = invent(seed, 20).entries
    assert checkpoint.render(way(recorded)) == checkpoint.render(recorded)


@pytest.mark.parametrize("way", WAYS)
def test_hostile_texts_come_back_as_they_were(way: Callable[[list[Entry]], list[Entry]]) -> None:
    recorded = hostile.memory().entries
    assert checkpoint.render(way(recorded)) == checkpoint.render(recorded)


@pytest.mark.parametrize("form", ["csv", "jsonl"])
@pytest.mark.parametrize("seed", range(4))
def test_by_the_commands_an_empty_ledger_becomes_the_same_file(repo: Repo, form: str, seed: int) -> None:
    recorded = invent(1000 + seed, 20).entries
    random.Random(seed).shuffle(recorded)
    before = checkpoint.render(recorded)
    repo.checkpoint.write_bytes(before)
    file = repo.path / f"ledger.{form}"
    file.write_bytes(repo.run("export", "--format", form).out.encode())
    assert repo.checkpoint.read_bytes() == before
    repo.checkpoint.write_bytes(checkpoint.EMPTY)
    repo.run("import", form, file)
    assert repo.checkpoint.read_bytes() == before
    assert repo.run("check").out == "ok\n"
    repo.run("import", form, file)
    assert repo.checkpoint.read_bytes() == before


@pytest.mark.parametrize("write", [csv_table.write, jsonl.write])
def test_the_same_entries_give_the_same_text_in_any_order(write: Callable[[list[Entry]], str]) -> None:
    recorded = invent(7, 20).entries
    assert write(recorded[::-1]) == write(recorded)


# Cut short: the disk was full, the download broke off


@pytest.mark.parametrize(("write", "read"), [(csv_table.write, read_csv), (jsonl.write, read_jsonl)])
@pytest.mark.parametrize("seed", range(8))
def test_cut_behind_any_line_but_the_last_it_is_refused_by_line(
    write: Callable[[list[Entry]], str], read: Callable[[str], list[Entry]], seed: int
) -> None:
    lines = write(invent(seed, 12).entries).splitlines(keepends=True)
    assert len(lines) > 12
    refused = 0
    for count in range(1, len(lines)):
        with pytest.raises(Refused) as fault:
            read("".join(lines[:count]))
        # a cell may go on over lines: that one is cut as well
        refused += "the end of the export is missing after this line" in str(fault.value)
        assert str(fault.value).startswith(("x.jsonl:", "x.csv:"))
    assert refused > len(lines) / 2


@pytest.mark.parametrize(("write", "form"), [(csv_table.write, "csv"), (jsonl.write, "jsonl")])
def test_cut_at_any_byte_a_command_takes_all_of_it_or_nothing(
    repo: Repo, write: Callable[[list[Entry]], str], form: str
) -> None:
    entries = next(found for found in (invent(seed, 4).entries for seed in range(99)) if 5 < len(found) < 9)
    whole, all_of_it = write(entries).encode(), checkpoint.render(entries)
    file = repo.path / f"cut.{form}"
    taken = []
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        said = repo.run("import", form, file, code=None)
        recorded = repo.checkpoint.read_bytes()
        assert (said.code, recorded) in ((1, checkpoint.EMPTY), (0, all_of_it)), (length, said)
        if said.code == 0:
            taken.append(whole[length:].strip(b",\r\n"))
            repo.checkpoint.write_bytes(checkpoint.EMPTY)
    # Only the number of entries, blank cells and the line's end were lost.
    assert {b""} <= set(taken) <= {b"", str(len(entries)).encode()}


@pytest.mark.parametrize(("write", "read"), [(csv_table.write, read_csv), (jsonl.write, read_jsonl)])
def test_two_exports_in_one_file_are_both_read_and_each_has_to_be_whole(
    write: Callable[[list[Entry]], str], read: Callable[[str], list[Entry]]
) -> None:
    one, two = invent(1, 12).entries, invent(2, 12).entries
    assert sorted(map(repr, read(write(one) + write(two)))) == sorted(map(repr, [*one, *two]))
    assert read(write([]) + write([])) == []
    cut = write(two).splitlines(keepends=True)[:-1]
    with pytest.raises(Refused, match="the end of the export is missing"):
        read(write(one) + "".join(cut))


def test_of_two_tables_in_one_file_the_first_may_not_be_cut_either() -> None:
    one, two = (csv_table.write(invent(seed, 12).entries).splitlines(keepends=True) for seed in (1, 2))
    with pytest.raises(Refused, match=f"x.csv:{len(one) - 1}: the end of the export is missing"):
        read_csv("".join([*one[:-1], *two]))


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_an_export_that_has_lost_entries_in_the_middle_is_refused(repo: Repo, form: str) -> None:
    decisions = [{"id": f"d{n}", "text": f"t{n}", "validFrom": "2024-01-01"} for n in range(4)]
    repo.apply({"session": "s", "at": "2024-01-01", "decisions": decisions})
    lines = repo.run("export", "--format", form).out.splitlines(keepends=True)
    cut = [line for line in lines if "t2" not in line]
    assert len(cut) == len(lines) - 1
    (repo.path / "cut").write_text("".join(cut), newline="")
    assert "the export has '4' entries, and 3 stand before its end" in repo.run("import", form, "cut", code=1).err
