"""What is written comes back exactly; the order of sessions and a second time change nothing."""

from __future__ import annotations

import itertools
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import worlds

from ledger_cli.instant import LAST
from ledger_cli.model import Ending, Entity, Entry, Episode, Item, Link, Review, Stretch, entity_key
from ledger_cli.store import statements
from ledger_cli.store.engine import DamagedStore, Engine, get
from ledger_cli.store.graph import Graph


@pytest.fixture
def engine() -> type[Engine]:
    return get("kglite")


def built(engine: type[Engine], world: worlds.World) -> Graph:
    return Graph.build(engine, world.entries, world.stretches, world.shown)


def added(engine: type[Engine], world: worlds.World, sessions: list[list[Entry]]) -> Graph:
    graph = Graph.build(engine, [], {}, {})
    for entries in sessions:
        graph.add(entries, {}, {})
    graph.add([], world.stretches, world.shown)
    return graph


def answers(graph: Graph, world: worlds.World) -> dict[str, object]:
    """All a graph says, in a form that does not depend on how it came about."""
    ids = [item.id for item in graph.all_items()]
    keys = sorted({entity_key(n) for n in graph.entity_names()})
    return {
        "items": graph.items(ids),
        "all": sorted(graph.component(ids), key=repr),
        "stretches": {id: sorted(s, key=repr) for id, s in graph.stretches(ids).items()},
        "shown": graph._engine.run("MATCH (d:Item) RETURN d.id, d.validTo, d.closedAt, d.place ORDER BY d.id", {}),
        "episodes": graph.episodes(e.id for e in world.of(Episode)),  # type: ignore[union-attr]
        "entities": graph.entities(keys),
        "names": graph.entity_names(),
        "sessions": graph.sessions(),
        "newest": graph.newest(),
        "counts": graph.counts(),
        "about": {key: graph.about(key) for key in keys},
        "slots": graph.slot_items(),
        "holding": [graph.holding(key, worlds.day(x), worlds.day(8)) for key in [None, *keys] for x in (0, 2)],
    }


def recorded(entries: list[Entry], *kinds: type) -> set[Entry]:
    return {e for e in entries if isinstance(e, kinds)}


@pytest.mark.parametrize("write", ["build", "add", "saved"])
def test_everything_reads_back_exactly(engine: type[Engine], write: str, tmp_path: Path) -> None:
    world = worlds.orders()
    graph = built(engine, world) if write != "add" else added(engine, world, world.sessions())
    if write == "saved":
        graph.save(tmp_path / "s1.kgl")
        graph = Graph.load(engine, tmp_path / "s1.kgl")
    ids = [item.id for item in graph.all_items()]
    assert set(graph.component(ids)) == recorded(world.entries, Item, Link, Ending, Review)
    assert graph.items(ids) == {i.id: i for i in world.of(Item)}  # type: ignore[union-attr]
    assert sorted(graph.all_items(), key=lambda i: i.id) == list(graph.items(ids).values())
    assert graph.episodes(["e1", "e2", "nope"]) == {e.id: e for e in world.of(Episode)}  # type: ignore[union-attr]
    assert graph.stretches([*ids, "nope"]) == {**world.stretches, "nope": []}
    assert graph.entities(["orders", "payments", "nope"]) == {
        "orders": ("Orders", "service"),  # of the same session the smaller spelling
        "payments": ("PAYMENTS", None),
    }
    assert graph.newest() == worlds.day(42)
    assert graph.session_at("s2") == worlds.day(31)
    assert graph.session_at("nope") is None
    none = {"link": 0, "ending": 0, "review": 0}
    assert graph.sessions()[0] == ("s1", worlds.day(0), {"decision": 1, "fact": 1, "episode": 1, **none})
    assert graph.session_ids() == ["s1", "s2", "s3", "s4", "s5", "s6"]
    assert [i.id for i in graph.about("orders")] == ["f1", "d1", "d4", "d5"]
    assert [i.id for i in graph.slot_items()] == ["d1", "d4", "d5"]


@pytest.mark.parametrize("seed", range(12))
def test_random_ledgers_read_back_exactly(engine: type[Engine], seed: int) -> None:
    world = worlds.some(seed)
    graph = built(engine, world)
    ids = [i.id for i in world.of(Item)]  # type: ignore[union-attr]
    assert set(graph.component(ids)) == recorded(world.entries, Item, Link, Ending, Review)
    assert set(graph.episodes(e.id for e in world.of(Episode)).values()) == recorded(world.entries, Episode)  # type: ignore[union-attr]
    assert {id: set(s) for id, s in graph.stretches(ids).items()} == {id: set(world.stretches[id]) for id in ids}


@pytest.mark.parametrize("seed", range(12))
def test_building_is_adding(engine: type[Engine], seed: int) -> None:
    world = worlds.some(seed)
    whole = answers(built(engine, world), world)
    assert answers(added(engine, world, world.sessions()), world) == whole
    shuffled = list(world.entries)
    random.Random(seed).shuffle(shuffled)
    mixed = worlds.World(shuffled, world.stretches, world.shown)
    assert answers(built(engine, mixed), world) == whole


def test_sessions_that_do_not_name_each_other_may_come_in_any_order(engine: type[Engine]) -> None:
    def session(n: int, name: str, kind: str) -> list[Entry]:
        at = worlds.day(n)
        return [
            Entity(name, kind, at, f"s{n}"),
            Item("fact", f"f{n}", "x", at, at, f"s{n}", about=(name.upper(),)),
            Episode(f"e{n}", "message", "x", at, f"s{n}", (name,)),
        ]

    parts = [session(2, "Orders", "team"), session(1, "orders", "service"), session(3, "ORDERS", "team")]
    seen = set()
    for order in itertools.permutations(parts):
        graph = Graph.build(engine, [], {}, {})
        for entries in order:
            graph.add(entries, {}, {})
        seen.add(repr((graph.entities(["orders"]), graph.newest(), graph.session_ids(), graph.about("orders"))))
    assert len(seen) == 1
    assert graph.entities(["orders"]) == {"orders": ("ORDERS", "service")}


def test_twice_is_once(engine: type[Engine]) -> None:
    for world in (worlds.orders(), worlds.some(3)):
        once = built(engine, world)
        expected = answers(once, world)
        for entries in world.sessions():
            once.add(entries, world.stretches, world.shown)
        assert answers(once, world) == expected


def test_an_entry_given_twice_in_one_call_is_written_once(engine: type[Engine]) -> None:
    world = worlds.orders()
    double = worlds.World(world.entries * 2, world.stretches, world.shown)
    assert answers(built(engine, double), world) == answers(built(engine, world), world)
    assert answers(added(engine, double, [double.entries]), world) == answers(built(engine, world), world)


def test_stretches_are_replaced_as_a_set(engine: type[Engine]) -> None:
    world = worlds.orders()
    graph = built(engine, world)
    new = [
        Stretch(worlds.day(1), None, worlds.day(2), worlds.day(3)),
        Stretch(worlds.day(5), None, worlds.day(3), None),
    ]
    graph.add([], {"d1": new, "d5": []}, {"d1": (None, None)})
    graph.add([], {"d1": new, "d5": []}, {"d1": (None, None)})
    assert graph.stretches(["d1", "d4", "d5"]) == {"d1": new, "d4": world.stretches["d4"], "d5": []}
    assert graph.counts()["Stretch"] == 3
    [row] = graph.query("MATCH (d:Decision {id: 'd1'}) RETURN d.validTo AS validTo, d.closedAt AS closedAt").rows
    assert row == {"validTo": None, "closedAt": None}


def test_an_id_that_is_there_stays_as_it_is(engine: type[Engine]) -> None:
    world = worlds.orders()
    graph = built(engine, world)
    graph.add([Item("fact", "d1", "other", worlds.day(0), worlds.day(50), "s9")], {}, {})
    assert graph.items(["d1"])["d1"].text == "orders uses postgres"
    assert graph.query("MATCH (d {id: 'd1'}) RETURN labels(d) AS l").rows == [{"l": ["Item", "Decision"]}]


def test_of_two_items_with_one_id_the_earliest_counts(engine: type[Engine]) -> None:
    items: list[Entry] = [Item("fact", "f", str(n), worlds.day(n), worlds.day(n), f"s{n}") for n in range(3)]
    for order in itertools.permutations(items):
        graph = Graph.build(engine, order, {}, {})
        assert [i.text for i in graph.all_items()] == ["0"]


def test_instants_are_exact_to_both_ends_of_time(engine: type[Engine]) -> None:
    first = datetime(1, 1, 1, tzinfo=UTC)
    item = Item("fact", "f", "x", first, LAST, "s", LAST)
    stretch = Stretch(first, first + timedelta(microseconds=1), first, LAST)
    graph = Graph.build(engine, [item], {"f": [stretch]}, {})
    assert graph.all_items() == [item]
    assert graph.stretches(["f"]) == {"f": [stretch]}
    assert graph.holding(None, first, first) == [item]
    assert graph.holding(None, first + timedelta(microseconds=1), first) == []
    assert graph.holding(None, first, LAST) == []


def test_holding_is_half_open_on_both_axes_and_says_the_same_for_an_entity_and_the_ledger(engine: type[Engine]) -> None:
    def held(s: Stretch, x: datetime, k: datetime) -> bool:
        return (s.valid_from <= x and (s.valid_to is None or x < s.valid_to)) and (
            s.known_from <= k and (s.known_to is None or k < s.known_to)
        )

    for seed in range(6):
        world = worlds.some(seed, sessions=10)
        graph = built(engine, world)
        items = graph.all_items()
        for x, k in itertools.product(map(worlds.day, range(5)), map(worlds.day, range(0, 11, 2))):
            expected = sorted(
                (i for i in items for s in world.stretches[i.id] if held(s, x, k)), key=lambda i: (i.text, i.id)
            )
            assert sorted(set(graph.holding(None, x, k)), key=lambda i: (i.text, i.id)) == list(dict.fromkeys(expected))
            assert {i.id for i in graph.holding("orders", x, k)} == {i.id for i in expected if "orders" in i.about}


def test_the_statements_that_carry_the_rule_say_the_same() -> None:
    def rule(name: str) -> str:
        text = statements.text(name)
        return text[text.index("WHERE s.validFrom") : text.index("RETURN")]

    assert rule("holding") == rule("holding_all") == rule("facts_beside")


def test_the_facts_beside_are_those_that_hold_about_any_of_the_entities(engine: type[Engine]) -> None:
    for seed in range(6):
        world = worlds.some(seed, sessions=10)
        graph = built(engine, world)
        keys = sorted({entity_key(n) for n in graph.entity_names()})
        names = {key: name for key, (name, _) in graph.entities(keys).items()}
        for x, k in itertools.product(map(worlds.day, range(5)), map(worlds.day, range(0, 11, 2))):
            found = {(via, words.id) for via, words in graph.facts_beside(keys[::2], x, k)}
            assert found == {
                (names[key], i.id) for key in keys[::2] for i in graph.holding(key, x, k) if i.kind == "fact"
            }


def test_the_words_of_all_that_ever_held_come_with_its_stretches(engine: type[Engine]) -> None:
    world = worlds.some(3, sessions=10)
    graph = built(engine, world)
    items = {i.id: i for i in graph.all_items()}
    held = graph.held()
    assert [words.id for words, _ in held] == sorted(id for id, its in world.stretches.items() if its)
    for words, stretches in held:
        item = items[words.id]
        assert words == (item.id, item.text, item.rationale, item.slot, item.about)
        assert sorted(stretches, key=repr) == sorted(world.stretches[item.id], key=repr)


def test_an_entity_is_known_since_it_was_named_and_its_kind_since_that_was_said(engine: type[Engine]) -> None:
    entries: list[Entry] = [
        Item("fact", "f1", "x", worlds.day(0), worlds.day(1), "s1", about=("Orders",)),
        Entity("orders", "service", worlds.day(2), "s2"),
        Entity("mysql", "database", worlds.day(3), "s3"),
    ]
    graph = Graph.build(engine, entries, {}, {})
    instants = [worlds.day(n) - timedelta(microseconds=m) for n in range(1, 4) for m in (1, 0)]
    assert [graph.entities_known(at) for at in instants] == [
        {},
        {"orders": ("Orders", None)},
        {"orders": ("Orders", None)},
        {"orders": ("Orders", "service")},
        {"orders": ("Orders", "service")},
        {"orders": ("Orders", "service"), "mysql": ("mysql", "database")},
    ]


# Components


def chain(n: int, by: str) -> list[Entry]:
    items = [Item("fact", f"f{i:03}", "x", worlds.day(i), worlds.day(i), f"s{i}",
                  corrects=f"f{i - 1:03}" if i and by == "corrections" else None) for i in range(n)]  # fmt: skip
    links = [Link(f"f{i - 1:03}", f"f{i:03}", worlds.day(i), f"s{i}") for i in range(1, n) if by == "links"]
    return [*items, *links]


@pytest.mark.parametrize("by", ["links", "corrections"])
@pytest.mark.parametrize("start", ["f000", "f025", "f049"])
def test_a_chain_of_fifty_is_found_whole(engine: type[Engine], by: str, start: str) -> None:
    entries = chain(50, by)
    graph = Graph.build(engine, [*entries, Item("fact", "other", "x", worlds.day(0), worlds.day(0), "s0")], {}, {})
    assert set(graph.component([start])) == set(entries)


def test_links_like_diamonds_cost_no_more_than_their_number(engine: type[Engine]) -> None:
    items: list[Entry] = [
        Item("fact", f"f{n}{c}", "x", worlds.day(n), worlds.day(n), f"s{n}") for n in range(40) for c in "abc"
    ]
    links: list[Entry] = [
        Link(f"f{n}{a}", f"f{n + 1}{b}", worlds.day(n), "l") for n in range(39) for a in "abc" for b in "abc"
    ]
    graph = Graph.build(engine, items + links, {}, {})
    assert set(graph.component(["f20b"])) == {*items, *links}


def test_a_component_goes_over_slots_of_one_kind_only(engine: type[Engine]) -> None:
    def item(kind: str, id: str, slot: str | None) -> Item:
        return Item(kind, id, "x", worlds.day(0), worlds.day(0), "s", slot=slot)  # type: ignore[arg-type]

    entries: list[Entry] = [
        item("decision", "d1", "a"), item("decision", "d2", "a"), item("fact", "f1", "a"), item("decision", "d3", "b"),
        item("decision", "d4", "b"), Link("d2", "d3", worlds.day(1), "s2"), item("decision", "d5", None),
    ]  # fmt: skip
    graph = Graph.build(engine, entries, {}, {})
    whole = {"d1", "d2", "d3", "d4"}
    assert {e.id for e in graph.component(["d1"]) if isinstance(e, Item)} == whole
    assert {e.id for e in graph.component([], [("fact", "a")]) if isinstance(e, Item)} == {"f1"}
    assert {e.id for e in graph.component(["f1"], [("decision", "b")]) if isinstance(e, Item)} == {"f1", *whole}
    assert graph.component(["nope"], [("fact", "nope")]) == []
    assert graph.component([]) == []


def test_a_place_is_the_start_of_all_corrections_also_over_sessions(engine: type[Engine]) -> None:
    entries = chain(6, "corrections")
    graph = Graph.build(engine, entries[:2], {}, {})
    graph.add(entries[2:4], {}, {})
    graph.add(entries[4:], {}, {})
    found = graph.query("MATCH (d:Item)-[:IN_PLACE]->(p) RETURN d.id AS id, p.id AS p ORDER BY id").rows
    assert found == [{"id": f"f00{n}", "p": "f000"} for n in range(1, 6)]


def test_touched_names_what_a_write_changed(engine: type[Engine]) -> None:
    graph = built(engine, worlds.orders())

    def ids(after: float, until: float) -> set[str]:
        return {e.id for e in graph.touched(worlds.day(after), worlds.day(until)) if isinstance(e, Item)}

    assert ids(0, 31) == {"d1", "d4"}  # d1 was closed then
    assert ids(31, 32) == {"d4", "d5"}
    assert ids(32, 40) == {"d5"}  # ended
    assert ids(40, 41) == {"f1"}  # reviewed
    assert ids(42, 99) == set()


# Search


def texts(engine: type[Engine], *given: str, rationale: str | None = None) -> Graph:
    day = worlds.day(0)
    entries = [Item("fact", f"f{n}", text, day, day, "s", rationale=rationale) for n, text in enumerate(given)]
    return Graph.build(engine, entries, {}, {})


def found(graph: Graph, words: str, limit: int = 10) -> list[str]:
    return [item.id for item, _ in graph.search(words, limit)]


def test_search_ranks_by_words_then_ids(engine: type[Engine]) -> None:
    graph = texts(engine, "orders uses postgres", "cache order lookups in redis", "orders uses mysql", "search")
    assert found(graph, "redis cache") == ["f1"]
    assert found(graph, "orders") == ["f0", "f2"]
    assert found(graph, "orders", limit=1) == ["f0"]
    assert found(graph, "nothing like it") == []
    assert found(graph, "") == found(graph, "  ") == []
    assert graph.search("redis")[0][1] > 0


def test_search_finds_what_the_index_misses(engine: type[Engine]) -> None:
    graph = texts(engine, "the Café is open", "数据库迁移到上海", "postgres", "STRASSE", rationale="Überlegung")
    assert found(graph, "cafe") == ["f0"]
    assert found(graph, "迁移") == ["f1"]
    assert found(graph, "post") == ["f2"]
    assert found(graph, "straße") == ["f3"]
    assert found(graph, "postgres 迁移") == ["f2", "f1"]  # a word the index knows, and one it does not
    assert found(graph, "uberlegung") == ["f0", "f1", "f2", "f3"]


SPECIAL = ["(", '"', "'", "*", "a:b", "AND OR NOT", "\\", "$x {}", "🦀", "\u0301", "~1 ^2", "]", worlds.HOSTILE]


@pytest.mark.parametrize("words", SPECIAL)
def test_no_character_breaks_a_search(engine: type[Engine], words: str) -> None:
    graph = texts(engine, worlds.HOSTILE, "plain")
    graph.search(words, 5)


def test_search_works_on_what_is_loaded_and_leaves_no_index_behind(engine: type[Engine], tmp_path: Path) -> None:
    graph = texts(engine, "orders uses redis")
    assert found(graph, "redis") == ["f0"]
    graph.add([Item("fact", "g", "more redis", worlds.day(0), worlds.day(0), "s")], {}, {})
    assert set(found(graph, "redis")) == {"f0", "g"}
    graph.save(tmp_path / "a")
    loaded = Graph.load(engine, tmp_path / "a")
    assert loaded.query("SHOW INDEXES").rows == []
    assert set(found(loaded, "redis")) == {"f0", "g"}
    assert found(loaded.frozen(), "uses") == ["f0"]


# Files


def test_a_file_that_is_no_graph_is_a_damaged_store(engine: type[Engine], tmp_path: Path) -> None:
    file = tmp_path / "s1.kgl"
    with pytest.raises(FileNotFoundError):
        Graph.load(engine, file)
    for data in (b"", b"no graph", b"\0" * 5000):
        file.write_bytes(data)
        with pytest.raises(DamagedStore):
            Graph.load(engine, file)


def test_a_flipped_byte_is_found_at_load(engine: type[Engine], tmp_path: Path) -> None:
    built(engine, worlds.many(200)).save(tmp_path / "a")
    data = bytearray((tmp_path / "a").read_bytes())
    pick = random.Random(1)
    for writable in (False, True):
        for _ in range(12):
            at = pick.randrange(len(data))
            broken = bytearray(data)
            broken[at] ^= 1 << pick.randrange(8)
            (tmp_path / "b").write_bytes(broken)
            with pytest.raises(DamagedStore):
                Graph.load(engine, tmp_path / "b", writable=writable)


def test_a_write_leaves_the_columns_of_items_as_fast_to_load_as_a_rebuild(engine: type[Engine], tmp_path: Path) -> None:
    """Text that is SET on a node is rewritten in place; kglite then keeps the whole column off the mapped file."""
    built(engine, worlds.many(500)).save(tmp_path / "a")
    graph = Graph.load(engine, tmp_path / "a", writable=True)
    at = worlds.day(9999)
    graph.add([Item("fact", "f", "x", at, at, "s", about=("new", "service 1"))], {"f": []}, {"f": (None, at)})
    graph.save(tmp_path / "b")
    for name in "ab":
        info = Graph.load(engine, tmp_path / name)._engine._graph.graph_info()  # type: ignore[attr-defined]
        assert not [part for part in info.get("mapped_fallbacks") or () if "Entity" not in part["part"]]


def test_a_loaded_graph_can_be_written_and_saved_again(engine: type[Engine], tmp_path: Path) -> None:
    world = worlds.some(5)
    first, *rest = world.sessions()
    Graph.build(engine, first, {}, {}).save(tmp_path / "0")
    for n, entries in enumerate(rest):
        graph = Graph.load(engine, tmp_path / str(n), writable=True)
        graph.add(entries, {}, {})
        graph.save(tmp_path / str(n + 1))
    graph.add([], world.stretches, world.shown)
    assert answers(graph, world) == answers(built(engine, world), world)
