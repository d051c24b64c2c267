"""Invent a ledger of any size that looks like a real one, from a seed.

    python -m bench.generate 10000 FOLDER              a ledger: FOLDER/snapshots/ledger.json
    python -m bench.generate 10000 FOLDER --sessions   and what was written, as FOLDER/sessions.json

The entries are made directly, for a hundred thousand items through the rules take too long, but they are what the
rules would record: applying the session files to an empty ledger gives the same checkpoint, byte for byte. About 60 %
of the items have a slot, entities are named as words of a language are (few often, many seldom), a session brings
about five items with where they were learned, and some of it is corrected, reviewed, ended and linked later.
"""

from __future__ import annotations

import argparse
import json
import random
from bisect import insort
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import Any

from ledger_cli import checkpoint
from ledger_cli.instant import show
from ledger_cli.ledger import Ledger
from ledger_cli.model import Ending, Entity, Entry, Episode, Item, Kind, Link, Review, Target, name_set

FIRST = datetime(2020, 1, 1, 9, tzinfo=UTC)
LAST = datetime(2025, 12, 31, tzinfo=UTC)

_PEOPLE = ("sam", "kim", "alex", "noor", "memory-agent", "release-agent")
_KINDS = ("service", "team", "database", "person", "library", "document")
_TOPICS = ("database", "owner", "cache", "region", "retention", "deploy", "language", "on-call", "queue", "limits")
_NAMES = ("orders", "payments", "search", "billing", "catalog", "identity", "shipping", "reports", "mobile", "ledger")
_PARTS = ("api", "worker", "gateway", "store", "index", "feed", "jobs", "proxy", "admin", "stream")
_WORDS = (
    "uses", "moves", "keeps", "replaces", "the", "a", "for", "of", "with", "from", "to", "after", "before", "read",
    "write", "replica", "queue", "cache", "index", "schema", "region", "latency", "budget", "owner", "rotation",
    "alert", "backup", "retry", "time-out", "release", "customer", "invoice", "report", "batch", "token", "schedule",
    "migration", "cluster", "disk", "memory", "version", "contract", "test", "review", "week", "quarter", "because",
    "until", "costs", "fails", "needs", "postgres", "mysql", "redis", "kafka", "nightly", "daily", "shared", "single",
    "second", "primary", "standby", "encrypted", "signed", "public", "internal",
)  # fmt: skip


@dataclass(eq=False)
class Place:
    """An item with its corrections, as the generator keeps track of it."""

    number: int
    latest: Item
    rejected: bool = False
    ended: bool = False


@dataclass
class World:
    """What was invented: the entries, and what a question may be about."""

    entries: list[Entry] = field(default_factory=list)
    sessions: list[dict[str, Any]] = field(default_factory=list)  # the same, as session files state it
    entities: list[str] = field(default_factory=list)  # the most frequent first
    slots: list[str] = field(default_factory=list)  # the largest first
    chain: list[str] = field(default_factory=list)  # the ids of the longest chain of typed links, if one was asked for

    def write(self, root: Path) -> None:
        """Begin a ledger in a folder, with all of it in the checkpoint."""
        root.mkdir(parents=True, exist_ok=True)
        Ledger.init(root)
        (root / "snapshots" / "ledger.json").write_bytes(checkpoint.render(self.entries))


class _Generator:
    def __init__(self, size: int, seed: int, slot_sizes: Iterable[int], chain: int) -> None:
        self.random = random.Random(seed)
        self.size, self.world = size, World()
        self.world.entities = [
            name if n == 0 else f"{name} {part}" if n == 1 else f"{name} {part} {n}"
            for n in range(entity_count(size) // 100 + 1)
            for part in (_PARTS if n else ("",))
            for name in _NAMES
        ][: entity_count(size)]
        self.weights = list(accumulate(1 / (rank + 3) for rank in range(len(self.world.entities))))
        self.plan = self._plan(list(slot_sizes))  # for every item the number of its slot, or none
        self.order: dict[int, list[tuple[datetime, Place]]] = {}  # slot -> its places, by the start of what they claim
        self.places: list[Place] = []
        self.links: list[tuple[Place, Place, Link]] = []  # the typed ones: a slot stays whole if one is rejected
        self.pairs: set[tuple[str, str]] = set()
        self.kinds: set[str] = set()
        self.chain = chain
        self.chained: Place | None = None

    def _plan(self, sizes: list[int]) -> list[int | None]:
        pick = self.random
        while sum(sizes) < 0.6 * self.size:
            sizes.append(min(12, 1 + int(pick.expovariate(0.45))))
        plan: list[int | None] = [slot for slot, count in enumerate(sizes) for _ in range(count)]
        plan += [None] * (self.size - len(plan))
        pick.shuffle(plan)
        topics = [f"{self.entity()}/{pick.choice(_TOPICS)}" for _ in sizes]
        self.world.slots = [f"{topic}/{n}" for n, topic in enumerate(topics)]  # the number keeps two of them apart
        return plan

    # Words

    def entity(self) -> str:
        return self.random.choices(self.world.entities, cum_weights=self.weights)[0]

    def text(self) -> str:
        length = min(200, int(30 + self.random.expovariate(1 / 45)))
        words = ""
        while len(words) < length:
            words += self.random.choice(_WORDS) + " "
        return words[:length].strip()

    # One session after another

    def run(self) -> World:
        number = 0
        at, step = FIRST, (LAST - FIRST) / (self.size / 4.5 + 10)
        while self.plan:
            number += 1
            at += step * self.random.uniform(0.5, 1.5)
            at = at.replace(microsecond=0)
            self.session(f"session-{number}", at)
        return self.world

    def session(self, id: str, at: datetime) -> None:
        pick = self.random
        by = pick.choice(_PEOPLE)
        count = min(len(self.plan), pick.randint(2, 8))
        episodes = [self.episode(id, at) for _ in range(pick.choice((0, 1, 1, 2)))]
        items = [self.item(id, at, by, episodes) for _ in range(count)]
        items += [i for _ in range(count) if pick.random() < 0.02 and (i := self.correction(id, at, by, items))]
        typed = list(self.typed_links(id, at, by, items))
        endings = [e for _ in range(count) if pick.random() < 0.01 and (e := self.ending(id, at, by, items))]
        reviews = [r for _ in range(count) if pick.random() < 0.03 and (r := self.review(id, at, by, items))]
        names = {n for i in items for n in i.about} - self.kinds
        entities = [Entity(name, pick.choice(_KINDS), at, id) for name in sorted(names) if pick.random() < 0.3]
        self.kinds |= {e.name for e in entities}
        slotted = list(self.take_places(items, at, id, by))
        self.world.entries += [*entities, *episodes, *items, *typed, *slotted, *endings, *reviews]
        self.world.sessions.append(_stated(id, at, by, entities, episodes, items, typed, endings, reviews))

    def episode(self, session: str, at: datetime) -> Episode:
        kind = self.random.choice(("message", "tool_call", "document"))
        number = len(self.world.entries)
        mentions = name_set(self.entity() for _ in range(self.random.choice((0, 1, 2))))
        learned = at - timedelta(minutes=self.random.randint(1, 90))
        return Episode(f"e{number}-{self.random.randrange(10**6)}", kind, self.text(), at, session, mentions, learned)

    def item(self, session: str, at: datetime, by: str, episodes: list[Episode]) -> Item:
        pick = self.random
        slot = self.plan.pop()
        kind: Kind = "decision" if (slot if slot is not None else pick.randrange(3)) % 3 else "fact"
        id = f"{kind[0]}{self.size - len(self.plan)}"
        midnight = at.replace(hour=0, minute=0, second=0)
        starts = midnight + timedelta(days=pick.choice((0, 0, 0, -1, -3, -20, -60, 14)))
        taken = {start for start, _ in self.order.get(slot, ())} if slot is not None else set()
        while starts in taken:  # the order inside a slot is then one of starts alone
            starts += timedelta(minutes=1)
        until = starts + timedelta(days=pick.randint(30, 400)) if slot is None and pick.random() < 0.1 else None
        name = None if slot is None else self.world.slots[slot]
        about = {self.entity() for _ in range(pick.choice((0, 1)))} | {name.split("/")[0] if name else self.entity()}
        item = Item(
            kind, id, self.text(), starts, at, session, until,
            rationale=self.text() if pick.random() < 0.4 else None,
            slot=name,
            about=name_set(about),
            evidence=(pick.choice(episodes).id,) if episodes and pick.random() < 0.7 else (),
            confidence=pick.choice((0.5, 0.75, 0.9, 1)) if pick.random() < 0.2 else None,
            by=by,
        )  # fmt: skip
        if slot is not None:
            self.order.setdefault(slot, [])
        return item

    def take_places(self, items: list[Item], at: datetime, session: str, by: str) -> Iterator[Link]:
        """Make places of the new items, and link those in a slot with their neighbours, in the order of the rules."""
        new = [i for i in items if i.corrects is None]
        by_item = {item.id: Place(len(self.places) + n, item) for n, item in enumerate(new)}
        self.places += by_item.values()
        slotted = sorted((i for i in new if i.slot is not None), key=lambda i: (i.valid_from, i.id))
        for item in slotted:
            insort(self.order[_slot(item)], (item.valid_from, by_item[item.id]), key=lambda e: e[0])
        ahead = set(by_item)  # new ones that are not linked yet
        for item in slotted:
            ahead.remove(item.id)
            order = self.order[_slot(item)]
            here = order.index((item.valid_from, by_item[item.id]))
            if here > 0 and order[here - 1][1].latest.id not in by_item:  # a new one has linked itself already
                yield Link(order[here - 1][1].latest.id, item.id, at, session, by)
            chained = False  # does a chain lead to the rest?
            for _, place in order[here + 1 :]:
                if not chained or place.latest.id in ahead:
                    yield Link(item.id, place.latest.id, at, session, by)
                chained = chained or place.latest.id not in ahead

    def one(self, untouched: list[Item], *, slotted: bool = True) -> Place | None:
        """A place that stands, that this session does not touch yet; mostly a recent one."""
        taken = {i.corrects for i in untouched}
        for _ in range(8):
            if not self.places:
                return None
            back = int(self.random.expovariate(8 / len(self.places)))
            place = self.places[max(0, len(self.places) - 1 - back)]
            if not (place.rejected or place.ended or place.latest.id in taken) and (slotted or not place.latest.slot):
                return place
        return None

    def correction(self, session: str, at: datetime, by: str, items: list[Item]) -> Item | None:
        place = self.one(items)
        if place is None or any(place.latest.id in (old.latest.id, new.latest.id) for old, new, _ in self.links[-20:]):
            return None
        old = place.latest
        if old.slot is not None and any(i.slot == old.slot for i in items):
            return None  # the two would be linked
        id = f"{old.id.split('.')[0]}.{old.id.count('.') + len(old.id)}{self.random.randrange(1000)}"
        new = Item(
            old.kind, id, self.text(), old.valid_from, at, session, old.valid_to, None, old.slot, old.about,
            corrects=old.id, by=by,
        )  # fmt: skip
        place.latest = new
        return new

    def typed_links(self, session: str, at: datetime, by: str, items: list[Item]) -> Iterator[Link]:
        """Links that people write, late ones: from an older item to a newer one, so that no circle comes of it."""
        if self.chain and len(self.places) > 20:
            yield from self.chain_on(session, at, by)
        for _ in items:
            if self.random.random() > 0.02:
                continue
            one, other = self.one(items, slotted=False), self.one(items, slotted=False)
            if one is None or other is None or one is other or one.latest.kind != other.latest.kind:
                continue
            if any(place.latest.session == session for place in (one, other)):
                continue
            old, new = sorted((one, other), key=lambda p: p.number)
            link = Link(old.latest.id, new.latest.id, at, session, by)
            if (link.old, link.new) not in self.pairs:
                self.pairs.add((link.old, link.new))
                self.links.append((old, new, link))
                yield link

    def chain_on(self, session: str, at: datetime, by: str) -> Iterator[Link]:
        """One component of many items: each unslotted decision supersedes the last of the chain."""
        for place in self.places[-20:]:
            last = self.chained
            if place.latest.slot or place.latest.kind != "decision" or place.rejected or place.latest.corrects:
                continue
            if last is not None and not last.rejected and last.number < place.number:
                yield Link(last.latest.id, place.latest.id, at, session, by)
                self.world.chain.append(place.latest.id)
                self.chain -= 1
            self.chained = place
            return

    def ending(self, session: str, at: datetime, by: str, items: list[Item]) -> Ending | None:
        place = self.one(items)
        if place is None:
            return None
        place.ended = True
        day = max(place.latest.valid_from, at.replace(hour=0, minute=0, second=0)) + timedelta(days=1)
        return Ending(place.latest.id, day, by, at, session, self.text())

    def review(self, session: str, at: datetime, by: str, items: list[Item]) -> Review | None:
        pick = self.random.random()
        if pick < 0.15 and self.links:
            _, _, link = self.links[self.random.randrange(len(self.links))]
            if link.session == session:
                return None
            return Review("rejects", Target(link.old, link.new), by, self.text(), at, session)
        if pick < 0.25:
            place = self.random.choice(self.places) if self.places else None
            if place is None or not place.rejected or place.latest.session == session:
                return None
            place.rejected = False
            return Review("reinstates", Target(place.latest.id), by, self.text(), at, session)
        place = self.one(items)
        if place is None or place.latest.session == session:
            return None
        place.rejected = True
        return Review("rejects", Target(place.latest.id), by, self.text(), at, session)


def _slot(item: Item) -> int:
    """The number of an item's slot."""
    return int((item.slot or "").rsplit("/", 1)[1])


def _stated(
    id: str,
    at: datetime,
    by: str,
    entities: list[Entity],
    episodes: list[Episode],
    items: list[Item],
    links: list[Link],
    endings: list[Ending],
    reviews: list[Review],
) -> dict[str, Any]:
    """A session as its file states it; the links that a slot makes by itself are not stated."""

    def stated_item(i: Item) -> dict[str, Any]:
        row = {
            "id": i.id,
            "text": i.text,
            "rationale": i.rationale,
            "slot": i.slot,
            "about": list(i.about),
            "validFrom": show(i.valid_from),
            "validTo": show(i.valid_to) if i.valid_to else None,
            "from": list(i.evidence) or None,
            "confidence": i.confidence,
            "corrects": i.corrects,
        }
        return {key: value for key, value in row.items() if value is not None}

    def target(t: Target) -> Any:
        return {"old": t.id, "new": t.new} if t.new else t.id

    found: dict[str, Any] = {
        "session": id,
        "at": show(at),
        "by": by,
        "entities": [{"name": e.name, "kind": e.kind} for e in entities],
        "episodes": [
            {
                "id": e.id, "kind": e.kind, "text": e.text, "at": show(e.at) if e.at else None,
                "mentions": list(e.mentions),
            }
            for e in episodes
        ],
        "decisions": [stated_item(i) for i in items if i.kind == "decision"],
        "facts": [stated_item(i) for i in items if i.kind == "fact"],
        "supersessions": [{"old": link.old, "new": link.new} for link in links],
        "endings": [{"id": e.id, "validTo": show(e.valid_to), "reason": e.reason} for e in endings],
        "reviews": [{r.verdict.removesuffix("s"): target(r.target), "reason": r.reason} for r in reviews],
    }  # fmt: skip
    return {key: value for key, value in found.items() if value != []}


def entity_count(size: int) -> int:
    """How many entities a ledger of that size names: 250 at 1,000 items, 3,000 at 100,000."""
    return min(3000, 220 + size * 28 // 1000)


def invent(size: int, seed: int = 1, *, slots: Iterable[int] | None = None, chain: int = 0) -> World:
    """A ledger of so many items (corrections come on top).

    `slots` are the sizes of slots larger than everyday ones; left out: as large as a ledger of that size has them.
    `chain` links so many unslotted items into one component.
    """
    if slots is None:
        slots = (1000, 200, 200, 200) if size >= 100_000 else (200,) if size >= 10_000 else ()
    return _Generator(size, seed, slots, chain).run()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.generate", description="Write an invented ledger.")
    parser.add_argument("size", type=int, help="how many items")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sessions", action="store_true", help="write what was written as session files, too")
    options = parser.parse_args()
    world = invent(options.size, options.seed)
    world.write(options.folder)
    if options.sessions:
        (options.folder / "sessions.json").write_text(json.dumps(world.sessions, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
