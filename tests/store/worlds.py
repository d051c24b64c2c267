"""Ledgers to store: a small one with everything in it, random ones, and one of any size for measuring.

The stretches are invented, for the store keeps what it is given; what they ought to be is the rule's business.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from ledger_cli.model import Ending, Entity, Entry, Episode, Item, Link, Review, Stretch, Target

T0 = datetime(2024, 1, 1, 9, tzinfo=UTC)
Shown = tuple[datetime | None, datetime | None]
HOSTILE = "it's \"quoted\" \\ $id {id: 'x'} \\u004c // no comment\n\tDETACH DELETE d; 日本語 é \u2028 🦀"


def day(n: float) -> datetime:
    return T0 + timedelta(days=n)


@dataclass
class World:
    entries: list[Entry] = field(default_factory=list)
    stretches: dict[str, list[Stretch]] = field(default_factory=dict)
    shown: dict[str, Shown] = field(default_factory=dict)

    def sessions(self) -> list[list[Entry]]:
        by_id: dict[str, list[Entry]] = {}
        for entry in self.entries:
            by_id.setdefault(entry.session, []).append(entry)
        return list(by_id.values())

    def of(self, kind: type) -> list[Entry]:
        return [e for e in self.entries if isinstance(e, kind)]


def orders() -> World:
    """One of each: both kinds, a slot, a correction, two links of one pair, an ending, verdicts on all three."""
    world = World()
    world.entries = [
        Entity("orders", "service", day(0), "s1"),
        Episode("e1", "message", HOSTILE, day(0), "s1", ("Orders", "the  wiki".replace("  ", " ")), day(-1)),
        Item("decision", "d1", "orders uses postgres", day(0), day(0), "s1", slot="orders/database",
             about=("Orders",), evidence=("e1",), confidence=0.9, by="agent"),
        Item("fact", "f1", HOSTILE, day(-2), day(0), "s1", rationale=HOSTILE, about=("PAYMENTS", "orders")),
        Item("decision", "d4", "orders uses mysql", day(9), day(31), "s2", slot="orders/database",
             about=("orders", "mysql"), rationale="the read replicas need it", valid_to=day(300)),
        Link("d1", "d4", day(31), "s2", "agent"),
        Item("decision", "d5", "orders uses MySQL 8", day(9), day(32), "s3", slot="orders/database", about=("orders",),
             corrects="d4", valid_to=day(300)),
        Link("d1", "d4", day(32), "s3"),
        Ending("d5", day(200), "sam", day(40), "s4", "the service is gone"),
        Ending("d5", day(200), "sam", day(40), "s4"),
        Review("rejects", Target("f1"), "sam", "not so", day(41), "s5"),
        Review("reinstates", Target("f1"), "sam", "it was", day(42), "s6"),
        Review("rejects", Target("d1", new="d4"), "sam", "not the same thing", day(42), "s6"),
        Review("rejects", Target("d5", ending=True), "sam", "still there", day(42), "s6"),
        Review("rejects", Target("d5", ending=True), "ann", "still there", day(42), "s6"),
        Episode("e2", "tool_call", "", day(42), "s6"),
    ]  # fmt: skip
    world.stretches = {
        "d1": [Stretch(day(0), None, day(0), day(31)), Stretch(day(0), day(9), day(31), None)],
        "d4": [Stretch(day(9), day(300), day(31), day(32))],
        "d5": [Stretch(day(9), day(300), day(32), None)],
        "f1": [],
    }
    world.shown = {"d1": (day(9), day(31)), "d4": (day(9), day(32)), "d5": (day(300), None), "f1": (day(-2), day(41))}
    return world


def some(seed: int, sessions: int = 8) -> World:
    """A random ledger. Later sessions name what earlier ones brought."""
    pick = random.Random(seed)
    names = ["orders", "Orders", "ORDERS", "pay ments", "Straße", "STRASSE", "支付", "x"]
    slots = [None, None, "a/b", "c/d", "1"]
    world = World()
    ids: list[str] = []
    links: list[Link] = []
    for n in range(sessions):
        session, at = f"s{n}", day(n // 2) + timedelta(microseconds=pick.randint(0, 3))
        by = pick.choice([None, "sam"])  # the links of a session have one author
        for k in range(pick.randint(0, 2)):
            world.entries.append(Entity(pick.choice(names), pick.choice(["service", "team"]), at, session))
            mentions = tuple(sorted(pick.sample(names, k=pick.randint(0, 1))))
            world.entries.append(Episode(f"{session}/e{k}", "message", HOSTILE, at, session, mentions))
        for k in range(pick.randint(0, 3)):
            kind = pick.choice(["decision", "fact"])
            item = Item(
                kind,
                f"{session}/{k}" if pick.random() < 0.9 else f"00{n}{k}",
                pick.choice(["", "true", "1.10", HOSTILE]),
                day(pick.randint(-5, 5)),
                at,
                session,
                pick.choice([None, day(9)]),
                pick.choice([None, "", "because"]),
                pick.choice(slots),
                tuple(sorted(pick.sample(["orders", "Straße", "支付"], k=pick.randint(0, 3)))),
                tuple(e.id for e in world.entries if isinstance(e, Episode) and pick.random() < 0.3),
                pick.choice([None, 0.0, 0.5, 1.0]),
                pick.choice([None, *ids]),
                pick.choice([None, "agent"]),
            )
            world.entries.append(item)
            ids.append(item.id)
            world.stretches[item.id] = [
                Stretch(day(a), pick.choice([None, day(a + 1)]), day(b), pick.choice([None, day(b + 1)]))
                for a, b in {(pick.randint(0, 3), pick.randint(0, 9)) for _ in range(pick.randint(0, 3))}
            ]
            world.shown[item.id] = (pick.choice([None, day(3)]), pick.choice([None, day(4)]))
        for _ in range(pick.randint(0, 3) if len(ids) > 1 else 0):
            old, new = pick.sample(ids, k=2)
            links.append(Link(old, new, at, session, by))
            world.entries.append(links[-1])
            on = pick.choice([Target(old), Target(old, ending=True), Target(links[0].old, new=links[0].new)])
            world.entries.append(Review(pick.choice(["rejects", "reinstates"]), on, "sam", HOSTILE, at, session))
            world.entries.append(Ending(new, day(pick.randint(0, 9)), "sam", at, session, pick.choice([None, "over"])))
    world.entries = list(dict.fromkeys(world.entries))
    return world


def many(n: int, seed: int = 1) -> World:
    """`n` items in sessions of five: three in four in a slot, one in three replaced, some corrected and reviewed."""
    pick = random.Random(seed)
    world = World()
    start = datetime(2015, 1, 1, tzinfo=UTC)
    last: dict[str, str] = {}
    for i in range(n):
        session = f"session-{i // 5}"
        at = start + timedelta(minutes=30 * (i // 5))
        id = f"{session}/d{i % 5}"
        valid = at - timedelta(days=pick.randint(-10, 40))
        service = f"service {pick.randrange(max(n // 20, 5))}"
        if i % 5 == 0:
            world.entries.append(Episode(f"{session}/e1", "message", f"heard about {service}", at, session, (service,)))
        slot = f"{service}/{pick.choice('abc')}" if i % 4 else None
        old = last.get(slot) if slot else None
        corrects = old if old is not None and i % 10 == 1 else None
        world.entries.append(
            Item(
                "fact" if slot is None else "decision",
                id,
                f"{service} uses option {i} for task {pick.randrange(99)}",
                valid,
                at,
                session,
                slot=slot,
                about=tuple(sorted((service, f"Option {pick.randrange(2000)}"))),
                evidence=(f"{session}/e1",) if i % 5 < 2 else (),
                rationale="the team said so" if i % 3 == 0 else None,
                corrects=corrects,
                by="agent",
            )
        )
        world.stretches[id] = [Stretch(valid, None, at, None)]
        world.shown[id] = (None, None)
        if old is not None:
            if corrects is None:
                world.entries.append(Link(old, id, at, session, "agent"))
            begun = world.stretches[old][0]
            world.stretches[old] = [Stretch(begun.valid_from, None, begun.known_from, at)]
            if begun.valid_from < valid and corrects is None:
                world.stretches[old].append(Stretch(begun.valid_from, valid, at, None))
            world.shown[old] = (max(valid, begun.valid_from), at)
        if slot:
            last[slot] = id
        if i % 50 == 49:
            world.entries.append(Review("rejects", Target(id), "sam", "no", at, session))
    return world
