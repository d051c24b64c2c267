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
from ledger_cli.exchange import csv_table, entries, jsonl
from ledger_cli.model import Entry
from tests.in_memory import invent

if TYPE_CHECKING:
    from tests.conftest import Repo


def through_csv(recorded: list[Entry]) -> list[Entry]:
    _, rows = csv_table.rows(csv_table.write(recorded), "x.csv")
    return [csv_table.entry(row) for _, row in rows]


def through_jsonl(recorded: list[Entry]) -> list[Entry]:
    return [entries.entry(row) for _, row in jsonl.rows(jsonl.write(recorded), "x.jsonl")]


def through_a_spreadsheet(recorded: list[Entry]) -> list[Entry]:
    """Read and written again by another program: semicolons, other quotes, columns moved about, a mark at the start."""
    table = list(csv.reader(io.StringIO(csv_table.write(recorded), newline="")))
    moved = list(range(len(table[0])))[::-1]
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=";", quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(
        [[row[n] for n in moved] + [""] for row in [*table, [""] * len(moved)]]
    )
    _, rows = csv_table.rows(out.getvalue(), "x.csv")
    return [csv_table.entry(row) for _, row in rows]


def through_another_writer(recorded: list[Entry]) -> list[Entry]:
    """As other programs write JSON: without spaces, everything escaped, keys by name."""
    texts = [json.dumps(json.loads(line), sort_keys=True, separators=(",", ":")) for line in entries.in_order(recorded)]
    return [entries.entry(row) for _, row in jsonl.rows("\r\n".join(texts), "x.jsonl")]


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
