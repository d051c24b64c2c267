"""How items hang together: what stands, what it replaced, its versions, and what reviewers said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ledger_cli import holds
from ledger_cli.history import History, State, state_at
from ledger_cli.holds import Row
from ledger_cli.instant import LAST
from ledger_cli.model import Ending, Episode, Item, Link, Review, Stretch


@dataclass(frozen=True)
class Entanglement:
    """Items with all that concerns them, and where they hold."""

    history: History
    stretches: Mapping[str, Sequence[Stretch]]

    @cached_property
    def state(self) -> State:
        return state_at(self.history)

    def row(self, item: Item) -> Row:
        return Row(item, holds.shown(item, self.stretches[item.id], LAST))

    @cached_property
    def reviews(self) -> dict[str, list[Review]]:
        """The verdicts by the places they are on: one on a link is on both."""
        found: dict[str, list[Review]] = {}
        for review in sorted(self.history.reviews, key=lambda r: (r.recorded_at, r.session, r.verdict)):
            ids = (review.target.id, review.target.new)
            for place in {self.history.place[id] for id in ids if id in self.history.place}:
                found.setdefault(place, []).append(review)
        return found

    @cached_property
    def endings(self) -> dict[str, list[Ending]]:
        """The endings by place."""
        found: dict[str, list[Ending]] = {}
        for ending in sorted(self.history.endings, key=lambda e: (e.recorded_at, e.session)):
            found.setdefault(self.history.place[ending.id], []).append(ending)
        return found

    @cached_property
    def links(self) -> dict[str, list[Link]]:
        """The links by the places they are on, at either end."""
        found: dict[str, list[Link]] = {}
        for link in sorted(self.history.links, key=lambda x: (x.recorded_at, x.old, x.new, x.session)):
            for place in set(self.history.pair(link) or ()):
                found.setdefault(place, []).append(link)
        return found

    def standing(self, place: str) -> Item:
        """The version of a place to show: the one in force, else the latest."""
        versions = self.state.in_force(place) or self.history.versions[place]
        return max(versions, key=_age)


@dataclass(frozen=True)
class Node:
    """One place in a chain: the version that stands, `depth` replacements from the head, and what was said of it."""

    row: Row
    depth: int
    versions: tuple[Row, ...]  # the others, latest first
    reviews: tuple[Review, ...]
    endings: tuple[Ending, ...]


@dataclass(frozen=True)
class Chains:
    """The chains about a subject: each from what nothing has replaced back to the first; rejected items apart."""

    subject: str
    chains: tuple[tuple[Node, ...], ...]
    rejected: tuple[Node, ...]


@dataclass(frozen=True)
class Dossier:
    """All that is recorded of one item."""

    row: Row
    node: Node
    supersedes: tuple[tuple[Link, bool], ...]  # each with: is it live?
    superseded_by: tuple[tuple[Link, bool], ...]
    evidence: tuple[Episode, ...]


def of_entity(found: Entanglement, name: str, about: Iterable[Item]) -> Chains:
    """Every item about an entity that nothing has replaced, with what it replaced; then each rejected item."""
    places = {found.history.place[item.id] for item in about}
    heads = [p for p in places if not found.state.after[p] and found.state.in_force(p)]
    rejected = {p for p in places if not found.state.in_force(p)}
    covered = {node.row.item.id for chain in _chains(found, heads) for node in chain}
    loose = [  # replaced by something that is about other things: its chain starts elsewhere
        p for p in places if p not in rejected and found.standing(p).id not in covered
    ]
    chains = _chains(found, [*heads, *_heads(found, loose)])
    told = {node.row.item.id for chain in chains for node in chain}
    return Chains(name, chains, _rejected(found, (p for p in rejected if found.standing(p).id not in told)))


def of_item(found: Entanglement, item: Item) -> Chains:
    """The chains that an item is part of."""
    place = found.history.place[item.id]
    if not found.state.in_force(place) and not found.state.before[place]:
        return Chains(item.id, (), _rejected(found, [place]))
    return Chains(item.id, _chains(found, _heads(found, [place])), ())


def dossier(found: Entanglement, item: Item, evidence: Iterable[Episode]) -> Dossier:
    """All that is recorded of one item and of its place."""
    place = found.history.place[item.id]

    def links(end: int) -> tuple[tuple[Link, bool], ...]:
        here = []
        for link in found.links.get(place, ()):
            pair = found.history.pair(link)
            if pair is not None and pair[end] == place:
                here.append((link, pair[1] in found.state.after[pair[0]]))
        return tuple(here)

    return Dossier(found.row(item), _node(found, place, 0), links(1), links(0), tuple(evidence))


def _heads(found: Entanglement, places: Iterable[str]) -> list[str]:
    heads: set[str] = set()
    for place in places:
        later = found.state.reach(place)
        heads |= {p for p in later if not found.state.after[p]} or {place}
    return sorted(heads)


def _chains(found: Entanglement, heads: Iterable[str]) -> tuple[tuple[Node, ...], ...]:
    chains = [tuple(_walk(found, head)) for head in dict.fromkeys(heads)]
    return tuple(sorted(chains, key=lambda chain: _age(chain[0].row.item)))


def _walk(found: Entanglement, head: str) -> Iterator[Node]:
    """From the head back, each place once, what was replaced last first."""
    seen: set[str] = set()
    ahead = [(head, 0)]
    while ahead:
        place, depth = ahead.pop()
        if place in seen:
            continue
        seen.add(place)
        yield _node(found, place, depth)
        earlier = sorted(found.state.before[place], key=lambda p: _age(found.standing(p)))
        ahead.extend((p, depth + 1) for p in earlier)


def _rejected(found: Entanglement, places: Iterable[str]) -> tuple[Node, ...]:
    nodes = [_node(found, place, 0) for place in places]
    return tuple(sorted(nodes, key=lambda node: _age(node.row.item)))


def _node(found: Entanglement, place: str, depth: int) -> Node:
    standing = found.standing(place)
    others = sorted((v for v in found.history.versions[place] if v.id != standing.id), key=_age, reverse=True)
    return Node(
        found.row(standing),
        depth,
        tuple(found.row(v) for v in others),
        tuple(found.reviews.get(place, ())),
        tuple(found.endings.get(place, ())),
    )


def _age(item: Item) -> tuple[object, str]:
    return item.recorded_at, item.id
