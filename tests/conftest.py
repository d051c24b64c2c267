"""A real git repository a test, HOME and git's own settings cut off, and the command line run in-process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from ledger_cli.app import run

settings.register_profile("suite", deadline=None, print_blob=True)
settings.load_profile("suite")

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "data"
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
"""What the clock of a test says, unless the test sets it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="Write the golden files anew; review them as a diff.")


@pytest.fixture(autouse=True)
def cut_off(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the machine or its user reaches a test."""
    home = tmp_path_factory.mktemp("home")
    for name in [n for n in os.environ if n == "SKIP" or n.startswith(("GIT_", "LEDGER_", "PRE_COMMIT"))]:
        monkeypatch.delenv(name)
    for name, value in {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CEILING_DIRECTORIES": str(tmp_path_factory.getbasetemp().resolve()),
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.invalid",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.invalid",
        "COLUMNS": "100",
    }.items():
        monkeypatch.setenv(name, value)


@dataclass(frozen=True)
class Said:
    """What a command left: its exit code, stdout and stderr."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def ids(self) -> list[str]:
        return [item["id"] for item in self.json["items"]]


class Repo:
    """A repository with a ledger, and a hand on the command line."""

    def __init__(self, path: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.path = path
        self.capture = capture
        self.now = NOW
        self.files = 0

    @property
    def checkpoint(self) -> Path:
        return self.path / "snapshots" / "ledger.json"

    @property
    def store(self) -> Path:
        return self.path / "snapshots" / ".store"

    def run(self, *arguments: str | Path, code: int | None = 0) -> Said:
        """Run a command in the repository, in this process; `code` is the exit code it must have (None: any)."""
        self.capture.readouterr()
        before = Path.cwd()
        os.chdir(self.path)
        try:
            got = run([str(a) for a in arguments], clock=lambda: self.now)
        finally:
            os.chdir(before)
        out, err = self.capture.readouterr()
        said = Said(got, out, err)
        if code is not None:
            assert got == code, f"ledger {' '.join(map(str, arguments))}: exit {got}, not {code}\n{out}\n{err}"
        return said

    def write(self, *sessions: dict[str, Any], name: str = "") -> Path:
        """Write sessions to a JSON file in sessions/."""
        self.files += 1
        path = self.path / "sessions" / (name or f"s{self.files:03}.json")
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(list(sessions), ensure_ascii=False), encoding="utf-8")
        return path

    def apply(self, *sessions: dict[str, Any], code: int | None = 0, flags: tuple[str, ...] = ()) -> Said:
        """Apply sessions given as in a JSON session file."""
        return self.run("session", "apply", self.write(*sessions), "--json", *flags, code=code)

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.path, capture_output=True, text=True, check=True)
        return done.stdout


@pytest.fixture
def repo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repo:
    """An empty ledger in a git repository of its own."""
    made = Repo(tmp_path / "repo", capsys)
    made.path.mkdir()
    made.git("init", "-q", "-b", "main")
    made.run("init")
    return made


@pytest.fixture
def story(repo: Repo) -> Repo:
    """The orders story, applied."""
    repo.run("session", "apply", *sorted((ROOT / "sessions").glob("*.yaml")))
    return repo


@pytest.fixture
def ledger_process() -> Iterator[Callable[..., subprocess.CompletedProcess[str]]]:
    """Run the command line as a process of its own: for kills, locks and locales."""

    def start(*arguments: str, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "ledger_cli", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}
        return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, **options)

    yield start


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `ledger` on the path that is the one under test, whatever is installed."""
    path = tmp_path / "bin" / "ledger"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m ledger_cli "$@"\n')
    path.chmod(0o755)
    folders = [str(path.parent), str(Path(sys.executable).parent), os.environ["PATH"]]
    monkeypatch.setenv("PATH", os.pathsep.join(folders))
    return path
