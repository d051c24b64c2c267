"""Count what stock git makes of two branches of one checkpoint, and time the commands that know better.

    python -m bench.merges                  # stock git, no driver: 1,000 pairs a cell, about half an hour
    python -m bench.merges --pairs 100      # a few minutes
    python -m bench.merges --time           # the merge driver and `check --base` at 10,000 items
    python -m bench.merges --time --large   # `check --base` at 100,000 items, too

A pair is a ledger, and two sessions of five items that two people recorded on top of it without knowing of each other.
The entries are those of the rules, for the slots that a session meets. Run it from the repository's root: whether two
answers hold in a slot is asked of the brute-force reading in `tests/`, too, which shares no code with `check`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path

from bench.generate import World, invent
from ledger_cli import checkpoint, checks, lines, rules, scan, session_file
from ledger_cli.history import History
from ledger_cli.instant import show
from ledger_cli.known import Known
from ledger_cli.layout import grouping
from ledger_cli.model import Entry, Item
from tests.oracle import Oracle

OTHER = "five existing slots a side, none of them shared"
SAME = "both sides answer one slot"
EVERYDAY = "an everyday session a side, their slots apart"
ANY = "the same, the slots drawn at random"
NEW = "five new slots a side"
BOUNDS: dict[tuple[str, int], str] = {
    **{(OTHER, size): "0" for size in (50, 1000, 5000)},
    **{(SAME, size): "100" for size in (50, 1000, 5000)},
    **dict(zip([(EVERYDAY, size) for size in (50, 1000, 5000)], ("≤ 25", "≤ 3", "≤ 1"), strict=True)),
}
CELLS = (OTHER, SAME, EVERYDAY, ANY, NEW)
BARE, MERGE_FILE = "a bare `python -c pass`", "`git merge-file`"
DRIVER, CONFLICT = "`ledger merge-driver`", "`ledger merge-driver`, two answers in one slot"
CHECK = "`ledger check --base HEAD`"
FRESH = 25  # so many pairs share one ledger
WHOLE = 1000  # up to this size every clean merge is checked as a whole; above, one in SAMPLE is
SAMPLE = 20
LATER = datetime(2100, 1, 1, tzinfo=UTC)

_TOPICS = ("database", "owner", "cache", "region", "retention", "deploy", "language", "on-call", "queue", "limits")
_CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.compression",
    "GIT_CONFIG_VALUE_0": "0",
    "GIT_AUTHOR_NAME": "bench",
    "GIT_AUTHOR_EMAIL": "bench@example.org",
    "GIT_COMMITTER_NAME": "bench",
    "GIT_COMMITTER_EMAIL": "bench@example.org",
}


class Base:
    """A ledger, and what sessions on top of it come to."""

    def __init__(self, size: int, seed: int) -> None:
        self.world: World = invent(size, seed)
        entries = self.world.entries
        self.data = checkpoint.render(entries)
        self.newest = max(e.recorded_at for e in entries)
        self.sessions = len(self.world.sessions)
        group_of = grouping(entries)
        self.groups: dict[str, list[Entry]] = defaultdict(list)
        for entry in entries:
            self.groups[group_of(entry)].append(entry)
        items = [e for e in entries if isinstance(e, Item)]
        self.kinds = {i.slot: i.kind for i in items if i.slot is not None}
        self.slots = sorted(self.kinds)
        self.slot_of = {i.id: i.slot for i in items}
        self.findings = _errors(entries)

    def around(self, slots: Iterable[str]) -> list[Entry]:
        """All that the rules look at for items in these slots; a slot's items are linked inside of it alone."""
        return [e for slot in sorted(set(slots)) for e in self.groups.get(f"slot {slot}", ())]

    def session(self, rng: random.Random, number: int, slots: Sequence[str], new: int) -> list[Entry]:
        """The entries of a session: an item in each of the slots and in so many new ones, and up to five without."""
        id, world = f"session-{number}", self.world
        at = self.newest + timedelta(minutes=rng.randint(1, 60 * 24 * 14))
        names = [*slots]
        for n in range(new):
            names.append(f"{rng.choice(world.entities[:60])}/{rng.choice(_TOPICS)}/{number}{n}")
        rows: dict[str, list[dict[str, object]]] = {"decision": [], "fact": []}
        for n in range(5):
            slot = names[n] if n < len(names) else None
            kind = self.kinds.get(slot) or rng.choice(("decision", "fact"))
            about = slot.split("/")[0] if slot else rng.choice(world.entities)
            row: dict[str, object] = {"id": f"n{number}-{n}", "text": f"news {n} of {id}: {rng.random()}"}
            row |= {"about": [about], "validFrom": show(at)} | ({"slot": slot} if slot else {})
            rows[kind].append(row | ({"from": [f"e{number}-{n % 2}"]} if n != 2 else {}))
        episodes = [
            {"id": f"e{number}-{n}", "kind": "message", "text": f"message {n} of {id}: {rng.random()}"} for n in (0, 1)
        ]
        stated = {"session": id, "at": show(at), "by": "bench", "episodes": episodes}
        read = session_file.read(json.dumps(stated | {"decisions": rows["decision"], "facts": rows["fact"]}), id)[0]
        write = rules.resolve(read, Known(History(self.around(slots)), newest=self.newest), LATER, backdated=False)
        if write is None:
            raise AssertionError(id)
        return list(write.entries)

    def pair(self, cell: str, rng: random.Random) -> tuple[list[str], list[Entry], list[Entry]]:
        """The slots that two sessions meet, and the entries of each."""
        one, other = rng.sample(range(self.sessions + 1, self.sessions + 21), 2)
        drawn = rng.sample(self.slots, 10)
        mine, yours, new = drawn[:5], drawn[5:], 0
        if cell == SAME:
            yours[0] = mine[0]
        elif cell in (EVERYDAY, ANY):
            mine, yours, new = mine[:1], yours[:1] if cell == EVERYDAY else [rng.choice(self.slots)], 1
        elif cell == NEW:
            mine, yours, new = [], [], 5
        return [*mine, *yours], self.session(rng, one, mine, new), self.session(rng, other, yours, new)

    def add(self, *added: Sequence[Entry]) -> bytes:
        """The checkpoint with sessions on top."""
        data = self.data
        for entries in added:
            data = checkpoint.splice(data, entries, lambda id: f"slot {self.slot_of[id]}")
        return data


def _errors(entries: Iterable[Entry]) -> set[tuple[str, tuple[str, ...], str | None]]:
    found = checks.findings((None, e) for e in entries)
    return {(f.code, f.ids, f.slot) for f in found if f.severity == "error"}


class Git:
    """Stock git in a folder: `git merge`, and `git merge-file`. No attributes, no driver, no settings."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run("init", "--quiet", "--bare", "repo.git")
        self.repo = folder / "repo.git"

    def run(self, *words: str, say: bytes = b"", may: tuple[int, ...] = (0,)) -> tuple[int, bytes]:
        done = subprocess.run(("git", *words), cwd=self.folder, env=_CLEAN, input=say, capture_output=True, check=False)
        if done.returncode not in may:
            sys.exit(f"git {' '.join(words)}: exit {done.returncode}\n{done.stderr.decode()}")
        return done.returncode, done.stdout

    def commit(self, data: bytes, *parents: str) -> str:
        """Commit a checkpoint; the id."""
        git = ("-C", str(self.repo))
        blob = self.run(*git, "hash-object", "-w", "--stdin", say=data)[1].decode().strip()
        tree = self.run(*git, "mktree", say=f"100644 blob {blob}\tledger.json\n".encode())[1].decode().strip()
        named = [word for parent in parents for word in ("-p", parent)]
        return self.run(*git, "commit-tree", "-m", "x", *named, tree)[1].decode().strip()

    def merge(self, base: str, ours: bytes, theirs: bytes) -> bytes | None:
        """What `git merge` writes; None for a conflict."""
        git = ("-C", str(self.repo))
        heads = self.commit(ours, base), self.commit(theirs, base)
        code, out = self.run(*git, "merge-tree", "--write-tree", "--no-messages", *heads, may=(0, 1))
        return None if code else self.run(*git, "cat-file", "blob", f"{out.decode().strip()}:ledger.json")[1]

    def merge_file(self, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
        """What `git merge-file` writes; None for conflicts."""
        for name, data in (("base", base), ("ours", ours), ("theirs", theirs)):
            (self.folder / name).write_bytes(data)
        code, out = self.run("merge-file", "-p", "ours", "base", "theirs", may=tuple(range(128)))
        return None if code else out


def _ledger(size: int, seed: int) -> Base:
    """A ledger with slots enough for five a side."""
    return next(base for n in count() if len((base := Base(size, seed + 100_000_000 * n)).slots) >= 10)


def counted(size: int, pairs: int, first: int = 0) -> dict[str, Counter[str]]:
    """Merge so many pairs of each kind; how many came to what."""
    cells: dict[str, Counter[str]] = {cell: Counter() for cell in CELLS}
    for start in range(first, first + pairs, FRESH):
        base = _ledger(size, size * 1000 + start)
        with tempfile.TemporaryDirectory() as folder:
            git = Git(Path(folder))
            root = git.commit(base.data)
            for n in range(start, min(start + FRESH, first + pairs)):
                for cell, seen in cells.items():
                    seen.update(_merged(base, git, root, cell, size, n))
    return cells


def _merged(base: Base, git: Git, root: str, cell: str, size: int, n: int) -> Iterable[str]:
    slots, one, other = base.pair(cell, random.Random(f"{cell} {size} {n}"))
    ours, theirs, union = base.add(one), base.add(other), base.add(one, other)
    yield "pairs"
    merged, by_file = git.merge(root, ours, theirs), git.merge_file(base.data, ours, theirs)
    if merged is None:
        yield "conflicts"
    if by_file is None:
        yield "conflicts of merge-file"
    for data in {d for d in (merged, by_file) if d is not None}:
        yield "clean"
        whole = size <= WHOLE or n % SAMPLE == 0
        yield from _examined(base, data, slots, [*one, *other], union, whole=whole)


def _examined(
    base: Base, data: bytes, slots: list[str], added: list[Entry], union: bytes, *, whole: bool
) -> Iterable[str]:
    """What is to be said of a clean merge."""
    if whole:
        yield "whole"
        found, problems = scan.scan(data)
        if problems or checkpoint.render(e for _, e in found) != data:
            yield "not canonical"
        if _errors(e for _, e in found) - base.findings:
            yield "with findings"
    else:
        if data != union:  # the lines of both sides, where they belong
            yield "not canonical"
        alone = base.around(slots)  # without the episodes that stand with items elsewhere
        if _errors([*alone, *added]) - _errors(alone):
            yield "with findings"
    if data != union:
        yield "other than the union"
    near = [*base.around(slots), *added]
    told = {finding[1] for finding in _errors(near) if finding[0] == "two-current"}
    if told - {f[1] for f in base.findings}:
        yield "two answers"
    if {tuple(sorted(ids)) for ids in Oracle([json.loads(lines.line(e)) for e in near]).slot_conflicts()} - told:
        yield "missed"


def tables(sizes: Sequence[int], pairs: int, first: int) -> None:
    by_size = {size: counted(size, pairs, first) for size in sizes}
    print("| conflicts of `git merge` (of `git merge-file`) / bound, % | " + " | ".join(f"{s:,} items" for s in sizes))
    print("|---|" + "---:|" * len(sizes))
    total: Counter[str] = Counter()
    for cell in CELLS:
        row = []
        for size in sizes:
            seen = by_size[size][cell]
            total += seen
            share, by_file = (100 * seen[k] / seen["pairs"] for k in ("conflicts", "conflicts of merge-file"))
            bound = BOUNDS.get((cell, size))
            row.append(f"{share:.1f} ({by_file:.1f})" + (f" / {bound}" if bound else ""))
        print(f"| {cell} | " + " | ".join(row) + " |")
    print(f"\n{pairs:,} pairs a cell, {total['pairs']:,} in all; {total['clean']:,} clean merges, ", end="")
    print(f"{total['whole']:,} of them checked whole:")
    for what in ("not canonical", "other than the union", "with findings", "two answers", "missed"):
        print(f"- {what}: {total[what]}")


# How long it takes


def _median(
    repeats: int, command: Sequence[str], folder: Path, before: Callable[[], object] = lambda: None, code: int = 0
) -> list[float]:
    took = []
    for _ in range(repeats + 1):
        before()
        start = time.perf_counter()
        done = subprocess.run(command, cwd=folder, env=_CLEAN, capture_output=True, check=False)
        took.append(1000 * (time.perf_counter() - start))
        if done.returncode != code:
            sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout.decode()}{done.stderr.decode()}")
    return took[1:]  # the first round warms up


def _pair(base: Base, git: Git, cell: str, *, clean: bool) -> bytes:
    """Write two sessions that stock git merges, or does not, as `base`, `ours` and `theirs`; ours."""
    for n in count():
        _, one, other = base.pair(cell, random.Random(n))
        ours, theirs = base.add(one), base.add(other)
        if (git.merge_file(base.data, ours, theirs) is not None) == clean:
            return ours
    raise AssertionError


def times(size: int, repeats: int, *, driver: bool) -> None:
    ledger = (sys.executable, "-m", "ledger_cli")
    with tempfile.TemporaryDirectory() as named:
        folder, base = Path(named), Base(size, seed=1)
        git = Git(folder)
        bare = (sys.executable, "-c", "pass")
        rows = [(BARE, _median(repeats, bare, folder))]
        for name, cell, clean in ((DRIVER, EVERYDAY, True), (CONFLICT, SAME, False)) if driver else ():
            ours = _pair(base, git, cell, clean=clean)
            if clean:
                merge_file = ("git", "merge-file", "-p", "ours", "base", "theirs")
                rows.append((MERGE_FILE, _median(repeats, merge_file, folder)))
            _CLEAN["GITHEAD_0"] = "bench"  # as `git merge` calls it
            command = (*ledger, "merge-driver", "base", "ours", "theirs", "ledger.json")
            restore = partial((folder / "ours").write_bytes, ours)
            rows.append((name, _median(repeats, command, folder, restore, code=int(not clean))))
            del _CLEAN["GITHEAD_0"]
        root = folder / "ledger"
        base.world.write(root)
        for words in (("init", "--quiet"), ("add", "snapshots/ledger.json"), ("commit", "--quiet", "-m", "base")):
            git.run("-C", str(root), *words)
        (root / "snapshots" / "ledger.json").write_bytes(base.add(_session_of(base)))
        rows.append((CHECK, _median(repeats, (*ledger, "check", "--base", "HEAD"), root)))
    known = {name: statistics.median(took) for name, took in rows}

    def bound(name: str) -> str:
        if name == CHECK:
            return " / 1,000" if size <= 10_000 else " / 6,000"
        return f" / {3 * known[MERGE_FILE] + known[BARE]:,.0f}" if name in (DRIVER, CONFLICT) else ""

    print(f"| whole process, ms: median (least) / bound | {size:,} items |\n|---|---:|")
    for name, took in rows:
        print(f"| {name} | {statistics.median(took):,.0f} ({min(took):,.0f}){bound(name)} |", flush=True)


def _session_of(base: Base) -> list[Entry]:
    return base.pair(EVERYDAY, random.Random(0))[1]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.merges", description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1000, help="pairs a cell")
    parser.add_argument("--first", type=int, default=0, help="the number of the first pair, to go on with others")
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 1000, 5000], help="items of the ledgers")
    parser.add_argument("--time", action="store_true", help="time the driver and `check --base` instead")
    parser.add_argument("--large", action="store_true", help="`check --base` at 100,000 items, too")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    if not options.time:
        tables(options.sizes, options.pairs, options.first)
        return
    times(10_000, options.repeats, driver=True)
    if options.large:
        print()
        times(100_000, options.repeats, driver=False)


if __name__ == "__main__":
    main()
