"""The directory database `snapshots/`: the checkpoint in git, the journal beside it, and the store built from both.

Truth is checkpoint + journal. The store is a cache of them: at any doubt it is rebuilt, and the answers are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ledger_cli import checkpoint, checks, holds, journal
from ledger_cli.errors import Busy, Damaged, NoLedger, Refused
from ledger_cli.history import History
from ledger_cli.instant import LAST
from ledger_cli.journal import Base, Pending
from ledger_cli.model import Entry, Item, Stretch
from ledger_cli.store import engine as engines
from ledger_cli.store.generations import Current, Generations, Identity
from ledger_cli.store.graph import Graph, Shown

Say = Callable[[str], None]
WAYS_OUT = "`ledger export --carry` brings them here, `ledger export --drop SESSION` gives one up"


def shown(items: Mapping[str, Item], stretches: Mapping[str, Sequence[Stretch]]) -> dict[str, Shown]:
    """What the store keeps on an item's node for people who query: validTo and closedAt, as known now."""
    found = {id: holds.shown(items[id], its, LAST) for id, its in stretches.items()}
    return {id: (s.valid_to, s.closed_at) for id, s in found.items()}


@dataclass(frozen=True)
class Truth:
    """What checkpoint and journal hold: the checkpoint's identity and entries, and the journal's sessions.

    `aside` are sessions of the journal that do not fit this checkpoint: they wait, and count for nothing.
    """

    identity: Identity
    entries: tuple[Entry, ...]
    pending: Pending
    aside: Pending


class Database:
    """The database in one folder. `say` hears what a user should know (on stderr); `timeout` is in seconds."""

    def __init__(self, folder: Path, *, engine: str = "kglite", say: Say = lambda _: None, timeout: float = 60) -> None:
        self.folder = folder
        self.checkpoint = folder / "ledger.json"
        self.generations = Generations(folder / ".store")
        self.engine_name = engine
        self.say = say
        self.timeout = timeout

    # Reading

    def read(self) -> Graph:
        """The current state, frozen. Rebuilt where the store is missing, damaged or behind."""
        return self._load(writable=False)

    def scratch(self) -> Writer:
        """The current state, to try sessions on: nothing of it is ever written."""
        return _Scratch(self, self._load(writable=True), Identity(0, 0, 0, ""), self._journal())

    def pending(self) -> dict[str, tuple[Entry, ...]]:
        """The sessions of the journal that the checkpoint does not hold."""
        journaled = self._journal().sessions
        data = self.data() if journaled else b""
        return {id: entries for id, entries in journaled.items() if not checkpoint.session_entries(data, id)}

    def recorded(self, session: str) -> list[Entry]:
        """What is recorded under a session's id, exported or not."""
        return list(self.pending().get(session, ())) or checkpoint.session_entries(self.data(), session)

    def aside(self) -> tuple[str, ...]:
        """The sessions of the journal that do not fit the checkpoint here."""
        return tuple(self._truth().aside.sessions) if self._journal() else ()

    def is_fresh(self) -> bool:
        """Does the store equal checkpoint and journal?"""
        current = self.generations.current()
        return current is not None and self._trusted(current) is not None and self.generations.path(current).exists()

    def _load(self, *, writable: bool) -> Graph:
        for _ in range(20):  # a generation may be swept between reading its name and loading it
            current = self.generations.current()
            known = self._trusted(current) if current is not None else None
            if known is None:
                break
            self._tell(known.aside)
            try:
                return Graph.load(self._engine(), self.generations.path(known), writable=writable)
            except FileNotFoundError:
                if self.generations.current() == current:
                    break
            except engines.DamagedStore:
                break
        return self._rebuild_for_reading(writable=writable)

    def _trusted(self, current: Current) -> Current | None:
        """The generation as against what is on disk, or None where that holds more, or other things."""
        if current.engine != self._engine().version:
            return None
        known = current.knows(self._existing())
        if known is None:
            return None
        journaled = set(self._journal().sessions)
        if not journaled >= {*known.pending, *known.aside}:
            return None
        if journaled - {*known.pending, *known.exported, *known.aside} and not self._being_written():
            return None
        return known

    def _being_written(self) -> bool:
        try:
            with self.generations.lock(0):
                return False
        except Busy:
            return True

    def _rebuild_for_reading(self, *, writable: bool) -> Graph:
        """Answer from checkpoint and journal; leave a generation behind if no writer is at work."""
        try:
            self.generations.folder.mkdir(exist_ok=True)
            with self.generations.lock(0):
                truth = self._truth()
                graph = self._build(truth)
                self._publish(graph, truth.identity, truth)
        except (Busy, OSError):  # also where the folder cannot be written
            truth = self._truth()
            graph = self._build(truth)
        self._tell(tuple(truth.aside.sessions))
        return graph if writable else graph.frozen()

    def _tell(self, aside: Iterable[str]) -> None:
        if names := ", ".join(aside):
            self.say(
                f"note: {names}: applied but never exported, on a checkpoint that is not the one here. "
                f"This answer goes without. {WAYS_OUT}."
            )

    # Writing

    @contextmanager
    def writing(self) -> Iterator[Writer]:
        """Hold the lock, recover what a killed writer left, and yield what can be written to."""
        self._existing()
        self.make_store()
        with self.generations.lock(self.timeout):
            yield self._recovered()

    def make_store(self) -> None:
        try:
            self.generations.folder.mkdir(exist_ok=True)
        except OSError as fault:
            raise checkpoint.CannotWrite(f"cannot write in {self.folder}: {fault.strerror}") from None

    def _recovered(self) -> Writer:
        current = self.generations.current()
        self.generations.sweep(current)
        pending = self._journal()
        known = current.knows(self._existing()) if current is not None else None
        fresh = (
            current is not None
            and known is not None
            and current.engine == self._engine().version
            and not known.aside
            and set(known.pending) <= set(pending.sessions) <= {*known.pending, *known.exported}
            and (pending.base is None or not known.pending or pending.base.digest == known.checkpoint.sha256)
        )
        if fresh and current is not None and known is not None:
            try:
                graph = Graph.load(self._engine(), self.generations.path(current), writable=True)
                left = pending.without(known.exported)
                self._keep_in_journal(left, pending)
                return Writer(self, graph, known.checkpoint, left)
            except (FileNotFoundError, engines.DamagedStore):
                pass
        truth = self._truth()
        if truth.aside:
            raise Refused(
                f"{', '.join(truth.aside.sessions)}: applied but never exported, on a checkpoint that is not the one "
                f"here: {self.checkpoint}",
                WAYS_OUT,
            )
        left = truth.pending
        if left:  # from here on they stand on this checkpoint
            left = Pending(Base(truth.identity.sha256, frozenset(e.session for e in truth.entries)), left.sessions)
        self._keep_in_journal(left, pending)
        return Writer(self, self._build(truth), truth.identity, left)

    def _keep_in_journal(self, left: Pending, found: Pending) -> None:
        if left != found:
            journal.replace(self.generations.journal, left)

    # Truth

    def _existing(self) -> Path:
        if not self.checkpoint.exists():
            raise NoLedger(f"there is no ledger in {self.folder}", "run `ledger init`, or go to a folder that has one")
        return self.checkpoint

    def _journal(self) -> Pending:
        return journal.read(self.generations.journal)

    def _engine(self) -> type[engines.Engine]:
        return engines.get(self.engine_name)

    def data(self) -> bytes:
        """The checkpoint's bytes as they stand."""
        try:
            return self._existing().read_bytes()
        except OSError as fault:
            raise Damaged(f"cannot read {self.checkpoint}: {fault.strerror}") from None

    def _truth(self, *, any_order: bool = False) -> Truth:
        data = self.data()
        identity = Identity.of(self.checkpoint, data)
        entries = tuple(checkpoint.read(data, any_order=any_order))
        recorded = {entry.session for entry in entries}
        left = self._journal().without(recorded)
        if not left or _fits(left, identity, entries, recorded):
            return Truth(identity, entries, left, Pending())
        return Truth(identity, entries, Pending(), left)

    def _build(self, truth: Truth) -> Graph:
        entries = [*truth.entries, *truth.pending.entries()]
        history = History(entries)
        stretches = holds.sweep(history)
        return Graph.build(self._engine(), entries, stretches, shown(history.items, stretches))

    def _publish(self, graph: Graph, identity: Identity, truth: Truth) -> Current:
        number, path = self.generations.next()
        graph.save(path)
        current = Current(
            number,
            path.name,
            self._engine().version,
            identity,
            pending=tuple(truth.pending.sessions),
            aside=tuple(truth.aside.sessions),
        )
        self.generations.publish(current)
        self.generations.sweep(current)
        return current

    # Export and rebuild

    def rebuild(self) -> Truth:
        """Throw the store away and build it from checkpoint and journal."""
        self.make_store()
        with self.generations.lock(self.timeout):
            truth = self._truth()
            self._publish(self._build(truth), truth.identity, truth)
        return truth

    def export(self, *, carry: bool = False, drop: Iterable[str] = ()) -> tuple[bool, tuple[str, ...]]:
        """Write the checkpoint canonically, with all that is pending. Returns whether its bytes changed, and what came.

        Valid lines in the wrong order (a merge resolved by hand) are put right. `carry` takes sessions along that
        were applied on another checkpoint, `drop` gives sessions up that were never exported.
        Raises Damaged for a file that is no checkpoint, Refused where the pending sessions do not fit.
        """
        self._existing()
        self.make_store()
        with self.generations.lock(self.timeout):
            self._drop(tuple(drop))
            current = self.generations.current()
            if current is not None and not self._journal() and current.knows(self.checkpoint) == current:
                return False, ()  # untouched since this tool wrote it
            truth = self._truth(any_order=True)
            came = truth.pending
            if truth.aside:
                if not carry:
                    raise Refused(
                        f"{', '.join(truth.aside.sessions)}: applied but never exported, on a checkpoint that is not "
                        f"the one here: {self.checkpoint}",
                        WAYS_OUT,
                    )
                came = truth.aside
                if found := _broken(truth.entries, came.entries()):
                    raise Refused([checks.problem(f) for f in found])
            truth = replace(truth, entries=(*truth.entries, *came.entries()), pending=Pending(), aside=Pending())
            data = checkpoint.render(truth.entries)
            changed = data != self.data()
            graph = self._build(truth)
            if changed:
                self._swap(graph, data, tuple(came.sessions), before=truth.identity)
            else:
                self._publish(graph, truth.identity, truth)
            journal.replace(self.generations.journal, Pending())
        return changed, tuple(came.sessions)

    def _drop(self, sessions: Sequence[str]) -> None:
        if not sessions:
            return
        pending = self._journal()
        for id in sessions:
            if id not in pending.sessions:
                raise Refused(f"{id} is not waiting to be exported", "`ledger doctor` names those that are")
        left = pending.without(sessions)
        if found := _broken(checkpoint.read(self.data(), any_order=True), left.entries()):
            raise Refused([checks.problem(f) for f in found], "give up what builds on it as well")
        journal.replace(self.generations.journal, left)

    def _swap(self, graph: Graph, data: bytes, exported: tuple[str, ...], before: Identity) -> Current:
        """Publish a generation and its checkpoint: readers see the one before, or both anew."""
        number, path = self.generations.next()
        temp = checkpoint.write_temp(self.checkpoint, data)
        try:
            graph.save(path)
            current = Current(
                number, path.name, self._engine().version, Identity.of(temp, data), before=before, exported=exported
            )
            self.generations.publish(current)
        except BaseException:
            temp.unlink(missing_ok=True)
            raise
        checkpoint.replace(temp, self.checkpoint)
        return current


class Writer:
    """The store, held for writing: what is known, and how sessions become part of it."""

    def __init__(self, database: Database, graph: Graph, identity: Identity, pending: Pending) -> None:
        self.database, self.graph, self.identity, self.pending = database, graph, identity, pending
        self.clean = True  # does a generation on disk hold all of it?

    def record(
        self,
        session: str,
        entries: Sequence[Entry],
        items: Mapping[str, Item],
        changed: Mapping[str, Sequence[Stretch]],
    ) -> None:
        """Take a session in and journal it: when this returns, it is durable."""
        if self.pending.base is None:
            known = frozenset(id for id in self.graph.session_ids())
            self.pending = Pending(Base(self.identity.sha256, known), dict(self.pending.sessions))
        assert self.pending.base is not None
        self.clean = False
        self.graph.add(entries, changed, shown(items, changed))
        journal.append(self.database.generations.journal, self.pending.base, session, entries)
        self.pending.sessions[session] = tuple(entries)

    def recorded(self, session: str) -> list[Entry]:
        """What is recorded under a session's id, exported or not."""
        if session in self.pending.sessions:
            return list(self.pending.sessions[session])
        return checkpoint.session_entries(self.database.data(), session)

    def finish(self, *, export: bool) -> None:
        """Publish what was recorded, and write it to the checkpoint if asked."""
        database, generations = self.database, self.database.generations
        if export and self.pending:
            data = database.data().replace(b"\r\n", b"\n")
            groups = self._groups()
            new = checkpoint.splice(data, self.pending.entries(), groups.__getitem__)
            current = database._swap(self.graph, new, tuple(self.pending.sessions), before=self.identity)
            journal.replace(generations.journal, Pending())
            generations.sweep(current)
        elif not self.clean:
            truth = Truth(self.identity, (), self.pending, Pending())
            database._publish(self.graph, self.identity, truth)

    def _groups(self) -> dict[str, str]:
        """The groups of the recorded items that the pending lines stand with."""
        named = {id for entry in self.pending.entries() for id in checks.named(entry)}
        return {id: checkpoint.group_name(item) for id, item in self.graph.items(named).items()}


class _Scratch(Writer):
    def record(
        self,
        session: str,
        entries: Sequence[Entry],
        items: Mapping[str, Item],
        changed: Mapping[str, Sequence[Stretch]],
    ) -> None:
        self.graph.add(entries, changed, shown(items, changed))
        self.pending.sessions[session] = tuple(entries)


def _fits(pending: Pending, identity: Identity, entries: Sequence[Entry], recorded: set[str]) -> bool:
    """Does the checkpoint hold all that the pending sessions were applied on, and nothing that they break?"""
    base = pending.base
    if base is None or base.digest == identity.sha256:
        return True
    return base.sessions <= recorded and not _broken(entries, pending.entries())


def _broken(entries: Iterable[Entry], more: Iterable[Entry]) -> list[checks.Finding]:
    return [f for f in checks.findings((None, e) for e in [*entries, *more]) if f.severity == "error"]
