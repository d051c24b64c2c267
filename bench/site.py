"""Write ledgers as sites and print how long it takes and how large they are, as a Markdown table.

    python -m bench.site                # the log of PEPs, and 10,000 invented items: a few minutes
    python -m bench.site --sizes 1000   # other sizes

Whole processes, from start to end, with the store in place; the median of three, and the least of them.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.generate import invent

PEPS = Path(__file__).resolve().parents[1] / "tests" / "data" / "peps_sessions.json"
ROUNDS = 3


class Budget(NamedTuple):
    """What a site may take: seconds, bytes of all of it (None: no bound), bytes of its largest file."""

    seconds: float
    bytes: int | None
    largest: int


def ledger(folder: Path, *arguments: str) -> float:
    """Run a command in a folder; the seconds it took."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "ledger_cli", "-C", str(folder), *arguments]
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def measured(name: str, folder: Path, budget: Budget) -> str:
    """One row of the table."""
    ledger(folder, "lateness")
    taken = [ledger(folder, "site", f"site-{n}") for n in range(ROUNDS)]
    sizes = [path.stat().st_size for path in (folder / "site-0").rglob("*") if path.is_file()]
    median, least = statistics.median(taken), min(taken)
    whole = f"{sum(sizes) / 1e6:.1f}" + (f" / {budget.bytes / 1e6:g}" if budget.bytes is not None else "")
    within = median <= budget.seconds and max(sizes) <= budget.largest
    within = within and (budget.bytes is None or sum(sizes) <= budget.bytes)
    return (
        f"| {name} | {median:.1f} ({least:.1f}) / {budget.seconds:g} | {len(sizes):,} | {whole} | "
        f"{max(sizes) / 1e6:.2f} / {budget.largest / 1e6:g}{'' if within else ' **over**'} |"
    )


def rows(sizes: list[int]) -> Iterator[str]:
    yield "| a site of | seconds: median (least) / budget | files | MB / budget | MB of the largest file / budget |"
    yield "|---|---:|---:|---:|---:|"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "peps").mkdir()
        ledger(root / "peps", "init")
        ledger(root / "peps", "session", "apply", str(PEPS))
        yield measured("the log of PEPs, 795 sessions", root / "peps", Budget(15, 20_000_000, 1_000_000))
        for size in sizes:
            invent(size).write(root / str(size))
            yield measured(f"{size:,} invented items", root / str(size), Budget(60, None, 1_000_000))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.site", description="Measure sites.")
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000], metavar="N", help="how many items")
    for row in rows(parser.parse_args().sizes):
        print(row, flush=True)


if __name__ == "__main__":
    main()
