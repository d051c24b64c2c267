"""`ledger remember`: what is written where, what is said, and what is refused before anybody is asked."""

from __future__ import annotations

import io
import json
import shlex
import sys
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger_cli import session_file
from ledger_cli.memory import retrying
from ledger_cli.memory.remember import remember
from ledger_cli.memory.replay import Replay
from ledger_cli.memory.transcript import Message
from tests.memory import chat_server
from tests.memory.chat_server import serving

if TYPE_CHECKING:
    from tests.commands.conftest import Golden
    from tests.conftest import Repo

CHAT = [
    {
        "role": "user",
        "content": "Alice hands orders over to Carol, I think.",
        "at": "2024-03-02T09:00:00Z",
        "id": "msg-1",
    },
    {"role": "assistant", "content": "Noted: orders uses mysql."},
    {"role": "user", "content": "We go to sqlite on 1 April: one file, no server.", "at": "2024-03-02T09:05:00Z"},
    {"role": "tool", "content": "read_file CODEOWNERS: orders/ @carol", "at": "2024-03-02T09:06:00Z"},
    {"role": "user", "content": "And orders uses mysql, as ever."},
]
ANSWER = {
    "entities": [
        {"name": "ORDERS", "kind": "service", "from": [1, 3, 5]},
        {"name": "Carol", "kind": "person", "from": [1, 4]},
    ],
    "facts": [
        {
            "text": "Carol owns orders.",
            "slot": "orders/owner",
            "about": ["ORDERS", "carol"],
            "from": [1],
            "confidence": 0.3,
        },
        {"text": "Carol owns orders, by its CODEOWNERS.", "slot": "orders/owner", "about": ["orders"], "from": [4]},
    ],
    "decisions": [
        {"text": "orders uses sqlite", "rationale": "one file, no server", "slot": "orders/database", "from": [3]}
        | {"about": ["orders"], "validFrom": "2024-04-01", "confidence": 0.9},
        {"text": "orders uses mysql", "slot": "orders/database", "about": ["orders"], "from": [5]},
        {"text": "orders keeps mysql", "about": ["orders"], "from": [2]},
    ],
}


@pytest.fixture
def chat(story: Repo) -> Path:
    story.now = story.now.replace(2024, 3, 3)
    path = story.path / "chat.jsonl"
    path.write_text("".join(json.dumps(message) + "\n" for message in CHAT))
    (story.path / "answers.json").write_text(json.dumps(ANSWER))
    return path


FLAGS = ("chat.jsonl", "--session", "s5", "--replay", "answers.json")


def in_repo(story: Repo, *words: str | Path, code: int | None = 0) -> Any:
    return story.run("remember", *words, code=code)


def test_the_file_says_what_was_done_and_why(story: Repo, chat: Path, golden: Golden) -> None:
    said = in_repo(story, *FLAGS, "--by", "memory-agent", "-o", "-")
    golden("remember/session.yaml", said.out)
    golden("remember/said.txt", in_repo(story, *FLAGS, "--by", "memory-agent", "-o", "sessions/s5.yaml").err)
    assert (story.path / "sessions" / "s5.yaml").read_text(encoding="utf-8") == said.out
    golden("remember/check.txt", story.run("session", "check", "sessions/s5.yaml").out)


def test_a_file_that_is_there_stays_unless_it_is_to_be_written_over(story: Repo, chat: Path) -> None:
    file = story.path / "s5.yaml"
    file.write_text("mine")
    said = in_repo(story, *FLAGS, "-o", "s5.yaml", code=1)
    assert said.err.startswith("error: s5.yaml is there already; nothing was written\n")
    assert file.read_text() == "mine"
    in_repo(story, *FLAGS, "-o", "s5.yaml", "--force")
    assert session_file.read_file(file)[0].id == "s5"


@pytest.mark.parametrize(
    ("flags", "what"),
    [
        (("-o", "nowhere/s5.yaml"), "nowhere/s5.yaml cannot be written: there is no such folder"),
        (("-o", "sessions"), "sessions cannot be written: it is a folder"),
        (("-o", "-", "--record", "answers.json"), "answers.json is there already"),
        (("-o", "-", "--session", "session-2"), "session session-2 is recorded already"),
        (("-o", "-", "--session", "x" * 199), "--session: 199 characters; write at most 188"),
        (("-o", "-", "--session", "a\nb"), "holds a control character"),
        (("-o", "-", "--by", "\u200b"), "--by: "),
        (("-o", "-", "--at", "2020-01-01"), "2020-01-01T00:00:00Z"),
        (("-o", "-", "--replay", "none.json"), "none.json: cannot be read: No such file or directory"),
        (("-o", "-", "--replay", "chat.jsonl"), "chat.jsonl: the answer is not JSON"),
        (("-o", "-", "--batch", "1"), "answers.json: extraction 1, of messages 1 to 1: the answer is wrong: "),
    ],
    ids=str,
)
def test_what_cannot_be_is_a_clear_error_and_writes_nothing(
    story: Repo, chat: Path, flags: tuple[str, ...], what: str
) -> None:
    before = {p: p.read_bytes() for p in story.path.rglob("*") if p.is_file() and ".git" not in p.parts}
    said = in_repo(story, *FLAGS, *flags, code=1)
    assert said.out == ""
    assert what in said.err
    assert {p: p.read_bytes() for p in before} == before
    assert not (story.path / "s5.yaml").exists()


def test_a_replay_of_fewer_questions_than_the_chat_needs_says_so(story: Repo, chat: Path) -> None:
    few = {"extractions": [ANSWER | {"facts": [], "decisions": [], "entities": []}]}
    (story.path / "answers.json").write_text(json.dumps(few))
    said = in_repo(story, *FLAGS, "--batch", "2", "-o", "-", code=1)
    assert said.err.startswith("error: answers.json holds 1 extractions, and the chat needs more\n  hint: ")


def test_a_chat_that_cannot_be_read_names_every_line(story: Repo, chat: Path) -> None:
    chat.write_text('{"role": "x", "content": "a"}\n{"role": "user", "content": 1}\n')
    said = in_repo(story, *FLAGS, "-o", "s5.yaml", code=1)
    assert [line.split(": ")[0] for line in said.err.splitlines()] == ["chat.jsonl:1", "chat.jsonl:2"]
    said = in_repo(story, "none.jsonl", *FLAGS[1:], "-o", "s5.yaml", code=1)
    assert said.err == "none.jsonl: cannot be read: No such file or directory\n"
    assert not (story.path / "s5.yaml").exists()


def test_it_reads_stdin(story: Repo, chat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(chat.read_bytes())))
    said = in_repo(story, "-", *FLAGS[1:], "-o", "-")
    assert said.out == in_repo(story, *FLAGS, "-o", "-").out.replace('"chat.jsonl"', '"stdin"')


def test_apply_records_what_the_file_holds(story: Repo, chat: Path) -> None:
    said = in_repo(story, *FLAGS, "-o", "sessions/s5.yaml", "--apply", "--json").json
    assert (said["file"], said["applied"], said["added"]) == (
        "sessions/s5.yaml",
        True,
        ["s5/d1", "s5/f1", "s5/f2"],
    )
    assert said["replaced"] == ["d4"]
    [again] = story.run("session", "apply", "sessions/s5.yaml", "--json").json["sessions"]
    assert again["status"] == "unchanged"
    assert story.run("check", "--json").json["ok"] is True


def test_without_a_file_nothing_is_written_but_by_apply(story: Repo, chat: Path) -> None:
    before = story.checkpoint.read_bytes()
    in_repo(story, *FLAGS, "-o", "sessions/s5.yaml", "--json")
    assert story.checkpoint.read_bytes() == before
    story.run("session", "apply", "sessions/s5.yaml")
    assert story.checkpoint.read_bytes() != before


def test_a_chat_without_news_makes_no_file(story: Repo, chat: Path) -> None:
    in_repo(story, *FLAGS, "--apply")
    said = in_repo(story, "chat.jsonl", "--session", "s6", "--replay", "answers.json", "-o", "s6.yaml")
    assert said.out == ""
    assert said.err.splitlines()[-1] == "nothing new: no session was made"
    assert len(said.err.splitlines()) == len(ANSWER["facts"]) + len(ANSWER["decisions"]) + 1
    assert not (story.path / "s6.yaml").exists()


def test_ids_that_are_taken_are_gone_round(story: Repo, chat: Path) -> None:
    taken = {"session": "other", "facts": [{"id": "s5/f1", "text": "x"}], "decisions": [{"id": "s5/d2", "text": "y"}]}
    story.apply(taken | {"episodes": [{"id": "s5/e3", "kind": "message", "text": "z"}]})
    added = in_repo(story, *FLAGS, "--apply", "--json").json["added"]
    assert added == ["s5/d1", "s5/f2", "s5/f3"]
    assert story.run("show", "s5/d1", "--json").json["from"] == ["s5/e3.2"]
    assert story.run("show", "s5/f2", "--json").json["from"] == ["s5/msg-1"]


def test_of_many_answers_to_one_question_the_last_one_stands(repo: Repo) -> None:
    """Of messages without a time all begin at the session's clock: what was said last has to win, f12 over f2."""
    texts = [f"{name} owns it." for name in "abcdefghijkl"]
    chat, answers = repo.path / "c.jsonl", repo.path / "a.json"
    chat.write_text("".join(json.dumps({"role": "user", "content": text}) + "\n" for text in texts))
    facts = [{"text": t, "slot": "it/owner", "about": ["it"], "from": [n]} for n, t in enumerate(texts, start=1)]
    answers.write_text(json.dumps({"entities": [], "decisions": [], "facts": facts[::-1]}))
    repo.run("remember", chat, "--session", "s", "--replay", answers, "--apply")
    [slot] = repo.run("slots", "--json").json["slots"]
    assert slot["current"]["text"] == texts[-1]


# Vectors


def test_names_and_texts_that_are_near_by_vectors_are_one(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    corolla, old = "toyota corolla hybrid", "the user finds big cars too big"
    vectors = {corolla: [1, 0, 0], "corola hybrid": [0.9, sqrt(1 - 0.81), 0], old: [0, 1, 0]}
    vectors |= {"big cars are too big for the user": [0, 0.96, sqrt(1 - 0.96**2)]}
    repo.apply(
        {
            "session": "s0",
            "at": "2026-01-01",
            "entities": [{"name": corolla, "kind": "car"}],
            "facts": [{"id": "f0", "text": old, "about": ["user"]}],
        }
    )
    chat, answers = repo.path / "c.txt", repo.path / "a.json"
    chat.write_text("Ada: i like the corola hybrid; big cars are too big\n")
    facts = [("the user likes it", ["user", "corola hybrid"]), ("big cars are too big for the user", ["user"])]
    answer = {"facts": [{"text": text, "about": about, "from": [1]} for text, about in facts], "decisions": []}
    answers.write_text(json.dumps(answer | {"entities": [{"name": "corola hybrid", "kind": "car", "from": [1]}]}))

    def embeds(request: chat_server.Request) -> None:
        texts = request.server.asked[-1]["input"]
        rows = [{"index": n, "embedding": vectors.get(text, [0, 0, 1])} for n, text in enumerate(texts)]
        request.send(200, json.dumps({"object": "list", "data": rows, "model": "m"}).encode())

    with serving(embeds) as at:
        flags = ("--embeddings", "endpoint", "--embeddings-url", at.url, "--embeddings-model", "m")
        said = repo.run("remember", chat, "--session", "s1", "--replay", answers, "-o", "-", *flags).out
    assert '# - "corola hybrid" is taken for "toyota corolla hybrid": the nearest "car" (cosine 0.90, at least' in said
    assert f'# - fact "{facts[1][0]}": it repeats f0: "{old}"' in said
    assert "    about: [toyota corolla hybrid, user]\n" in said
    assert "entities:" not in said
    plain = repo.run("remember", chat, "--session", "s1", "--replay", answers, "-o", "-").out
    assert "  - name: corola hybrid\n" in plain
    assert plain.count("  - id: s1/f") == 2


# A command

ANSWERS = """
import json, sys
asked = json.load(sys.stdin)
open("asked.jsonl", "a").write(json.dumps(asked) + chr(10))
if asked["task"] == "judge":
    print(json.dumps({"verdicts": ["new"] * len(asked["pairs"])}))
else:
    print(open("answers.json").read())
"""


def command(story: Repo, program: str) -> str:
    (story.path / "program.py").write_text(program)
    return f"{shlex.quote(sys.executable)} program.py"


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    told: list[float] = []
    monkeypatch.setattr(retrying, "sleep", told.append)
    return told


def test_a_command_is_asked_with_what_is_known_and_answers(story: Repo, chat: Path) -> None:
    flags = (*FLAGS[:3], "--command", command(story, ANSWERS), "-o", "-")
    said = in_repo(story, *flags)
    asked = json.loads((story.path / "asked.jsonl").read_text())
    assert [m["text"] for m in asked["messages"]] == [m["content"] for m in CHAT]
    slots = [(s["slot"], s["current"]["text"]) for s in story.run("slots", "--json").json["slots"]]
    assert [(s["slot"], s["answer"]) for s in asked["slots"]] == slots != []
    assert {e["name"] for e in asked["entities"]} >= {"orders", "payments"}
    assert asked["schema"]["required"] == ["entities", "facts", "decisions"]
    body = said.out.partition("\nsession:")[2]
    assert body == in_repo(story, *FLAGS, "-o", "-").out.partition("\nsession:")[2] != ""


def test_a_command_judges_what_has_no_slot(story: Repo, chat: Path) -> None:
    story.apply({"session": "s4", "facts": [{"id": "x1", "text": "Alice owns orders.", "about": ["orders"]}]})
    facts = [{"text": "Carol owns orders.", "about": ["orders"], "from": [1]}]
    (story.path / "answers.json").write_text(json.dumps({"entities": [], "decisions": [], "facts": facts}))
    in_repo(story, *FLAGS[:3], "--command", command(story, ANSWERS), "--record", "r.json", "--apply")
    assert [[n["text"] for n in c] for c in story.run("history", "x1", "--json").json["chains"]] == [
        ["Carol owns orders.", "Alice owns orders."]
    ]
    recorded = json.loads((story.path / "r.json").read_text())
    assert recorded["judgements"] == [{"old": "Alice owns orders.", "new": "Carol owns orders.", "verdict": "new"}]


@pytest.mark.parametrize(
    ("program", "what"),
    [
        ("raise SystemExit('it broke')", "ended with 1: 'it broke'"),
        ("print('no json')", "the answer is not JSON"),
        ("print('{}')", "the answer is of another shape"),
        ("import sys; sys.stdout.write('x' * 9_000_000)", "more than 8 MiB"),
        ("import os; os.close(0); print('{')", "the answer is not JSON"),
        ("import time; time.sleep(60)", "gave no answer within 0.5 s"),
        (
            "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])",
            "gave no answer within 0.5 s",
        ),
        (
            "import subprocess, sys\n"
            "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(8)'], start_new_session=True)",
            "gave no answer within 0.5 s",
        ),
    ],
)
def test_a_command_that_fails_is_asked_again_and_then_given_up(
    story: Repo, chat: Path, waits: list[float], program: str, what: str
) -> None:
    flags = (*FLAGS[:3], "--command", command(story, program), "--timeout", "0.5", "-o", "s5.yaml")
    said = in_repo(story, *flags, code=1)
    assert waits == [1.0, 2.0, 4.0]
    assert said.err.splitlines()[-1].startswith("error: no answer after 4 tries: ")
    assert what in said.err
    assert not (story.path / "s5.yaml").exists()


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("no-such-program --at all", "cannot be run: No such file or directory"),
        ("'unclosed", "--command: No closing quotation"),
        ("  ", "--command names no command"),
    ],
)
def test_a_command_that_cannot_be_is_a_clear_error(story: Repo, chat: Path, words: str, what: str) -> None:
    said = in_repo(story, *FLAGS[:3], "--command", words, "-o", "s5.yaml", code=1)
    assert what in said.err
    assert not (story.path / "s5.yaml").exists()


# Hostile texts

HOSTILE = [
    "- a: b # c", "# not a comment", "key: value", "'\"`&*!|>%@{}[],?", "a\nb: c\n  # d\n---\n", "w" * 4096,
    "\u202e\u2066 turned \u2069", "no", "null", "~", "1e3", "2024-01-01", "\t tab", "é e\u0301 \U0001f600",
    "\U000e0041x", "\u2028 line", "{{ x }}", "$(rm -rf /)", "a  b   c ", "|", ">-\n x", "\ufeffx",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text)[:24])
def test_a_hostile_text_comes_through_as_it_is(story: Repo, text: str) -> None:
    chat, answers = story.path / "c.json", story.path / "a.json"
    name = " ".join(text.split())[:100]
    chat.write_text(json.dumps([{"role": "user", "content": text}, {"role": "assistant", "content": "x"}]))
    item = {"text": text, "rationale": text, "slot": text, "about": [name], "from": [1]}
    left_out = {"text": text, "about": [name], "from": [2]}
    answer = {"entities": [{"name": name, "kind": text, "from": [1]}], "facts": [item], "decisions": [left_out]}
    answers.write_text(json.dumps(answer))
    file = story.path / "s5.yaml"
    story.run("remember", chat, "--session", "s5", "--replay", answers, "-o", file)
    written = file.read_text(encoding="utf-8")
    assert not any(c in written for c in "\u202e\u2066\u2069\U000e0041\u2028\ufeff"), "what does not show is escaped"
    story.run("session", "apply", file)
    found = story.run("show", "s5/f1", "--json").json
    assert (found["text"], found["rationale"]) == (text, text)
    assert found["evidence"][0]["text"] == text


ANY = st.text(st.characters(exclude_categories=("Cs",)), max_size=40) | st.sampled_from(HOSTILE)
ITEMS = st.fixed_dictionaries(
    {"text": ANY, "about": st.lists(ANY, max_size=2), "from": st.sampled_from([[1], [2], [1, 2]])},
    optional={"slot": ANY, "rationale": ANY, "validFrom": st.sampled_from(["2026-01-01", "soon"]),
              "validTo": st.sampled_from(["2027-01-01", "2020-01-01"]), "confidence": st.floats(0, 1)},
)  # fmt: skip
ANSWERS_OF_ANY = st.fixed_dictionaries(
    {
        "entities": st.lists(st.fixed_dictionaries({"name": ANY, "kind": ANY, "from": st.just([1])}), max_size=3),
        "facts": st.lists(ITEMS, max_size=4),
        "decisions": st.lists(ITEMS, max_size=3),
    }
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answer=ANSWERS_OF_ANY, texts=st.tuples(ANY, ANY))
def test_whatever_a_model_answers_is_a_file_that_can_be_applied(
    story: Repo, answer: dict[str, Any], texts: tuple[str, str]
) -> None:
    from ledger_cli.ledger import Ledger

    ledger = Ledger(story.path, clock=lambda: story.now)
    messages = [Message(1, "user", texts[0] or "x"), Message(2, "assistant", texts[1] or "y", name="A: b")]
    found = remember(
        ledger, messages, Replay(json.dumps(answer).encode(), "a.json"), session="s9", source="c.json\n# x\nfacts: []"
    )
    count = len(answer["facts"]) + len(answer["decisions"])
    if found.session is None:
        assert len(found.left_out) == count
    else:
        assert session_file.read(found.text, "s9.yaml") == (found.session,)
        assert len(found.session.items) + len(found.left_out) == count
        [applied] = ledger.preview([found.session])
        assert applied.status == "applied"
