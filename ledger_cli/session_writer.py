"""Sessions as YAML text: the skeleton to fill in, and sessions written so that they read back the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from textwrap import wrap

from ledger_cli import instant
from ledger_cli.names import UNSEEN
from ledger_cli.stated import OPEN, Session, StatedEnding, StatedEpisode, StatedItem, StatedReview

# Any YAML reader takes these for something else than text: `no` is false to most.
_NOT_TEXT = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))
_PLAIN = re.compile(r"[^\W\d_](?:[\w ./()-]*[\w.)])?")
_BLOCK = re.compile(r"\S.*(?:\n+(?:[ ]*\S.*))+\n?")
# What YAML would lose, and what a reviewer would not see: text that turns around is not what it looks like.
_ESCAPED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]|" + UNSEEN.pattern)
_COMMENT_WIDTH = 112

_SKELETON = """\
# One session: what was decided or learned, written to the ledger at once. Fill in or delete what stands
# in <angle brackets>, and take the # from the keys you need. Text that holds ': ' or ' #' needs quotes.
# Then look at what it would do: ledger session check FILE
session: {id}
by: <who writes this>
#at: <the session's clock; left out, it is now>

decisions:  # facts take the same keys
  - text: <what was decided, in one sentence>
    about: [<what it is about>]
    #rationale: <why>
    #slot: <the question it answers, such as orders/database>
    #validFrom: <since when it holds, YYYY-MM-DD; left out, since the session's clock>
    #validTo: <until when, where that is known>
    #supersedes: <the id of what it replaces>

# Also: entities, episodes, supersessions, endings, reviews.
"""


def skeleton(session_id: str) -> str:
    """The YAML text of a session to fill in. It is refused, placeholder by placeholder, until it is."""
    return _SKELETON.replace("{id}", _plain_or_quoted(session_id))


@dataclass(frozen=True)
class Comments:
    """What a session file says beside the session: at its head, and before an item, by the item's id."""

    head: Sequence[str] = ()
    items: Mapping[str, Sequence[str]] = field(default_factory=dict)


def to_yaml(sessions: Iterable[Session], comments: Comments = Comments()) -> str:
    """Write sessions as a YAML file that reads back as the same values, whatever the comments hold: one as itself,
    several (or none) as a list."""
    written = [_session(session, comments) for session in sessions]
    if len(written) == 1:
        lines = written[0]
    else:
        lines = [line for record in written for line in _indented("- ", record)] or ["[]"]
    return "\n".join([*_comments(comments.head), *lines]) + "\n"


def quoted(text: str) -> str:
    """A text in double quotes on one line, as YAML and JSON read it; what does not show is escaped."""
    return _ESCAPED.sub(_escape, json.dumps(text, ensure_ascii=False))


def _comments(texts: Iterable[str]) -> list[str]:
    """Comment lines; one that goes on is indented. A text is one line, whatever it holds."""
    lines = []
    for text in texts:
        text = _ESCAPED.sub(_escape, text.replace("\n", " ").replace("\t", " "))
        lead = "  " if text.startswith("- ") else ""
        folded = wrap(text, _COMMENT_WIDTH, subsequent_indent=lead, break_long_words=False, break_on_hyphens=False)
        lines += [f"# {line}" for line in folded] or ["#"]
    return lines


def _session(session: Session, comments: Comments) -> list[str]:
    def items(kind: str) -> list[list[str]]:
        return [[*_comments(comments.items.get(i.id, ())), *_item(i)] for i in session.items if i.kind == kind]

    lists = {
        "entities": [_record({"name": _quote(e.name), "kind": _quote(e.kind)}) for e in session.entities],
        "episodes": [_episode(episode) for episode in session.episodes],
        "decisions": items("decision"),
        "facts": items("fact"),
        "supersessions": [_record({"old": _quote(s.old), "new": _quote(s.new)}) for s in session.supersessions],
        "endings": [_ending(ending) for ending in session.endings],
        "reviews": [_review(review) for review in session.reviews],
    }
    lines = _record({"session": _quote(session.id), "at": _time(session.at), "by": _quote(session.by)})
    for key, records in lists.items():
        if records:
            lines += [f"{key}:", *(line for record in records for line in _indented("  - ", record))]
    return lines


def _episode(episode: StatedEpisode) -> list[str]:
    return _record(
        {
            "id": _quote(episode.id),
            "kind": _quote(episode.kind),
            "at": _time(episode.at),
            "text": _text(episode.text),
            "mentions": _list(episode.mentions or None),
        }
    )


def _item(item: StatedItem) -> list[str]:
    return _record(
        {
            "id": _quote(item.id),
            "text": _text(item.text),
            "rationale": _text(item.rationale),
            "slot": _quote(item.slot),
            "about": _list(item.about),
            "validFrom": _time(item.valid_from),
            "validTo": OPEN if item.valid_to == OPEN else _time(item.valid_to),
            "supersedes": _list(item.supersedes or None),
            "corrects": _quote(item.corrects),
            "from": _list(item.evidence or None),
            "confidence": None if item.confidence is None else repr(float(item.confidence)),
        }
    )


def _ending(ending: StatedEnding) -> list[str]:
    return _record(
        {
            "id": _quote(ending.id),
            "validTo": _time(ending.valid_to),
            "by": _quote(ending.by),
            "reason": _text(ending.reason),
        }
    )


def _review(review: StatedReview) -> list[str]:
    target = _quote(review.target.id)
    if review.target.new is not None:
        target = f"{{old: {target}, new: {_quote(review.target.new)}}}"
    elif review.target.ending:
        target = f"{{end: {target}}}"
    verdict = "reject" if review.verdict == "rejects" else "reinstate"
    return _record({verdict: target, "by": _quote(review.by), "reason": _text(review.reason)})


def _record(fields: dict[str, str | None]) -> list[str]:
    """The lines of a mapping; a value of several lines is a block and goes under its key."""
    lines: list[str] = []
    for key, value in fields.items():
        if value is not None:
            first, *block = value.split("\n")
            lines += [f"{key}: {first}", *(f"  {line}" if line else "" for line in block)]
    return lines


def _indented(first: str, lines: list[str]) -> list[str]:
    """The lines behind a mark such as `- `; comments before them stand before the mark."""
    rest, start = " " * len(first), next(n for n, line in enumerate(lines) if not line.startswith("#"))
    before = [" " * (len(first) - 2) + line for line in lines[:start]]
    return [*before, first + lines[start], *(rest + line if line else "" for line in lines[start + 1 :])]


def _time(at: datetime | None) -> str | None:
    return None if at is None else instant.show(at)


def _list(values: Iterable[str] | None) -> str | None:
    return None if values is None else f"[{', '.join(_plain_or_quoted(value) for value in values)}]"


def _quote(text: str | None) -> str | None:
    return None if text is None else _plain_or_quoted(text)


def _text(text: str | None) -> str | None:
    """Text of several lines as a block, which reads well in a review, where a block keeps it as it is."""
    if text is None or not _BLOCK.fullmatch(text) or _ESCAPED.search(text):
        return _quote(text)
    return "|\n" + text.removesuffix("\n") if text.endswith("\n") else "|-\n" + text


def _plain_or_quoted(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _NOT_TEXT:
        return text
    return quoted(text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
