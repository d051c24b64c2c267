"""What new entries meet in a checkpoint is found in its bytes, all of it, without reading the rest."""

from __future__ import annotations

import random

import pytest

from ledger_cli import checkpoint
from ledger_cli.excerpt import Excerpt, inserted
from ledger_cli.invariants import named
from ledger_cli.layout import group_name
from ledger_cli.model import Entity, Entry, Episode, Item, entity_key
from tests.histories import Histories
from tests.in_memory import Memory
from tests.test_merge import grow, item

ONE, TWO = item("d1", "s1", slot="p"), item("d2", "s2")


def met(base: list[Entry], new: list[Entry]) -> set[Entry]:
    """By going through all of the base until nothing is found any more."""
    slots = {e.slot for e in new if isinstance(e, Item)} - {None}
    ids = {id for e in new for id in named(e)}
    found: set[Entry] = set()
    while True:
        known = len(found), len(ids), len(slots)
        for entry in base:
            if isinstance(entry, Item) and (entry.id in ids or entry.slot in slots or entry.corrects in ids):
                found.add(entry)
                ids |= {entry.id, *named(entry)}
                slots |= {entry.slot} - {None}
            elif not ids.isdisjoint(named(entry)):
                found.add(entry)
                ids.update(named(entry))
        if known == (len(found), len(ids), len(slots)):
            break
    cited = {id for e in (*new, *found) if isinstance(e, Item) for id in e.evidence}
    keys = {entity_key(e.name) for e in new if isinstance(e, Entity)}
    return found | {
        e
        for e in base
        if (isinstance(e, Episode) and e.id in cited) or (isinstance(e, Entity) and entity_key(e.name) in keys)
    }


def test_all_that_a_session_meets_is_found() -> None:
    sizes = []
    for seed in range(60):
        memory = Memory()
        grow(Histories(random.Random(seed), wild=0.1), memory, 12)
        for session in {e.session for e in memory.entries}:
            base = [e for e in memory.entries if e.session < session]
            known = {e.id for e in base if isinstance(e, Item)}
            # What names an item that came later is no session on top of these.
            new = [e for e in memory.entries if e.session == session]
            if {id for e in new for id in named(e)} <= known | {e.id for e in new if isinstance(e, Item)}:
                excerpt = Excerpt(checkpoint.render(e for e in base if known.issuperset(named(e))))
                found = excerpt.around(new)
                assert len(found) == len(set(found))
                assert set(found) == met([e for e in base if known.issuperset(named(e))], new), (seed, session)
                assert all(excerpt.group_of(e.id) == group_name(e) for e in found if isinstance(e, Item))
                sizes.append(len(found))
    assert len(sizes) > 300 and max(sizes) > 20  # or it says little


def test_ids_that_need_escapes_are_found() -> None:
    odd = [item('d"1\\', "s1"), item("d.1", "s1"), item("dx1", "s1")]
    excerpt = Excerpt(checkpoint.render(odd))
    assert excerpt.around([item("d9", "s9", corrects='d"1\\')]) == odd[:1]
    assert excerpt.around([item("d9", "s9", corrects="d.1")]) == odd[1:2]


def test_a_session_or_an_id_that_is_recorded_is_known() -> None:
    episode = Episode("e1", "message", "said", ONE.recorded_at, "s1")
    excerpt = Excerpt(checkpoint.render([ONE, TWO, episode]))
    assert excerpt.holds([item("d9", "s2")])
    assert excerpt.holds([item("d1", "s9")])
    assert excerpt.holds([Episode("e1", "message", "other", ONE.recorded_at, "s9")])
    assert not excerpt.holds([item("e1", "s9"), Episode("d1", "message", "other", ONE.recorded_at, "s9")])
    assert not excerpt.holds([item("d", "s")])


def test_only_what_was_met_has_a_group() -> None:
    excerpt = Excerpt(checkpoint.render([ONE, TWO]))
    excerpt.around([item("d9", "s9", slot="p")])
    assert excerpt.group_of("d1") == "slot p"
    with pytest.raises(KeyError):
        excerpt.group_of("d2")


def test_a_line_that_is_met_and_cannot_be_read_is_refused() -> None:
    excerpt = Excerpt(checkpoint.render([ONE, TWO]).replace(b'"text": ', b'"text":', 1))
    assert excerpt.around([item("d9", "s9", slot="q")]) == []
    with pytest.raises(ValueError):
        excerpt.around([item("d9", "s9", slot="p"), item("d8", "s9", corrects="d2")])


def test_lines_between_those_of_another_file_are_inserted() -> None:
    rng = random.Random(7)
    yes = no = 0
    for _ in range(3000):
        base = [rng.choice(["a", "b", "ab", "", "x" * 70_000]) for _ in range(rng.randint(0, 6))]
        data = list(base)
        for _ in range(rng.randint(0, 4)):
            data.insert(rng.randint(0, len(data)), rng.choice(["a", "b", "c", ""]))
        if rng.random() < 0.3 and data:
            data.pop(rng.randrange(len(data)))
        rest = iter(data)
        is_inside = all(line in rest for line in base)  # as a subsequence
        found = inserted(_file(base), _file(data))
        assert (found is not None) == is_inside, (base, data)
        if found is None:
            no += 1
            continue
        yes += 1
        assert sorted([*found, *_file(base).splitlines(True)]) == sorted(_file(data).splitlines(True))
    assert yes > 1000 and no > 200


def test_a_last_line_without_its_end_is_another_line() -> None:
    assert inserted(b"a\nb", b"a\nb\n") is None
    assert inserted(b"a\n", b"a\nb") == [b"b"]


def _file(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
