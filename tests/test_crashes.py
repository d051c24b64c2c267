"""Writers that die at any moment, and writers side by side: what was acknowledged stays, and nobody sees half of it.

Acknowledged = the session's line was printed. A kill is SIGKILL to a process of its own, at a random moment, or
`os._exit` at every step of the protocol in turn: before each flush, rename, removal and save.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ledger_cli import checkpoint, session_file
from ledger_cli.errors import LedgerError
from ledger_cli.ledger import Ledger
from ledger_cli.store.kglite_engine import KgliteEngine
from tests.conftest import NOW, ROOT, Repo
from tests.test_database import answers, rebuilt

ITEMS = 3
"""Items of every session: a reader that ever sees another number saw half a session."""


def session(name: str, **more: Any) -> dict[str, Any]:
    """A session of three items, one of them in a slot that all sessions share."""
    return {
        "session": name,
        "decisions": [
            {"id": f"{name}/d1", "text": f"{name} decides", "slot": "shared", "about": ["orders"]},
            {"id": f"{name}/d2", "text": f"{name} also decides", "slot": f"own/{name}", "about": [name]},
        ],
        "facts": [{"id": f"{name}/f1", "text": f"{name} is a fact", "about": ["orders"], "from": f"{name}/e1"}],
        "episodes": [{"id": f"{name}/e1", "kind": "message", "text": "heard", "mentions": ["orders"]}],
        **more,
    }


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def ledger(root: Path, **options: Any) -> Ledger:
    return Ledger(root, clock=lambda: datetime.now(UTC), **options)


def acknowledged(printed: str) -> list[str]:
    return re.findall(r"^(\S+): applied", printed, re.MULTILINE)


def sessions_of(found: Ledger) -> dict[str, int]:
    """The sessions that a reader sees, and how many items of each."""
    return {row.id: row.counts.get("decision", 0) + row.counts.get("fact", 0) for row in found.sessions()}


def is_sound(root: Path, kept: list[str], old: bytes | None = None) -> None:
    """Nothing acknowledged is lost, all sessions are whole, `check` is content, the store says what the files say."""
    found = ledger(root)
    seen = sessions_of(found)
    assert set(kept) <= seen.keys()
    assert set(seen.values()) <= {ITEMS}
    assert found.check().ok
    assert answers(found.database.read(), [NOW]) == answers(rebuilt(found.database), [NOW])
    data = found.database.data()
    exported = checkpoint.read(data)
    assert data == checkpoint.render(exported)
    if old is not None:
        assert set(checkpoint.read(old)) <= set(exported)


def goes_on(root: Path, name: str) -> None:
    """The next session is taken, and with it all that was waiting is exported; nothing is left lying about."""
    before = sessions_of(ledger(root))
    path = root / "next.json"
    path.write_text(json.dumps(session(name)))
    done = subprocess.run(
        [sys.executable, "-m", "ledger_cli", "session", "apply", str(path)],
        cwd=root,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, acknowledged(done.stdout)) == (0, [name]), done.stderr
    found = ledger(root)
    assert sessions_of(found) == before | {name: ITEMS}
    assert {e.session for e in checkpoint.read(found.database.data())} == before.keys() | {name}
    assert not found.database.generations.journal.exists()
    left = sorted(p.name for p in (root / "snapshots").iterdir()) + sorted(
        p.name for p in (root / "snapshots" / ".store").iterdir()
    )
    assert [name for name in left if not name.endswith(".kgl")] == [
        ".store",
        "ledger.json",
        ".gitignore",
        "current.json",
        "lock",
        "lock.holder",
    ]
    assert sum(name.endswith(".kgl") for name in left) == 1


# Killed at random moments

WRITER = """
import itertools, json, os, sys
from datetime import UTC, datetime
from pathlib import Path
from ledger_cli.app import run
sys.path.insert(0, {root!r})
from tests.test_crashes import session
start, batch, flags = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
os.dup2(2, 1)
sys.stdout = open(1, "w", buffering=1, closefd=False)  # a line is out when it is printed
for n in itertools.count(start):
    path = Path(f"w{{n}}.json")
    path.write_text(json.dumps([session(f"s{{n}}-{{k:02}}") for k in range(batch)]))
    if run(["session", "apply", str(path), *flags]) != 0:
        os._exit(1)
    path.unlink()
"""

READER = """
import time
from pathlib import Path
from tests.test_crashes import ledger, sessions_of
found = ledger(Path.cwd())
print("ready", flush=True)
reads = 0
while True:
    before = set(Path("acknowledged").read_text().split())
    seen = sessions_of(found)
    assert before <= seen.keys(), ("lost", sorted(before - seen.keys()))
    assert set(seen.values()) <= {3}, ("half", seen)
    reads += 1
    Path("reads-new").write_text(str(reads))
    Path("reads-new").replace("reads")
    time.sleep(0.005)  # the writers are to have the processor, too
"""


def run_and_kill(root: Path, start: int, after: float, batch: int, flags: tuple[str, ...]) -> list[str]:
    """Run a write loop and kill it after so many seconds of writing; what it acknowledged."""
    command = [sys.executable, "-c", WRITER.format(root=str(ROOT)), str(start), str(batch), *flags]
    kept: list[str] = []
    with subprocess.Popen(command, cwd=root, env=environment(), stderr=subprocess.PIPE, text=True) as writer:
        assert writer.stderr is not None
        begun = threading.Event()

        def listen() -> None:
            for line in writer.stderr:  # type: ignore[union-attr]
                if names := acknowledged(line):
                    kept.extend(names)
                    with (root / "acknowledged").open("a") as file:
                        file.write("".join(f"{name}\n" for name in names))
                    begun.set()

        listener = threading.Thread(target=listen)
        listener.start()
        begun.wait(30)
        time.sleep(after)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        listener.join()
        assert writer.returncode == -signal.SIGKILL, "the writer stopped by itself"
    return kept


def killed_at_random(root: Path, kills: int, rng: random.Random, *, batch: int = 1, flags: tuple[str, ...] = ()) -> Any:
    """Kill a write loop again and again beside a reader; the figures."""
    Ledger.init(root)
    (root / "acknowledged").touch()
    figures = {"kills": 0, "acknowledged": 0, "recovered": 0, "reads": 0}
    kept: list[str] = []
    command = [sys.executable, "-c", READER]
    errors = root / "reader-errors"
    with (
        errors.open("w") as stderr,
        subprocess.Popen(
            command, cwd=root, env=environment(PYTHONPATH=f"{ROOT}"), stderr=stderr, stdout=subprocess.PIPE
        ) as reader,
    ):
        try:
            assert reader.stdout is not None
            reader.stdout.readline()
            for n in range(kills):
                old = (root / "snapshots" / "ledger.json").read_bytes()
                kept += run_and_kill(root, n * 100_000, rng.uniform(0, 0.12), batch, flags)
                figures["kills"] += 1
                figures["recovered"] += (root / "snapshots" / ".store" / "journal.jsonl").exists()
                is_sound(root, kept, old)
            assert reader.poll() is None, errors.read_text()
        finally:
            reader.kill()
    goes_on(root, "after-all")
    figures["acknowledged"] = len(kept)
    figures["reads"] = int((root / "reads").read_text())
    return figures


@pytest.mark.parametrize(
    ("kills", "batch", "flags"),
    [(13, 1, ()), (6, 1, ("--no-export",)), (6, 50, ())],
    ids=["export", "no-export", "batch"],
)
def test_nothing_acknowledged_is_lost_when_writers_are_killed_at_random_moments(tmp_path, kills, batch, flags):
    figures = killed_at_random(tmp_path, kills, random.Random(kills), batch=batch, flags=flags)
    assert figures["acknowledged"] >= kills
    assert figures["reads"] > 0


# Killed at every step

STEPS = """
import os, shutil, stat, sys
from pathlib import Path
from ledger_cli.app import run
from ledger_cli.store.kglite_engine import KgliteEngine

here, torn, *command = sys.argv[1:]

def steps(limit):
    count = 0
    def counted(call):
        def stepping(*arguments, **options):
            nonlocal count
            count += 1
            if count == limit:
                if torn == "torn" and call is fsync and stat.S_ISREG(os.fstat(arguments[0]).st_mode):
                    os.ftruncate(arguments[0], max(0, os.fstat(arguments[0]).st_size - 7))  # not all of it got out
                os._exit(9)
            return call(*arguments, **options)
        return stepping
    fsync = os.fsync
    for name in ("fsync", "replace", "unlink", "mkdir", "chmod"):
        setattr(os, name, counted(getattr(os, name)))
    KgliteEngine.save = counted(KgliteEngine.save)

for step in range(1, 200):
    shutil.copytree(here, f"{here}-{step}", symlinks=True, ignore=shutil.ignore_patterns(".git"))
    child = os.fork()
    if child == 0:
        os.chdir(f"{here}-{step}")
        out = os.open("printed", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        sys.stdout = open(1, "w", buffering=1, closefd=False)
        run(["as-of", "2024-01-01"])  # a store that knows this very file
        steps(step)
        os._exit(run(command))
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 9:
        break
print(step)
"""


def at_every_step(root: Path, *command: str, torn: bool = False) -> list[Path]:
    """Run a command on copies of a ledger, each killed at another step; the copies, the last one not killed."""
    done = subprocess.run(
        [sys.executable, "-c", STEPS, str(root), "torn" if torn else "whole", *command],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    return [root.with_name(f"{root.name}-{step}") for step in range(1, int(done.stdout) + 1)]


def printed(root: Path) -> str:
    return (root / "printed").read_text()


@pytest.fixture
def begun(repo: Repo) -> Repo:
    """A ledger with two sessions, exported, and three more in a file."""
    repo.apply(session("a1", at="2024-01-01T09:00:00Z"), session("a2", at="2024-01-02T09:00:00Z"))
    repo.write(*(session(f"b{n}", at=f"2024-02-0{n}T09:00:00Z") for n in (1, 2, 3)), name="three.json")
    return repo


@pytest.mark.parametrize(
    ("command", "waiting", "torn"),
    [
        ("apply", False, False),
        ("apply", True, True),
        ("apply --no-export", False, True),
        ("apply --no-export", True, False),
        ("export", False, False),
        ("export", True, False),
        ("rebuild", True, False),
    ],
)
def test_killed_at_every_step_it_recovers(begun, command, waiting, torn):
    if waiting:
        begun.apply(session("w1", at="2024-01-03T09:00:00Z"), flags=("--no-export",))
    root = begun.path
    old = begun.checkpoint.read_bytes()
    words = ["session", "apply", "sessions/three.json", *command.split()[1:]] if command[:5] == "apply" else [command]
    *killed, whole = at_every_step(root, *words, torn=torn)
    new = (whole / "snapshots" / "ledger.json").read_bytes()
    assert len(killed) >= (1 if command == "export" and not waiting else 5)
    for copy in killed:
        now = (copy / "snapshots" / "ledger.json").read_bytes()
        assert now in (old, new)
        is_sound(copy, ["a1", "a2", *(["w1"] if waiting else []), *acknowledged(printed(copy))], old)
        # The same once more, as whoever lost the answer would.
        begun.path = copy
        begun.run(*words)
        assert (copy / "snapshots" / "ledger.json").read_bytes() == new
        is_sound(copy, list(sessions_of(ledger(whole))), old)
        shutil.rmtree(copy)


@pytest.mark.parametrize("way", ["--carry", "--drop x1 --drop x2", "--drop x2"])
def test_a_way_out_that_is_killed_at_every_step_was_taken_or_was_not(begun, way):
    """Sessions of another branch: until they are carried or dropped they stand aside, and are never lost in between."""
    first = begun.checkpoint.read_bytes()
    begun.run("session", "apply", "sessions/three.json")
    x1, x2 = (session(f"x{n}", at=f"2024-03-0{n}T09:00:00Z") for n in (1, 2))
    for document in (x1, x2):  # they replace nothing of the other branch
        del document["decisions"][0]["slot"]
    begun.apply(x1, x2, flags=("--no-export",))
    begun.checkpoint.write_bytes(first)
    assert begun.run("doctor", "--json", code=1).json["checks"][1]["ok"] is False
    *killed, whole = at_every_step(begun.path, "export", *way.split())
    assert len(killed) >= 4
    taken = set(sessions_of(ledger(whole)))
    for copy in killed:
        begun.path = copy
        database = ledger(copy).database
        waiting, here = set(database.aside()), set(sessions_of(ledger(copy)))
        assert answers(database.read(), [NOW]) == answers(rebuilt(database), [NOW])
        assert (waiting, here) in [({"x1", "x2"}, {"a1", "a2"}), (set(database.aside()), taken)]
        assert (copy / "snapshots" / "ledger.json").read_bytes() in (
            first,
            (whole / "snapshots" / "ledger.json").read_bytes(),
        )
        if waiting == {"x1", "x2"}:
            begun.run("export", *way.split())
        elif not waiting:
            begun.run("export")
        assert set(sessions_of(ledger(copy))) == taken
        is_sound(copy, [])
        shutil.rmtree(copy)


def test_a_writer_that_is_killed_leaves_nothing_for_git_to_see(begun):
    """A temporary checkpoint stands beside the real one: the next command takes it away."""
    (begun.path / "snapshots" / ".ledger.json.0123456789ab.tmp").write_bytes(b"half")
    (begun.path / "snapshots" / ".ledger.json.swp").write_bytes(b"an editor's")
    (begun.store / "current.tmp").write_bytes(b"{")
    (begun.store / "s99.kgl.tmp").write_bytes(b"half")
    begun.run("export")
    assert sorted(p.name for p in (begun.path / "snapshots").iterdir()) == [".ledger.json.swp", ".store", "ledger.json"]
    assert not list(begun.store.glob("*tmp"))


# Side by side

QUEUE = """
import json, sys
from pathlib import Path
from ledger_cli.app import run
from tests.test_crashes import session
who, at = sys.argv[1], sys.argv[2:]
sys.stdin.readline()
code = 0
for n in range(10):
    path = Path(f"p{who}-{n}.json")
    path.write_text(json.dumps(session(f"p{who}-{n}", **({"at": at[0]} if at else {}))))
    code |= run(["session", "apply", str(path)])
sys.exit(code)
"""


@pytest.mark.parametrize("at", [(), ("2024-05-01T12:00:00Z",)], ids=["no clock", "one clock"])
def test_eight_processes_of_ten_sessions_each_keep_all_eighty(tmp_path, at):
    Ledger.init(tmp_path)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", QUEUE, str(who), *at],
            cwd=tmp_path,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for who in range(8)
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    done = [(*writer.communicate(), writer.returncode) for writer in writers]
    names = {f"p{who}-{n}" for who in range(8) for n in range(10)}
    assert [code for _, _, code in done] == [0] * 8, done
    assert {name for out, _, _ in done for name in acknowledged(out)} == names
    is_sound(tmp_path, sorted(names))
    found = ledger(tmp_path)
    exported = checkpoint.read(found.database.data())
    assert {e.session for e in exported} == names
    assert not found.database.pending()
    clocks = sorted({e.recorded_at for e in exported})
    assert clocks == ([datetime(2024, 5, 1, 12, tzinfo=UTC)] if at else clocks)
    # Each replaced what held the shared slot: the last one holds, and nothing else.
    answer = found.as_of(datetime(2100, 1, 1, tzinfo=UTC), "orders")
    assert [row.item.slot for row in answer.rows].count("shared") == 1
    assert len(answer.rows) == 1 + 80


# Anything, in any order


class Killed(BaseException):
    """Raised where a process would be gone: nothing it still does may reach the disk."""


def dying(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    """From the step `limit` on, every flush, rename, removal and save dies."""
    count = 0

    def counted(call: Any) -> Any:
        def stepping(*arguments: Any, **options: Any) -> Any:
            nonlocal count
            count += 1
            if count >= limit:
                raise Killed
            return call(*arguments, **options)

        return stepping

    for name in ("fsync", "replace", "unlink", "mkdir", "truncate", "ftruncate"):
        monkeypatch.setattr(os, name, counted(getattr(os, name)))
    monkeypatch.setattr(KgliteEngine, "save", counted(KgliteEngine.save))


class Life:
    """A repository with branches, and all that may happen to it; what was acknowledged is remembered."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root, self.rng = root, random.Random(seed)
        Ledger.init(root)
        self.commits = [self.checkpoint.read_bytes()]
        self.kept: set[str] = set()  # acknowledged, and not given up
        self.log: list[str] = []

    @property
    def checkpoint(self) -> Path:
        return self.root / "snapshots" / "ledger.json"

    @property
    def store(self) -> Path:
        return self.root / "snapshots" / ".store"

    def happens(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """One thing; in half of the cases whoever does it is killed on the way."""
        name = self.rng.choices(list(self.CHANCES), list(self.CHANCES.values()))[0]
        if self.rng.random() < 0.5 and ledger(self.root).database.aside():
            name = self.rng.choice(("carry", "drop"))
        with monkeypatch.context() as patch:
            if name not in ("checkout", "lose_store") and self.rng.random() < 0.5:
                limit = self.rng.randint(1, 14)
                self.log.append(f"{name}, killed at step {limit}")
                dying(patch, limit)
            else:
                self.log.append(name)
            try:
                getattr(self, name)()
            except (Killed, LedgerError) as fault:
                self.log.append(f"  {type(fault).__name__}: {fault}")
        self.is_sound()

    CHANCES = {  # noqa: RUF012
        "apply": 8, "note": 8, "export": 4, "carry": 3, "drop": 2, "read": 4, "rebuild": 1, "checkout": 6,
        "touch": 1, "lose_store": 1,
    }  # fmt: skip

    def _apply(self, *, export: bool) -> None:
        names = [f"s{len(self.log)}-{n}" for n in range(self.rng.choice((1, 1, 3)))]
        documents = [session(name) for name in names]
        for document in documents:  # half of them meet in one slot, and hold on to each other
            if self.rng.random() < 0.5:
                del document["decisions"][0]["slot"]
        taken = session_file.read(json.dumps(documents), "s")
        ledger(self.root).apply(taken, export=export, on_applied=lambda applied: self.kept.add(applied.session))

    def apply(self) -> None:
        self._apply(export=True)

    def note(self) -> None:
        self._apply(export=False)

    def export(self) -> None:
        ledger(self.root).export()

    def carry(self) -> None:
        ledger(self.root).export(carry=True)

    def drop(self) -> None:
        if waiting := list(ledger(self.root).database.pending()):
            given_up = self.rng.sample(waiting, self.rng.randint(1, len(waiting)))
            ledger(self.root).export(drop=given_up)

    def read(self) -> None:
        ledger(self.root).database.read()

    def rebuild(self) -> None:
        ledger(self.root).rebuild()

    def touch(self) -> None:
        os.utime(self.checkpoint)

    def checkout(self) -> None:
        """Commit, and go to any commit there is."""
        self.commits.append(self.checkpoint.read_bytes())
        new = self.root / "git"
        new.write_bytes(self.rng.choice(self.commits))
        new.replace(self.checkpoint)

    def lose_store(self) -> None:
        """All but the journal is a cache."""
        for path in self.store.glob("*"):
            if path.name != "journal.jsonl":
                path.unlink()

    def is_sound(self) -> None:
        database = ledger(self.root).database
        for _ in range(2):  # as it is found, and from what the first reader left behind
            assert answers(database.read(), [NOW]) == answers(rebuilt(database), [NOW]), self.log
        data = database.data()
        assert data == checkpoint.render(checkpoint.read(data)), self.log
        assert ledger(self.root).check().ok, self.log
        places = [{e.session for e in checkpoint.read(each)} for each in [data, *self.commits]]
        found = set(database.pending()).union(*places)
        if "drop" in self.log[-1] or (self.log[-1].startswith("  ") and "drop" in self.log[-2]):
            self.kept &= found  # given up, or not: both are right if the one who asked was killed
        assert self.kept <= found, (self.kept - found, self.log)


@pytest.mark.parametrize("seed", range(8))
def test_whatever_happens_the_store_says_what_the_files_say_and_nothing_is_lost(tmp_path, monkeypatch, seed):
    life = Life(tmp_path, seed)
    for _ in range(25):
        life.happens(monkeypatch)
