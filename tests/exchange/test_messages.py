"""What is said of files of others: nothing in their names, columns, keys and cells moves the cursor or turns text."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from ledger_cli.exchange import jsonl
from tests.in_memory import Memory

if TYPE_CHECKING:
    from tests.conftest import Repo

HOSTILE = ["\x1b[2J", "\x07", "\x08\x08", "\x7f", "\x9b31m", "\x85", "\u2028", "\u202e", "\u2066", "\u200f", "\ralert"]
ALL = "".join(HOSTILE)
SEEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")

ENTRY: dict[str, Any] = {"decision": "d1", "text": "t", "validFrom": "2024-01-01T00:00:00Z", "session": "s"}
ENTRY["recordedAt"] = "2024-01-01T00:00:00Z"
CSV_HEAD = "entry,id,with,on,text,rationale,slot,about,from,confidence,corrects,kind,mentions,at,validFrom,validTo"
CSV_HEAD += ",reason,recordedAt,by,session"


def table(header: str, *rows: str) -> str:
    return "".join(f"{line}\n" for line in (header, *rows))


def record(**stated: object) -> str:
    return json.dumps(stated, ensure_ascii=False) + "\n"


def whole(*records: dict[str, Any]) -> str:
    return "".join(record(**each) for each in (*records, {"end": "ledger"}))


def files(bad: str) -> dict[str, str]:
    """Files in which `bad` stands wherever something may be said of it, by name and form."""
    cell = '"' + bad + '"'
    exported = [cell if column == "entry" else "" for column in CSV_HEAD.split(",")]
    return {
        "column not read.csv": table(f"text,{cell}", "a,b"),
        "no column text.csv": table(f"{cell},b", "a,b"),
        "column twice.csv": table(f"text,{cell},{cell}", "a,b,c"),
        "means one.csv": table(f"text,{cell}x,Text", "a,b,c"),
        "cells.csv": table("text", f"a,{cell}"),
        "after a quote.csv": table("text", f'"a"{bad}'),
        "cell.csv": table("id,text,validFrom", f"{cell},t,2024-01-01", f"a,{cell},2024-01-01"),
        "date.csv": table("text,validFrom", f"t,{cell}", f"t,2024-01-01T{bad}"),
        "kind.csv": table("text,kind,validFrom", f"t,{cell},2024-01-01"),
        "confidence.csv": table("text,confidence,validFrom", f"t,{cell},2024-01-01"),
        "slot.csv": table("text,slot,about,validFrom", f"t,{cell},{cell},2024-01-01"),
        "supersedes.csv": table("text,supersedes,corrects,validFrom", f"t,{cell},{cell},2024-01-01"),
        "entry.csv": table(CSV_HEAD, ",".join(exported), "end,ledger"),
        "column lost.csv": table(CSV_HEAD.replace("reason", cell), "end,ledger"),
        "key not read.jsonl": record(text="t", **{bad: "x"}),
        "no key text.jsonl": record(**{bad: "x"}),
        "key twice.jsonl": f"{{{json.dumps(bad)}: 1, {json.dumps(bad)}: 2}}\n",
        "raw.jsonl": f'{{"text": "{bad}"}}\n{bad}\n',
        "values.jsonl": record(text=bad, id=bad, validFrom=bad, kind=bad, confidence=bad, about=[bad], slot=[bad]),
        "entry key.jsonl": whole(ENTRY | {bad: "x"}),
        "entry value.jsonl": whole(ENTRY | {"validFrom": bad}, ENTRY | {"about": [bad, bad]}, ENTRY | {"text": bad}),
        "entry id.jsonl": whole(ENTRY | {"decision": bad}, ENTRY | {"session": bad}, ENTRY | {"slot": bad}),
        "entry target.jsonl": whole({"rejects": {bad: "x"}} | {k: ENTRY[k] for k in ("recordedAt", "session")}),
        "sort.jsonl": whole({"decision": "x", "fact": bad} | {k: ENTRY[k] for k in ("recordedAt", "session")}),
        "cut.jsonl": record(**ENTRY | {"text": bad}),
        "not utf-8.csv": "",
    }


def said_plainly(repo: Repo, *words: str) -> str:
    said = repo.run(*words, code=None)
    assert said.code in (0, 1, 2), said
    assert SEEN.search(said.err) is None, said.err
    if "-o" in words and "--json" not in words:  # otherwise it is data
        assert SEEN.search(said.out) is None, said.out
    return said.err


@pytest.mark.parametrize("name", files(""))
@pytest.mark.parametrize("bad", [*HOSTILE, ALL, "x\nfake: y"])
def test_what_stands_in_a_table_is_told_so_that_nothing_obeys_it(repo: Repo, name: str, bad: str) -> None:
    data = files(bad)[name].encode() or b"text\n\xff\n"
    (repo.path / name).write_bytes(data)
    err = said_plainly(repo, "import", name.rpartition(".")[2], name)
    assert not any(line.startswith("fake: ") for line in err.splitlines())


@pytest.mark.parametrize("bad", [*HOSTILE, ALL, "x\nfake: y"])
def test_nor_do_the_names_of_files_and_folders(repo: Repo, bad: str) -> None:
    errs = []
    for name, content in files("x\x1b").items():
        form = name.rpartition(".")[2]
        (repo.path / f"{bad}.{form}").write_bytes(content.encode() or b"text\n\xff\n")
        errs.append(said_plainly(repo, "import", form, f"{bad}.{form}", "--json", "-o", f"new{len(errs)}{bad}.yaml"))
        errs.append(said_plainly(repo, "import", form, f"{bad}.{form}", "-o", f"new{len(errs)}{bad}.yaml"))
        errs.append(said_plainly(repo, "import", form, f"{bad}.{form}"))
    (repo.path / bad).mkdir()
    errs.append(said_plainly(repo, "import", "adr", bad))
    for content in ("# T\n\nDate: 2024-01-01\n\n## Status\n\nAccepted\n", "# T\n", "\x00", "{"):
        (repo.path / bad / f"{len(errs)}{bad}.md").write_text(content)
    errs += [said_plainly(repo, "import", "adr", bad, *more) for more in ((), ("--record-time", "git"))]
    errs.append(said_plainly(repo, "import", "adr", bad, "-o", f"out{bad}"))
    errs.append(said_plainly(repo, "import", "adr", bad, "-o", f"out{bad}"))
    errs.append(said_plainly(repo, "import", "adr", "nowhere" + bad))
    errs.append(said_plainly(repo, "import", "csv", "nowhere" + bad))
    errs.append(said_plainly(repo, "import", "csv", bad))
    errs += [said_plainly(repo, "export", "--format", "adr", "-o", name) for name in (bad, f"snapshots/{bad}")]
    errs.append(said_plainly(repo, "export", "--format", "csv", "-o", f"all{bad}.csv"))
    assert not any(line.startswith("fake: ") for err in errs for line in err.splitlines())
    assert sum(bool(err) for err in errs) > 30


RECORD = """\
---
status: {status}
date: {date}
---

# {title}

## Context

{prose}

## Links

* {link}
"""
FINE = {"status": "accepted", "date": "2024-01-01", "title": "T", "prose": "p", "link": "Supersedes [a](b.md)"}
STATED = {
    "status": ["{}", "accepted {}", "accepted ({})", "superseded by {}", "deprecated {}", "accepted; {}"],
    "date": ["{}", "2024-01-01T{}", "2024-01-01 {}"],
    "title": ["{}", "{{{}}}"],
    "prose": ["this supersedes [x{0}](0099-x{0}.md)"],
    "link": ["Supersedes [x{0}](0099-x{0}.md)", "Amends [x{0}](0099-x{0}.md)", "Supersedes in part [x{0}](x{0}.md)"],
}


@pytest.mark.parametrize("bad", ["\u202e", "\u2066", "\u200f", "\u2028", "\x1b[2J", "\x9b31m"])
def test_nor_does_what_stands_in_a_record(repo: Repo, bad: str) -> None:
    (repo.path / "adr").mkdir()
    count = 0
    for key, values in STATED.items():
        for value in values:
            count += 1
            text = RECORD.format(**FINE | {key: value.format(bad)})
            (repo.path / "adr" / f"{count:04}-a.md").write_text(text)
    err = said_plainly(repo, "import", "adr", "adr")
    assert err.count("\n") > count


def test_nor_does_what_an_export_contradicts(repo: Repo) -> None:
    """Names may hold what turns text around, and so does what is said of two entities of that name."""
    name = f"a{HOSTILE[7]}b{HOSTILE[9]}"
    memory = Memory()
    repo.apply({"session": "k", "at": "2024-01-01", "entities": [{"name": name, "kind": "team"}]})
    memory.apply({"session": "l", "at": "2024-01-01", "entities": [{"name": name, "kind": "service"}]})
    (repo.path / "x.jsonl").write_text(jsonl.write(memory.entries))
    assert "a⟨U+202E⟩b⟨U+200F⟩ has the kind" in said_plainly(repo, "import", "jsonl", "x.jsonl")


@pytest.mark.parametrize("bad", ["o\x1b[31mX", "o\nfake: y", "o\u202ey"])
def test_a_folder_or_file_for_pictures_with_a_hostile_name_is_told_on_one_line(story: Repo, bad: str) -> None:
    for said in (story.run("site", bad), story.run("timeline", "--svg", f"{bad}.svg")):
        told = said.out + said.err
        assert bad not in told
        assert not any(line.startswith("fake") for line in told.splitlines())
