"""What a pull request brings, as a comment under it. Text of the ledger is text: it is no markup, and calls nobody."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ledger_cli.lines import number
from ledger_cli.model import Entity, Episode, Item
from ledger_cli.views.terminal import out, when

if TYPE_CHECKING:
    from datetime import datetime

    from ledger_cli.against import Compared
    from ledger_cli.checks import Finding
    from ledger_cli.comparison import Brought, Comparison
    from ledger_cli.model import Interval, Review

MARKER = "<!-- ledger diff -->"
"""The first line: whoever keeps a comment up to date finds its own by it."""

_LONG = 8
"""More lines than these are folded."""
_LIMIT = 60_000
"""GitHub takes 65,536 characters."""
_SECTION = 15_000
"""No section takes the room of all others: what follows a long session, and what the check finds, is shown as well."""
_CUT = 600


def comment(found: Compared) -> None:
    """The comment, to stdout."""
    out(render(found))


def render(found: Compared) -> str:
    """A heading that counts, a warning a problem, a section a session, and a two-axis line a touched slot."""
    c = found.comparison
    head = [MARKER, f"### {_summary(c)}", "", f"From {text(found.names[0])} to {text(found.names[1])}.", ""]
    parts = ["\n".join(head)]
    parts += _folded("What the check finds", list(_problems(found.checkup.findings)), opened=True)
    for session in c.sessions:
        by = f", by {session.by}" if session.by else ""
        parts += _folded(f"{session.session} · {when(session.at)}{by}", list(_sentences(session, c)))
    parts += _folded("The slots on both axes", list(_slots(c)))
    shown, size = [], 0
    for n, part in enumerate(parts):
        size += len(part)
        if size > _LIMIT:
            shown.append(f"… and {len(parts) - n} more sections: `ledger diff --rev` shows them all.\n")
            break
        shown.append(part)
    return "\n".join(shown)


def _summary(c: Comparison) -> str:
    if not c:
        return "Ledger: nothing changed"
    counts = [
        (len(c.sessions), "session", "sessions"),
        (len(c.added), "item added", "items added"),
        (len([id for id in c.closed if id not in c.verdicts("rejects")]), "closed", "closed"),
        (len(c.reopened), "reopened", "reopened"),
        (len(c.verdicts("rejects")), "rejected", "rejected"),
        (len(c.verdicts("reinstates")), "reinstated", "reinstated"),
        (len(c.ended), "ended", "ended"),
        (len(c.removed), "line rewritten or removed", "lines rewritten or removed"),
    ]
    return "Ledger: " + ", ".join(f"{n} {one if n == 1 else more}" for n, one, more in counts if n)


def _folded(title: str, lines: Sequence[str], *, opened: bool = False) -> list[str]:
    if not lines:
        return []
    shown, size = [], 0
    for line in lines:
        if (size := size + len(line)) <= _SECTION:
            shown.append(line)
        else:
            size -= len(line)
    if left := len(lines) - len(shown):
        shown.append(f"… and {left} more: `ledger diff --rev` shows them all")
    body = "\n".join(f"- {line}" for line in shown)
    if len(lines) <= _LONG or opened:
        return [f"#### {text(title)}\n\n{body}\n"]
    return [f"<details>\n<summary><b>{html(title)}</b>, {len(lines)} lines</summary>\n\n{body}\n\n</details>\n"]


def _problems(findings: Iterable[Finding]) -> Iterator[str]:
    signs = {"error": "❌", "warning": "⚠️", "info": "ℹ️"}
    ranked = sorted(findings, key=lambda f: list(signs).index(f.severity))
    for f in ranked[:50]:
        told = f"{signs[f.severity]} **{text(f.code)}**: {text(f.message)}."
        told += f" Line {f.line}." if f.line is not None else ""
        if f.others:
            told += f" Sessions: {text(f.others)}."
        yield told + (f"<br>{text(f.hint)}" if f.hint else "")
    if len(ranked) > 50:
        yield f"… and {len(ranked) - 50} more: `ledger check --base`"


def _sentences(session: Brought, c: Comparison) -> Iterator[str]:
    """A sentence for each item and each verdict, with the text of what is replaced, ended or struck."""
    replaced: dict[str, list[str]] = {}
    for link in session.links:
        replaced.setdefault(link.new, []).append(link.old)
    for item in session.added:
        verb = "decides" if item.kind == "decision" else "states"
        about = f", about {', '.join(map(text, item.about))}" if item.about else ""
        since = f", from {when(item.valid_from)}" + (f" to {when(item.valid_to)}" if item.valid_to is not None else "")
        sure = f", confidence {number(item.confidence)}" if item.confidence is not None else ""
        told = f"**{text(item.id)}** {verb}: {_quoted(item)}{since}{about}{sure}."
        if item.corrects is not None:
            told += f" It corrects {_named(item.corrects, c)}."
        for old in replaced.pop(item.id, ()):
            told += f" It replaces {_named(old, c)}."
        if item.rationale:
            told += f" Because: {text(item.rationale)}"
        if item.evidence:
            told += f" (Evidence: {', '.join(map(text, item.evidence))})"
        yield told
    for new, olds in replaced.items():
        for old in olds:
            yield f"{_named(new, c)} replaces {_named(old, c)}."
    for ending in session.endings:
        reason = f": {text(ending.reason)}" if ending.reason else ""
        yield f"{_named(ending.id, c)} ends on {when(ending.valid_to)}, says {text(ending.by)}{reason}."
    for review in session.reviews:
        yield f"{text(review.by)} {review.verdict} {_target(review, c)}: {text(review.reason)}"
    for episode in (e for e in session.entries if isinstance(e, Episode)):
        yield f"**{text(episode.id)}**, a {text(episode.kind)}: “{text(episode.text)}”"
    if kinds := [f"{text(e.name)} ({text(e.kind)})" for e in session.entries if isinstance(e, Entity)]:
        yield f"Kinds: {', '.join(sorted(kinds))}."


def _target(review: Review, c: Comparison) -> str:
    t = review.target
    if t.new is not None:
        return f"that {_named(t.new, c)} replaces {_named(t.id, c)}"
    return f"the ending of {_named(t.id, c)}" if t.ending else _named(t.id, c)


def _slots(c: Comparison) -> Iterator[str]:
    from ledger_cli import holds
    from ledger_cli.comparison import diagonal
    from ledger_cli.instant import LAST

    for slot, items in c.slots().items():
        true = ((i, holds.known_at(c.now[i.id], LAST)) for i in items)
        believed = ((i, diagonal(c.now[i.id])) for i in items)
        yield f"**{text(slot)}**<br>true: {_axis(true)}<br>believed: {_axis(believed)}"


def _axis(held: Iterable[tuple[Item, Sequence[Interval]]]) -> str:
    rows = sorted(((start, end, i) for i, its in held for start, end in its), key=lambda r: (r[0], r[2].id))
    told = (f"{text(i.id)} {_stretch(start, end)}" for start, end, i in rows)
    return " · ".join(told) or "nothing"


def _stretch(start: datetime, end: datetime | None) -> str:
    return f"{when(start)} → {when(end) if end is not None else ''}".rstrip().replace(" ", "\N{NO-BREAK SPACE}")


def _quoted(item: Item) -> str:
    return f"“{text(item.text)}”"


def _named(id: str, c: Comparison) -> str:
    item = c.items.get(id)
    return f"**{text(id)}** {_quoted(item)}" if item is not None else f"**{text(id)}**"


_HIDDEN = re.compile(
    "[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\U000e0000-\U000e0fff]"
)
"""What has no look of its own, or turns the line round."""

_MARKUP = re.compile(r"[\\`*_{}\[\]~|$#]")
_CALLS = re.compile(
    r"(?<=@)(?=\w)"  # a mention
    r"|(?<=#)(?=\w)|(?<=[Gg][Hh]-)(?=\d)"  # an issue
    r"|(?<=://)(?=\w)|(?<=[Ww]{3})(?=\.)"  # a link
    r"|(?<=:)(?=[\w+-]*[A-Za-z_+-][\w+-]*:|1234:|100:)"  # an emoji
)


def text(raw: str) -> str:
    """Any text, so that Markdown shows it as it is.

    Markup is escaped; what has no look or turns the line round is named; mentions, references, links and emoji names
    are broken by a joint that nobody sees (U+200B). A long text is cut: the whole one is in the diff.
    """
    return _MARKUP.sub(lambda found: "\\" + found[0], _plain(raw)).replace("\n", "<br>")


def html(raw: str) -> str:
    """As `text`, for inside of HTML, where Markdown reads nothing."""
    return _plain(raw).replace("$", "<span>$</span>").replace("\n", " ")


def _plain(raw: str) -> str:
    cut = raw if len(raw) <= _CUT else raw[: _CUT - 1] + "…"
    named = _HIDDEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", cut)
    called = _CALLS.sub("\u200b", named)
    safe = called.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"\s*\n\s*", "\n", safe.strip()).replace("\t", " ")
