"""Time exports in other forms, and their way back, and print a Markdown table.

    python -m bench.exchange                    # 10,000 and 100,000 items: a quarter of an hour
    python -m bench.exchange --sizes 1000       # other sizes

Whole processes, warm, with the store in place, as `bench.run` measures them. An export is restored into a ledger that
holds nothing. The foreign tables hold a row an item, under the columns that `import` reads.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

from bench.generate import World, invent
from bench.run import BARE, Case, Scene, measure, table
from ledger_cli.instant import show
from ledger_cli.model import Item

LARGE = 50_000
"""From here on only csv and jsonl are timed: a folder of so many files measures the disk."""


def cases(scene: Scene) -> list[Case]:
    """Every way out and in. What is read is made beforehand, by the program itself."""
    root, ledger, numbers = scene.root, scene.ledger, count(1)

    def anew(option: str, name: str) -> Callable[[], Sequence[str]]:
        """A place that is not there yet, each time."""

        def before() -> Sequence[str]:
            n = next(numbers)
            shutil.rmtree(root / f"{name}-{n - 1}", ignore_errors=True)
            return (option, str(root / f"{name}-{n}"))

        return before

    def emptied() -> Sequence[str]:
        shutil.rmtree(root / "empty", ignore_errors=True)
        (root / "empty").mkdir()
        scene.run(*ledger, "-C", str(root / "empty"), "init")
        return ()

    def into(*words: str) -> Sequence[str]:
        return (*ledger, "-C", str(root / "empty"), "import", *words)

    found = [
        Case(BARE, (sys.executable, "-c", "pass")),
        Case("`check`, which reads the checkpoint", (*ledger, "check")),
    ]
    for form in ("csv", "jsonl"):
        whole, foreign = root / f"all.{form}", root / f"foreign.{form}"
        scene.run(*ledger, "export", "--format", form, "-o", str(whole))
        WRITERS[form](foreign, scene.world)
        found += [
            Case(f"`export --format {form}`", (*ledger, "export", "--format", form, "-o", str(whole))),
            Case(f"`import {form}` of an export, into an empty ledger", into(form, str(whole)), emptied),
            Case(f"`import {form}` of a foreign table", (*ledger, "import", form, str(foreign)), anew("-o", form)),
        ]
    if len(scene.world.entries) < LARGE:
        scene.run(*ledger, "export", "--format", "adr", "-o", str(root / "adr"))
        found += [
            Case("`export --format cypher`", (*ledger, "export", "--format", "cypher", "-o", str(root / "all.cypher"))),
            Case("`export --format adr`", (*ledger, "export", "--format", "adr"), anew("-o", "records")),
            Case("`import adr` of that folder", (*ledger, "import", "adr", str(root / "adr")), anew("-o", "session")),
        ]
    return found


def rows(world: World) -> list[dict[str, object]]:
    return [
        {"id": i.id, "kind": i.kind, "text": i.text, "slot": i.slot or "", "about": list(i.about)}
        | {"validFrom": show(i.valid_from)}
        for i in world.entries
        if isinstance(i, Item)
    ]


def write_csv(path: Path, world: World) -> None:
    listed = [
        row | {"about": "; ".join(map(str, row["about"]))} for row in rows(world) if isinstance(row["about"], list)
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(listed[0]))
        writer.writeheader()
        writer.writerows(listed)


def write_jsonl(path: Path, world: World) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows(world)), encoding="utf-8")


WRITERS = {"csv": write_csv, "jsonl": write_jsonl}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.exchange", description="Time exports and imports.")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000], metavar="N")
    parser.add_argument("--repeats", type=int, default=5, metavar="N")
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, medians of {options.repeats}\n")
    with tempfile.TemporaryDirectory(prefix="ledger-bench-") as name:
        for size in options.sizes:
            scene = Scene(Path(name) / str(size), invent(size))
            print(table({size: measure(scene, cases(scene), options.repeats)}), flush=True)
            print(flush=True)


if __name__ == "__main__":
    main()
