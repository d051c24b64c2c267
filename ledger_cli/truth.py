"""What the checkpoint and the journal hold together, pure: which waiting sessions fit, and what would break."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ledger_cli import checkpoint, checks
from ledger_cli.errors import Damaged, Problem, Refused
from ledger_cli.journal import Pending
from ledger_cli.model import Entry
from ledger_cli.store.generations import Identity


@dataclass(frozen=True)
class Truth:
    """What checkpoint and journal hold: the checkpoint's identity and entries, and the journal's sessions.

    `aside` are sessions of the journal that do not fit this checkpoint: they wait, and count for nothing.
    """

    identity: Identity
    entries: tuple[Entry, ...]
    pending: Pending
    aside: Pending


def of(identity: Identity, entries: Sequence[Entry], pending: Pending) -> Truth:
    """What a checkpoint of these entries and a journal hold together."""
    recorded = _by_session(entries, pending.sessions)
    left = unrecorded(pending, recorded.__getitem__)
    if not left or _fits(left, identity, entries, recorded):
        return Truth(identity, tuple(entries), left, Pending())
    return Truth(identity, tuple(entries), Pending(), left)


def _by_session(entries: Iterable[Entry], wanted: Iterable[str]) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = {id: [] for id in wanted}
    for entry in entries:
        if entry.session in found:
            found[entry.session].append(entry)
    return found


def unrecorded(pending: Pending, recorded: Callable[[str], Collection[Entry]]) -> Pending:
    """What is pending, less the sessions of which every entry is recorded in the checkpoint."""
    return pending.without([id for id, its in pending.sessions.items() if set(its) <= set(recorded(id))])


def _fits(
    pending: Pending, identity: Identity, entries: Sequence[Entry], recorded: Mapping[str, Collection[Entry]]
) -> bool:
    """Does the checkpoint hold all that the pending sessions were applied on, and nothing that they break?"""
    base = pending.base
    if base is None or base.digest == identity.sha256:
        return True
    return (
        base.sessions <= {entry.session for entry in entries}
        and not any(recorded[id] for id in pending.sessions)  # another session took the id
        and not _breaks(entries, pending.entries())
    )


def _breaks(entries: Sequence[Entry], more: Sequence[Entry], before: Sequence[Entry] = ()) -> list[checks.Finding]:
    """What is wrong with the entries and `more` that is not wrong with the entries and `before`."""
    known = {(f.code, f.ids, f.slot) for f in _errors([*entries, *before])}
    return [f for f in _errors([*entries, *more]) if (f.code, f.ids, f.slot) not in known]


def _errors(entries: Iterable[Entry]) -> list[checks.Finding]:
    return [f for f in checks.findings((None, e) for e in entries) if f.severity == "error"]


def without(pending: Pending, dropped: Sequence[str], entries: Sequence[Entry]) -> Pending:
    """What is pending, less the sessions given up. Raises Refused where one does not wait, or another builds on it."""
    for id in dropped:
        if id not in pending.sessions:
            raise Refused(f"{id} is not waiting to be exported", "`ledger doctor` names those that are")
    left = pending.without(dropped)
    if found := _breaks(entries, left.entries(), before=pending.entries()):
        raise Refused([checks.problem(f) for f in found], "give up what builds on it as well")
    return left


def carried(truth: Truth) -> Pending:
    """The sessions that stand aside, to be brought to this checkpoint. Raises Refused where it cannot take them."""
    came = truth.aside
    recorded = _by_session(truth.entries, came.sessions)
    problems = [
        Problem(f"session {id} is recorded here with other content", hint=f"`ledger export --drop {id}` gives yours up")
        for id in came.sessions
        if recorded[id]
    ]
    if problems := problems or [checks.problem(f) for f in _breaks(truth.entries, came.entries())]:
        raise Refused(problems)
    return came


def read_any_order(data: bytes) -> tuple[list[Entry], bool]:
    """The checkpoint's entries, and whether it is in order. Raises Damaged for worse than that."""
    try:
        return checkpoint.read(data), True
    except Damaged:
        return checkpoint.read(data, any_order=True), False
