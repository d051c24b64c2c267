"""The store, held for writing: how sessions become part of it, and of the checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from ledger_cli import checkpoint, holds, invariants, journal
from ledger_cli.database import Database, Held
from ledger_cli.durable import CannotWrite
from ledger_cli.errors import Damaged
from ledger_cli.journal import Base, Pending
from ledger_cli.model import Entry, Item, Stretch


@contextmanager
def writing(database: Database) -> Iterator[Writer]:
    """Hold the lock of a database, recover what a killed writer left, and yield what sessions are written with."""
    with database.held() as held:
        yield Writer(database, held)


class Writer:
    """The store, held for writing: what is known, and how sessions become part of it."""

    def __init__(self, database: Database, held: Held) -> None:
        self.database = database
        self.graph, self.identity, self.pending, self.clean = held
        self._torn = False  # does the graph hold what the journal may not?

    def record(
        self,
        session: str,
        entries: Sequence[Entry],
        items: Mapping[str, Item],
        changed: Mapping[str, Sequence[Stretch]],
    ) -> None:
        """Take a session in and journal it: when this returns, it is durable.

        Raises CannotWrite; then what came before it is kept, and nothing more can be recorded.
        """
        self.database.generations.must_hold()
        base = self._base()
        self.clean, self._torn = False, True
        self.graph.add(entries, changed, holds.ends(items, changed))
        journal.append(self.database.generations.journal, base, session, entries)
        self.pending.sessions[session] = tuple(entries)
        self._torn = False

    def _base(self) -> Base:
        """What the journal stands on: this checkpoint, also for what was applied on one that this one includes."""
        base = self.pending.base
        if base is None or base.digest != self.identity.sha256:
            base = Base(self.identity.sha256, frozenset(self.graph.session_ids()) - self.pending.sessions.keys())
            if self.pending:
                journal.replace(self.database.generations.journal, Pending(base, self.pending.sessions))
            self.pending = Pending(base, dict(self.pending.sessions))
        return base

    def recorded(self, session: str) -> list[Entry]:
        """What is recorded under a session's id, exported or not."""
        return list(self.pending.sessions.get(session, ())) or self.database.exported(session)

    def finish(self, *, export: bool) -> None:
        """Publish what was recorded, and write it to the checkpoint if asked.

        Raises CannotWrite, and Refused where git replaced the checkpoint meanwhile; what was recorded is in the
        journal then, and the next export writes it.
        """
        if self._torn:
            return  # this graph is nobody's state; the journal has what was acknowledged
        try:
            self._publish(export=export)
        except (CannotWrite, Damaged) as fault:
            if self.pending and not fault.hint:
                names = ", ".join(self.pending.sessions)
                fault.hint = f"what was acknowledged is kept: {names}; `ledger export` writes it"
            raise

    def _publish(self, *, export: bool) -> None:
        if export and self.pending:
            found, data = self.database.read_checkpoint(self.identity)
            if found.sha256 != self.identity.sha256:
                raise self.database.moved(self.pending)
            groups = self._groups()
            new = checkpoint.splice(data.replace(b"\r\n", b"\n"), self.pending.entries(), groups.__getitem__)
            self.database.swap(self.graph, new, self.pending, found=found, before=found)
        elif not self.clean:
            self.database.publish(self.graph, self.identity, self.pending)

    def _groups(self) -> dict[str, str]:
        """The groups of the recorded items that the pending lines stand with."""
        named = {id for entry in self.pending.entries() for id in invariants.named(entry)}
        return {id: checkpoint.group_name(item) for id, item in self.graph.items(named).items()}


class Scratch(Writer):
    """A writer whose sessions are never kept: to try them on."""

    def record(
        self,
        session: str,
        entries: Sequence[Entry],
        items: Mapping[str, Item],
        changed: Mapping[str, Sequence[Stretch]],
    ) -> None:
        self.graph.add(entries, changed, holds.ends(items, changed))
        self.pending.sessions[session] = tuple(entries)
