"""Generations: what `current.json` may say, what a file's identity tells apart, what is swept, and the lock."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ledger_cli.durable import CannotWrite
from ledger_cli.errors import Busy
from ledger_cli.store.generations import Current, Generations, Identity


@pytest.fixture
def generations(tmp_path: Path) -> Generations:
    folder = tmp_path / ".store"
    folder.mkdir()
    return Generations(folder)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.json"
    path.write_bytes(b"one")
    return path


def current_of(file: Path, **more: Any) -> Current:
    identity, _ = Identity.read(file)
    return Current(3, "s3.kgl", "an engine 1.0", identity, **more)


def put(path: Path, data: bytes) -> None:
    """As git and we do: another file in its place."""
    new = path.with_name("new")
    new.write_bytes(data)
    new.replace(path)


# current.json


def test_what_is_published_is_current(generations, file):
    assert generations.current() is None
    found = current_of(file, exported=("a", "日本語"), pending=("b",), aside=("c",))
    generations.publish(found)
    assert generations.current() == found
    assert generations.path(found) == generations.folder / "s3.kgl"
    generations.publish(replace(found, before=found.checkpoint))
    assert generations.current() == replace(found, before=found.checkpoint)
    assert [p.name for p in generations.folder.iterdir()] == ["current.json"]
    generations.forget()
    generations.forget()
    assert generations.current() is None


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: raw.update(file="../../evil.kgl"),
        lambda raw: raw.update(file="s/../../evil.kgl", generation="/../../evil"),
        lambda raw: raw.update(file="s1.kgl"),
        lambda raw: raw.update(file="s3.kgl\n"),
        lambda raw: raw.update(file=3),
        lambda raw: raw.update(generation="3"),
        lambda raw: raw.update(generation=3.0),
        lambda raw: raw.update(generation=True, file="s1.kgl"),
        lambda raw: raw.update(generation=10**40, file=f"s{10**40}.kgl"),
        lambda raw: raw.update(layout=0),
        lambda raw: raw.update(layout="2"),
        lambda raw: raw.update(pending=[["a"]]),
        lambda raw: raw.update(pending="ab"),
        lambda raw: raw.update(aside=None),
        lambda raw: raw.update(exported=[1]),
        lambda raw: raw.update(checkpoint=None),
        lambda raw: raw.update(before="one"),
        lambda raw: raw["checkpoint"].update(size="3"),
        lambda raw: raw["checkpoint"].update(sha256=None),
        lambda raw: raw["checkpoint"].pop("inode"),
        lambda raw: raw.update(more=1),
        lambda raw: raw.pop("engine"),
    ],
)
def test_what_was_not_published_is_not_current(generations, file, change):
    generations.publish(current_of(file))
    path = generations.folder / "current.json"
    raw = json.loads(path.read_text())
    change(raw)
    path.write_text(json.dumps(raw))
    assert generations.current() is None


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b'"text"', b"\0" * 500])
def test_garbage_is_not_current(generations, data):
    (generations.folder / "current.json").write_bytes(data)
    assert generations.current() is None


def test_a_folder_in_its_place_is_not_current_and_cannot_be_published_over(generations, file):
    (generations.folder / "current.json" / "inside").mkdir(parents=True)
    assert generations.current() is None
    for write in (lambda: generations.publish(current_of(file)), generations.forget):
        with pytest.raises(CannotWrite, match="cannot write in"):
            write()


# Identity


def test_a_file_is_itself_by_its_looks_and_otherwise_by_its_bytes(file):
    found = current_of(file)
    assert found.knows(file) is found
    os.utime(file)
    assert found.knows(file) == replace(found, checkpoint=Identity.read(file)[0])
    put(file, b"one")
    assert found.knows(file) == replace(found, checkpoint=Identity.read(file)[0])
    put(file, b"two")
    assert found.knows(file) is None
    file.unlink()
    with pytest.raises(OSError):
        found.knows(file)


def test_a_swap_that_was_killed_is_known_before_and_after_its_rename(file):
    old, _ = Identity.read(file)
    put(file, b"new!")
    swapped = current_of(file, before=old, exported=("x",), pending=("w",))
    assert swapped.knows(file) is swapped
    put(file, b"one")
    known = swapped.knows(file)
    assert known is not None
    assert (known.exported, known.pending, known.before) == ((), ("w", "x"), None)
    assert known.checkpoint == Identity.read(file)[0]


def test_looks_of_whole_seconds_are_not_trusted(file):
    os.utime(file, (1_700_000_000, 1_700_000_000))
    found = current_of(file)
    inode = file.stat().st_ino
    file.write_bytes(b"two")
    os.utime(file, (1_700_000_000, 1_700_000_000))
    assert (file.stat().st_ino, found.checkpoint.same_stat(file)) == (inode, True)
    assert found.knows(file) is None
    assert Identity.read(file, known=found.checkpoint)[0] != found.checkpoint


def test_a_known_file_is_read_without_a_digest_and_another_is_not_taken_for_it(file, monkeypatch):
    known, data = Identity.read(file)
    assert Identity.read(file, known) == (known, data)
    put(file, b"two")
    found, data = Identity.read(file, known)
    assert (found == known, data) == (False, b"two")
    assert found == Identity.of(file, b"two")


# Numbers and sweeping


def test_a_number_is_never_given_out_twice(generations, file):
    assert generations.next()[0] == 1
    for name in ("s7.kgl", "s12.kgl.tmp", "s²5.kgl", "sessions.kgl", "s-9.kgl"):
        (generations.folder / name).touch()
    assert generations.next() == (8, generations.folder / "s8.kgl")
    (generations.folder / "s7.kgl").unlink()
    generations.publish(replace(current_of(file), generation=7, file="s7.kgl"))
    assert generations.next()[0] == 8  # the file is lost, but current.json still means the one that was


def test_what_is_stale_is_swept_and_nothing_else(generations, file):
    kept = current_of(file)
    generations.publish(kept)
    for name in ("s1.kgl", "s3.kgl", "s4.kgl", "s4.kgl.partial", "journal.jsonl", "journal.tmp", "current.tmp", "lock"):
        (generations.folder / name).touch()
    for name in ("calls", "threads", "s9.kgl"):
        (generations.folder / name / "inside").mkdir(parents=True)
    generations.sweep(kept)
    left = ["calls", "current.json", "journal.jsonl", "lock", "s3.kgl", "s9.kgl", "threads"]
    assert sorted(p.name for p in generations.folder.iterdir()) == left
    generations.sweep(None)
    assert not (generations.folder / "s3.kgl").exists()


# The lock


def test_the_lock_is_held_by_one_and_says_by_whom(generations):
    other = Generations(generations.folder)
    with generations.lock(0), pytest.raises(Busy, match=rf"process {os.getpid()}"), other.lock(0):
        pass
    with other.lock(0):
        pass


def test_a_message_that_cannot_be_left_stops_no_writer(generations):
    (generations.folder / "lock.holder").mkdir()
    with generations.lock(0), pytest.raises(Busy, match="an unknown process"), Generations(generations.folder).lock(0):
        pass


def test_a_lock_that_cannot_be_taken_is_named(generations):
    (generations.folder / "lock").mkdir()
    with pytest.raises(CannotWrite, match="cannot write in"), generations.lock(0):
        pass


def test_a_lock_whose_file_is_gone_holds_nothing(generations):
    with pytest.raises(CannotWrite, match="was deleted"):
        generations.must_hold()
    with generations.lock(0):
        generations.must_hold()
        (generations.folder / "lock").unlink()
        with pytest.raises(CannotWrite, match="was deleted"):
            generations.must_hold()
        with Generations(generations.folder).lock(0), pytest.raises(CannotWrite, match="was deleted"):
            generations.must_hold()
