"""The directory database: a store that says what checkpoint and journal say, whatever came before; and git under it."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ledger_cli import checkpoint, journal, session_file
from ledger_cli.database import Database
from ledger_cli.durable import CannotWrite
from ledger_cli.errors import Busy, NoLedger, Refused
from ledger_cli.history import History
from ledger_cli.instant import LAST
from ledger_cli.ledger import Ledger
from ledger_cli.store import engine
from ledger_cli.store.generations import Identity
from ledger_cli.store.graph import Graph
from ledger_cli.writer import writing
from tests.conftest import ROOT, Repo
from tests.histories import DAYS, Histories

LATER = datetime(2100, 1, 1, tzinfo=UTC)
TIMES = [datetime.fromisoformat(f"{day}T00:00:00+00:00") + timedelta(hours=h) for day in DAYS for h in (0, 9)]


def answers(graph: Graph, times: Sequence[datetime] = TIMES) -> dict[str, Any]:
    """All that the store says of the ledger, in no order but that of the ids; what held, at these times."""
    ids = [item.id for item in graph.all_items()]
    names = graph.entity_names()
    return {
        "sessions": graph.sessions(),
        "newest": graph.newest(),
        "items": graph.items(ids),
        "slots": [item.id for item in graph.slot_items()],
        "entities": {name: graph.entities([name.casefold()]) for name in names},
        "about": {name: [item.id for item in graph.about(name.casefold())] for name in names},
        "stretches": {id: set(its) for id, its in graph.stretches(ids).items()},
        "entries": set(graph.component(ids)),
        "counts": graph.counts(),
        "held": [[item.id for item in graph.holding(None, x, k)] for x in times for k in (x, *times[::3], LAST)],
    }


def rebuilt(database: Database) -> Graph:
    """What the files say, without the store."""
    return database._build(database._truth())


def ledger(root: Path, **options: Any) -> Ledger:
    return Ledger(root, **{"clock": lambda: LATER, **options})


def grow(root: Path, seed: int, sessions: int, *, wild: float = 0.15, export: bool = True) -> list[dict[str, Any]]:
    """Apply a random history, one session a command; the documents that were taken."""
    Ledger.init(root)
    histories = Histories(random.Random(seed), wild=wild)
    taken = []
    for _ in range(sessions):
        document = histories.next()
        try:
            applied = ledger(root).apply(session_file.read(json.dumps(document), "s"), export=export)
        except Refused:
            continue
        histories.accepted(document)
        if applied[0].status == "applied":
            taken.append(document)
    return taken


def session(name: str, at: str = "", **more: Any) -> dict[str, Any]:
    item = {"id": f"{name}/d", "text": f"decided in {name}", "about": ["orders"], "slot": f"of {name}"}
    return {"session": name, "decisions": [item]} | ({"at": at} if at else {}) | more


def rebuilds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many graphs were built from entries so far: one element each."""
    built: list[int] = []
    build = Graph.build.__func__  # type: ignore[attr-defined]
    monkeypatch.setattr(Graph, "build", classmethod(lambda cls, *a, **o: (built.append(1), build(cls, *a, **o))[1]))
    return built


# The store, the files, and their bytes


@pytest.mark.parametrize("seed", range(4))
def test_a_store_that_grew_says_what_one_built_from_the_checkpoint_alone_says(tmp_path, seed):
    grow(tmp_path, seed, 30)
    database = ledger(tmp_path).database
    grown = answers(database.read())
    assert grown == answers(rebuilt(database))
    for path in database.generations.folder.iterdir():
        path.unlink()
    assert answers(database.read()) == grown


@pytest.mark.parametrize("seed", range(2))
def test_no_line_is_ever_changed_or_removed_and_splicing_is_rendering(tmp_path, seed):
    Ledger.init(tmp_path)
    path = tmp_path / "snapshots" / "ledger.json"
    histories = Histories(random.Random(seed))
    before: list[str] = path.read_text().splitlines()
    for _ in range(60):
        document = histories.next()
        try:
            ledger(tmp_path).apply(session_file.read(json.dumps(document), "s"))
        except Refused:
            assert path.read_text().splitlines() == before
            continue
        histories.accepted(document)
        data = path.read_bytes()
        assert data == checkpoint.render(checkpoint.read(data))
        now = data.decode().splitlines()
        rest = iter(now)
        assert all(line in rest for line in before)  # the old ones are all there, in their order
        before = now


@pytest.mark.parametrize("seed", range(2))
def test_exported_later_is_exported_at_once(tmp_path, seed):
    at_once, later = tmp_path / "at-once", tmp_path / "later"
    at_once.mkdir()
    later.mkdir()
    assert grow(at_once, seed, 25) == grow(later, seed, 25, export=False)
    assert checkpoint.read((later / "snapshots" / "ledger.json").read_bytes()) == []
    assert answers(ledger(later).database.read()) == answers(ledger(at_once).database.read())
    changed, came = ledger(later).export()
    assert changed
    assert set(came) == {row.id for row in ledger(at_once).sessions()}
    one, other = ((root / "snapshots" / "ledger.json").read_bytes() for root in (at_once, later))
    assert one == other
    assert ledger(later).export() == (False, ())


# Any order of arrival

ARRIVE = """
import json, sys
from pathlib import Path
from ledger_cli.app import run
for name in json.loads(Path("order.json").read_text()):
    for _ in range(2):
        code = run(["session", "apply", "--backdated", f"{name}.json"])
        assert code == 0, name
"""


def apart(n: int) -> dict[str, Any]:
    """A session that meets no other: its own slot, its own items, some at one clock."""
    at = f"2024-03-{1 + n // 3:02}T09:00:00Z"
    first = {"id": f"i{n}", "text": f"first {n}", "slot": f"slot {n}", "about": ["Orders", f"Thing {n % 3}"]}
    other = {
        "id": f"f{n}",
        "text": f"fact {n}",
        "about": [f"thing {n % 3}"],
        "from": f"e{n}",
        "validFrom": "2024-01-01",
    }
    return {
        "session": f"session-{n}",
        "at": at,
        "decisions": [first],
        "facts": [other],
        "episodes": [{"id": f"e{n}", "kind": "message", "text": "so", "mentions": ["ORDERS"]}],
        "entities": [{"name": f"Thing {n}", "kind": "service"}],
    }


def test_the_order_of_arrival_and_the_process_decide_nothing(tmp_path):
    documents = [apart(n) for n in range(9)]
    rng = random.Random(5)
    found = []
    for seed, zone in [("0", "UTC"), ("1", "America/New_York"), ("77", "Asia/Kathmandu")]:
        root = tmp_path / seed
        root.mkdir()
        Ledger.init(root)
        order = rng.sample([d["session"] for d in documents], k=len(documents))
        (root / "order.json").write_text(json.dumps(order))
        for document in documents:
            (root / f"{document['session']}.json").write_text(json.dumps(document))
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed, "TZ": zone}
        done = subprocess.run(
            [sys.executable, "-c", ARRIVE], cwd=root, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert ledger(root).check().ok
        found.append(((root / "snapshots" / "ledger.json").read_bytes(), answers(ledger(root).database.read())))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("kind", ["decisions", "facts"])
def test_two_sessions_of_one_slot_and_one_clock_come_to_the_same_in_either_order(tmp_path, kind):
    documents = []
    for name, day in (("one", "2024-01-10"), ("two", "2024-01-05")):
        item = {"id": f"{name}/i", "text": name, "slot": "shared", "about": ["orders"], "validFrom": day}
        documents.append({"session": name, "at": "2024-02-01T09:00:00Z", kind: [item]})
    found = []
    for n, order in enumerate([documents, documents[::-1]]):
        root = tmp_path / str(n)
        root.mkdir()
        Ledger.init(root)
        for document in order:
            ledger(root).apply(session_file.read(json.dumps(document), "s"))
        said = answers(ledger(root).database.read())
        assert ledger(root).check().ok
        # Which session records the link is a matter of order; what holds when is not.
        found.append({name: said[name] for name in ("held", "items", "stretches", "entities")})
    assert found[0] == found[1]


# In sync, or rebuilt


def test_touching_the_checkpoint_rebuilds_nothing_and_another_one_does(story, monkeypatch):
    built = rebuilds(monkeypatch)
    read = ledger(story.path).database.read
    before = answers(read())
    os.utime(story.checkpoint)
    read()
    story.checkpoint.write_bytes(story.checkpoint.read_bytes())
    read()
    copy = story.path / "copy"
    copy.write_bytes(story.checkpoint.read_bytes())
    copy.replace(story.checkpoint)
    assert answers(read()) == before
    assert built == []
    data = story.checkpoint.read_bytes()
    story.checkpoint.write_bytes(data.replace(b"orders uses mysql", b"orders uses MYSQL"))
    assert answers(read()) != before
    assert built == [1]
    read()
    assert built == [1]
    story.checkpoint.write_bytes(data)
    assert answers(read()) == before
    assert built == [1, 1]


def test_a_checkpoint_that_only_looks_new_is_hashed_once(story, monkeypatch):
    hashed = []
    read = Identity.read
    monkeypatch.setattr(Identity, "read", classmethod(lambda cls, *a: (hashed.append(1), read(*a))[1]))
    for change in (lambda: os.utime(story.checkpoint), lambda: story.checkpoint.touch()):
        change()
        hashed.clear()
        for _ in range(3):
            ledger(story.path).database.read()
        assert hashed == [1]
    # Where it cannot be noted it is hashed again, and nothing else is different.
    os.utime(story.checkpoint)
    hashed.clear()
    with ledger(story.path).database.generations.lock(0):
        for _ in range(2):
            ledger(story.path).database.read()
    assert hashed == [1, 1]


def test_a_file_of_the_same_size_and_whole_second_is_looked_at(story):
    """Some file systems, and tools that set it, know no finer time; and an inode is given out again at once."""
    data = story.checkpoint.read_bytes()
    other = data.replace(b"orders uses mysql", b"orders uses MYSQL")
    os.utime(story.checkpoint, (1_700_000_000, 1_700_000_000))
    story.run("rebuild")
    story.checkpoint.write_bytes(other)
    os.utime(story.checkpoint, (1_700_000_000, 1_700_000_000))
    assert "orders uses MYSQL" in story.run("as-of", "2024-01-20").out


def test_a_rebuild_in_a_race_with_git_never_takes_one_file_for_the_other(story, monkeypatch):
    """The identity is that of the bytes that were read, not that of the file that came into their place."""
    database = ledger(story.path).database
    other = story.checkpoint.read_bytes().replace(b"orders uses mysql", b"orders uses MYSQL")
    story.checkpoint.write_bytes(story.checkpoint.read_bytes().replace(b"redis", b"Redis"))
    build = Database._build

    def meanwhile(self: Database, truth: Any) -> Graph:
        copy = story.path / "copy"
        copy.write_bytes(other)
        copy.replace(story.checkpoint)
        return build(self, truth)

    with monkeypatch.context() as patch:
        patch.setattr(Database, "_build", meanwhile)
        database.read()
    assert answers(database.read()) == answers(rebuilt(database))


def test_a_reader_never_misses_what_is_on_its_way_from_the_journal_to_the_checkpoint(repo, monkeypatch):
    """Whoever looks at the checkpoint first, and then finds the journal empty, missed what moved in between."""
    repo.apply(session("x1"))
    repo.apply(session("x2"), flags=("--no-export",))
    repo.run("session", "list")
    moved = []
    read = Database.read_checkpoint
    knows = Database._known

    def move() -> None:
        if not moved:
            moved.append(1)
            ledger(repo.path).export()

    def reading(self: Database, *arguments: Any) -> Any:
        found = read(self, *arguments)
        move()
        return found

    def knowing(self: Database, *arguments: Any) -> Any:
        found = knows(self, *arguments)
        move()
        return found

    for name, double in (("read_checkpoint", reading), ("_known", knowing)):
        moved.clear()
        with monkeypatch.context() as patch:
            patch.setattr(Database, name, double)
            database = ledger(repo.path).database
            seen = database._build(database._truth()) if name == "read_checkpoint" else database.read()
            assert "x2" in seen.session_ids()
            assert moved
        repo.apply(session(f"x3{name}"), flags=("--no-export",))


def test_a_reader_waits_a_moment_for_what_was_acknowledged_and_then_builds_it_itself(repo):
    repo.apply(session("x1"))
    database = ledger(repo.path).database
    with writing(database) as writer:
        document = session_file.read(json.dumps(session("x2")), "s")[0]
        ledger(repo.path)._one(writer, lambda *_: document, False)
        assert "x2" in ledger(repo.path).database.read().session_ids()
        writer.finish(export=True)


def test_a_stranger_who_replaces_the_checkpoint_during_a_write_is_not_overwritten(repo):
    """git takes no lock of ours. What was acknowledged waits in the journal."""
    repo.apply(session("x1"))
    first = repo.checkpoint.read_bytes()
    repo.apply(session("x2"))
    other = repo.checkpoint.read_bytes()
    repo.checkpoint.write_bytes(first)
    database = ledger(repo.path).database
    document = session_file.read(json.dumps(session("x3")), "s")[0]
    with writing(database) as writer:
        ledger(repo.path)._one(writer, lambda *_: document, False)
        repo.checkpoint.write_bytes(other)
        with pytest.raises(Refused, match=r"another program changed .*x3"):
            writer.finish(export=True)
    assert repo.checkpoint.read_bytes() == other
    assert answers(database.read()) == answers(rebuilt(database))
    assert ledger(repo.path).export() == (True, ("x3",))
    assert {row.id for row in ledger(repo.path).sessions()} == {"x1", "x2", "x3"}


def test_a_stranger_in_the_last_moment_is_not_overwritten_either(repo, monkeypatch):
    repo.apply(session("x1"))
    database = ledger(repo.path).database
    publish = database.generations.publish
    other = checkpoint.EMPTY

    def meanwhile(current: Any) -> None:
        publish(current)
        repo.checkpoint.write_bytes(other)

    monkeypatch.setattr(database.generations, "publish", meanwhile)
    found = ledger(repo.path)
    found.database = database
    with pytest.raises(Refused, match="another program"):
        found.apply(session_file.read(json.dumps(session("x2")), "s"))
    assert repo.checkpoint.read_bytes() == other
    monkeypatch.undo()
    # x2 was applied on a checkpoint with x1, and this one is without: it waits.
    assert ledger(repo.path).database.aside() == ("x2",)


# The lock


def test_a_time_out_says_who_holds_the_lock_and_a_reader_does_not_wait(repo, ledger_process):
    repo.apply(session("x1"))
    held = ledger(repo.path)
    before = repo.checkpoint.read_bytes()
    with writing(held.database):
        for impatient in (
            lambda: ledger(repo.path, timeout=0.05).apply(session_file.read(json.dumps(session("x2")), "s")),
            lambda: ledger(repo.path, timeout=0.05).export(),
            lambda: ledger(repo.path, timeout=0.05).rebuild(),
        ):
            with pytest.raises(Busy, match=rf"process {os.getpid()}") as caught:
                impatient()
            assert caught.value.exit_code == 1
        assert [row.id for row in ledger(repo.path).sessions()] == ["x1"]
    assert repo.checkpoint.read_bytes() == before


HOLD = """
import os, sys, time
from pathlib import Path
from datetime import UTC, datetime
from ledger_cli.ledger import Ledger
from ledger_cli.writer import writing
with writing(Ledger(Path.cwd(), clock=lambda: datetime.now(UTC)).database):
    print("held", flush=True)
    time.sleep(60)
"""


def test_another_process_is_named_and_a_dead_holder_does_not_block(repo):
    command = [sys.executable, "-c", HOLD]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=repo.path, env=environment, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(Busy, match=rf"process {holder.pid}$"):
            ledger(repo.path, timeout=0.05).apply(session_file.read(json.dumps(session("x1")), "s"))
        holder.kill()
    repo.apply(session("x1"))
    assert (repo.store / "lock").exists()


def test_a_store_that_is_deleted_under_a_writer_stops_it(repo):
    """Whoever comes next makes a lock of its own: two would write."""
    repo.apply(session("x1"))
    before = repo.checkpoint.read_bytes()
    database = ledger(repo.path).database
    documents = [session_file.read(json.dumps(session(name)), "s")[0] for name in ("x2", "x3")]
    with writing(database) as writer:
        ledger(repo.path)._one(writer, lambda *_: documents[0], False)
        shutil.rmtree(repo.store)
        repo.apply(session("x4"))  # the second writer
        after = repo.checkpoint.read_bytes()
        with pytest.raises(CannotWrite, match="was deleted while"):
            ledger(repo.path)._one(writer, lambda *_: documents[1], False)
        with pytest.raises((CannotWrite, Refused)):
            writer.finish(export=True)
    assert repo.checkpoint.read_bytes() == after != before
    assert ledger(repo.path).check().ok
    assert {row.id for row in ledger(repo.path).sessions()} == {"x1", "x4"}


# A session that could not be journaled


def test_a_session_that_the_journal_does_not_take_is_in_no_answer(repo, monkeypatch):
    """The graph has it by then: it must not be published, for it was never acknowledged."""
    repo.apply(session("x1"))
    append = journal.append

    def full(path: Path, base: Any, name: str, entries: Any) -> None:
        if name == "x3":
            raise CannotWrite("the disk is full")
        append(path, base, name, entries)

    for flags in (("--no-export",), ()):
        with monkeypatch.context() as patch:
            patch.setattr(journal, "append", full)
            documents = session("x2", at="2024-02-01T00:00:00Z"), session("x3", at="2024-02-02T00:00:00Z")
            said = repo.apply(*documents, flags=("--backdated", *flags), code=1)
        assert [done["session"] for done in said.json["sessions"]] == ["x2"]
        assert "the disk is full" in said.err
        assert {row.id for row in ledger(repo.path).sessions()} == {"x1", "x2"}
    repo.run("export")
    assert {row.id for row in ledger(repo.path).sessions()} == {"x1", "x2"}
    assert repo.apply(session("x3")).json["sessions"][0]["status"] == "applied"


# Branches, and sessions that were applied on another one


class Branches:
    """A repository with the branches `main` and `side`, each with a session of its own above a common one."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo
        repo.apply(session("common", at="2024-01-01T09:00:00Z"))
        self.commit("common")
        repo.git("checkout", "-q", "-b", "side")
        repo.apply(session("of-side", at="2024-01-02T09:00:00Z"))
        self.commit("side")
        repo.git("checkout", "-q", "main")
        repo.apply(session("of-main", at="2024-01-03T09:00:00Z"))
        self.commit("main")

    def commit(self, message: str) -> None:
        self.repo.git("add", "-A")
        self.repo.git("commit", "-q", "-m", message)

    def checkout(self, name: str) -> None:
        self.repo.git("checkout", "-q", "-f", name)

    def seen(self) -> set[str]:
        return {row["session"] for row in self.repo.run("session", "list", "--json").json["sessions"]}

    def exported(self) -> set[str]:
        return {e.session for e in checkpoint.read(self.repo.checkpoint.read_bytes())}


@pytest.fixture
def branches(repo: Repo) -> Branches:
    return Branches(repo)


WAITING = session("waiting", at="2024-02-01T09:00:00Z")
NEXT = session("next", at="2024-03-01T09:00:00Z")


def test_what_was_applied_on_another_branch_waits_and_is_said(branches):
    repo = branches.repo
    repo.apply(WAITING, flags=("--no-export",))
    assert branches.seen() == {"common", "of-main", "waiting"}
    kept = (repo.store / "journal.jsonl").read_bytes()
    branches.checkout("side")
    for _ in range(2):  # rebuilt, then from the store
        said = repo.run("as-of", "2024-06-01", "--json")
        assert sorted(said.ids) == ["common/d", "of-side/d"]
        assert "note: waiting: applied but never exported, on a checkpoint that is not the one here" in said.err
    before = repo.checkpoint.read_bytes()
    for refused in (repo.apply(NEXT, code=1), repo.run("export", code=1), repo.run("reject", "common/d", "--by", "a",
                    "--reason", "b", code=1)):  # fmt: skip
        assert "waiting: applied but never exported" in refused.err
        assert "--carry" in refused.err
        assert "--drop" in refused.err
    assert "waiting" in repo.run("doctor", code=1).out
    assert repo.checkpoint.read_bytes() == before
    assert (repo.store / "journal.jsonl").read_bytes() == kept
    branches.checkout("main")
    said = repo.run("as-of", "2024-06-01", "--json")
    assert (sorted(said.ids), said.err) == (["common/d", "of-main/d", "waiting/d"], "")
    assert repo.apply(NEXT).json["sessions"][0]["status"] == "applied"
    assert branches.exported() == {"common", "of-main", "waiting", "next"}


def test_carry_brings_it_along_and_drop_gives_it_up(branches):
    repo = branches.repo
    repo.apply(WAITING, NEXT, flags=("--no-export",))
    branches.checkout("side")
    assert "next is not waiting" not in repo.run("export", "--drop", "next").err
    assert branches.exported() == {"common", "of-side"}
    assert repo.run("export", "--drop", "next", code=1).err.startswith("error: next is not waiting")
    assert repo.run("export", "--carry").out == "wrote snapshots/ledger.json with waiting\n"
    assert branches.exported() == branches.seen() == {"common", "of-side", "waiting"}
    assert repo.run("check").code == 0
    branches.checkout("main")
    assert branches.seen() == {"common", "of-main"}
    repo.run("export")


def test_what_builds_on_a_dropped_session_cannot_stay(branches):
    repo = branches.repo
    builds = {"session": "next", "at": "2024-03-01T09:00:00Z", "endings": [{"id": "waiting/d", "validTo": "2025-01-01",
              "by": "sam"}]}  # fmt: skip
    repo.apply(WAITING, builds, flags=("--no-export",))
    kept = (repo.store / "journal.jsonl").read_bytes()
    said = repo.run("export", "--drop", "waiting", code=1)
    assert "give up what builds on it as well" in said.err
    assert (repo.store / "journal.jsonl").read_bytes() == kept
    assert branches.seen() == {"common", "of-main", "waiting", "next"}
    repo.run("export", "--drop", "waiting", "--drop", "next")
    assert branches.seen() == branches.exported() == {"common", "of-main"}


def test_what_cannot_be_carried_is_refused_by_name_and_can_still_be_dropped(branches):
    repo = branches.repo
    ends = {"session": "ends", "at": "2024-03-01T09:00:00Z",
            "endings": [{"id": "of-main/d", "validTo": "2025-01-01", "by": "sam"}]}  # fmt: skip
    repo.apply(WAITING, ends, flags=("--no-export",))
    branches.checkout("side")
    before = repo.checkpoint.read_bytes()
    said = repo.run("export", "--carry", code=1)
    assert "of-main/d, which is not recorded" in said.err
    assert repo.checkpoint.read_bytes() == before
    said = repo.run("export", "--drop", "ends")
    assert "note: waiting: still waiting" in said.err
    assert ledger(repo.path).database.aside() == ("waiting",)
    repo.run("export", "--carry")
    assert branches.exported() == {"common", "of-side", "waiting"}


def test_a_branch_that_has_all_of_the_first_one_just_works(branches):
    repo = branches.repo
    repo.apply(WAITING, flags=("--no-export",))
    repo.git("stash", "list")
    clone = repo.path.parent / "clone"
    repo.git("clone", "-q", str(repo.path), str(clone))
    ledger(clone).apply(session_file.read(json.dumps(session("pulled", at="2024-01-20T09:00:00Z")), "s"))
    subprocess.run(["git", "commit", "-qam", "pulled"], cwd=clone, check=True)
    repo.git("pull", "-q", str(clone), "main")
    assert branches.seen() == {"common", "of-main", "pulled", "waiting"}
    kept = (repo.store / "journal.jsonl").read_bytes()
    wrong = {"session": "wrong", "endings": [{"id": "nobody", "validTo": "2024-01-01", "by": "sam"}]}
    repo.apply(wrong, code=1, flags=("--no-export",))
    assert (repo.store / "journal.jsonl").read_bytes() == kept
    branches.checkout("HEAD~1")
    assert branches.seen() == {"common", "of-main", "waiting"}
    branches.checkout("main")
    repo.apply(NEXT, flags=("--no-export",))
    assert branches.seen() == {"common", "of-main", "pulled", "waiting", "next"}
    branches.checkout("HEAD~1")  # now they stand on what was pulled
    assert ledger(repo.path).database.aside() == ("waiting", "next")
    branches.checkout("main")
    repo.run("export")
    assert branches.exported() == {"common", "of-main", "pulled", "waiting", "next"}
    assert not (repo.store / "journal.jsonl").exists()


def test_a_session_whose_id_another_branch_took_is_neither_lost_nor_mixed(branches):
    """Agents count: `session-5` of two branches are two sessions."""
    repo = branches.repo
    branches.checkout("side")
    repo.git("checkout", "-q", "-b", "above", "main")
    other = session("waiting", at="2024-02-01T09:00:00Z")
    other["decisions"] = [{"id": "other/d", "text": "another one under the same session id"}]
    repo.apply(other)
    branches.commit("the other")
    branches.checkout("main")
    repo.apply(WAITING, flags=("--no-export",))
    branches.checkout("above")
    said = repo.run("as-of", "2024-06-01", "--json")
    assert sorted(said.ids) == ["common/d", "of-main/d", "other/d"]
    assert "note: waiting: applied but never exported" in said.err
    repo.apply(NEXT, code=1)
    assert "recorded here with other content" in repo.run("export", "--carry", code=1).err
    branches.checkout("main")
    assert branches.seen() == {"common", "of-main", "waiting"}
    assert "waiting/d" in repo.run("as-of", "2024-06-01", "--json").ids
    branches.checkout("above")
    repo.run("export", "--drop", "waiting")
    assert repo.apply(NEXT).code == 0
    assert branches.exported() == {"common", "of-main", "waiting", "next"}


def test_a_ledger_that_is_broken_already_does_not_lock_its_sessions_in(branches):
    """A merge left two current answers. That is not the waiting session's fault: it can go along, and mend it."""
    repo = branches.repo
    for name in ("side", "main"):
        branches.checkout(name)
        item = {"id": f"{name}/slot", "text": name, "slot": "shared", "about": ["orders"]}
        repo.apply({"session": f"slot-{name}", "at": "2024-01-10T09:00:00Z", "decisions": [item]})
        branches.commit(f"slot {name}")
    repo.apply(WAITING, flags=("--no-export",))
    entries = {
        e
        for name in ("main", "side")
        for e in checkpoint.read(repo.git("show", f"{name}:snapshots/ledger.json").encode())
    }
    repo.checkpoint.write_bytes(checkpoint.render(entries))
    assert repo.run("check", code=3).code == 3
    assert branches.seen() == {e.session for e in entries} | {"waiting"}
    repo.run("reject", "side/slot", "--by", "sam", "--reason", "one is enough")
    repo.run("check")
    assert "waiting" in branches.exported()


def test_a_branch_without_the_last_export_gets_it_from_nowhere(branches):
    """Exported sessions belong to the branch they were exported on, also where git takes that export back."""
    repo = branches.repo
    before = repo.checkpoint.read_bytes()
    repo.apply(WAITING)
    repo.git("checkout", "-q", "--", "snapshots/ledger.json")
    assert repo.checkpoint.read_bytes() == before
    assert branches.seen() == {"common", "of-main"}
    assert repo.run("export").out.endswith("is up to date\n")
    branches.checkout("side")
    assert branches.seen() == {"common", "of-side"}
    branches.checkout("main")
    repo.apply(WAITING)
    assert branches.exported() == {"common", "of-main", "waiting"}


def test_what_was_dropped_and_applied_anew_under_its_id_is_the_new_one(repo):
    """The store knows waiting sessions by their ids: it must not take the old one for the new."""
    repo.apply(session("x1", at="2024-01-01T09:00:00Z"))
    repo.apply(WAITING, flags=("--no-export",))
    current = (repo.store / "current.json").read_bytes()
    database = ledger(repo.path).database
    with database._locked():
        pending = database._journal()
        assert list(pending.sessions) == ["waiting"]
    repo.run("export", "--drop", "waiting")
    assert json.loads((repo.store / "current.json").read_bytes()) != json.loads(current)
    other = session("waiting", at="2024-02-01T09:00:00Z")
    other["decisions"][0]["text"] = "the new one"
    repo.apply(other, flags=("--no-export",))
    assert "the new one" in repo.run("as-of", "2024-06-01").out


def test_export_puts_line_ends_right_even_after_a_reader_took_them(story):
    data = story.checkpoint.read_bytes()
    story.checkpoint.write_bytes(data.replace(b"\n", b"\r\n"))
    assert "mysql" in story.run("as-of", "2024-01-20").out
    story.run("export")
    assert story.checkpoint.read_bytes() == data


def test_there_is_no_ledger_where_there_is_none(tmp_path):
    for ask in (Database.read, Database.export, Database.rebuild, Database.data, Database.scratch):
        with pytest.raises(NoLedger):
            ask(Database(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_history_of_the_graph_is_a_history_of_the_file(story):
    """What stands in the store is exactly what stands in the checkpoint, spelling included."""
    database = ledger(story.path).database
    entries = checkpoint.read(database.data())
    graph = database.read()
    assert History(graph.component([item.id for item in graph.all_items()])).items == History(entries).items
    assert engine.get("kglite").name == "kglite"
