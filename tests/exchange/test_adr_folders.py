"""Two whole folders in the layouts of adr-tools and of MADR: imported, applied, exported, imported again."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import DATA

if TYPE_CHECKING:
    from tests.conftest import Repo

FOLDERS = ("adr-tools", "madr")
STATUS = {  # what each of the files says, read by a person
    "adr-tools": {
        "0001-record-architecture-decisions": "accepted",
        "0002-keep-orders-in-postgres": "0005-keep-orders-in-mysql",
        "0003-cache-order-lookups": "rejected",
        "0004-send-mail-from-the-shop": "0006-send-mail-from-a-service",
        "0005-keep-orders-in-mysql": "accepted",
        "0006-send-mail-from-a-service": "accepted",
        "0007-sign-in-with-a-password": "2024-05-01T00:00:00Z",
    },
    "madr": {
        "0000-use-markdown-any-decision-records": "accepted",
        "0001-use-kebab-case-in-paths": "0004-use-opaque-paths",
        "0002-version-in-the-path": "rejected",
        "0003-answer-in-json": "accepted",
        "0004-use-opaque-paths": "accepted",
    },
}
LISTED = {
    "adr-tools": {"0008-print-labels-on-demand.md": "nothing is decided yet: its status is 'Proposed'"},
    "madr": {
        "0005-page-by-cursor.md": "an unfilled template: its title is",
        "README.md": "no decision record: it has no status",
    },
}


def brought(repo: Repo, folder: Path, name: str) -> dict[str, Any]:
    """Import a folder and apply it; what the ledger then holds, as its export tells it, clocks and sessions aside."""
    file = repo.path / f"{name}.yaml"
    said = repo.run("import", "adr", folder, "-o", file, "--session", name, "--by", "sam", "--json").json
    repo.run("session", "apply", file)
    held: dict[str, Any] = {"listed": {r["record"]: r["reasons"] for r in said["records"] if r["outcome"] == "listed"}}
    *entries, _end = repo.run("export", "--format", "jsonl").out.splitlines()
    for line in entries:
        entry = json.loads(line)
        sort = next(iter(entry))
        told = {
            key: entry[key]
            for key in ("text", "rationale", "validFrom", "validTo", "with", "slot", "about")
            if key in entry
        }
        held[f"{sort} {entry[sort]}"] = told
    return held


def fresh(repo: Repo, name: str) -> Repo:
    """Another empty ledger beside it."""
    path = repo.path.parent / name
    path.mkdir()
    other = type(repo)(path, repo.capture)
    other.git("init", "-q")
    other.run("init")
    return other


@pytest.mark.parametrize("folder", FOLDERS)
def test_items_links_and_statuses_are_those_of_the_files(repo: Repo, folder: str) -> None:
    held = brought(repo, DATA / "adr" / folder, "first")
    listed = held.pop("listed")
    assert listed.keys() == LISTED[folder].keys()
    assert all(listed[file][0].startswith(reason) for file, reason in LISTED[folder].items())
    wanted = {f"decision {id}" for id in STATUS[folder]}
    for id, status in STATUS[folder].items():
        if status == "rejected":
            wanted.add(f"rejects {id}")
            assert repo.run("show", id, "--json").json["holds"] == []
        elif status.startswith("0"):
            wanted.add(f"supersedes {id}")
            assert held[f"supersedes {id}"] == {"with": status}
        elif status != "accepted":
            wanted.add(f"ends {id}")
            assert held[f"ends {id}"] == {"validTo": status}
    assert held.keys() == wanted
    for path in (DATA / "adr" / folder).glob("0*.md"):
        text = path.read_text(encoding="utf-8")
        title, date = re.search(r"\n\n# (?:\d\. )?(.*)\n|^# \d\. (.*)\n", text), re.search(r"ate: (2\S*)", text)
        if (item := held.get(f"decision {path.stem}")) is not None:
            assert title and date
            assert (item["text"], item["validFrom"]) == (title[1] or title[2], f"{date[1]}T00:00:00Z")
            assert all(part.strip() in text for part in item["rationale"].split("\n"))


@pytest.mark.parametrize("folder", FOLDERS)
def test_exported_and_imported_again_they_are_the_same(repo: Repo, folder: str) -> None:
    first = brought(repo, DATA / "adr" / folder, "first")
    out = repo.path.parent / "out"
    repo.run("export", "--format", "adr", "-o", out)
    assert sorted(path.stem for path in out.iterdir()) == sorted(STATUS[folder])
    other = fresh(repo, "other")
    again = brought(other, out, "again")
    assert again.pop("listed") == {}
    first.pop("listed")
    assert again == first
    twice = repo.path.parent / "twice"
    other.run("export", "--format", "adr", "-o", twice)
    for path in out.iterdir():  # nothing moves any more, but for who recorded it, and the words of the status
        assert settled((twice / path.name).read_text(encoding="utf-8")) == settled(path.read_text(encoding="utf-8"))


def settled(text: str) -> list[str]:
    return [line for line in text.split("\n") if not re.match(r"\* (?:Recorded|Rejected|An end) ", line)]


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_link_leads_to_a_file_and_back(repo: Repo, folder: str) -> None:
    brought(repo, DATA / "adr" / folder, "first")
    out = repo.path.parent / "out"
    repo.run("export", "--format", "adr", "-o", out)
    found = []
    for path in out.iterdir():
        for relation, target in re.findall(
            r"^\* (Supersede[sd](?: by)?) \[.*\]\((.*)\)$", path.read_text(), re.MULTILINE
        ):
            assert (out / target).is_file()
            found.append((path.name, relation, target))
    assert found
    back = {"Supersedes": "Superseded by", "Superseded by": "Supersedes"}
    assert sorted((target, back[relation], name) for name, relation, target in found) == sorted(found)


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_front_matter_is_that_of_madr(repo: Repo, folder: str) -> None:
    import yaml

    brought(repo, DATA / "adr" / folder, "first")
    out = repo.path.parent / "out"
    repo.run("export", "--format", "adr", "-o", out)
    for id, status in STATUS[folder].items():
        front = yaml.safe_load((out / f"{id}.md").read_text(encoding="utf-8").split("---\n")[1])
        assert set(front) == {"status", "date"}
        if status.startswith("0"):
            assert front["status"] == f"superseded by [{status}]({status}.md)"
        else:
            assert front["status"].split()[0] == {"accepted": "accepted", "rejected": "rejected"}.get(
                status, "deprecated"
            )
