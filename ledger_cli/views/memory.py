"""Agent memory on the screen: what is recalled, what a chat came to, a conversation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ledger_cli.errors import short
from ledger_cli.views import talk
from ledger_cli.views.terminal import Cell, lines, when
from ledger_cli.views.terminal import talk as say

if TYPE_CHECKING:
    from ledger_cli.answers import Applied
    from ledger_cli.memory.recall import Memory, Past, Recalled
    from ledger_cli.memory.remember import Remembered
    from ledger_cli.memory.threads import Prepared


def recalled(found: Recalled) -> None:
    """What holds, each with its reason, its evidence and what it replaced; then the rest."""
    lines(_document(found))


def _document(found: Recalled) -> Iterator[Sequence[Cell]]:
    about = found.entity or "what answers best"
    kind = f" ({found.kind})" if found.kind else ""
    known = "as known now" if found.known_at is None else f"as known on {when(found.known_at)}"
    yield [(about, "bold"), f"{kind} on {when(found.valid_at)}, {known}"]
    sections: list[tuple[str, list[Sequence[Cell]]]] = [
        ("facts", list(_memories(found.facts))),
        ("decisions", list(_memories(found.decisions))),
        ("items", list(_memories(found.items))),
        ("no longer true", list(_past(past for past in found.history if not past.rejection))),
        ("rejected", list(_past(past for past in found.history if past.rejection))),
        ("nearby", [["  ", n.via, ": ", n.row.item.text, "  ", (n.row.item.id, "dim")] for n in found.nearby]),
    ]
    told = [section for section in sections if section[1]]
    for name, rows in told:
        yield [""]
        if name != "items":
            yield [(name, "bold")]
        yield from rows
    if not told:
        yield [""]
        yield [("nothing", "dim")]
    if found.left_out:
        yield [""]
        yield [(f"{found.left_out} more left out", "dim")]


def _past(found: Iterable[Past]) -> Iterator[Sequence[Cell]]:
    for past in found:
        yield ["  ", (past.row.item.id, "bold"), "  ", past.row.item.text]
        if verdict := past.rejection:
            yield ["    ", (f"by {verdict.by} on {when(verdict.recorded_at)}: ", "dim"), verdict.reason]


def _memories(found: Iterable[Memory]) -> Iterator[Sequence[Cell]]:
    for memory in found:
        item = memory.row.item
        yield ["  ", (item.id, "bold"), "  ", item.text]
        if item.rationale:
            yield ["    ", f"because {item.rationale}"]
        sure = f", {item.confidence:g} sure" if item.confidence is not None else ""
        yield ["    ", (f"since {when(item.valid_from)}, from {item.session}{sure}", "dim")]
        for episode in memory.evidence:
            yield ["    ", (f"{episode.kind} {episode.id}", "dim"), "  ", episode.text]
        for old in memory.replaced:
            yield ["    ", "└ replaced ", (old.id, "bold"), "  ", old.text]


def remembered(found: Remembered, file: str | None, applied: Sequence[Applied], *, in_file: bool) -> None:
    """What became of a chat. `in_file`: a session file was asked for, and says what was left out, if it was made."""
    for one in found.left_out if found.session is None or not in_file else ():
        say(f"left out: {one.kind} {_line(one.text)}: {one.reason}")
    if found.session is None:
        say("nothing new: no session was made")
        return
    for done in applied:
        talk.applied(done)
    if file is not None:
        items = len(found.session.items)
        told = f"{items} item{'s' * (items != 1)}, {len(found.left_out)} left out"
        say(f"wrote {file}: {told}")
        if not applied:
            say(f"Next: read it, `ledger session check {file}`, `ledger session apply {file}`")


def prepared(found: Prepared) -> None:
    """A conversation, the oldest message first."""
    lines([[(message["role"], "bold"), ": ", _shown(message["content"])] for message in found.chat()])


def _line(text: str) -> str:
    return repr(short(" ".join(text.split()), 100))


def _shown(text: str) -> str:
    """A text that nobody checked: what would move the terminal is written as an escape."""
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)
