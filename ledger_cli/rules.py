"""What a session may write, pure: from what it states and what is known to the entries it records, or to refusals.

Every refusal of a session is collected, named and placed. Nothing here reads a file, a clock or the store.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

from ledger_cli import holds, invariants, slot_order
from ledger_cli.errors import Problem, Refused
from ledger_cli.history import History, State, state_at
from ledger_cli.instant import FUTURE_TOLERANCE, show, show_short, tidy
from ledger_cli.known import Known, Write
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
from ledger_cli.retry import is_recorded
from ledger_cli.stated import OPEN, Session, StatedItem


def resolve(session: Session, known: Known, now: datetime, *, backdated: bool = False) -> Write | None:
    """What the session records; None if all it states is recorded already.

    `now` is the machine's clock. Raises Refused with every problem found, each at its line.
    """
    if is_recorded(session, known.session):
        return None
    at = session.at or tidy(now, known.newest)
    return _Resolver(session, known, at, now, backdated).write()


_KINDS = "facts replace facts, and decisions decisions"
_SEARCH = "`ledger search` finds items by words"
_HISTORY = "`ledger history` shows the chain"


class _Resolver:
    def __init__(self, session: Session, known: Known, at: datetime, now: datetime, backdated: bool) -> None:
        self.session, self.known, self.at, self.now, self.backdated = session, known, at, now, backdated
        self.history = known.history
        self.state: State = state_at(known.history)
        self.problems: list[Problem] = []
        self.faulty: set[str] = set()  # items refused: what names them is no fault of its own

    def write(self) -> Write:
        session = self.session
        if self.known.session:
            self.refuse(
                f"session {session.id} is recorded already, with other content",
                session.line,
                "a recorded session never changes; write the news as a session of its own",
            )
            raise Refused(self.problems)
        self.check_clock()
        entities = self.entities()
        episodes = self.episodes()
        items = self.items()
        before = self.history
        self.history = before.plus(items)
        self.state = state_at(self.history)
        links = self.typed_links(items)
        links |= dict.fromkeys(slot_order.links(self.history, items, links))
        endings, reviews = self.endings(), self.reviews(links)
        self.give_up_on_problems()
        entries: list[Entry] = [*entities, *episodes, *items, *links, *endings, *reviews]
        if not entries:
            self.refuse(f"session {session.id} brings nothing", session.line, "state at least one item or review")
        self.history = before.plus(entries)
        self.check_backdated(entries)
        self.check_cycles(links, reviews)
        self.give_up_on_problems()
        after = holds.sweep(self.history)
        write = Write(session.id, self.at, tuple(dict.fromkeys(entries)), self.history, holds.sweep(before), after)
        self.check_places(before)
        self.check_slots(before, write)
        self.give_up_on_problems()
        return write

    def refuse(self, what: str, line: int = 0, hint: str = "") -> None:
        self.problems.append(Problem(what, self.session.where(line), hint))

    def give_up_on_problems(self) -> None:
        if self.problems:
            raise Refused(self.problems)

    # The clock

    def check_clock(self) -> None:
        newest = self.known.newest
        if self.at > self.now + FUTURE_TOLERANCE and self.session.at is None:
            self.refuse(
                f"the newest entry was recorded at {show(self.at)}, more than five minutes ahead of this machine's "
                f"{show(self.now)}",
                self.session.line,
                "set the clock of this machine, or of the one that wrote it, and wait until they agree",
            )
        elif self.at > self.now + FUTURE_TOLERANCE:
            self.refuse(
                f"session {self.session.id} has the clock {show(self.at)}, more than five minutes ahead of this "
                f"machine's {show(self.now)}",
                self.session.line,
                "`at` is when the ledger learns it; put a planned date in validFrom",
            )
        if newest is not None and self.at < newest and not self.backdated:
            self.refuse(
                f"session {self.session.id} has the clock {show(self.at)}, but the newest entry was recorded at "
                f"{show(newest)}",
                self.session.line,
                "leave the clock out to record it now; validFrom says when it held"
                + (" (or pass --backdated)" if self.session.source else ""),
            )

    def check_backdated(self, entries: Iterable[Entry]) -> None:
        """Nothing is recorded before what it touches: it would be closed before it was known."""
        if self.known.newest is None or self.at >= self.known.newest:
            return
        for touched, name in dict.fromkeys(self._touched(entries)):
            if touched.recorded_at > self.at:
                self.refuse(
                    f"session {self.session.id} has the clock {show(self.at)}, but touches {name}, recorded at "
                    f"{show(touched.recorded_at)}",
                    self.session.line,
                    "not even --backdated may act on what was not yet recorded; leave `at` out",
                )

    def _touched(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, str]]:
        """What the entries act on, each with its name; what the session itself brings apart."""
        history, place = self.history, self.history.place
        for entry in entries:
            for id in invariants.named(entry):
                yield history.items[id], id
            if isinstance(entry, Item):
                yield from ((self.known.episodes[e], e) for e in entry.evidence if e in self.known.episodes)
            elif isinstance(entry, Review):
                target = entry.target
                if target.new is not None:
                    pair = history.pair(target)
                    yield from ((link, str(target)) for link in history.links if history.pair(link) == pair)
                elif target.ending:
                    yield from ((e, str(target)) for e in history.endings if place[e.id] == place[target.id])
                for review in history.reviews:
                    if review.session != self.session.id and history.same_target(review.target, target):
                        yield review, f"a review of {target}"

    # What is stated, resolved

    def entities(self) -> list[Entity]:
        found, kinds = [], dict(self.known.kinds)
        for stated in self.session.entities:
            key = entity_key(stated.name)
            name, kind = kinds.get(key, (stated.name, None))
            if kind not in (None, stated.kind):
                self.refuse(
                    f"{name} has the kind {kind}, not {stated.kind}",
                    stated.line,
                    f"write kind: {kind}, or give the other thing a name of its own",
                )
            kinds[key] = (name, stated.kind)
            found.append(Entity(canonical_name(stated.name), stated.kind, self.at, self.session.id))
        return found

    def episodes(self) -> list[Episode]:
        found = []
        for stated in self.session.episodes:
            if stated.id in self.known.episodes:
                other = self.known.episodes[stated.id].session
                self.refuse(f"episode {stated.id} is recorded by {other}", stated.line, "give this one another id")
            found.append(
                Episode(
                    stated.id, stated.kind, stated.text, self.at, self.session.id, name_set(stated.mentions), stated.at
                )
            )
        return found

    def items(self) -> list[Item]:
        found = [(stated.id, self.item(stated)) for stated in self.session.items]
        self.faulty = {id for id, item in found if item is None}
        return [item for _, item in found if item is not None]

    def item(self, stated: StatedItem) -> Item | None:
        if (other := self.history.items.get(stated.id)) is not None:
            same = other.text == stated.text
            self.refuse(
                f"{stated.id} is recorded already by {other.session}" + ("" if same else " with another text"),
                stated.line,
                f"to change what it says, record a new item with `corrects: {stated.id}`",
            )
            return None
        own = {e.id for e in self.session.episodes}
        for episode in stated.evidence:
            if episode not in own and episode not in self.known.episodes:
                self.refuse(f"{stated.id} cites the unknown episode {episode}", stated.line, "name a recorded episode")
        corrected: Item | None = None
        if stated.corrects is not None:
            corrected = self.corrected(stated)
            if corrected is None:
                return None
        valid_from = stated.valid_from or (corrected.valid_from if corrected else self.at)
        valid_to = stated.valid_to or (corrected.valid_to if corrected else None)
        if valid_to == OPEN:
            valid_to = None
        if isinstance(valid_to, datetime) and valid_to <= valid_from:
            inherited = "" if stated.valid_to and stated.valid_from else ", as inherited"
            self.refuse(
                f"{stated.id} would end at {show_short(valid_to)}, not after its start {show_short(valid_from)}"
                + (inherited if corrected else ""),
                stated.line,
                "state a validTo after validFrom" + (", or `validTo: open`" if corrected else ""),
            )
            return None
        slot = canonical_name(stated.slot) if stated.slot is not None else None
        if corrected is not None and corrected.slot is not None:
            if slot not in (None, corrected.slot):
                self.refuse(
                    f"{stated.id} is in slot {slot}, but corrects {corrected.id} in slot {corrected.slot}",
                    stated.line,
                    "a correction keeps its slot; leave `slot` out",
                )
                return None
            slot = corrected.slot
        text = stated.text if stated.text is not None else corrected.text if corrected else None
        if text is None:
            self.refuse(f"{stated.id} has no text", stated.line, "write what was decided or learned in `text`")
            return None
        about = name_set(stated.about) if stated.about is not None else corrected.about if corrected else ()
        return Item(
            stated.kind,
            stated.id,
            text,
            valid_from,
            self.at,
            self.session.id,
            valid_to,
            stated.rationale,
            slot,
            about,
            id_set(stated.evidence),
            stated.confidence,
            stated.corrects,
            self.session.by,
        )

    def corrected(self, stated: StatedItem) -> Item | None:
        """The item that a correction names, where it may be corrected."""
        assert stated.corrects is not None
        if any(other.id == stated.corrects for other in self.session.items):
            self.refuse(
                f"{stated.id} corrects {stated.corrects} of the same session",
                stated.line,
                "state it right in the first place",
            )
            return None
        corrected = self.current(stated.corrects, "correct", stated.line)
        if corrected is not None and corrected.kind != stated.kind:
            self.refuse(
                f"{stated.id} is a {stated.kind}, but {corrected.id} is a {corrected.kind}", stated.line, _KINDS
            )
            return None
        return corrected

    def current(self, id: str, verb: str, line: int) -> Item | None:
        """The item of that id, unless it is unknown or stands corrected."""
        if id in self.faulty:
            return None
        item = self.history.items.get(id)
        if item is None:
            self.refuse(f"{id} is unknown, there is nothing to {verb}", line, _SEARCH)
            return None
        correction = self.state.live_correction(id)
        if correction is not None:
            self.refuse(f"{id} was corrected by {correction.id}", line, f"{verb} {correction.id} instead")
            return None
        return item

    def typed_links(self, items: Iterable[Item]) -> dict[Link, None]:
        """The links the session states, with its items or as late news."""
        stated = [(old, i.id, i.line) for i in self.session.items for old in i.supersedes]
        stated += [(s.old, s.new, s.line) for s in self.session.supersessions]
        links: dict[Link, None] = {}
        for old_id, new_id, line in stated:
            old, new = self.current(old_id, "supersede", line), self.current(new_id, "supersede with", line)
            if old is None or new is None:
                continue
            if old.kind != new.kind:
                self.refuse(f"{new.id} is a {new.kind}, and cannot supersede the {old.kind} {old.id}", line, _KINDS)
            elif self.history.place[old.id] == self.history.place[new.id]:
                what = "itself" if old is new else f"{old.id}, a version of the same item"
                self.refuse(f"{new.id} cannot supersede {what}", line, "a new version is a correction: `corrects`")
            elif old.slot is not None and old.slot != new.slot:
                is_in = f"is in slot {new.slot}" if new.slot else "is in no slot"
                self.refuse(
                    f"{new.id} {is_in}, and cannot supersede {old.id} in slot {old.slot}",
                    line,
                    f"write `slot: {old.slot}`",
                )
            else:
                links[Link(old.id, new.id, self.at, self.session.id, self.session.by)] = None
        return links

    def endings(self) -> list[Ending]:
        found = []
        for stated in self.session.endings:
            item = self.current(stated.id, "end", stated.line)
            by = stated.by or self.session.by
            if by is None:
                self.refuse(f"the ending of {stated.id} has no `by`", stated.line, "say who ends it")
            if item is None or by is None:
                continue
            if stated.valid_to < item.valid_from:
                self.refuse(
                    f"{item.id} cannot end at {show_short(stated.valid_to)}, before it starts at "
                    f"{show_short(item.valid_from)}",
                    stated.line,
                    f"if it never held, reject it: `ledger reject {item.id}`",
                )
            found.append(Ending(item.id, stated.valid_to, by, self.at, self.session.id, stated.reason))
        return found

    def reviews(self, links: Iterable[Link]) -> list[Review]:
        pairs = {self.history.pair(link) for link in [*self.history.links, *links]}
        ended_ids = [e.id for e in self.history.endings] + [e.id for e in self.session.endings]
        ended = {self.history.place.get(id) for id in ended_ids}
        found = []
        for stated in self.session.reviews:
            target, by = stated.target, stated.by or self.session.by
            verb = stated.verdict.removesuffix("s")
            if {target.id, target.new} & self.faulty:
                continue
            unknown = [i for i in (target.id, target.new) if i is not None and i not in self.history.items]
            for id in unknown:
                self.refuse(
                    f"{id} is unknown, there is nothing to {verb}", stated.line, "`ledger search` finds items by words"
                )
            if not unknown and target.new is not None and self.history.pair(target) not in pairs:
                self.refuse(f"no link from {target.id} to {target.new} is recorded", stated.line, _HISTORY)
            if not unknown and target.ending and self.history.place[target.id] not in ended:
                self.refuse(f"no ending of {target.id} is recorded", stated.line, _HISTORY)
            if by is None or stated.reason is None:
                self.refuse(f"the review of {target} needs `by` and `reason`", stated.line, "say who, and why")
                continue
            found.append(Review(stated.verdict, target, by, stated.reason, self.at, self.session.id))
        return found

    # What must be so once all is recorded

    def check_cycles(self, links: Collection[Link], reviews: Collection[Review]) -> None:
        """No cycle over links that are live at one instant, from the session's clock on."""
        if not links and not any(review.target.new is not None for review in reviews):
            return
        for old, new in invariants.cycles(self.history, since=self.at):
            self.refuse(
                f"{new} cannot supersede {old}: {old} supersedes {new}, directly or over others",
                self.session.line,
                _HISTORY,
            )
            return

    def check_places(self, before: History) -> None:
        """One version of a place is in force, whatever was reinstated. (What a merge broke may be mended in steps.)"""
        broken = [{v.id for v in versions} for versions in invariants.places_in_conflict(before)]
        for versions in invariants.places_in_conflict(self.history):
            if not any({v.id for v in versions} <= already for already in broken):
                self.refuse(
                    f"{' and '.join(v.id for v in versions)} would both stand as the correction of one item",
                    self.session.line,
                    "reject one of them first",
                )

    def check_slots(self, before: History, write: Write) -> None:
        """As known now, at no instant do two items of one kind hold in one slot. (As for places: what is news.)"""
        broken = {c.ids for c in invariants.slot_conflicts(before.items.values(), write.before)}
        for conflict in invariants.slot_conflicts(self.history.items.values(), write.after):
            if conflict.ids not in broken:
                self.refuse(
                    f"{conflict.ids[0]} and {conflict.ids[1]} would both hold in slot {conflict.slot} "
                    f"{conflict.during_words()}",
                    self.session.line,
                    "supersede, end or reject one of them",
                )
