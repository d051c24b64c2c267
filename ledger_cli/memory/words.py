"""Words of texts, and how well texts answer them: BM25 (Robertson and Zaragoza, 2009), computed over what is given."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from math import log

_K1, _B = 1.2, 0.75
"""How soon a repeated word counts no more, and how much a long text is held against it: the method's own defaults."""

_WORD = re.compile(r"[^\W_]+")
_ACCENT = re.compile("[\u0300-\u036f]")
_UNSPACED = (  # scripts whose words are written without blanks between them
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[{_UNSPACED}]+")


def folded(text: str) -> str:
    """Case and Latin accents aside."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFKD", text.casefold())))


def words(text: str) -> list[str]:
    """The words of a text, folded, in order; a run of a script without blanks gives its pairs of characters."""
    found: list[str] = []
    for word in _WORD.findall(folded(text)):
        if word.isascii():
            found.append(word)
            continue
        start = 0
        for run in _RUN.finditer(word):
            found += [word[start : run.start()]] if start < run.start() else []
            whole, start = run[0], run.end()
            found += [whole[n : n + 2] for n in range(len(whole) - 1)] or [whole]
        found += [word[start:]] if start < len(word) else []
    return found


def bm25(question: Iterable[str], texts: Sequence[Counter[str]]) -> list[float]:
    """How well each text, given as counts of its words, answers the question's words; 0 where it holds none.

    How rare a word is and how long a text usually is are those of the texts given, and of no others.
    """
    lengths = [sum(text.values()) for text in texts]
    average = sum(lengths) / len(lengths) if texts else 0.0
    scores = [0.0] * len(texts)
    for word in sorted(set(question)):
        holding = [n for n, text in enumerate(texts) if word in text]
        rarity = log(1 + (len(texts) - len(holding) + 0.5) / (len(holding) + 0.5))
        for n in holding:
            count = texts[n][word]
            scores[n] += rarity * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * lengths[n] / average))
    return scores
