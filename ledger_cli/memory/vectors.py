"""The vectors of texts, computed once and kept in the store: a cache, which is made anew where it is not whole.

A model has a folder, `.store/vectors/<model>/`, of files that are written once, under a name that their content gives,
and renamed into place: a reader meets a whole file or none. A file is a line of JSON (model, dimensions, count, and a
check sum of the rest), then the digests of the texts, then the vectors, of unit length, as 4-byte floats.
"""

from __future__ import annotations

import json
import os
import sys
import zlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from hashlib import sha256
from math import hypot, inf, isfinite
from operator import mul
from pathlib import Path
from typing import Any, TypeAlias

from ledger_cli.errors import LedgerError
from ledger_cli.memory.embedding import Embedder
from ledger_cli.memory.ranking import Text

Vector: TypeAlias = "array[float]"
Progress = Callable[[str, int], AbstractContextManager[Callable[[], object]]]
"""What shows how far a long task is: gets its name and its number of steps, gives what is called after each."""

LONGEST = 8_000
"""How many characters of a text a model is given: more than it reads, and less than an endpoint refuses."""

_BATCH = 64
_FILES = 8
"""How many files a model's folder may have before they become one."""
_DIGEST = 16


@contextmanager
def silent(what: str, total: int) -> Iterator[Callable[[], object]]:
    """No progress shown."""
    yield lambda: None


class Vectors:
    """The vectors of one model, in the folder of a store."""

    def __init__(self, store: Path, embedder: Embedder, say: Callable[[str], None] = lambda _: None) -> None:
        self.embedder = embedder
        self._folder = store / "vectors" / sha256(embedder.name.encode()).hexdigest()[:_DIGEST]
        self._say = say
        self._size = 0
        self._read: set[str] = set()  # names of files
        self._known: dict[bytes, Vector] = {}
        self._last: tuple[Sequence[Text], Matrix] = ((), Matrix([]))

    def cosines(self, question: str, texts: Sequence[Text], progress: Progress = silent) -> list[float]:
        """The cosine of a question to each text. Vectors of texts that are not there yet are computed and kept.

        Raises LedgerError where the model cannot be asked.
        """
        [asked] = self._computed([question])
        last, matrix = self._last
        if last is not texts or matrix.size != len(asked):
            matrix = Matrix(self._of(texts, len(asked), progress))
            self._last = texts, matrix
        return matrix.times(asked)

    def _of(self, texts: Sequence[Text], size: int, progress: Progress) -> list[Vector]:
        if size != self._size:  # vectors of other dimensions are none of this model, whatever its name
            self._size, self._known, self._read = size, {}, set()
        digests = [_digest(text.meaning) for text in texts]
        if not self._known.keys() >= set(digests):
            self._load()
        by_digest = dict(zip(digests, (text.meaning for text in texts), strict=True))
        if missing := {digest: text for digest, text in by_digest.items() if digest not in self._known}:
            self._compute(missing, progress)
        return [self._known[digest] for digest in digests]

    def _compute(self, missing: dict[bytes, str], progress: Progress) -> None:
        digests, texts = list(missing), list(missing.values())
        new: dict[bytes, Vector] = {}
        try:
            with progress(f"vectors of {self.embedder.name}", len(texts)) as step:
                for start in range(0, len(texts), _BATCH):
                    batch = slice(start, start + _BATCH)
                    for digest, vector in zip(digests[batch], self._computed(texts[batch]), strict=True):
                        if len(vector) != self._size:
                            raise LedgerError(f"{self.embedder.name} answered vectors of different lengths")
                        new[digest] = vector
                        step()
        finally:  # what came before an interruption or an endpoint's limit is not paid for twice
            self._known |= new
            self._keep(new)

    def _computed(self, texts: Sequence[str]) -> list[Vector]:
        vectors = self.embedder.embed([text[:LONGEST] for text in texts])
        if len(vectors) != len(texts):
            raise LedgerError(f"{self.embedder.name} answered {len(vectors)} vectors for {len(texts)} texts")
        return [_unit(vector, self.embedder.name) for vector in vectors]

    # Files

    def _load(self) -> None:
        """Take in the files that are there and were not read yet; what is damaged is as good as not there."""
        with suppress(OSError):
            for path in sorted(self._folder.glob("*.vectors")):
                if path.name not in self._read:
                    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
                        self._known |= _parse(path.read_bytes(), self.embedder.name, self._size)
                    self._read.add(path.name)

    def _keep(self, new: dict[bytes, Vector]) -> None:
        if not new:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            others = sorted(self._folder.glob("*.vectors"))
            together = len(others) >= _FILES
            if together:
                self._load()
            name = self._write(self._known if together else new)
            self._read.add(name)
            for path in others if together else ():
                if path.name != name:
                    path.unlink(missing_ok=True)
        except OSError as fault:
            self._say(f"note: the vectors are not kept: {fault.strerror or fault}")

    def _write(self, vectors: dict[bytes, Vector]) -> str:
        digests = sorted(vectors)
        data = b"".join(digests) + b"".join(_swapped(vectors[digest]).tobytes() for digest in digests)
        head = {
            "model": self.embedder.name,
            "dimensions": self._size,
            "count": len(digests),
            "crc32": zlib.crc32(data),
        }
        data = json.dumps(head).encode() + b"\n" + data
        name = f"{sha256(data).hexdigest()[:_DIGEST]}.vectors"
        temp = self._folder / f".{name}.{os.urandom(6).hex()}.tmp"
        try:
            temp.write_bytes(data)
            temp.replace(self._folder / name)
        finally:
            temp.unlink(missing_ok=True)
        return name


class Matrix:
    """Vectors of unit length and one size, to be multiplied with others of that size."""

    def __init__(self, vectors: Sequence[Vector]) -> None:
        self.size = len(vectors[0]) if vectors else 0
        self._rows: Sequence[Vector] = vectors
        self._array: Any = None
        if vectors and (numpy := sys.modules.get("numpy")) is not None:  # not imported here: that takes 0.1 s
            self._array = numpy.array(vectors, dtype=numpy.float64)

    def times(self, vector: Vector) -> list[float]:
        """The product of each row with the vector: the cosine, where both are of unit length."""
        if self._array is None:
            return [sum(map(mul, row, vector)) for row in self._rows]
        products: list[float] = (self._array @ vector).tolist()
        return products


def _parse(data: bytes, model: str, size: int) -> dict[bytes, Vector]:
    """The vectors of a file, by the digests of their texts.

    Raises ValueError for one that is not whole, or not of this model and size.
    """
    line, _, rest = data.partition(b"\n")
    head = json.loads(line)
    count = head["count"]
    if (head["model"], head["dimensions"]) != (model, size):
        raise ValueError("the vectors of another model")
    if len(rest) != count * (_DIGEST + 4 * size) or zlib.crc32(rest) != head["crc32"]:
        raise ValueError("the file is not whole")
    floats = _swapped(array("f", rest[count * _DIGEST :]))
    digests = (rest[n * _DIGEST : (n + 1) * _DIGEST] for n in range(count))
    return {digest: floats[n * size : (n + 1) * size] for n, digest in enumerate(digests)}


def _swapped(vector: Vector) -> Vector:
    """As a file has it, from a machine's own order of bytes, or back."""
    if sys.byteorder == "big":
        vector = vector[:]
        vector.byteswap()
    return vector


def _digest(text: str) -> bytes:
    return sha256(text.encode()).digest()[:_DIGEST]


def _is_finite(number: float) -> bool:
    try:
        return isfinite(number)
    except OverflowError:  # JSON has whole numbers that no float is
        return False


def _unit(vector: Sequence[float], model: str) -> Vector:
    """A vector of unit length in the same direction; one without length stays as it is. Raises LedgerError."""
    if not vector or not all(isinstance(x, int | float) and _is_finite(x) for x in vector):
        raise LedgerError(f"{model} answered a vector that is empty or holds something that is no number")
    length = hypot(*vector)  # no square in it is too large or too small for a number
    if length == inf:
        raise LedgerError(f"{model} answered a vector that is too long to be one")
    return array("f", [x / length for x in vector] if length else vector)
