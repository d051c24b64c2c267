"""Which entities a question names."""

from __future__ import annotations

import pytest

from ledger_cli.memory.named import named_in
from ledger_cli.model import entity_key

KEYS = [
    entity_key(name)
    for name in ("Orders", "orders service", "C++", ".NET", "équipe", "数据库", "서울", "a.b", "straße")
]


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("the orders service", ["orders service", "orders"]),
        ("ORDERS\t\n Service", ["orders service", "orders"]),
        ("preorders", []),
        ("orders2", []),
        ("orders_service", []),
        ("(orders)", ["orders"]),
        ("orders", ["orders"]),
        ("reorders, then orders", ["orders"]),
        ("is it C++?", ["c++"]),
        ("on .net core", [".net"]),
        ("E\u0301quipe?", ["équipe"]),
        ("équipes", []),
        ("我们用什么数据库吗", ["数据库"]),
        ("서울은 어때?", ["서울"]),
        ("axb", []),
        ("a.b", ["a.b"]),
        ("STRASSE", ["strasse"]),
        ("", []),
        ("   ", []),
    ],
)
def test_names_stand_on_word_boundaries_the_longest_first(question: str, named: list[str]) -> None:
    assert named_in(question, KEYS) == named


def test_of_one_length_code_points_decide() -> None:
    assert named_in("b a c", ["c", "a", "b"]) == ["a", "b", "c"]
