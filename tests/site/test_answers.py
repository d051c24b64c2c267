"""The site in a real browser, over file://: its answers equal the program's."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path

import pytest

from ledger_cli import checkpoint
from ledger_cli.instant import show
from ledger_cli.ledger import Ledger
from ledger_cli.model import Item
from tests.browser import Browser
from tests.in_memory import invent
from tests.site.conftest import LIT, address, asked, believed, entities, ledger, made


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_lights_up_is_what_believed_says_for_random_histories(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    folder, memory, rng = tmp_path_factory.mktemp("invented"), invent(seed, sessions=30), random.Random(seed)
    Ledger.init(folder)
    (folder / "snapshots" / "ledger.json").write_bytes(checkpoint.render(memory.entries))
    made(folder)
    items = [e for e in memory.entries if isinstance(e, Item)]
    bounds = sorted({i.valid_from for i in items} | {e.recorded_at for e in memory.entries})
    moments = [at + by for at in bounds for by in (timedelta(), timedelta(microseconds=-1), timedelta(hours=5))]
    files = entities(folder)
    compared = 0
    names = sorted({name for item in items for name in item.about}, key=lambda n: (n.casefold(), n))
    for name in rng.sample(names, min(6, len(names))):
        pairs = [(show(rng.choice(moments)), show(rng.choice(moments))) for _ in range(16)]
        path = next(path for known, path in files.items() if known.casefold() == name.casefold())
        browser.open(address(folder, path))
        for (valid, known), lit in zip(pairs, asked(browser, pairs), strict=True):
            assert lit == believed(folder, name, valid, known), (name, valid, known)
            compared += 1
    assert compared >= 70


def test_the_timeline_of_all_answers_as_believed_of_all(browser: Browser, story_folder: Path) -> None:
    browser.open(address(story_folder, "timeline.html"))
    browser.wait("document.documentElement.dataset.ready")
    times = ["2024-01-05", "2024-01-20", "2024-02-10", "2024-03-01", "2024-03-20T09:00:00Z", "2024-04-05", "2026-10-01"]
    pairs = [(valid, known) for valid in times for known in times]
    for (valid, known), lit in zip(pairs, asked(browser, pairs), strict=True):
        assert lit == believed(story_folder, None, valid, known), (valid, known)


def test_as_known_now_it_is_what_was_true(browser: Browser, story_folder: Path) -> None:
    browser.open(address(story_folder, "entities/orders.html"))
    days = ["2024-01-05", "2024-01-20", "2024-02-10", "2024-03-15"]
    for day, lit in zip(days, asked(browser, [(day, "now") for day in days]), strict=True):
        assert lit == sorted(i["id"] for i in ledger(story_folder, "as-of", "orders", day, "--json")["items"])


def test_the_first_answer_is_that_of_the_moment_the_site_was_made(browser: Browser, story_folder: Path) -> None:
    now = sorted(i["id"] for i in ledger(story_folder, "as-of", "now", "--json")["items"])
    browser.open(address(story_folder, "timeline.html"))
    browser.wait("document.documentElement.dataset.ready")
    assert browser.run(LIT) == now


def test_the_bars_are_those_that_were_known_then(browser: Browser, story_folder: Path) -> None:
    browser.open(address(story_folder, "entities/orders.html", "#valid=2024-01-20&known=2024-01-20"))
    drawn = "[...document.querySelectorAll('li[data-id=d1] .valid:not(.tip)')]"
    bars = f"{drawn}.map((e) => parseFloat(e.getAttribute('width')))"
    tips = "document.querySelectorAll('li[data-id=d1] .valid.tip').length"
    [believed_open] = browser.run(bars)
    assert browser.run(tips) == 1
    asked(browser, [("2024-01-20", "now")])
    [true_closed] = browser.run(bars)
    assert browser.run(tips) == 0
    assert true_closed < believed_open / 3
    assert browser.run("document.querySelectorAll('li[data-id=d4] .held *').length") > 0
    asked(browser, [("2024-01-20", "2024-01-20")])
    assert browser.run("document.querySelectorAll('li[data-id=d4] .held *').length") == 0  # not recorded yet
