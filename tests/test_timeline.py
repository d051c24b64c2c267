"""The timeline's model: rows of what the ledger itself answers, for random histories and for the orders story."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from ledger_cli import holds
from ledger_cli.chains import Entanglement
from ledger_cli.history import History
from ledger_cli.instant import LAST
from ledger_cli.intervals import claim, meet, union
from ledger_cli.ledger import Ledger
from ledger_cli.model import Ending, Item, Link, Review, Stretch
from ledger_cli.timeline import Timeline, timeline
from ledger_cli.views import plane
from tests.in_memory import Memory, invent

if TYPE_CHECKING:
    from tests.conftest import Repo

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def drawn(memory: Memory) -> Timeline:
    """All of a history as one timeline."""
    history = History(memory.entries)
    return timeline(None, Entanglement(history, holds.sweep(history)), history.items.values(), NOW)


@pytest.mark.parametrize("seed", range(12))
def test_a_line_holds_and_has_lost_together_what_its_item_claims(seed: int) -> None:
    found = drawn(invent(seed))
    assert found.lines
    for line in found.lines:
        assert union(line.shown.holds, line.lost) == (claim(line.item),)
        assert not any(meet(one, other) for one in line.shown.holds for other in line.lost)


@pytest.mark.parametrize("seed", range(12))
def test_the_record_bar_says_at_every_moment_until_it_closed_whether_the_ledger_held_the_item_at_all(seed: int) -> None:
    memory = invent(seed)
    oracle, clocks = memory.oracle(), sorted({e.recorded_at for e in memory.entries})
    for line in drawn(memory).lines:
        closed = line.shown.closed_at or LAST
        for clock in clocks:
            inside = any(start <= clock and (end is None or clock < end) for start, end in line.record)
            held = any(oracle.holds(line.item.id, x, clock) for x in _moments(memory))
            assert inside == (held and line.item.recorded_at <= clock < closed), (line.item.id, clock)


def _moments(memory: Memory) -> list[datetime]:
    """Instants that tell apart whatever holds: every bound, where something begins or ends."""
    items = [e for e in memory.entries if isinstance(e, Item)]
    endings = [e.valid_to for e in memory.entries if isinstance(e, Ending)]
    return sorted({i.valid_from for i in items} | {i.valid_to for i in items if i.valid_to} | set(endings))


@pytest.mark.parametrize("seed", range(12))
def test_every_link_correction_ending_and_verdict_is_a_mark_once(seed: int) -> None:
    memory = invent(seed)
    told = [mark for line in drawn(memory).lines for mark in line.marks if mark.what != "closed"]
    entries = set(memory.entries)
    recorded = [e for e in entries if isinstance(e, Link | Ending | Review) or (isinstance(e, Item) and e.corrects)]
    assert sorted(mark.at for mark in told) == sorted(entry.recorded_at for entry in recorded)


@pytest.mark.parametrize("seed", range(12))
def test_what_hangs_together_follows_each_other_in_the_order_of_valid_time(seed: int) -> None:
    found = drawn(invent(seed))
    numbers = [line.chain for line in found.lines]
    assert numbers == sorted(numbers)
    for chain in found.chains():
        times = [(line.item.valid_from, line.item.recorded_at, line.item.id) for line in chain]
        assert times == sorted(times)
    by_slot: dict[tuple[str, str], set[int]] = {}
    for line in found.lines:
        if line.item.slot is not None:
            by_slot.setdefault((line.item.kind, line.item.slot), set()).add(line.chain)
    assert all(len(chains) == 1 for chains in by_slot.values())


def test_every_instant_of_a_line_is_on_the_scale_unless_it_is_far_off() -> None:
    found = drawn(invent(3))
    for line in found.lines:
        drawn_at = [at for i in (*line.shown.holds, *line.lost, *line.record) for at in i if at is not None]
        assert all(map(found.scale.shows, [*drawn_at, *(mark.at for mark in line.marks)]))


def ledger(repo: Repo) -> Ledger:
    return Ledger.find(repo.path, clock=lambda: NOW, say=lambda text: said.append(text))


said: list[str] = []


@pytest.mark.parametrize(
    ("subject", "ids"),
    [
        ("orders", ["d1", "d4", "d6"]),
        ("Orders", ["d1", "d4", "d6"]),
        ("orders/database", ["d1", "d4"]),
        ("d1", ["d1", "d4"]),
        ("d6", ["d6"]),
        ("nobody", []),
    ],
)
def test_the_subject_is_an_id_an_entity_or_a_slot(story: Repo, subject: str, ids: list[str]) -> None:
    assert [line.item.id for line in ledger(story).timeline(subject).lines] == ids


def test_without_a_subject_it_is_the_whole_ledger(story: Repo) -> None:
    assert sorted(line.item.id for line in ledger(story).timeline().lines) == [f"d{n}" for n in range(1, 9)]


def test_a_name_that_is_several_things_is_said_to_be(repo: Repo) -> None:
    repo.apply(
        {
            "session": "s1",
            "decisions": [
                {"id": "x", "text": "the id", "validFrom": "2024-01-01"},
                {"id": "y", "text": "the entity", "about": ["x"], "validFrom": "2024-01-01"},
                {"id": "z", "text": "the slot", "slot": "x", "validFrom": "2024-01-01"},
            ],
        }
    )
    said.clear()
    assert [line.item.id for line in ledger(repo).timeline("x").lines] == ["x"]
    assert said == ["note: 'x' is an id and an entity and a slot; taken as an id"]


def test_the_stretches_equal_those_of_the_document(story: Repo) -> None:
    """The four times of document 004's drawing: valid time from the items' bars, record time up to where it closed."""
    shown = {line.item.id: line for line in ledger(story).timeline().lines}
    times = {
        "d1": ("2024-01-01", "2024-01-10", "2024-01-01T09", "2024-02-01T09"),
        "d4": ("2024-01-10", None, "2024-02-01T09", None),
    }
    for id, (valid_from, valid_to, recorded, closed) in times.items():
        line = shown[id]
        assert line.shown.holds == ((_at(valid_from), _at(valid_to)),)
        assert line.record == ((_at(recorded), _at(closed)),)
    d6 = shown["d6"]
    assert d6.shown.holds == ()
    assert d6.record == ((_at("2024-02-06T09"), _at("2024-02-12T09")),)
    [mark] = d6.marks
    assert (mark.what, mark.by, mark.at) == ("rejected", "sam", _at("2024-02-12T09"))


def _at(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=UTC)


# The plane, read back from its drawing

SVG = "{http://www.w3.org/2000/svg}"


def _drawn(story: Repo) -> list[tuple[dict[str, float], list[dict[str, float]], dict[str, float]]]:
    """Each plane of the story's orders: its box, its areas, and its diagonal."""
    root = ElementTree.fromstring(story.run("timeline", "orders", "--plane", "--svg", "-").out)
    planes = []
    for group in root.iter(f"{SVG}g"):
        box = [r for r in group.findall(f"{SVG}rect") if r.get("class") == "box"]
        if box:
            areas = [r for r in group.iter(f"{SVG}rect") if (r.get("class") or "").startswith("area")]
            (diagonal,) = [line for line in group.iter(f"{SVG}line") if line.get("class") == "diagonal"]
            planes.append((_numbers(box[0]), [_numbers(a) for a in areas], _numbers(diagonal)))
    return planes


def _numbers(element: ElementTree.Element) -> dict[str, float]:
    return {name: float(value) for name, value in element.items() if re.fullmatch(r"-?[\d.]+", value)}


def test_the_areas_of_the_plane_are_the_stretches_valid_across_and_record_upwards(story: Repo) -> None:
    stretches = {i["id"]: i["stretches"] for i in story.run("timeline", "orders", "--json").json["items"]}
    across: list[tuple[datetime, float]] = []  # an instant of valid time, and where it is drawn in its box
    upwards: list[tuple[datetime, float]] = []
    planes = _drawn(story)
    for (box, areas, _), ids in zip(planes, (("d1", "d4"), ("d6",)), strict=True):
        told = [s for id in ids for s in stretches[id]]
        assert len(areas) == len(told)
        for area, s in zip(areas, told, strict=True):
            left, top = area["x"] - box["x"], area["y"] - box["y"]
            right, bottom = left + area["width"], top + area["height"]
            across.append((datetime.fromisoformat(s["validFrom"]), left))
            upwards.append((datetime.fromisoformat(s["knownFrom"]), box["height"] - bottom))
            if s["validTo"] is None:
                assert right == pytest.approx(box["width"], abs=1)
            else:
                across.append((datetime.fromisoformat(s["validTo"]), right))
            if s["knownTo"] is None:
                assert top == pytest.approx(0, abs=1)
            else:
                upwards.append((datetime.fromisoformat(s["knownTo"]), box["height"] - top))
    for edges in (across, upwards):  # time runs evenly along each axis, the later the further
        (first, start), (last, end) = min(edges), max(edges)
        assert end > start and len({at for at, _ in edges}) > 2
        for at, place in edges:
            assert place == pytest.approx(start + (end - start) * ((at - first) / (last - first)), abs=1)
    for box, _, diagonal in planes:  # where the instant asked is the instant known
        for n in "12":
            x, y = diagonal[f"x{n}"] - box["x"], box["y"] + box["height"] - diagonal[f"y{n}"]
            assert _instant(across, x) == pytest.approx(_instant(upwards, y), abs=6 * 3600)


def _instant(edges: list[tuple[datetime, float]], place: float) -> float:
    """What instant stands at a place, in seconds, by the first and the last edge."""
    (first, start), (last, end) = min(edges), max(edges)
    return first.timestamp() + (last - first).total_seconds() * (place - start) / (end - start)


def test_an_overlap_is_told_iff_two_items_of_a_chain_were_ever_believed_at_once() -> None:
    told = {True: 0, False: 0}
    for seed in range(40):
        found = drawn(invent(seed, 6))
        both = any(
            one is not other and _meet(one_s, other_s)
            for chain in found.chains()
            for one in chain for one_s in one.stretches
            for other in chain for other_s in other.stretches
        )  # fmt: skip
        assert ("overlap: both were believed" in plane.draw(found)) == both, seed
        told[both] += 1
    assert min(told.values()) > 3


def _meet(one: Stretch, other: Stretch) -> bool:
    """Do two rectangles have a point in common?"""
    valid = max(one.valid_from, other.valid_from) < min(one.valid_to or LAST, other.valid_to or LAST)
    return valid and max(one.known_from, other.known_from) < min(one.known_to or LAST, other.known_to or LAST)
