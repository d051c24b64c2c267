"""The rule of the two axes, read word by word and computed by brute force.

The package computes the same answers with care for speed; this file has no such care, so that it can be read beside
the rule and believed. It imports nothing from the package: a shared helper would be a shared mistake. Its input is the
list of entry lines of a checkpoint as parsed from JSON, in any order; times may be strings or aware datetimes, and all
times it returns are aware datetimes in UTC. `k=None` always means: with everything known.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

Entry = dict[str, Any]
Place = frozenset[str]

FOREVER = datetime.max.replace(tzinfo=UTC)
TICK = timedelta(microseconds=1)  # no instant lies between `w - TICK` and `w`, so `w - TICK` is "just before w"


def instant(time: str | datetime) -> datetime:
    """A date is midnight UTC; everything else carries `Z` or an offset."""
    at = datetime.fromisoformat(time) if isinstance(time, str) else time
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def moment(k: str | datetime | None) -> datetime:
    return FOREVER if k is None else instant(k)


def name(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def entity_key(text: str) -> str:
    return unicodedata.normalize("NFC", name(text).casefold())


def is_item(entry: Entry) -> bool:
    return "decision" in entry or "fact" in entry


def item_id(item: Entry) -> str:
    return item["decision"] if "decision" in item else item["fact"]


def item_kind(item: Entry) -> str:
    return "decision" if "decision" in item else "fact"


class Oracle:
    """Answers about one list of entries."""

    def __init__(self, entries: Iterable[Mapping[str, Any]]) -> None:
        times = ("recordedAt", "validFrom", "validTo")
        self.entries: list[Entry] = [{k: instant(v) if k in times else v for k, v in e.items()} for e in entries]
        self.items = {item_id(e): e for e in self.entries if is_item(e)}
        self.links = [e for e in self.entries if "supersedes" in e]
        self.endings = [e for e in self.entries if "ends" in e]
        self.reviews = [e for e in self.entries if "rejects" in e or "reinstates" in e]
        # Instants at which an answer can change: along record time, and along valid time.
        self.writes = sorted({e["recordedAt"] for e in self.entries})
        edges = [e.get(key) for e in [*self.items.values(), *self.endings] for key in ("validFrom", "validTo")]
        self.boundaries = sorted({edge for edge in edges if edge is not None})
        self._places = {id: self._place(id) for id in self.items}
        self._correctors = {id: self._all_that_corrects(id) for id in self.items}
        # What verdicts an entry has does not depend on k; which of them are recorded by k does.
        self._verdicts = {id(e): [v for v in self.reviews if self._concerns(v, e)] for e in self.entries}
        self._known: dict[datetime, Known] = {}

    # Places

    def _all_that_corrects(self, id: str) -> set[str]:
        """Every item that corrects it, directly or over further corrections."""
        found: set[str] = set()
        while True:
            more = {i for i, item in self.items.items() if item.get("corrects") in {id, *found}} - found
            if not more:
                return found
            found |= more

    def _place(self, id: str) -> Place:
        """An item with all that corrects it, over any number of corrections; all recorded ones, rejected or not."""
        place = {id}
        while True:
            up = {self.items[i]["corrects"] for i in place if "corrects" in self.items[i]}
            down = {i for i, item in self.items.items() if item.get("corrects") in place}
            if up | down <= place:
                return frozenset(place)
            place |= up | down

    def place(self, id: str) -> Place:
        return self._places[id]

    def pair(self, link: Mapping[str, Any]) -> tuple[Place, Place]:
        """What a link is between; `link` is a link entry or the target of a verdict on one. (The old one first.)"""
        return self.place(link["supersedes"]), self.place(link["with"])

    # Live, and in force

    def _concerns(self, review: Entry, entry: Entry) -> bool:
        target = review["rejects"] if "rejects" in review else review["reinstates"]
        if isinstance(target, str):
            return is_item(entry) and target == item_id(entry)
        if "supersedes" in target:  # on the two places: whichever link entry of the pair, whenever it was recorded
            return "supersedes" in entry and self.pair(target) == self.pair(entry)
        return (  # on every ending of its place recorded by then
            "ends" in entry
            and self.place(target["ends"]) == self.place(entry["ends"])
            and entry["recordedAt"] <= review["recordedAt"]
        )

    def live(self, entry: Entry, k: str | datetime | None = None) -> bool:
        """Recorded by k, and its latest verdict recorded by k is not `rejects`. (`entry` is one of `self.entries`.)"""
        k = moment(k)
        if entry["recordedAt"] > k:
            return False
        verdicts = [v for v in self._verdicts[id(entry)] if v["recordedAt"] <= k]
        if not verdicts:
            return True
        latest = max(v["recordedAt"] for v in verdicts)
        return not any("rejects" in v for v in verdicts if v["recordedAt"] == latest)  # same instant: `rejects` wins

    def in_force(self, id: str, k: str | datetime | None = None) -> bool:
        """Live, and no item that corrects it, directly or over further corrections, is live."""
        return self.live(self.items[id], k) and not any(self.live(self.items[c], k) for c in self._correctors[id])

    # The rule

    def known(self, k: str | datetime | None = None) -> Known:
        k = moment(k)
        if k not in self._known:
            self._known[k] = Known(self, k)
        return self._known[k]

    def claims(self, id: str, x: str | datetime) -> bool:
        """validFrom <= x, and validTo is absent or after x; as stated."""
        item, x = self.items[id], instant(x)
        return item["validFrom"] <= x and ("validTo" not in item or x < item["validTo"])

    def holds(self, id: str, x: str | datetime, k: str | datetime | None = None) -> bool:
        """It held at x, as known at k."""
        return self.known(k).holds(id, instant(x))

    def believed(self, x: str | datetime, k: str | datetime | None, entity: str | None = None) -> list[str]:
        """The ids of what held at x, as known at k."""
        return [id for id in sorted(self.items) if self.is_about(id, entity) and self.holds(id, x, k)]

    def as_of(self, x: str | datetime, entity: str | None = None) -> list[str]:
        """The ids of what held at x, all known."""
        return self.believed(x, None, entity)

    def is_about(self, id: str, entity: str | None) -> bool:
        about = self.items[id].get("about", [])
        return entity is None or entity_key(entity) in {entity_key(a) for a in about}

    # Shown with an item

    def stretches(self, id: str, k: str | datetime | None = None) -> list[list[datetime | None]]:
        """Where it holds as known at k: `[from, to)`, None = no end. Nothing changes between two boundaries."""
        found: list[list[datetime | None]] = []
        for start, end in zip(self.boundaries, [*self.boundaries[1:], None], strict=True):
            if not self.holds(id, start, k):
                continue
            if found and found[-1][1] == start:
                found[-1][1] = end
            else:
                found.append([start, end])
        return found

    def valid_to(self, id: str, k: str | datetime | None = None) -> datetime | None:
        """The end of the last stretch; None if open, validFrom if it never holds."""
        stretches = self.stretches(id, k)
        return stretches[-1][1] if stretches else self.items[id]["validFrom"]

    def closed_at(self, id: str, k: str | datetime | None = None) -> datetime | None:
        """The earliest record time since which that validTo has stood, up to k; None if open, or as itself stated."""
        item, k = self.items[id], moment(k)
        end = self.valid_to(id, k)
        if end is None or end == item.get("validTo"):
            return None
        since = None
        for w in reversed([w for w in self.writes if item["recordedAt"] <= w <= k]):
            if self.valid_to(id, w) != end:
                break
            since = w
        return since

    # Reports

    def diff(self, since: str | datetime, until: str | datetime) -> list[dict[str, Any]]:
        """What each write in `(since, until]` did; a write is an instant of record time."""
        writes = []
        for w in self.writes:
            if not instant(since) < w <= instant(until):
                continue
            did = {
                "added": [id for id in self.items if self.items[id]["recordedAt"] == w],
                "closed": [id for id in self.items if self._closed(id, w)],
                "reopened": [id for id in self.items if self._reopened(id, w)],
                "rejected": self._verdict_on_an_item("rejects", w),
                "reinstated": self._verdict_on_an_item("reinstates", w),
                "ended": [e["ends"] for e in self.endings if e["recordedAt"] == w],
            }
            if any(did.values()):
                writes.append({"at": w, **{what: sorted(set(ids)) for what, ids in did.items()}})
        return writes

    def _closed(self, id: str, w: datetime) -> bool:
        """As known at w, it no longer holds at an instant it held (or, added in w, claimed) as known just before w."""
        added = self.items[id]["recordedAt"] == w
        return any(
            (self._held_before(id, x, w) or (added and self.claims(id, x))) and not self.holds(id, x, w)
            for x in self.boundaries
        )

    def _reopened(self, id: str, w: datetime) -> bool:
        """As known at w, it holds at an instant it did not hold as known just before w; what w added is no news."""
        return self.items[id]["recordedAt"] < w and any(
            self.holds(id, x, w) and not self._held_before(id, x, w) for x in self.boundaries
        )

    def _held_before(self, id: str, x: datetime, w: datetime) -> bool:
        return w > self.writes[0] and self.holds(id, x, w - TICK)

    def _verdict_on_an_item(self, verdict: str, w: datetime) -> list[str]:
        return [v[verdict] for v in self.reviews if v["recordedAt"] == w and isinstance(v.get(verdict), str)]

    def lateness(self) -> list[tuple[str, int]]:
        """(id, days from the valid to the record date), most late first, then by id; negative = planned."""
        days = {id: (i["recordedAt"].date() - i["validFrom"].date()).days for id, i in self.items.items()}
        return sorted(days.items(), key=lambda entry: (-entry[1], entry[0]))

    def slot_conflicts(self) -> list[tuple[str, str]]:
        """Pairs of one kind and one slot that hold at one instant, all known."""
        slotted = sorted(id for id, item in self.items.items() if "slot" in item)
        return [
            (a, b)
            for a in slotted
            for b in slotted
            if a < b
            and item_kind(self.items[a]) == item_kind(self.items[b])
            and name(self.items[a]["slot"]) == name(self.items[b]["slot"])
            and any(self.holds(a, x) and self.holds(b, x) for x in self.boundaries)
        ]


class Known:
    """The ledger as known at k: what of the rule does not depend on x, worked out once."""

    def __init__(self, ledger: Oracle, k: datetime) -> None:
        self.ledger = ledger
        self.in_force = {id for id in ledger.items if ledger.in_force(id, k)}
        self.live_pairs = {ledger.pair(link) for link in ledger.links if ledger.live(link, k)}
        self.live_endings = [e for e in ledger.endings if ledger.live(e, k)]
        self._last_ending: dict[Place, datetime | None] = {}
        self._replaced_by: dict[Place, set[Place]] = {}

    def last_ending(self, place: Place) -> datetime | None:
        """The date of the last live ending of the place, if any; of several of one clock, the earlier date."""
        if place not in self._last_ending:
            endings = [e for e in self.live_endings if self.ledger.place(e["ends"]) == place]
            last = max((e["recordedAt"] for e in endings), default=None)
            self._last_ending[place] = min((e["validTo"] for e in endings if e["recordedAt"] == last), default=None)
        return self._last_ending[place]

    def replaced_by(self, place: Place) -> set[Place]:
        """The other places that can be reached over live links, whatever the places on the way hold."""
        if place not in self._replaced_by:
            reached: set[Place] = set()
            while True:
                more = {new for old, new in self.live_pairs if old == place or old in reached} - reached
                if not more:
                    break
                reached |= more
            self._replaced_by[place] = reached - {place}
        return self._replaced_by[place]

    def holds(self, id: str, x: datetime) -> bool:
        place = self.ledger.place(id)
        ending = self.last_ending(place)
        return (
            id in self.in_force  # 1
            and self.ledger.claims(id, x)  # 2
            and (ending is None or x < ending)  # 3
            and not any(  # 4
                other in self.in_force and self.ledger.claims(other, x)
                for replacement in self.replaced_by(place)
                for other in replacement
            )
        )
