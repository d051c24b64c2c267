"""Words of texts, and BM25 over them."""

from __future__ import annotations

import random
import string
from collections import Counter
from math import isclose, log

import pytest

from ledger_cli.memory.words import Index, asked, stem, words


def test_case_accents_and_signs_do_not_part_words() -> None:
    assert words("Café, CAFÉ; cafe\u0301! snake_case") == ["cafe", "cafe", "cafe", "snak", "case"]


def test_other_scripts_keep_their_words() -> None:
    assert words("База данных, naïve Ελλάδα") == ["база", "данных", "naiv", "ελλαδα"]


def test_a_run_without_blanks_gives_pairs_of_characters() -> None:
    assert words("用postgres数据库") == ["用", stem("postgres"), "数据", "据库"]
    assert words("データ") == ["デー", "ータ"]


@pytest.mark.parametrize(
    "forms",
    [
        ("retry", "retries"),
        ("deploy", "deploys", "deployed", "deploying", "deployment"),
        ("release", "releases", "released", "releasing"),
        ("migrate", "migrates", "migrated", "migrating"),
        ("owner", "owners"),
    ],
)
def test_the_forms_of_an_english_word_meet(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1, [stem(form) for form in forms]


def test_short_words_and_what_is_no_plural_stay() -> None:
    for word in ("is", "us", "as", "class", "status", "axis", "used", "red", "ring", "go"):
        assert stem(word) == word, word


def test_a_stem_is_never_empty_and_never_longer() -> None:
    pick = random.Random(1)
    for _ in range(2_000):
        word = "".join(pick.choices("abcdeginlmorsty", k=pick.randint(1, 10)))
        assert 1 <= len(stem(word)) <= len(word)


def test_a_question_is_asked_by_what_it_is_about() -> None:
    assert asked("What do we use for the cache, and why?") == words("use cache")
    assert asked("Where is it, and who does that?") == words("Where is it, and who does that?")


def brute(question: list[str], texts: list[list[str]]) -> dict[int, float]:
    """BM25 as its formula stands, with k1 = 1.2 and b = 0.75."""
    average = sum(map(len, texts)) / len(texts)
    scores = {}
    for n, text in enumerate(texts):
        total = 0.0
        for word in question:
            holding = sum(word in other for other in texts)
            rarity = log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
            count = text.count(word)
            total += rarity * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * len(text) / average))
        if total:
            scores[n] = total
    return scores


@pytest.mark.parametrize("seed", range(20))
def test_scores_are_those_of_the_formula(seed: int) -> None:
    pick = random.Random(seed)
    vocabulary = string.ascii_lowercase[:12]
    texts = [pick.choices(vocabulary, k=pick.randint(0, 20)) for _ in range(pick.randint(1, 30))]
    texts.append(["z"])
    question = pick.choices(vocabulary + "zq", k=pick.randint(0, 8))
    found, wanted = Index(map(Counter, texts)).scores(question), brute(question, texts)
    assert found.keys() == wanted.keys()
    assert all(isclose(found[n], wanted[n], rel_tol=1e-9) for n in found)


def test_of_no_texts_none_answers() -> None:
    assert Index([]).scores(["a"]) == {}
