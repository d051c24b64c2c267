"""What `remember` and `thread` load: of the extras nothing that they do not ask."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.conftest import ROOT

if TYPE_CHECKING:
    from tests.conftest import Repo

HEAVY = ("openai", "httpx", "httpx2", "pydantic", "mcp", "onnxruntime", "tokenizers", "numpy", "rich")


@pytest.mark.parametrize(
    "command",
    [
        ["remember", "c.txt", "--session", "s9", "--replay", "a.json", "-o", "-"],
        ["remember", "c.txt", "--session", "s9", "--command", "cat a.json", "-o", "-"],
        ["thread", "append", "t", "hello"],
        ["thread", "compact", "t", "--summary", "all"],
        ["thread", "prepare", "t", "--json"],
    ],
    ids=" ".join,
)
def test_without_an_endpoint_nothing_heavy_is_imported(repo: Repo, command: list[str]) -> None:
    (repo.path / "c.txt").write_text("Ada: Alice owns it.\n")
    (repo.path / "a.json").write_text(
        '{"entities": [], "decisions": [], "facts": [{"text": "x", "about": [], "from": [1]}]}'
    )
    code = (
        "import sys\n"
        "from ledger_cli.app import run\n"
        f"assert run({command!r}) == 0\n"
        f"print(sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repo.path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert done.stderr.splitlines()[-1] == "[]"
