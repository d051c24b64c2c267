"""Golden screens and JSON: files in tests/golden, refreshed with `pytest tests/commands --update-golden`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Repo

GOLDEN = Path(__file__).resolve().parents[1] / "golden"

Golden = Callable[[str, str], None]

LATER: list[dict[str, Any]] = [
    {
        "session": "session-5",
        "at": "2024-03-10T09:00:00Z",
        "by": "memory-agent",
        "entities": [{"name": "Ada", "kind": "person"}],
        "episodes": [
            {
                "id": "e1",
                "kind": "message",
                "at": "2024-03-10T08:30:00Z",
                "text": "Ada takes the orders pager in March",
                "mentions": ["Ada", "orders"],
            },
            {"id": "e2", "kind": "document", "text": "the runbook of payments"},
        ],
        "facts": [
            {
                "id": "f1",
                "text": "Ada is on call for orders",
                "rationale": "she asked for it",
                "slot": "orders/on-call",
                "about": ["Ada", "orders"],
                "validFrom": "2024-03-01",
                "validTo": "2024-04-01",
                "from": "e1",
                "confidence": 0.9,
            }
        ],
        "decisions": [{"id": "d9", "corrects": "d5", "text": "payments retries failed charges 5 times", "from": "e2"}],
    },
    {
        "session": "session-6",
        "at": "2024-03-20T09:00:00Z",
        "by": "sam",
        "decisions": [
            {"id": "d10", "text": "charge in euros", "about": ["payments"], "validFrom": "2024-03-15"},
            {
                "id": "d11",
                "text": "search uses typesense",
                "slot": "search/engine",
                "about": ["search"],
                "validFrom": "2026-09-01",
            },
        ],
    },
    {
        "session": "session-7",
        "at": "2024-04-02T09:00:00Z",
        "by": "mia",
        "endings": [{"id": "d10", "validTo": "2024-04-01", "reason": "back to dollars"}],
        "reviews": [{"reinstate": "d6", "reason": "reads are slow after all"}],
    },
    {
        "session": "session-8",
        "at": "2024-04-09T09:00:00Z",
        "reviews": [
            {"reject": {"end": "d10"}, "by": "sam", "reason": "euros it is"},
            {"reject": {"old": "d7", "new": "d11"}, "by": "sam", "reason": "a trial beside it"},
            {"reject": "d11", "by": "sam", "reason": "no trial"},
        ],
    },
]


@pytest.fixture(autouse=True)
def named_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    """Help and usage name the program by how it was started."""
    monkeypatch.setattr(sys, "argv", ["ledger"])


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare a text with the golden file of that name; with --update-golden, write it."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden", default=False):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        assert path.exists(), f"there is no golden file {name}: run with --update-golden, and read it"
        assert text == path.read_text(encoding="utf-8")

    return compare


@pytest.fixture
def long_story(story: Repo) -> Repo:
    """The orders story, and what came later: a fact with its evidence, a correction, an ending, more reviews."""
    story.apply(*LATER)
    return story
