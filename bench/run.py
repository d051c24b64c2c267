"""Measure whole processes as a user meets them, and print the budgets as a Markdown table.

Every figure is the median of a command's repeats in processes of their own, warm, from the start of the process to
its end, and beside it the least of them: what the command takes when nothing else runs. The cases of one size take
turns, so that a machine that gets slower slows all of them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import NamedTuple

from bench.generate import World, invent
from ledger_cli import holds
from ledger_cli.history import History
from ledger_cli.model import Item, entity_key

DATE = "2024-01-20"
BARE = "a bare `python -c pass`"
HELP = "`ledger --help`"
AS_OF = "`as-of ENTITY DATE --json`"
TABLE = "`as-of ENTITY DATE`, as a table"
APPLY = "`session apply` of 5 items, durable and exported"
NO_EXPORT = "`session apply --no-export` of 5 items"
REBUILD = "`rebuild`"

BUDGETS: dict[tuple[str, int], float] = {
    (AS_OF, 10_000): 120, (AS_OF, 100_000): 130,
    (TABLE, 10_000): 130, (TABLE, 100_000): 160,
    (APPLY, 10_000): 200, (APPLY, 100_000): 600,
    (NO_EXPORT, 10_000): 150, (NO_EXPORT, 100_000): 400,
    (REBUILD, 10_000): 600, (REBUILD, 100_000): 4000,
}  # fmt: skip
"""Milliseconds by case and size; `ledger --help` may take HELP_FACTOR times the bare start."""
HELP_FACTOR = 8

_SQLITE_AS_OF = """
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.row_factory = sqlite3.Row
rows = db.execute(
    "SELECT i.* FROM about a JOIN held h ON h.item = a.item JOIN item i ON i.id = a.item WHERE a.entity = ?"
    " AND h.validFrom <= ?2 AND (h.validTo IS NULL OR ?2 < h.validTo) AND h.knownTo IS NULL ORDER BY i.text, i.id",
    (sys.argv[2], sys.argv[3]),
)
json.dump({"entity": sys.argv[2], "items": [dict(row) for row in rows]}, sys.stdout, indent=2)
"""


@dataclass
class Case:
    """One command to time. `before` runs untimed ahead of each repeat, and returns arguments to add."""

    name: str
    command: Sequence[str]
    before: Callable[[], Sequence[str]] = tuple


class Scene:
    """A ledger of one size in a folder of its own, and the commands to time on it."""

    def __init__(self, root: Path, world: World) -> None:
        self.root, self.world = root, world
        world.write(root)
        self.ledger = ledger_command()
        self.numbers = count(1)
        self.run(*self.ledger, "rebuild")

    def run(self, *command: str) -> float:
        """Run a command in the ledger's folder; seconds. What it prints is read, as by a pipe."""
        start = time.perf_counter()
        done = subprocess.run(command, cwd=self.root, capture_output=True, check=False)
        took = time.perf_counter() - start
        if done.returncode:
            sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr.decode()}")
        return took

    def export(self) -> Sequence[str]:
        self.run(*self.ledger, "export")
        return ()

    def session(self, slots: Sequence[str] | None = None) -> Sequence[str]:
        """Write the next session: five items, of them three in slots that are there, with two episodes."""
        n, world = next(self.numbers), self.world
        middle = len(world.slots) // 2
        in_slots = slots or [world.slots[(middle + 7 * n + k) % len(world.slots)] for k in range(3)]
        kinds = {i.slot: i.kind for i in world.entries if isinstance(i, Item) and i.slot in in_slots}
        items: list[tuple[str, dict[str, object]]] = [
            (kinds[slot], {"slot": slot, "about": slot.split("/")[0]}) for slot in in_slots
        ]
        while len(items) < 4:
            items.append(("decision", {"about": world.entities[(n + len(items)) % 50]}))
        items.append(("fact", {"about": f"newcomer {n}"}))
        rows: dict[str, list[dict[str, object]]] = {"decision": [], "fact": []}
        for k, (kind, more) in enumerate(items):
            rows[kind].append({"id": f"new-{n}-{k}", "text": f"news {n}.{k} of the bench", "from": f"ep-{n}"} | more)
        episodes = [{"id": f"ep-{n}", "kind": "message", "text": f"message {n}"}]
        episodes.append({"id": f"ep-{n}-b", "kind": "document", "text": f"document {n}"})
        path = self.root / f"new-{n}.json"
        stated = {"session": f"bench-{n}", "by": "bench", "episodes": episodes, "decisions": rows["decision"]}
        path.write_text(json.dumps(stated | {"facts": rows["fact"]}))
        return (str(path),)

    def successor(self) -> Sequence[str]:
        """Write a session with one item that supersedes the last of the world's chain."""
        n, chain = next(self.numbers), self.world.chain
        item = {"id": f"new-{n}", "text": f"news {n} of the bench", "supersedes": chain[-1]}
        chain.append(item["id"])
        path = self.root / f"new-{n}.json"
        path.write_text(json.dumps({"session": f"bench-{n}", "by": "bench", "decisions": [item]}))
        return (str(path),)

    @cached_property
    def counts(self) -> Counter[str]:
        """How many items are about each entity."""
        return Counter(name for e in self.world.entries if isinstance(e, Item) for name in e.about)

    def typical(self) -> str:
        """An entity with about 40 items."""
        return min(self.counts, key=lambda name: (abs(self.counts[name] - 40), name))

    def cases(self) -> list[Case]:
        entity, ledger = self.typical(), self.ledger
        database = self.root / "plain.sqlite"
        fill_sqlite(database, self.world)
        as_of = (*ledger, "as-of", entity, DATE)
        sqlite = (sys.executable, "-c", _SQLITE_AS_OF, str(database), entity_key(entity), f"{DATE}T00:00:00+00:00")
        return [
            Case(BARE, (sys.executable, "-c", "pass")),
            Case(HELP, (*ledger, "--help")),
            Case(AS_OF, (*as_of, "--json")),
            Case(TABLE, as_of),
            Case("the same as-of in stdlib `sqlite3`", sqlite),
            Case("`as-of DATE --json`, the whole ledger", (*ledger, "as-of", DATE, "--json")),
            Case(APPLY, (*ledger, "session", "apply"), self.session),
            Case(NO_EXPORT, (*ledger, "session", "apply", "--no-export"), lambda: [*self.export(), *self.session()]),
            Case(REBUILD, (*ledger, "rebuild"), self.export),
            Case("`check`", (*ledger, "check")),
            Case("`search postgres migration`", (*ledger, "search", "postgres migration")),
            Case("`diff` of a month", (*ledger, "diff", "--from", "2024-01-01", "--to", "2024-02-01")),
        ]


def ledger_command() -> tuple[str, ...]:
    """The installed script beside this Python, or the module."""
    script = shutil.which("ledger", path=str(Path(sys.executable).parent))
    return (script,) if script else (sys.executable, "-m", "ledger_cli")


def fill_sqlite(path: Path, world: World) -> None:
    """What one would write without this tool: items, what they are about, and the two intervals, with indexes."""
    history = History(world.entries)
    stretches = holds.sweep(history)

    def text(at: datetime | None) -> str | None:
        return at.isoformat() if at else None

    with sqlite3.connect(path) as db:
        db.executescript(
            "CREATE TABLE item (id TEXT PRIMARY KEY, kind, text, rationale, slot, validFrom, recordedAt, session, by);"
            "CREATE TABLE about (entity TEXT, item TEXT);"
            "CREATE TABLE held (item TEXT, validFrom TEXT, validTo TEXT, knownFrom TEXT, knownTo TEXT);"
            "CREATE INDEX about_entity ON about (entity); CREATE INDEX held_item ON held (item, validFrom);"
        )
        for i in history.items.values():
            row = (i.id, i.kind, i.text, i.rationale, i.slot, text(i.valid_from), text(i.recorded_at), i.session, i.by)
            db.execute("INSERT INTO item VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            db.executemany("INSERT INTO about VALUES (?, ?)", [(entity_key(name), i.id) for name in i.about])
            for s in stretches[i.id]:
                held = (i.id, text(s.valid_from), text(s.valid_to), text(s.known_from), text(s.known_to))
                db.execute("INSERT INTO held VALUES (?, ?, ?, ?, ?)", held)
    db.close()


class Took(NamedTuple):
    """Milliseconds."""

    median: float
    least: float


def measure(scene: Scene, cases: Sequence[Case], repeats: int) -> dict[str, Took]:
    """What each case took; the first round only warms up."""
    times: dict[str, list[float]] = {case.name: [] for case in cases}
    for turn in range(repeats + 1):
        for case in cases:
            more = case.before()
            took = scene.run(*case.command, *more) * 1000
            if turn:
                times[case.name].append(took)
    return {name: Took(statistics.median(each), min(each)) for name, each in times.items()}


def traps(folder: Path, size: int, repeats: int) -> Iterator[tuple[str, Took]]:
    """Where a ledger is lopsided: one long slot, one entity that much is about, one long chain of links."""
    scene = Scene(folder / "slot", invent(size, slots=(1000,)))
    apply, slot = (*scene.ledger, "session", "apply"), scene.world.slots[0]
    long = sum(isinstance(e, Item) and e.slot == slot for e in scene.world.entries)
    most = scene.counts.most_common(1)[0]
    cases = [
        Case(f"apply five items, three in everyday slots ({size:,} items)", apply, scene.session),
        Case(f"apply five items, one in a slot of {long:,}", apply, lambda: scene.session([slot])),
        Case(f"`as-of` of the entity of a slot of {long:,}", (*scene.ledger, "as-of", slot.split("/")[0], DATE)),
        Case(f"`as-of` of an entity with {most[1]:,} items", (*scene.ledger, "as-of", most[0], DATE)),
    ]
    yield from measure(scene, cases, repeats).items()
    linked = Scene(folder / "chain", invent(size, chain=5000))
    name = f"apply a successor to a chain of {len(linked.world.chain):,} linked items"
    yield from measure(linked, [Case(name, apply, linked.successor)], repeats).items()


def table(found: dict[int, dict[str, Took]]) -> str:
    """The medians by case and size; behind a slash the budget, where there is one."""
    sizes = list(found)
    lines = ["| whole process, ms: median (least) / budget |" + "".join(f" {size:,} items |" for size in sizes)]
    lines.append("|---|" + "---:|" * len(sizes))
    for name in found[sizes[0]]:
        cells = []
        for size in sizes:
            took = found[size][name]
            budget = BUDGETS.get((name, size))
            if name == HELP:
                budget = HELP_FACTOR * found[size][BARE].median
            missed = " **over**" if budget is not None and took.median > budget else ""
            limit = f" / {budget:,.0f}{missed}" if budget is not None else ""
            cells.append(f"{took.median:,.0f} ({took.least:,.0f}){limit}")
        lines.append(f"| {name} |" + "".join(f" {cell} |" for cell in cells))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure the budgets; a Markdown table.")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000], metavar="N")
    parser.add_argument("--repeats", type=int, default=9, metavar="N")
    parser.add_argument("--only", metavar="WORDS", help="only the cases whose names hold these words")
    parser.add_argument("--traps", action="store_true", help="measure lopsided ledgers of the largest size instead")
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, medians of {options.repeats}\n")
    with tempfile.TemporaryDirectory(prefix="ledger-bench-") as name:
        if options.traps:
            print("| whole process, ms: median (least) | |\n|---|---:|")
            for what, took in traps(Path(name), max(options.sizes), options.repeats):
                print(f"| {what} | {took.median:,.0f} ({took.least:,.0f}) |", flush=True)
            return
        found = {}
        for size in options.sizes:
            scene = Scene(Path(name) / str(size), invent(size))
            cases = [c for c in scene.cases() if not options.only or options.only in c.name or c.name == BARE]
            found[size] = measure(scene, cases, options.repeats)
            print(f"measured {size:,} items", file=sys.stderr)
        print(table(found))
