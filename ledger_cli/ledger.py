"""The use cases, without a terminal: the Python API. The command line parses, calls one of these, and shows what comes.

    ledger = Ledger.find(Path.cwd(), clock=now)
    for row in ledger.as_of(instant.parse("2024-01-20"), "orders").rows:
        print(row.item.text, row.shown.holds)

Times are aware datetimes, in whatever zone, and come back in UTC; a naive one raises ValueError. Whatever breaks a rule
raises `errors.Refused`, and then nothing was written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ledger_cli import holds
from ledger_cli.answers import Answer, Applied, Checkup, SessionRow, SlotRow
from ledger_cli.database import Database, Say
from ledger_cli.errors import Damaged, LedgerError, NoLedger, Problem, Refused, quoted, short
from ledger_cli.history import History
from ledger_cli.holds import Change, Row
from ledger_cli.instant import LAST, days_late, utc
from ledger_cli.model import (
    Entity,
    Entry,
    Episode,
    Item,
    Kind,
    Target,
    Verdict,
    canonical_id,
    canonical_name,
    entity_key,
)
from ledger_cli.store import engine
from ledger_cli.store.graph import Graph

if TYPE_CHECKING:
    from ledger_cli import chains
    from ledger_cli.atlas import Atlas
    from ledger_cli.known import Write
    from ledger_cli.settle import Choice, Settled
    from ledger_cli.stated import Session
    from ledger_cli.timeline import Timeline
    from ledger_cli.verdicts import Builder
    from ledger_cli.writer import Writer

FOLDER = "snapshots"
SESSIONS = "sessions"

Recording = Callable[["Write"], None]
"""Hears what a session is about to record, under the lock, before any of it is durable; what it raises stops it."""


class Ledger:
    """One ledger, in the folder that holds its `snapshots/`. `clock` gives the instant now."""

    def __init__(
        self,
        root: Path,
        *,
        clock: Callable[[], datetime],
        engine: str = "kglite",
        say: Say = lambda _: None,
        timeout: float = 60,
    ) -> None:
        self.root = root
        self.clock: Callable[[], datetime] = lambda: utc(clock())
        self.say = say
        self.database = Database(root / FOLDER, engine=engine, say=say, timeout=timeout)

    @classmethod
    def find(cls, start: Path, **options: Any) -> Ledger:
        """The ledger in this folder or the nearest above it. Raises NoLedger, or Damaged where it cannot be looked."""
        start = start.absolute()
        for folder in (start, *start.parents):
            checkpoint = folder / FOLDER / "ledger.json"
            try:
                checkpoint.lstat()  # also a link to nowhere
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as fault:
                raise Damaged(f"cannot read {checkpoint}: {fault.strerror or fault}") from None
            return cls(folder, **options)
        raise NoLedger(f"there is no ledger in {start} or above it", "run `ledger init` to begin one here")

    @classmethod
    def above(cls, folder: Path) -> Path | None:
        """The nearest folder above this one that has a ledger, as far as can be seen."""
        try:
            return cls.find(folder.absolute().parent, clock=lambda: LAST).root
        except LedgerError:
            return None

    @classmethod
    def init(cls, root: Path) -> list[str]:
        """Begin a ledger in `root`: folders, an empty checkpoint, ignore and attribute lines. Says what it made.

        Idempotent; whatever is there already stays as it is. Raises CannotWrite.
        """
        from ledger_cli.durable import CannotWrite

        try:
            return list(_begin(root))
        except OSError as fault:
            hint = "what is there already stays as it is; `ledger init` again adds what is missing"
            raise CannotWrite(f"cannot write {fault.filename or root}: {fault.strerror or fault}", hint) from fault

    # Writing

    def apply(
        self,
        sessions: Iterable[Session],
        *,
        backdated: bool = False,
        export: bool = True,
        on_applied: Callable[[Applied], None] = lambda _: None,
        recording: Recording = lambda _: None,
    ) -> list[Applied]:
        """Apply sessions in the order of (clock, id), each whole or not at all; then export once.

        `on_applied` hears of each as soon as it is durable. Raises Refused at the first that breaks a rule: those
        before it stay applied.
        """
        order = sorted(sessions, key=lambda s: (s.at or LAST, s.id))
        return self._write(
            [_as_stated(s) for s in order],
            backdated=backdated,
            export=export,
            on_applied=on_applied,
            recording=recording,
        )

    def preview(
        self,
        sessions: Iterable[Session],
        *,
        backdated: bool = False,
        on_applied: Callable[[Applied], None] = lambda _: None,
    ) -> list[Applied]:
        """What `apply` would do, without doing it; `on_applied` hears of each session that would be applied.

        Raises Refused with all that is wrong with any of them.
        """
        from ledger_cli.writer import Scratch

        writer = Scratch(self.database, self.database.scratch())
        done: list[Applied] = []
        problems: list[Problem] = []
        for session in sorted(sessions, key=lambda s: (s.at or LAST, s.id)):
            try:
                done.append(self._one(writer, _as_stated(session), backdated))
            except Refused as fault:
                problems += fault.problems
            else:
                on_applied(done[-1])
        if problems:
            raise Refused(problems)
        return done

    def review(
        self,
        verdict: Verdict,
        target: Target,
        *,
        by: str,
        reason: str,
        at: datetime | None = None,
        export: bool = True,
        recording: Recording = lambda _: None,
    ) -> Applied:
        """Record a verdict as a small session of its own; unchanged where it stands already."""
        from ledger_cli import verdicts

        build = verdicts.review(verdict, target, by, reason, utc(at) if at is not None else None)
        return self._write([build], export=export, recording=recording)[0]

    def end(
        self,
        id: str,
        on: datetime,
        *,
        by: str,
        reason: str | None = None,
        at: datetime | None = None,
        export: bool = True,
        recording: Recording = lambda _: None,
    ) -> Applied:
        """End an item at `on`, as a small session of its own; unchanged where its last ending says the same."""
        from ledger_cli import verdicts

        build = verdicts.ending(canonical_id(id), utc(on), by, reason, utc(at) if at is not None else None)
        return self._write([build], export=export, recording=recording)[0]

    def _write(
        self,
        builders: Sequence[Builder],
        *,
        backdated: bool = False,
        export: bool = True,
        on_applied: Callable[[Applied], None] = lambda _: None,
        recording: Recording = lambda _: None,
    ) -> list[Applied]:
        from ledger_cli.writer import writing

        done: list[Applied] = []
        with writing(self.database) as writer:
            try:
                for build in builders:
                    applied = self._one(writer, build, backdated, recording)
                    on_applied(applied)
                    done.append(applied)
            except BaseException:  # what was refused writes nothing; what went before it stays
                writer.finish(export=export and any(a.status == "applied" for a in done))
                raise
            writer.finish(export=export)
        return done

    def _one(self, writer: Writer, build: Builder, backdated: bool, recording: Recording = lambda _: None) -> Applied:
        from ledger_cli import effects, known, rules
        from ledger_cli.verdicts import next_clock

        graph = writer.graph
        now, newest = self.clock(), graph.newest()
        session = build(graph, next_clock(now, newest))
        if isinstance(session, Applied):
            return session
        names = known.named(session)
        recorded_at = graph.session_at(session.id)
        found = known.Known(
            History(graph.component(names.items, names.slots)),
            graph.episodes(names.episodes),
            graph.entities(names.entities),
            writer.recorded(session.id) if recorded_at is not None else (),
            newest,
        )
        write = rules.resolve(session, found, now, backdated=backdated)
        if write is None:
            return Applied(session.id, recorded_at or now, "unchanged")
        recording(write)
        writer.record(write.session, write.entries, write.history.items, write.changed)
        came = effects.effects(write)
        named = {*came.added, *came.closed, *came.reopened, *came.rejected, *came.reinstated, *came.ended}
        named |= {id for pair in came.linked for id in pair}
        texts = {id: write.history.items[id].text for id in sorted(named)}
        brought = Counter(type(entry) for entry in write.entries)
        noted = {"episode": brought[Episode], "entity": brought[Entity]}
        return Applied(write.session, write.at, "applied", came, texts, {w: n for w, n in noted.items() if n})

    # The two axes

    def as_of(self, valid_at: datetime, entity: str | None = None) -> Answer:
        """What was true at `valid_at`, with all that is known now; about one entity, or the whole ledger."""
        valid_at, graph = utc(valid_at), self.database.read()
        return self._answer(graph, entity, valid_at, None)

    def believed(
        self, valid_at: datetime, entity: str | None = None, known_at: Sequence[datetime] = ()
    ) -> list[Answer]:
        """What the ledger said of `valid_at`, for each of `known_at` (none given: at `valid_at` itself)."""
        valid_at = utc(valid_at)
        known = [utc(k) for k in known_at] or [valid_at]
        graph = self.database.read()
        return [self._answer(graph, entity, valid_at, k) for k in known]

    def _answer(self, graph: Graph, entity: str | None, valid_at: datetime, known_at: datetime | None) -> Answer:
        key, name = self._entity(graph, entity)
        at = known_at or LAST
        return Answer(name, valid_at, known_at, self._rows(graph, graph.holding(key, valid_at, at), at))

    def _rows(self, graph: Graph, items: Iterable[Item], known_at: datetime = LAST) -> tuple[Row, ...]:
        items = list(items)
        stretches = graph.stretches([item.id for item in items])
        return tuple(Row(item, holds.shown(item, stretches.get(item.id, ()), known_at)) for item in items)

    def _entity(self, graph: Graph, entity: str | None) -> tuple[str | None, str | None]:
        """The key and the shown name of an entity; an unknown one is a key without answers, and a word on stderr."""
        if entity is None:
            return None, None
        key = entity_key(entity)
        if (found := graph.entities([key]).get(key)) is not None:
            return key, found[0]
        self.say(f"note: nothing is recorded about {quoted(entity)}{_did_you_mean(entity, graph.entity_names())}")
        return key, canonical_name(entity)

    def lateness(self) -> list[tuple[Item, int]]:
        """Each item with the days from its valid to its record date, most late first; negative = planned ahead."""
        items = self.database.read().all_items()
        late = [(item, days_late(item.valid_from, item.recorded_at)) for item in items]
        return sorted(late, key=lambda row: (-row[1], row[0].id))

    def diff(self, after: datetime, until: datetime) -> tuple[list[Change], dict[str, Item]]:
        """What each write in `(after, until]` changed, and the items it names."""
        after, until = utc(after), utc(until)
        graph = self.database.read()
        history = History(graph.touched(after, until))
        stretches = graph.stretches(history.items)
        all_ = {id: stretches.get(id, ()) for id in history.items}
        return holds.changes(history, all_, after, until), history.items

    # Looking around

    def history(self, subject: str) -> chains.Chains:
        """The chains of an entity's items, or of one item: what stands, what it replaced, and what was rejected."""
        from ledger_cli import chains

        graph, id = self.database.read(), canonical_id(subject)
        item = graph.items([id]).get(id)
        if item is not None:
            entanglement = self._entanglement(graph, [id])
            return chains.of_item(entanglement, item)
        key, name = self._entity(graph, subject)
        about = graph.about(key or "")
        entanglement = self._entanglement(graph, [i.id for i in about])
        return chains.of_entity(entanglement, name or subject, about)

    def timeline(self, subject: str | None = None) -> Timeline:
        """Items on both axes: an item's chain, those about an entity, those of a slot, or all of the ledger.

        A name that is several things is taken as the first of id, entity and slot, and a remark says so.
        """
        from ledger_cli import chains, timeline

        graph, now = self.database.read(), self.clock()
        if subject is None:
            items = graph.all_items()
            return timeline.timeline(None, self._entanglement(graph, [i.id for i in items]), items, now)
        id, slot, key = canonical_id(subject), canonical_name(subject), entity_key(subject)
        item = graph.items([id]).get(id)
        entity = graph.entities([key]).get(key)
        near = graph.component((), [("decision", slot), ("fact", slot)])
        in_slot = [entry for entry in near if isinstance(entry, Item) and entry.slot == slot]
        senses = [word for word, found in (("an id", item), ("an entity", entity), ("a slot", in_slot)) if found]
        if len(senses) > 1:
            self.say(f"note: {quoted(subject)} is {' and '.join(senses)}; taken as {senses[0]}")
        if item is not None:
            entanglement = self._entanglement(graph, [id])
            found = chains.of_item(entanglement, item)
            nodes = [node for chain in (*found.chains, found.rejected) for node in chain]
            items = [row.item for node in nodes for row in (node.row, *node.versions)]
            return timeline.timeline(id, entanglement, items, now)
        if entity is None and in_slot:
            return timeline.timeline(slot, self._entanglement(graph, [i.id for i in in_slot]), in_slot, now)
        known, name = self._entity(graph, subject)
        items = graph.about(known or "")
        return timeline.timeline(name, self._entanglement(graph, [i.id for i in items]), items, now)

    def atlas(self) -> Atlas:
        """All of the ledger at once, for a site."""
        from ledger_cli import atlas, timeline

        graph, now = self.database.read(), self.clock().replace(microsecond=0)
        items = graph.all_items()
        entanglement = self._entanglement(graph, [i.id for i in items])
        keys = {entity_key(name): name for name in graph.entity_names()}
        known = graph.entities(keys)
        return atlas.Atlas(
            entanglement=entanglement,
            timeline=timeline.timeline(None, entanglement, items, now),
            entities=[
                atlas.Named(key, *known[key]) for key in sorted(known, key=lambda k: (known[k][0].casefold(), k))
            ],
            slots=self.slots(at=now),
            sessions=self.sessions(),
            episodes=graph.episodes({id for item in items for id in item.evidence}),
        )

    def _entanglement(self, graph: Graph, ids: Iterable[str]) -> chains.Entanglement:
        from ledger_cli import chains

        history = History(graph.component(ids, []))
        stretches = graph.stretches(history.items)
        return chains.Entanglement(history, {id: stretches.get(id, ()) for id in history.items})

    def show(self, id: str) -> chains.Dossier | Episode:
        """All that is recorded of one item: versions, links, endings, reviews, evidence; or one episode."""
        from ledger_cli import chains

        graph, id = self.database.read(), canonical_id(id)
        item = graph.items([id]).get(id)
        if item is None:
            if (episode := graph.episodes([id]).get(id)) is not None:
                return episode
            raise Refused(f"{short(id)} is unknown", "`ledger search WORDS` finds items by their words")
        episodes = graph.episodes(item.evidence)
        entanglement = self._entanglement(graph, [id])
        return chains.dossier(entanglement, item, [episodes[e] for e in item.evidence if e in episodes])

    def search(self, words: str, limit: int = 5) -> list[tuple[Row, float]]:
        """Items by the words of their text, best first; what no longer holds is found too."""
        graph = self.database.read()
        found = graph.search(words, limit)
        rows = self._rows(graph, [item for item, _ in found])
        return list(zip(rows, (score for _, score in found), strict=True))

    def slots(self, prefix: str = "", *, at: datetime | None = None) -> list[SlotRow]:
        """What each slot answers now (or at a moment), and what is planned for it; those that answer nothing any more
        are left out.
        """
        prefix, graph, now = canonical_name(prefix), self.database.read(), self.clock() if at is None else at
        by_slot: dict[tuple[str, Kind], list[Row]] = {}
        for row in self._rows(graph, graph.slot_items()):
            if (slot := row.item.slot) is not None and slot.startswith(prefix):
                by_slot.setdefault((slot, row.item.kind), []).append(row)
        found = []
        for (slot, kind), rows in sorted(by_slot.items()):
            current = [r for r in rows if any(a <= now and (b is None or now < b) for a, b in r.shown.holds)]
            planned = [r for r in rows if r not in current and any(a > now for a, _ in r.shown.holds)]
            planned.sort(key=lambda r: (r.item.valid_from, r.item.id))
            if current or planned:
                found.append(SlotRow(slot, kind, current[0] if current else None, tuple(planned)))
        return found

    def query(
        self,
        cypher: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout_ms: int = 10_000,
        limit: int = 1_000,
        child: str | None = None,
    ) -> engine.Answer:
        """Columns and rows of a read-only Cypher query, run in a process of its own; `params` are its `$names`.

        `child` is the module that answers there (left out: `asking`). Raises QueryRefused for what writes, reads files,
        lasts, or needs too much memory.
        """
        from ledger_cli import asking

        database = self.database
        return asking.ask(
            database.folder,
            database.engine_name,
            cypher,
            params=params,
            timeout_ms=timeout_ms,
            limit=limit,
            say=database.say,
            child=child,
        )

    def sessions(self) -> list[SessionRow]:
        """All sessions, by clock and id."""
        from ledger_cli import checkpoint

        graph = self.database.read()
        pending = self.database.pending()
        entities = checkpoint.entities_by_session(self.database.data())
        for id, entries in pending.items():
            entities[id] = sum(isinstance(entry, Entity) for entry in entries)
        return [
            SessionRow(id, at, {**counts, "entity": entities[id]}, id not in pending)
            for id, at, counts in graph.sessions()
        ]

    def session(self, id: str) -> list[Entry]:
        """What a session recorded, in the order of the checkpoint. Raises Refused for an unknown one."""
        if not (entries := self.database.recorded(canonical_id(id))):
            raise Refused(f"no session {short(id)} is recorded", "`ledger session list` names them all")
        return entries

    # Keeping house

    def export(self, *, carry: bool = False, drop: Iterable[str] = ()) -> tuple[bool, tuple[str, ...]]:
        """Write the checkpoint with all that is pending; see `Database.export`."""
        return self.database.export(carry=carry, drop=drop)

    def resolve(self, choice: Choice) -> tuple[bool, Settled]:
        """Finish a merge of the checkpoint; returns whether the file changed, and what came of it: see `settle`.

        Raises Damaged where the sides cannot be read, Refused where the choice breaks a rule.
        """
        from ledger_cli import unmerged
        from ledger_cli.settle import settle

        found: list[Settled] = []

        def settled(data: bytes) -> bytes:
            if (merged := unmerged.merged(self.database.checkpoint, data)) is not None:
                self.say("note: the merge driver did not run: the checkpoint is merged from the index of git")
                if merged.left_out:
                    names = ", ".join(merged.left_out)
                    self.say(f"note: {names}: recorded where this change comes from, not here; left out")
                data = merged.data
            found.append(settle(data, choice, self.clock()))
            return found[-1].data

        return self.database.rewrite(settled), found[-1]

    def rebuild(self) -> int:
        """Throw the store away and build it anew; returns the number of entries."""
        truth = self.database.rebuild()
        return len(truth.entries) + len(truth.pending.entries())

    def check(self, data: bytes | None = None, files: Iterable[tuple[str, bytes]] = ()) -> Checkup:
        """All that is wrong with the checkpoint as it stands: layout first, then meaning.

        Or with the bytes given, beside which the session `files` (name, bytes) stand.
        """
        from ledger_cli import checkup

        if data is not None:
            return checkup.check(data, files, self.clock())
        beside = checkup.session_files(self.root / SESSIONS, self.root)
        return checkup.check(self.database.data(), beside, self.clock(), self.database.pending)


def _as_stated(session: Session) -> Builder:
    return lambda graph, now: session


def _begin(root: Path) -> Iterator[str]:
    """Make what a ledger needs and `root` lacks, and name each. Raises OSError, CannotWrite."""
    from ledger_cli import checkpoint, durable

    for name in (SESSIONS, FOLDER):
        if not (root / name).is_dir():
            (root / name).mkdir(parents=True)
            yield f"{name}/"
    path = root / FOLDER / "ledger.json"
    if not path.exists():
        durable.replace(durable.write_temp(path, checkpoint.EMPTY), path)
        yield f"{FOLDER}/ledger.json"
    for name, line in ((".gitignore", f"{FOLDER}/.*"), (".gitattributes", f"{FOLDER}/ledger.json text eol=lf")):
        if _add_line(root / name, line):
            yield f"{name}: {line}"


def _add_line(path: Path, line: str) -> bool:
    """Add a line to a file that is somebody else's: what is in it stays, and the line ends as its lines do."""
    data = path.read_bytes() if path.exists() else b""
    if line.encode() in data.splitlines():
        return False
    end = b"\r\n" if b"\r\n" in data else b"\n"
    with path.open("ab") as file:
        file.write((b"" if not data or data.endswith(b"\n") else end) + line.encode() + end)
    return True


def _did_you_mean(name: str, names: Iterable[str]) -> str:
    import difflib

    by_key = {entity_key(n): n for n in names}
    close = difflib.get_close_matches(entity_key(name), by_key, n=1, cutoff=0.6)
    return f"; did you mean {by_key[close[0]]}?" if close else ""
