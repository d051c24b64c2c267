"""Threads: messages that stay whatever happens to who writes them, and summaries that lose none."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger_cli.errors import Damaged, Refused
from ledger_cli.ledger import Ledger
from ledger_cli.memory.threads import ROLES, SUMMARISED, Threads, encoded
from ledger_cli.memory.transcript import Message
from tests.conftest import NOW, ROOT, Repo


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def threads(repo: Repo, said: list[str]) -> Threads:
    return Threads(Ledger(repo.path, clock=lambda: NOW), say=said.append)


def contents(threads: Threads, name: str = "t") -> list[str]:
    return [m.content for m in threads.read(name).messages]


def file(threads: Threads, name: str = "t") -> Path:
    return threads.folder / f"{encoded(name)}.jsonl"


def as_given(text: str) -> Any:
    return lambda *_: text


def test_what_is_appended_comes_back_oldest_first(threads: Threads) -> None:
    texts = ["hello", "a\nb", "'\"\\ {}", "\u202e turned", "x" * 5000, "\x1b[2J", "\U0001f600"]
    numbers = [threads.append("t", ROLES[n % 3], text) for n, text in enumerate(texts)]
    assert numbers == list(range(1, len(texts) + 1))
    assert threads.prepare("t", 20).chat() == [{"role": ROLES[n % 3], "content": text} for n, text in enumerate(texts)]
    assert [m.at for m in threads.read("t").messages] == [NOW] * len(texts)
    assert threads.prepare("t", 2).chat() == threads.prepare("t", 20).chat()[-2:]
    assert threads.prepare("t", 2).left_out == len(texts) - 2


def test_threads_do_not_meet_and_one_that_is_not_there_is_empty(threads: Threads, said: list[str]) -> None:
    names = ["t", "t/", "t%2F", "../t", ".", "..", "T1", "ü", " t", "t.jsonl", "a\nb"]
    for name in names:
        threads.append(name, "user", f"of {name}")
    assert [contents(threads, name) for name in names] == [[f"of {name}"] for name in names]
    assert {p.parent for p in threads.folder.rglob("*.jsonl")} == {threads.folder}
    assert said == []
    assert threads.prepare("new", 5).chat() == []
    assert said == ["note: there is no thread 'new' yet; `ledger thread append` begins one"]
    assert not file(threads, "new").exists()


@given(st.text(min_size=1, max_size=70), st.text(min_size=1, max_size=70))
def test_a_name_is_one_file_and_two_names_are_two(one: str, other: str) -> None:
    names = []
    for name in (one, other):
        try:
            names.append(encoded(name))
        except Refused:
            return
    assert all(re.fullmatch(r"(?:[A-Za-z0-9_-]|%[0-9A-F]{2})+", name) for name in names)
    assert (names[0] == names[1]) == (one == other)


@pytest.mark.parametrize("name", ["", " ", "\u200b", "x" * 201, "é" * 100, "a\ud800"])
def test_a_name_that_is_none_is_refused(threads: Threads, name: str) -> None:
    with pytest.raises(Refused):
        threads.append(name, "user", "hello")
    assert not threads.folder.exists()


@pytest.mark.parametrize("text", ["", " \n", "\u200b"])
def test_a_message_that_says_nothing_is_refused(threads: Threads, text: str) -> None:
    with pytest.raises(Refused, match="says nothing"):
        threads.append("t", "user", text)
    assert threads.read("t").messages == ()


def test_half_a_character_is_in_no_message_and_in_no_summary(threads: Threads) -> None:
    with pytest.raises(Refused, match="half a character"):
        threads.append("t", "user", "a\ud800")
    threads.append("t", "user", "whole")
    with pytest.raises(Refused, match="half a character"):
        threads.compact("t", 0, lambda *_: "a\udfff")
    found = threads.read("t")
    assert ([m.content for m in found.messages], found.summary) == (["whole"], None)


# Summaries


def test_a_summary_takes_the_place_of_what_it_holds(threads: Threads) -> None:
    for n in range(1, 13):
        threads.append("t", "user", f"message {n}")
    asked: list[tuple[str | None, list[str]]] = []

    def summarise(so_far: str | None, messages: Sequence[Message]) -> str:
        asked.append((so_far, [f"{m.number}: {m.content}" for m in messages]))
        return f"{len(asked)} summaries"

    assert threads.compact("t", 4, summarise) == 8
    assert threads.compact("t", 4, summarise) == 0
    threads.append("t", "assistant", "message 13")
    threads.append("t", "user", "message 14")
    assert threads.compact("t", 4, summarise) == 2
    assert asked == [
        (None, [f"{n}: message {n}" for n in range(1, 9)]),
        ("1 summaries", [f"{n}: message {n}" for n in (9, 10)]),
    ]
    prepared = threads.prepare("t", 20)
    assert prepared.chat()[0] == {"role": "system", "content": SUMMARISED + "2 summaries"}
    assert [m["content"] for m in prepared.chat()[1:]] == [f"message {n}" for n in (11, 12, 13, 14)]
    assert contents(threads) == [f"message {n}" for n in range(1, 15)], "the messages stay on file"


def test_a_summary_that_fails_or_says_nothing_leaves_the_thread_as_it_was(threads: Threads) -> None:
    threads.append("t", "user", "hello")
    before = file(threads).read_bytes()

    def fails(*_: object) -> str:
        raise Refused("the model is on fire")

    for summarise in (fails, as_given(" "), as_given("")):
        with pytest.raises(Refused):
            threads.compact("t", 0, summarise)
        assert file(threads).read_bytes() == before


def test_what_is_appended_while_a_summary_is_made_is_not_in_it_and_not_lost(threads: Threads) -> None:
    threads.append("t", "user", "one")

    def summarise(*_: object) -> str:
        threads.append("t", "user", "two")
        return "one was said"

    assert threads.compact("t", 0, summarise) == 1
    assert [m["content"] for m in threads.prepare("t", 9).chat()] == [SUMMARISED + "one was said", "two"]


def test_two_summaries_at_once_do_not_overwrite_each_other(threads: Threads) -> None:
    threads.append("t", "user", "one")
    threads.append("t", "user", "two")

    def summarise(*_: object) -> str:
        threads.compact("t", 1, as_given("of the other"))
        return "of mine"

    with pytest.raises(Refused, match="compacted by another process meanwhile"):
        threads.compact("t", 0, summarise)
    assert [m["content"] for m in threads.prepare("t", 9).chat()] == [SUMMARISED + "of the other", "two"]


@given(st.lists(st.tuples(st.sampled_from(["append", "compact"]), st.integers(0, 5)), max_size=25))
def test_every_message_is_in_a_summary_or_in_what_is_prepared(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    root = tmp_path_factory.mktemp("threads")
    Ledger.init(root)
    threads = Threads(Ledger(root, clock=lambda: NOW))
    count = 0

    def summarise(so_far: str | None, messages: Sequence[Message]) -> str:
        """All it was given: a summary that loses nothing shows whether anything was kept from it."""
        return " ".join([so_far or "", *(m.content for m in messages)]).strip()

    for what, keep in steps:
        if what == "append":
            count += 1
            threads.append("t", "user", f"m{count}")
        else:
            open_ = len(threads.read("t").open)
            assert threads.compact("t", keep, summarise) == max(0, open_ - keep)
    found = threads.prepare("t", 1000)
    told = [*(found.summary or "").split(), *(m.content for m in found.messages)]
    assert told == [f"m{n}" for n in range(1, count + 1)]


# Writers side by side, and writers that die

APPENDER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from ledger_cli.ledger import Ledger
from ledger_cli.memory.threads import Threads

threads = Threads(Ledger(Path.cwd(), clock=lambda: datetime.now(UTC)))
name, count = sys.argv[1], int(sys.argv[2])
for n in range(count):
    threads.append("t", "user", f"{name} {n} " + "x" * (n % 7) * 1000)
    print(n, flush=True)
"""


def appender(repo: Repo, name: str, count: int) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", APPENDER, name, str(count)],
        cwd=repo.path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_eight_processes_append_at_once_and_nothing_is_lost(repo: Repo, threads: Threads) -> None:
    writers = [appender(repo, f"w{n}", 25) for n in range(8)]
    while any(w.poll() is None for w in writers):
        threads.compact("t", 10, lambda so_far, taken: f"{so_far or ''}{len(taken)} ")
    for writer in writers:
        out, err = writer.communicate()
        assert (writer.returncode, len(out.splitlines()), err) == (0, 25, "")
    found = [text.split()[:2] for text in contents(threads)]
    for n in range(8):
        assert [int(place) for name, place in found if name == f"w{n}"] == list(range(25))
    assert len(found) == 200
    prepared = threads.prepare("t", 1000)
    summed = sum(map(int, (prepared.summary or "").split()))
    assert summed + len(prepared.messages) == 200


@pytest.mark.parametrize("seed", range(4))
def test_a_writer_that_is_killed_loses_nothing_it_acknowledged(
    repo: Repo, threads: Threads, said: list[str], seed: int
) -> None:
    rng = random.Random(seed)
    writer = appender(repo, "w", 100_000)
    assert writer.stdout is not None
    acknowledged = [int(writer.stdout.readline()) for _ in range(rng.randrange(1, 40))]
    time.sleep(rng.random() / 50)
    writer.send_signal(signal.SIGKILL)
    with writer:
        rest = writer.stdout.read()  # not `communicate`: it knows nothing of lines that `readline` took in advance
    acknowledged += [int(line) for line in rest.split("\n")[:-1]]
    found = [int(text.split()[1]) for text in contents(threads)]
    assert found == list(range(len(found)))
    assert acknowledged == found[: len(acknowledged)]
    assert threads.append("t", "user", "after") == len(found) + 1
    assert contents(threads)[-1] == "after"


def test_half_a_line_does_not_count_is_said_and_is_cut_off(threads: Threads, said: list[str]) -> None:
    threads.append("t", "user", "whole")
    whole = file(threads).read_bytes()
    line = whole
    for cut in (1, len(line) // 2, len(line) - 1):
        file(threads).write_bytes(whole + line[:cut])
        said.clear()
        assert contents(threads) == ["whole"]
        assert said == ["note: thread t: its last line was cut off before its end, and does not count"]
        said.clear()
        assert threads.append("t", "user", "next") == 2
        assert said == ["note: thread t: cut off half a line that a killed writer left"]
        assert contents(threads) == ["whole", "next"]
        file(threads).write_bytes(whole)


@pytest.mark.parametrize(
    "line",
    ["{}", "nope", "[]", "7", '{"role": "robot", "content": "x", "at": "2026-03-02"}', '{"summary": "s", "through": 2}',
     '{"summary": 1, "through": 1}', '{"summary": "s", "through": true}', '{"role": "user", "content": 1, "at": "now"}',
     '{"role": "user", "content": "x", "at": "now"}', "\\xff"],
)  # fmt: skip
def test_a_line_that_no_writer_left_is_named_and_nothing_is_written(threads: Threads, line: str) -> None:
    threads.append("t", "user", "one")
    with file(threads).open("ab") as out:
        out.write(line.encode().replace(b"\\xff", b"\xff") + b"\n")
    before = file(threads).read_bytes()
    for ask in (lambda: threads.read("t"), lambda: threads.append("t", "user", "two")):
        with pytest.raises(Damaged, match=r"t\.jsonl:2: this is no line of a thread"):
            ask()
    assert file(threads).read_bytes() == before


# Beside the store


def test_threads_are_neither_in_git_nor_in_the_checkpoint_and_outlive_the_store(
    repo: Repo, threads: Threads, said: list[str]
) -> None:
    repo.git("add", "-A")
    repo.git("commit", "-qm", "begun")
    (repo.path / ".gitignore").unlink()
    repo.git("commit", "-qam", "nothing is ignored")
    checkpoint = repo.checkpoint.read_bytes()
    threads.append("t", "user", "hello")
    assert repo.git("status", "--porcelain", "-uall") == ""
    repo.run("rebuild")
    repo.apply({"session": "s1", "facts": [{"text": "x"}]})
    repo.run("export")
    assert contents(threads) == ["hello"]
    assert b"hello" not in repo.checkpoint.read_bytes()
    assert checkpoint != repo.checkpoint.read_bytes()
    assert oct(file(threads).stat().st_mode & 0o777) == "0o600", "a conversation is its owner's"


def test_a_prepared_thread_can_be_remembered(repo: Repo, threads: Threads) -> None:
    threads.append("t", "user", "Alice owns it.")
    threads.append("t", "assistant", "Noted.")
    chat, replay = repo.path / "chat.json", repo.path / "r.json"
    chat.write_text(repo.run("thread", "prepare", "t", "--json").out)
    replay.write_text(
        json.dumps({"entities": [], "decisions": [], "facts": [{"text": "Alice owns it.", "about": [], "from": [1]}]})
    )
    repo.run("remember", chat, "--session", "s1", "--replay", replay, "--apply")
    [found] = repo.run("as-of", "now", "--json").json["items"]
    assert found["text"] == "Alice owns it."
    assert datetime.fromisoformat(found["recordedAt"]) == NOW.astimezone(UTC)
