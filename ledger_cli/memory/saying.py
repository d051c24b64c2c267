"""Other people's words in a comment or a message: in quotes, on one line, with nothing in them that works."""

from __future__ import annotations

from ledger_cli.errors import short
from ledger_cli.session_writer import quoted

_WIDTH = 100


def said(text: str) -> str:
    """A text in double quotes: its beginning, where it is long; what does not show is escaped."""
    return quoted(short(text, _WIDTH))
