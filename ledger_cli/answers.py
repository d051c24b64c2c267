"""What the use cases answer: plain values, which `views/` show."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

from ledger_cli.holds import Row
from ledger_cli.model import Kind

if TYPE_CHECKING:
    from ledger_cli import checks
    from ledger_cli.effects import Effects


class Answer(NamedTuple):
    """What held at `valid_at`, as known at `known_at` (None: all that is known now), by (text, id)."""

    entity: str | None
    valid_at: datetime
    known_at: datetime | None
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Applied:
    """What became of one session."""

    session: str
    at: datetime
    status: Literal["applied", "unchanged"]
    effects: Effects | None = None
    texts: dict[str, str] = field(default_factory=dict)  # of the items the effects name
    noted: dict[str, int] = field(default_factory=dict)  # how many episodes and entities it brought


class SlotRow(NamedTuple):
    """What a slot answers now, and what is planned for it."""

    slot: str
    kind: Kind
    current: Row | None
    planned: tuple[Row, ...]


class SessionRow(NamedTuple):
    """One applied session: its clock, how many entries of each sort it brought, and whether the checkpoint has it."""

    id: str
    at: datetime
    counts: dict[str, int]
    exported: bool


class Checkup(NamedTuple):
    """What `check` found in a file, named from the top of its repository. Errors fail it."""

    findings: tuple[checks.Finding, ...]
    file: str = "snapshots/ledger.json"

    @property
    def ok(self) -> bool:
        return not any(f.severity == "error" for f in self.findings)
