"""What is refused of a stranger's query by its text alone, before an engine sees it.

Writes are the engine's to refuse (it runs the query on a graph that cannot change). What an engine does not refuse is
reading files: a read-only graph still runs `LOAD CSV FROM '/etc/passwd'`. So this looks at the RAW text and takes
nothing for harmless because it stands in a string or a comment: a lexer of ours that disagrees with the engine's about
where a string ends would be the hole.
"""

from __future__ import annotations

import re
import unicodedata

from ledger_cli.errors import QueryRefused

_ESCAPE = re.compile(r"\\+u+([0-9a-fA-F]{4})")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n\r]*|--[^\n\r]*", re.DOTALL)
_NOT_A_LETTER = re.compile(r"[^a-z]+")
_LOAD_CSV = re.compile(r"load.*csv", re.DOTALL)


def refuse(text: str) -> None:
    """Raise QueryRefused when the text could be more than one statement or could read a file."""
    if ";" in text:
        raise QueryRefused("a query is one statement: `;` is refused", "leave it out; in a text, write it as `\\u003b`")
    plain = _plain(text)
    joined = _NOT_A_LETTER.sub("", _COMMENT.sub("", plain))
    if _LOAD_CSV.search(plain) or "loadcsv" in joined or "loadcsv" in _NOT_A_LETTER.sub("", plain):
        raise QueryRefused(
            "LOAD CSV is refused: a query reads the ledger, not files",
            "if you look for these two words in a text, look for one of them",
        )


def _plain(text: str) -> str:
    """Case, width, marks without a shape and unicode escapes undone, so that one spelling is left to look for."""
    text = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
    text = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Mn", "Cc") or c in "\n\r\t")
