"""Is a session a retry? A runtime that lost the acknowledgement sends the same session again."""

from __future__ import annotations

from collections.abc import Sequence

from ledger_cli.model import (
    Ending,
    Entity,
    Entry,
    Episode,
    Item,
    Link,
    Review,
    canonical_name,
    entity_key,
    id_set,
    name_set,
)
from ledger_cli.stated import OPEN, Session, StatedEnding, StatedItem, StatedReview


def is_recorded(session: Session, recorded: Sequence[Entry]) -> bool:
    """Is all that the session states recorded under its id? What it leaves out is not compared."""
    if not recorded or (session.at is not None and session.at != recorded[0].recorded_at):
        return False
    items = {e.id: e for e in recorded if isinstance(e, Item)}
    episodes = {e.id: e for e in recorded if isinstance(e, Episode)}
    links = {(e.old, e.new): e for e in recorded if isinstance(e, Link)}
    kinds = {(entity_key(e.name), canonical_name(e.name), e.kind) for e in recorded if isinstance(e, Entity)}
    endings = [e for e in recorded if isinstance(e, Ending)]
    reviews = [e for e in recorded if isinstance(e, Review)]

    def same_by(stated: str | None, entry: Item | Link) -> bool:
        return stated is None or entry.by == stated

    def same_item(stated: StatedItem) -> bool:
        item = items.get(stated.id)
        return (
            item is not None
            and item.kind == stated.kind
            and same_by(session.by, item)
            and stated.text in (None, item.text)
            and stated.rationale in (None, item.rationale)
            and (stated.slot is None or canonical_name(stated.slot) == item.slot)
            and (stated.about is None or name_set(stated.about) == item.about)
            and stated.valid_from in (None, item.valid_from)
            and (stated.valid_to is None or stated.valid_to == (item.valid_to or OPEN))
            and stated.corrects in (None, item.corrects)
            and (not stated.evidence or id_set(stated.evidence) == item.evidence)
            and stated.confidence in (None, item.confidence)
            and all((old, stated.id) in links for old in stated.supersedes)
        )

    def same_ending(stated: StatedEnding, entry: Ending) -> bool:
        return (
            (stated.id, stated.valid_to) == (entry.id, entry.valid_to)
            and (stated.by or session.by) in (None, entry.by)
            and stated.reason in (None, entry.reason)
        )

    def same_review(stated: StatedReview, entry: Review) -> bool:
        return (
            (stated.verdict, stated.target) == (entry.verdict, entry.target)
            and (stated.by or session.by) in (None, entry.by)
            and stated.reason in (None, entry.reason)
        )

    return (
        all(same_item(stated) for stated in session.items)
        and all(
            (found := episodes.get(e.id)) is not None
            and (e.kind, e.text) == (found.kind, found.text)
            and (not e.mentions or name_set(e.mentions) == found.mentions)
            and e.at in (None, found.at)
            for e in session.episodes
        )
        and all((entity_key(e.name), canonical_name(e.name), e.kind) in kinds for e in session.entities)
        and all(
            (found_link := links.get((s.old, s.new))) is not None and same_by(session.by, found_link)
            for s in session.supersessions
        )
        and all(any(same_ending(s, e) for e in endings) for s in session.endings)
        and all(any(same_review(s, e) for e in reviews) for s in session.reviews)
    )
