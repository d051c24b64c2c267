"""Faults that users of other tools met, each reduced to a small input: here the right thing happens.

Faults of reading session files and times are in test_session_file.py and test_instant.py, the published examples in
test_cases.py.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Repo

Process = Callable[..., "subprocess.CompletedProcess[str]"]

ROOT = Path(__file__).resolve().parents[1]
NAUGHTY = ROOT / "tests" / "data" / "blns.json"


def one(text: str, **keys: Any) -> dict[str, Any]:
    """A session of one decision `d` with that text, about x."""
    item = {"id": "d", "text": text, "about": ["x"], "validFrom": "2024-01-01", **keys}
    return {"session": "s", "at": "2024-01-02T09:00:00Z", "decisions": [item]}


def link(old: str, new: str) -> dict[str, str]:
    return {"old": old, "new": new}


# Time


@pytest.mark.parametrize("zone", ["America/New_York", "Europe/Berlin"])
def test_the_time_zone_of_the_machine_changes_no_byte_and_no_answer(
    story: Repo, ledger_process: Process, zone: str
) -> None:
    other = story.path.parent / zone.replace("/", "-")
    other.mkdir()
    files = [str(path) for path in sorted((ROOT / "sessions").glob("*.yaml"))]
    assert ledger_process("init", cwd=other, env={"TZ": zone}).returncode == 0
    assert ledger_process("session", "apply", *files, cwd=other, env={"TZ": zone}).returncode == 0
    assert (other / "snapshots" / "ledger.json").read_bytes() == story.checkpoint.read_bytes()
    for asked in (("as-of", "orders", "2024-01-10", "--json"), ("believed", "2024-02-01"), ("lateness",)):
        said = ledger_process(*asked, cwd=other, env={"TZ": zone}, encoding="utf-8")
        assert said.stdout == story.run(*asked).out


def test_an_open_end_is_null_and_never_a_far_date(story: Repo) -> None:
    [d4] = story.run("as-of", "orders", "2024-03-01", "--json").json["items"]
    assert (d4["validTo"], d4["closedAt"]) == (None, None)
    assert d4["holds"] == [["2024-01-10T00:00:00Z", None]]
    said = [story.run(*a).out for a in (("slots", "--json"), ("history", "orders"), ("show", "d4"), ("lateness",))]
    rows = story.run("query", "MATCH (d:Decision) RETURN d ORDER BY d.id", "--json").out
    for text in (*said, rows, story.checkpoint.read_text(encoding="utf-8")):
        assert "9999" not in text
        assert "2200" not in text


def test_the_answer_does_not_depend_on_the_columns_shown(story: Repo) -> None:
    for command in ("as-of", "believed"):
        for day in ("2024-01-05", "2024-01-20", "2024-02-10", "2024-03-05"):
            table = story.run(command, day).out.splitlines()[3:]
            assert [line.split()[0] for line in table] == story.run(command, day, "--json").ids


def test_nothing_comes_back_with_an_end_before_its_start(repo: Repo) -> None:
    """A successor that starts earlier leaves no inverted interval: the old item just never held."""
    items = [{"id": id, "text": id, "validFrom": day} for id, day in (("old", "2024-02-01"), ("new", "2024-01-01"))]
    repo.apply({"session": "s", "at": "2024-02-02", "decisions": items, "supersessions": [link("old", "new")]})
    old = repo.run("show", "old", "--json").json
    assert (old["validFrom"], old["validTo"], old["holds"]) == ("2024-02-01T00:00:00Z", "2024-02-01T00:00:00Z", [])


def test_a_session_of_the_same_clock_as_the_last_is_not_lost(repo: Repo) -> None:
    for id in ("a", "b", "c"):
        decision = {"id": id, "text": id, "slot": "x/y", "validFrom": "2024-01-01"}
        repo.apply({"session": f"s-{id}", "at": "2024-01-01T09:00:00Z", "decisions": [decision]})
    assert repo.run("as-of", "2024-01-01", "--json").ids == ["c"]
    assert sorted(repo.run("lateness", "--json").ids) == ["a", "b", "c"]


# ADR and log tools


def test_superseding_leaves_the_old_text_and_ends_the_file_with_one_newline(repo: Repo) -> None:
    repo.apply(one("the old text\n\n"))
    before = repo.checkpoint.read_text(encoding="utf-8").splitlines()
    new = {"id": "e", "text": "the new text", "supersedes": "d", "validFrom": "2024-02-01"}
    repo.apply({"session": "t", "at": "2024-02-01T09:00:00Z", "decisions": [new]})
    after = repo.checkpoint.read_text(encoding="utf-8")
    assert set(before) <= set(after.splitlines())
    assert after.endswith("\n")
    assert not after.endswith("\n\n")
    assert repo.run("show", "d", "--json").json["text"] == "the old text\n\n"


def test_rejecting_a_successor_reopens_the_old_one_and_says_so(story: Repo) -> None:
    said = story.run("reject", "d7", "--by", "sam", "--reason", "not accepted")
    assert "  reopened   d2  search uses elasticsearch  (holds again)\n" in said.out
    d2 = story.run("show", "d2", "--json").json
    assert (d2["validTo"], d2["closedAt"]) == (None, None)


def test_of_a_chain_only_the_last_one_stands_and_each_names_its_own_successor(repo: Repo) -> None:
    for n in (7, 8, 9):
        item = {"id": f"adr-{n}", "text": f"adr {n}", "about": ["adr"], "validFrom": f"2024-01-0{n}"}
        before = {"supersedes": f"adr-{n - 1}"} if n > 7 else {}
        repo.apply({"session": f"s{n}", "at": f"2024-01-0{n}T09:00:00Z", "decisions": [item | before]})
    assert repo.run("as-of", "adr", "2024-02-01", "--json").ids == ["adr-9"]
    for n in (7, 8):
        [successor] = repo.run("show", f"adr-{n}", "--json").json["supersededBy"]
        assert (successor["new"], successor["live"]) == (f"adr-{n + 1}", True)
    screen = repo.run("history", "adr-7").out
    assert [screen.index(f"adr-{n}  adr {n}") for n in (9, 8, 7)] == sorted(
        screen.index(f"adr-{n}  adr {n}") for n in (7, 8, 9)
    )


def test_a_late_link_closes_at_its_own_clock_and_changes_no_earlier_belief(repo: Repo) -> None:
    items = [{"id": id, "text": id, "validFrom": day} for id, day in (("a", "2024-01-01"), ("b", "2024-01-10"))]
    repo.apply({"session": "s1", "at": "2024-01-10T09:00:00Z", "decisions": items})
    repo.apply({"session": "s2", "at": "2024-06-01T09:00:00Z", "supersessions": [link("a", "b")]})
    a = repo.run("show", "a", "--json").json
    assert (a["validTo"], a["closedAt"]) == ("2024-01-10T00:00:00Z", "2024-06-01T09:00:00Z")
    assert repo.run("believed", "2024-05-31", "--json").ids == ["a", "b"]
    assert repo.run("as-of", "2024-05-31", "--json").ids == ["b"]


# JSON


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"confidence": 0.5', '"confidence": NaN'),
        ('"confidence": 0.5', '"confidence": 1e400'),
        ('"confidence": 0.5', '"confidence": 0.50'),
        ('"text": "one"', '"text": "\\ud800"'),
        ('"text": "one"', '"text": "one", "text": "two"'),
        ('{\n"ledger"', '\ufeff{\n"ledger"'),
    ],
    ids=["NaN", "infinity", "digits", "lone surrogate", "duplicate key", "byte order mark"],
)
def test_json_that_no_writer_of_ours_wrote_is_refused_with_its_line(repo: Repo, old: str, new: str) -> None:
    repo.apply(one("one", confidence=0.5))
    text = repo.checkpoint.read_text(encoding="utf-8")
    assert text.count(old) == 1
    repo.checkpoint.write_text(text.replace(old, new), encoding="utf-8", newline="\n")
    line = text[: text.index(old)].count("\n") + 1
    problems = repo.run("check", "--json", code=3).json["problems"]
    assert line in [problem["line"] for problem in problems if problem["severity"] == "error"]
    said = repo.run("as-of", "2024-02-01", code=3)
    assert said.out == ""
    assert f"line {line}" in said.err
    assert "Traceback" not in said.err


# Terminal

SCREENS = (
    ("as-of", "x", "2024-02-01"),
    ("believed", "x", "2024-02-01"),
    ("believed", "x", "2024-02-01", "--known", "2024-02-01", "--known", "2024-02-02"),
    ("lateness",),
    ("diff", "--from", "2024-01-01", "--to", "2024-02-01"),
    ("history", "x"),
    ("history", "d"),
    ("show", "d"),
    ("search", "--limit", "9", "findme"),
    ("slots",),
    ("query", "MATCH (d:Decision) RETURN d.text AS text"),
    ("session", "show", "s"),
)
SHOWN_AS_IT_IS = {
    "a path in brackets": "see [/x/y]",
    "a closing tag": "see [/model/x] and [/]",
    "a colour in brackets": "use [red] flag [bold]now[/bold]",
    "an emoji code": ":warning: is not :smile:",
    "bidi marks": "left \u202ethgir\u202c \u2067left\u2069 عربي עברית",
    "combining characters": "e\u0301 n\u0303 Z\u0351\u036b\u0343 \u1112\u1161\u11ab",
    "zero widths": "a\u200bb\u200dc\ufeffd",
    "wide and astral": "日本語 👩‍👩‍👧 𝒳",
    "a link in brackets": "[link=https://x.invalid]y[/link]",
    "backslashes": "a\\[b\\]c \\n \\",
    "percent and braces": "%s {0} {{x}} $HOME `id`",
}


@pytest.mark.parametrize("name", SHOWN_AS_IT_IS)
def test_text_is_shown_as_it_is_on_every_screen(repo: Repo, name: str) -> None:
    text = SHOWN_AS_IT_IS[name]
    applied = repo.run("session", "apply", repo.write(one(text, slot="x/y", rationale="findme")))
    assert text in applied.out
    for screen in SCREENS:
        shown = json.dumps(text, ensure_ascii=False) if screen[0] == "session" else text
        assert shown in repo.run(*screen).out, screen


@pytest.mark.parametrize("name", ["a path in brackets", "a colour in brackets", "an emoji code", "backslashes"])
def test_ids_entities_slots_people_and_reasons_are_text_too(repo: Repo, name: str) -> None:
    word = SHOWN_AS_IT_IS[name]
    session = one("a text", slot=word, about=[word]) | {"session": word, "by": word}
    session["decisions"][0]["id"] = word
    session["reviews"] = [{"reject": word, "reason": word}, {"reinstate": word, "reason": "no"}]
    later = {
        "session": "t",
        "at": "2024-01-03",
        "reviews": [{"reinstate": word, "reason": f"sorry {word}"}],
        "by": word,
    }
    repo.apply(session, later)
    for screen in (("as-of", word, "2024-02-01"), ("history", word), ("show", word), ("slots",), ("session", "list")):
        said = repo.run(*screen)
        assert word in said.out, screen
        assert said.err == ""
    assert f"sorry {word}" in repo.run("show", word).out
    assert f"nothing is recorded about {word + '?'!r}" in repo.run("as-of", word + "?", "2024-02-01").err


def test_an_error_shows_text_as_it_is(repo: Repo) -> None:
    assert "error: [red] [/x] :warning: is unknown\n" in repo.run("show", "[red] [/x] :warning:", code=1).err


def naughty() -> list[str]:
    """The published strings that may be a text: not empty, and without control characters but LF and TAB."""
    strings = json.loads(NAUGHTY.read_text(encoding="utf-8"))
    return [
        text
        for text in dict.fromkeys(strings)
        if text.strip() and not any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t" for c in text)
    ]


def test_the_naughty_strings_are_stored_and_shown_as_they_are(repo: Repo) -> None:
    texts = naughty()
    assert len(texts) > 500
    items = [{"id": f"n{n:03}", "text": text, "rationale": "findme"} for n, text in enumerate(texts)]
    repo.apply({"session": "s", "at": "2024-01-01", "decisions": items})
    lines = repo.checkpoint.read_text(encoding="utf-8").split("\n")
    stored = [json.loads(line.removesuffix(",")) for line in lines if line.startswith('{"decision"')]
    assert {item["decision"]: item["text"] for item in stored} == {i["id"]: i["text"] for i in items}
    as_of = repo.run("as-of", "2024-02-01", "--json").json["items"]
    assert {item["id"]: item["text"] for item in as_of} == {i["id"]: i["text"] for i in items}
    for screen in (("as-of", "2024-02-01"), ("search", "findme", "--limit", "600"), ("lateness",)):
        out = repo.run(*screen).out
        assert [text for text in texts if text not in out] == [], screen


def test_each_naughty_string_is_shown_alone_as_it_is(repo: Repo) -> None:
    texts = naughty()[::20]
    items = [{"id": f"n{n:03}", "text": text} for n, text in enumerate(texts)]
    repo.apply({"session": "s", "at": "2024-01-01", "decisions": items})
    for item in items:
        assert repo.run("show", item["id"], "--json").json["text"] == item["text"]
        assert item["text"] in repo.run("show", item["id"]).out


def test_naughty_strings_are_searched_for_as_words(repo: Repo) -> None:
    texts = naughty()[::20]
    repo.apply({"session": "s", "at": "2024-01-01", "decisions": [{"text": text} for text in texts]})
    for text in texts:
        assert repo.run("search", "--json", "--", text).json["words"] == text


LONG = "begin " + "x" * 109 + " end."


def test_a_text_of_120_characters_is_whole_in_a_pipe(
    repo: Repo, ledger_process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(LONG) == 120
    monkeypatch.setenv("COLUMNS", "80")
    repo.apply(one(LONG, slot="x/y", rationale="findme"))
    for screen in SCREENS:
        assert LONG in repo.run(*screen).out, screen
    assert LONG in ledger_process(*SCREENS[0], cwd=repo.path, encoding="utf-8").stdout


@pytest.mark.parametrize(
    "env",
    [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "LANG": "C"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}],
    ids=["ascii", "C", "C without UTF-8 mode"],
)
def test_a_locale_without_utf8_crashes_nothing(repo: Repo, ledger_process: Process, env: dict[str, str]) -> None:
    text = SHOWN_AS_IT_IS["wide and astral"] + SHOWN_AS_IT_IS["bidi marks"]
    repo.apply(one(text, slot="x/y"))
    for screen in (("as-of", "x", "2024-02-01"), ("as-of", "x", "2024-02-01", "--json"), ("history", "x"), ("slots",)):
        said = ledger_process(*screen, cwd=repo.path, env=env, encoding="utf-8")
        assert (said.returncode, said.stderr) == (0, "")
        assert text in said.stdout


@pytest.mark.parametrize("command", [("lateness",), ("lateness", "--json"), ("history", "orders"), ("-h",)])
def test_a_pipe_that_is_closed_early_is_no_traceback(story: Repo, command: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as gone:
        done = subprocess.run(
            [sys.executable, "-m", "ledger_cli", *command],
            cwd=story.path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=gone,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (141, "")


# What people met on the command line.


@pytest.mark.parametrize("word", ["", " ", "\x01", "a\x1b[31m", "<who>"])
@pytest.mark.parametrize("option", ["--by", "--reason"])
def test_what_a_session_file_may_not_say_a_command_may_not_either(story, option, word):
    before = story.checkpoint.read_bytes()
    other = {"--by": ("--reason", "wrong"), "--reason": ("--by", "sam")}[option]
    for verb in (("reject", "d8"), ("end", "d8", "--on", "2024-05-01")):
        said = story.run(*verb, option, word, *other, code=1)
        assert said.err
    assert story.checkpoint.read_bytes() == before
    assert story.run("check").out == "ok\n"


def test_a_name_is_kept_in_its_canonical_form(story):
    story.run("reject", "d8", "--by", "  cafe\u0301  x ", "--reason", "r")
    [review] = story.run("show", "d8", "--json").json["reviews"]
    assert review["by"] == "caf\u00e9 x"
    shutil.rmtree(story.store)
    assert story.run("check").out == "ok\n"


@pytest.mark.parametrize("verb", ["show", "history", "search"])
def test_bytes_that_are_no_utf8_are_a_sentence(story, verb):
    said = story.run(verb, "a\udcff", code=2)
    assert "argument 2 is not UTF-8: b'a\\xff'" in said.err


def test_an_id_is_found_in_any_normal_form(repo):
    repo.apply({"session": "s", "decisions": [{"id": "caf\u00e9", "text": "x"}]})
    assert repo.run("show", "cafe\u0301", "--json").json["id"] == "caf\u00e9"


def test_line_separators_are_shown_as_they_are(repo):
    text = "one long part of a sentence\u2028two long part\u2029three"
    repo.apply(one(text, slot="x/y", rationale="findme"))
    for screen in SCREENS:
        assert text in repo.run(*screen).out, screen


@pytest.mark.parametrize(
    "screen", [("history", "x"), ("show", "d"), ("diff", "--from", "2024-01-01", "--to", "2025-01-01")]
)
def test_the_second_line_of_a_text_stands_under_its_first(repo, screen):
    repo.apply(one("first\nsecond"))
    lines = repo.run(*screen).out.splitlines()
    [at] = [n for n, line in enumerate(lines) if "first" in line]
    assert lines[at + 1].index("second") == lines[at].index("first")


def test_superseding_something_closed_is_reported(repo):
    for n in (7, 8, 9):
        item = {"id": f"a{n}", "text": f"adr {n}", "validFrom": f"2024-01-0{n}"}
        before = {"supersedes": "a7"} if n > 7 else {}
        said = repo.apply({"session": f"s{n}", "at": f"2024-01-0{n}", "decisions": [item | before]})
    [warning] = said.json["sessions"][0]["warnings"]
    assert "a7" in warning
    assert "a8" in warning


def test_a_closed_pipe_is_exit_141(story):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as gone:
        command = [sys.executable, "-m", "ledger_cli", "lateness"]
        done = subprocess.run(command, cwd=story.path, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=gone)
    assert done.returncode == 141


def test_a_text_that_is_a_tag_is_a_text(repo):
    for n, text in enumerate(("<img src=x onerror=alert(1)>", '<a href="x">', "<foo val=`bar' />")):
        repo.apply({"session": f"s{n}", "decisions": [{"text": text}]})


def test_an_unreadable_line_is_one_problem(story):
    text = story.checkpoint.read_text(encoding="utf-8")
    story.checkpoint.write_text(text.replace('{"decision": "d6", ', '{"decision":"d6", '), encoding="utf-8")
    problems = story.run("check", "--json", code=3).json["problems"]
    assert [p["code"] for p in problems] == ["not-canonical"]


def test_a_query_shows_no_python(story):
    out = story.run("query", "MATCH (d:Decision {id: 'd1'}) RETURN d").out
    assert "datetime" not in out
    assert "{'" not in out


def test_a_session_needs_an_id(repo):
    assert "'' is empty; write something" in repo.run("session", "new", "", code=2).err


def test_now_is_shown_to_the_second(story):
    story.now = datetime(2026, 6, 1, 12, 0, 0, 123456, tzinfo=UTC)
    assert ".123456" not in story.run("as-of", "now").out


# Ids that are as long as they may be


def test_a_verdict_on_items_with_the_longest_ids_is_a_session_with_an_id(repo: Repo) -> None:
    old, new = "o" * 200, "n" * 200
    items = [{"id": id, "text": id, "validFrom": "2024-01-01"} for id in (old, new)]
    repo.apply({"session": "s", "at": "2024-01-02", "decisions": items, "supersessions": [link(old, new)]})
    for command in (("reject", old, "--link", new), ("reject", old), ("reinstate", old)):
        repo.run(*command, "--by", "sam", "--reason", "no")
    repo.run("end", new, "--on", "2024-02-01", "--by", "sam")
    ids = [row["session"] for row in repo.run("session", "list", "--json").json["sessions"]]
    assert [id.split("-")[0] for id in ids] == ["s", "reject", "reject", "reinstate", "end"]
    assert max(map(len, ids)) == 200
    assert repo.run("check").out.startswith("ok")


def test_what_is_asked_for_is_not_echoed_without_an_end(repo: Repo) -> None:
    for command in (("show", "x" * 10_000), ("as-of", "x" * 10_000, "now"), ("session", "show", "x" * 10_000)):
        assert len(repo.run(*command, code=None).err) < 200
    assert len(repo.run("as-of", "x" * 10_000, code=2).err) < 400
