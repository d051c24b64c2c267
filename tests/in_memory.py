"""A ledger in memory: sessions as documents in, entries out, by the package's own rules and nothing else."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from typing import Any

from ledger_cli import lines, rules, session_file
from ledger_cli.errors import LedgerError
from ledger_cli.history import History
from ledger_cli.known import Known, Write
from ledger_cli.model import Entity, Entry, Episode, entity_key
from ledger_cli.stated import Session
from tests.histories import Histories
from tests.oracle import Oracle

LATER = datetime(2100, 1, 1, tzinfo=UTC)


class Memory:
    """Entries, and `apply`, which adds to them what a session comes to."""

    def __init__(self, entries: list[Entry] | None = None) -> None:
        self.entries: list[Entry] = list(entries or ())

    def apply(self, document: dict[str, Any] | Session, *, backdated: bool = False) -> Write | None:
        """What the session came to; None if it was recorded already. Raises Refused."""
        session = document if isinstance(document, Session) else read(document)
        kinds: dict[str, tuple[str, str | None]] = {}
        for entry in self.entries:
            if isinstance(entry, Entity):
                kinds.setdefault(entity_key(entry.name), (entry.name, entry.kind))
        known = Known(
            History(self.entries),
            {e.id: e for e in self.entries if isinstance(e, Episode)},
            kinds,
            [e for e in self.entries if e.session == session.id],
            max((e.recorded_at for e in self.entries), default=None),
        )
        write = rules.resolve(session, known, LATER, backdated=backdated)
        if write is not None:
            self.entries += write.entries
        return write

    def oracle(self) -> Oracle:
        """The brute-force reading of the same entries, through their lines alone."""
        return Oracle([json.loads(lines.line(entry)) for entry in self.entries])


def read(document: dict[str, Any]) -> Session:
    """A session document, read as a session file."""
    return session_file.read(json.dumps(document), "test.json")[0]


def invent(seed: int, sessions: int = 14, *, wild: float = 0.15, backdated: bool = True) -> Memory:
    """A random history over everything a session can hold; what the rules refuse is left out."""
    rng = random.Random(seed)
    histories, memory = Histories(rng, wild=wild), Memory()
    for _ in range(sessions):
        document = histories.next()
        try:
            memory.apply(document, backdated=backdated)
        except LedgerError:
            continue
        histories.accepted(document)
    return memory
