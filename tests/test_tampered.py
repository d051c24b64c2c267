"""A corpus of files that no session could have left: `check` refuses each, by a code and by the line that is wrong.

Each row changes the checkpoint that HEAD holds, in a real repository, as a hand, an editor, a script or a merge would.
The line to be named follows from the change: where it is made is where it must be found.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.conftest import ROOT, Repo

MORE: tuple[dict[str, Any], ...] = (
    {
        "session": "talk-1",
        "at": "2024-03-04T09:00:00Z",
        "by": "ada",
        "entities": [{"name": "Café", "kind": "team"}],
        "episodes": [
            {"id": "e1", "kind": "message", "text": "the café team reads orders", "mentions": ["Café", "orders"]},
            {"id": "e2", "kind": "message", "text": "nothing came of this one"},
        ],
        "facts": [{"id": "f1", "text": "Café reads orders", "about": ["Café", "orders"], "from": "e1",
                   "confidence": 0.9, "validFrom": "2024-03-01", "validTo": "2024-12-01"}],
        "decisions": [
            {"id": "u1", "text": "write \"plain\" logs", "rationale": "they are read by people", "about": ["orders"]},
            {"id": "u2", "text": "write logs as JSON", "about": ["orders"]},
            {"id": "u3", "text": "keep logs for 30 days", "about": ["orders"]},
        ],
    },
    {"session": "talk-2", "at": "2024-03-05T09:00:00Z", "by": "ada",
     "decisions": [{"id": "d9", "text": "payments retries failed charges 5 times", "corrects": "d5"},
                   {"id": "u4", "text": "keep logs for 90 days", "corrects": "u3"}]},
    {"session": "talk-3", "at": "2024-03-06T09:00:00Z", "by": "ada", "supersessions": [{"old": "u1", "new": "u2"}]},
    {"session": "talk-4", "at": "2024-03-07T09:00:00Z", "by": "ada",
     "endings": [{"id": "f1", "validTo": "2024-06-01"}]},
    {"session": "talk-5", "at": "2024-03-08T09:00:00Z", "by": "sam", "reviews": [
        {"reject": {"old": "u1", "new": "u2"}, "reason": "they live side by side"}, {"reject": "d3", "reason": "no"}]},
    {"session": "talk-6", "at": "2024-03-09T09:00:00Z", "by": "sam", "reviews": [{"reinstate": "d3", "reason": "yes"}]},
)  # fmt: skip
"""What the story lacks: unslotted items, episodes, corrections, a late link, an ending, verdicts of each kind."""


@dataclass
class File:
    """The checkpoint that HEAD holds, as lines with their ends, and the repository it lies in."""

    lines: list[bytes]
    repo: Repo

    def find(self, start: str, then: str = "") -> int:
        """Which line starts so (and holds `then`): its index. There is one, or the row is wrong."""
        found = [n for n, each in enumerate(self.lines) if each.startswith(start.encode()) and then.encode() in each]
        assert len(found) == 1, (start, then, found)
        return found[0]

    def edit(self, start: str, old: str, new: str, then: str = "") -> int:
        """Replace text in one line; the number of the line."""
        n = self.find(start, then)
        assert self.lines[n].count(old.encode()) == 1, (self.lines[n], old)
        self.lines[n] = self.lines[n].replace(old.encode(), new.encode())
        return n + 1

    def insert(self, n: int, *new: str) -> int:
        """Put lines before the one with index `n`; the number of the first of them."""
        self.lines[n:n] = [each.encode() + b"\n" for each in new]
        return n + 1


class Was(int):
    """The number of a line in the base: it is gone, so the sentence names it; its place is what followed it."""

    there: int

    @classmethod
    def at(cls, number: int, file: File) -> Was:
        """Of a file from which the line of that number was taken out."""
        was = cls(number)
        entries = [n for n, each in enumerate(file.lines, 1) if each.startswith(b'{"')]
        was.there = next((n for n in entries if n >= number), entries[-1])
        return was


Change = Callable[[File], int]


@dataclass(frozen=True)
class Row:
    change: Change
    code: str
    in_index: str | None  # the code for what is staged; None: `text eol=lf` takes the damage out


ROWS: dict[str, Row] = {}


def row(name: str, code: str, change: Change, *, in_index: str | None = "") -> None:
    assert name not in ROWS
    ROWS[name] = Row(change, code, code if in_index == "" else in_index)


def edit(name: str, code: str, start: str, old: str, new: str, then: str = "") -> None:
    """Text replaced in the line that starts so and holds `then`: that line is wrong."""
    row(name, code, lambda f: f.edit(start, old, new, then))


def drop(name: str, start: str, then: str = "") -> None:
    """A line of the base taken out."""

    def change(f: File) -> int:
        n = f.find(start, then)
        del f.lines[n]
        return Was.at(n + 1, f)

    row(name, "rewritten", change)


def add(name: str, code: str, after: str, new: str, then: str = "") -> None:
    """A line put in below another: the new one is wrong."""
    row(name, code, lambda f: f.insert(f.find(after, then) + 1, new))


def rest(**keys: Any) -> str:
    """The end of a line: its time, its session and the comma."""
    at = keys.pop("at", "2024-04-01T09:00:00Z")
    return f'"recordedAt": "{at}", "session": "{keys.pop("session", "forged")}"}},'


D1, D4, D6, D8 = (f'{{"decision": "{id}"' for id in ("d1", "d4", "d6", "d8"))
F1, U1, U2, U4 = '{"fact": "f1"', '{"decision": "u1"', '{"decision": "u2"', '{"decision": "u4"'

# What was recorded says something else

edit("an edited text", "rewritten", D1, "postgres", "sqlite")
edit("an edited rationale", "rewritten", U1, "by people", "by nobody")
edit("an edited text of an episode", "rewritten", '{"episode": "e1"', "team reads", "team writes")
edit("a rejected item's edited text", "rewritten", D6, "redis", "valkey")
edit("a moved validFrom", "rewritten", D4, "2024-01-10T", "2024-01-11T")
edit("a moved validTo", "rewritten", F1, "2024-12-01T", "2024-11-01T")
edit("a validTo taken away", "rewritten", F1, '"validTo": "2024-12-01T00:00:00Z", ', "")
edit("a validTo put in", "rewritten", D1, ', "recordedAt"', ', "validTo": "2025-01-01T00:00:00Z", "recordedAt"')
edit("a moved recordedAt of a session's only line", "rewritten", '{"ends": "f1"', "03-07T09", "03-07T10")
edit("a moved recordedAt of one line of a session", "two-clocks", D8, "02-20T09", "02-20T10")
edit("an item given to another session", "rewritten", D4, '"session": "session-2"', '"session": "session-4"')
edit("an author put in", "rewritten", D4, '"session": "', '"by": "eve", "session": "')
edit("another author", "rewritten", U1, '"by": "ada"', '"by": "eve"')
edit("another entity", "rewritten", D1, '"about": ["orders"]', '"about": ["search"]')
edit("another confidence", "rewritten", F1, "0.9", "0.8")
edit("evidence taken away", "rewritten", F1, '"from": ["e1"], ', "")
edit("another kind of entity", "rewritten", '{"entity": "search"', "service", "team")
edit("another reason of a verdict", "rewritten", '{"rejects": "d6"', "fast enough", "slow enough")
edit("another judge", "rewritten", '{"rejects": "d6"', '"by": "sam"', '"by": "eve"')
edit("a verdict turned round", "rewritten", '{"rejects": "d6"', '{"rejects"', '{"reinstates"')
edit("a verdict on another item", "wrong-place", '{"rejects": "d6"', '"d6", "by"', '"d8", "by"')
edit("a moved ending", "rewritten", '{"ends": "f1"', "2024-06-01T", "2024-07-01T")
edit("a decision made a fact", "rewritten", D6, '{"decision"', '{"fact"')
edit("a link turned round", "session-grew", '{"supersedes": "d1"', '"d1", "with": "d4"', '"d4", "with": "d1"')
edit("a correction of another item", "across-slots", '{"decision": "d9"', '"corrects": "d5"', '"corrects": "d2"')
edit("a correction made an item of its own", "two-current", '{"decision": "d9"', '"corrects": "d5", ', "")
edit("an item in another slot", "wrong-place", D8, '"slot": "payments/region"', '"slot": "payments/zone"')

# What was recorded is gone

drop("a dropped item", D6)
drop("a dropped item that a link names", D4)
drop("a dropped verdict on an item", '{"rejects": "d6"')
drop("a dropped verdict on a link", '{"rejects": {"supersedes"')
drop("a dropped reinstatement", '{"reinstates"')
drop("a dropped link", '{"supersedes": "d1"')
drop("a dropped late link", '{"supersedes": "u1"')
drop("a dropped ending", '{"ends": "f1"')
drop("a dropped correction", '{"decision": "d9"')
drop("a dropped episode that is cited", '{"episode": "e1"')
drop("a dropped episode that nobody cites", '{"episode": "e2"')
drop("a dropped kind", '{"entity": "orders"')


def _without_a_group(f: File) -> int:
    first, last = f.find('"slot search/engine'), f.find('"end of slot search/engine')
    del f.lines[first : last + 1]
    return Was.at(first + 2, f)


row("a dropped group", "rewritten", _without_a_group)

# What no session wrote

add("a forged link to nothing", "unknown-id", D8, '{"supersedes": "d8", "with": "d99", ' + rest())
add(
    "a forged link from another slot",
    "across-slots",
    '{"supersedes": "d1"',
    '{"supersedes": "d4", "with": "d7", ' + rest(),
)
add("a forged link across kinds", "across-kinds", '{"rejects": {"s', '{"supersedes": "u2", "with": "f1", ' + rest())
add(
    "a link within one place",
    "link-in-place",
    '{"rejects": {"s',
    '{"supersedes": "u3", "with": "u4", ' + rest(),
)
add(
    "a forged link under a known session",
    "session-grew",
    U2,
    '{"supersedes": "u2", "with": "u3", ' + rest(at="2024-03-06T09:00:00Z", session="talk-3"),
)
add(
    "a link older than its items",
    "too-early",
    '"slot payments/region',
    '{"supersedes": "d3", "with": "d8", ' + rest(at="2023-01-01T09:00:00Z"),
)
add(
    "a cycle",
    "cycle",
    '{"supersedes": "d1"',
    '{"supersedes": "d4", "with": "d1", ' + rest(),
)
add(
    "a verdict on nothing",
    "unknown-id",
    '{"rejects": "d6"',
    '{"rejects": "d99", "by": "eve", "reason": "r", ' + rest(),
)
add(
    "a verdict on a link that is not",
    "unknown-target",
    '{"supersedes": "d1"',
    '{"rejects": {"supersedes": "d4", "with": "d1"}, "by": "eve", "reason": "r", ' + rest(),
)
add(
    "a verdict on an ending that is not",
    "unknown-target",
    '{"rejects": "d6"',
    '{"rejects": {"ends": "d6"}, "by": "eve", "reason": "r", ' + rest(),
)
add(
    "a forged verdict under a known session",
    "session-grew",
    '{"rejects": "d6"',
    '{"reinstates": "d6", "by": "sam", "reason": "r", ' + rest(at="2024-03-09T09:00:00Z", session="talk-6"),
)
add(
    "a verdict older than its item",
    "too-early",
    '"session session-3": [',
    '{"rejects": "d6", "by": "eve", "reason": "r", ' + rest(at="2023-01-01T09:00:00Z"),
)
add(
    "an ending before the start",
    "ends-before-start",
    '{"ends": "f1"',
    '{"ends": "f1", "validTo": "2024-02-01T00:00:00Z", "by": "eve", ' + rest(),
)
add("an ending of nothing", "unknown-id", '{"rejects": "d6"', '{"ends": "d99", "validTo": "2024-05-01T00:00:00Z", '
    '"by": "eve", ' + rest())  # fmt: skip
add(
    "a session that gained a line",
    "session-grew",
    D6,
    '{"decision": "d99", "text": "t", "validFrom": "2024-02-06T00:00:00Z", '
    + rest(at="2024-02-06T09:00:00Z", session="session-3"),
)
add(
    "a session minted twice, with another clock",
    "two-clocks",
    '{"decision": "d9"',
    '{"ends": "d9", "validTo": "2024-05-01T00:00:00Z", "by": "eve", ' + rest(session="session-2"),
)
add(
    "an id again, with other content",
    "duplicate-id",
    '{"supersedes": "d1"',
    '{"decision": "d1", "text": "orders uses sqlite", "slot": "orders/database", '
    '"validFrom": "2023-01-01T00:00:00Z", "validTo": "2023-02-01T00:00:00Z", ' + rest(),
)
add(
    "an id again, with the same content",
    "duplicate-id",
    '{"supersedes": "d3"',
    '{"decision": "d3", "text": "payments runs in eu-west-1", "slot": "payments/region", '
    '"about": ["eu-west-1", "payments"], "validFrom": "2024-01-01T00:00:00Z", ' + rest(),
)
add(
    "an episode's id again, with other content",
    "duplicate-id",
    '{"episode": "e2"',
    '{"episode": "e2", "kind": "message", "text": "quite another", '
    + rest(at="2024-03-04T09:00:00Z", session="talk-1"),
)
add(
    "an item corrected twice",
    "corrected-twice",
    '{"decision": "d9"',
    '{"decision": "d99", "text": "never", "slot": "payments/retries", "corrects": "d5", '
    '"validFrom": "2024-02-01T00:00:00Z", ' + rest(),
)
add(
    "a second answer in a slot",
    "two-current",
    '{"supersedes": "d1"',
    '{"decision": "d99", "text": "orders uses sqlite", "slot": "orders/database", '
    '"validFrom": "2024-03-01T00:00:00Z", ' + rest(),
)
add(
    "a correction of nothing",
    "unknown-id",
    '{"supersedes": "d1"',
    '{"decision": "d99", "text": "t", "slot": "orders/database", "corrects": "d98", '
    '"validFrom": "2024-03-01T00:00:00Z", "validTo": "2024-03-02T00:00:00Z", ' + rest(),
)
add(
    "evidence that is not there",
    "unknown-id",
    '{"supersedes": "d3"',
    '{"decision": "d99", "text": "t", "slot": "payments/region", "from": ["e99"], '
    '"validFrom": "2023-03-01T00:00:00Z", "validTo": "2023-03-02T00:00:00Z", ' + rest(),
)


add(
    "an entity of two kinds",
    "two-kinds",
    '"session session-4": [',
    '{"entity": "Orders", "kind": "team", ' + rest(at="2024-02-20T09:00:00Z", session="session-4"),
)

# The same lines, otherwise


def _twice(f: File) -> int:
    n = f.find(D6)
    f.lines.insert(n, f.lines[n])
    return n + 2


def _swapped(f: File) -> int:
    n = f.find(D1)
    f.lines[n : n + 2] = reversed(f.lines[n : n + 2])
    return n + 2


def _groups_swapped(f: File) -> int:
    first, second, end = (f.find(f'"slot {name}') for name in ("payments/region", "payments/retries", "search/engine"))
    f.lines[first:end] = f.lines[second:end] + f.lines[first:second]
    return first + 1 + (end - second)


def _group_twice(f: File) -> int:
    first, last = f.find('"slot search/engine'), f.find('"end of slot search/engine')
    f.lines[last + 1 : last + 1] = f.lines[first : last + 1]
    return last + 2


def _group_in_two(f: File) -> int:
    n = f.find(D4)
    return f.insert(n, '"end of slot orders/database"],', '"slot orders/database": [') + 1


def _foreign(f: File) -> int:
    line = f.lines.pop(f.find(D6))
    n = f.find('{"decision": "d5"') + 1
    f.lines.insert(n, line)
    return n + 1


def _out_of_groups(f: File) -> int:
    line = f.lines.pop(f.find(D6))
    n = f.find('"slot payments/region')
    f.lines.insert(n, line)
    return n + 1


def _after_the_end(f: File) -> int:
    f.lines.append(f.lines.pop(f.find(D6)))
    return len(f.lines)


row("a line twice", "duplicate-line", _twice)
row("lines in another order", "wrong-order", _swapped)
row("groups in another order", "wrong-order", _groups_swapped)
row("a group twice, with the same lines", "duplicate-group", _group_twice)
row("a group in two parts", "duplicate-group", _group_in_two)
row("an entry in a foreign group", "wrong-place", _foreign)
row("an entry outside of any group", "wrong-place", _out_of_groups)
row("an entry after the end", "wrong-place", _after_the_end)
edit("a wrong closing line", "not-canonical", '"end of slot orders/database', "database", "base")
row("an empty group", "not-canonical", lambda f: f.insert(
    f.find('"slot search/engine'), '"slot q": [', '"end of slot q"],') + 1)  # fmt: skip


def _unclosed(f: File) -> int:
    n = f.find('"end of slot payments/region')
    del f.lines[n]
    return n + 1


row("a group without its closing line", "not-canonical", _unclosed)

# The same content in other bytes

edit("two spaces", "not-canonical", D1, '"text": ', '"text":  ')
edit("no spaces", "not-canonical", D1, '", "text": ', '","text":')
edit("an indented line", "not-canonical", D1, '{"decision"', '  {"decision"')
edit("a space at the end of a line", "not-canonical", D1, "},", "}, ")
edit("keys in another order", "not-canonical", '{"supersedes": "d1"', '"supersedes": "d1", "with": "d4"',
     '"with": "d4", "supersedes": "d1"')  # fmt: skip
edit("a needless escape", "not-canonical", '{"entity": "Caf', "é", "\\u00e9")
edit("an escaped slash", "not-canonical", D1, "orders/database", "orders\\/database")
edit("a number in another form", "not-canonical", F1, "0.9,", "0.90,")
edit("a number as a string", "not-canonical", F1, "0.9,", '"0.9",')
edit("a confidence that is no number", "not-canonical", F1, "0.9,", "NaN,")
edit("a confidence beyond one", "not-canonical", F1, "0.9,", "1.5,")
edit("a time with an offset", "not-canonical", D1, "2024-01-01T00:00:00Z", "2024-01-01T01:00:00+01:00")
edit("a time with a needless fraction", "not-canonical", D1, "T00:00:00Z", "T00:00:00.000Z")
edit("a day for a time", "not-canonical", D1, "2024-01-01T00:00:00Z", "2024-01-01")
edit("a day that is not", "not-canonical", D1, "2024-01-01T00:00:00Z", "2024-02-30T00:00:00Z")
edit("a list that is not sorted", "not-canonical", D8, '"payments", "us-east-1"', '"us-east-1", "payments"')
edit("one value without its list", "not-canonical", D1, '["orders"]', '"orders"')
edit("null for what is absent", "not-canonical", D1, ', "slot"', ', "rationale": null, "slot"')
edit("an unknown key", "not-canonical", D1, ', "validFrom"', ', "status": "done", "validFrom"')
edit("a key twice", "not-canonical", D1, '"text": ', '"text": "a", "text": ')
edit("a missing key", "not-canonical", D1, ', "session": "session-1"', "")
edit("a control character", "not-canonical", D1, "uses", "us\x07es")
edit("an escaped control character", "not-canonical", D1, "uses", "us\\u0007es")
edit("a lone surrogate", "not-canonical", D1, "uses", "us\\ud800es")
edit("a name that is not NFC", "not-canonical", '{"entity": "Caf', "Café", "Cafe\u0301")
edit("a slot with white space that is not collapsed", "not-canonical", D1, "orders/database", "orders /  database")
edit("an empty id", "not-canonical", D6, '"d6"', '""')
edit("a comma too few", "not-canonical", D1, "},", "}")
edit("a line that is no entry", "not-canonical", D6, '{"decision": "d6", ', '{"note": "d6", ')
add("a comment", "not-canonical", D1, "// postgres, for now")
add("an empty line", "not-canonical", D1, "")


def _invalid_utf8(f: File) -> int:
    n = f.find(D1)
    f.lines[n] = f.lines[n].replace(b"postgres", b"post\xffgres")
    return n + 1


def _bom(f: File) -> int:
    f.lines[0] = b"\xef\xbb\xbf" + f.lines[0]
    return 1


def _crlf_from(start: str) -> Change:
    def change(f: File) -> int:
        n = f.find(start)
        f.lines[n:] = [each.replace(b"\n", b"\r\n") for each in f.lines[n:]]
        return n + 1

    return change


def _reindented(f: File) -> int:
    f.lines[:] = [json.dumps(json.loads(b"".join(f.lines)), indent=2, ensure_ascii=False).encode() + b"\n"]
    return 2


def _minified(f: File) -> int:
    f.lines[:] = [json.dumps(json.loads(b"".join(f.lines)), ensure_ascii=False).encode() + b"\n"]
    return 1


row("invalid UTF-8", "not-canonical", _invalid_utf8)
row("a byte order mark", "not-canonical", _bom)
row("CRLF in the second part", "not-canonical", _crlf_from(D1), in_index=None)
row("the file indented", "format", _reindented)
row("the file on one line", "format", _minified)

# The file as a whole


def _cut(start: str, keep: int) -> Change:
    """The file ends `keep` bytes into a line; with 0, behind the line before, which is the last there is."""

    def change(f: File) -> int:
        n = f.find(start)
        f.lines[n:] = [f.lines[n][:keep]] if keep else []
        return n + 1 if keep else n

    return change


def _no_end(f: File) -> int:
    f.lines[-1] = f.lines[-1].rstrip(b"\n")
    return len(f.lines)


def _replaced(by: bytes, line: int) -> Change:
    def change(f: File) -> int:
        f.lines[:] = [by]
        return line

    return change


row("cut off in an entry", "truncated", _cut(D4, 40))
row("cut off behind an entry", "truncated", _cut(D4, 0))
row("cut off behind a group", "truncated", _cut('"slot search/engine', 0))
row("cut off before the end", "truncated", _cut('"end": "ledger"', 0))
row("cut off in the first lines", "truncated", _cut('"ledger": 1', 5))
row("without the last line", "truncated", _cut("}", 0))
row("without the last line end", "not-canonical", _no_end)
row("an empty file", "format", _replaced(b"", 1))
row("another JSON file", "format", _replaced(b'{"name": "ledger"}\n', 1))
row("a file that is no JSON", "format", _replaced(b"# What we decided\n", 1))
edit("a newer format", "format", '"ledger": 1', "1", "2")
edit("a format that never was", "format", '"ledger": 1', "1", "0")
row("a text after the end", "not-canonical", lambda f: f.insert(len(f.lines), "signed: sam"))
row("a second file after the end", "not-canonical", lambda f: (f.lines.extend(f.lines), len(f.lines) // 2 + 1)[1])

# What merges leave


def _merged(f: File, driver: str, *options: str, **sessions: dict[str, Any]) -> None:
    """What stock git leaves of two branches of a session each, `side` merged into `main`."""
    repo = f.repo
    (repo.path / ".git" / "info" / "attributes").write_text(f"snapshots/ledger.json merge={driver}\n")
    repo.git("branch", "side")
    for branch, session in sessions.items():
        repo.git("checkout", "-q", branch)
        repo.apply({"at": "2024-04-01T09:00:00Z", **session})
        repo.git("add", "-A")
        repo.git("commit", "-qm", branch)
    merge = ["git", *options, "merge", "--no-commit", "--no-ff", "side"]
    subprocess.run(merge, cwd=repo.path, capture_output=True, check=False)
    f.lines[:] = repo.checkpoint.read_bytes().splitlines(keepends=True)


def _answer(name: str, slot: str = "search/engine") -> dict[str, Any]:
    return {"session": f"on-{name}", "decisions": [{"id": name, "text": f"{name} answers", "slot": slot}]}


def _last_answer(f: File) -> int:
    return max(f.find('{"decision": "ours"'), f.find('{"decision": "theirs"')) + 1


def _union(f: File) -> int:
    _merged(f, "union", side=_answer("theirs"), main=_answer("ours"))
    return _last_answer(f)


def _conflict(style: str) -> Change:
    def change(f: File) -> int:
        options = ("-c", f"merge.conflictStyle={style}")
        _merged(f, "text", *options, side=_answer("theirs"), main=_answer("ours"))
        assert any(each.startswith(b"|||||||") for each in f.lines) is (style == "diff3")
        return f.find("<<<<<<<") + 1

    return change


def _both_kept(f: File) -> int:
    _conflict("merge")(f)
    f.lines[:] = [each for each in f.lines if not each.startswith((b"<<<<<<<", b"=======", b">>>>>>>"))]
    return _last_answer(f)


def _one_id(f: File) -> int:
    side, main = _answer("ours", "a"), _answer("ours", "z") | {"session": "main"}
    _merged(f, "text", side=side, main=main)
    return f.find('{"decision": "ours"', '"slot": "z"') + 1


def _one_session(f: File) -> int:
    side, main = _answer("theirs", "a"), _answer("ours", "z")
    _merged(f, "text", side=side | {"session": "twin"}, main=main | {"session": "twin"})
    return f.find('{"decision": "theirs"') + 1


row("git's union merge of two answers", "two-current", _union)
row("conflict markers", "conflict-marker", _conflict("merge"))
row("conflict markers with the base", "conflict-marker", _conflict("diff3"))
row("both sides of a conflict kept by hand", "two-current", _both_kept)
row("an id that both branches gave, in two slots", "duplicate-id", _one_id)
row("a session id that both branches gave", "session-twice", _one_session)


@pytest.fixture(scope="module")
def made() -> list[bytes]:
    """The checkpoint of the corpus, once there is one."""
    return []


@pytest.fixture
def file(repo: Repo, made: list[bytes]) -> File:
    """The corpus's ledger, committed."""
    if not made:
        repo.run("session", "apply", *sorted((ROOT / "sessions").glob("*.yaml")))
        repo.apply(*MORE)
        for each in (repo.path / "sessions").glob("*.json"):
            each.unlink()
        made.append(repo.checkpoint.read_bytes())
    repo.checkpoint.write_bytes(made[0])
    repo.git("add", "-A")
    repo.git("commit", "-qm", "The ledger")
    assert repo.run("check", "--base", "HEAD").out == "ok\n"
    return File(made[0].splitlines(keepends=True), repo)


def names(problems: list[dict[str, Any]], code: str, line: int) -> bool:
    """Whether an error of this code names this line."""
    errors = [p for p in problems if p["code"] == code and p["severity"] == "error"]
    if isinstance(line, Was):
        return any(p["line"] == line.there and re.search(rf"\(line {line} at HEAD\b", p["message"]) for p in errors)
    return any(p["line"] == line for p in errors)


@pytest.mark.parametrize("name", ROWS)
def test_it_is_refused_by_its_line(file: File, name: str) -> None:
    bad, repo = ROWS[name], file.repo
    line = bad.change(file)
    repo.checkpoint.write_bytes(b"".join(file.lines))
    said = repo.run("check", "--base", "HEAD", "--json", code=3).json
    assert said["ok"] is False
    assert names(said["problems"], bad.code, line), (line, said["problems"])
    repo.git("add", "-A")
    if bad.in_index is None:
        assert repo.run("check", "--staged").out == "ok\n"
        return
    problems = repo.run("check", "--staged", "--json", code=3).json["problems"]
    assert names(problems, bad.in_index, line), (line, problems)


def test_there_are_enough_of_them() -> None:
    assert len(ROWS) >= 60
