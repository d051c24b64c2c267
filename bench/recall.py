"""Measure recall: how well it finds, that nothing leaks, and how long it takes; the figures are in README.md here.

    python -m bench.recall [--peps FOLDER] [--embeddings none|local] [--weights]

FOLDER holds `pep_corpus.json` and `pep_supersession_qrels.json`: 736 real proposals, and 47 pairs of one and the one
that it replaced. The rest is invented from a seed: 2,000 slots (400 systems, five topics each) of five facts one after
the other, 10,000 in all, and questions about them in other words.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from bench.generate import invent
from ledger_cli import session_file
from ledger_cli.ledger import Ledger
from ledger_cli.memory import choosing, ranking
from ledger_cli.memory.embedding import Embedder
from ledger_cli.memory.recall import Recalled, recall
from ledger_cli.model import Item

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def ledger(folder: Path, sessions: Iterable[dict[str, Any]]) -> Ledger:
    """A new ledger of these sessions."""
    Ledger.init(folder)
    made = Ledger(folder, clock=lambda: NOW)
    made.apply([s for document in sessions for s in session_file.read(json.dumps(document), "bench.json")])
    return made


def ids(found: Recalled) -> list[str]:
    """All that the document tells as true, best first."""
    memories = (*found.items, *found.facts, *found.decisions)
    return [m.row.item.id for m in sorted(memories, key=lambda m: (-m.score, m.row.item.id))]


class Found(NamedTuple):
    """At which place the right item stood, for each question; None: it was not there."""

    places: list[int | None]

    def at(self, n: int) -> float:
        return sum(place is not None and place <= n for place in self.places) / len(self.places)

    @property
    def mrr(self) -> float:
        return sum(1 / place for place in self.places if place) / len(self.places)

    def row(self, name: str) -> str:
        return f"| {name} | {self.at(1):.3f} | {self.at(5):.3f} | {self.at(10):.3f} | {self.mrr:.3f} |"


def asked(ledger: Ledger, pairs: Iterable[tuple[str, str, str]], embedder: Embedder | None) -> Found:
    """Ask (question, the right id, an id that is left out) one after the other."""
    places: list[int | None] = []
    for question, right, out in pairs:
        best = [id for id in ids(recall(ledger, question, limit=20, embedder=embedder)) if id != out]
        places.append(best.index(right) + 1 if right in best else None)
    return Found(places)


# Which proposal did this one replace?


def peps(source: Path, folder: Path) -> tuple[Ledger, list[tuple[str, str, str]]]:
    corpus = {p["id"]: p for p in json.loads((source / "pep_corpus.json").read_text(encoding="utf-8"))}
    pairs = json.loads((source / "pep_supersession_qrels.json").read_text(encoding="utf-8"))["pairs"]
    facts = [{"id": p["id"], "text": p["title"], "rationale": p["abstract"] or None} for p in corpus.values()]
    made = ledger(folder, [{"session": "peps", "at": "2025-01-01", "decisions": facts}])
    whole = {id: f"{p['title']}\n{p['abstract']}" for id, p in corpus.items()}
    return made, [(whole[p["query"]], p["relevant"], p["query"]) for p in pairs]


# 10,000 facts in 2,000 slots

_FIRST, _SECOND = (
    words.split()
    for words in (
        "amber basalt cobalt dusty ember fabled garnet hollow indigo jasper "
        "kelp lunar marble nimble onyx pale quartz russet silver teal",
        "archive beacon courier depot exchange forge gateway harbor index journal "
        "keeper lookout mirror notary orchard parser queue relay scheduler vault",
    )
)
_TOPICS: dict[str, tuple[Sequence[str], Sequence[str], Sequence[str]]] = {  # facts, what they say, questions
    "database": (
        ("{e} keeps its records in {v}", "the records of {e} are kept in {v}"),
        ("postgres", "mysql", "cassandra", "sqlite", "dynamo", "cockroach", "mongo"),
        ("Which database does {e} use?", "where does {e} store its data", "what is the storage behind {e}?"),
    ),
    "owner": (
        ("{v} is responsible for {e}", "{v} looks after {e}"),
        ("Ada", "Bob", "Carol", "Dmitri", "Elena", "Farid", "Grace"),
        ("Who owns {e}?", "whom do I ask about {e}", "who is in charge of {e} these days?"),
    ),
    "language": (
        ("{e} is written in {v}", "the code of {e} is {v}"),
        ("Go", "Rust", "Kotlin", "Python", "Erlang", "Scala", "Ruby"),
        ("Which programming language is {e} in?", "what do I have to read to understand how {e} is coded"),
    ),
    "release": (
        ("{e} is released {v}", "a new version of {e} goes out {v}"),
        ("every Monday", "twice a month", "every night", "once a quarter", "on demand", "each Friday"),
        ("How often does {e} ship?", "when do we deploy {e}", "what is the release cadence of {e}?"),
    ),
    "region": (
        ("{e} runs in {v}", "the machines of {e} stand in {v}"),
        ("Frankfurt", "Dublin", "Oregon", "Tokyo", "Mumbai", "Sydney", "Toronto"),
        ("Where is {e} hosted?", "which data centre serves {e}", "in what location does {e} run?"),
    ),
}  # fmt: skip
_ROUNDS = 5


def systems() -> Iterator[tuple[str, str]]:
    return product(_FIRST, _SECOND)


def synthetic(folder: Path, seed: int = 1) -> tuple[Ledger, list[dict[str, Any]]]:
    """Five sessions, each with the next fact of every slot; and the facts as stated, to check against."""
    pick, stated = random.Random(seed), []
    sessions = []
    for n in range(_ROUNDS):
        at = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=100 * n)
        facts = []
        for (first, second), (topic, (texts, values, _)) in product(systems(), _TOPICS.items()):
            name = f"{first} {second}"
            starts = at - timedelta(days=pick.randint(0, 90))
            facts.append(
                {
                    "id": f"{first}-{second}-{topic}-{n}",
                    "text": pick.choice(texts).format(e=name, v=pick.choice(values)),
                    "slot": f"{name}/{topic}",
                    "about": [name],
                    "validFrom": starts.isoformat(),
                }
            )
        stated += [fact | {"at": at} for fact in facts]
        sessions.append({"session": f"round-{n}", "at": at.isoformat(), "facts": facts})
    return ledger(folder, sessions), stated


def questions(count: int, *, named: bool, seed: int = 2) -> Iterator[tuple[str, str, str]]:
    """Questions in other words than the facts, with the id of the fact that answers now; about a system by its name, or
    by the words of it in another order, so that no entity is named."""
    pick, all_ = random.Random(seed), list(systems())
    for _ in range(count):
        first, second = pick.choice(all_)
        topic = pick.choice(list(_TOPICS))
        name = f"{first} {second}" if named else f"the {second} that we call {first}"
        yield pick.choice(_TOPICS[topic][2]).format(e=name), f"{first}-{second}-{topic}-{_ROUNDS - 1}", ""


def everyday(folder: Path, seed: int = 4) -> tuple[Ledger, list[str], list[str]]:
    """The ledger of the budgets, 10,000 items; questions that name its entities, as often as items do; and questions of
    four of an item's words."""
    world, pick = invent(10_000), random.Random(seed)
    world.write(folder)
    items = [entry for entry in world.entries if isinstance(entry, Item)]
    asks = [f"What do we know about {pick.choice(i.about)}?" for i in pick.choices(items, k=200)]
    words = [" ".join(pick.sample(i.text.split(), k=min(4, len(i.text.split())))) for i in pick.choices(items, k=200)]
    return Ledger(folder, clock=lambda: NOW), asks, words


def leaks(made: Ledger, stated: Sequence[dict[str, Any]], count: int, embedder: Embedder | None, seed: int = 3) -> int:
    """How many answers at random moments were recorded after `known`, or do not hold at `valid`.

    What holds is read off the facts as stated: of those of its slot that are recorded by `known` and start by `valid`,
    the latest start.
    """
    pick = random.Random(seed)
    by_id = {fact["id"]: (datetime.fromisoformat(fact["validFrom"]), fact["at"], fact["slot"]) for fact in stated}
    slots: dict[str, list[str]] = {}
    for id, (_, _, slot) in by_id.items():
        slots.setdefault(slot, []).append(id)
    wrong = 0
    asks = [q for n in (False, True) for q, _, _ in questions(count // 2, named=n, seed=seed)]
    for question in asks:
        valid, known = (datetime(2023, 9, 1, tzinfo=UTC) + timedelta(days=pick.randint(0, 700)) for _ in range(2))
        found = recall(made, question, valid=valid, known=known, limit=20, embedder=embedder)
        for id in [*ids(found), *(n.row.item.id for n in found.nearby)]:
            claims = [i for i in slots[by_id[id][2]] if by_id[i][1] <= known and by_id[i][0] <= valid]
            wrong += id != max(claims, key=lambda i: (by_id[i][0], by_id[i][1], i), default=None)
        wrong += sum(by_id[past.row.item.id][1] > known for past in found.history)
        wrong += sum(by_id[old.id][1] > known for m in (*found.items, *found.facts) for old in m.replaced)
    return wrong


def latency(made: Ledger, asks: Iterable[str], embedder: Embedder | None) -> tuple[float, float]:
    """Milliseconds of a recall in a process that has asked before: the median and the 95th percentile of the questions.

    Of each question the least of five: what it takes when nothing else runs on the machine.
    """
    times = []
    for question in asks:
        tries = []
        for _ in range(5):
            start = time.perf_counter()
            recall(made, question, embedder=embedder)
            tries.append(1000 * (time.perf_counter() - start))
        times.append(min(tries))
    return statistics.median(times), statistics.quantiles(times, n=20)[-1]


_WEIGHTS = [(w, e, m) for w in (1.0,) for e in (0.0, 0.5, 1.0, 2.0) for m in (0.25, 0.5, 1.0, 2.0, 4.0)]


def _lasts(name: str, made: Ledger, asks: Sequence[str], embedder: Embedder | None) -> None:
    p50, p95 = latency(made, asks, embedder)
    _say(f"| {name} | {'yes' if embedder is not None else 'no'} | {p50:.1f} | {p95:.1f} |")


def _say(text: str) -> None:
    print(text, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.recall", description=__doc__)
    parser.add_argument("--peps", type=Path, help="a folder with the proposals")
    parser.add_argument("--embeddings", choices=("none", "local"), default="none")
    parser.add_argument("--weights", action="store_true", help="try the weights of the rankings")
    parser.add_argument("--count", type=int, default=500, help="how many questions of a kind")
    options = parser.parse_args()
    embedder = choosing.embedder(options.embeddings)
    with tempfile.TemporaryDirectory() as folder:
        _measure(Path(folder), options, embedder)


def _measure(folder: Path, options: argparse.Namespace, embedder: Embedder | None) -> None:
    sets: list[tuple[str, Ledger, list[tuple[str, str, str]]]] = []
    if options.peps:
        sets.append(("proposals", *peps(options.peps, folder / "peps")))
    start = time.perf_counter()
    made, stated = synthetic(folder / "synthetic")
    _say(f"\n10,000 facts applied in {time.perf_counter() - start:.1f} s\n")
    sets += [
        ("synthetic, by name", made, list(questions(options.count, named=True))),
        ("synthetic, no name", made, list(questions(options.count, named=False))),
    ]
    _say("| | first | in 5 | in 10 | MRR |\n|---|---:|---:|---:|---:|")
    for name, its, pairs in sets:
        _say(asked(its, pairs, None).row(f"{name}, words and entities"))
        if embedder is not None:
            start = time.perf_counter()
            recall(its, "all of it", embedder=embedder)
            _say(asked(its, pairs, embedder).row(f"{name}, and meaning"))
    if options.weights and embedder is not None:
        _say("\n| words, entities, meaning | " + " | ".join(f"{name}: in 5, MRR" for name, _, _ in sets) + " |")
        _say("|---|" + "---:|" * len(sets))
        before = dict(ranking.WEIGHTS)
        for weights in _WEIGHTS:
            ranking.WEIGHTS.update(zip(("words", "entities", "meaning"), weights, strict=True))
            found = [asked(its, pairs[:200], embedder) for _, its, pairs in sets]
            told = " | ".join(f"{f.at(5):.3f}, {f.mrr:.3f}" for f in found)
            _say(f"| {', '.join(f'{w:g}' for w in weights)} | {told} |")
        ranking.WEIGHTS.update(before)
    kinds = [None, *([embedder] if embedder is not None else [])]
    for one in kinds:
        told = "with" if one is not None else "without"
        _say(f"\n1,000 random moments {told} vectors, what leaks or does not hold: {leaks(made, stated, 1000, one)}")
    _say("\n| ms, in process, 10,000 items | vectors | p50 | p95 |\n|---|---|---:|---:|")
    common, entities, words = everyday(folder / "everyday")
    for one in kinds:
        for name, its, pairs in sets[-2:]:
            _lasts(name, its, [q for q, _, _ in pairs[:200]], one)
        if one is None:  # the vectors of 10,000 more texts would show nothing new
            _lasts("everyday, an entity", common, entities, one)
            _lasts("everyday, four words", common, words, one)


if __name__ == "__main__":
    main()
