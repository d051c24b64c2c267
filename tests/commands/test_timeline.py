"""`ledger timeline`: both axes in the terminal, as JSON, and as pictures."""

from __future__ import annotations

import json
import os
import re
import stat
import xml.etree.ElementTree as ET
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from ledger_cli.views import signs
from ledger_cli.views.markup import clipped, escaped
from ledger_cli.views.palette import COLOURS, themed
from ledger_cli.views.terminal import columns

if TYPE_CHECKING:
    from pathlib import Path

    from tests.commands.conftest import Golden
    from tests.conftest import Repo

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "<script>alert(1)</script>",
    "]]><svg onload=alert(1)>",
    "\"quoted\" & 'quoted' &lt;",
    "\u202eright to left\u202c and \u2066isolated",
    "=HYPERLINK(1)",
    "w" * 4096,
    "日本語" * 60,
    "\ufffe not a character of XML \uffff",
    "two\nlines\tand a tab",
)


@pytest.mark.parametrize("subject", ["orders", "payments", "orders/on-call", "d5", "d6"])
def test_the_screen_and_the_json(long_story: Repo, golden: Golden, subject: str) -> None:
    screen, json = long_story.run("timeline", subject), long_story.run("timeline", subject, "--json")
    assert (screen.err, json.err) == ("", "")
    name = subject.replace("/", "-")
    golden(f"timeline/{name}.txt", screen.out)
    golden(f"timeline/{name}.json", json.out)


@pytest.mark.parametrize("width", [60, 80, 117, 118, 200])
def test_a_screen_is_as_wide_as_there_is_room(long_story: Repo, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    shown = re.sub("\x1b\\[[0-9;]*m", "", long_story.run("timeline").out)
    assert max(columns(line) for line in shown.splitlines()) <= width
    bars = [line for line in shown.splitlines() if line.startswith(("  valid", "  record"))]
    assert len(bars) == 2 * len(long_story.run("lateness", "--json").ids)


def test_signs_say_all_without_colour(long_story: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = long_story.run("timeline").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = re.sub("\x1b\\[[0-9;]*m", "", long_story.run("timeline").out)
    assert "\x1b" not in plain
    for sign in "━┄─├┤▶▷✗▲■":
        assert plain.count(sign) == coloured.count(sign) > 0, sign


def test_in_a_pipe_nothing_is_cut(repo: Repo) -> None:
    long = "a very long text " * 40
    repo.apply({"session": "s", "decisions": [{"id": "d", "text": long}]})
    assert long in repo.run("timeline").out


def test_the_keys_of_the_contract_in_their_order(story: Repo) -> None:
    found = story.run("timeline", "orders", "--json").json
    assert list(found) == ["subject", "from", "to", "items"]
    more = ["claimedOnly", "recorded", "stretches", "marks"]
    item = list(story.run("as-of", "orders", "now", "--json").json["items"][0])
    assert {tuple(i) for i in found["items"]} == {(*item, *more)}
    marks = [mark for i in found["items"] for mark in i["marks"]]
    assert {tuple(mark) for mark in marks} == {("at", "what", "other", "on", "until", "by", "reason")}


def test_the_stretches_answer_what_believed_answers(long_story: Repo) -> None:
    items = long_story.run("timeline", "--json").json["items"]
    times = [f"2024-{month:02}-{day:02}T09:00:00Z" for month in range(1, 5) for day in (1, 6, 10, 20)]
    for valid in times:
        for known in times:
            asked = long_story.run("believed", valid, "--known", known, "--json").ids
            assert sorted(i["id"] for i in items if _holds(i, valid, known)) == sorted(asked), (valid, known)


def _holds(item: dict[str, Any], valid: str, known: str) -> bool:
    return any(
        s["validFrom"] <= valid and (s["validTo"] is None or valid < s["validTo"])
        and s["knownFrom"] <= known and (s["knownTo"] is None or known < s["knownTo"])
        for s in item["stretches"]
    )  # fmt: skip


def test_a_portion_that_something_else_took_is_a_gap(repo: Repo) -> None:
    while_ = {"validFrom": "2024-02-01", "validTo": "2024-03-01"}
    repo.apply(
        {
            "session": "a",
            "at": "2024-01-01",
            "decisions": [{"id": "old", "text": "x", "slot": "s", "validFrom": "2024-01-01"}],
        },
        {"session": "b", "at": "2024-04-01", "decisions": [{"id": "new", "text": "y", "slot": "s", **while_}]},
    )
    shown = repo.run("timeline", "s").out.splitlines()
    [bar] = [shown[n + 1] for n, line in enumerate(shown) if line.startswith("old")]
    assert re.fullmatch(r"  valid +━+┄+━+▶", bar)
    assert any("holds 2024-01-01 → 2024-02-01, 2024-03-01 →" in line for line in shown)
    root = ET.fromstring(repo.run("timeline", "s", "--svg", "-").out)
    [group] = [g for g in root.iter(f"{SVG}g") if (g.findtext(f"{SVG}title") or "").startswith("old, x")]
    assert len([e for e in group.iter() if e.get("class") == "valid"]) == 2
    assert len([e for e in group.iter() if e.get("class") == "lost"]) == 1


def test_an_unknown_subject_is_an_empty_answer_and_a_question(story: Repo) -> None:
    said = story.run("timeline", "oders", "--json")
    assert said.json == {"subject": "oders", "from": None, "to": None, "items": []}
    assert said.err == "note: nothing is recorded about 'oders'; did you mean orders?\n"
    assert story.run("timeline", "oders").out == "oders\nnothing\n"
    for flags in ((), ("--plane",)):
        assert ET.fromstring(story.run("timeline", "oders", "--svg", "-", *flags).out).tag == f"{SVG}svg"


# Pictures


@pytest.mark.parametrize("flags", [(), ("--plane",)], ids=["bars", "plane"])
@pytest.mark.parametrize("subject", [(), ("orders",), ("d6",)], ids=["all", "entity", "item"])
def test_a_picture_is_one_file_with_a_title_and_all_of_it_in_words(
    long_story: Repo, subject: tuple[str, ...], flags: tuple[str, ...]
) -> None:
    drawn = long_story.run("timeline", *subject, "--svg", "-", *flags).out
    root = ET.fromstring(drawn)
    assert root.get("role") == "img"
    named = [root.find(f"{SVG}title"), root.find(f"{SVG}desc")]
    assert [e.get("id") for e in named if e is not None] == (root.get("aria-labelledby") or "").split()
    words = named[1].text or ""  # type: ignore[union-attr]
    items = long_story.run("timeline", *subject, "--json").json["items"]
    titles = [e.text for e in root.iter(f"{SVG}title")]
    for item in items:
        assert item["text"] in words
        assert any((title or "").startswith(f"{item['id']}, {item['text']}: ") for title in titles)
        for mark in item["marks"]:
            assert mark["what"] in words
    assert "prefers-color-scheme: dark" in drawn


@pytest.mark.parametrize("flags", [(), ("--plane",)], ids=["bars", "plane"])
def test_a_picture_needs_nothing_from_outside(long_story: Repo, flags: tuple[str, ...]) -> None:
    drawn = long_story.run("timeline", "--svg", "-", *flags).out
    assert re.findall(r"https?://[^\"' ]+", drawn) == ["http://www.w3.org/2000/svg"]
    assert set(re.findall(r"url\((.)", drawn)) <= {"#"}
    assert not re.search(r"href|@import|<script|<image|<foreignObject", drawn)


@pytest.mark.parametrize("flags", [(), ("--plane",)], ids=["bars", "plane"])
def test_hostile_texts_are_text(repo: Repo, flags: tuple[str, ...]) -> None:
    items = [
        {"id": f"i{n}", "text": text, "about": ["it"], "slot": f"<b>{n}", "validFrom": "2024-01-01"}
        for n, text in enumerate(HOSTILE)
    ]
    repo.apply({"session": "s", "at": "2024-01-02", "decisions": items})
    repo.apply(
        {"session": "r", "at": "2024-01-03", "reviews": [{"reject": "i0", "by": "a <i>b", "reason": "</desc><script>"}]}
    )
    drawn = repo.run("timeline", "--svg", "-", *flags).out
    root = ET.fromstring(drawn)
    assert {e.tag.removeprefix(SVG) for e in root.iter()} <= {
        "svg", "title", "desc", "style", "defs", "pattern", "g", "line", "rect", "polygon", "path", "circle", "text",
        "tspan",
    }  # fmt: skip
    assert not [name for e in root.iter() for name in e.attrib if name.startswith("on")]
    titles = "".join(e.text or "" for e in root.iter(f"{SVG}title"))
    for text in HOSTILE:
        assert text.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd") in titles


@pytest.mark.parametrize("count", [1, 200])
@pytest.mark.parametrize("flags", [(), ("--plane",)], ids=["bars", "plane"])
def test_one_item_or_two_hundred_stand_in_the_frame_without_meeting(
    repo: Repo, flags: tuple[str, ...], count: int
) -> None:
    items = [
        {"id": f"i{n}", "text": f"text {n}", "slot": f"s/{n // 4}", "validFrom": f"20{10 + n % 4}-01-01"}
        for n in range(count)
    ]
    repo.apply({"session": "s", "at": "2024-01-02", "decisions": items})
    root = ET.fromstring(repo.run("timeline", "--svg", "-", *flags).out)
    wide, high = float(root.get("width") or 0), float(root.get("height") or 0)
    labels = []
    for e in root.iter(f"{SVG}text"):
        assert 0 <= float(e.get("x") or 0) <= wide
        assert 0 <= float(e.get("y") or 0) <= high
        if "short" not in (e.get("class") or "") and "".join(e.itertext()).startswith("i"):
            labels.append((float(e.get("x") or 0), float(e.get("y") or 0)))
    assert len(labels) >= count
    assert len(set(labels)) == len(labels)
    for e in root.iter(f"{SVG}rect"):
        assert float(e.get("x") or 0) + float(e.get("width") or 0) <= wide + 0.1


def test_the_file_is_written_where_the_command_runs(story: Repo, tmp_path: Path) -> None:
    (story.path / "inside").mkdir()
    said = story.run("-C", "inside", "timeline", "orders", "--svg", "orders.svg")
    assert (said.out, said.err) == ("", "wrote orders.svg\n")
    assert (story.path / "inside" / "orders.svg").read_text() == story.run("timeline", "orders", "--svg", "-").out
    refused = story.run("timeline", "--svg", tmp_path / "nowhere" / "x.svg", code=1)
    assert refused.err.startswith("error: cannot write ")


def test_escaping_leaves_no_markup_and_clipping_no_more_than_the_room() -> None:
    for text in HOSTILE:
        safe = escaped(text)
        assert not set("<>\"'") & set(safe)
        assert ET.fromstring(f"<a b='{safe}'/>") is not None
        assert columns(clipped(text, 30)) <= 30
    assert clipped("short  enough", 30) == "short enough"
    assert json.dumps(clipped("x" * 40, 30)) == json.dumps("x" * 29 + "…")


@pytest.mark.parametrize("target", ["snapshots/ledger.json", "snapshots/x.svg", "link", "hard"])
def test_no_picture_is_written_over_the_ledger(story: Repo, target: str) -> None:
    (story.path / "link").symlink_to(story.checkpoint)
    (story.path / "hard").hardlink_to(story.checkpoint)
    before = story.checkpoint.read_bytes()
    for flags in ((), ("--plane",)):
        assert "is the ledger's own" in story.run("timeline", *flags, "--svg", target, code=1).err
    assert story.checkpoint.read_bytes() == before
    assert not (story.path / "snapshots" / "x.svg").exists()


@pytest.mark.parametrize("command", [("timeline", "--svg"), ("export", "--format", "csv", "-o")])
def test_what_is_no_file_is_not_replaced_by_one(story: Repo, command: tuple[str, ...]) -> None:
    pipe = story.path / "pipe"
    os.mkfifo(pipe)
    (story.path / "link").symlink_to(pipe)
    for target in ("pipe", "link"):
        assert "it is not a regular file" in story.run(*command, target, code=1).err
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert "Is a directory" in story.run(*command, "sessions", code=1).err


# What a picture says


def _texts(root: ET.Element, *, narrow: bool) -> list[str]:
    """What is written in a picture, as a page of that width shows it."""
    hidden = "long" if narrow else "short"
    return ["".join(e.itertext()) for e in root.iter(f"{SVG}text") if hidden not in (e.get("class") or "").split()]


@pytest.mark.parametrize("narrow", [False, True])
def test_the_legend_tells_every_sign_that_is_drawn_and_no_other(long_story: Repo, narrow: bool) -> None:
    for subject in ("orders", "payments", "orders/on-call", "d5", "d6"):
        screen = long_story.run("timeline", subject).out
        bars = "".join(line for line in screen.splitlines() if line.startswith(("  valid", "  record")))
        told = [sign for sign in signs.ALL if f"{sign.letter} {sign.said}" in screen]
        assert {sign.letter[0] for sign in told} == set(bars.replace("▷", "▶")) & {s.letter[0] for s in signs.ALL}
        written = _texts(ET.fromstring(long_story.run("timeline", subject, "--svg", "-").out), narrow=narrow)
        assert [sign for sign in signs.ALL if (sign.briefly if narrow else sign.said) in written] == told


def test_now_is_a_line_where_it_falls_on_the_scale(repo: Repo) -> None:
    repo.apply(
        {"session": "s", "at": repo.now.isoformat(), "decisions": [{"id": "d", "text": "x", "validFrom": "2020-01-01"}]}
    )
    repo.now += timedelta(days=400)
    assert "now" not in repo.run("timeline", "--svg", "-").out.split("</style>")[1]  # past the scale
    repo.apply(
        {
            "session": "t",
            "at": repo.now.isoformat(),
            "decisions": [{"id": "plan", "text": "y", "validFrom": "2031-01-01"}],
        }
    )
    drawn = repo.run("timeline", "--svg", "-").out
    [line] = [e for e in ET.fromstring(drawn).iter(f"{SVG}line") if e.get("class") == "now"]
    assert line.get("x1") == line.get("x2") and line.findtext(f"{SVG}title") == "now"
    learned = re.findall(r"translate\(([\d.]+) [\d.]+\)\"><path class=\"learned\"", drawn)
    assert float(learned[-1]) == pytest.approx(float(line.get("x1") or 0))  # `plan` was learned now


def test_what_begins_before_the_scale_or_ends_after_it_has_an_arrow(repo: Repo) -> None:
    far = [
        {"id": "early", "text": "since ever", "validFrom": "0001-01-01", "validTo": "2024-02-01"},
        {"id": "late", "text": "for good", "validFrom": "2024-01-01", "validTo": "9999-12-31"},
        {"id": "near", "text": "a year", "validFrom": "2023-01-01", "validTo": "2024-01-01"},
    ]
    repo.apply({"session": "s", "at": "2024-01-02", "decisions": far})
    rows, ids = repo.run("timeline").out.splitlines(), [item["id"] for item in far]
    bars = {
        id: rows[n + 1].removeprefix("  valid   ") for n, r in enumerate(rows) if (id := r.partition("  ")[0]) in ids
    }
    assert bars["early"].startswith("◀") and not bars["early"].rstrip().endswith("▶")
    assert bars["late"].rstrip().endswith("▶") and "◀" not in bars["late"]
    assert not {"◀", "▶"} & set(bars["near"])
    root = ET.fromstring(repo.run("timeline", "--svg", "-").out)
    for group in root.iter(f"{SVG}g"):
        id = (group.findtext(f"{SVG}title") or "").partition(",")[0]
        if id in bars:
            corners = [len((e.get("points") or "").split()) for e in group.findall(f"{SVG}polygon")]
            record = 7  # without an end: a bar of four corners, and an arrow of three more
            assert sorted(corners) == sorted({"early": [4, 3], "late": [7], "near": [4]}[id] + [record])


def test_the_dates_of_a_plane_stand_beside_it_and_every_area_with_room_has_its_name(story: Repo) -> None:
    root = ET.fromstring(story.run("timeline", "orders", "--plane", "--svg", "-").out)
    boxes = [e for e in root.iter(f"{SVG}rect") if e.get("class") == "box"]
    left = float(boxes[0].get("x") or 0)
    bottoms = [float(b.get("y") or 0) + float(b.get("height") or 0) for b in boxes]
    for kind in ("long", "short"):
        dates = [e for e in root.iter(f"{SVG}text") if {kind, "quiet"} <= set((e.get("class") or "").split())]
        assert len(dates) >= 10 * len(boxes) * (1 if kind == "long" else 2) / 2
        for e in dates:
            x, y = float(e.get("x") or 0), float(e.get("y") or 0)
            assert x < left or any(0 < y - bottom < 70 for bottom in bottoms), "".join(e.itertext())
    names = ["".join(e.itertext()) for e in root.iter(f"{SVG}text") if "name" in (e.get("class") or "").split()]
    assert sorted(names) == ["d1", "d1", "d4", "d6"]  # d1 has two areas: before d4 was known, and since


def test_an_overlap_is_told_where_there_is_one(repo: Repo) -> None:
    first = {"id": "old", "text": "x", "validFrom": "2024-01-01"}
    both = [{"id": id, "text": id, "validFrom": "2024-01-10", "supersedes": "old"} for id in ("one", "two")]
    repo.apply({"session": "a", "at": "2024-01-02", "decisions": [first]})
    repo.apply({"session": "b", "at": "2024-01-11", "decisions": [both[0]]})
    told = "overlap: both were believed"
    assert told not in repo.run("timeline", "old", "--plane", "--svg", "-").out
    repo.apply({"session": "c", "at": "2024-01-12", "decisions": [both[1]]})
    assert told in repo.run("timeline", "old", "--plane", "--svg", "-").out


# Colours


def _contrast(one: str, other: str) -> float:
    """The contrast of two colours, as WCAG 2 defines it."""

    def light(colour: str) -> float:
        parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, bright = sorted((light(one), light(other)))
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("tone", [0, 1], ids=["light", "dark"])
def test_every_colour_of_text_and_of_signs_can_be_read(tone: int) -> None:
    colour = {name: pair[tone] for name, pair in COLOURS.items()}
    for text in ("ink", "quiet", "link", "bad"):
        for ground in ("page", "panel"):
            assert _contrast(colour[text], colour[ground]) >= 4.5, (text, ground)
    assert _contrast(colour["lit-ink"], colour["lit"]) >= 4.5 <= _contrast(colour["ink"], colour["lit"])
    for sign in ("valid", "record", "lit-edge"):  # shapes
        assert _contrast(colour[sign], colour["page"]) >= 3, sign
    for n in range(6):
        assert _contrast(colour["ink"], colour[f"area{n}"]) >= 4.5


def test_rules_with_colours_are_written_out_once_more_in_dark() -> None:
    ink, page = COLOURS["ink"], COLOURS["page"]
    assert themed("  .a { fill: $ink; width: 1 }\n  .b { width: 2 }\n  .c { stroke: $page }") == (
        f"  .a {{ fill: {ink[0]}; width: 1 }}\n  .b {{ width: 2 }}\n  .c {{ stroke: {page[0]} }}\n"
        f"  @media (prefers-color-scheme: dark) {{\n    .a {{ fill: {ink[1]} }}\n    .c {{ stroke: {page[1]} }}\n  }}\n"
    )


def test_the_diagonal_is_told_where_there_is_one(repo: Repo) -> None:
    old = {"id": "d", "text": "x", "validFrom": "2020-01-01"}
    repo.apply({"session": "s", "at": "2024-01-02", "decisions": [old]})
    drawn = repo.run("timeline", "--plane", "--svg", "-").out
    assert 'class="diagonal"' not in drawn and "believed reads" not in drawn
    repo.apply({"session": "t", "at": "2024-01-03", "decisions": [{"id": "e", "text": "y", "validFrom": "2024-01-03"}]})
    drawn = repo.run("timeline", "--plane", "--svg", "-").out
    assert 'class="diagonal"' in drawn and "believed reads the diagonal" in drawn
