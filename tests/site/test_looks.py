"""How the pages look, and what they tell those who cannot look; and hostile texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.browser import Browser
from tests.commands.test_timeline import HOSTILE
from tests.conftest import DATA
from tests.site.conftest import address, entities, ledger, made, opened

PAGES = (
    "index.html",
    "timeline.html",
    "entities.html",
    "slots.html",
    "entities/orders.html",
    "items/d7.html",
    "items/f1.html",
)


def test_hostile_texts_are_text_in_the_browser(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("hostile")
    ledger(folder, "init")
    items = [
        {"id": f"i{n}", "text": text, "about": ["</script> it"], "slot": f"<s>{n}"} for n, text in enumerate(HOSTILE)
    ]
    (folder / "s.json").write_text(json.dumps({"session": "s", "decisions": items}))
    ledger(folder, "session", "apply", str(folder / "s.json"))
    made(folder)
    [entity] = entities(folder).values()
    browser.open(address(folder, "timeline.html"))
    browser.wait("document.documentElement.dataset.ready")
    for page in ("", entity, "items/i0.html"):
        if page:
            browser.open(address(folder, page))
        assert (
            browser.run(
                "document.querySelectorAll('script:not([src]):not([type]), li b, li s, svg svg[onload]').length"
            )
            == 0
        )
        said = browser.run("[...document.querySelectorAll('li.item .said')].map((e) => e.textContent)")
        for text in HOSTILE if page != "items/i0.html" else HOSTILE[:1]:
            whole = " ".join(text.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd").split())[:100]
            assert any(whole[:100] in one.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd") for one in said), text
    browser.size(400, 800)
    browser.open(address(folder, entity))
    assert browser.run("document.documentElement.scrollWidth") <= 400
    browser.size(1280, 900)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_no_page_has_a_fault_of_accessibility_or_is_wider_than_the_window(
    browser: Browser, story_folder: Path, scheme: str, width: int
) -> None:
    axe = (DATA / "axe" / "axe.min.js").read_text(encoding="utf-8")
    browser.size(width, 900)
    browser.prefer(scheme)
    for page in PAGES:
        browser.open(address(story_folder, page, "#valid=2024-02-10&known=2024-02-10"))
        if page == "timeline.html":
            browser.wait("document.documentElement.dataset.ready")
        browser.run(f"{axe}; 0")
        got = browser.run(
            "axe.run(document, {preload: false}).then((r) => JSON.stringify([r.violations, r.passes.length]))"
        )
        violations, passes = json.loads(got)
        told = [(v["id"], v["impact"], v["nodes"][0]["html"]) for v in violations]
        assert told == [], (page, told)
        assert passes > 20
        assert browser.run("document.documentElement.scrollWidth") <= width, page
    browser.size(1280, 900)
    browser.prefer("light")


def test_what_holds_is_said_in_words_too(browser: Browser, story_folder: Path) -> None:
    browser.open(address(story_folder, "entities/orders.html", "#valid=2024-01-20&known=2024-01-20"))
    said = browser.run(
        "[...document.querySelectorAll('li.item')].map((e) => [e.dataset.id, e.querySelector('.state').textContent])"
    )
    assert {id for id, state in said if state == "holds"} == {"d1"}
    assert {state for id, state in said if id != "d1"} == {""}
    roles = browser.run("[...document.querySelectorAll('[role=status]')].map((e) => e.id)")
    assert {"answer", "found", "wrong"} <= set(roles)


def test_on_paper_the_answer_stays_and_what_is_to_be_pressed_goes(browser: Browser, story_folder: Path) -> None:
    browser.prefer("dark", "print")
    browser.open(address(story_folder, "entities/orders.html", "#valid=2024-01-20&known=2024-01-20"))
    shown = "(s) => getComputedStyle(document.querySelector(s)).display !== 'none'"
    assert [browser.run(f"({shown})('{s}')") for s in ("nav", "#search", "#question .axis", ".choices", ".keys")] == [
        False
    ] * 5
    assert [browser.run(f"({shown})('{s}')") for s in (".built", "#answer", ".item", ".drawn", ".times")] == [True] * 5
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    browser.prefer("light")


def test_in_a_narrow_window_nothing_has_to_be_scrolled_sideways(browser: Browser, story_folder: Path) -> None:
    browser.size(400, 900)
    scrolled = "[...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth).length"
    for page in (*PAGES, "items/d10.html", "items/d3.html"):
        opened(browser, story_folder, page)
        assert browser.run(scrolled) == 0, page
        broken = "[...document.querySelectorAll('time, .at')].filter((e) => e.getClientRects().length > 1)"
        assert browser.run(f"{broken}.map((e) => e.textContent)") == [], page
        browser.press("/")
        browser.type("no such thing" if page == "index.html" else "orders")
        browser.wait("document.getElementById('found').textContent")
        assert browser.run("document.documentElement.scrollWidth") <= 400, page
    browser.size(1280, 900)


def test_what_is_to_be_pressed_is_large_enough_for_a_finger(browser: Browser, story_folder: Path) -> None:
    browser.size(400, 900)
    opened(browser, story_folder, "entities/orders.html")
    low = "[...document.querySelectorAll('nav a, button, input, summary')].filter((e) => {"
    low += "const {height, width} = e.getBoundingClientRect(); return height < 24 || width < 24; })"
    assert browser.run(f"{low}.map((e) => e.outerHTML)") == []
    browser.size(1280, 900)


def test_found_things_are_no_fault_of_accessibility(browser: Browser, story_folder: Path) -> None:
    axe = (DATA / "axe" / "axe.min.js").read_text(encoding="utf-8")
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        opened(browser, story_folder, "items/d7.html")
        browser.press("/")
        browser.type("orders")
        browser.wait("document.querySelectorAll('#results mark').length")
        browser.press("ArrowDown", 40)
        browser.run(f"{axe}; 0")
        told = browser.run(
            "axe.run(document, {preload: false}).then((r) => r.violations.map((v) => [v.id, v.nodes[0].html]))"
        )
        assert told == [], scheme
    browser.prefer("light")
