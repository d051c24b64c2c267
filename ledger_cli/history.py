"""What is recorded, indexed by what it concerns, and what of it is live as the ledger learns more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property

from ledger_cli.model import Ending, Entry, Item, Link, Review, Target

Pair = tuple[str, str]  # two places, the old one and the new one, by the ids of their first items


class History:
    """A set of entries, indexed by what they concern. The order of arrival never matters.

    It may be a part of a ledger, as long as it is closed: with an item come all that corrects it or is corrected
    by it, and all that is linked to it.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.items: dict[str, Item] = {}
        self.links: dict[Link, None] = {}
        self.endings: dict[Ending, None] = {}
        self.reviews: dict[Review, None] = {}
        self.corrections: dict[str, list[str]] = defaultdict(list)  # item -> what corrects it directly
        for entry in entries:
            if isinstance(entry, Item):
                self.items.setdefault(entry.id, entry)
            elif isinstance(entry, Link):
                self.links[entry] = None
            elif isinstance(entry, Ending):
                self.endings[entry] = None
            elif isinstance(entry, Review):
                self.reviews[entry] = None
        for item in self.items.values():
            if item.corrects is not None:
                self.corrections[item.corrects].append(item.id)
        self.place: dict[str, str] = {id: self._first(id) for id in self.items}
        self.versions: dict[str, list[Item]] = defaultdict(list)
        for id, place in self.place.items():
            self.versions[place].append(self.items[id])

    def _first(self, id: str) -> str:
        seen = [id]
        while (corrected := self.items[seen[-1]].corrects) is not None and corrected in self.items:
            if corrected in seen:  # only a tampered file can do this; `check` reports it
                return min(seen)
            seen.append(corrected)
        return seen[-1]

    def entries(self) -> Iterator[Entry]:
        yield from self.items.values()
        yield from self.links
        yield from self.endings
        yield from self.reviews

    def plus(self, entries: Iterable[Entry]) -> History:
        """This history and the entries."""
        return History([*self.entries(), *entries])

    def pair(self, link: Link | Target) -> Pair | None:
        """The two places a link, or a verdict on it, is on; None if an item is not here."""
        old, new = (link.old, link.new) if isinstance(link, Link) else (link.id, link.new or "")
        return (self.place[old], self.place[new]) if old in self.place and new in self.place else None

    def same_target(self, one: Target, other: Target) -> bool:
        """Are two verdicts on one thing? Links and endings belong to places, whichever version names them."""
        if one.on_item or other.on_item:
            return one == other
        if one.ending or other.ending:
            return one.ending == other.ending and self.place.get(one.id) == self.place.get(other.id)
        return self.pair(one) == self.pair(other)

    @cached_property
    def may_turn_back(self) -> bool:
        """Is there a cycle over links recorded at any time, live or not? Without one there is none at any instant."""
        after: dict[str, set[str]] = defaultdict(set)
        into: dict[str, int] = defaultdict(int)
        for old, new in {pair for link in self.links if (pair := self.pair(link)) is not None}:
            after[old].add(new)
            into[new] += 1
        ahead = [place for place in after if place not in into]
        while ahead:  # take out what nothing leads to; what is left at last leads to itself
            for place in after.pop(ahead.pop(), ()):
                into[place] -= 1
                if not into[place]:
                    ahead.append(place)
        return bool(after)

    def later_versions(self, id: str) -> Iterator[Item]:
        """What corrects an item, directly or over further corrections."""
        seen = {id}
        ahead = list(self.corrections.get(id, ()))
        while ahead:
            found = ahead.pop()
            if found not in seen:
                seen.add(found)
                yield self.items[found]
                ahead.extend(self.corrections.get(found, ()))


class State:
    """What is live and in force, as known at one record time; `learn` moves it on to the next.

    The same instant: `rejects` wins over `reinstates`, whatever the order of the entries.
    """

    def __init__(self, history: History) -> None:
        self.history = history
        self.recorded: set[str] = set()
        self.rejected: set[str] = set()  # items
        self.links: set[Pair] = set()  # recorded
        self.rejected_links: set[Pair] = set()
        self.endings: dict[str, dict[Ending, bool]] = defaultdict(dict)  # place -> ending -> live
        self.after: dict[str, set[str]] = defaultdict(set)  # place -> places that replace it, over live links
        self.before: dict[str, set[str]] = defaultdict(set)

    def learn(self, entries: Collection[Entry]) -> set[str]:
        """Take in all that is recorded at one instant, in any order. Returns the places it touches."""
        history, touched = self.history, set[str]()
        pairs: set[Pair] = set()
        for entry in entries:
            if isinstance(entry, Item):
                self.recorded.add(entry.id)
                touched.add(history.place[entry.id])
            elif isinstance(entry, Link):
                if (pair := history.pair(entry)) is not None and pair[0] != pair[1]:
                    self.links.add(pair)
                    pairs.add(pair)
            elif isinstance(entry, Ending) and (place := history.place.get(entry.id)) is not None:
                self.endings[place][entry] = True
                touched.add(place)
        verdicts = [e for e in entries if isinstance(e, Review)]
        for review in sorted(verdicts, key=lambda r: r.verdict == "rejects"):  # rejects last: it wins
            rejects, target = review.verdict == "rejects", review.target
            if target.new is not None:
                if (pair := history.pair(target)) is not None:
                    (self.rejected_links.add if rejects else self.rejected_links.discard)(pair)
                    pairs.add(pair)
            elif (place := history.place.get(target.id)) is not None:
                touched.add(place)
                if target.ending:
                    self.endings[place] = dict.fromkeys(self.endings[place], not rejects)
                else:
                    (self.rejected.add if rejects else self.rejected.discard)(target.id)
        for old, new in pairs:
            touched.add(old)
            if (old, new) in self.links and (old, new) not in self.rejected_links:
                self.after[old].add(new)
                self.before[new].add(old)
            else:
                self.after[old].discard(new)
                self.before[new].discard(old)
        return touched

    def live(self, id: str) -> bool:
        """Is the item recorded and not rejected?"""
        return id in self.recorded and id not in self.rejected

    def live_correction(self, id: str) -> Item | None:
        """A live item that corrects this one, the latest of them; None if it is in force or itself not live."""
        found = [item for item in self.history.later_versions(id) if self.live(item.id)]
        return max(found, key=lambda item: (item.recorded_at, item.id)) if found else None

    def in_force(self, place: str) -> list[Item]:
        """The items of a place that are live and not corrected by anything live: one, where no merge went wrong."""
        versions = self.history.versions[place]
        if len(versions) == 1:  # nearly all of them
            return versions if self.live(versions[0].id) else []
        return [v for v in versions if self.live(v.id) and self.live_correction(v.id) is None]

    def end(self, place: str) -> datetime | None:
        """The date of the place's last live ending (one clock: the earlier date)."""
        live = [e for e, is_live in self.endings[place].items() if is_live] if place in self.endings else []
        if not live:
            return None
        last = max(e.recorded_at for e in live)
        return min(e.valid_to for e in live if e.recorded_at == last)

    def reach(self, place: str, *, links: Mapping[str, set[str]] | None = None) -> set[str]:
        """All places reachable from this one over links (live ones unless others are given), itself only by a cycle."""
        links = self.after if links is None else links
        seen: set[str] = set()
        ahead = list(links.get(place, ()))
        while ahead:
            found = ahead.pop()
            if found not in seen:
                seen.add(found)
                ahead.extend(links.get(found, ()))
        return seen


def by_record_time(entries: Iterable[Entry]) -> list[tuple[datetime, list[Entry]]]:
    """Entries in groups of one record instant, in order of time."""
    groups: dict[datetime, list[Entry]] = defaultdict(list)
    for entry in entries:
        groups[entry.recorded_at].append(entry)
    return sorted(groups.items(), key=lambda group: group[0])


def state_at(history: History) -> State:
    """What is live with all that is recorded."""
    state = State(history)
    for _, entries in by_record_time(history.entries()):
        state.learn(entries)
    return state
