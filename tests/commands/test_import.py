"""`ledger import`: where the session file goes, what is said of it, and what is never written over."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import DATA, Repo

if TYPE_CHECKING:
    from tests.commands.conftest import Golden
    from tests.conftest import Repo

FOLDER = DATA / "adr" / "adr-tools"


def test_the_session_file_is_data_and_what_became_of_the_records_is_talk(repo: Repo, golden: Golden) -> None:
    repo.git("init", "-q", "adr")
    for path in FOLDER.iterdir():
        (repo.path / "adr" / path.name).write_bytes(path.read_bytes())
    before = repo.checkpoint.read_bytes()
    said = repo.run("import", "adr", "adr")
    golden("import/adr.yaml", said.out)
    golden("import/adr.txt", said.err)
    assert repo.checkpoint.read_bytes() == before


def test_into_a_file_the_count_is_on_stdout_with_the_next_step(repo: Repo) -> None:
    said = repo.run("import", "adr", FOLDER, "-o", "sessions/adr.yaml")
    assert said.out == "wrote sessions/adr.yaml: 1 session, 7 items\n"
    assert said.err.splitlines()[-2:] == [
        "7 of 8 imported, 1 listed",
        "Next: read it, then `ledger session check sessions/adr.yaml`",
    ]
    assert "adr-tools" in (repo.path / "sessions" / "adr.yaml").read_text().splitlines()[0]


def test_as_json_every_record_has_its_outcome(repo: Repo, golden: Golden) -> None:
    said = repo.run("import", "adr", FOLDER, "-o", "new/folder/adr.yaml", "--json", "--session", "adr")
    golden("import/adr.json", said.out)
    assert said.err == ""


def test_it_needs_no_ledger(repo: Repo) -> None:
    repo.checkpoint.unlink()
    assert repo.run("import", "adr", FOLDER, "--session", "x").out.count("  - id:") == 8  # and an ending


def test_the_same_folder_gives_the_same_file_under_one_id(repo: Repo) -> None:
    one = repo.run("import", "adr", FOLDER, "--session", "x").out
    assert repo.run("import", "adr", FOLDER, "--session", "x").out == one
    assert "session: x\n" in one
    assert 'session: "import-adr-2026-06-01T12:00:00Z"\n' in repo.run("import", "adr", FOLDER).out


def test_a_session_file_is_never_written_over(repo: Repo) -> None:
    file = repo.path / "adr.yaml"
    file.write_text("edited")
    (repo.path / "x.csv").write_text("text\na\n")
    for words in (("adr", str(FOLDER)), ("csv", "x.csv")):
        said = repo.run("import", *words, "-o", "adr.yaml", code=1)
        assert said.err.startswith("error: adr.yaml is there already, and may have been edited\n")
        assert (said.out, file.read_text()) == ("", "edited")


def test_where_nothing_can_be_imported_it_is_refused_with_the_reasons(repo: Repo) -> None:
    folder = repo.path / "adr"
    folder.mkdir()
    (folder / "0001-a.md").write_text("# A\n\nDate: 2024-01-01\n\n## Status\n\nProposed\n")
    said = repo.run("import", "adr", "adr", "-o", "adr.yaml", code=1)
    assert (said.out, (repo.path / "adr.yaml").exists()) == ("", False)
    assert "nothing is decided yet: its status is 'Proposed'" in said.err
    assert "error: nothing could be imported" in said.err
    said = repo.run("import", "adr", "adr", "-o", "adr.yaml", "--json", code=1)
    assert (said.json["file"], said.json["sessions"], len(said.json["records"])) == (None, [], 1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("adr", "nowhere"), "nowhere is not a folder"),
        (("csv", "nowhere.csv"), "nowhere.csv: cannot be read: No such file"),
        (("jsonl", "nowhere.jsonl"), "nowhere.jsonl: cannot be read: No such file"),
    ],
)
def test_what_is_not_there_is_refused(repo: Repo, words: tuple[str, str], said: str) -> None:
    assert said in repo.run("import", *words, code=1).err


@pytest.mark.parametrize("by", ["\x1b[2J", "x" * 201, "  ", "\u200b"])
@pytest.mark.parametrize("words", [("adr", str(FOLDER)), ("csv", "x.csv"), ("jsonl", "x.jsonl")])
def test_a_name_that_no_session_could_have_is_refused_at_once(repo: Repo, words: tuple[str, str], by: str) -> None:
    (repo.path / "x.csv").write_text("text\na\n")
    (repo.path / "x.jsonl").write_text('{"text": "a"}\n')
    said = repo.run("import", *words, "-o", "x.yaml", "--by", by, code=2)
    assert "Invalid value for '--by'" in said.err
    assert not (repo.path / "x.yaml").exists()


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_what_is_no_file_of_text_is_refused_in_a_sentence(repo: Repo, form: str) -> None:
    (repo.path / "folder").mkdir()
    (repo.path / "loop").symlink_to("loop")
    (repo.path / "bytes").write_bytes(bytes(range(256)) * 1000)
    (repo.path / "empty").write_bytes(b"")
    for name, said in {
        "folder": "folder: cannot be read: Is a directory",
        "loop": "loop: cannot be read: Too many levels of symbolic links",
        "bytes": "bytes:1: not UTF-8 but UTF-16, or no text at all",
        "empty": "error: empty holds no record",
    }.items():
        assert repo.run("import", form, name, code=1).err.startswith(f"{said}\n")


def test_a_file_that_is_no_text_is_refused(repo: Repo) -> None:
    (repo.path / "x.csv").write_bytes(b"text\na\n\xff\n")
    assert "x.csv:3: not UTF-8 (byte 0xff)" in repo.run("import", "csv", "x.csv", code=1).err


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_what_a_spreadsheet_calls_unicode_text_is_refused_with_what_to_do(repo: Repo, encoding: str, form: str) -> None:
    (repo.path / "x").write_bytes("text\tid\na\tb\n".encode(encoding))
    err = repo.run("import", form, "x", code=1).err
    assert err.startswith("x:1: not UTF-8 but UTF-16, or no text at all\n")
    assert err.endswith("  hint: save it as UTF-8; a spreadsheet calls that CSV UTF-8\n")


def test_an_export_needs_a_ledger_to_go_to(story: Repo) -> None:
    (story.path / "x.jsonl").write_text(story.run("export", "--format", "jsonl").out)
    story.checkpoint.unlink()
    assert "there is no ledger" in story.run("import", "jsonl", "x.jsonl", code=1).err


def test_a_restored_export_says_what_came(story: Repo) -> None:
    (story.path / "x.csv").write_bytes(story.run("export", "--format", "csv").out.encode())
    assert story.run("import", "csv", "x.csv").out == "nothing to do, all of it is recorded already\n"
    entries = story.checkpoint.read_text().count('"recordedAt"')
    fresh = story.path / "fresh"
    fresh.mkdir()
    story.run("-C", fresh, "init")
    said = story.run("-C", fresh, "import", "csv", "../x.csv")
    assert said.out == f"restored 5 sessions, {entries} entries\n"
    assert (fresh / "snapshots" / "ledger.json").read_bytes() == story.checkpoint.read_bytes()


def test_standard_input_is_read_too(repo: Repo, ledger_process: Callable[..., Any]) -> None:
    table = "text,validFrom\none,2024-01-01\n"
    said = ledger_process("import", "csv", "-", "--session", "x", cwd=repo.path, input=table)
    assert (said.returncode, said.stdout.splitlines()[-3:-1]) == (0, ["  - id: x/d1", "    text: one"])
    assert said.stdout.startswith("# Imported from stdin: 1 of 1 records.")
    line = '{"entity": "a", "kind": "b", "recordedAt": "2024-01-01T00:00:00Z", "session": "s"}\n{"end": "ledger"}'
    assert ledger_process("import", "jsonl", "-", cwd=repo.path, input=line).stdout == "restored 1 session, 1 entry\n"


def test_a_name_that_would_move_the_cursor_is_shown_and_moves_none(repo: Repo) -> None:
    (repo.path / "adr").mkdir()
    (repo.path / "adr" / "1-\x1b[31mred\nimported  2-b.md").write_text("# X\n")
    (repo.path / "x.csv").write_text("text,\x1b[2J\na,b\n")
    said = repo.run("import", "adr", "adr", code=1).err
    assert "listed  1-⟨U+001B⟩[31mred⏎imported  2-b.md\n" in said
    assert "not read: ⟨U+001B⟩[2J\n" in repo.run("import", "csv", "x.csv").err


def test_files_are_found_and_written_from_the_folder_that_is_named(story: Repo) -> None:
    """As if started there (`-C`), like all commands; what is said fits where one stands."""
    elsewhere = Repo(story.path.parent / "elsewhere", story.capture)
    elsewhere.path.mkdir()
    where = ("-C", story.path)
    elsewhere.run(*where, "export", "--format", "jsonl", "-o", "all.jsonl")
    assert elsewhere.run(*where, "import", "jsonl", "all.jsonl", "--json").json["entries"] == 0
    shutil.copytree(FOLDER, story.path / "adr")
    elsewhere.run(*where, "import", "adr", "adr", "-o", "sessions/adr.yaml")
    assert (story.path / "sessions" / "adr.yaml").is_file()
    assert elsewhere.run(*where, "site", "public").out == f"wrote 21 files to {story.path / 'public'}\n"
    assert list(elsewhere.path.iterdir()) == []
