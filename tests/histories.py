"""Random ledgers for property tests: session documents as people and agents would write them, from a seed.

A tool may refuse a session, so a history grows in a conversation: `Histories.next` proposes a session, and whoever
applied it says so with `Histories.accepted`. For that the generator keeps a light model of what exists, enough to
propose mostly acceptable sessions; it does not decide anything, and where it is wrong a proposal is merely refused.

All dates come from small pools: it is at edges that coincide where rules break.
"""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

Document = dict[str, Any]
Pair = tuple[str, str]
"""Two places, each named by its first item: the old one, and the one that supersedes it."""

DAYS = ("2024-01-01", "2024-01-10", "2024-01-20", "2024-02-01", "2024-02-06", "2024-02-12", "2024-03-01", "2024-04-01")
FINE = (  # the instants around and at a midnight of DAYS, written in other ways
    "2024-01-09T23:59:59.999999Z",
    "2024-01-10T00:00:00.000001Z",
    "2024-01-20T02:00:00+02:00",
    "2024-01-31T19:30:00-04:30",
    "2024-02-06T09:00:00Z",
    "2024-02-12T00:00:00.5Z",
)
KINDS: dict[str, tuple[str, ...]] = {
    "service": ("orders", "Orders", "payments"),
    "database": ("postgres", "mysql"),
    "team": ("Team  Blue", "team blue", "équipe"),
}
SLOTS = ("orders/database", "orders/cache", "on call")
PEOPLE = ("sam", "mia", "memory-agent")
LISTS: dict[str, tuple[str, str]] = {"decisions": ("decision", "d"), "facts": ("fact", "f")}


def instant(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def show(at: datetime) -> str:
    text = at.isoformat().removesuffix("+00:00")
    return (text.rstrip("0") if at.microsecond else text) + "Z"


def ids_in(value: Any) -> list[str]:
    """An id or a list of ids, or nothing."""
    return [] if value is None else [value] if isinstance(value, str) else list(value)


@dataclass(frozen=True)
class Version:
    """What the model remembers of an item."""

    id: str
    kind: str
    place: str  # the first item of its place
    session: str
    valid_from: datetime
    valid_to: datetime | None
    recorded_at: datetime
    slot: str | None = None
    corrects: str | None = None

    def meets(self, other: Version) -> bool:
        return (self.valid_to is None or other.valid_from < self.valid_to) and (
            other.valid_to is None or self.valid_from < other.valid_to
        )


@dataclass(frozen=True)
class Verdict:
    at: datetime
    rejects: bool


@dataclass
class World:
    """What exists after the sessions accepted so far. Values are immutable, so a copy of the containers is a copy."""

    newest: datetime | None = None
    sessions: dict[str, Document] = field(default_factory=dict)
    versions: dict[str, Version] = field(default_factory=dict)
    links: dict[Pair, tuple[str, str]] = field(default_factory=dict)  # with the ids of one entry of the pair
    endings: dict[str, tuple[datetime, ...]] = field(default_factory=dict)  # place -> clocks
    verdicts: dict[Any, Verdict] = field(default_factory=dict)  # the latest one on an id, a Pair, or ("end", place)
    episodes: dict[str, str] = field(default_factory=dict)  # id -> session

    def copy(self) -> World:
        return World(self.newest, *(dict(vars(self)[name]) for name in list(vars(self))[1:]))

    # Questions

    def rejected(self, target: Any) -> bool:
        return target in self.verdicts and self.verdicts[target].rejects

    def correctors(self, id: str) -> list[Version]:
        """What corrects it, directly or over further corrections."""
        direct = [v for v in self.versions.values() if v.corrects == id]
        return direct + [further for v in direct for further in self.correctors(v.id)]

    def superseded_by_correction(self, id: str) -> bool:
        return any(not self.rejected(v.id) for v in self.correctors(id))

    def in_force(self, place: str) -> list[Version]:
        return [
            v
            for v in self.versions.values()
            if v.place == place and not self.rejected(v.id) and not self.superseded_by_correction(v.id)
        ]

    def current(self) -> list[Version]:
        """Versions that may be corrected, linked, ended or superseded; also rejected ones, if nothing else is there."""
        places = dict.fromkeys(v.place for v in self.versions.values())
        open_to = ((self.in_force(p) or [self.latest(p)]) for p in places)
        return [v for versions in open_to for v in versions if not self.superseded_by_correction(v.id)]

    def latest(self, place: str) -> Version:
        return max((v for v in self.versions.values() if v.place == place), key=lambda v: (v.recorded_at, v.id))

    def chain(self, old: str, new: str, live_only: bool) -> bool:
        """Whether recorded links lead from the place `old` to the place `new`."""
        reached, front = set(), {old}
        while front:
            reached |= front
            pairs = (p for p in self.links if not (live_only and self.rejected(p)))
            front = {b for a, b in pairs if a in front} - reached
        return new in reached

    def may_link(self, old: Version, new: Version) -> bool:
        return (
            old.kind == new.kind
            and (old.slot is None or old.slot == new.slot)
            and not self.chain(new.place, old.place, live_only=True)
        )

    # What a session brings

    def apply(self, session: Document) -> None:
        at, name = instant(session["at"]), session["session"]
        self.newest = max(at, self.newest or at)
        self.sessions[name] = session
        for n, episode in enumerate(session.get("episodes", ()), 1):
            self.episodes.setdefault(episode.get("id", f"{name}/e{n}"), name)
        stated: list[tuple[Version, Document]] = []
        for key, (kind, letter) in LISTS.items():
            for n, item in enumerate(session.get(key, ()), 1):
                stated.append((self._version(item, item.get("id", f"{name}/{letter}{n}"), kind, name, at), item))
        self.versions |= {version.id: version for version, _ in stated}
        for version, item in stated:
            for old in ids_in(item.get("supersedes")):
                self._link(old, version.id)
        for link in session.get("supersessions", ()):
            self._link(link["old"], link["new"])
        for version, _ in sorted(stated, key=lambda s: (s[0].valid_from, s[0].id)):
            self._order_slot(version)
        for ending in session.get("endings", ()):
            if ending["id"] in self.versions:
                place = self.versions[ending["id"]].place
                self.endings[place] = (*self.endings.get(place, ()), at)
        for review in session.get("reviews", ()):
            target = self._target(review.get("reject", review.get("reinstate")))
            verdict, before = Verdict(at, "reject" in review), self.verdicts.get(target)
            if before is None or at > before.at or (at == before.at and verdict.rejects):
                self.verdicts[target] = verdict

    def _version(self, item: Document, id: str, kind: str, session: str, at: datetime) -> Version:
        old = self.versions.get(item.get("corrects", ""))
        bare = Version(id, kind, id, session, at, None, at)
        version = replace(old, id=id, session=session, recorded_at=at, corrects=old.id) if old else bare
        if "validFrom" in item:
            version = replace(version, valid_from=instant(item["validFrom"]))
        if "validTo" in item:
            end = item["validTo"]
            version = replace(version, valid_to=None if end == "open" else instant(end))
        return replace(version, slot=item.get("slot", version.slot))

    def _link(self, old: str, new: str) -> None:
        if old in self.versions and new in self.versions:
            self.links.setdefault((self.versions[old].place, self.versions[new].place), (old, new))

    def _order_slot(self, new: Version) -> None:
        """The links that a slot makes by itself: the later start supersedes the earlier, where no chain leads."""
        if new.slot is None:
            return
        rivals = {
            v.place
            for v in self.versions.values()
            if v.kind == new.kind and v.slot == new.slot and v.place != new.place and v.meets(new)
        }
        in_order = sorted((self.latest(p) for p in rivals), key=lambda v: (v.valid_from, v.recorded_at, v.id))
        for rival in in_order:
            if self.chain(rival.place, new.place, False) or self.chain(new.place, rival.place, False):
                continue
            old, later = sorted((rival, new), key=lambda v: (v.valid_from, v.recorded_at, v.id))
            self._link(old.id, later.id)

    def _target(self, target: Any) -> Any:
        if isinstance(target, str):
            return target
        names = [target["end"]] if "end" in target else [target["old"], target["new"]]
        places = [self.versions[n].place if n in self.versions else n for n in names]
        return ("end", places[0]) if "end" in target else (places[0], places[1])


class Histories:
    """Proposes one session after the other. `wild` is the share of sessions that break a rule on purpose.

    Ids ascend with the clocks, so the sessions applied one by one and as one list are applied in the same order.
    """

    def __init__(self, rng: random.Random, wild: float = 0.15, largest: int = 4, prefix: str = "s") -> None:
        self.rng, self.wild, self.largest, self.prefix = rng, wild, largest, prefix
        self.world = World()
        self._count = 0

    def next(self) -> Document:
        """A session nobody has applied yet (or, wild, one that somebody has)."""
        self._count += 1
        session = self._tame()
        if self.world.versions and self.rng.random() < self.wild:
            session = self.rng.choice(WILD)(self, session)
        return copy.deepcopy(session)

    def accepted(self, session: Document) -> None:
        """The tool applied this session, or found it applied already. It must state its clock."""
        if session["session"] not in self.world.sessions:
            self.world.apply(copy.deepcopy(session))

    # Chance

    def some(self, chance: float) -> bool:
        return self.rng.random() < chance

    def a_time(self) -> str:
        return self.rng.choice(FINE if self.some(0.15) else DAYS)

    def a_time_after(self, start: datetime) -> str:
        later = [t for t in (*DAYS, *FINE) if instant(t) > start]
        return self.rng.choice(later) if later else show(start + self.rng.choice((TICK, timedelta(days=30))))

    def names(self) -> list[str]:
        every = [name for names in KINDS.values() for name in names]
        return self.rng.sample(every, self.rng.choice((1, 1, 1, 2)))

    def fresh(self, letter: str) -> str:
        """An id nobody has; random first letters, so that the order of ids is not the order of writing."""
        return f"{self.rng.choice('abxyz')}{letter}{self._count}-{self.rng.randrange(10**6)}"

    def a_clock(self) -> datetime:
        newest = self.world.newest
        if newest is None:
            return instant(self.rng.choice(("2024-01-01", "2024-01-01T09:00:00Z", "2024-01-12T08:30:00.25Z")))
        if self.some(0.2):
            return newest  # two sessions of one clock
        if self.some(0.15):
            return newest + self.rng.choice((TICK, timedelta(milliseconds=1), timedelta(hours=1)))
        ahead = [instant(d) + timedelta(hours=h) for d in DAYS for h in (0, 9) if instant(d) > newest]
        return self.rng.choice(ahead[:3]) if ahead else newest + timedelta(days=self.rng.choice((1, 7)))

    # Sessions that keep the rules

    def _tame(self) -> Document:
        session: Document = {"session": f"{self.prefix}{self._count:04}", "at": show(self.a_clock())}
        if self.some(0.5):
            session["by"] = self.rng.choice(PEOPLE)
        wanted = self.rng.randint(1, self.largest)
        for _ in range(wanted * 4):  # a step that finds nothing to do says nothing
            if wanted == 0:
                break
            draft = self.world.copy()
            draft.apply(session)
            before = copy.deepcopy(session)
            self.rng.choices(STEPS, WEIGHTS)[0](self, session, draft)
            wanted -= session != before
        if not any(isinstance(brought, list) for brought in session.values()):
            self.bring_item(session, self.world)
        self._shuffle(session)
        return session

    def _shuffle(self, session: Document) -> None:
        """The order in the file decides nothing; and some ids are left out, where nothing in the session names them."""
        named = {
            text for e in _elements(session) for key, value in e.items() if key != "id" for text in _strings(value)
        }
        named |= {ending["id"] for ending in session.get("endings", ())}
        for key in ("decisions", "facts", "supersessions", "endings", "reviews", "episodes", "entities"):
            self.rng.shuffle(session.get(key, []))
            for element in session.get(key, ()):
                if key in ("decisions", "facts", "episodes") and element["id"] not in named and self.some(0.15):
                    del element["id"]

    def bring_item(self, session: Document, draft: World) -> None:
        key = self.rng.choices(("decisions", "facts"), (3, 1))[0]
        kind, letter = LISTS[key]
        item: Document = {"id": self.fresh(letter), "text": f"text {self.rng.randrange(1000)}"}
        if self.some(0.5):
            item["slot"] = self.rng.choice(SLOTS)
        if self.some(0.9):
            item["about"] = self.names()
        if self.some(0.85):
            item["validFrom"] = self.a_time()
        if self.some(0.2):
            item["validTo"] = self.a_time_after(instant(item.get("validFrom", session["at"])))
        if self.some(0.2):
            item["rationale"] = f"because {self.rng.randrange(1000)}"
        if self.some(0.1):
            item["confidence"] = self.rng.choice((0, 0.25, 0.9, 1))
        self._cite(item, draft)
        self._supersede(item, draft, Version(item["id"], kind, item["id"], "", *BLANK, slot=item.get("slot")))
        session.setdefault(key, []).append(item)

    def _cite(self, item: Document, draft: World) -> None:
        if draft.episodes and self.some(0.35):
            cited = self.rng.sample(sorted(draft.episodes), min(len(draft.episodes), self.rng.choice((1, 1, 2))))
            item["from"] = cited[0] if len(cited) == 1 and self.some(0.5) else cited

    def _supersede(self, item: Document, draft: World, new: Version, chance: float = 0.45) -> None:
        """Typed links of an item that is not in the draft yet, or is a correction of something that is."""
        olds = [v for v in draft.current() if v.place != new.place and draft.may_link(v, new)]
        if not olds or not self.some(chance):
            return
        chosen = self.rng.sample(olds, min(len(olds), self.rng.choice((1, 1, 1, 2, 3))))
        ids = [v.id for v in chosen]
        item["supersedes"] = ids[0] if len(ids) == 1 and self.some(0.7) else ids

    def correct(self, session: Document, draft: World) -> None:
        olds = [v for v in draft.current() if v.session != session["session"]]
        if not olds:
            return
        old = self.rng.choice(olds)
        key, letter = ("decisions", "d") if old.kind == "decision" else ("facts", "f")
        item: Document = {"id": self.fresh(letter), "corrects": old.id}
        slot = old.slot
        if self.some(0.6):
            item["text"] = f"text {self.rng.randrange(1000)}"
        if old.slot is None and self.some(0.3):
            item["slot"] = slot = self.rng.choice(SLOTS)
        elif old.slot is not None and self.some(0.3):
            item["slot"] = old.slot
        if self.some(0.2):
            item["about"] = self.names()
        start, end = old.valid_from, old.valid_to
        if self.some(0.4):
            item["validFrom"] = self.a_time()
            start = instant(item["validFrom"])
        if end is not None and (end <= start or self.some(0.3)):
            item["validTo"] = "open" if self.some(0.5) else self.a_time_after(start)
        elif self.some(0.15):
            item["validTo"] = self.a_time_after(start)
        self._cite(item, draft)
        self._supersede(item, draft, replace(old, slot=slot), chance=0.15)
        session.setdefault(key, []).append(item)

    def link(self, session: Document, draft: World) -> None:
        current = draft.current()
        pairs = [(a, b) for a in current for b in current if a.place != b.place and draft.may_link(a, b)]
        if pairs:
            old, new = self.rng.choice(pairs)
            session.setdefault("supersessions", []).append({"old": old.id, "new": new.id})

    def end(self, session: Document, draft: World) -> None:
        current = draft.current()
        if not current:
            return
        item = self.rng.choice([v for v in current if v.place in draft.endings and self.some(0.3)] or current)
        ending = {"id": item.id, "validTo": self.a_time_after(item.valid_from)}
        if self.some(0.5):
            ending["reason"] = f"reason {self.rng.randrange(1000)}"
        session.setdefault("endings", []).append(ending | self._signed(session))

    def review_item(self, session: Document, draft: World) -> None:
        if draft.versions:
            item = self.rng.choice(list(draft.versions.values()))
            if not draft.rejected(item.id) or self.some(0.1):
                self._review(session, "reject", item.id)
            elif not any(v.id in self._lineage(draft, item) for v in draft.in_force(item.place)):
                self._review(session, "reinstate", item.id)

    def _lineage(self, draft: World, item: Version) -> set[str]:
        """Versions that would be in force beside this one, were it reinstated: all but those it corrects itself."""
        above, at = set(), item
        while at.corrects is not None:
            at = draft.versions[at.corrects]
            above.add(at.id)
        below = {v.id for v in draft.correctors(item.id)}
        return {v.id for v in draft.versions.values() if v.place == item.place} - above - below - {item.id}

    def review_link(self, session: Document, draft: World) -> None:
        if not draft.links:
            return
        pair, (old, new) = self.rng.choice(list(draft.links.items()))
        if self.some(0.2):  # a verdict is on the two places: any of their ids name them
            old, new = (self.rng.choice([v.id for v in draft.versions.values() if v.place == p]) for p in pair)
        slotted = draft.latest(pair[0]).slot is not None
        if not draft.rejected(pair):
            if not slotted or self.some(0.15):  # of a slot it mostly leaves two items that both hold
                self._review(session, "reject", {"old": old, "new": new})
        elif not draft.chain(pair[1], pair[0], live_only=True):
            self._review(session, "reinstate", {"old": old, "new": new})

    def review_ending(self, session: Document, draft: World) -> None:
        if draft.endings:
            place = self.rng.choice(list(draft.endings))
            id = self.rng.choice([v.id for v in draft.versions.values() if v.place == place])
            verb = "reinstate" if draft.rejected(("end", place)) else "reject"
            self._review(session, verb, {"end": id})

    def _review(self, session: Document, verb: Literal["reject", "reinstate"], target: Any) -> None:
        review = {verb: target, "reason": f"reason {self.rng.randrange(1000)}"}
        session.setdefault("reviews", []).append(review | self._signed(session))

    def _signed(self, session: Document) -> Document:
        """`by` defaults to the session's, so it may be left out only where the session has one."""
        return {} if "by" in session and self.some(0.5) else {"by": self.rng.choice(PEOPLE)}

    def bring_episode(self, session: Document, draft: World) -> None:
        episode: Document = {
            "id": self.fresh("e"),
            "kind": self.rng.choice(("message", "tool_call", "document")),
            "text": f"episode {self.rng.randrange(1000)}",
        }
        if self.some(0.5):
            episode["at"] = self.a_time()
        if self.some(0.5):
            episode["mentions"] = self.names()
        session.setdefault("episodes", []).append(episode)

    def bring_entity(self, session: Document, draft: World) -> None:
        kind = self.rng.choice(list(KINDS))
        entity = {"name": self.rng.choice(KINDS[kind]), "kind": kind}
        if entity not in session.get("entities", []):
            session.setdefault("entities", []).append(entity)


TICK = timedelta(microseconds=1)
BLANK = (datetime.min.replace(tzinfo=UTC), None, datetime.min.replace(tzinfo=UTC))

Step = Callable[[Histories, Document, World], None]
STEPS: list[Step] = [
    Histories.bring_item,
    Histories.correct,
    Histories.link,
    Histories.end,
    Histories.review_item,
    Histories.review_link,
    Histories.review_ending,
    Histories.bring_episode,
    Histories.bring_entity,
]
WEIGHTS = (36, 16, 10, 9, 12, 7, 5, 9, 3)


def _elements(session: Document) -> list[Document]:
    return [element for brought in session.values() if isinstance(brought, list) for element in brought]


def _strings(value: Any) -> list[str]:
    if isinstance(value, (dict, list)):
        return [text for inner in (value.values() if isinstance(value, dict) else value) for text in _strings(inner)]
    return [value] if isinstance(value, str) else []


# Sessions that break a rule (most of them, most of the time). Each takes a session that keeps the rules.


def _known_item(h: Histories) -> Version:
    return h.rng.choice(list(h.world.versions.values()))


def _new_item(h: Histories, **keys: Any) -> Document:
    return {"id": h.fresh("w"), "text": "wild", "validFrom": h.a_time(), **keys}


def _with(session: Document, key: str, *elements: Document) -> Document:
    return session | {key: [*session.get(key, []), *elements]}


def _key_of(item: Version) -> str:
    return "decisions" if item.kind == "decision" else "facts"


def unknown_id(h: Histories, session: Document) -> Document:
    ghost = "nobody"
    return h.rng.choice(
        (
            _with(session, "decisions", _new_item(h, supersedes=ghost)),
            _with(session, "decisions", _new_item(h, corrects=ghost)),
            _with(session, "decisions", _new_item(h, **{"from": ghost})),
            _with(session, "supersessions", {"old": ghost, "new": _known_item(h).id}),
            _with(session, "endings", {"id": ghost, "validTo": h.a_time(), "by": "sam"}),
            _with(session, "reviews", {"reject": ghost, "by": "sam", "reason": "wild"}),
            _with(session, "reviews", {"reject": {"end": _known_item(h).id}, "by": "sam", "reason": "wild"}),
        )
    )


def any_two_linked(h: Histories, session: Document) -> Document:
    """Cycles, links within one place, over kinds and slots, of corrected items: whatever comes."""
    return _with(session, "supersessions", {"old": _known_item(h).id, "new": _known_item(h).id})


def a_cycle(h: Histories, session: Document) -> Document:
    if not h.world.links:
        return any_two_linked(h, session)
    old, new = h.rng.choice(list(h.world.links.values()))
    return _with(session, "supersessions", {"old": new, "new": old})


def anything_superseded(h: Histories, session: Document) -> Document:
    item = _new_item(h, supersedes=_known_item(h).id)
    if h.some(0.5):
        item["slot"] = h.rng.choice(SLOTS)
    return _with(session, h.rng.choice(("decisions", "facts")), item)


def anything_corrected(h: Histories, session: Document) -> Document:
    item = _new_item(h, corrects=_known_item(h).id)
    if h.some(0.3):
        item["slot"] = h.rng.choice(SLOTS)
    return _with(session, h.rng.choice(("decisions", "facts")), item)


def corrected_twice(h: Histories, session: Document) -> Document:
    old = h.rng.choice(h.world.current())
    return _with(session, _key_of(old), *(_new_item(h, corrects=old.id) for _ in range(2)))


def own_item_corrected(h: Histories, session: Document) -> Document:
    item = _new_item(h)
    return _with(session, "decisions", item, _new_item(h, corrects=item["id"]))


def empty_claim(h: Histories, session: Document) -> Document:
    item = _new_item(h, validTo=h.rng.choice(DAYS))
    if h.some(0.5):
        item = {k: v for k, v in item.items() if k != "validFrom"} | {"corrects": _known_item(h).id}
    return _with(session, "decisions", item)


def any_ending(h: Histories, session: Document) -> Document:
    return _with(session, "endings", {"id": _known_item(h).id, "validTo": h.a_time(), "by": "sam"})


def any_verdicts(h: Histories, session: Document) -> Document:
    """Reinstating beside a live correction, opening a slot, a reject and a reinstate of one clock: whatever comes."""
    targets: list[Any] = [_known_item(h).id, _known_item(h).id, {"old": _known_item(h).id, "new": _known_item(h).id}]
    targets += [{"old": old, "new": new} for old, new in h.world.links.values()]
    targets += [{"end": place} for place in h.world.endings]
    chosen = h.rng.choices(targets, k=h.rng.choice((1, 2)))
    return _with(
        session,
        "reviews",
        *({h.rng.choice(("reject", "reinstate")): t, "by": "sam", "reason": f"wild {n}"} for n, t in enumerate(chosen)),
    )


def an_older_clock(h: Histories, session: Document) -> Document:
    earlier = h.rng.choice([datetime(2023, 12, 31, 9, tzinfo=UTC), *(instant(d) for d in DAYS)])
    return session | {"at": show(earlier)}


def known_id(h: Histories, session: Document) -> Document:
    item = _known_item(h)
    return _with(session, _key_of(item), _new_item(h) | {"id": item.id})


def another_kind(h: Histories, session: Document) -> Document:
    return _with(session, "entities", {"name": "orders", "kind": "database"}, {"name": "ORDERS", "kind": "service"})


def the_same_again(h: Histories, session: Document) -> Document:
    """A retry: not refused, and nothing changes."""
    return h.rng.choice(list(h.world.sessions.values()))


def nearly_the_same_again(h: Histories, session: Document) -> Document:
    return h.rng.choice((session, {k: v for k, v in session.items() if not isinstance(v, list)})) | {
        "session": h.rng.choice(list(h.world.sessions))
    }


def nothing(h: Histories, session: Document) -> Document:
    return {k: v for k, v in session.items() if not isinstance(v, list)}


WILD: list[Callable[[Histories, Document], Document]] = [
    unknown_id,
    any_two_linked,
    any_two_linked,
    a_cycle,
    anything_superseded,
    anything_superseded,
    anything_corrected,
    anything_corrected,
    corrected_twice,
    own_item_corrected,
    empty_claim,
    any_ending,
    any_ending,
    any_verdicts,
    any_verdicts,
    any_verdicts,
    an_older_clock,
    known_id,
    another_kind,
    the_same_again,
    nearly_the_same_again,
    nothing,
]


# The same history under other names


_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})([Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2}))?")
_TIMES = ("at", "validFrom", "validTo")
_NAMES: Mapping[str, tuple[str, ...]] = {
    "ids": ("session", "id", "supersedes", "corrects", "from", "old", "new", "reject", "reinstate", "end"),
    "texts": ("text", "rationale"),
    "entities": ("about", "mentions", "name"),
    "slots": ("slot",),
    "reasons": ("reason",),
    "people": ("by",),
}


@dataclass
class Renaming:
    """What was renamed to what, and by how many days dates moved; `of` renames an expected answer."""

    days: int
    names: dict[str, str] = field(default_factory=dict)

    def time(self, text: str) -> str:
        """The same time of day, on another day."""
        return (date.fromisoformat(text[:10]) + timedelta(days=self.days)).isoformat() + text[10:]

    def of(self, answer: Any) -> Any:
        """Any JSON value: times are shifted, names renamed, all else is left alone; lists keep their order."""
        if isinstance(answer, str):
            return self.names.get(answer, self.time(answer) if _TIME.fullmatch(answer) else answer)
        if isinstance(answer, list):
            return [self.of(element) for element in answer]
        if isinstance(answer, dict):
            return {self.names.get(key, key): self.of(value) for key, value in answer.items()}
        return answer


def rename(
    sessions: Iterable[Document], days: int = 0, prefix: str = "zz-", **mappings: Callable[[str], str]
) -> tuple[list[Document], Renaming]:
    """The same sessions with other ids, texts, entities, slots, reasons and people, on other days; and the mapping.

    `mappings` says for any of `ids`, `texts`, `entities`, `slots`, `reasons`, `people` how to rename (default: put
    `prefix` before it). Ids decide ties and the order of answers, so the new ids must be in the order of the old ones;
    `<session>/d1`, the id of an item that states none, must become `<new session>/d1`. Both are checked.
    """
    sessions = list(sessions)
    renaming = Renaming(days)
    used: dict[str, dict[str, str]] = {what: {} for what in _NAMES}
    what_of = {key: what for what, keys in _NAMES.items() for key in keys}

    def renamed(text: str, what: str) -> str:
        new = mappings.get(what, lambda old: prefix + old)(text)
        forms = {text: new}
        if what in ("entities", "slots"):  # answers show them with their white space collapsed
            forms[" ".join(text.split())] = " ".join(new.split())
        for old, shown in forms.items():
            if renaming.names.setdefault(old, shown) != shown:
                raise ValueError(f"{old!r} would be renamed to both {renaming.names[old]!r} and {shown!r}")
        return used[what].setdefault(text, new)

    def walk(value: Any, key: str) -> Any:
        if isinstance(value, dict):
            return {k: walk(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [walk(element, key) for element in value]
        if not isinstance(value, str):
            return value
        if key in _TIMES:
            return renaming.time(value) if _TIME.fullmatch(value) else value  # `open` stays
        return renamed(value, what_of[key]) if key in what_of else value

    documents = [walk(session, "") for session in sessions]
    for session in sessions:  # ids that nothing states, but answers show
        for key, letter in [("decisions", "d"), ("facts", "f"), ("episodes", "e")]:
            for n, element in enumerate(session.get(key, ()), 1):
                if "id" not in element and renamed(own := f"{session['session']}/{letter}{n}", "ids") != (
                    f"{used['ids'][session['session']]}/{letter}{n}"
                ):
                    raise ValueError(f"{own!r} must be renamed with its session")
    ids = used["ids"]
    if len(set(ids.values())) != len(ids) or sorted(ids, key=ids.__getitem__) != sorted(ids):
        raise ValueError("the new ids are not in the order of the old ones")
    return documents, renaming
