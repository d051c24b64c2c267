"""The error boundary: what goes wrong at the edge of the process is a sentence and its own exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ledger_cli import app
from tests.conftest import ROOT, Repo

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="no disk here is always full")


def onto(stdout: Path, repo: Repo, *command: str, **environment: str) -> tuple[int, str]:
    """Run a command with its stdout going to a file; its exit code and stderr."""
    with stdout.open("w") as out:
        done = subprocess.run(
            [sys.executable, "-m", "ledger_cli", *command],
            cwd=repo.path,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    return done.returncode, done.stderr


@needs_full
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "command",
    [
        ("as-of", "2024-01-20"),
        ("as-of", "2024-01-20", "--json"),
        ("session", "list"),
        ("session", "new", "s"),
        ("query", "UNWIND range(1, 900) AS n RETURN n, 'a text that fills more than any buffer' AS text"),
        ("check",),
        ("doctor",),
        ("--help",),
        ("--version",),
    ],
    ids=" ".join,
)
def test_an_answer_that_cannot_be_written_is_a_sentence(story: Repo, command: tuple[str, ...], unbuffered: str) -> None:
    said = onto(FULL, story, *command, PYTHONUNBUFFERED=unbuffered)
    assert said == (1, "error: cannot write the answer: No space left on device\n")


@needs_full
def test_an_answer_for_a_terminal_is_no_exception(story: Repo) -> None:
    said = onto(FULL, story, "lateness", FORCE_COLOR="1")
    assert said == (1, "error: cannot write the answer: No space left on device\n")


@needs_full
@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_what_was_applied_stays_applied_where_the_answer_cannot_be_written(repo: Repo, flags: tuple[str, ...]) -> None:
    file = repo.write({"session": "a", "decisions": [{"id": "d", "text": "use it"}]})
    said = onto(FULL, repo, "session", "apply", str(file), *flags)
    assert said == (1, "error: cannot write the answer: No space left on device\n")
    assert repo.run("show", "d", "--json").json["text"] == "use it"


@needs_full
def test_what_cannot_be_said_on_stderr_changes_neither_answer_nor_code(story: Repo) -> None:
    command = [sys.executable, "-m", "ledger_cli", "as-of", "nobody", "2024-01-20", "--json"]
    with FULL.open("w") as full:
        done = subprocess.run(
            command, cwd=story.path, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=full
        )
    assert (done.returncode, b'"items": []' in done.stdout) == (0, True)


def test_an_error_of_the_system_that_is_not_about_the_answer_is_a_bug(
    story: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ledger_cli.ledger.Ledger.lateness", broken)
    said = story.run("lateness", code=app.BUG)
    assert said.err.startswith("error: this is a bug in ledger ")


def test_only_a_closed_pipe_is_taken_for_one(story: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    def leave(*_: object) -> None:
        raise SystemExit(5)

    monkeypatch.setattr("ledger_cli.ledger.Ledger.lateness", leave)
    with pytest.raises(SystemExit) as left:
        story.run("lateness", code=None)
    assert left.value.code == 5


def test_the_streams_are_given_back(story: Repo) -> None:
    before = sys.stdout, sys.stderr
    story.run("lateness")
    story.run("show", "nothing", code=1)
    assert (sys.stdout, sys.stderr) == before


# Streams


CLOSED = {"stdin": "<&-", "stdout": ">&-", "stderr": "2>&-", "all": "<&- >&- 2>&-"}


def without(stream: str, repo: Repo, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command that a stream was closed for before it began, in a shell as people do."""
    line = f'"$0" -m ledger_cli "$@" {CLOSED[stream]}'
    return subprocess.run(
        ["sh", "-c", line, sys.executable, *command],
        cwd=repo.path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(os.name == "nt", reason="there is no sh")
@pytest.mark.parametrize("command", [("lateness",), ("as-of", "nobody", "2024-01-20", "--json"), ("session", "list")])
@pytest.mark.parametrize("stream", CLOSED)
def test_a_stream_that_is_closed_from_the_start_leads_to_nowhere(
    story: Repo, stream: str, command: tuple[str, ...]
) -> None:
    done = without(stream, story, *command)
    assert done.returncode == 0
    if stream == "stdout":
        assert "bug" not in done.stderr
    if stream in ("stdin", "stderr"):
        assert done.stdout == story.run(*command).out


@pytest.mark.skipif(os.name == "nt", reason="there is no sh")
def test_what_is_said_without_a_stream_does_not_change_the_code(story: Repo) -> None:
    for stream in CLOSED:
        assert without(stream, story, "show", "nothing").returncode == 1
        assert without(stream, story, "frobnicate").returncode == 2


@pytest.mark.skipif(os.name == "nt", reason="there is no sh")
def test_a_session_from_no_stdin_is_an_empty_one(story: Repo) -> None:
    done = without("stdin", story, "session", "apply", "-")
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        1,
        "stdin:1: the file holds no session; `ledger session new` writes one to fill in",
    )


@pytest.mark.skipif(os.name == "nt", reason="there is no sh")
def test_in_a_pipe_the_answer_stands_before_the_talk_that_follows_it(repo: Repo) -> None:
    folder = repo.path.parent / "other"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "ledger_cli", "-C", str(folder), "init"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    assert [line.split()[0] for line in done.stdout.splitlines()] == [*["made"] * 5, "Next:"]


def test_an_engine_that_is_named_by_nothing_is_the_default(story: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEDGER_ENGINE", "")
    assert story.run("lateness").out != ""
