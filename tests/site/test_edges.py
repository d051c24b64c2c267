"""Ledgers at the edges, in the browser: none, one and many items, the first year and the last, what never held."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser import Browser
from tests.site.conftest import LIT, applied, asked, believed, entities, ledger, opened, said, true, values


def decided(id: str, about: str = "it", **more: Any) -> dict[str, Any]:
    return {"id": id, "text": f"text of {id}", "about": [about], **more}


ITEMS = "[...document.querySelectorAll('li.item')].map((e) => e.dataset.id)"


def test_an_empty_ledger_can_be_opened_and_searched(browser: Browser, tmp_path: Path) -> None:
    folder = applied(tmp_path)
    opened(browser, folder, "timeline.html")
    assert "0 items hold on" in said(browser, "answer")
    assert said(browser, "shown") == "No item to show."
    assert "from an empty ledger" in browser.run("document.querySelector('.built').textContent")
    for key in "[]{}0":
        browser.press(key)
    browser.press("/")
    browser.type("anything")
    browser.wait("document.getElementById('found').textContent === 'nothing found'")


def test_an_entity_without_an_item_and_one_with_one(browser: Browser, tmp_path: Path) -> None:
    entities = [{"name": "none", "kind": "service"}, {"name": "one", "kind": "service"}]
    session = {"session": "s", "at": "2024-01-05", "entities": entities, "decisions": [decided("d1", "one")]}
    folder = applied(tmp_path, session)
    opened(browser, folder, "entities/none.html")
    assert browser.run(ITEMS) == []
    assert said(browser, "answer").startswith("0 items hold on")
    assert "no item" in browser.run("document.querySelector('main p').textContent")
    browser.press("[")
    opened(browser, folder, "entities/one.html")
    assert browser.run(ITEMS) == browser.run(LIT) == ["d1"]
    assert said(browser, "answer").startswith("1 item holds on")
    assert browser.run("document.querySelectorAll('#axis text').length") > 0


def test_the_timeline_shows_a_hundred_items_at_first_and_a_hundred_more_at_a_time(
    browser: Browser, tmp_path: Path
) -> None:
    items = [decided(f"d{n}", "half" if n % 2 else "other") for n in range(250)]
    folder = applied(tmp_path, {"session": "s", "at": "2024-01-05", "decisions": items})
    opened(browser, folder, "timeline.html")
    more = "document.getElementById('more').hidden"
    for shown in (100, 200):
        assert len(browser.run(ITEMS)) == shown
        assert said(browser, "shown") == f"The first {shown} of 250 are shown."
        assert browser.run(more) is False
        assert said(browser, "answer").startswith("250 items hold on")
        browser.run("document.getElementById('more').click()")
    assert len(set(browser.run(ITEMS))) == 250
    assert [browser.run(more), said(browser, "shown")] == [True, ""]
    browser.run("document.getElementById('which').value = 'HALF'")
    browser.run("document.getElementById('which').dispatchEvent(new Event('change'))")
    assert len(browser.run(ITEMS)) == 100
    assert said(browser, "shown") == "The first 100 of 125 are shown."
    browser.run("document.getElementById('which').value = 'nobody'")
    browser.run("document.getElementById('which').dispatchEvent(new Event('change'))")
    assert said(browser, "shown") == "No item to show."


def test_what_holds_on_the_other_pages_of_an_entity_is_named_with_links(browser: Browser, tmp_path: Path) -> None:
    items = [decided(f"d{n:03}", validFrom="2024-01-01" if n % 50 else "2024-02-01") for n in range(450)]
    folder = applied(tmp_path, {"session": "s", "at": "2024-01-01", "decisions": items})
    links = "[...document.querySelectorAll('#elsewhere a')].map((a) => a.dataset.id)"
    for page in ("entities/it.html", "entities/it~~2.html", "entities/it~~3.html"):
        opened(browser, folder, page, "#valid=2024-03-01")
        here, others = browser.run(ITEMS), browser.run(links)
        assert not set(here) & set(others)
        assert sorted(here + others) == [i["id"] for i in items]
        assert said(browser, "elsewhere").startswith("Also, on other pages: ")
        [lit] = asked(browser, [("2024-01-15", "now")])
        assert lit == true(folder, "it", "2024-01-15")
        assert asked(browser, [("2023-12-01", "now")]) == [[]]
        assert said(browser, "elsewhere") == ""
    browser.run("location.hash = '#valid=2024-04-01'")
    browser.wait(f"({links}).length")
    browser.run("document.querySelector('#elsewhere a').click()")
    browser.wait("location.pathname.includes('/items/')")


def test_an_item_that_never_held_has_a_cross_where_it_claims_to_begin(browser: Browser, tmp_path: Path) -> None:
    first = decided("d1", slot="a/b", validFrom="2024-01-10")
    earlier = decided("d2", slot="a/b", validFrom="2024-01-05", supersedes="d1")
    folder = applied(
        tmp_path,
        {"session": "s1", "at": "2024-01-20", "decisions": [first]},
        {"session": "s2", "at": "2024-02-20", "decisions": [earlier, decided("d3")]},
        {"session": "s3", "at": "2024-03-01", "reviews": [{"reject": "d3", "by": "sam", "reason": "no"}]},
    )
    opened(browser, folder, "entities/it.html")
    for id, since in (("d1", "2024-02-20"), ("d3", "2024-03-01")):
        browser.press("0")
        crosses = f"document.querySelectorAll('li[data-id={id}] .held .bad').length"
        bars = f"document.querySelectorAll('li[data-id={id}] .held .valid').length"
        assert [browser.run(crosses), browser.run(bars)] == [1, 0]
        assert "never held" in browser.run(f"document.querySelector('li[data-id={id}] .times').textContent")
        asked(browser, [("2024-06-01", "2024-02-20" if id == "d3" else "2024-01-21")])
        assert browser.run(crosses) == 0  # as it was known then, it held
        assert browser.run(bars) > 0
        asked(browser, [("2024-06-01", since)])
        assert browser.run(crosses) == 1


NUMBERS = """(() => {
  const found = [];
  for (const e of document.querySelectorAll('.drawn *')) {
    for (const name of ['x', 'width', 'x1', 'x2']) {
      const at = e.getAttribute(name);
      if (at !== null) found.push(at);
    }
  }
  return found;
})()"""


@pytest.mark.parametrize(
    "spans",
    [
        [("0001-01-01", None), ("0001-01-02", "0001-06-01")],
        [("0001-01-01", "9999-12-31"), ("2024-01-01", None)],
        [("9999-12-31", None), ("2024-01-01", "9999-12-31T23:59:59.999999Z")],
        [("2024-01-01", "2024-01-01T00:00:00.000001Z"), ("2024-01-01", None)],
        [("2024-01-01T00:00:00.000001Z", None), ("2024-01-01", "2024-01-01T00:00:00.000001Z")],
    ],
)
def test_the_first_and_the_last_year_and_a_microsecond_are_drawn_and_answered(
    browser: Browser, tmp_path: Path, spans: list[tuple[str, str | None]]
) -> None:
    items = [
        decided(f"d{n}", validFrom=start, **({"validTo": end} if end else {})) for n, (start, end) in enumerate(spans)
    ]
    folder = applied(tmp_path, {"session": "s", "at": "2024-01-02", "decisions": items})
    times = sorted({at for span in spans for at in span if at} | {"2024-01-02", "0001-01-01", "9999-12-31"})
    for page, about in (("entities/it.html", "it"), ("timeline.html", None)):
        opened(browser, folder, page)
        assert browser.run(LIT) == true(folder, about, "now")
        pairs = [(valid, known) for valid in times for known in times]
        for (valid, known), lit in zip(pairs, asked(browser, pairs), strict=True):
            assert lit == believed(folder, about, valid, known), (valid, known)
        numbers = [float(n.removesuffix("%")) for n in browser.run(NUMBERS)]
        assert numbers
        assert all(0 <= n <= 100 for n in numbers), numbers
        assert not [n for n in browser.run(NUMBERS) if n.startswith("-")]
        for key in "]]]}}}[[[[{{{{":
            browser.press(key)
            browser.run("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
            assert browser.run(LIT) == believed(folder, about, *_known(values(browser)))


def _known(asked_for: list[str]) -> tuple[str, str]:
    valid, known = asked_for
    return valid, "9999-12-31T23:59:59.999999Z" if known == "now" else known


def test_a_ledger_that_rejected_all_answers_nothing(browser: Browser, tmp_path: Path) -> None:
    folder = applied(
        tmp_path,
        {"session": "s1", "at": "2024-01-20", "decisions": [decided("d1", slot="a"), decided("d2")]},
        {
            "session": "s2",
            "at": "2024-01-21",
            "reviews": [{"reject": i, "by": "x", "reason": "y"} for i in ("d1", "d2")],
        },
    )
    opened(browser, folder, "timeline.html")
    assert browser.run(LIT) == []
    assert said(browser, "answer").startswith("0 items hold on")
    assert asked(browser, [("2024-01-20", "2024-01-20")]) == [["d1", "d2"]]
    opened(browser, folder, "index.html")
    assert "No slot answers anything." in browser.run("document.querySelector('main').textContent")
    assert ledger(folder, "slots", "--json")["slots"] == []


@pytest.mark.parametrize("gone", ["index.js", "items-0.js"])
def test_a_site_whose_data_are_gone_says_so(browser: Browser, tmp_path: Path, gone: str) -> None:
    folder = applied(tmp_path, {"session": "s", "at": "2024-01-02", "decisions": [decided("d1")]})
    (folder / "out" / "data" / gone).unlink()
    browser.open((folder / "out" / "timeline.html").as_uri())
    browser.wait("document.getElementById('found').textContent")
    assert said(browser, "found") == "the files in data/ cannot be read"
    assert [f for f in browser.faults if "ERR_FILE_NOT_FOUND" not in f] == []
    browser.faults.clear()


ODD = [
    "..", ".", "con", "CON", "nul.txt", "a/b", "A/B", "a b", "a-b", "a.b", "index", "x" * 200, "X" * 200, "%2e%2e",
    "\U0001f600", "\U0001f600\U0001f600", "\u00e9", "\u00c9", "a?b#c", "\u05d0\u05d1", "</script>", "]]>", "\"'&<",
]  # fmt: skip


def test_odd_ids_and_names_have_pages_of_their_own_and_are_found(browser: Browser, tmp_path: Path) -> None:
    items = [{"id": id, "text": f"number-{n:03} ends", "about": [id, "all"]} for n, id in enumerate(ODD)]
    folder = applied(tmp_path, {"session": "s", "at": "2024-01-02", "decisions": items})
    opened(browser, folder, "timeline.html")
    links = browser.run(
        "[...document.querySelectorAll('li.item')].map((e) => [e.dataset.id, e.querySelector('a').href])"
    )
    assert sorted(id for id, _ in links) == sorted(ODD)
    assert len({link.lower() for _, link in links}) == len(ODD)
    for id, link in links:
        browser.open(link)
        n = ODD.index(id)
        assert browser.run("document.querySelector('h1').textContent") == f"number-{n:03} ends"
        assert browser.run("document.querySelector('.kind .id').textContent") == id
        assert browser.run(LIT) == [id]
        browser.press("/")
        browser.type(f"number-{n:03} ends")
        browser.wait("document.getElementById('found').textContent === '1 found'")
        assert browser.run("document.querySelector('#results a').href") == link
    names = entities(folder)
    assert len({path.lower() for path in names.values()}) == len(names) == len({id.casefold() for id in ODD}) + 1
    for name, path in names.items():
        opened(browser, folder, path)
        assert browser.run("document.querySelector('h1').textContent") == name
        assert browser.run(LIT) == true(folder, name, "now")
