"""The README is held to the program: its blocks run, its tables are complete, its files exist."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import jsonschema
import pytest
import typer
import typer.main
import yaml

import ledger_cli
from ledger_cli import app, cli, errors, session_file
from ledger_cli.ledger import Ledger
from ledger_cli.memory import toolbox, tools
from ledger_cli.memory.arguments import MOST
from ledger_cli.memory.serve import AT_A_TIME
from ledger_cli.memory.trace import Tracer
from ledger_cli.store import schema, statements
from tests.conftest import DATA, ROOT, Repo

README = (ROOT / "README.md").read_text(encoding="utf-8")
WORDS = (
    "item", "entity", "slot", "session", "episode", "link", "correction", "ending", "review", "entry", "valid time",
    "record time",
)  # fmt: skip


def section(title: str) -> str:
    """The text under a heading, up to the next one of its kind."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", README, re.DOTALL | re.MULTILINE)
    assert found, f"README has no section {title!r}"
    return found[1]


def blocks(text: str, *languages: str) -> list[tuple[str, str]]:
    """The fenced blocks in these languages, each with its language."""
    found = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [(language, body) for language, body in found if language in languages]


def block(text: str, language: str) -> str:
    """The only block in a language."""
    ((_, body),) = blocks(text, language)
    return body


def table(text: str, head: str) -> list[list[str]]:
    """The rows of the table whose first head is `head`."""
    rows = re.search(rf"^\| {re.escape(head)} \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert rows, f"no table of {head!r}"
    lines = rows[1].splitlines()
    return [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def steps(text: str) -> Iterator[tuple[str, str | None]]:
    """What a section has its reader type, each with what is shown for it: None, where nothing is."""
    for language, body in blocks(text, "sh", "console"):
        if language == "sh":
            yield body, None
            continue
        for step in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
            command, _, shown = step.partition("\n")
            yield command, shown


Play = Callable[[str, Path], None]


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Type everything that a text shows into one shell, and compare what comes with what is shown."""
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    program = bin_ / "ledger"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ledger_cli "$@"\n')
    program.chmod(0o755)

    def run(text: str, folder: Path) -> None:
        todo = list(steps(text))
        assert todo, "there is nothing to run"
        script = "".join(f"{command}\nprintf '\\036%s\\036' $?\n" for command, _ in todo)
        path = os.pathsep.join([str(bin_), os.environ["PATH"]])
        environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
        done = subprocess.run(
            ["bash", "-c", script], cwd=folder, env=environment, text=True, encoding="utf-8",
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        came = done.stdout.split("\036")
        for (command, shown), said, code in zip(todo, came[::2], came[1::2], strict=False):
            assert code == "0", f"$ {command}\n{said}\nexit code {code}"
            if shown is not None:
                assert _untrailed(said) == _untrailed(shown), f"$ {command}"
        assert len(came) == 2 * len(todo) + 1

    return run


def _untrailed(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


# What the reader types


def test_the_first_excerpt_is_what_the_story_answers(story: Repo, play: Play) -> None:
    play(README.split("\n## ")[0], story.path)


def test_the_tour_runs_from_end_to_end(tmp_path: Path, play: Play) -> None:
    place = tmp_path / "place"
    place.mkdir()
    play(section("A two-minute tour"), place)


def test_the_recalled_document_is_what_the_story_answers(story: Repo, play: Play) -> None:
    play(section("Recall"), story.path)


def test_the_query_answers(story: Repo, play: Play) -> None:
    play(section("Engines and limits"), story.path)


def test_the_chat_of_the_readme_becomes_the_file_it_shows(story: Repo, play: Play) -> None:
    play(section("Remember"), story.path)


def test_the_thread_of_the_readme_is_prepared_as_shown(repo: Repo, play: Play) -> None:
    play(section("Threads"), repo.path)


def test_the_timeline_is_what_the_story_shows(story: Repo, play: Play) -> None:
    play(section("See it"), story.path)
    for name, flags in {"timeline": (), "plane": ("--plane",)}.items():
        drawn = story.run("timeline", "orders", *flags, "--svg", "-").out
        assert drawn == (ROOT / "docs" / f"{name}.svg").read_text(encoding="utf-8")


def test_the_lines_for_ci_pass_where_all_is_committed(story: Repo, play: Play) -> None:
    story.git("add", ".")
    story.git("commit", "-qm", "All")
    *_, (_, lines) = blocks(section("In your own repository"), "sh")
    play(f"```sh\n{lines}```\n", story.path)


def test_the_lines_for_other_ci_pass_on_what_only_adds(
    story: Repo, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.git("add", ".")
    story.git("commit", "-qm", "base")
    story.apply({"session": "more", "at": "2024-05-01", "decisions": [{"text": "more"}]})
    story.git("add", ".")
    story.git("commit", "-qm", "more")
    monkeypatch.setenv("BASE", "HEAD~1")
    play(section("In pull requests"), story.path)


def test_the_lines_for_github_and_gitlab_are_those_that_the_action_runs() -> None:
    (_, github), (_, gitlab) = blocks(section("In pull requests"), "yaml")
    steps = yaml.safe_load(github)["jobs"]["ledger"]["steps"]
    own = yaml.safe_load((ROOT / ".github" / "workflows" / "ledger.yml").read_text(encoding="utf-8"))
    merged = next(s for s in own["jobs"]["ledger"]["steps"] if "ref" in s.get("with", {}))
    assert steps[0]["with"] == {k: v for k, v in merged["with"].items() if k != "path"}
    assert len(github.splitlines()) <= 10
    ((_, lines),) = blocks(section("In pull requests"), "sh")
    for line in lines.splitlines():
        assert line.replace("$BASE", "$CI_MERGE_REQUEST_DIFF_BASE_SHA") in gitlab


def test_the_python_lines_run(story: Repo) -> None:
    done = subprocess.run(
        [sys.executable, "-c", block(section("From Python"), "python")],
        cwd=story.path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert f"it prints `{done.stdout.strip()}`" in section("From Python")


def test_the_python_lines_of_the_record_run_and_record(story: Repo) -> None:
    done = subprocess.run(
        [sys.executable, "-c", block(section("The record of calls"), "python")],
        cwd=story.path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert f"it prints `{done.stdout.strip()}`" in section("The record of calls")
    (call,) = story.run("trace", "recent", "--json").json["calls"]
    assert (call["session"], call["ask"], call["rows"]) == ("session-of-calls", "What about orders?", 3)


def test_the_lines_about_the_record_run(story: Repo, play: Play) -> None:
    play(section("The record of calls"), story.path)


def test_the_blocks_for_hosts_start_the_server() -> None:
    found = [json.loads(body) for _, body in blocks(section("Serving agents"), "json")]
    assert len(found) == 3
    for one in found:
        ((_, servers),) = one.items()
        server = servers["ledger"]
        assert server["command"] == "ledger"
        assert cli.named(server["args"]) == "serve"


def test_the_tools_and_their_bounds_are_all_there() -> None:
    told = section("Serving agents")
    named = {name: "--write" in what for cell, what in table(told, "tool") for name in re.findall(r"`(\w+)`", cell)}
    assert named == {tool.name: tool.writes for tool in tools.TOOLS}
    assert f"{toolbox.LIMIT:,}" in told and f"{MOST:,}" in told
    assert AT_A_TIME == 4 and "Four calls run at a time" in told


def test_each_of_the_two_commands_is_one_line() -> None:
    (_, run), (_, test) = blocks(section("Two commands"), "sh")
    assert run.count("\n") == test.count("\n") == 1
    after_marker = README.partition("<!-- test command -->\n")[2]
    assert after_marker.startswith(f"```sh\n{test}```\n")


# The tables


def commands(group: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command of the app by what is typed for it."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*above, name))
        else:
            yield " ".join((*above, name)), command


COMMANDS = dict(commands(typer.main.get_command(cli.build())))


def _rows() -> dict[str, tuple[str, str]]:
    """The rows of the command table: what follows the command's name, and what its last column says."""
    found = {}
    for usage, _, as_json in table(section("Commands"), "command"):
        words = usage.strip("`").split(" ")
        name = " ".join(words[:2]) if words[0] in ("session", "thread", "trace", "import") else words[0]
        before, _ = found.get(name, ("", as_json))
        assert not before or name in ("diff", "export"), f"{name} has two rows"
        found[name] = (before + usage.strip("`").removeprefix(name), as_json)
    return found


def test_every_command_has_a_row_and_every_row_is_a_command() -> None:
    assert set(_rows()) == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_row_names_all_that_its_command_takes(name: str) -> None:
    usage, as_json = _rows()[name]
    parameters = COMMANDS[name].params
    options = {o for p in parameters if p.param_type_name == "option" for o in p.opts if o.startswith("--")}
    assert set(re.findall(r"--[a-z-]+", usage)) == options - {"--help", "--json"}
    assert as_json == ("yes" if "--json" in options else "")
    for argument in (p for p in parameters if p.param_type_name == "argument"):
        assert argument.metavar in usage


def test_the_exit_codes_are_all_there() -> None:
    told = [int(code) for code, _ in table(section("Commands"), "exit code")]
    assert told == sorted(_exit_codes())


def _exit_codes() -> set[int]:
    """All that the program can end with: the codes of its errors, the parser, the boundary and single commands."""
    for module in walk_packages(ledger_cli.__path__, "ledger_cli."):
        if not module.name.endswith(("__main__", "relate_engine")):  # it runs; it needs the other engine
            import_module(module.name)
    kinds = [errors.LedgerError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    named = {value for name, value in vars(app).items() if name.isupper() and isinstance(value, int)}
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "ledger_cli").rglob("*.py")]
    raised = {int(code) for source in sources for code in re.findall(r"typer\.Exit\((\d+)\)", source)}
    assert not any(re.search(r"sys\.exit\(\d|SystemExit\(", source) for source in sources), "a code from elsewhere"
    return {0, typer.BadParameter("").exit_code} | {kind.exit_code for kind in kinds} | named | raised


def test_the_graph_is_all_there() -> None:
    """The nodes with their properties, and the edges, are those that the statements of the store write."""
    written = "\n".join(statements.text(name) for name in statements.names() if re.match("create|link|merge|set", name))
    nodes: dict[str, set[str]] = {"Session": set(re.findall(r"\bs\.(\w+) =", written))}
    for label, keys in re.findall(r"\(\w*:(\w+) \{([^}]*)\}\)", written):
        nodes.setdefault(label, set()).update(re.findall(r"(\w+):", keys))
    edges, lines = block(section("Engines and limits"), "text").split("\n\n")
    assert {label: set(keys) for label, *keys in (line.split() for line in lines.splitlines())} == nodes
    shown = {edge for edges in re.findall(r"\[:([A-Z_|]+)\]", edges) for edge in edges.split("|")}
    assert shown == set(re.findall(r"\[:([A-Z_]+)", written))
    assert {label: set(keys.split()) for label, keys in schema.NODES.items()} == nodes
    assert {name for _, types, _, _ in schema.RELATIONSHIPS for name in types.split("|")} == shown
    told = {tuple(re.findall(r"\(:([A-Z]\w+(?:\|\w+)*)\)|\[:([A-Z_|]+)\]", line)) for line in edges.splitlines()}
    drawn = {(a, types, b) for ((a, _), (_, types), (b, _)) in told}
    assert drawn == {(a, types, b) for a, types, b, _ in schema.RELATIONSHIPS}


def test_the_seven_days_are_as_the_ledger_answers(story: Repo) -> None:
    rows = table(section("The rule of the two axes"), "day")
    assert len(rows) == 7
    for day, *said in rows:
        answers = [story.run(question, "orders", day, "--json").json for question in ("as-of", "believed")]
        assert said == [", ".join(item["text"] for item in answer["items"]) for answer in answers], day


def test_the_words_are_all_there_and_the_program_uses_them() -> None:
    rows = table(section("Words"), "word")
    assert {word for word, _ in rows} >= set(WORDS)
    source = "\n".join(path.read_text(encoding="utf-8").lower() for path in (ROOT / "ledger_cli").glob("*.py"))
    for word, _ in rows:
        assert word in source


# The JSON


def _keys(value: Any, item: set[str]) -> Iterator[str]:
    """The names in a JSON answer; an item counts as one, with what stands beside its keys."""
    if isinstance(value, list):
        for one in value:
            yield from _keys(one, item)
    elif isinstance(value, dict) and value.keys() >= item:
        yield "ITEM"
        yield from value.keys() - item
    elif isinstance(value, dict):
        for key, one in value.items():
            yield key
            if key != "counts":
                yield from _keys(one, item)


ASKED = {
    "check": [["check"]],  # first: it has something to say as long as a file is not applied
    "as-of": [["as-of", "orders", "2024-02-10"]],
    "believed": [["believed", "2024-02-10"], ["believed", "2024-02-10", "--known", "now", "--known", "2024-02-10"]],
    "lateness": [["lateness"]],
    "diff": [["diff", "--from", "2024-01-01", "--to", "now"]],
    "diff --rev": [["diff", "--rev", "HEAD"]],
    "history": [["history", "orders"]],
    "search": [["search", "redis"]],
    "slots": [["slots"]],
    "timeline": [["timeline"]],
    "session list": [["session", "list"]],
    "session apply": [["session", "apply", "sessions/more.yaml"]],
    "doctor": [["doctor"]],
    "trace show": [["trace", "show", "s", "2"]],
    "trace calls": [["trace", "calls"]],
    "trace recent": [["trace", "recent"], ["trace", "failures"]],
    "trace lineage": [["trace", "lineage", "told"]],
    "trace nodes": [["trace", "nodes"]],
    "trace export": [["trace", "export"]],
    "recall": [["recall", "orders"]],
    "remember": [["remember", "chat.txt", "--session", "s9", "--replay", "answers.json", "-o", "s9.yaml"]],
    "thread prepare": [["thread", "prepare", "t"]],
    "import adr": [["import", "adr", "adr", "-o", "sessions/adr.yaml"]],
    "import csv|jsonl": [["import", "jsonl", "all.jsonl"]],
}


MORE = """
session: more
decisions: [{text: orders is in go, about: [orders, go]}]
facts: [{text: go has goroutines, about: [go]}]
"""


def _record_calls(repo: Repo) -> None:
    """A call that fails, one that writes, one that writes about the same, one that reads it."""
    yesterday = repo.now - timedelta(days=1)
    tracer = Tracer(Ledger(repo.path, clock=lambda: yesterday), "s")
    value = session_file.read("session: told\nfacts: [{id: told, text: told}]", "told.yaml")[0]
    with pytest.raises(errors.LedgerError):
        tracer.read("read", lambda: tracer.ledger.show("nobody"))
    tracer.apply_session(value)
    tracer.write("end", lambda recording: tracer.ledger.end("told", yesterday, by="sam", recording=recording))
    tracer.read("read", lambda: tracer.ledger.show("told"))


def test_the_json_has_the_keys_that_are_written_down(story: Repo) -> None:
    story.git("add", "-A")
    story.git("commit", "-qm", "story")
    _record_calls(story)
    story.run("reject", "d4", "--by", "sam", "--reason", "no")
    (story.path / "sessions" / "more.yaml").write_text(MORE)
    (story.path / "chat.txt").write_text("Ada: orders is in go\nassistant: noted\n")
    item = {"text": "orders is in go", "about": ["orders"]}
    answer = {"entities": [], "facts": [item | {"from": [1]}, item | {"from": [2]}], "decisions": []}
    (story.path / "answers.json").write_text(json.dumps(answer))
    story.run("thread", "append", "t", "hello")
    shutil.copytree(DATA / "adr" / "adr-tools", story.path / "adr")
    story.run("export", "--format", "jsonl", "-o", "all.jsonl")
    contract = dict(re.split(r"  +", line, maxsplit=1) for line in block(section("Commands"), "text").splitlines())
    item = set(re.findall(r'"(\w+)"', contract.pop("ITEM")))
    assert contract.pop("query").startswith('"rows": ')
    assert contract.keys() == ASKED.keys()
    for name, questions in ASKED.items():
        wanted = set(re.findall(r'"(\w+)"|(ITEM)', contract[name]))
        wanted_names = {key or one for key, one in wanted}
        if name == "believed":  # "the same", and more
            wanted_names |= set(re.findall(r'"(\w+)"', contract["as-of"]))
        if "CALL" in contract[name]:
            wanted_names |= set(re.findall(r'"(\w+)"', contract["trace show"]))
        answers = [story.run(*asked, "--json", code=None).json for asked in questions]
        assert set(_keys(answers, item)) == wanted_names, name


# Files that are shown


def _example() -> str:
    return block(section("Session files"), "yaml")


def test_the_session_file_is_read_without_faults_and_has_every_key() -> None:
    (session,) = session_file.read(_example(), "example.yaml")
    assert session.id == "session-2"
    for key in {key for name in ("SESSION", "ENTITY", "EPISODE", "ITEM", "LINK", "ENDING", "REVIEW")
                for key in getattr(session_file, name)}:  # fmt: skip
        assert re.search(rf"\b{key}:\s", _example()), key


def test_the_schema_takes_the_json_form_of_the_session_file() -> None:
    example = yaml.load(_example(), Loader=yaml.BaseLoader)
    for item in example["decisions"]:
        item["confidence"] = float(item["confidence"])
    schema = json.loads((ROOT / "ledger_cli" / "session.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(example)
    assert session_file.read(json.dumps(example), "example.json")


def test_the_comment_of_yaml_is_the_trap_it_is_said_to_be() -> None:
    trap = re.search(r"`(text: [^`]*)` says \"([^\"]*)\"", section("Session files"))
    assert trap
    (session,) = session_file.read(f"session: s\ndecisions:\n  - {trap[1]}\n", "trap.yaml")
    assert session.items[0].text == trap[2]


def test_the_excerpt_stands_in_this_repositorys_checkpoint() -> None:
    checkpoint = (ROOT / "snapshots" / "ledger.json").read_text(encoding="utf-8")
    assert block(section("The file"), "text") in checkpoint


def test_the_hooks_are_those_that_are_offered() -> None:
    (repository,) = yaml.safe_load(block(section("In your own repository"), "yaml"))["repos"]
    offered = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert [hook["id"] for hook in repository["hooks"]] == [hook["id"] for hook in offered]


def test_every_link_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert links
    for link in links:
        assert (ROOT / link).exists(), link


def test_the_picture_is_what_the_ledger_answers() -> None:
    drawn = subprocess.run(
        [sys.executable, ROOT / "docs" / "two_axes.py"],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    assert drawn.stdout == (ROOT / "docs" / "two-axes.svg").read_text(encoding="utf-8")


def test_the_sections_come_in_the_order_of_a_first_reading() -> None:
    titles = re.findall(r"^## (.+)$", README, re.MULTILINE)
    order = ["Two commands", "A two-minute tour", "The rule of the two axes", "Session files", "Commands", "Words"]
    assert all(titles.index(a) < titles.index(b) for a, b in pairwise(order))
