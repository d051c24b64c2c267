"""Sites of ledgers in a real browser: what the tests of pages share."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ledger_cli.app import run
from tests.browser import Browser
from tests.commands.conftest import LATER
from tests.conftest import ROOT

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
"""When the sites of these tests are built."""


def ledger(folder: Path, *arguments: str) -> Any:
    """Run a command in a folder; what it said on stdout as JSON (None: nothing)."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = run(["--directory", str(folder), *arguments], clock=lambda: NOW)
    assert code == 0, err.getvalue()
    return json.loads(out.getvalue()) if "--json" in arguments else None


def made(folder: Path) -> Path:
    """The site of the ledger in a folder, in `out`."""
    ledger(folder, "site", "out")
    return folder / "out"


def applied(folder: Path, *sessions: dict[str, Any]) -> Path:
    """A new ledger of these sessions in a folder, with its site; the folder."""
    ledger(folder, "init")
    if sessions:
        (folder / "s.json").write_text(json.dumps(sessions))
        ledger(folder, "session", "apply", str(folder / "s.json"))
    made(folder)
    return folder


@pytest.fixture(scope="session")
def story_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The orders story and what came later, with its site in `out`."""
    folder = tmp_path_factory.mktemp("story")
    ledger(folder, "init")
    ledger(folder, "session", "apply", *map(str, sorted((ROOT / "sessions").glob("*.yaml"))))
    (folder / "later.json").write_text(json.dumps(LATER))
    ledger(folder, "session", "apply", str(folder / "later.json"))
    made(folder)
    return folder


@pytest.fixture(scope="session")
def one_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    found = Browser(tmp_path_factory.mktemp("browser"))
    found.size(1280, 900)
    yield found
    found.close()


@pytest.fixture
def browser(one_browser: Browser) -> Iterator[Browser]:
    """A browser. Whatever a test does in it: no address but those of files, and no error of a script."""
    one_browser.asked.clear()
    one_browser.faults.clear()
    one_browser.size(1280, 900)
    one_browser.prefer("light")
    yield one_browser
    one_browser.run("1")
    assert [a for a in one_browser.asked if not a.startswith(("file:///", "data:,", "about:blank"))] == []
    assert one_browser.faults == []


def address(folder: Path, page: str, fragment: str = "") -> str:
    return (folder / "out" / page).as_uri() + fragment


def opened(browser: Browser, folder: Path, page: str, fragment: str = "") -> None:
    """Open a page of the site in a folder, and wait until it is ready."""
    browser.open(address(folder, page, fragment))
    if page == "timeline.html":
        browser.wait("document.documentElement.dataset.ready")


def entities(folder: Path) -> dict[str, str]:
    """Every entity of a site, with its page."""
    text = (folder / "out" / "data" / "index.js").read_text(encoding="utf-8")
    found = json.loads(text.removeprefix("ledger.index(").removesuffix(");\n"))
    return dict(found["entities"])


LIT = """[...document.querySelectorAll('li.item.holds, #elsewhere a')].map((e) => e.dataset.id).sort()"""
_ASK = """(async (pairs) => {
  const answers = [];
  for (const [valid, known] of pairs) {
    for (const [name, at] of [['valid', valid], ['known', known]]) {
      document.getElementById(name).value = at;
      document.getElementById(name).dispatchEvent(new Event('change'));
    }
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    answers.push(%s);
  }
  return answers;
})"""


def asked(browser: Browser, pairs: list[tuple[str, str]]) -> list[list[str]]:
    """What is lit for each pair of times, typed into the page."""
    found: list[list[str]] = browser.run(f"{_ASK % LIT}({json.dumps(pairs)})")
    return found


def believed(folder: Path, entity: str | None, valid: str, known: str) -> list[str]:
    about = [entity] if entity is not None else []
    items = ledger(folder, "believed", *about, valid, "--known", known, "--json")["items"]
    return sorted(i["id"] for i in items)


def true(folder: Path, entity: str | None, valid: str) -> list[str]:
    about = [entity] if entity is not None else []
    return sorted(i["id"] for i in ledger(folder, "as-of", *about, valid, "--json")["items"])


def values(browser: Browser) -> list[str]:
    """The two times that a page asks for."""
    found: list[str] = browser.run("['valid', 'known'].map((name) => document.getElementById(name).value)")
    return found


def said(browser: Browser, id: str) -> str:
    """What an element says."""
    return str(browser.run(f"document.getElementById({json.dumps(id)}).textContent"))


RIGHT, LEFT, DOWN, UP, END, HOME, ENTER, ESCAPE = (
    ("ArrowRight", 39), ("ArrowLeft", 37), ("ArrowDown", 40), ("ArrowUp", 38), ("End", 35), ("Home", 36),
    ("Enter", 13, "\r"), ("Escape", 27),
)  # fmt: skip
