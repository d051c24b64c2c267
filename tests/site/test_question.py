"""The two sliders, the keys, the buttons, and the addresses that keep a question."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from ledger_cli.instant import parse, show
from tests.browser import Browser
from tests.site.conftest import (
    END,
    ENTER,
    HOME,
    LEFT,
    LIT,
    RIGHT,
    address,
    applied,
    asked,
    believed,
    ledger,
    made,
    opened,
    values,
)


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


@pytest.mark.parametrize(
    "wrong",
    [
        *("monday", "2024-02-30", "2024-13-01", "2024-01-01T25:00:00Z", "20240101", ""),
        *("2024-02-01T10:00:00+99:99", "2024-02-01T10:00:00+24:00", "2024-02-01T10:00:00-01:60"),
    ],
)
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
        "2024-02-01T03:59:59-05:00",
        "2024-02-01T04:00:00-05:00",
        "2024-02-01T09:00:00.000001Z",
        "2024-02-01T08:59:59.999999Z",
        "0001-01-01",
    ):
        assert asked(browser, [("2024-01-20", text)]) == [believed(story_folder, "orders", "2024-01-20", text)]


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


def test_an_address_of_a_part_of_a_page_asks_nothing_new(browser: Browser, story_folder: Path) -> None:
    opened(browser, story_folder, "items/d10.html", "#valid=2024-03-16&known=2024-03-20T09:00:00")
    before = values(browser)
    browser.run("location.hash = '#chain'")
    browser.wait("scrollY > 0 || document.activeElement")
    assert values(browser) == before
    assert browser.run("location.hash") == "#chain"


def test_behind_the_last_change_of_record_time_is_all_that_is_known(browser: Browser, story_folder: Path) -> None:
    opened(browser, story_folder, "entities/orders.html", "#valid=2024-01-20&known=2024-05-01")
    browser.press("}")
    assert values(browser) == ["2024-01-20", "now"]
    for key, wanted in (("]", ["2024-04-01", "now"]), ("]", ["2024-04-01", "now"])):  # behind the last, nothing
        for _ in range(9):
            browser.press(key)
        assert values(browser) == wanted


def test_the_enter_key_in_a_form_leaves_the_page_where_it_is(browser: Browser, story_folder: Path) -> None:
    opened(browser, story_folder, "timeline.html", "#valid=2024-01-20&known=2024-01-20")
    here = browser.run("location.href.split('#')[0]")
    for id in ("valid", "which"):
        browser.run(f"document.getElementById('{id}').focus()")
        browser.press(*ENTER)
        assert browser.run("location.href.split('#')[0]") == here
    assert values(browser) == ["2024-01-20", "2024-01-20"]


def test_an_address_that_changes_asks_and_filters_anew(browser: Browser, story_folder: Path) -> None:
    opened(browser, story_folder, "timeline.html")
    browser.run("location.hash = '#valid=2024-02-10&known=2024-02-10&which=orders&only=1'")
    shown = "[...document.querySelectorAll('li.item')].map((e) => e.dataset.id).sort()"
    wanted = believed(story_folder, "orders", "2024-02-10", "2024-02-10")
    browser.wait(f"JSON.stringify({shown}) === {json.dumps(json.dumps(wanted, separators=(',', ':')))}")
    assert browser.run("[document.getElementById('which').value, document.getElementById('only').checked]") == [
        "orders",
        True,
    ]


def test_the_keys_of_the_timeline_go_to_the_changes_of_all_items(browser: Browser, story_folder: Path) -> None:
    opened(browser, story_folder, "timeline.html", "#valid=2024-01-10&known=2024-01-01T09:00:00")
    items = ledger(story_folder, "timeline", "--json")["items"]
    for key, axis in (("]", 0), ("}", 1)):
        name = ("valid", "known")[axis]
        times = {s[f"{name}{end}"] for item in items for s in item["stretches"] for end in ("From", "To")} - {None}
        before = values(browser)[axis]
        browser.press(key)
        assert parse(values(browser)[axis]) == min(parse(at) for at in times if parse(at) > parse(before))


@pytest.mark.parametrize(
    ("first", "last", "step"),
    [
        ("2024-01-01", "2024-01-02", timedelta(minutes=1)),
        ("2024-01-01", "2024-01-10", timedelta(minutes=10)),
        ("2024-01-01", "2024-02-20", timedelta(days=1)),
        ("2000-01-01", "2024-01-01", timedelta(days=7)),
        ("0001-01-01", "2024-01-01", timedelta(days=3650)),
    ],
)
def test_a_slider_has_a_step_that_fits_what_is_drawn(
    browser: Browser, tmp_path: Path, first: str, last: str, step: timedelta
) -> None:
    decisions = [{"id": f"d{n}", "text": "x", "about": ["it"], "validFrom": at} for n, at in enumerate((first, last))]
    # Two more, so that neither end is far from all others.
    middle = parse(first) + (parse(last) - parse(first)) / 2
    decisions.append({"id": "m", "text": "x", "about": ["it"], "validFrom": show(middle.replace(microsecond=0))})
    folder = applied(tmp_path, {"session": "s", "at": last, "decisions": decisions})
    opened(browser, folder, "entities/it.html", f"#valid={last}")
    assert int(browser.run("document.getElementById('valid-slide').max")) <= 2000
    browser.run("document.getElementById('valid-slide').focus()")
    browser.press(*LEFT)
    one = parse(values(browser)[0])
    browser.press(*LEFT)
    two = parse(values(browser)[0])
    assert one - two == step
    assert browser.run(LIT) == believed(folder, "it", show(two), last)
