"""Texts that some format takes for its own: each must come back as it was, and do nothing on the way."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from ledger_cli import lines
from ledger_cli.errors import LedgerError
from tests.conftest import DATA
from tests.in_memory import Memory

NAMED = {
    "tags": "<script>alert(1)</script> <img src=x onerror=alert(1)> </svg> <!-- <b>",
    "cdata": "<![CDATA[ ]]> ]]>",
    "quotes": "'it' \"was\" `so` \\' \\\" '' \"\" ''' \"\"\"",
    "backslashes": "\\u0027 \\\\u0027 \\U00000027 \\ \\n \\",
    "bidi": "a\u202eb\u2066c\u2069 \u200f\u05d0\u202c",
    "line separators": "a\u2028b\u2029c\ufeffd",
    "long word": "w" * 4096,
    "formula =": '=HYPERLINK("http://example.invalid","x")',
    "formula +": "+1+1",
    "formula -": "-1+1|cmd",
    "formula @": "@SUM(1)",
    "formula after TAB": "\t=1+1",
    "formula after a line": "\n=1+1",
    "full-width formula": "\uff1d1+1 \uff0b \uff0d \uff20",
    "apostrophe": "'=1+1",
    "apostrophes": "''=1+1",
    "separators": "a;b,c\td|e\n;,|",
    "front matter": "---\nstatus: accepted\n---\n",
    "headings": "# a\n\n## Status\n\nRejected\n\n## Decision\n\nno\n",
    "underlined": "Status\n======\n\nRejected\n\nb\n---\n",
    "open fence": "```\nnever closed <script>",
    "open comment": "<!-- never closed",
    "fences": "````\n```\n<b>\n````\n~~~\n</b>\n~~~ x",
    "code": "`a <b> c` ``d ` <e>`` `open",
    "a link": "[x](javascript:alert(1)) [y]: javascript:alert(2) <javascript:alert(3)>",
    "a table": "| Status | Rejected |\n|---|---|\n| Date | 1999-01-01 |",
    "template": "{short title}",
    "status": "Superseded by ADR-1",
    "cypher": "'}) DETACH DELETE n // ; :exit\n:exit\nMATCH (n) DETACH DELETE n;",
    "a number": "1. first\n2) second",
    "spaces": "  two  before,\n   and after  \n \n  ",
    "emoji": "👩‍👩‍👧 é é 日本語",
}


@cache
def memory() -> Memory:
    """A ledger in which every text is an item's text and rationale, an episode's, and the reason of an ending.

    And those of the big list of naughty strings that the ledger takes.
    """
    naughty = json.loads((DATA / "blns.json").read_text(encoding="utf-8"))
    found = Memory()
    for n, text in enumerate([*NAMED.values(), *naughty]):
        document: dict[str, Any] = {
            "session": f"s{n:03}",
            "at": f"2024-01-01T00:{n // 60:02}:{n % 60:02}Z",
            "by": "sam",
            "episodes": [{"id": f"e{n}", "kind": "message", "text": text}],
            "decisions": [
                {"id": f"d{n}", "text": text, "rationale": f"{text}", "from": f"e{n}", "validFrom": "2024-01-01"},
                {"id": f"c{n}", "text": "cited", "rationale": f"because {text}", "validFrom": "2024-01-01"},
            ],
            "endings": [{"id": f"c{n}", "validTo": "2024-02-01", "reason": text}],
        }
        try:
            found.apply(document)
        except LedgerError:
            assert text not in NAMED.values(), "the ledger takes all of the named ones"
    assert len(found.entries) > 4 * 400
    assert len({lines.line(e) for e in found.entries}) == len(found.entries)
    return found
