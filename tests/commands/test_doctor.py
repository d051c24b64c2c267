"""`ledger doctor`: what is set up and what is not, each with the command that mends it."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kglite
import pytest

if TYPE_CHECKING:
    from tests.commands.conftest import Golden
    from tests.conftest import Repo


@pytest.fixture(autouse=True)
def no_relate(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("ledger_cli.doctor.version", version)


def plain(repo: Repo, text: str) -> str:
    """Without what differs from machine to machine."""
    return text.replace(str(repo.path), "<folder>").replace(kglite.__version__, "<version>")


def checks(repo: Repo, code: int | None = None) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in repo.run("doctor", "--json", code=code).json["checks"]}


BOTH = "repos: [{repo: local, hooks: [{id: ledger-export}, {id: ledger-check}]}]\n"


def configure(repo: Repo, text: str) -> None:
    (repo.path / ".pre-commit-config.yaml").write_text(text)


def test_the_screen_and_the_json_where_something_is_missing(story: Repo, golden: Golden) -> None:
    screen, json = story.run("doctor", code=1), story.run("doctor", "--json", code=1)
    assert (screen.err, json.err) == ("", "")
    golden("doctor/incomplete.txt", plain(story, screen.out))
    golden("doctor/incomplete.json", plain(story, json.out))
    assert list(json.json) == ["ok", "checks"]
    assert {tuple(check) for check in json.json["checks"]} == {("name", "ok", "message", "hint")}


@pytest.fixture
def driven(story: Repo, program: Path) -> Repo:
    """A ledger with all set up."""
    story.run("install")
    story.git("add", "-A")
    return story


def test_all_set_up_is_exit_0(driven: Repo) -> None:
    found = driven.run("doctor", "--json").json
    assert found["ok"] is True
    assert all(check["hint"] is None for check in found["checks"])


def test_drivers_are_run_and_one_that_does_not_is_named(driven: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    path = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if not (Path(p) / "ledger").exists())
    monkeypatch.setenv("PATH", path)
    found = checks(driven, code=1)
    for name in ("merge driver", "diff driver"):
        assert found[name]["ok"] is False
        assert "the driver does not run: " in found[name]["message"]
        assert found[name]["hint"].startswith("put the folder of this `ledger` on the PATH")
    driven.git("config", "merge.ledger.driver", "false %O %A %B %P")
    driven.git("config", "diff.ledger.textconv", "false")
    found = checks(driven, code=1)
    assert {found[name]["hint"] for name in ("merge driver", "diff driver")} == {"ledger install"}


def test_a_driver_that_loses_something_is_found(driven: Repo) -> None:
    driven.git("config", "merge.ledger.driver", "echo gone > %A #")
    assert checks(driven, code=1)["merge driver"]["ok"] is False


@pytest.mark.parametrize("line", ["", "snapshots/ledger.json text eol=lf", "snapshots/ledger.json eol=lf merge=ledger"])
def test_attributes_that_are_missing_are_named(driven: Repo, line: str) -> None:
    (driven.path / ".gitattributes").write_text(line + "\n")
    found = checks(driven, code=1)["attributes"]
    assert (found["ok"], found["hint"]) == (False, "ledger install")


def test_a_hook_that_git_would_skip_is_found(driven: Repo) -> None:
    hook = driven.path / ".git" / "hooks" / "pre-commit"
    hook.chmod(0o644)
    assert checks(driven, code=1)["hook"]["hint"] == f"chmod +x {hook}"
    hook.write_text("#!/bin/sh\n# ledger export --hook; ledger check --staged\n")
    assert (
        checks(driven, code=1)["hook"]["hint"] == "add to it: ledger export --hook && ledger check --staged || exit 1"
    )
    hook.unlink()
    assert checks(driven, code=1)["hook"]["hint"] == "ledger install"


def test_what_is_not_tracked_says_what_to_add(story: Repo) -> None:
    assert checks(story)["tracked"]["hint"] == "git add snapshots/ledger.json"
    story.git("add", "snapshots/ledger.json")
    assert checks(story)["tracked"]["ok"] is True


def test_an_ignored_checkpoint_is_found(story: Repo) -> None:
    (story.path / ".gitignore").write_text("snapshots/\n")
    found = checks(story)["tracked"]
    assert (found["ok"], found["message"]) == (False, "snapshots/ledger.json is ignored by git")


def test_what_waits_to_be_exported_is_named(story: Repo) -> None:
    story.apply({"session": "a", "decisions": [{"text": "one"}]}, flags=("--no-export",))
    found = checks(story, code=1)["journal"]
    assert (found["ok"], found["hint"]) == (False, "ledger export")
    assert found["message"].endswith(": a")


def test_a_store_that_is_behind_says_who_mends_it(story: Repo) -> None:
    for file in story.store.iterdir():
        file.unlink()
    assert checks(story)["store"]["message"] == "missing or behind; the next command rebuilds it"


def test_a_damaged_checkpoint_is_named(story: Repo) -> None:
    story.checkpoint.write_bytes(story.checkpoint.read_bytes()[:-20])
    found = checks(story, code=1)["checkpoint"]
    assert (found["ok"], found["hint"]) == (False, "ledger check")


def test_outside_of_git_it_says_git_init(story: Repo) -> None:
    (story.path / ".git").rename(story.path / "was-git")
    found = checks(story, code=1)["git"]
    assert (found["ok"], found["hint"]) == (False, "git init")


def test_it_says_plainly_that_the_other_engine_was_never_run(story: Repo) -> None:
    assert "has not been run against the engine yet" in checks(story)["relate"]["message"]


def test_the_other_engine_is_told_by_its_package(story: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    assert checks(story)["relate"]["message"].startswith("not installed; ")
    monkeypatch.setattr("ledger_cli.doctor.version", {"relate": "9.9", "relate-db": "0.3"}.__getitem__)
    assert checks(story)["relate"]["message"].startswith("relate-db 0.3 is installed; ")


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("repos: [] # ledger-export, ledger-check\n", "ledger-export and ledger-check"),
        ("# - id: ledger-export\n# - id: ledger-check\n", "ledger-export and ledger-check"),
        ("      - id: black  # id: ledger-export\n      - id: ledger-check\n", "ledger-export"),
        ("      - id: ledger-export\n", "ledger-check"),
        ("      - id: ledger-export-mine\n      - id: 'ledger-check'\n", "ledger-export"),
        ("      - name: ledger-export\n      - id: ledger-check\n", "ledger-export"),
    ],
)
def test_a_hook_that_is_missing_is_named(story: Repo, text: str, missing: str) -> None:
    configure(story, text)
    found = checks(story, code=1)["hook"]
    assert found["ok"] is False
    assert found["hint"] == f"add {missing} to the hooks in .pre-commit-config.yaml (see README)"


@pytest.mark.parametrize(
    "text",
    [
        BOTH,
        '- repo: https://x.example/#a\n  hooks:\n      - id: ledger-export  # first\n      - id: "ledger-check"\n',
        '{"repos": [{"hooks": [{"id": "ledger-export"}, {"id": "ledger-check"}]}]}',
    ],
)
def test_hooks_that_are_configured_have_to_be_installed(story: Repo, text: str) -> None:
    configure(story, text)
    assert checks(story, code=1)["hook"]["hint"] == "pre-commit install"


def test_it_writes_nothing(story: Repo) -> None:
    before = story.git("status", "--porcelain"), story.checkpoint.read_bytes()
    story.run("doctor", code=1)
    assert (story.git("status", "--porcelain"), story.checkpoint.read_bytes()) == before


@pytest.mark.parametrize(
    ("driver", "why"),
    [("rm %A", "exit code 0"), ("printf '\\377' >&2; exit 1", "\ufffd"), ("cat > %A", "exit code 0"), ("exit 7", "7")],
)
def test_a_driver_that_is_none(driven: Repo, driver: str, why: str) -> None:
    driven.git("config", "merge.ledger.driver", driver)
    found = checks(driven, code=1)["merge driver"]
    assert (found["ok"], found["hint"]) == (False, "ledger install")
    assert found["message"].endswith(why)


def test_a_bare_repository_is_no_place_for_git_init(story: Repo) -> None:
    story.git("config", "core.bare", "true")
    found = checks(story, code=1)["git"]
    assert found["message"].endswith("is in a bare repository: it has no files")
    assert found["hint"] == "ask in a clone of it"


def test_the_attributes_of_the_file_behind_a_link(driven: Repo) -> None:
    (driven.path / "data").mkdir()
    driven.checkpoint.rename(driven.path / "data" / "l.json")
    driven.checkpoint.symlink_to("../data/l.json")
    assert checks(driven, code=1)["attributes"]["ok"] is False  # git merges data/l.json line by line
    with (driven.path / ".gitattributes").open("a") as file:
        file.write("data/* eol=lf merge=ledger diff=ledger\n")
    assert checks(driven)["attributes"]["ok"] is True
