"""What a page opens on: the moment that the site was built for, or the question in its address; and the way back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser import Browser
from tests.site.conftest import LIT, NOW, ledger, opened, said, true, values

BUILT = "2024-06-01T12:00:00Z"


@pytest.mark.parametrize("page", ["timeline.html", "entities/orders.html", "items/d7.html"])
def test_a_page_opens_on_the_moment_it_was_built_for(browser: Browser, story_folder: Path, page: str) -> None:
    opened(browser, story_folder, page)
    assert values(browser) == [BUILT, "now"]
    assert f"on {BUILT}, when this page was built, with all that is known now" in said(browser, "answer")
    about = {"entities/orders.html": "orders", "items/d7.html": "search"}.get(page)
    assert browser.run(LIT) == true(story_folder, about, "now")


def test_what_it_opens_on_is_what_the_overview_calls_current(browser: Browser, story_folder: Path) -> None:
    current = {row["current"]["id"] for row in ledger(story_folder, "slots", "--json")["slots"] if row["current"]}
    opened(browser, story_folder, "index.html")
    rows = "[...document.querySelectorAll('tr')].filter((r) => r.querySelector('.current'))"
    assert set(browser.run(f"{rows}.map((r) => r.querySelector('.id').textContent)")) == current
    opened(browser, story_folder, "timeline.html")
    assert current <= set(browser.run(LIT))


def test_every_page_says_when_it_was_built_and_the_latest_record_it_knows(browser: Browser, story_folder: Path) -> None:
    sessions = ledger(story_folder, "session", "list", "--json")["sessions"]
    latest = max(sessions, key=lambda s: (s["at"], s["session"]))
    for page in sorted((story_folder / "out").rglob("*.html")):
        browser.open(page.as_uri())
        assert browser.run("document.querySelectorAll('.built').length") == 1
        times = browser.run("[...document.querySelectorAll('.built time')].map((t) => t.getAttribute('datetime'))")
        assert times == [BUILT, latest["at"]], page
        assert latest["session"] in browser.run("document.querySelector('.built').textContent")
    assert f"{NOW:%Y-%m-%dT%H:%M:%SZ}" == BUILT


def test_zero_brings_both_sliders_back_to_what_the_page_opened_on(browser: Browser, story_folder: Path) -> None:
    opened(browser, story_folder, "entities/orders.html", "#valid=2024-01-20&known=2024-01-20")
    browser.run("document.getElementById('valid-slide').focus()")
    browser.press("0")
    assert values(browser) == [BUILT, "now"]
    assert browser.run(LIT) == true(story_folder, "orders", "now")
    # In a field it is a digit.
    browser.run("document.getElementById('valid').select()")
    browser.press("0")
    assert values(browser) == ["0", "now"]


@pytest.mark.parametrize(
    ("zone", "day"), [("America/New_York", "2024-01-20"), ("Pacific/Kiritimati", "2024-01-21"), ("UTC", "2024-01-21")]
)
def test_today_is_the_visitors_day(browser: Browser, story_folder: Path, zone: str, day: str) -> None:
    clock = (
        "Date = class extends Date { constructor(...at) { super(...(at.length ? at : ['2024-01-21T03:00:00Z'])); } }"
    )
    browser.call("Emulation.setTimezoneOverride", timezoneId=zone)
    opened(browser, story_folder, "entities/orders.html", "#valid=2024-03-20&known=2024-01-20")
    browser.run(f"{clock}; document.getElementById('today').click()")
    browser.call("Emulation.setTimezoneOverride", timezoneId="")
    assert values(browser) == [day, "now"]
    assert browser.run(LIT) == true(story_folder, "orders", day)


@pytest.mark.parametrize("day", ["0001-01-01", "1999-12-31", "2100-01-01", "9999-12-31T23:59:59.999999Z"])
def test_an_address_may_ask_for_a_day_that_is_not_drawn(browser: Browser, story_folder: Path, day: str) -> None:
    opened(browser, story_folder, "entities/orders.html", f"#valid={day}")
    assert values(browser) == [day, "now"]
    assert browser.run(LIT) == true(story_folder, "orders", day)
    slide = browser.run("(({value, max}) => [Number(value), Number(max)])(document.getElementById('valid-slide'))")
    assert slide[0] == (0 if day < "2024" else slide[1])
    asked = browser.run("parseFloat(document.querySelector('.bars .asked').getAttribute('x1'))")
    assert asked == (0 if day < "2024" else 100)


@pytest.mark.parametrize(
    ("fragment", "wanted", "wrong"),
    [
        ("#valid=monday&known=2024-01-20", [BUILT, "2024-01-20"], "valid"),
        ("#valid=2024-01-20&known=2024-02-31", ["2024-01-20", "now"], "known"),
        ("#valid=&known=%", [BUILT, "now"], "valid, known"),
        ("#valid=%3Cscript%3Ealert(1)%3C/script%3E", [BUILT, "now"], "valid"),
        ("#valid=now&known=now", [BUILT, "now"], ""),
        ("#=", [BUILT, "now"], ""),
    ],
)
def test_an_address_that_asks_for_no_time_opens_on_the_moment_and_says_so(
    browser: Browser, story_folder: Path, fragment: str, wanted: list[str], wrong: str
) -> None:
    opened(browser, story_folder, "entities/orders.html", fragment)
    assert values(browser) == wanted
    assert said(browser, "wrong") == (wrong and f"The address has no time that can be read for: {wrong}.")
    browser.press("0")
    assert said(browser, "wrong") == ""
