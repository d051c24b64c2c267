"""`ledger thread`: append, prepare, compact, as typed."""

from __future__ import annotations

import io
import json
import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from tests.memory import chat_server
from tests.memory.chat_server import serving

if TYPE_CHECKING:
    from tests.conftest import Repo


def test_what_is_appended_is_prepared(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    assert repo.run("thread", "append", "a b/c", "who owns orders?").out == "message 1\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("Alice,\nuntil März\n".encode())))
    assert repo.run("thread", "append", "a b/c", "-", "--role", "assistant").out == "message 2\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"and \x1b[2J then?")))
    assert repo.run("thread", "append", "a b/c").out == "message 3\n"
    expected = [
        {"role": "user", "content": "who owns orders?"},
        {"role": "assistant", "content": "Alice,\nuntil März"},
        {"role": "user", "content": "and \x1b[2J then?"},
    ]
    assert repo.run("thread", "prepare", "a b/c", "--json").json == expected
    said = repo.run("thread", "prepare", "a b/c", "--last", "2", "--json")
    assert said.json == expected[1:]
    assert said.err == ("note: 1 older messages are in neither; `ledger thread compact` takes them into the summary\n")
    assert repo.run("thread", "prepare", "a b/c").out == (
        "user: who owns orders?\nassistant: Alice,\n           until März\nuser: and \\x1b[2J then?\n"
    )
    assert repo.run("thread", "prepare", "other", "--json").json == []


def test_a_summary_is_given_or_asked_of_a_command_or_an_endpoint(repo: Repo) -> None:
    for n in range(1, 7):
        repo.run("thread", "append", "t", f"message {n}")
    assert repo.run("thread", "compact", "t", "--keep", "4", "--summary", "two were said").out == (
        "2 messages summed up\n"
    )
    program = (
        "import json, sys; asked = json.load(sys.stdin); "
        "print(json.dumps({'summary': asked['summary'] + ' +' + str(len(asked['messages']))}))"
    )
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(program)}"
    assert repo.run("thread", "compact", "t", "--keep", "3", "--command", command).out == "1 message summed up\n"
    with serving(chat_server.says({"summary": "  all was said "})) as at:
        flags = ("--keep", "1", "--url", at.url, "--model", "m")
        assert repo.run("thread", "compact", "t", *flags).out == "2 messages summed up\n"
        assert repo.run("thread", "compact", "t", *flags).out == "nothing to sum up: no more messages than kept\n"
    [asked] = at.asked
    data = asked["messages"][1]["content"]
    assert '"summary": "two were said +1"' in data
    assert [f'"message {n}"' in data for n in (3, 4, 5, 6)] == [False, True, True, False]
    assert repo.run("thread", "prepare", "t", "--json").json == [
        {"role": "system", "content": "Summary of earlier turns: all was said"},
        {"role": "user", "content": "message 6"},
    ]


def test_a_long_thread_is_summed_up_in_parts(repo: Repo) -> None:
    for n in range(1, 5):
        repo.run("thread", "append", "t", f"{n} " + "x" * 20_000)

    def answers(request: chat_server.Request) -> None:
        data = request.server.asked[-1]["messages"][1]["content"]
        so_far = json.loads("\n".join(data.splitlines()[1:-1]))["summary"] or ""
        request.send(200, chat_server.completion({"summary": so_far + "part "}))

    with serving(answers) as at:
        repo.run("thread", "compact", "t", "--keep", "0", "--url", at.url, "--model", "m")
    assert len(at.asked) == 4
    [summary] = repo.run("thread", "prepare", "t", "--json").json
    assert summary["content"].count("part") == 4


def test_an_endpoint_that_fails_leaves_the_thread_as_it_was(repo: Repo) -> None:
    repo.run("thread", "append", "t", "hello")
    before = repo.run("thread", "prepare", "t", "--json").out
    with serving(chat_server.fails(400, "no")) as at:
        said = repo.run("thread", "compact", "t", "--keep", "0", "--url", at.url, "--model", "m", code=1)
    assert "answered 400" in said.err
    assert repo.run("thread", "prepare", "t", "--json").out == before


def test_a_message_that_is_no_text_or_says_nothing_is_refused(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    for data, code, what in ((b"\xff", 2, "is not UTF-8"), (b"\n", 1, "the message says nothing")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert what in repo.run("thread", "append", "t", code=code).err
    assert repo.run("thread", "prepare", "t", "--json").json == []
