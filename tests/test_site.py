"""The site as files: well-formed, whole, safe, the same each time, and in a folder that is ours."""

from __future__ import annotations

import contextlib
import json
import re
import webbrowser
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger_cli import site_folder
from ledger_cli.errors import Refused
from ledger_cli.views import signs, terminal
from ledger_cli.views.site import data as views_data
from ledger_cli.views.site import paths
from ledger_cli.views.site.html import POLICY, encoded
from tests.commands.conftest import LATER
from tests.commands.test_timeline import HOSTILE

if TYPE_CHECKING:
    from tests.conftest import Repo

LARGEST = 1_000_000


@pytest.fixture
def long(story: Repo) -> Repo:
    story.apply(*LATER)
    return story


def site(repo: Repo, name: str = "out") -> dict[str, str]:
    """Every file of the site by its path."""
    repo.run("site", name)
    root = repo.path / name
    found = (p for p in root.rglob("*") if p.is_file() and p.name != site_folder.MARKER)
    return {p.relative_to(root).as_posix(): p.read_text(encoding="utf-8") for p in found}


def html(pages: dict[str, str]) -> dict[str, ET.Element]:
    return {path: ET.fromstring(text) for path, text in pages.items() if path.endswith(".html")}


def words(page: ET.Element) -> str:
    """What a page says, its data aside."""
    body = page.find("body")
    assert body is not None
    return " ".join("".join(e.itertext()) for e in body if e.tag != "script")


def data(page: ET.Element) -> Any:
    [script] = [e for e in page.iter("script") if e.get("type") == "application/json"]
    return json.loads(script.text or "")


def test_every_entity_and_every_item_has_a_page_and_every_link_leads_to_one(long: Repo) -> None:
    pages = site(long)
    for path, page in html(pages).items():
        for element in page.iter():
            for name in ("href", "src"):
                to = element.get(name)
                if to is None or to == "data:,":
                    continue
                file, _, fragment = to.partition("#")
                target = (Path("/") / path).parent / unquote(file) if file else Path("/") / path
                found = str(Path(*_resolved(target)))
                assert found in pages, (path, to)
                if fragment:
                    assert any(e.get("id") == fragment for e in page.iter()), (path, to)
    for id in long.run("lateness", "--json").ids:
        assert f"items/{id}.html" in pages
    entities = long.run("query", "MATCH (e:Entity) RETURN e.name AS name", "--json").json["rows"]
    assert sum(path.startswith("entities/") for path in pages) == len(entities)


def _resolved(path: Path) -> list[str]:
    parts: list[str] = []
    for part in path.parts[1:]:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return parts


def test_the_page_of_an_item_has_all_that_show_has(long: Repo) -> None:
    pages = html(site(long))
    for id in long.run("lateness", "--json").ids:
        said, found = long.run("show", id, "--json").json, words(pages[f"items/{id}.html"])
        texts = [said["text"], said["rationale"], said["slot"], said["session"], said["by"], *said["about"]]
        texts += [v["id"] for v in said["versions"]] + [v["text"] for v in said["versions"]]
        texts += [e[key] for e in said["evidence"] for key in ("id", "kind", "text")]
        texts += [r[key] for r in said["reviews"] for key in ("by", "reason", "verdict")]
        texts += [e[key] for e in said["endings"] for key in ("by", "reason")]
        texts += [link["old"] for link in said["supersedes"]] + [link["new"] for link in said["supersededBy"]]
        for text in texts:
            assert text is None or text in found, (id, text)


def test_the_overview_has_what_slots_session_list_and_lateness_say(long: Repo) -> None:
    pages = html(site(long))
    found = words(pages["index.html"])
    for row in long.run("slots", "--json").json["slots"]:
        for item in [row["current"], *row["planned"]]:
            assert item is None or item["text"] in found
        assert row["slot"] in found
    for session in long.run("session", "list", "--json").json["sessions"]:
        assert session["session"] in found
    late = [i["daysLate"] for i in long.run("lateness", "--json").json["items"]]
    [histogram] = [t for t in pages["index.html"].iter("table") if t.get("class") == "histogram"]
    counts = {r[0].text: int(r[1].text or 0) for r in histogram.iter("tr") if r[0].tag == "td"}
    assert sum(counts.values()) == len(late)
    assert counts["on the day"] == late.count(0)
    assert counts["8 to 30 days late"] == sum(8 <= days <= 30 for days in late)
    assert counts["8 to 30 days ahead"] == sum(-30 <= days <= -8 for days in late)
    assert counts["91 days ahead or more"] == sum(days <= -91 for days in late)


def test_the_rectangles_in_a_page_are_those_of_the_ledger(long: Repo) -> None:
    pages = html(site(long))
    for name in ("orders", "payments", "search"):
        wanted = {
            i["id"]: [[_short(s[k]) for k in ("validFrom", "validTo", "knownFrom", "knownTo")] for s in i["stretches"]]
            for i in long.run("timeline", name, "--json").json["items"]
        }
        assert {i["i"]: i["r"] for i in data(pages[f"entities/{name}.html"])["items"]} == wanted


def _short(time: str | None) -> str | None:
    return time and time.removesuffix("Z").removesuffix("T00:00:00")


def test_nothing_is_asked_from_outside_and_no_script_or_style_stands_in_a_page(long: Repo) -> None:
    for path, text in site(long).items():
        assert not re.search(r"\b(https?|wss?|ftp):(?!//www\.w3\.org/2000/svg)", text), path
        if path.endswith(".html"):
            page = ET.fromstring(text)
            metas = {m.get("http-equiv"): m.get("content") for m in page.iter("meta")}
            assert metas["Content-Security-Policy"] == POLICY
            assert "'unsafe" not in POLICY
            scripts = [s for s in page.iter("script") if s.get("type") != "application/json"]
            assert [bool(s.text) for s in scripts] == [False]
            assert not list(page.iter("style"))
            assert not [n for e in page.iter() for n in e.attrib if n.startswith("on") or n == "style"]


def test_hostile_texts_are_text_wherever_they_stand(repo: Repo) -> None:
    tricks = [
        text.replace("\n", " ").replace("\t", " ") for text in HOSTILE if len(text) < 200 and "\u202e" not in text
    ]
    decisions = [
        {"id": f"i{n}", "text": text, "rationale": text, "about": ["it"], "from": f"e{n}"}
        for n, text in enumerate(HOSTILE)
    ]
    decisions += [
        {"id": f"{n}</script>{text}", "text": "id", "slot": f"{n}{text}", "about": [f"{n}{text}"]}
        for n, text in enumerate(tricks)
    ]
    repo.apply(
        {
            "session": "s</script><script>",
            "by": "a <b> & 'c'",
            "episodes": [{"id": f"e{n}", "kind": "<kind>x", "text": text} for n, text in enumerate(HOSTILE)],
            "decisions": decisions,
            "reviews": [{"reject": "i0", "by": "x<img src=x onerror=alert(1)>", "reason": "]]></p><script>"}],
        }
    )
    pages = site(repo)
    parsed = html(pages)
    assert len([p for p in pages if p.startswith("items/")]) == len(decisions)
    for path, page in parsed.items():
        tags = {e.tag for e in page.iter()}
        assert not tags & {"img", "b", "kind", "iframe", "object", "style"}, path
        assert len([e for e in page.iter("script") if e.get("type") is None]) == 1
    for n, text in enumerate(HOSTILE):
        found = words(parsed[f"items/i{n}.html"])
        assert (
            found.count(text.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")) >= 3
        )  # text, rationale, evidence
    for path, text in pages.items():
        if path.startswith("data/"):
            assert not set("<>\u2028\u2029") & set(text)


@given(st.text() | st.sampled_from(HOSTILE))
def test_json_in_a_script_means_the_same_to_a_browser_and_to_xml(text: str) -> None:
    held = encoded({"text": text})
    assert json.loads(held) == {"text": text}
    assert not set("<>&\u2028\u2029") & set(held)


@given(st.lists(st.text(min_size=1), unique=True, max_size=8))
def test_no_two_names_share_a_file_where_case_does_not_count(names: list[str]) -> None:
    tricky = [
        *names,
        *(n.upper() for n in names),
        *(n.lower() for n in names),
        "a",
        "A",
        "con",
        "CON",
        "a.",
        "a b",
        "a-b",
    ]
    stems = {name: paths.stem(name) for name in tricky}
    assert len({stem.lower() for stem in stems.values()}) == len(stems)
    for stem in stems.values():
        assert re.fullmatch(r"[a-z0-9][a-z0-9._~-]{0,80}", stem)
        assert not stem.endswith(".")
        assert stem.split(".")[0] not in ("con", "nul", "aux", "prn")
        assert site_folder._OURS.fullmatch(f"items/{stem}.html")


# Many items


def test_many_items_are_split_into_pages_that_stay_small(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views_data, "SIZE", 100_000)
    items = [
        {"id": f"i{n}", "text": f"text {n} " + "w " * 120, "about": ["it"], "slot": f"s/{n}", "validFrom": "2024-01-01"}
        for n in range(900)
    ]
    repo.apply({"session": "s", "at": "2024-01-02", "decisions": items})
    pages = site(repo)
    assert max(len(text.encode()) for text in pages.values()) < LARGEST
    entity = sorted(path for path in pages if path.startswith("entities/it"))
    assert entity == ["entities/it.html", *(f"entities/it~~{n}.html" for n in range(2, 6))]
    listed = [e.get("data-id") for path in entity for e in ET.fromstring(pages[path]).iter("li") if e.get("data-id")]
    assert sorted(id for id in listed if id) == sorted(i["id"] for i in items)
    for path in entity:  # each answers for all of them
        assert len(data(ET.fromstring(pages[path]))["items"]) == 900
    slots = [path for path in pages if path.startswith("slots")]
    assert len(slots) == 2
    assert len(html(pages)["index.html"].findall(".//a[@href='slots.html']")) == 2
    parts = [text for path, text in pages.items() if path.startswith("data/items-")]
    assert len(parts) > 1
    assert sum(text.count('"i":"') for text in parts) == 900
    assert max(map(len, parts)) < 110_000


def test_a_long_chain_shows_what_is_near(repo: Repo) -> None:
    items = [{"id": f"i{n}", "text": f"text {n}", "slot": "s", "validFrom": f"20{10 + n}-01-01"} for n in range(60)]
    repo.apply({"session": "s", "at": "2024-01-02", "decisions": items})
    page = html(site(repo))["items/i30.html"]
    shown = [e.get("data-id") for e in page.iter("li") if e.get("data-id")]
    assert shown == [f"i{n}" for n in range(10, 50)]
    assert "20 items more in this chain" in words(page)


def test_an_empty_ledger_is_a_site(repo: Repo) -> None:
    pages = html(site(repo))
    assert sorted(pages) == ["entities.html", "index.html", "slots.html", "timeline.html"]
    assert "Nothing is recorded yet" in words(pages["index.html"])


# The folder


def test_the_same_ledger_gives_the_same_bytes(long: Repo) -> None:
    assert site(long, "one") == site(long, "two") == site(long, "one")


def test_a_site_is_written_anew_and_what_it_no_longer_has_goes(long: Repo) -> None:
    site(long)
    out = long.path / "out"
    (out / "CNAME").write_text("somebody's")
    (out / "items" / "notes.txt").write_text("somebody's")
    long.run(
        "-C", long.path, "session", "apply", long.write({"session": "n", "decisions": [{"id": "new", "text": "x"}]})
    )
    assert "items/new.html" in site(long)
    (out / site_folder.MARKER).write_text((out / site_folder.MARKER).read_text() + "items/gone.html\n../escape.html\n")
    (out / "items" / "gone.html").write_text("of an earlier run")
    (long.path / "escape.html").write_text("not ours")
    again = site(long)
    assert "items/gone.html" not in again
    assert again["CNAME"] == again["items/notes.txt"] == "somebody's"
    assert (long.path / "escape.html").exists()


def test_the_pages_of_a_ledger_that_shrank_go(long: Repo) -> None:
    checkpoint, before = long.checkpoint.read_bytes(), site(long)
    long.apply({"session": "more", "decisions": [{"id": "new", "text": "x", "about": ["brand-new"]}]})
    assert {"items/new.html", "entities/brand-new.html"} <= set(site(long))
    long.checkpoint.write_bytes(checkpoint)  # as another branch that was checked out
    assert site(long) == before
    assert not list((long.path / "out").rglob("*new*"))


def test_a_slot_of_two_hundred_items_stays_small_and_links_all_of_them(repo: Repo) -> None:
    items = [
        {"id": f"i{n}", "text": f"text {n}", "slot": "one/slot", "about": ["it"], "validFrom": f"{1800 + n}-01-01"}
        for n in range(200)
    ]
    repo.apply({"session": "s", "at": "2024-01-02", "decisions": items})
    pages = site(repo)
    assert max(len(text.encode()) for text in pages.values()) < LARGEST
    links = {a.get("href") for a in html(pages)["entities/it.html"].iter("a")}
    assert {f"../items/i{n}.html" for n in range(200)} <= links
    [row] = repo.run("slots", "--json").json["slots"]
    current = html(pages)["slots.html"].findall(".//tbody/tr")
    assert len(current) == 1
    assert row["current"]["id"] == "i199"
    assert "i199" in "".join(current[0].itertext())


def test_a_folder_that_holds_something_else_stays_as_it_is(long: Repo) -> None:
    for target in (".", "sessions", "sessions/s001.json"):
        before = sorted(long.path.rglob("*"))
        said = long.run("site", target, code=1)
        assert "holds something else" in said.err
        assert "give a folder that is empty" in said.err
        assert sorted(long.path.rglob("*")) == before
    (long.path / "empty").mkdir()
    long.run("site", "empty")
    assert (long.path / "empty" / "index.html").exists()


def test_the_folder_of_the_ledger_is_no_place_for_a_site(long: Repo) -> None:
    (long.path / "link").symlink_to("snapshots")
    before = sorted(long.path.rglob("*"))
    for target in ("snapshots", "snapshots/site", "snapshots/.store/site", "link/site"):
        assert "is the ledger's own" in long.run("site", target, code=1).err
    assert sorted(long.path.rglob("*")) == before


@pytest.mark.parametrize("link", ["index.html", "items", "items/d1.html", site_folder.MARKER])
def test_what_a_link_in_the_folder_leads_to_is_not_written_over(long: Repo, link: str) -> None:
    long.run("site", "out")
    there = long.path / "out" / link
    elsewhere = long.path / "elsewhere"
    there.rename(elsewhere)
    there.symlink_to(elsewhere)
    precious = elsewhere / "d1.html" if elsewhere.is_dir() else elsewhere
    precious.write_text("precious")
    said = long.run("site", "out", code=1)
    assert f"{there.relative_to(long.path)} is a link" in said.err
    assert precious.read_text() == "precious"


def test_what_is_removed_is_not_removed_through_a_link(tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    site_folder.write(out, [("index.html", "x"), ("items/d1.html", "x")])
    (out / "items").rename(elsewhere)
    (out / "items").symlink_to(elsewhere)
    site_folder.write(out, [("index.html", "x")])
    assert (elsewhere / "d1.html").exists()


def test_a_killed_run_leaves_a_folder_that_the_next_one_takes(long: Repo, tmp_path: Path) -> None:
    def pages() -> Any:
        yield "items/half.html", "half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        site_folder.write(tmp_path / "out", pages())
    assert site_folder.write(tmp_path / "out", [("index.html", "whole")]) == 1
    assert sorted(p.name for p in (tmp_path / "out").rglob("*") if p.is_file()) == [site_folder.MARKER, "index.html"]
    with pytest.raises(Refused):
        site_folder.write(tmp_path, [("index.html", "x")])
    with pytest.raises(ValueError, match="no name for a page"):
        site_folder.write(tmp_path / "out", [("../x.html", "x")])


def test_it_says_what_it_wrote_and_opens_it(long: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or True)
    said = long.run("site", "out")
    count = len(site(long))
    assert said.out == f"wrote {count} files to out\n"
    assert said.err == "Next: open out/index.html in a browser, or `ledger site out --open`\n"
    assert not opened
    assert long.run("site", "out", "--open").err == ""
    assert opened == [(long.path / "out" / "index.html").as_uri()]
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    assert long.run("site", "out", "--open").err == "no browser was found to show it: open out/index.html in one\n"


def test_the_progress_goes_on_with_every_file(long: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []

    @contextlib.contextmanager
    def progress(what: str, total: int) -> Iterator[Any]:
        assert total >= len(long.run("lateness", "--json").ids)
        yield lambda: steps.append(what)

    monkeypatch.setattr(terminal, "progress", progress)
    count = len(site(long))
    assert steps == ["writing pages"] * count


def test_the_signs_of_the_pages_are_those_of_the_pictures_and_the_legend_tells_them(long: Repo) -> None:
    pages = site(long)
    legend = ET.fromstring(re.search(r'<details class="legend">.*?</details>', pages["timeline.html"], re.DOTALL)[0])  # type: ignore[index]
    told = {"".join(row.itertext()).strip(): [p.attrib for p in row.iter("path")] for row in legend.iter("li")}
    for sign in signs.ALL:
        assert told[sign.said] == [{"class": kind, "d": path} for kind, path in sign.shape]
    picture = long.run("timeline", "--svg", "-").out
    drawn = json.loads(re.search(r"^ledger\.signs = (.*);$", pages["assets/site.js"], re.MULTILINE)[1])  # type: ignore[index]
    assert {mark["what"] for i in long.run("timeline", "--json").json["items"] for mark in i["marks"]} <= set(drawn)
    for what in ("closed", "ended", "rejected", "reinstated", "beside"):
        assert "".join(f'<path class="{kind}" d="{path}"/>' for kind, path in drawn[what]) in picture, what
