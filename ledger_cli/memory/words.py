"""Words of texts, and how well texts answer them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import log

_K1, _B = 1.2, 0.75
"""How soon a repeated word counts no more, and how much a long text is held against it: the method's own defaults."""

_WORD = re.compile(r"[^\W_]+")
_ACCENT = re.compile("[\u0300-\u036f]")
_UNSPACED = (  # scripts whose words are written without blanks between them
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)
_RUN = re.compile(f"([{_UNSPACED}]+)")


def folded(text: str) -> str:
    """Case and Latin accents aside."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFKD", text.casefold())))


@lru_cache(1 << 14)
def stem(word: str) -> str:
    """An English word without its plural and its commonest endings: enough that its forms meet, not a root."""
    if len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


_ENDINGS = ("ing", "ed", "er", "ion", "ment", "able", "ly", "al")


def words(text: str) -> list[str]:
    """The words of a text, folded, in order: English ones by their stems; runs of a script without blanks as pairs of
    characters.
    """
    return [word for found in _WORD.findall(folded(text)) for word in _parts(found)]


def _parts(word: str) -> Iterator[str]:
    for part in (word,) if word.isascii() else _RUN.split(word):  # what is between two runs, then a run, and so on
        if part.isascii():
            yield from [stem(part)] if part else []
        elif _RUN.match(part):
            yield from [part[n : n + 2] for n in range(len(part) - 1)] or [part]
        else:
            yield part


_FUNCTION = frozenset(
    stem(word)
    for word in _WORD.findall(
        "a about after again all also am an and any are as at be because been before being between both but by can "
        "could did do does doing down during each few for from further had has have having he her here hers him his "
        "how i if in into is it its just me more most my no nor not now of off on once only or other our out over own "
        "same she should so some such than that the their them then there these they this those through to too under "
        "until up us very was we were what when where which while who whom whose why will with would you your"
    )
)


def asked(question: str) -> list[str]:
    """The words of a question that say what it is about: without English function words, if it has others."""
    said = words(question)
    return [word for word in said if word not in _FUNCTION] or said


class Index:
    """Texts, to be asked which of them answer a question's words best: BM25 (Robertson and Zaragoza, 2009).

    How rare a word is and how long a text usually is are those of these texts, and of no others.
    """

    def __init__(self, texts: Iterable[Counter[str]]) -> None:
        self._holding: dict[str, list[tuple[int, int]]] = {}  # word -> (number of a text, how often it holds the word)
        self._lengths: list[int] = []
        for n, counts in enumerate(texts):
            self._lengths.append(counts.total())
            for word, count in counts.items():
                self._holding.setdefault(word, []).append((n, count))
        self._average = sum(self._lengths) / len(self._lengths) if self._lengths else 0.0

    def scores(self, question: Iterable[str]) -> dict[int, float]:
        """How well each text, by its number, answers the question's words; those that hold none are left out.

        A word that the question repeats counts as often.
        """
        scores: dict[int, float] = {}
        for word, times in sorted(Counter(question).items()):
            holding = self._holding.get(word, ())
            rarity = log(1 + (len(self._lengths) - len(holding) + 0.5) / (len(holding) + 0.5))
            for n, count in holding:
                damped = count + _K1 * (1 - _B + _B * self._lengths[n] / self._average)
                scores[n] = scores.get(n, 0.0) + times * rarity * count * (_K1 + 1) / damped
        return scores
