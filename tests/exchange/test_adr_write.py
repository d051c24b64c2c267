"""One file of MADR an item: text of the ledger is text in it, and what MADR has no place for comes back too."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hostile
import pytest
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from ledger_cli.errors import LedgerError
from ledger_cli.exchange import adr_import, adr_write
from ledger_cli.history import History, state_at
from ledger_cli.model import Entry, Item
from tests.in_memory import Memory, invent

if TYPE_CHECKING:
    from tests.conftest import Repo


def files(*sessions: dict[str, Any]) -> dict[str, str]:
    memory = Memory()
    for n, session in enumerate(sessions, start=1):
        memory.apply({"session": f"s{n}", "at": f"2024-01-0{n}", "by": "sam", **session})
    return adr_write.write(memory.entries)[0]


def again(path: Path, entries: list[Entry]) -> adr_import.Import:
    for name, text in adr_write.write(entries)[0].items():
        (path / name).write_text(text, encoding="utf-8", newline="\n")
    return adr_import.of_folder(path, session="again")


def front(text: str) -> dict[str, Any]:
    found = yaml.load(text.split("---\n")[1], Loader=yaml.BaseLoader)
    assert isinstance(found, dict)
    return found


def test_hostile_texts_come_back_as_they_were(tmp_path: Path) -> None:
    entries = hostile.memory().entries
    found = again(tmp_path, entries)
    assert list(found.listed) == []
    (session,) = found.sessions
    wanted = {e.id: (e.text, e.rationale) for e in entries if isinstance(e, Item)}
    assert {item.id: (item.text, item.rationale) for item in session.items} == wanted


def told(text: str) -> Iterator[Token]:
    """What another reader of Markdown makes of a text: everything allowed, tables as on GitHub."""
    reader = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")
    reader.validateLink = lambda _: True  # type: ignore[method-assign]
    for token in reader.parse(text):
        yield token
        yield from token.children or ()


def is_inert(text: str) -> bool:
    return not any(
        t.type.startswith("html_") or re.match(r"(?i)\s*(?:javascript|vbscript|data):", str(t.attrs.get("href", "")))
        for t in told(text)
    )


def test_no_text_is_a_tag_a_comment_or_a_script_to_a_reader_of_markdown() -> None:
    for text in adr_write.write(hostile.memory().entries)[0].values():
        body = text.split("\n---\n", 1)[1]
        assert is_inert(body), body
        # No text ends before its time: what follows it is still a heading, and the list of links.
        titles = [t.content for t in told(body) if t.type == "inline" and t.level == 1]
        assert titles[-1] == "More Information" or "More Information" in titles, body


FRAGMENTS = (
    *(
        "<script>",
        "</b>",
        "<!-- ",
        "-->",
        "&lt;",
        "`",
        "``",
        "```",
        "~~~",
        "\n",
        "\n\n",
        "- ",
        "> ",
        "1. ",
        "    ",
        "  ",
    ),
    *(
        "| ",
        "|--|\n",
        "\\",
        "[x](",
        "javascript:a",
        ")",
        "]: ",
        "# ",
        "---\n",
        "a ",
        "<a href='`'>",
        "\t",
        "=",
        "<?x",
        "[x]",
    ),
)


@pytest.mark.parametrize("seed", range(40))
def test_no_mixture_of_markdown_gets_a_tag_through_and_every_one_comes_back(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    memory, texts = Memory(), {}
    for n in range(25):
        text = "".join(rng.choice(FRAGMENTS) for _ in range(rng.randrange(3, 30)))
        if text.strip():
            texts[f"d{n}"] = (text, f"{text}\n{text[::-1]}")
    items = [{"id": id, "text": t, "rationale": r, "validFrom": "2024-01-01"} for id, (t, r) in texts.items()]
    try:
        memory.apply({"session": "s", "at": "2024-01-01", "decisions": items})
    except LedgerError:  # a tag alone is a placeholder
        memory.apply(
            {"session": "s", "at": "2024-01-01", "decisions": [i | {"rationale": "x " + i["rationale"]} for i in items]}
        )
    for text in adr_write.write(memory.entries)[0].values():
        assert is_inert(text.split("\n---\n", 1)[1]), text
    (session,) = again(tmp_path, memory.entries).sessions
    assert {i.id: (i.text, i.rationale) for i in session.items} == {
        e.id: (e.text, e.rationale) for e in memory.entries if isinstance(e, Item)
    }


def test_no_text_gets_out_of_the_front_matter() -> None:
    for name, text in adr_write.write(hostile.memory().entries)[0].items():
        assert set(front(text)) <= {"status", "date", "ledger-id", "ledger-text", "ledger-rationale", "ledger-ended"}
        assert front(text)["status"].split(" ")[0] in ("accepted", "deprecated"), name


@pytest.mark.parametrize("seed", range(15))
def test_a_random_ledger_comes_back_as_far_as_records_can_tell(tmp_path: Path, seed: int) -> None:
    entries = invent(seed, 20).entries
    history = History(entries)
    state = state_at(history)
    found = again(tmp_path, entries)
    shown = {}
    for place, versions in history.versions.items():
        item = max(state.in_force(place) or versions, key=lambda i: (i.recorded_at, i.id))
        shown[item.id] = item
    assert len(found.outcomes) == len(shown)
    assert {o.id for o in found.imported} <= shown.keys()
    for outcome in found.listed:  # two links from one item are more than a status can say, and so is what hangs on it
        assert all("supersede" in reason for reason in outcome.reasons), outcome
    for item in [i for s in found.sessions for i in s.items]:
        was = shown[item.id]
        assert (item.kind, item.text, item.rationale, item.slot, item.about or (), item.confidence) == (
            was.kind, was.text, was.rationale, was.slot, was.about, was.confidence)  # fmt: skip
        assert (item.valid_from, item.valid_to) == (was.valid_from, was.valid_to)
    if not found.listed:
        links = {(old, i.id) for s in found.sessions for i in s.items for old in i.supersedes}
        names = {place: item.id for item in shown.values() for place in [history.place[item.id]]}
        assert links == {(names[old], names[new]) for old, news in state.after.items() for new in news}


def test_a_status_says_what_holds(repo: Repo) -> None:
    found = files(
        {
            "decisions": [
                {"id": "a", "text": "A", "validFrom": "2024-01-01"},
                {"id": "b", "text": "B"},
                {"id": "c", "text": "C"},
            ]
        },
        {"decisions": [{"id": "d", "text": "D", "supersedes": "a", "validFrom": "2024-02-01"}]},
        {
            "endings": [{"id": "b", "validTo": "2024-03-01", "reason": "gone"}],
            "reviews": [{"reject": "c", "reason": "no"}],
        },
    )
    assert {name: front(text)["status"] for name, text in found.items()} == {
        "a.md": "superseded by [d](d.md)",
        "b.md": "deprecated since 2024-03-01",
        "c.md": "rejected",
        "d.md": "accepted",
    }
    assert "* Superseded by [D](d.md)" in found["a.md"]
    assert "* Supersedes [A](a.md)" in found["d.md"]
    assert "* Rejected on 2024-01-03 by sam: no" in found["c.md"]
    assert "* An end on 2024-03-01, said by sam: gone" in found["b.md"]


def test_what_was_superseded_for_a_time_is_accepted_and_says_by_what() -> None:
    found = files(
        {"decisions": [{"id": "a", "text": "A", "validFrom": "2024-01-01"}]},
        {
            "decisions": [
                {"id": "b", "text": "B", "supersedes": "a", "validFrom": "2024-02-01", "validTo": "2024-03-01"}
            ]
        },
    )
    assert front(found["a.md"])["status"] == "accepted"
    assert "* Superseded by [B](b.md)" in found["a.md"]
    assert front(found["b.md"])["ledger-valid-to"] == "2024-03-01"


def test_a_rejected_successor_supersedes_nothing() -> None:
    found = files(
        {"decisions": [{"id": "a", "text": "A"}]},
        {"decisions": [{"id": "b", "text": "B", "supersedes": "a"}]},
        {"reviews": [{"reject": "b", "reason": "no"}]},
    )
    assert [front(text)["status"] for text in found.values()] == ["accepted", "rejected"]


def test_a_correction_has_the_file_and_what_it_corrects_is_named() -> None:
    memory = Memory()
    memory.apply({"session": "s1", "at": "2024-01-01", "decisions": [{"id": "a", "text": "A"}]})
    memory.apply({"session": "s2", "at": "2024-01-02", "decisions": [{"id": "b", "text": "B", "corrects": "a"}]})
    found, left_out = adr_write.write(memory.entries)
    assert (list(found), left_out) == (["b.md"], ["a"])
    memory.apply({"session": "s3", "at": "2024-01-03", "by": "sam", "reviews": [{"reject": "b", "reason": "no"}]})
    assert adr_write.write(memory.entries)[1] == ["b"]


def test_a_verdict_on_a_version_says_so_in_the_file_of_its_correction() -> None:
    (text,) = files(
        {"decisions": [{"id": "a", "text": "A"}]},
        {"reviews": [{"reject": "a", "reason": "typo"}]},
        {"decisions": [{"id": "b", "text": "B", "corrects": "a"}]},
        {"reviews": [{"reject": "b", "reason": "no"}, {"reinstate": "a", "reason": "yes"}]},
        {"reviews": [{"reinstate": "b", "reason": "yes"}, {"reject": "a", "reason": "it was one"}]},
    ).values()
    assert "A version before this one: a, recorded on 2024-01-01: A" in text
    assert "Rejected on 2024-01-02 by sam (the version a): typo" in text
    assert "Rejected on 2024-01-04 by sam: no" in text


def test_what_madr_has_no_place_for_stands_in_the_front_matter() -> None:
    (text,) = files(
        {
            "facts": [
                {
                    "id": "s1/f1",
                    "text": "A",
                    "slot": "a: b",
                    "about": ["x, y", "ä"],
                    "confidence": 0.5,
                    "validTo": "2025-01-01",
                }
            ]
        }
    ).values()
    assert front(text) == {
        "status": "accepted",
        "date": "2024-01-01",
        "ledger-kind": "fact",
        "ledger-slot": "a: b",
        "ledger-about": ["x, y", "ä"],
        "ledger-valid-to": "2025-01-01",
        "ledger-confidence": "0.5",
        "ledger-id": "s1/f1",
    }
    assert "* Slot: a: b" in text
    assert "* About: x, y, ä" in text


def test_file_names_are_names_everywhere() -> None:
    ids = [
        "d1",
        "D1",
        "a/b",
        "a:b",
        "../../etc/passwd",
        "con",
        "COM1.x",
        "ä",
        "日本",
        ".hidden",
        "-",
        "x" * 200,
        "a b",
        "nul",
    ]
    found = files({"decisions": [{"id": id, "text": id} for id in ids]})
    assert len(found) == len(ids)
    assert len({name.casefold() for name in found}) == len(ids)
    for name in found:
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*\.md", name), name
        assert name.split(".")[0].casefold() not in ("con", "nul", "com1")
    assert {"d1.md", "D1-2.md", "a-b.md"} <= set(found) or {"D1.md", "d1-2.md"} <= set(found)


def test_the_file_reads_as_a_person_would_write_it(story: Repo) -> None:
    out = story.path.parent / "adr"
    said = story.run("export", "--format", "adr", "-o", out)
    assert said.out == f"wrote {out}: 8 records\n"
    assert (out / "d4.md").read_text(encoding="utf-8").split("\n") == [
        "---",
        "status: accepted",
        "date: 2024-01-10",
        'ledger-slot: "orders/database"',
        'ledger-about: ["orders"]',
        "---",
        "",
        "# orders uses mysql",
        "",
        "## More Information",
        "",
        "* Supersedes [orders uses postgres](d1.md)",
        "* Slot: orders/database",
        "* About: orders",
        "* Recorded on 2024-02-01 in session session-2",
        "",
    ]


def test_an_early_year_keeps_its_zeros(tmp_path: Path) -> None:
    memory = Memory()
    item = {"id": "d1", "text": "x", "validFrom": "0001-01-01"}
    memory.apply({"session": "s", "at": "0900-01-02", "by": "sam", "decisions": [item]})
    memory.apply({"session": "t", "at": "0901-01-02", "by": "sam", "reviews": [{"reject": "d1", "reason": "no"}]})
    (text,) = adr_write.write(memory.entries)[0].values()
    assert "date: 0001-01-01\n" in text
    assert "Recorded on 0900-01-02 in" in text
    assert "Rejected on 0901-01-02 by" in text
