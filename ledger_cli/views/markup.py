"""Text of the ledger as text in SVG and HTML: whatever stands in it, it is never markup."""

from __future__ import annotations

import re

from ledger_cli.views.terminal import columns

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPECIAL = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


def escaped(text: str) -> str:
    """A text for an element or a quoted attribute. The few characters that XML cannot hold are shown as U+FFFD."""
    return _NO_XML.sub("\ufffd", text).translate(_SPECIAL)


def clipped(text: str, room: int) -> str:
    """The beginning of a text on one line, in at most so many columns; an ellipsis says that there is more."""
    line = " ".join(text.split())
    if columns(line) <= room:
        return line
    kept, used = [], 1
    for letter in line[:room]:
        used += columns(letter)
        if used > room:
            break
        kept.append(letter)
    return "".join(kept).rstrip() + "…"
