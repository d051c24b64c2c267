"""Is a record one that somebody has filled in? Templates stand in the same folders, and so do half-filled ones."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ledger_cli.errors import quoted
from ledger_cli.exchange import markdown

_PLACEHOLDER = re.compile(r"\{[^{}]*[^\W\d][^{}]*\}|<[^<>/=\"]+ [^<>/=\"]+>|\[[^\[\]]+ [^\[\]]+\](?!\()")
_TEMPLATE_LINE = re.compile(r"\s*(?:[-*+]\s+)?(?:\{[^{}\"=;]{12,}\}|\[[^\[\]]*(?:, e\.g\.|…|\|)[^\[\]]*\])\s*")
SENTENCES = (
    "The issue motivating this decision, and any context that influences or constrains the decision.",
    "The change that we're proposing or have agreed to implement.",
    "What is the issue that we're seeing that is motivating this decision or change?",
)


def unfilled(stated: Iterable[tuple[str, str]], text: str) -> str:
    """What shows that a record is an unfilled template: of what it states, by key, or of its text; "" for none."""
    for key, value in stated:
        whole = value.strip(' *_`"')
        bare = whole in ("STATUS", "DATE", "TITLE", "NUMBER. TITLE") or "YYYY" in whole
        if bare or _PLACEHOLDER.fullmatch(whole) or whole.startswith(("{", "[proposed", "[Proposed")):
            return f"an unfilled template: its {key} is {quoted(value)}"
    for line in markdown.without_code(text).split("\n"):
        if _TEMPLATE_LINE.fullmatch(line) or line.strip() in SENTENCES:
            return f"an unfilled template: it says {quoted(line.strip())}"
    return ""
