"""What a terminal shows, however narrow: nothing of an answer is left out."""

from __future__ import annotations

import re

import pytest

from ledger_cli.views import terminal
from tests.conftest import Repo

WIDTHS = (20, 24, 30, 40, 50, 60, 61, 80, 100)
SCREENS = [
    ("as-of", "2024-01-20"),
    ("believed", "2024-01-20", "--known", "2024-01-20", "--known", "2024-03-01"),
    ("lateness",),
    ("slots",),
    ("session", "list"),
    ("search", "orders"),
    ("query", "MATCH (d:Item)-[:ABOUT]->(e) RETURN d.id, d.text, d.confidence, e.name ORDER BY d.id, e.name"),
]


def shown(repo: Repo, monkeypatch: pytest.MonkeyPatch, width: int, *command: str) -> list[str]:
    """The lines of a command's answer on a terminal of this width."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(width))
    return re.sub(r"\x1b\[[0-9;]*m", "", repo.run(*command).out).splitlines()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("command", SCREENS, ids=lambda words: " ".join(words[:2]))
def test_a_narrow_terminal_shows_all_that_a_pipe_shows(
    story: Repo, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], width: int
) -> None:
    words = story.run(*command).out.split()
    lines = shown(story, monkeypatch, width, *command)
    assert max(len(line.rstrip()) for line in lines) <= width
    folded = "".join("".join(line.split()) for line in lines)
    assert [word for word in words if word not in folded] == []


def test_a_table_that_does_not_fit_becomes_records(story: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(story, monkeypatch, 40, "as-of", "orders", "2024-01-20") == [
        "orders on 2024-01-20, as known now",
        "",
        "  id       d4",
        "  what     orders uses mysql",
        "  holds    2024-01-10 →",
        "  learned  2024-02-01 09:00",
        "  slot     orders/database",
    ]


def test_records_are_parted_by_a_blank_line_and_name_what_is_empty(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "20")
    rows = [("a", "1", "x" * 12), ("b", "", ("y", "bold")), ("", "", "")]
    terminal.table(("name", "n", "what"), rows)
    out = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert [line.rstrip() for line in out.splitlines()] == [
        *("  name  a", "  n     1", "  what  xxxxxxxxxxxx", ""),
        *("  name  b", "  n", "  what  y", ""),
        *("  name", "  n", "  what"),
    ]


def test_no_word_of_a_table_is_broken_but_in_the_column_that_gives_way(
    story: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = shown(story, monkeypatch, 60, "slots")
    assert lines[0].split() == ["slot", "kind", "id", "what", "holds"]
    assert lines[1].split() == ["orders/database", "decision", "d4", "orders", "uses", "2024-01-10"]
    assert lines[2].split() == ["mysql", "→"]


def test_a_wide_terminal_shows_a_history_as_a_pipe_does(story: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    piped = story.run("history", "orders").out.splitlines()
    assert [line.rstrip() for line in shown(story, monkeypatch, 200, "history", "orders")] == piped
