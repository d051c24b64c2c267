"""What holds for all commands: help that cannot rot, usage errors, no ledger here, --directory, --version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
import typer.main

from ledger_cli import __version__
from ledger_cli.cli import build

if TYPE_CHECKING:
    from tests.commands.conftest import Golden
    from tests.conftest import Repo


def _commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for name, command in getattr(group, "commands", {}).items():
        yield from _commands(command, (*path, name))


EVERY = list(_commands(typer.main.get_command(build())))

NEEDS_A_LEDGER = [
    ("session", "list"),
    ("session", "show", "session-1"),
    ("reject", "d1", "--by", "sam", "--reason", "wrong"),
    ("reinstate", "d1", "--by", "sam", "--reason", "right"),
    ("end", "d1", "--on", "2024-05-01", "--by", "sam"),
    ("as-of", "2024-01-20"),
    ("believed", "2024-01-20"),
    ("lateness",),
    ("diff", "--from", "2024-01-01", "--to", "2024-02-01"),
    ("history", "orders"),
    ("show", "d1"),
    ("search", "orders"),
    ("slots",),
    ("recall", "what about orders?"),
    ("remember", "chat.txt", "--session", "s9", "-o", "-"),
    ("thread", "append", "t", "hello"),
    ("thread", "prepare", "t"),
    ("thread", "compact", "t", "--summary", "all"),
    ("timeline",),
    ("site", "out"),
    ("query", "MATCH (d:Decision) RETURN d.id"),
    ("query", "MATCH (c:ToolCall) RETURN c.seq"),
    ("trace", "calls"),
    ("trace", "failures"),
    ("trace", "recent"),
    ("trace", "lineage", "d1"),
    ("trace", "nodes"),
    ("trace", "show", "s1", "1"),
    ("trace", "export"),
    ("serve",),
    ("check",),
    ("resolve",),
    ("export",),
    ("export", "--format", "jsonl"),
    ("rebuild",),
    ("install",),
    ("doctor",),
]
MISUSED = {  # a command line -> what stderr says of it
    ("frobnicate",): "No such command 'frobnicate'",
    ("session", "frobnicate"): "No such command 'frobnicate'",
    ("lateness", "--frobnicate"): "No such option",
    ("lateness", "too many"): "unexpected extra argument",
    ("session", "apply"): "Missing argument 'FILE...'",
    ("session", "check"): "Missing argument 'FILE...'",
    ("session", "new"): "Missing argument 'ID'",
    ("session", "show"): "Missing argument 'ID'",
    ("reject", "d1", "--by", "sam"): "Missing option '--reason'",
    ("reject", "d1", "--reason", "wrong"): "Missing option '--by'",
    ("reject", "d1", "--link", "d4", "--ending", "--by", "sam", "--reason", "wrong"): "give one",
    ("reject", "d1", "--by", "sam", "--reason", "wrong", "--at", "monday"): "'monday' is not a time",
    ("reinstate", "--by", "sam", "--reason", "right"): "Missing argument 'ID'",
    ("end", "d1", "--by", "sam"): "Missing option '--on'",
    ("end", "d1", "--on", "2024-02-30", "--by", "sam"): "'2024-02-30' does not exist",
    ("as-of",): "Missing argument '[ENTITY] DATE'",
    ("as-of", "orders"): "'orders' is not a time; write YYYY-MM-DD",
    ("as-of", "2024-01-20T09:00:00"): "has no offset; add Z",
    ("as-of", "the", "orders", "2024-01-20"): "quote a name with spaces",
    ("believed", "2024-01-20", "--known", "20240120"): "'20240120' is not a time",
    ("diff", "--from", "2024-01-01"): "Missing option '--to'",
    ("diff", "--from", "2024-13-01", "--to", "2024-12-01"): "'2024-13-01' does not exist",
    ("diff", "--from", "2024-03-01", "--to", "2024-02-01"): "--from 2024-03-01 is after --to 2024-02-01",
    ("as-of", "", "now"): "'' names nothing",
    ("as-of", " ", "now"): "' ' names nothing",
    ("believed", "\u200b", "2024-01-20"): "'\\u200b' names nothing",
    ("history", ""): "'' names nothing",
    ("show", ""): "'' names nothing",
    ("session", "show", ""): "'' names nothing",
    ("reject", "", "--by", "sam", "--reason", "wrong"): "'' names nothing",
    ("reinstate", "", "--by", "sam", "--reason", "wrong"): "'' names nothing",
    ("end", "", "--on", "2024-05-01", "--by", "sam"): "'' names nothing",
    ("session", "apply", "-", "-"): "standard input is named twice",
    ("session", "check", "-", "-"): "standard input is named twice",
    ("session", "new", ""): "'' is empty",
    ("session", "new", "a\nb"): "'a\\nb' holds a control character; an id is one line",
    ("session", "new", " a"): "' a' has white space around it; write 'a'",
    ("session", "new", "<id>"): "'<id>' is a placeholder",
    ("session", "new", "x" * 201): "has 201 characters; write at most 200",
    ("textconv",): "Missing argument 'FILE'",
    ("history",): "Missing argument 'ENTITY|ID'",
    ("show",): "Missing argument 'ID'",
    ("search",): "Missing argument 'WORDS'",
    ("search", "orders", "--limit", "0"): "0 is not in the range 1<=x<=1000000",
    ("search", "orders", "--limit", "99999999999999999999"): "is not in the range 1<=x<=1000000",
    ("thread", "frobnicate"): "No such command 'frobnicate'",
    ("thread", "append"): "Missing argument 'THREAD'",
    ("thread", "append", "", "hello"): "'' names nothing",
    ("thread", "append", "t", "hello", "--role", "robot"): "--role is one of system, user, assistant",
    ("thread", "prepare", "t", "--last", "-1"): "-1 is not in the range",
    ("thread", "compact", "t", "--summary", " "): "--summary says nothing",
    ("thread", "compact", "t", "--summary", "all", "--command", "cat"): "give one of --summary and --command",
    ("remember",): "Missing argument 'CHAT'",
    ("remember", "chat.txt", "-o", "-"): "Missing option '--session'",
    ("remember", "chat.txt", "--session", "s9"): "say where it goes: -o FILE, `-o -` for stdout, or --apply",
    ("remember", "chat.txt", "--session", "s9", "-o", "-", "--apply"): "give it without --json and --apply",
    ("remember", "chat.txt", "--session", "s9", "--apply", "--at", "monday"): "'monday' is not a time",
    ("remember", "chat.txt", "--session", "s9", "--apply", "--batch", "0"): "0 is not in the range",
    ("remember", "chat.txt", "--session", "s9", "--apply", "--timeout", "0"): "0.0 is not in the range",
    ("recall",): "Missing argument 'QUESTION'",
    ("recall", "orders", "--valid", "monday"): "'monday' is not a time",
    ("recall", "orders", "--known", "monday"): "'monday' is not a time",
    ("recall", "orders", "--limit", "0"): "0 is not in the range",
    ("recall", "orders", "--budget", "-1"): "-1 is not in the range",
    ("recall", "orders", "--json", "--prose"): "give --prose or --json",
    ("query",): "Missing argument 'CYPHER'",
    ("query", "RETURN 1", "--timeout", "0"): "0.0 is not in the range",
    ("query", "RETURN 1", "--timeout", "nan"): "nan is not a number of seconds",
    ("query", "RETURN 1", "--timeout", "inf"): "inf is not in the range 0.001<=x<=3600.0",
    ("query", "RETURN 1", "--timeout", "3601"): "3601.0 is not in the range",
    ("query", "RETURN 1", "--limit", "1000001"): "1000001 is not in the range",
    ("query", "RETURN 1", "--limit", "none"): "'none' is not a valid",
    ("trace", "frobnicate"): "No such command 'frobnicate'",
    ("trace", "recent", "-n", "0"): "0 is not in the range",
    ("trace", "lineage"): "Missing argument 'ID|ENTITY'",
    ("trace", "lineage", ""): "'' names nothing",
    ("trace", "show", "s1"): "Missing argument 'SEQ'",
    ("trace", "show", "s1", "0"): "0 is not in the range",
    ("trace", "show", "s1", "one"): "'one' is not a valid",
    ("serve", "--no-trace", "--session", "s1"): "--no-trace puts none there",
    ("timeline", ""): "'' names nothing",
    ("timeline", "orders", "search"): "unexpected extra argument",
    ("timeline", "--plane"): "say where it goes, with --svg FILE",
    ("timeline", "--json", "--svg", "-"): "give one",
    ("site",): "Missing argument 'DIR'",
    ("resolve", "--by", "sam"): "say what stands: --keep ours",
    ("merge-driver", "base", "ours"): "Missing argument 'THEIRS'",
    ("export", "--format", "yaml"): "'yaml' is not one of",
    ("export", "--format", "adr"): "needs a place: --output DIR",
    ("export", "--format", "csv", "--carry"): "--format goes without --carry",
    ("export", "--output", "x"): "--output is for what --format writes",
    ("import", "adr"): "Missing argument 'DIR'",
    ("import", "adr", ".", "--record-time", "file"): "'file' is not one of",
    ("import", "adr", ".", "--json"): "--json needs --output FILE",
    ("import", "adr", ".", "--session", " a"): "' a' has white space around it",
    ("import", "csv"): "Missing argument 'FILE'",
    ("import", "jsonl"): "Missing argument 'FILE'",
    ("--directory", "nowhere", "check"): "nowhere is not a folder",
}


@pytest.mark.parametrize("command", EVERY, ids=lambda path: " ".join(path) or "ledger")
def test_help_is_as_recorded(repo: Repo, golden: Golden, command: tuple[str, ...]) -> None:
    said = repo.run(*command, "-h")
    assert said.err == ""
    assert repo.run(*command, "--help").out == said.out
    golden(f"help/{'-'.join(('ledger', *command))}.txt", said.out)


def test_every_command_is_listed_with_a_sentence(repo: Repo) -> None:
    listed = repo.run("-h").out.split("Commands:\n")[1]
    names = {line.split()[0]: line.split()[1:] for line in listed.splitlines() if line.strip()}
    assert set(names) == {path[0] for path in EVERY if len(path) == 1}
    assert all(names.values())


@pytest.mark.parametrize("command", MISUSED, ids=lambda words: " ".join(words)[:60])
def test_a_usage_error_is_exit_2_with_the_usage_and_what_is_wrong(story: Repo, command: tuple[str, ...]) -> None:
    before = story.checkpoint.read_bytes()
    said = story.run(*command, code=2)
    assert said.out == ""
    assert said.err.startswith("Usage: ledger ")
    assert MISUSED[command] in said.err
    assert "bug" not in said.err
    assert story.checkpoint.read_bytes() == before


@pytest.mark.parametrize("command", NEEDS_A_LEDGER, ids=lambda words: " ".join(words)[:40])
def test_without_a_ledger_it_says_how_to_begin_one(repo: Repo, command: tuple[str, ...]) -> None:
    repo.checkpoint.unlink()
    said = repo.run(*command, code=1)
    assert said.out == ""
    assert said.err == (
        f"error: there is no ledger in {repo.path} or above it\n  hint: run `ledger init` to begin one here\n"
    )


@pytest.mark.parametrize("command", ["apply", "check"])
def test_without_a_ledger_a_session_goes_nowhere(repo: Repo, command: str) -> None:
    file = repo.write({"session": "s1", "decisions": [{"text": "use it"}]})
    repo.checkpoint.unlink()
    said = repo.run("session", command, file, code=1)
    assert (said.out, said.err.splitlines()[0]) == ("", f"error: there is no ledger in {repo.path} or above it")
    assert not repo.checkpoint.exists()


def test_a_folder_inside_finds_the_ledger_above(story: Repo) -> None:
    inside = story.path / "sessions" / "deep"
    inside.mkdir()
    here = story.run("lateness", "--json").out
    for option in ("--directory", "-C"):
        assert story.run(option, inside, "lateness", "--json").out == here


def test_directory_runs_as_if_started_there(repo: Repo) -> None:
    other = repo.path.parent / "other"
    other.mkdir()
    repo.run("--directory", other, "init")
    assert (other / "snapshots" / "ledger.json").exists()
    repo.run("-C", other, "session", "apply", repo.write({"session": "s1", "decisions": [{"text": "there"}]}))
    assert repo.run("lateness", "--json").ids == []
    assert repo.run("-C", other, "lateness", "--json").ids == ["s1/d1"]


def test_version(repo: Repo) -> None:
    said = repo.run("--version")
    assert (said.out, said.err) == (f"ledger {__version__}\n", "")


@pytest.mark.parametrize(
    "command",
    [(), ("session",), ("trace",), ("thread",), ("import",)],
    ids=["ledger", "ledger session", "ledger trace", "ledger thread", "ledger import"],
)
def test_no_command_is_a_usage_error_that_shows_the_help(repo: Repo, command: tuple[str, ...]) -> None:
    said = repo.run(*command, code=2)
    assert said.out + said.err == repo.run(*command, "-h").out
