"""The search in the page: what it finds, in which order, and where; and its keys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledger_cli.views.site import data
from tests.browser import Browser
from tests.site.conftest import DOWN, ENTER, ESCAPE, UP, address, applied, opened, said, values

SEARCHED = "document.getElementById('words').value"


def found(browser: Browser, words: str) -> list[str]:
    browser.run("document.getElementById('words').value = ''; document.getElementById('words').focus()")
    browser.type(words)
    browser.wait(f"document.getElementById('found').textContent && {SEARCHED} === {json.dumps(words)}")
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


# Where, and in which order


def decided(id: str, text: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "text": text, **more}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Items in which "mail queue" stands in all sorts of places."""
    long = "word " * 400
    decisions = [
        decided("cited", "sent by a worker", **{"from": ["e1", "e2"]}),
        decided("also-cited", "kept for a day", **{"from": "e1"}),
        decided("why", "one process", rationale=f"{long}a queue of m\u00e4il {long}"),
        decided("parted", "a queue", rationale="for mail"),
        decided("slotted", "it is redis", slot="mail/queue"),
        decided("about", "it is there", about=["Mail Queue"]),
        decided("inside", "the hotmailer requeues"),
        decided("apart", "the queue of the mail"),
        decided("phrase-gone", "a mail queue, until it was ended", validTo="2024-02-01"),
        decided("phrase", "a Mail Queue"),
        decided("mail-queue-2", "the second"),
        decided("long", f"{long}the mail, then the queue"),
        decided("mail", "only half of it"),
    ]
    episodes = [
        {"id": "e1", "kind": "message", "text": "we need a queue for what we mail"},
        {"id": "e2", "kind": "message", "text": "<b>nothing</b> of the sort"},
        {"id": "e3", "kind": "message", "text": "a mail queue that nobody cites"},
    ]
    return applied(tmp_path, {"session": "s", "at": "2024-01-05", "episodes": episodes, "decisions": decisions})


def ids(browser: Browser, words: str) -> list[str]:
    return [link.rsplit("/", 1)[-1].removesuffix(".html") for link in found(browser, words)]


def test_names_come_first_then_texts_then_slots_and_entities_then_what_is_said_at_length(
    browser: Browser, shop: Path
) -> None:
    opened(browser, shop, "index.html")
    got = ids(browser, "mail queue")
    groups = [
        {next(p for p in (shop / "out" / "entities").iterdir()).stem},  # named so
        {"phrase", "mail-queue-2"},  # in this order
        {"phrase-gone"},  # and it no longer holds
        {"apart"},
        {"inside"},
        {"slotted", "about"},
        {"cited", "also-cited", "why", "parted", "long"},
    ]
    for group in groups:
        assert set(got[: len(group)]) == group, (got, group)
        del got[: len(group)]
    assert got == []
    assert said(browser, "found") == "13 found"
    assert ids(browser, "MAIL-queue")[0] == "mail-queue-2"
    assert ids(browser, "mail")[:2] == ["mail", next(p for p in (shop / "out" / "entities").iterdir()).stem]


def test_a_result_shows_where_its_words_stand(browser: Browser, shop: Path) -> None:
    opened(browser, shop, "items/mail.html")
    found(browser, "queue mail")
    rows = browser.run(
        "[...document.querySelectorAll('#results a')].map((a) => [a.getAttribute('href').split('/').pop(),"
        " [...a.querySelectorAll('.place')].map((e) => e.textContent),"
        " [...a.querySelectorAll('mark')].map((e) => e.textContent)])"
    )
    places = {name.removesuffix(".html"): (where, marks) for name, where, marks in rows}
    assert places["cited"] == (["evidence e1: we need a queue for what we mail"], ["queue", "mail"])
    assert places["also-cited"] == places["cited"]
    assert places["parted"] == (["rationale: for mail"], ["queue", "mail"])
    assert places["about"] == (["about Mail Queue"], ["Mail", "Queue"])
    assert places["phrase"] == ([], ["Mail", "Queue"])
    [(why, marks)] = [places["why"]]
    assert len(why) == 1
    assert why[0].startswith("rationale: …")
    assert why[0].endswith("…")
    assert "a queue of m\u00e4il word" in why[0]
    assert marks == ["queue", "m\u00e4il"]
    assert len(why[0]) < 200
    [(text, marks)] = [places["long"]]
    assert text[0].startswith("text: …")
    assert text[0].endswith("the mail, then the queue")
    assert {"mail", "queue"} == set(marks)


@pytest.mark.parametrize(
    "words", ["<b>nothing", "</b>", "nothing</b> of", "[", "(mail", "\\", "*", "$&", "nothing  OF\tthe"]
)
def test_signs_in_what_is_searched_are_signs(browser: Browser, shop: Path, words: str) -> None:
    opened(browser, shop, "index.html")
    got = ids(browser, words.replace("\t", " "))
    text = "<b>nothing</b> of the sort"
    assert got == (["cited"] if all(word.lower() in text for word in words.split()) else [])
    assert browser.run("document.querySelectorAll('#results b').length") == 0


def test_accents_case_and_look_alikes_do_not_matter(browser: Browser, tmp_path: Path) -> None:
    texts = {
        "a": "Stra\u00dfe nach \u00c5rhus",
        "b": "\uff26\uff35\uff2c\uff2c width",
        "c": "\u039f\u0394\u039f\u03a3",
        "d": "\U0001f600 face A\u0301B",
    }
    session = {"session": "s", "at": "2024-01-05", "decisions": [decided(id, text) for id, text in texts.items()]}
    folder = applied(tmp_path, session)
    opened(browser, folder, "index.html")
    for words, id in (
        ("arhus", "a"),
        ("full WIDTH", "b"),
        ("\u03bf\u03b4\u03bf\u03c2", "c"),
        ("\u03bf\u03b4\u03bf\u03c3", "c"),
        ("\U0001f600", "d"),
        ("\u00e1b", "d"),
    ):
        assert ids(browser, words) == [id], words
        marks = browser.run("[...document.querySelectorAll('#results mark')].map((e) => e.textContent).join(' ')")
        assert marks
        assert marks in texts[id], words


def test_more_than_twenty_are_counted_and_the_best_twenty_shown(browser: Browser, tmp_path: Path) -> None:
    decisions = [decided(f"d{n}", "the same words") for n in range(45)]
    folder = applied(tmp_path, {"session": "s", "at": "2024-01-05", "decisions": decisions})
    opened(browser, folder, "index.html")
    assert len(found(browser, "same words")) == 20
    assert said(browser, "found") == "45 found, 20 shown"
    assert found(browser, "d44") == ["items/d44.html"]


def test_long_texts_are_searched_in_parts(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "SIZE", 5_000)
    decisions = [decided(f"d{n}", f"text {n}", rationale=f"{'x ' * 700}needle{n}.") for n in range(20)]
    folder = applied(tmp_path, {"session": "s", "at": "2024-01-05", "decisions": decisions})
    assert len(list((folder / "out" / "data").glob("texts-*.js"))) > 4
    opened(browser, folder, "index.html")
    for n in (0, 7, 19):
        assert found(browser, f"needle{n}.") == [f"items/d{n}.html"]


# Keys


def test_escape_empties_the_search_and_goes_back_to_where_the_reader_was(browser: Browser, story_folder: Path) -> None:
    opened(browser, story_folder, "entities/orders.html")
    browser.run("document.getElementById('known-slide').focus()")
    browser.press("/")
    assert browser.run("document.activeElement.id") == "words"
    browser.type("orders")
    browser.wait("document.querySelectorAll('#results a').length")
    browser.press(*DOWN)
    browser.press(*ESCAPE)
    assert browser.run("document.activeElement.id") == "known-slide"
    assert browser.run("[document.getElementById('results').hidden, document.getElementById('words').value]") == [
        True,
        "",
    ]
    assert said(browser, "found") == ""
    browser.run("document.activeElement.blur()")
    browser.press("/")
    browser.press(*ESCAPE)
    assert browser.run("document.activeElement.id") == "main"


def test_the_arrows_stop_at_both_ends_and_enter_opens_where_they_are(browser: Browser, story_folder: Path) -> None:
    opened(browser, story_folder, "entities/orders.html")
    browser.press("/")
    for key in (DOWN, UP, ENTER):  # nothing is found yet
        browser.press(*key)
    assert browser.run("document.activeElement.id") == "words"
    links = found(browser, "search/engine")
    for n in (0, 1, 2, 2):
        browser.press(*DOWN)
        assert browser.run("document.activeElement.getAttribute('href')") == f"../{links[n]}"
    browser.press(*UP)
    assert browser.run("document.activeElement.getAttribute('href')") == f"../{links[1]}"
    browser.press(*ENTER)
    browser.wait(f"location.pathname.endsWith('/{links[1]}')")


def test_a_click_elsewhere_closes_what_was_found(browser: Browser, story_folder: Path) -> None:
    opened(browser, story_folder, "index.html")
    found(browser, "orders")
    browser.run("document.getElementById('words').click()")
    assert browser.run("document.getElementById('results').hidden") is False
    browser.run("document.querySelector('h1').click()")
    assert browser.run("document.getElementById('results').hidden") is True


def test_keys_with_a_modifier_are_the_browsers(browser: Browser, story_folder: Path) -> None:
    opened(browser, story_folder, "index.html")
    event = "document.dispatchEvent(new KeyboardEvent('keydown', {key: '/', ctrlKey: true, bubbles: true}))"
    browser.run(event)
    assert browser.run("document.activeElement === document.body") is True


def test_what_was_found_is_told_to_those_who_do_not_see_it(browser: Browser, story_folder: Path) -> None:
    opened(browser, story_folder, "index.html")
    status = "document.getElementById('found').getAttribute('role')"
    assert browser.run(status) == "status"
    assert found(browser, "no such thing") == []
    assert said(browser, "found") == "nothing found"


def test_what_was_found_does_not_cover_what_a_reader_tabs_to(browser: Browser, story_folder: Path) -> None:
    opened(browser, story_folder, "index.html")
    links = found(browser, "search/engine")
    for _ in links:
        browser.press("Tab", 9)
        assert browser.run("document.getElementById('results').hidden") is False
    browser.press("Tab", 9)
    assert browser.run("document.getElementById('search').contains(document.activeElement)") is False
    assert browser.run("document.getElementById('results').hidden") is True
    browser.run("document.getElementById('words').focus()")
    browser.wait("!document.getElementById('results').hidden")
    browser.run("document.querySelector('h1').click()")
    browser.press(*ENTER)  # of what is not shown, nothing is opened
    assert browser.run("location.pathname.endsWith('/index.html')") is True
