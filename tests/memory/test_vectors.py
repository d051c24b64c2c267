"""Vectors in the store: computed once, made anew where they are not whole, shared by processes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from ledger_cli.errors import LedgerError
from ledger_cli.memory import vectors
from ledger_cli.memory.embedding import cosine
from ledger_cli.memory.ranking import Text
from ledger_cli.memory.vectors import Vectors
from tests.conftest import Repo

TEXTS = [Text(f"t{n}", f"text {n}", None, ()) for n in range(5)]


class Counted:
    """An embedder that tells what it was asked for."""

    def __init__(self, name: str = "counted", size: int = 8) -> None:
        self.name, self.size = name, size
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked += texts
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> list[float]:
        return [byte - 99.5 for byte in sha256(text.encode()).digest()[: self.size]]


def asked(folder: Path, embedder: Any, texts: Sequence[Text] = TEXTS) -> tuple[list[float], list[str]]:
    """The cosines, as a new process would ask for them, and which texts a vector was made of for that."""
    embedder.asked = []
    found = Vectors(folder, embedder).cosines("question", texts)
    return found, [text for text in embedder.asked if text != "question"]


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_cosines_are_exact(tmp_path: Path) -> None:
    embedder = Counted()
    found = Vectors(tmp_path, embedder).cosines("question", TEXTS)
    wanted = [cosine(embedder.vector("question"), embedder.vector(text.text)) for text in TEXTS]
    assert found == pytest.approx(wanted, abs=1e-6)


def test_a_text_is_made_a_vector_once(tmp_path: Path) -> None:
    first, made = asked(tmp_path, Counted())
    assert made == [text.text for text in TEXTS]
    assert asked(tmp_path, Counted()) == (first, [])
    more = [*TEXTS, Text("t9", "new", "with a reason", ())]
    found, made = asked(tmp_path, Counted(), more)
    assert (found[:-1], made) == (first, ["new\nwith a reason"])


def test_items_of_one_text_share_a_vector(tmp_path: Path) -> None:
    _, made = asked(tmp_path, Counted(), [Text("a", "same", None, ("x",)), Text("b", "same", None, ())])
    assert made == ["same"]


def test_another_model_has_vectors_of_its_own(tmp_path: Path) -> None:
    asked(tmp_path, Counted("one"))
    _, made = asked(tmp_path, Counted("other"))
    assert len(made) == len(TEXTS)
    assert asked(tmp_path, Counted("one"))[1] == asked(tmp_path, Counted("other"))[1] == []


def test_a_model_that_changed_under_its_name_is_asked_anew(tmp_path: Path) -> None:
    asked(tmp_path, Counted(size=8))
    found, made = asked(tmp_path, Counted(size=4))
    assert (len(found), len(made)) == (5, 5)
    assert asked(tmp_path, Counted(size=4))[1] == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data + b"x",
        lambda data: data[:-5] + bytes([data[-5] ^ 1]) + data[-4:],
        lambda data: b"{}\n" + data.partition(b"\n")[2],
        lambda data: b"not json\n",
        lambda data: b"[]\n" + data,
        lambda data: data.replace(b'"count": 5', b'"count": "5"'),
        lambda data: b"\xff\xfe" * 40,
        lambda data: b"[" * 100_000 + b"\n" + data,
    ],
)
def test_a_damaged_file_is_as_good_as_none(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    first, _ = asked(tmp_path, Counted())
    [path] = files(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    found, made = asked(tmp_path, Counted())
    assert (found, len(made)) == (first, len(TEXTS))
    assert asked(tmp_path, Counted())[1] == []


def test_a_missing_folder_is_made_again(tmp_path: Path) -> None:
    first, _ = asked(tmp_path, Counted())
    [path] = files(tmp_path)
    path.unlink()
    path.parent.rmdir()
    assert asked(tmp_path, Counted()) == (first, [text.text for text in TEXTS])


def test_where_they_cannot_be_kept_the_answer_is_the_same_and_it_is_said(tmp_path: Path) -> None:
    first, _ = asked(tmp_path / "good", Counted())
    (tmp_path / "file").write_text("no folder")
    said: list[str] = []
    found = Vectors(tmp_path / "file", Counted(), said.append).cosines("question", TEXTS)
    assert found == first
    assert [line[:32] for line in said] == ["note: the vectors are not kept: "]


def test_many_small_files_become_one(tmp_path: Path) -> None:
    texts = [Text(str(n), f"text {n}", None, ()) for n in range(40)]
    for n in range(1, 41):
        assert asked(tmp_path, Counted(), texts[:n])[1] == [texts[n - 1].text]
        assert len(files(tmp_path)) <= 9
    assert asked(tmp_path, Counted(), texts)[1] == []


def test_what_was_made_before_an_interruption_is_kept(tmp_path: Path) -> None:
    texts = [Text(str(n), f"text {n}", None, ()) for n in range(200)]

    class Stopped(Counted):
        def embed(self, wanted: Sequence[str]) -> list[list[float]]:
            if len(self.asked) > 100:
                raise LedgerError("no more for today")
            return super().embed(wanted)

    with pytest.raises(LedgerError, match="no more for today"):
        asked(tmp_path, Stopped(), texts)
    _, made = asked(tmp_path, Counted(), texts)
    assert 0 < len(made) < 150


def test_readers_side_by_side_see_whole_files(tmp_path: Path) -> None:
    texts = [Text(str(n), f"text {n}", None, ()) for n in range(60)]
    wanted, _ = asked(tmp_path / "alone", Counted(), texts)
    wrong: list[object] = []

    def work(start: int) -> None:
        for n in range(start, 60, 3):
            found = Vectors(tmp_path / "shared", Counted()).cosines("question", texts[: n + 1])
            if found != pytest.approx(wanted[: n + 1], abs=1e-9):  # a product's last digits vary with its size
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert not [path for path in files(tmp_path) if path.suffix == ".tmp"]


def test_progress_is_told_text_by_text(tmp_path: Path) -> None:
    told: list[Any] = []

    @contextmanager
    def progress(what: str, total: int) -> Iterator[Callable[[], object]]:
        told.append((what, total))
        yield lambda: told.append(1)

    Vectors(tmp_path, Counted()).cosines("question", TEXTS, progress)
    assert told == [("vectors of counted", 5), 1, 1, 1, 1, 1]
    Vectors(tmp_path, Counted()).cosines("question", TEXTS, progress)
    assert len(told) == 6


@pytest.mark.parametrize(
    "answer",
    [
        lambda texts: [],
        lambda texts: [[1.0]] * (len(texts) + 1),
        lambda texts: [[] for _ in texts],
        lambda texts: [[1.0, nan] for _ in texts],
        lambda texts: [[inf, 0.0] for _ in texts],
        lambda texts: [["1", "2"] for _ in texts],
        lambda texts: [list("AAAA") for _ in texts],
        lambda texts: [[None] for _ in texts],
        lambda texts: [[10**400, 1] for _ in texts],
        lambda texts: [[1.7e308, 1.7e308] for _ in texts],
        lambda texts: [[1.0] * (2 + n) for n, _ in enumerate(texts)],
    ],
)
def test_an_answer_that_makes_no_sense_is_refused_and_not_kept(tmp_path: Path, answer: Any) -> None:
    class Wrong(Counted):
        def embed(self, texts: Sequence[str]) -> list[list[float]]:
            return answer(texts)  # type: ignore[no-any-return]

    with pytest.raises(LedgerError, match="counted answered"):
        Vectors(tmp_path, Wrong()).cosines("question", TEXTS)
    assert len(asked(tmp_path, Counted())[1]) == len(TEXTS)


def test_a_vector_without_length_is_near_to_nothing(tmp_path: Path) -> None:
    class Flat(Counted):
        def vector(self, text: str) -> list[float]:
            return [0.0, 0.0] if text == "text 1" else [3.0, 4.0]

    assert asked(tmp_path, Flat())[0] == pytest.approx([1.0, 0.0, 1.0, 1.0, 1.0])


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1.0, 1e200, 1e307])
def test_the_length_of_a_models_vectors_has_no_part_in_a_cosine(tmp_path: Path, scale: float) -> None:
    class Scaled(Counted):
        def vector(self, text: str) -> list[float]:
            return [3.0 * scale, 4.0 * scale] if text == "question" else [4.0 * scale, 3.0 * scale]

    assert asked(tmp_path, Scaled())[0] == pytest.approx([24 / 25] * 5)


def test_a_model_is_given_the_beginning_of_a_long_text(tmp_path: Path) -> None:
    _, made = asked(tmp_path, Counted(), [Text("a", "x" * 100_000, None, ())])
    assert [len(text) for text in made] == [vectors.LONGEST]


def test_with_and_without_numpy_they_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    import numpy

    assert numpy.__name__ in sys.modules
    first, _ = asked(tmp_path, Counted())
    monkeypatch.delitem(sys.modules, "numpy")
    assert asked(tmp_path, Counted())[0] == pytest.approx(first, abs=1e-12)


def test_they_live_in_the_store_and_survive_writes(repo: Repo) -> None:
    from ledger_cli.ledger import Ledger
    from ledger_cli.memory.recall import recall

    embedder = Counted()
    ledger = Ledger(repo.path, clock=lambda: repo.now)
    for n in range(3):
        repo.apply({"session": f"s{n}", "at": "2024-01-01", "facts": [{"id": f"f{n}", "text": f"text {n}"}]})
        recall(ledger, "question", embedder=embedder)
    assert [text for text in embedder.asked if text != "question"] == ["text 0", "text 1", "text 2"]
    assert {path.parent.parent for path in repo.path.rglob("*.vectors")} == {repo.store / "vectors"}
    assert "vectors" not in repo.git("status", "--porcelain", "--untracked-files=all")


def test_a_store_that_takes_no_vectors_is_no_obstacle(repo: Repo) -> None:
    from ledger_cli.ledger import Ledger
    from ledger_cli.memory.recall import recall

    repo.apply({"session": "s", "at": "2024-01-01", "facts": [{"id": t.id, "text": t.text} for t in TEXTS]})
    (repo.store / "vectors").write_text("in the way")
    said: list[str] = []
    ledger = Ledger(repo.path, clock=lambda: repo.now, say=said.append)
    found = recall(ledger, "question", embedder=Counted()).items
    near = dict(zip((t.id for t in TEXTS), asked(repo.path.parent / "good", Counted())[0], strict=True))
    assert {m.row.item.id: m.similarity for m in found} == {
        id: pytest.approx(cosine_, abs=1e-6) for id, cosine_ in near.items() if cosine_ > 0
    }
    assert any("not kept" in line for line in said)
