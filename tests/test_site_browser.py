"""The site in a real browser, over file://: the sliders, the search and the keys; its answers equal the program's."""

from __future__ import annotations

import contextlib
import io
import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ledger_cli import checkpoint
from ledger_cli.app import run
from ledger_cli.instant import parse, show
from ledger_cli.ledger import Ledger
from ledger_cli.model import Item
from tests.browser import Browser
from tests.commands.conftest import LATER
from tests.commands.test_timeline import HOSTILE
from tests.conftest import DATA, ROOT
from tests.in_memory import invent

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
PAGES = (
    "index.html",
    "timeline.html",
    "entities.html",
    "slots.html",
    "entities/orders.html",
    "items/d7.html",
    "items/f1.html",
)


def ledger(folder: Path, *arguments: str) -> Any:
    """Run a command in a folder; what it said on stdout as JSON (None: nothing)."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = run(["--directory", str(folder), *arguments], clock=lambda: NOW)
    assert code == 0, err.getvalue()
    return json.loads(out.getvalue()) if "--json" in arguments else None


def made(folder: Path) -> Path:
    ledger(folder, "site", "out")
    return folder / "out"


@pytest.fixture(scope="module")
def story_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The orders story and what came later, with its site in `out`."""
    folder = tmp_path_factory.mktemp("story")
    ledger(folder, "init")
    ledger(folder, "session", "apply", *map(str, sorted((ROOT / "sessions").glob("*.yaml"))))
    (folder / "later.json").write_text(json.dumps(LATER))
    ledger(folder, "session", "apply", str(folder / "later.json"))
    made(folder)
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    found = Browser(tmp_path_factory.mktemp("browser"))
    found.size(1280, 900)
    yield found
    found.close()


@pytest.fixture(autouse=True)
def nothing_from_outside_and_no_fault(browser: Browser) -> Iterator[None]:
    """Whatever a test does: no address but those of files, and no error of a script."""
    browser.asked.clear()
    browser.faults.clear()
    yield
    browser.run("1")
    assert [a for a in browser.asked if not a.startswith(("file:///", "data:,", "about:blank"))] == []
    assert browser.faults == []


def address(folder: Path, page: str, fragment: str = "") -> str:
    return (folder / "out" / page).as_uri() + fragment


LIT = """[...document.querySelectorAll('li.item.holds, #elsewhere a')].map((e) => e.dataset.id).sort()"""
ASK = """(async (pairs) => {
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
    found: list[list[str]] = browser.run(f"{ASK % LIT}({json.dumps(pairs)})")
    return found


def believed(folder: Path, entity: str | None, valid: str, known: str) -> list[str]:
    about = [entity] if entity is not None else []
    items = ledger(folder, "believed", *about, valid, "--known", known, "--json")["items"]
    return sorted(i["id"] for i in items)


# Answers


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
    files = dict(_entities(folder))
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


def _entities(folder: Path) -> list[tuple[str, str]]:
    """Every entity of a site, with its page."""
    text = (folder / "out" / "data" / "index.js").read_text(encoding="utf-8")
    found = json.loads(text.removeprefix("ledger.index(").removesuffix(");\n"))
    return [(name, path) for name, path in found["entities"]]


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


# Sliders


def values(browser: Browser) -> list[str]:
    found: list[str] = browser.run("['valid', 'known'].map((name) => document.getElementById(name).value)")
    return found


RIGHT, LEFT, DOWN, UP, END, HOME, ENTER, ESCAPE = (
    ("ArrowRight", 39), ("ArrowLeft", 37), ("ArrowDown", 40), ("ArrowUp", 38), ("End", 35), ("Home", 36),
    ("Enter", 13, "\r"), ("Escape", 27),
)  # fmt: skip


def test_the_arrow_keys_move_a_slider_by_a_day_and_light_up_what_holds(browser: Browser, story_folder: Path) -> None:
    browser.open(address(story_folder, "entities/orders.html", "#valid=2024-01-20&known=2024-01-20"))
    for name, axis in (("known", 1), ("valid", 0)):
        browser.run(f"document.getElementById('{name}-slide').focus()")
        for key, days in [(RIGHT, 1)] * 14 + [(LEFT, -1)] * 3:
            before = values(browser)
            browser.press(*key)
            after = values(browser)
            assert parse(after[axis]) - parse(before[axis]) == timedelta(days=days)
            assert after[1 - axis] == before[1 - axis]
            assert browser.run(LIT) == believed(story_folder, "orders", *after)
            said = browser.run(f"document.getElementById('{name}-slide').getAttribute('aria-valuetext')")
            assert said == after[axis]


def test_the_end_of_record_time_is_all_that_is_known_and_its_start_nothing(
    browser: Browser, story_folder: Path
) -> None:
    browser.open(address(story_folder, "entities/orders.html", "#valid=2024-02-10&known=2024-02-10"))
    browser.run("document.getElementById('known-slide').focus()")
    browser.press(*END)
    assert values(browser) == ["2024-02-10", "now"]
    assert browser.run(LIT) == sorted(
        i["id"] for i in ledger(story_folder, "as-of", "orders", "2024-02-10", "--json")["items"]
    )
    browser.press(*HOME)
    assert browser.run(LIT) == []


def test_the_brackets_go_to_the_next_change(browser: Browser, story_folder: Path) -> None:
    browser.open(address(story_folder, "entities/orders.html", "#valid=2024-01-05&known=2024-01-05"))
    browser.run("document.getElementById('main').focus()")
    steps = [("]", ["2024-01-10", "2024-01-05"]), ("}", ["2024-01-10", "2024-02-01T09:00:00Z"])]
    steps += [("{", ["2024-01-10", "2024-01-01T09:00:00Z"]), ("[", ["2024-01-01", "2024-01-01T09:00:00Z"])]
    for key, wanted in steps:
        browser.press(key)
        assert values(browser) == wanted


def test_the_two_buttons_ask_the_two_questions(browser: Browser, story_folder: Path) -> None:
    browser.open(address(story_folder, "entities/orders.html", "#valid=2024-01-20&known=2024-03-01"))
    browser.run("document.getElementById('on-the-day').click()")
    assert (values(browser), browser.run(LIT)) == (["2024-01-20", "2024-01-20"], ["d1"])
    browser.run("document.getElementById('all-known').click()")
    assert (values(browser), browser.run(LIT)) == (["2024-01-20", "now"], ["d4"])
    said = browser.run("document.getElementById('answer').textContent")
    assert said == "1 item holds on 2024-01-20, with all that is known now (of 4)."


@pytest.mark.parametrize("wrong", ["monday", "2024-02-30", "2024-13-01", "2024-01-01T25:00:00Z", "20240101", ""])
def test_what_is_no_time_is_said_to_be_none_and_changes_nothing(
    browser: Browser, story_folder: Path, wrong: str
) -> None:
    browser.open(address(story_folder, "entities/orders.html", "#valid=2024-01-20&known=2024-01-20"))
    assert asked(browser, [(wrong, "2024-01-20")]) == [["d1"]]
    browser.run(f"document.getElementById('valid').value = {json.dumps(wrong)}")
    browser.run("document.getElementById('valid').dispatchEvent(new Event('change'))")
    assert "Write a time as" in browser.run("document.getElementById('wrong').textContent")
    assert browser.run("document.getElementById('valid').getAttribute('aria-invalid')") == "true"


def test_times_are_read_as_the_program_reads_them(browser: Browser, story_folder: Path) -> None:
    browser.open(address(story_folder, "entities/orders.html"))
    for text in (
        "2024-02-01T10:00:00+01:00",
        "2024-02-01T09:00:00.000001Z",
        "2024-02-01T08:59:59.999999Z",
        "0001-01-01",
    ):
        assert asked(browser, [("2024-01-20", text)]) == [believed(story_folder, "orders", "2024-01-20", text)]


# Permalinks


def test_an_address_asks_a_question_and_a_question_changes_the_address(browser: Browser, story_folder: Path) -> None:
    browser.open(address(story_folder, "entities/orders.html", "#valid=2024-01-20&known=2024-02-01T09:00:00"))
    assert values(browser) == ["2024-01-20", "2024-02-01T09:00:00Z"]
    assert browser.run(LIT) == ["d4"]
    asked(browser, [("2024-02-10", "2024-02-10")])
    browser.wait("location.hash === '#valid=2024-02-10&known=2024-02-10'")
    browser.run("location.hash = '#valid=2024-01-05&known=2024-01-05'")
    browser.wait(f"JSON.stringify({LIT}) === '[\"d1\"]'")


def test_the_filter_of_the_timeline_stands_in_the_address(browser: Browser, story_folder: Path) -> None:
    browser.open(address(story_folder, "timeline.html", "#valid=2024-02-10&known=2024-02-10&which=orders&only=1"))
    browser.wait("document.documentElement.dataset.ready")
    shown = "[...document.querySelectorAll('li.item')].map((e) => e.dataset.id).sort()"
    assert browser.run(shown) == browser.run(LIT) == believed(story_folder, "orders", "2024-02-10", "2024-02-10")
    browser.run("document.getElementById('which').value = 'search/engine'")
    browser.run("document.getElementById('only').checked = false")
    browser.run("document.getElementById('which').dispatchEvent(new Event('change'))")
    assert browser.run(shown) == ["d11", "d2", "d7"]
    browser.wait("location.hash === '#valid=2024-02-10&known=2024-02-10&which=search%2Fengine'")


def test_an_address_of_a_part_of_a_page_goes_there(browser: Browser, story_folder: Path) -> None:
    browser.size(1280, 300)
    browser.open(address(story_folder, "items/d10.html", "#reviews"))
    browser.wait("scrollY > 0")
    browser.size(1280, 900)
    assert browser.run("document.getElementById('reviews').getBoundingClientRect().top") < 300


# Search


def found(browser: Browser, words: str) -> list[str]:
    browser.run("document.getElementById('words').value = ''; document.getElementById('words').focus()")
    browser.type(words)
    browser.wait("document.getElementById('found').textContent")
    links: list[str] = browser.run("[...document.querySelectorAll('#results a')].map((a) => a.getAttribute('href'))")
    return [link.rsplit("../", 1)[-1] for link in links]


def test_a_slash_goes_to_the_search_and_arrows_and_enter_to_what_it_found(browser: Browser, story_folder: Path) -> None:
    browser.open(address(story_folder, "index.html"))
    browser.press("/")
    browser.type("cache redis")
    browser.wait("document.querySelectorAll('#results a').length === 1")
    assert browser.run("document.getElementById('found').textContent") == "1 found"
    browser.press(*DOWN)
    assert browser.run("document.activeElement.getAttribute('href')") == "items/d6.html"
    browser.press(*UP)
    assert browser.run("document.activeElement.id") == "words"
    browser.press(*ENTER)
    browser.wait("location.pathname.endsWith('/items/d6.html')")


def test_the_search_finds_by_text_id_slot_and_entity(browser: Browser, story_folder: Path) -> None:
    browser.open(address(story_folder, "items/d1.html"))
    assert found(browser, "D4")[0] == "items/d4.html"
    assert found(browser, "payments")[0] == "entities/payments.html"
    assert found(browser, "EUROS charge") == ["items/d10.html"]
    assert set(found(browser, "search/engine")) == {"items/d2.html", "items/d7.html", "items/d11.html"}
    assert found(browser, "nothing like it") == []
    browser.press(*ESCAPE)
    assert browser.run("[document.getElementById('words').value, document.getElementById('results').hidden]") == [
        "",
        True,
    ]


def test_keys_typed_into_a_field_are_text(browser: Browser, story_folder: Path) -> None:
    browser.open(address(story_folder, "entities/orders.html", "#valid=2024-01-20&known=2024-01-20"))
    browser.run("document.getElementById('words').focus()")
    for key in "/[]":
        browser.press(key)
    assert browser.run("document.getElementById('words').value") == "/[]"
    assert values(browser) == ["2024-01-20", "2024-01-20"]


# Hostile texts


def test_hostile_texts_are_text_in_the_browser(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("hostile")
    ledger(folder, "init")
    items = [
        {"id": f"i{n}", "text": text, "about": ["</script> it"], "slot": f"<s>{n}"} for n, text in enumerate(HOSTILE)
    ]
    (folder / "s.json").write_text(json.dumps({"session": "s", "decisions": items}))
    ledger(folder, "session", "apply", str(folder / "s.json"))
    made(folder)
    [(_, entity)] = _entities(folder)
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


# Looks, and who cannot look


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
    assert [browser.run(f"({shown})('{s}')") for s in ("header", ".slide", ".choices", ".keys")] == [False] * 4
    assert [browser.run(f"({shown})('{s}')") for s in ("#answer", ".item", ".drawn", ".times")] == [True] * 4
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    browser.prefer("light")


def test_the_last_step_of_a_slider_is_no_later_than_the_last_year(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("last")
    ledger(folder, "init")
    item = {"id": "d1", "text": "for good", "about": ["orders"], "validFrom": "2024-01-01"}
    end = {"id": "d2", "text": "nearly", "about": ["orders"], "validFrom": "2024-01-01", "validTo": "9999-12-31"}
    session = {"session": "s", "at": "2024-01-01T00:00:00Z", "decisions": [item, end]}
    (folder / "s.json").write_text(json.dumps(session))
    ledger(folder, "session", "apply", str(folder / "s.json"))
    made(folder)
    browser.open(address(folder, "entities/orders.html"))
    browser.run(
        "(() => { for (const name of ['known', 'valid']) { const slide = document.getElementById(name + '-slide');"
        " slide.value = String(Number(slide.max) - (name === 'known')); slide.dispatchEvent(new Event('input')); } })()"
    )
    valid, known = (browser.run(f"document.getElementById('{name}').value") for name in ("valid", "known"))
    assert (valid, known) == ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z")
    assert browser.run(LIT) == believed(folder, "orders", valid, known) == ["d1"]
