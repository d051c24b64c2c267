"""The directory database `snapshots/`: the checkpoint in git, the journal beside it, and the store built from both.

Truth is checkpoint + journal. The store is a cache of them: at any doubt it is rebuilt, and the answers are the same.

Who looks at both reads the journal first: a writer empties it when the checkpoint holds its sessions, so what is no
longer in the one is in the other.
"""

from __future__ import annotations

import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ledger_cli import durable, journal
from ledger_cli.errors import Busy, Damaged, NoLedger, Refused
from ledger_cli.journal import Base, Pending
from ledger_cli.store import engine as engines
from ledger_cli.store.generations import Current, Generations, Identity
from ledger_cli.store.graph import Graph

if TYPE_CHECKING:  # a question is answered without these: each costs a start
    from ledger_cli.model import Entry
    from ledger_cli.truth import Truth

Say = Callable[[str], None]
WAYS_OUT = "`ledger export --carry` brings them here, `ledger export --drop SESSION` gives one up"
_PATIENCE = 25
"""How many hundredths of a second a reader waits for a writer that is about to publish, before it builds by itself."""


class Held(NamedTuple):
    """The state that a writer goes on from: the graph, the checkpoint and the waiting sessions that it equals.

    `clean` says whether a generation on disk holds all of it.
    """

    graph: Graph
    identity: Identity
    pending: Pending
    clean: bool


class Seen(NamedTuple):
    """A state that was read, and what it was on disk; None where it was not published."""

    graph: Graph
    state: object


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

    def copy(self) -> Graph:
        """The current state, in memory alone: what is added to it, nobody else sees."""
        return self._load(writable=True)

    def reread(self, seen: Seen | None) -> Seen:
        """As `read`; what was seen before, where it is still the state on disk."""
        state = self._state()
        if seen is not None and state is not None and state == seen.state:
            return seen
        graph = self.read()
        return Seen(graph, state if state == self._state() else None)

    def _state(self) -> object:
        """What names the published generation, the file included; None where none counts, or some are kept aside."""
        current = self.generations.current()
        known = self._trusted(current) if current is not None else None
        if known is None or known.aside:  # of those aside every answer tells
            return None
        try:
            file = self.generations.path(known).stat()
        except OSError:
            return None
        return known, file.st_ino, file.st_mtime_ns, file.st_size

    def scratch(self) -> Held:
        """The current state, to try sessions on. Raises Refused where none could be applied."""
        pending = self._journal()
        if aside := self.aside():
            raise self._does_not_fit(aside)
        return Held(self._load(writable=True), Identity(0, 0, 0, ""), pending, False)

    def pending(self) -> dict[str, tuple[Entry, ...]]:
        """The sessions of the journal that the checkpoint does not hold."""
        journaled = self._journal()
        if not journaled:
            return {}
        from ledger_cli import checkpoint, truth

        data = self.data()

        def recorded(id: str) -> Collection[Entry]:
            try:
                return checkpoint.session_entries(data, id)
            except ValueError:  # a damaged checkpoint does not hold it
                return ()

        return truth.unrecorded(journaled, recorded).sessions

    def recorded(self, session: str) -> list[Entry]:
        """What is recorded under a session's id, exported or not."""
        return list(self.pending().get(session, ())) or self.exported(session)

    def exported(self, session: str) -> list[Entry]:
        """What the checkpoint holds under a session's id. Raises Damaged where a line of it cannot be read."""
        from ledger_cli import checkpoint

        try:
            return checkpoint.session_entries(self.data(), session)
        except ValueError as fault:
            raise Damaged(f"the checkpoint, session {session}: {fault}", "`ledger check` names every line") from None

    def aside(self) -> tuple[str, ...]:
        """The sessions of the journal that do not fit the checkpoint here."""
        return tuple(self._truth().aside.sessions) if self._journal() else ()

    def is_fresh(self) -> bool:
        """Does the store equal checkpoint and journal?"""
        current = self.generations.current()
        return current is not None and self._trusted(current) is not None and self.generations.path(current).is_file()

    def _load(self, *, writable: bool) -> Graph:
        """The generation that counts; one built anew where there is none, or none that holds all.

        A writer journals before it publishes, so a reader that comes in between waits for it a moment.
        """
        self._existing()
        for _ in range(_PATIENCE):
            if (graph := self._load_current(writable=writable)) is not None:
                return graph
            try:
                self.make_store()
                with self.generations.lock(0):
                    return self._load_current(writable=writable) or self._rebuild_for_reading(writable=writable)
            except Busy:
                time.sleep(0.01)
            except durable.CannotWrite:
                break
        return self._built(self._truth(), writable=writable)

    def _load_current(self, *, writable: bool) -> Graph | None:
        current = self.generations.current()
        while current is not None and (known := self._trusted(current)) is not None:
            try:
                graph = Graph.load(self._engine(), self.generations.path(known), writable=writable)
            except (FileNotFoundError, engines.DamagedStore):
                if current == (current := self.generations.current()):
                    return None  # not swept by a writer, but lost or damaged
                continue
            self._remember(current, known)
            self._tell(known.aside)
            return graph
        return None

    def _remember(self, current: Current, known: Current) -> None:
        """A checkpoint that only looks new (touched, checked out again) need not be hashed by every reader."""
        if known.checkpoint != current.checkpoint and known == replace(current, checkpoint=known.checkpoint):
            with suppress(Busy, durable.CannotWrite), self.generations.lock(0):
                if self.generations.current() == current:
                    self.generations.publish(known)

    def _trusted(self, current: Current) -> Current | None:
        """The generation as against what is on disk, or None where that holds more, or other things."""
        if current.engine != self._engine().version:
            return None
        journaled = set(self._journal().sessions)
        known = self._known(current)
        if known is None or not {*known.pending, *known.aside} <= journaled:
            return None
        return known if journaled <= {*known.pending, *known.exported, *known.aside} else None

    def _known(self, current: Current) -> Current | None:
        try:
            return current.knows(self._existing())
        except OSError as fault:
            raise self._unreadable(fault) from None

    def _rebuild_for_reading(self, *, writable: bool) -> Graph:
        """Answer from checkpoint and journal, and leave a generation behind if the disk takes one. Needs the lock."""
        self._tell_lost()
        durable.sweep(self.checkpoint)
        truth = self._truth()
        graph = self._build(truth)
        try:
            self.publish(graph, truth.identity, truth.pending, aside=truth.aside.sessions)
        except durable.CannotWrite as fault:
            self.say(f"note: the store is not kept: {fault.message}")
        return self._told(graph, truth, writable=writable)

    def _built(self, truth: Truth, *, writable: bool) -> Graph:
        return self._told(self._build(truth), truth, writable=writable)

    def _told(self, graph: Graph, truth: Truth, *, writable: bool) -> Graph:
        self._tell(tuple(truth.aside.sessions))
        return graph if writable else graph.frozen()

    def _tell(self, aside: Iterable[str]) -> None:
        if names := ", ".join(aside):
            self.say(
                f"note: {names}: applied but never exported, on a checkpoint that is not the one here. "
                f"This answer goes without. {WAYS_OUT}."
            )

    def _tell_lost(self) -> None:
        """Say what was acknowledged and is in neither file any more: somebody took the journal away."""
        current = self.generations.current()
        if current is None or not current.pending or self._known(current) is None:
            return
        journaled = self._journal().sessions
        if lost := [id for id in current.pending if id not in journaled and not self.exported(id)]:
            self.say(f"note: {', '.join(lost)}: applied but never exported, and gone with the journal that held it")

    # Writing

    @contextmanager
    def held(self) -> Iterator[Held]:
        """Hold the lock, recover what a killed writer left, and yield what can be written to."""
        with self._locked():
            yield self._recovered()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock, and clear away what killed writers left."""
        self._existing()
        self.make_store()
        with self.generations.lock(self.timeout):
            self.generations.sweep(self.generations.current())
            durable.sweep(self.checkpoint)
            yield

    def make_store(self) -> None:
        """Make the folder of the store, which git ignores by itself. Raises CannotWrite."""
        try:
            if not self.generations.folder.is_dir():
                self.generations.folder.mkdir(exist_ok=True)
                durable.sync_folder(self.folder)  # a journal in it is lost with its entry
            ignore = self.generations.folder / ".gitignore"
            if not ignore.exists():  # also on a branch that has no line for it: git would take the journal away with it
                ignore.write_text("*\n")
        except FileExistsError:
            raise durable.CannotWrite(f"{self.generations.folder} is no folder", journal.NO_FOLDER) from None
        except OSError as fault:
            raise durable.CannotWrite(f"cannot write in {self.folder}: {fault.strerror or fault}") from None

    def _recovered(self) -> Held:
        current = self.generations.current()
        known = self._trusted(current) if current is not None else None
        pending = self._journal()
        if known is not None and not known.aside:
            try:
                graph = Graph.load(self._engine(), self.generations.path(known), writable=True)
            except (FileNotFoundError, engines.DamagedStore):
                pass
            else:
                left = pending.without(known.exported)
                self._keep_in_journal(left, pending)
                return Held(graph, known.checkpoint, left, True)
        self._tell_lost()
        truth = self._truth()
        if truth.aside:
            raise self._does_not_fit(truth.aside.sessions)
        self.generations.forget()
        self._keep_in_journal(truth.pending, pending)
        return Held(self._build(truth), truth.identity, truth.pending, False)

    def _does_not_fit(self, aside: Iterable[str]) -> Refused:
        return Refused(
            f"{', '.join(aside)}: applied but never exported, on a checkpoint that is not the one here: "
            f"{self.checkpoint}",
            WAYS_OUT,
        )

    def _keep_in_journal(self, left: Pending, found: Pending) -> None:
        if left != found:
            journal.replace(self.generations.journal, left)

    # Truth

    def _existing(self) -> Path:
        try:
            mode = self.checkpoint.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            hint = "run `ledger init`, or go to a folder that has one"
            raise NoLedger(f"there is no ledger in {self.folder}", hint) from None
        except OSError as fault:
            raise self._unreadable(fault) from None
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # a pipe would be waited for, a device has no end
            raise Damaged(f"{self.checkpoint} is no regular file", "put the checkpoint back: git has it")
        return self.checkpoint

    def _journal(self) -> Pending:
        return journal.read(self.generations.journal)

    def _engine(self) -> type[engines.Engine]:
        return engines.get(self.engine_name)

    def data(self) -> bytes:
        """The checkpoint's bytes as they stand."""
        return self.read_checkpoint()[1]

    def read_checkpoint(self, known: Identity | None = None) -> tuple[Identity, bytes]:
        try:
            return Identity.read(self._existing(), known)
        except OSError as fault:
            raise self._unreadable(fault) from None

    def _unreadable(self, fault: OSError) -> Damaged:
        return Damaged(f"cannot read {self.checkpoint}: {fault.strerror or fault}")

    def _truth(self) -> Truth:
        from ledger_cli import checkpoint, truth

        pending = self._journal()
        identity, data = self.read_checkpoint()
        return truth.of(identity, checkpoint.read(data), pending)

    def _build(self, truth: Truth) -> Graph:
        from ledger_cli import holds
        from ledger_cli.history import History

        entries = [*truth.entries, *truth.pending.entries()]
        history = History(entries)
        stretches = holds.sweep(history)
        return Graph.build(self._engine(), entries, stretches, holds.ends(history.items, stretches))

    # Publishing

    def _save(self, graph: Graph) -> tuple[int, str]:
        try:
            number, path = self.generations.next()
            graph.save(path)
        except OSError as fault:
            raise durable.CannotWrite(
                f"cannot write in {self.generations.folder}: {fault.strerror or fault}"
            ) from fault
        return number, path.name

    def publish(self, graph: Graph, identity: Identity, pending: Pending, aside: Iterable[str] = ()) -> None:
        self.generations.must_hold()
        number, file = self._save(graph)
        current = Current(
            number,
            file,
            self._engine().version,
            identity,
            pending=tuple(pending.sessions),
            aside=tuple(aside),
        )
        self.generations.publish(current)
        self.generations.sweep(current)

    def swap(self, graph: Graph, data: bytes, exported: Pending, found: Identity, before: Identity | None) -> None:
        """Publish a generation and its checkpoint, and empty the journal: readers see all as before, or all anew.

        `found` is what stands there now: if another program (git) replaces it meanwhile, nothing is written over it.
        `before` is the same where the journal's sessions fit it, so that a killed swap is still a good generation.
        """
        temp = durable.write_temp(self.checkpoint, data)
        try:
            number, file = self._save(graph)
            current = Current(
                number,
                file,
                self._engine().version,
                Identity.of(temp, data),
                before=before,
                exported=tuple(exported.sessions),
            )
            self.generations.must_hold()
            self.generations.publish(current)
            if not found.same_stat(self.checkpoint):
                raise self.moved(exported)
        except BaseException:
            temp.unlink(missing_ok=True)
            raise
        durable.replace(temp, self.checkpoint)
        journal.replace(self.generations.journal, Pending())
        self.generations.sweep(current)

    def moved(self, waiting: Pending) -> Refused:
        names = f"; {', '.join(waiting.sessions)}: applied, and waiting to be exported" if waiting else ""
        return Refused(
            f"another program changed {self.checkpoint} while it was being written, and it is left as it is{names}",
            "`ledger export` writes it",
        )

    # Export and rebuild

    def rewrite(self, make: Callable[[bytes], bytes]) -> bool:
        """Put what `make` makes of the checkpoint's bytes in its place; returns whether that is another file.

        The journal stays as it is: the next reader finds whether its sessions fit. Raises what `make` raises.
        """
        with self._locked():
            found, data = self.read_checkpoint()
            if (new := make(data)) == data:
                return False
            self.generations.must_hold()
            temp = durable.write_temp(self.checkpoint, new)
            if not found.same_stat(self.checkpoint):
                temp.unlink(missing_ok=True)
                raise self.moved(Pending())
            durable.replace(temp, self.checkpoint)
        return True

    def rebuild(self) -> Truth:
        """Throw the store away and build it from checkpoint and journal."""
        with self._locked():
            self._tell_lost()
            truth = self._truth()
            self.publish(self._build(truth), truth.identity, truth.pending, aside=truth.aside.sessions)
        return truth

    def export(self, *, carry: bool = False, drop: Iterable[str] = ()) -> tuple[bool, tuple[str, ...]]:
        """Write the checkpoint canonically, with all that is pending. Returns whether its bytes changed, and what came.

        Valid lines in the wrong order (a merge resolved by hand) are put right. `carry` takes sessions along that
        were applied on another checkpoint, `drop` gives sessions up that were never exported.
        Raises Damaged for a file that is no checkpoint, Refused where the pending sessions do not fit.
        """
        from ledger_cli import checkpoint
        from ledger_cli.truth import Truth, carried, of, read_any_order, without

        dropped = tuple(drop)
        with self._locked():
            pending = self._journal()
            identity, data = self.read_checkpoint()
            if not pending and not dropped and self._wrote(identity, data):
                return False, ()
            entries, tidy = read_any_order(data)
            if dropped:
                pending = without(pending, dropped, entries)
            truth = of(identity, entries, pending)
            here = Base(identity.sha256, frozenset(entry.session for entry in entries))
            came = truth.pending
            if truth.aside and carry:
                came = carried(truth)
            elif truth.aside and not dropped:
                raise self._does_not_fit(truth.aside.sessions)
            if dropped or truth.aside:
                # From here on, and also if this is killed, they are given up, or stand on this checkpoint.
                self.generations.forget()
                journal.replace(self.generations.journal, Pending(here, came.sessions) if came else truth.aside)
            if dropped:
                self.say(f"note: gave up {', '.join(dropped)}")
            if truth.aside and not carry:
                self.say(f"note: {', '.join(truth.aside.sessions)}: still waiting. {WAYS_OUT}.")
                return False, ()
            truth = Truth(identity, (*entries, *came.entries()), Pending(), Pending())
            graph, new = self._build(truth), checkpoint.render(truth.entries)
            changed = new != data
            if changed:
                self.swap(graph, new, came, found=identity, before=identity if tidy else None)
            else:
                self.publish(graph, identity, Pending())
                journal.replace(self.generations.journal, Pending())
        return changed, tuple(came.sessions)

    def _wrote(self, identity: Identity, data: bytes) -> bool:
        """Is this a checkpoint that was read, whole and in order, and has not changed since?

        Then it is what an export would write, up to its line ends.
        """
        current = self.generations.current()
        return current is not None and current.checkpoint.sha256 == identity.sha256 and b"\r" not in data
