"""The exported Cypher, asked of Neo4j's own front end: its parser and semantic analysis for Cypher 5.

    npm install --prefix .neo4j @neo4j-cypher/language-support@2.0.0-next.38
    .venv/bin/pytest -m neo4j

It needs Node beside Python, so the README's test command leaves it out; `.ci/run` does not. No server is asked.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import hostile
import pytest
from test_cypher import statements

from ledger_cli.exchange import cypher
from ledger_cli.model import Episode
from tests.in_memory import invent

pytestmark = pytest.mark.neo4j

ROOT = Path(__file__).resolve().parents[2]


def asked(*scripts: str) -> list[dict[str, Any]]:
    """What the front end says of each script: its faults, and how many statements it found."""
    done = subprocess.run(
        ["node", Path(__file__).with_name("neo4j.cjs")],
        input=json.dumps(scripts), env={**os.environ, "NODE_PATH": str(ROOT / ".neo4j" / "node_modules")},
        capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def test_it_does_find_faults() -> None:
    wrong = ("MATCH (n) RETUR n;", "MATCH (n) RETURN m;", "CREATE (:A {t: 'it's'});")
    assert all(answer["faults"] for answer in asked(*wrong))


def test_an_export_has_no_fault_and_as_many_statements_as_it_should() -> None:
    scripts = [cypher.write(entries) for entries in ([], *(invent(seed, 20).entries for seed in range(4)))]
    expected = [{"faults": [], "statements": len(statements(script))} for script in scripts]
    assert asked(*scripts) == expected


def test_hostile_texts_stay_inside_of_their_strings() -> None:
    """Each text once, as that of an episode: four times as many take four times as long."""
    script = cypher.write(entry for entry in hostile.memory().entries if isinstance(entry, Episode))
    assert script.count("=HYPERLINK") == 1
    assert asked(script) == [{"faults": [], "statements": len(statements(script))}]
