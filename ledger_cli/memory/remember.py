"""A chat becomes a session file that people review: read, resolved against what holds, and written with the reasons."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from ledger_cli import holds, session_file
from ledger_cli.database import Say
from ledger_cli.errors import Refused, short
from ledger_cli.holds import Row
from ledger_cli.instant import LAST, utc
from ledger_cli.ledger import Ledger
from ledger_cli.memory import corpus, prompts, resolution
from ledger_cli.memory.acceptable import fault_of
from ledger_cli.memory.embedding import Embedder
from ledger_cli.memory.extraction import Extraction, Extractor, KnownEntity, KnownSlot
from ledger_cli.memory.ranking import Text
from ledger_cli.memory.resolution import Kept, LeftOut, Resolved, Standing, evidence_of
from ledger_cli.memory.sameness import Cosines, Vectors
from ledger_cli.memory.saying import said
from ledger_cli.memory.transcript import Message
from ledger_cli.memory.vectors import Progress, silent
from ledger_cli.model import Kind, canonical_name, entity_key, name_set
from ledger_cli.names import LONGEST
from ledger_cli.session_writer import Comments, to_yaml
from ledger_cli.stated import Session, StatedEntity, StatedEpisode, StatedItem
from ledger_cli.store.graph import Graph

BATCH = 40
"""How many messages one question is about, at most."""

_LETTERS: dict[Kind, str] = {"decision": "d", "fact": "f"}
_ROOM = 12
"""Characters that the ids made of a session's id need beside it."""


@dataclass(frozen=True)
class Remembered:
    """What a chat came to: the session (None: it holds no news), its file's text, and what was left out.

    `replaced` are the ids of the items that the session supersedes, by the ledger's own rule.
    """

    id: str
    session: Session | None
    text: str
    left_out: tuple[LeftOut, ...]
    replaced: tuple[str, ...] = ()


def remember(
    ledger: Ledger,
    messages: Sequence[Message],
    extractor: Extractor,
    *,
    session: str,
    source: str,
    at: datetime | None = None,
    by: str | None = None,
    embedder: Embedder | None = None,
    progress: Progress = silent,
    batch: int = BATCH,
    backdated: bool = False,
) -> Remembered:
    """Make a session of a chat named `source`; nothing is written.

    `at` is the session's clock (left out: when it is applied), `batch` how many messages are read at once. Same chat,
    same extraction, same ledger: the same bytes.
    Raises Refused where the session is recorded already or no session file may have the id, NoAnswer where the
    extractor gives none.
    """
    session = checked_id(ledger, session)
    if by is not None and (why := fault_of("by", by)):
        raise Refused(f"--by: {why}")
    by = canonical_name(by) if by is not None else None
    at = utc(at) if at is not None else None
    graph, now = ledger.database.read(), at or ledger.clock()
    standing = _standing(graph, now)
    found = _extracted(extractor, messages, standing, now, batch, ledger.say)
    vectors = Vectors(None if embedder is None else _cosines(ledger, embedder, progress))
    resolved = resolution.resolve(found, messages, standing, vectors, extractor.judge, extractor.pairs_at_once, now)
    if not resolved.kept:
        return Remembered(session, None, "", resolved.left_out)
    stated, notes = _stated(session, at, by, resolved, found, messages, graph)
    done = ledger.preview([stated], backdated=backdated)[0]
    effects = done.effects
    assert effects is not None  # the session is new
    own = {item.id for item in stated.items}
    for old, new in effects.linked:
        if new in own:
            where = "of this session" if old in own else said(done.texts[old])
            if old not in next(i.supersedes for i in stated.items if i.id == new):  # that was judged, and is said
                notes[new].append(f"supersedes {old}, {where}: the same slot, and it begins later")
        elif old in own:
            notes[old].append(f"is superseded by {new}, {said(done.texts[new])}: the same slot, and that begins later")
    text = to_yaml([stated], Comments(_head(source, extractor, resolved, messages, effects.warnings), notes))
    (again,) = session_file.read(text, "session.yaml")
    if again != stated:
        raise ValueError("what was written does not read back as what was resolved")
    replaced = tuple(sorted({old for old, _ in effects.linked if old not in own}))
    return Remembered(session, stated, text, resolved.left_out, replaced)


def checked_id(ledger: Ledger, session: str) -> str:
    """The session's id as it is kept. Raises Refused where it is taken, or is no id that others can be made of."""
    try:
        session = session_file.check_id(session)
    except ValueError as fault:
        raise Refused(f"--session: {fault}") from None
    if len(session) > LONGEST - _ROOM:
        raise Refused(f"--session: {len(session)} characters; write at most {LONGEST - _ROOM}, ids are made of it")
    if ledger.database.read().session_at(session) is not None:
        hint = "give what is new a session of its own; what the ledger holds already is left out of it"
        raise Refused(f"session {short(session)} is recorded already", hint)
    return session


# What holds


def _standing(graph: Graph, now: datetime) -> Standing:
    """What holds at this moment or from a day to come, with all that is known now; and every entity."""
    items = graph.all_items()
    stretches = graph.stretches([item.id for item in items])
    rows = (Row(item, holds.shown(item, stretches[item.id], LAST)) for item in items)
    standing = [row.item for row in rows if any(end is None or end > now for _, end in row.shown.holds)]
    entities = graph.entities_known(LAST)
    return Standing(standing, {key: KnownEntity(name, kind) for key, (name, kind) in entities.items()})


def _cosines(ledger: Ledger, embedder: Embedder, progress: Progress) -> Cosines:
    """How near texts are by a model, whose vectors the store keeps: what holds is embedded once."""
    vectors = corpus.of(ledger.database).vectors(embedder)
    last: tuple[Sequence[str], list[Text]] = ((), [])

    def cosines(text: str, others: Sequence[str]) -> list[float]:
        nonlocal last
        if last[0] is not others:
            last = others, [Text(str(n), other, None, ()) for n, other in enumerate(others)]
        return vectors.cosines(text, last[1], progress)

    return cosines


def _extracted(
    extractor: Extractor, messages: Sequence[Message], standing: Standing, now: datetime, batch: int, say: Say
) -> Extraction:
    """All that the chat tells; what was found in it so far is known to the next question."""
    slots: dict[tuple[str, Kind], KnownSlot] = {}
    for item in sorted(standing.items, key=lambda i: (i.valid_from, i.id)):
        if item.slot is not None and (item.valid_from <= now or (item.slot, item.kind) not in slots):
            slots[item.slot, item.kind] = KnownSlot(item.slot, item.kind, item.text)
    entities = dict(standing.entities)
    found = Extraction()
    for message in messages:
        if len(message.content) > prompts.MOST_CHARACTERS:
            what = f"message {message.number} has {len(message.content)} characters"
            say(f"note: {what}; only the first {prompts.MOST_CHARACTERS} are read")
    for some in prompts.batches(messages, batch):
        known = sorted(slots.values(), key=lambda s: (s.slot, s.kind))
        new = extractor.extract(some, known, sorted(entities.values(), key=lambda e: e.name))
        for entity in new.entities:
            entities.setdefault(entity_key(entity.name), KnownEntity(canonical_name(entity.name), entity.kind))
        for one in new.items:
            if one.slot is not None:
                slot = canonical_name(one.slot)
                slots[slot, one.kind] = KnownSlot(slot, one.kind, one.text)
        found += new
    return found


# What is stated


def _stated(
    id: str,
    at: datetime | None,
    by: str | None,
    resolved: Resolved,
    found: Extraction,
    messages: Sequence[Message],
    graph: Graph,
) -> tuple[Session, dict[str, list[str]]]:
    """The session of what was kept, and the notes on its items by their new ids."""
    episodes = _episode_ids(id, messages, {n for kept in resolved.kept for n in kept.messages}, graph)
    mentions: dict[int, set[str]] = {}
    for entity in found.entities:
        if (name := resolved.names.of(entity.name)) is not None:
            for number in entity.messages:
                mentions.setdefault(number, set()).add(name)
    ids = _item_ids(id, resolved.kept, graph)
    items = [
        StatedItem(
            kept.kind,
            item_id,
            kept.text,
            kept.rationale,
            kept.slot,
            kept.about or None,
            kept.valid_from,
            kept.valid_to,
            kept.supersedes,
            None,
            tuple(episodes[n] for n in kept.messages),
            kept.confidence,
        )
        for item_id, kept in zip(ids, resolved.kept, strict=True)
    ]
    heard = tuple(_episode(episodes[m.number], m, mentions.get(m.number, ())) for m in messages if m.number in episodes)
    named = {name for item in items for name in item.about or ()} | {n for e in heard for n in e.mentions}
    session = Session(
        id,
        at,
        by,
        tuple(StatedEntity(name, kind) for name, kind in sorted(resolved.names.kinds.items()) if name in named),
        heard,
        # As a file has them: decisions before facts.
        tuple(sorted(items, key=lambda item: item.kind)),
    )
    return session, {item_id: list(kept.notes) for item_id, kept in zip(ids, resolved.kept, strict=True)}


def _episode(id: str, message: Message, mentions: Iterable[str]) -> StatedEpisode:
    kind = "tool_call" if message.role == "tool" else "message"
    return StatedEpisode(id, kind, evidence_of(message), name_set(mentions), message.at)


def _item_ids(session: str, kept: Sequence[Kept], graph: Graph) -> list[str]:
    """An id for each item that no recorded one has, in an order that sorts as they come.

    Of two items that begin at one time, the one with the later id supersedes the other: f2 has to come before f10.
    """
    free: dict[Kind, list[str]] = {}
    for kind, letter in _LETTERS.items():
        count = sum(one.kind == kind for one in kept)
        free[kind] = _free(f"{session}/{letter}", count, lambda ids: graph.items(ids))
    return [free[one.kind].pop(0) for one in kept]


def _free(prefix: str, count: int, taken: Callable[[list[str]], Collection[str]]) -> list[str]:
    width = len(str(count))
    while True:
        ids = [f"{prefix}{n:0{width}}" for n in range(1, 10**width)]
        found = taken(ids)
        if len(free := [id for id in ids if id not in found]) >= count:
            return free[:count]
        width += 1


def _episode_ids(session: str, messages: Sequence[Message], used: set[int], graph: Graph) -> dict[int, str]:
    """An id for each message used: made of its own where it has one, else of its number; none that is recorded."""
    wished = {
        m.number: f"{session}/{m.id}"
        for m in messages
        if m.number in used and m.id is not None and len(session) + 1 + len(m.id) <= LONGEST
    }
    taken = set(graph.episodes(wished.values()))
    ids = {number: id for number, id in wished.items() if id not in taken}
    taken |= set(ids.values())
    for number in sorted(used - ids.keys()):
        id, n = f"{session}/e{number}", 1
        while id in taken or graph.episodes([id]):
            n += 1
            id = f"{session}/e{number}.{n}"
        taken.add(id)
        ids[number] = id
    return ids


def _head(
    source: str, extractor: Extractor, resolved: Resolved, messages: Sequence[Message], warnings: Iterable[str]
) -> list[str]:
    """What the file says of itself: where it comes from, and what was done to what was found."""
    count = f"{len(messages)} message" + ("s" if len(messages) != 1 else "")
    lines = [
        f"Remembered from {said(source)} ({count}), as read by {said(extractor.name)}.",
        "Nothing of it is recorded yet. Put right what is wrong, delete what is not worth it, and apply it.",
    ]
    lines += [f"- {note}" for note in (*resolved.names.notes, *resolved.notes, *warnings)]
    if resolved.left_out:
        lines.append("Left out:")
        lines += [f"- {one.kind} {said(one.text)}: {one.reason}" for one in resolved.left_out]
    return lines
