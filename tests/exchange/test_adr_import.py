"""Folders of decision records: who supersedes whom, what cannot be decided, and record times from git."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ledger_cli import session_file
from ledger_cli.errors import LedgerError, Refused
from ledger_cli.exchange import adr_import
from ledger_cli.exchange.outcomes import Import
from ledger_cli.instant import show
from ledger_cli.session_writer import to_yaml

if TYPE_CHECKING:
    from tests.conftest import Repo


def record(status: str = "Accepted", *, title: str = "Use it", date: str = "2024-03-01", more: str = "") -> str:
    return f"# {title}\n\nDate: {date}\n\n## Status\n\n{status}\n\n## Decision\n\nwe use it\n{more}"


def folder(path: Path, **files: str) -> Import:
    """Import a folder of these files, `_` for a hyphen in their names."""
    for name, text in files.items():
        file = path / f"{name.replace('_', '-')}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return adr_import.of_folder(path, session="import")


def links(found: Import) -> list[tuple[str, str]]:
    return [(old, item.id) for s in found.sessions for item in s.items for old in item.supersedes]


def listed(found: Import) -> dict[str, list[str]]:
    return {o.record.removesuffix(".md"): list(o.reasons) for o in found.listed}


# Who supersedes whom


@pytest.mark.parametrize(
    "named",
    [
        *("[1. Old](0001-old.md)", "[old](./0001-old.md#status)", "[x](<0001-old.md>)", "[Old](../gone/0001-old.md)"),
        *(
            "ADR-1",
            "ADR 0001",
            "#1",
            "1",
            "0001-old",
            "0001-old.md",
            "[[0001-old]]",
            "[ADR-1](https://example.invalid/)",
        ),
    ],
)
def test_a_record_is_found_by_whatever_names_it(tmp_path: Path, named: str) -> None:
    found = folder(
        tmp_path, a0001=record(), **{"0001_old": record(), "0002_new": record(f"Accepted\n\nSupersedes {named}")}
    )
    wanted = [] if "example" in named or "1_" in named else [("0001-old", "0002-new")]
    assert links(found) == wanted
    assert bool(found.outcomes[1].reasons) == (not wanted)


@pytest.mark.parametrize(
    "said",
    [
        "Superseded by [use Kafka 3](0061-kafka.md)",
        "Superseded by [0050-new](../../elsewhere/docs/0051-new.md)",
        "Replaced by RFC 3",
        "Superseded by https://example.invalid/browse/ARCH-3",
        "Superseded by the Q3 2024 plan",
        "Superseded in March by team 3's proposal",
        "Superseded by a rewrite in Python 3",
        "Superseded by the 3 teams",
    ],
)
def test_a_number_among_other_words_names_no_record(tmp_path: Path, said: str) -> None:
    found = folder(tmp_path, **{"0003_new": record(), "0007_old": record(said)})
    assert links(found) == []
    assert set(listed(found)) == {"0007-old"}


@pytest.mark.parametrize("said", ["supersedes 9 old services", "Accepted 9 to 1, replaces Oracle 9"])
def test_a_number_of_what_was_replaced_names_no_record_either(tmp_path: Path, said: str) -> None:
    assert links(folder(tmp_path, **{"0009_old": record(), "0010_new": record(f"Accepted\n\n{said}")})) == []


def test_an_rfc_is_a_record_among_rfcs(tmp_path: Path) -> None:
    old, new = record("Superseded by RFC 3", title="RFC 0007: Old"), record(title="RFC 0003: New")
    assert links(folder(tmp_path, **{"0003_new": new, "0007_old": old})) == [("0007-old", "0003-new")]


def test_what_was_rejected_replaces_nothing_and_what_says_it_did_is_listed(tmp_path: Path) -> None:
    found = folder(tmp_path, **{"0001_a": record("Superseded by ADR-2"), "0002_b": record("Rejected")})
    assert listed(found) == {"0001-a": ["superseded by 0002-b.md, which was rejected"]}


@pytest.mark.parametrize("other", ["Proposed", "Rejected"])
def test_what_is_not_decided_is_no_second_successor(tmp_path: Path, other: str) -> None:
    draft = record(f"{other}\n\nSupersedes ADR-3")
    new = record("Accepted\n\nSupersedes ADR-3")
    found = folder(tmp_path, **{"0003_a": record(), "0004_b": new, "0005_c": draft})
    assert ("0003-a", "0004-b") in links(found)
    assert set(listed(found)) == ({"0005-c"} if other == "Proposed" else set())


def test_a_link_from_either_side_is_one_link(tmp_path: Path) -> None:
    old, new = record("Superseded by ADR-2"), record("Accepted\n\nSupersedes ADR-1")
    for n, (one, other) in enumerate([(old, new), (old, record()), (record(), new)]):
        assert links(folder(tmp_path / str(n), **{"0001_a": one, "0002_b": other})) == [("0001-a", "0002-b")]


def test_folders_in_it_are_read_and_name_each_other_by_path(tmp_path: Path) -> None:
    found = folder(
        tmp_path,
        **{
            "shop/0001_a": record("Superseded by [b](../mail/0001-a.md)"),
            "mail/0001_a": record(),
            ".hidden/0001_b": record(),
            "mail/0009/README": record("Accepted\n\nSupersedes [c](../0010/README.md)"),
            "mail/0010/README": record(),
        },
    )
    assert sorted(links(found)) == [("mail/0010/README", "mail/0009/README"), ("shop/0001-a", "mail/0001-a")]


def test_what_is_superseded_by_what_is_not_there_is_listed(tmp_path: Path) -> None:
    found = folder(tmp_path, **{"0001_a": record("Superseded by ADR-9"), "0002_b": record("Superseded")})
    assert found.sessions == ()
    assert listed(found) == {
        "0001-a": ["superseded by 'ADR-9' is not among these records"],
        "0002-b": ["its status is 'Superseded', and no record says that it did that"],
    }


def test_what_supersedes_what_is_not_there_is_imported_with_a_remark(tmp_path: Path) -> None:
    found = folder(tmp_path, **{"0001_a": record("Accepted\n\nSupersedes [ADR-9](0009-x.md)")})
    assert [(o.id, list(o.reasons)) for o in found.outcomes] == [
        ("0001-a", ["supersedes 'ADR-9' is not among these records"])
    ]


def test_what_two_records_supersede_is_listed_and_they_are_not(tmp_path: Path) -> None:
    new = record("Accepted\n\nSupersedes ADR-1")
    found = folder(tmp_path, **{"0001_a": record(), "0002_b": new, "0003_c": new})
    assert listed(found) == {"0001-a": ["2 records supersede it: 0002-b.md and 0003-c.md"]}
    assert links(found) == []
    assert [o.reasons for o in found.imported] == [("supersedes 0001-a.md, which is not imported",)] * 2


def test_what_is_superseded_by_a_listed_record_is_listed_and_so_on_down(tmp_path: Path) -> None:
    found = folder(
        tmp_path,
        **{
            "0001_a": record("Superseded by ADR-2"),
            "0002_b": record("Superseded by ADR-3"),
            "0003_c": record("Proposed"),
            "0004_d": record(),
        },
    )
    assert listed(found) == {
        "0001-a": ["superseded by 0002-b.md, which is not imported"],
        "0002-b": ["superseded by 0003-c.md, which is not imported"],
        "0003-c": ["nothing is decided yet: its status is 'Proposed'"],
    }


def test_what_a_proposal_would_supersede_holds_on_with_a_remark(tmp_path: Path) -> None:
    found = folder(tmp_path, **{"0001_a": record(), "0002_b": record("Proposed\n\nSupersedes ADR-1")})
    assert [o.id for o in found.imported] == ["0001-a"]
    assert found.imported[0].reasons == ("0002-b.md says that it supersedes this one, and is not imported",)


def test_a_circle_is_listed_whole(tmp_path: Path) -> None:
    found = folder(tmp_path, **{"0001_a": record("Superseded by ADR-2"), "0002_b": record("Superseded by ADR-1"),
                                "0003_c": record("Superseded by ADR-3")})  # fmt: skip
    assert {name: reasons[0] for name, reasons in listed(found).items()} == {
        "0001-a": "it supersedes itself, over others",
        "0002-b": "it supersedes itself, over others",
        "0003-c": "'Superseded by ADR-3' names this record itself",
    }


def test_a_number_of_several_records_names_none(tmp_path: Path) -> None:
    found = folder(tmp_path, **{"0001_a": record(), "1_b": record(), "0002_c": record("Accepted\n\nSupersedes ADR-1")})
    assert links(found) == []
    assert found.outcomes[1].reasons == ("supersedes 'ADR-1' may be any of 0001-a.md, 1-b.md",)


def test_a_supersession_on_another_day_than_its_successors_is_told(tmp_path: Path) -> None:
    found = folder(tmp_path, **{"0001_a": record("Superseded on 2025-01-01 by ADR-2"), "0002_b": record()})
    assert links(found) == [("0001-a", "0002-b")]
    assert found.outcomes[0].reasons == (
        "'Superseded on 2025-01-01 by ADR-2', but 0002-b.md is of 2024-03-01, and that counts",
    )


# What a record comes to


def test_a_rejection_and_an_ending_stand_in_the_session_with_their_reason(tmp_path: Path) -> None:
    found = folder(
        tmp_path, **{"0001_a": record("Rejected: too slow"), "0002_b": record("Deprecated since 2025-01-01")}
    )
    (session,) = found.sessions
    (review,), (ending,) = session.reviews, session.endings
    assert (review.verdict, review.target.id, review.reason) == (
        "rejects",
        "0001-a",
        "its status is: Rejected: too slow",
    )
    assert (ending.id, show(ending.valid_to)) == ("0002-b", "2025-01-01T00:00:00Z")


def test_nothing_is_said_that_the_files_do_not_say(tmp_path: Path) -> None:
    (session,) = folder(tmp_path, **{"0001_a": record()}).sessions
    (item,) = session.items
    assert (item.slot, item.about, item.valid_to, item.evidence, item.confidence, item.corrects) == (None,) * 3 + (
        (),
        None,
        None,
    )
    assert (session.at, session.entities, session.episodes, session.by) == (None, (), (), "ledger import adr")


def test_two_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    found = folder(tmp_path, **{"a/0001_x": record(), "b/0001_x": record(), "b/0002_y": record()})
    assert [o.id for o in found.outcomes] == ["a/0001-x", "b/0001-x", "0002-y"]


def test_what_is_no_markdown_or_no_text_is_listed(tmp_path: Path) -> None:
    (tmp_path / "0001-a.adoc").write_text("= A")
    (tmp_path / "0002-b.md").write_bytes(b"# B \xff")
    (tmp_path / "0003-c.md").write_text("# C\n" * 300_000)
    (tmp_path / "image.png").write_bytes(b"x")
    (tmp_path / "0004-d.md").write_bytes(b"\xef\xbb\xbf" + record().encode())
    found = adr_import.of_folder(tmp_path, session="import")
    assert [(o.record, o.id, *o.reasons) for o in found.outcomes] == [
        ("0001-a.adoc", None, "only Markdown is read"),
        ("0002-b.md", None, "not UTF-8 (byte 0xff)"),
        ("0003-c.md", None, "more than 1,048,576 bytes: too large for a decision record"),
        ("0004-d.md", "0004-d"),
    ]


def test_what_would_be_waited_for_or_never_ends_is_listed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "0001-pipe.md")
    (tmp_path / "0002-device.md").symlink_to("/dev/zero")
    (tmp_path / "0003-gone.md").symlink_to("nowhere")
    found = adr_import.of_folder(tmp_path, session="import")
    assert [(o.record, o.id, *o.reasons) for o in found.outcomes] == [
        ("0001-pipe.md", None, "not a regular file"),
        ("0002-device.md", None, "not a regular file"),
        ("0003-gone.md", None, "cannot be read: No such file or directory"),
    ]


def test_a_name_that_no_id_can_be_is_listed(tmp_path: Path) -> None:
    found = folder(
        tmp_path, **{"0001_" + "x" * 210: record(), "0002_b": record(title="TODO"), "0003_\u202ec": record()}
    )
    reasons = listed(found)
    assert "has 215 characters; write at most 200" in reasons["0001-" + "x" * 210][0]
    assert "placeholder" in reasons["0002-b"][0]
    assert "does not show" in next(r[0] for name, r in reasons.items() if name.startswith("0003"))


def test_a_folder_that_is_none_or_holds_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="is not a folder"):
        adr_import.of_folder(tmp_path / "gone", session="import")
    with pytest.raises(Refused, match="holds no decision record"):
        adr_import.of_folder(tmp_path, session="import")


def test_the_file_reads_back_as_the_sessions_and_its_comments_hold_every_reason(tmp_path: Path) -> None:
    hostile = "no\n---\nsession: evil\u2028- #\t\u202e"
    found = folder(tmp_path, **{"0001_a": record(), "0002_b": record("Proposed"), "0003_c": record(hostile)})
    text = to_yaml(found.sessions, found.comments("x\nsession: evil"))
    assert session_file.read(text, "x") == found.sessions
    comments = [line for line in text.splitlines() if line.lstrip().startswith("#")]
    assert any("0002-b.md: nothing is decided yet" in line for line in comments)
    assert "  # 0001-a.md" in comments
    assert "\u202e" not in text


def test_what_was_rejected_and_superseded_is_both(tmp_path: Path) -> None:
    found = folder(tmp_path, **{"0001_a": record("Rejected\n\nSuperseded by ADR-2"), "0002_b": record()})
    (session,) = found.sessions
    assert [review.target.id for review in session.reviews] == ["0001-a"]
    assert {item.id: item.supersedes for item in session.items} == {"0001-a": (), "0002-b": ("0001-a",)}


def test_what_was_accepted_and_rejected_says_two_things(tmp_path: Path) -> None:
    found = folder(tmp_path, **{"0001_a": record("Accepted\n\nRejected"), "0002_b": record()})
    assert "its status says two things" in found.outcomes[0].reasons[0]


def test_a_number_is_looked_for_in_the_whole_name(tmp_path: Path) -> None:
    found = folder(tmp_path, **{"adr_2__v1": record(), "0001_a": record("Superseded by ADR-2")})
    supersedes = {item.id: item.supersedes for item in found.sessions[0].items}
    assert supersedes == {"0001-a": (), "adr-2--v1": ("0001-a",)}


# Record time from git


class History:
    """A repository whose commits are made at hours of one day, each by somebody."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self.git("init", "-q", "-b", "main")
        self.hour = 0

    def git(self, *words: str, **environment: str) -> str:
        done = subprocess.run(
            ["git", *words],
            cwd=self.path,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def commit(self, by: str, clock: str = "", **files: str | None) -> str:
        """Write files (None: remove one), and commit them an hour later, or at a clock; the commit's time."""
        for name, text in files.items():
            file = self.path / "adr" / f"{name.replace('_', '-')}.md"
            file.parent.mkdir(exist_ok=True)
            if text is None:
                file.unlink()
            else:
                file.write_text(text, encoding="utf-8")
        self.hour += 1
        at = clock or f"2024-06-01T{self.hour:02}:00:00Z"
        self.git("add", "-A")
        self.git("commit", "-qm", "x", "--author", f"{by} <{by}@example.invalid>", GIT_COMMITTER_DATE=at)
        return at

    def imported(self, **options: Any) -> Import:
        return adr_import.of_folder(self.path / "adr", session="import", git=True, **options)


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history")


def told(found: Import) -> list[tuple[str, str | None, dict[str, list[str]]]]:
    """Each session as its time, its author, and what it brings."""
    rows = []
    for s in found.sessions:
        what = {
            "items": [item.id for item in s.items],
            "links": [f"{link.old} {link.new}" for link in s.supersessions],
            "rejects": [review.target.id for review in s.reviews],
            "ends": [ending.id for ending in s.endings],
        }
        rows.append((show(s.at) if s.at else "", s.by, {key: its for key, its in what.items() if its}))
    return rows


def test_each_is_recorded_when_the_commit_said_so(history: History) -> None:
    one = history.commit("Ada", **{"0001_a": record(), "0002_b": record("Proposed")})
    two = history.commit("Mia", **{"0002_b": record("Accepted")})
    three = history.commit("Sam", **{"0002_b": record("Accepted", more="\nmore words\n")})
    four = history.commit("Zoe", **{"0001_a": record("Superseded by ADR-2"), "0003_c": record("Proposed")})
    five = history.commit("Ada", **{"0003_c": record("Rejected"), "0004_d": record("Deprecated since 2025-01-01")})
    assert told(history.imported()) == [
        (one, "Ada", {"items": ["0001-a"]}),
        (two, "Mia", {"items": ["0002-b"]}),
        (four, "Zoe", {"items": ["0003-c"], "links": ["0001-a 0002-b"]}),
        (five, "Ada", {"items": ["0004-d"], "rejects": ["0003-c"], "ends": ["0004-d"]}),
    ]
    assert three not in {row[0] for row in told(history.imported())}
    assert {by for _, by, _ in told(history.imported(by="sam"))} == {"sam"}


def test_sessions_of_a_history_are_named_by_the_session_and_the_commit(history: History) -> None:
    """Two folders that one commit touched, imported under two names, do not clash."""
    at = history.commit("Ada", **{"0001_a": record()})
    ids = [adr_import.of_folder(history.path / "adr", session=name, git=True).sessions[0].id for name in ("x", "y")]
    assert ids == [f"x-{at}", f"y-{at}"]


def test_what_was_taken_back_and_said_again_counts_from_then(history: History) -> None:
    new = record("Accepted\n\nSupersedes ADR-1")
    first = history.commit("Ada", **{"0001_a": record(), "0002_b": new})
    history.commit("Ada", **{"0002_b": record("Accepted")})
    third = history.commit("Ada", **{"0002_b": new})
    assert told(history.imported()) == [
        (first, "Ada", {"items": ["0001-a", "0002-b"]}),
        (third, "Ada", {"links": ["0001-a 0002-b"]}),
    ]


def test_a_link_counts_from_the_side_that_said_it_first(history: History) -> None:
    history.commit("Ada", **{"0001_a": record()})
    second = history.commit("Ada", **{"0002_b": record("Accepted\n\nSupersedes ADR-1")})
    history.commit("Mia", **{"0001_a": record("Superseded by ADR-2")})
    assert told(history.imported())[-1] == (second, "Ada", {"items": ["0002-b"], "links": ["0001-a 0002-b"]})


def test_a_renamed_file_keeps_its_past(history: History) -> None:
    first = history.commit("Ada", **{"0001_a": record()})
    history.commit("Mia", **{"0001_a": None, "0007_a": record()})
    assert told(history.imported()) == [(first, "Ada", {"items": ["0007-a"]})]


def test_a_copy_begins_a_past_of_its_own_and_so_does_what_was_removed_and_made_again(history: History) -> None:
    first = history.commit("Ada", **{"0001_a": record(), "0003_c": record(more="\nother words\n")})
    second = history.commit("Mia", **{"0002_b": record()})
    history.commit("Mia", **{"0003_c": None})
    fourth = history.commit("Sam", **{"0003_c": record(more="\nother words\n")})
    assert told(history.imported()) == [
        (first, "Ada", {"items": ["0001-a"]}),
        (second, "Mia", {"items": ["0002-b"]}),
        (fourth, "Sam", {"items": ["0003-c"]}),
    ]


def test_the_files_are_read_as_they_are_committed(history: History) -> None:
    history.commit("Ada", **{"0001_a": record()})
    (history.path / "adr" / "0001-a.md").write_text(record(title="Edited"))
    (history.path / "adr" / "0002-b.md").write_text(record())
    found = history.imported()
    assert found.sessions[0].items[0].text == "Use it"
    assert listed(found) == {"0002-b": ["not committed: git knows no record time of it"]}


def test_a_file_with_bytes_in_its_name_that_are_no_text_has_a_past_too(history: History) -> None:
    at = history.commit("ada", **{"0001_a\udcff": record()})
    found = history.imported()
    assert [(o.record, o.id) for o in found.outcomes] == [("0001-a\\xff.md", "0001-a\\xff")]
    assert [show(s.at) for s in found.sessions if s.at] == [at]


def test_a_shallow_clone_is_refused(history: History, tmp_path: Path) -> None:
    history.commit("Ada", **{"0001_a": record()})
    history.commit("Ada", **{"0001_a": record(more="x")})
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{history.path}", clone], check=True)
    with pytest.raises(Refused, match="is not all here") as fault:
        adr_import.of_folder(clone / "adr", session="import", git=True)
    assert "git fetch --unshallow" in fault.value.hint


def test_without_a_repository_there_is_no_record_time(tmp_path: Path) -> None:
    folder(tmp_path, **{"0001_a": record()})
    with pytest.raises(Exception, match="is in no git repository"):
        adr_import.of_folder(tmp_path, session="import", git=True)


def test_a_ledger_takes_the_history_and_answers_what_was_believed(history: History, repo: Repo) -> None:
    history.commit("Ada", **{"0001_a": record(date="2024-01-01")})
    history.commit("Mia", **{"0002_b": record("Accepted\n\nSupersedes ADR-1", date="2024-02-01")})
    file = repo.path / "adr.yaml"
    repo.run("import", "adr", history.path / "adr", "--record-time", "git", "-o", file)
    repo.run("session", "apply", file)
    assert repo.run("believed", "2024-03-01", "--known", "2024-06-01T01:30:00Z", "--json").ids == ["0001-a"]
    assert repo.run("believed", "2024-03-01", "--known", "2024-06-01T02:30:00Z", "--json").ids == ["0002-b"]
    assert repo.run("believed", "2024-03-01", "--json").ids == []
    assert repo.run("check").out == "ok\n"


# Clocks of commits that go back, or ahead


def test_the_record_time_is_the_committers_and_not_the_authors(history: History) -> None:
    """A rebase and a cherry-pick keep the author's date, and set the committer's to when this history was made."""
    first = history.commit("Ada", **{"0001_a": record()})
    history.git("checkout", "-qb", "side")
    history.commit("Mia", **{"0002_b": record()})
    history.git("checkout", "-q", "main")
    history.commit("Sam", README="x")
    picked = "2024-06-02T00:00:00Z"
    history.git("cherry-pick", "side", GIT_COMMITTER_DATE=picked, GIT_AUTHOR_DATE="2020-01-01T00:00:00Z")
    assert told(history.imported()) == [
        (first, "Ada", {"items": ["0001-a"]}),
        (picked, "Mia", {"items": ["0002-b"]}),
    ]


def test_an_author_whose_name_no_session_can_hold_is_left_out(history: History) -> None:
    history.commit("sa\x01m", **{"0001_a": record()})
    found = history.imported()
    assert [(s.by, len(s.items)) for s in session_file.read(to_yaml(found.sessions), "x")] == [(adr_import.BY, 1)]


def test_where_a_clock_went_back_nothing_is_said_of_an_item_before_it_is_recorded(history: History) -> None:
    early, late = "2024-03-01T00:00:00Z", "2024-06-01T00:00:00Z"
    history.commit("Ada", late, **{"0001_a": record(), "0003_c": record("Proposed"), "0004_d": record()})
    history.commit(
        "Mia",
        early,
        **{
            "0001_a": record("Superseded by ADR-2"),
            "0002_b": record(),
            "0003_c": record("Rejected"),
            "0004_d": record("Deprecated since 2025-01-01"),
        },
    )
    assert told(history.imported()) == [
        (early, "Mia", {"items": ["0002-b"]}),
        (
            late,
            "Ada and Mia",
            {
                "items": ["0001-a", "0003-c", "0004-d"],
                "links": ["0001-a 0002-b"],
                "rejects": ["0003-c"],
                "ends": ["0004-d"],
            },
        ),
    ]


@pytest.mark.parametrize("seed", range(10))
def test_whatever_the_clocks_are_a_ledger_takes_the_sessions_in_their_order(
    history: History, repo: Repo, seed: int
) -> None:
    rng = random.Random(seed)
    clocks = [f"20{rng.randint(10, 25)}-0{rng.randint(1, 9)}-01T00:00:00Z" for _ in range(7)]
    for n, clock in enumerate(clocks):
        files = {f"000{n}_a": record(rng.choice(["Accepted", "Proposed"]), date=f"2010-01-0{n + 1}")}
        for old in range(n):
            new = rng.randrange(old + 1, n + 1)
            said = ["Accepted", "Rejected", "Deprecated since 2026-01-01", f"Superseded by ADR-{new}"]
            if rng.random() < 0.4:
                files[f"000{old}_a"] = record(rng.choice(said), date=f"2010-01-0{old + 1}", more=f"\n{n}\n")
        history.commit(rng.choice(["Ada", "Mia"]), clock, **files)
    found = history.imported()
    assert [s.at for s in found.sessions] == sorted({s.at for s in found.sessions if s.at})
    assert {show(s.at) for s in found.sessions if s.at} <= set(clocks)
    file = repo.path / "adr.yaml"
    repo.run("import", "adr", history.path / "adr", "--record-time", "git", "-o", file)
    assert repo.run("session", "check", file, "--json").code == 0
    repo.run("session", "apply", file)
    assert repo.run("check").out == "ok\n"
    recorded = json.loads(repo.run("query", "MATCH (d:Item) RETURN count(d) AS n", "--json").out)
    assert recorded["rows"] == [[len(found.imported)]] or recorded["rows"] == [{"n": len(found.imported)}]


def test_a_commit_of_the_future_is_listed_with_what_builds_on_it(history: History, repo: Repo) -> None:
    ahead = "2026-06-01T12:06:00Z"  # the clock of a test says 12:00
    history.commit("Ada", "2026-06-01T12:04:00Z", **{"0001_a": record(), "0002_b": record(), "0004_d": record()})
    history.commit("Ada", ahead, **{"0002_b": record("Superseded by ADR-3"), "0003_c": record()})
    history.commit("Ada", **{"0003_c": record(more="\nlater\n")})
    said = repo.run("import", "adr", history.path / "adr", "--record-time", "git", "-o", "a.yaml", "--json").json
    reasons = {r["record"]: r["reasons"] for r in said["records"] if r["outcome"] == "listed"}
    assert list(reasons) == ["0002-b.md", "0003-c.md"]
    assert all(f"has the date {ahead}, which is ahead of the clock here" in " ".join(r) for r in reasons.values())
    repo.run("session", "apply", "a.yaml")
    assert len(history.imported().imported) == 4  # who asks no clock is told of none


def test_a_commit_without_a_date_that_can_be_read_is_named(history: History) -> None:
    history.commit("Ada", **{"0001_a": record()})
    made = re.sub(r"(committer .*>) .*", r"\1 99999999999999999 +0000", history.git("cat-file", "commit", "HEAD"))
    (history.path / "made").write_text(made)
    commit = history.git("hash-object", "-t", "commit", "-w", "--literally", "made").strip()
    history.git("reset", "-q", "--hard", commit)
    with pytest.raises(LedgerError, match=f"commit {commit[:12]} has no date that can be read"):
        history.imported()


# What else a folder may hold


def test_every_file_of_an_odd_folder_is_imported_or_listed_with_the_reason(tmp_path: Path) -> None:
    adr = tmp_path / "adr"
    (adr / "sub" / "deep").mkdir(parents=True)
    fine = record()
    whole = {
        "crlf.md": fine.replace("\n", "\r\n").encode(),
        "bom.md": b"\xef\xbb\xbf" + fine.encode(),
        "sub/deep/nested.md": fine.encode(),
        "named by its front matter.md": b"---\ntitle: Use it\nstatus: accepted\ndate: 2024-03-01\n---\n",
        "word.md": record(title="w" * 4096).encode(),
        "formula.md": record(title="=HYPERLINK(0)").encode(),
        "large.md": record(more="x" * 1_000_000).encode(),
    }
    odd = {
        "empty.md": (b"", "no decision record"),
        "front matter.md": (b"---\nstatus: accepted\ndate: 2024-03-01\n---\n", "it has no title"),
        "open front matter.md": (b"---\nstatus: accepted\ndate: 2024-03-01\n", "it has no title"),
        "nul.md": (fine.encode() + b"\0", "it holds the control character U+0000"),
        "bytes.md": (bytes(range(256)), "not UTF-8"),
        "utf-16.md": (fine.encode("utf-16"), "not UTF-8 (byte 0xff)"),
        "too large.md": (record(more="x" * 1_100_000).encode(), "more than 1,048,576 bytes"),
    }
    for name, data in {**whole, **{name: data for name, (data, _) in odd.items()}}.items():
        (adr / name).write_bytes(data)
    (adr / "sub" / "loop.md").symlink_to("loop.md")
    (adr / "sub" / "up").symlink_to("..")
    (adr / "sub" / "folder.md").mkdir()
    os.mkfifo(adr / "pipe.md")
    found = adr_import.of_folder(adr, session="x")
    assert sorted(o.record for o in found.imported) == sorted(whole)
    reasons = {o.record: "; ".join(o.reasons) for o in found.listed}
    assert reasons.keys() == {*odd, "sub/loop.md", "pipe.md"}
    for name, (_, reason) in odd.items():
        assert reason in reasons[name], (name, reasons[name])
    assert "cannot be read: Too many levels of symbolic links" in reasons["sub/loop.md"]
    assert reasons["pipe.md"] == "not a regular file"
    assert len(session_file.read(to_yaml(found.sessions), "x")[0].items) == len(whole)


def test_five_hundred_records_that_replace_each_other_in_turn_are_one_chain(tmp_path: Path) -> None:
    texts = {f"{n:04}_x": record(f"Superseded by ADR-{n + 1}" if n < 499 else "Accepted") for n in range(500)}
    found = folder(tmp_path, **texts)
    assert sorted(links(found)) == [(f"{n:04}-x", f"{n + 1:04}-x") for n in range(499)]
