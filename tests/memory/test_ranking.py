"""Rankings and their fusion: what is found, in which order, and why."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import pytest

from ledger_cli.memory.ranking import WEIGHTS, Candidates, Text
from tests.conftest import ROOT

TEXTS = [
    Text("a", "orders uses mysql", None, ["orders"]),
    Text("b", "a cache keeps copies", "the database was slow", ["orders"]),
    Text("c", "Ada is on call", None, ["checkout team"]),
    Text("d", "nothing of the kind", None, []),
]


def ids(question: str, cosines: list[float] | None = None) -> list[str]:
    return [r.id for r in Candidates(TEXTS).ranked(question, cosines)]


def test_words_of_text_rationale_and_entities_find() -> None:
    assert ids("mysql") == ["a"]
    assert ids("databases") == ["b"]
    assert ids("who is at the checkout?")[0] == "c"
    assert ids("zeppelin") == []
    assert ids("") == []


def test_the_words_of_a_slot_find() -> None:
    slotted = Text("s", "orders uses mysql", None, [], "orders/storage engine")
    assert [r.id for r in Candidates([*TEXTS, slotted]).ranked("which engine?")] == ["s"]


def test_a_part_of_an_entitys_name_is_an_anchor() -> None:
    assert ids("team") == ["c"]


def test_meaning_finds_what_words_do_not() -> None:
    assert ids("pager rotation", [0.1, 0.0, 0.9, -0.2]) == ["c", "a"]


def test_a_score_is_the_sum_of_the_reciprocal_ranks() -> None:
    found = {r.id: r for r in Candidates(TEXTS).ranked("orders mysql", [0.5, 0.9, 0.0, 0.7])}
    words, entities, meaning = (WEIGHTS[name] for name in ("words", "entities", "meaning"))
    assert found["a"].score == pytest.approx(words / 61 + entities / 61 + meaning / 63)
    assert found["b"].score == pytest.approx(words / 62 + entities / 61 + meaning / 61)
    assert found["d"].score == pytest.approx(meaning / 62)
    assert "c" not in found
    assert (found["a"].similarity, found["d"].similarity) == (0.5, 0.7)


def test_equals_stand_by_id_whatever_the_order_they_come_in() -> None:
    texts = [Text(f"t{n:02}", "the same", None, ["x"]) for n in range(30)]
    wanted = [text.id for text in texts]
    for seed in range(5):
        random.Random(seed).shuffle(texts)
        for cosines in (None, [0.5] * 30):
            assert [r.id for r in Candidates(texts).ranked("same x", cosines)] == wanted


def test_a_difference_in_the_last_digits_of_a_cosine_decides_nothing() -> None:
    assert ids("pager", [0.3, 0.3 + 1e-9, 0.3 - 1e-9, 0.3]) == ["a", "b", "c", "d"]


def test_the_order_does_not_depend_on_how_python_hashes() -> None:
    code = (
        "import random\n"
        "from ledger_cli.memory.ranking import Candidates, Text\n"
        "pick = random.Random(5)\n"
        "words = 'orders mysql cache team retry deploy owner region'.split()\n"
        "texts = [Text(str(n), ' '.join(pick.choices(words, k=4)), None, pick.choices(words, k=2))\n"
        "         for n in range(80)]\n"
        "print(Candidates(texts).ranked('which team owns the orders cache, and who deploys it'))\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("0", "1", "4711")
    }  # fmt: skip
    assert len(said) == 1
