"""What became of each record of a foreign file or folder: imported, or listed with the reasons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ledger_cli.session_writer import Comments
from ledger_cli.stated import Session


class Outcome(NamedTuple):
    """One record, by its file or its line. Imported, it has an id, and the reasons are remarks; listed, it has none."""

    record: str
    id: str | None
    reasons: tuple[str, ...] = ()


class Import(NamedTuple):
    """The sessions to review, and what became of every record."""

    sessions: tuple[Session, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def imported(self) -> Sequence[Outcome]:
        return [o for o in self.outcomes if o.id is not None]

    @property
    def listed(self) -> Sequence[Outcome]:
        return [o for o in self.outcomes if o.id is None]

    def comments(self, source: str) -> Comments:
        """What to say at the top of the session file, and above each item, by id."""
        head = [
            f"Imported from {source}: {len(self.imported)} of {len(self.outcomes)} records. Read it, and mend it.",
            "Then try it with `ledger session check FILE`, and apply it with `ledger session apply FILE`.",
        ]
        if all(session.at is None for session in self.sessions):
            head.append("It states no clock (`at`): its record time is when it is applied.")
        else:
            head.append("Its clocks are those of commits: a ledger with newer entries takes it with `--backdated`.")
        if self.listed:
            head += ["", "Not imported, each with what could not be decided:"]
            head += [f"  {o.record}: {'; '.join(o.reasons)}" for o in self.listed]
        above = {o.id: [o.record, *(f"  {reason}" for reason in o.reasons)] for o in self.imported if o.id is not None}
        return Comments(head, above)
