"""`ledger resolve`: a merge is finished, from our markers or git's own, and nothing is thrown away."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ledger_cli import checkpoint
from ledger_cli.app import run
from tests.conftest import NOW

if TYPE_CHECKING:
    from tests.commands.conftest import Golden
    from tests.conftest import Repo

CLOCK = NOW.isoformat().replace("+00:00", "Z")
WHO = ("--by", "sam", "--reason", "they agreed")
Session = dict[str, Any]


def session(name: str, *items: dict[str, Any], day: int = 1, **more: Any) -> Session:
    stated = {"decisions": [{"text": f"what {name} says", **item} for item in items]} if items else {}
    return {"session": name, "at": f"2024-02-{day:02}T09:00:00Z", "by": "mia", **stated, **more}


BASE = session("s0", {"id": "d0", "slot": "q", "text": "zero"})


@pytest.fixture(params=["driver", "merge", "diff3", "zdiff3"])
def style(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def meet(repo: Repo, style: str, ours: list[Session], theirs: list[Session], base: Session = BASE) -> None:
    """Leave the checkpoint as the merge of two branches of a base leaves it, by the driver or by git."""
    repo.apply(base)
    start = repo.checkpoint.read_bytes()
    sides = []
    for sessions in (ours, theirs):
        repo.checkpoint.write_bytes(start)
        repo.apply(*sessions, flags=("--backdated",))
        sides.append(repo.checkpoint.read_bytes())
    for name, data in zip(("base", "ours", "theirs"), (start, *sides), strict=True):
        (repo.path / name).write_bytes(data)
    if style == "driver":
        repo.run("merge-driver", "base", "ours", "theirs", code=None)
        merged = (repo.path / "ours").read_bytes()
    else:
        repo.git(
            "config",
            "alias.mf",
            f"!git merge-file -p {'' if style == 'merge' else f'--{style}'} ours base theirs; true",
        )
        merged = repo.git("mf").encode()
    repo.checkpoint.write_bytes(merged)


def sound(repo: Repo) -> list[dict[str, Any]]:
    """The file is canonical and passes `check`; its lines."""
    data = repo.checkpoint.read_bytes()
    assert data == checkpoint.render(checkpoint.read(data))
    assert [p for p in repo.run("check", "--json").json["problems"] if p["severity"] == "error"] == []
    return [json.loads(row.rstrip(",")) for row in data.decode().splitlines() if row.startswith('{"')]


def one_slot(repo: Repo, style: str) -> None:
    ours = session("s1", {"id": "d1", "slot": "q", "text": "one", "validFrom": "2024-02-03"}, day=2)
    theirs = session("s2", {"id": "d2", "slot": "q", "text": "two", "validFrom": "2024-02-02"}, day=3)
    meet(repo, style, [ours], [theirs])


def test_without_options_it_lists_what_is_to_be_decided(repo: Repo, style: str, golden: Golden) -> None:
    one_slot(repo, style)
    before = repo.checkpoint.read_bytes()
    said = repo.run("resolve", code=1)
    golden("resolve/one-slot.txt", said.out)
    assert said.err == ""
    assert repo.checkpoint.read_bytes() == before


@pytest.mark.parametrize("keep", ["ours", "theirs", "d1", "d2"])
def test_one_answer_is_kept_and_the_other_recorded_as_rejected(repo: Repo, style: str, keep: str) -> None:
    one_slot(repo, style)
    said = repo.run("resolve", "--keep", keep, *WHO)
    kept, given = ("d1", "d2") if keep in ("ours", "d1") else ("d2", "d1")
    assert said.out == f"rejected {given}, and kept {kept}\nwrote snapshots/ledger.json\n"
    assert said.err == "Next: `git add snapshots/ledger.json`, and go on with `git commit` or `git rebase --continue`\n"
    lines = sound(repo)
    assert [line["rejects"] for line in lines if "rejects" in line] == [given]
    [review] = [line for line in lines if "rejects" in line]
    assert (review["by"], review["reason"], review["recordedAt"]) == ("sam", "they agreed", CLOCK)
    assert repo.run("as-of", "2024-03-01", "--json").ids == [kept]
    assert repo.run("believed", "2024-03-01", "--json").ids  # and both are found in what was believed
    assert repo.run("show", given).out


def test_a_verdict_needs_a_name_and_a_reason(repo: Repo, style: str) -> None:
    one_slot(repo, style)
    before = repo.checkpoint.read_bytes()
    for words in ((), WHO[:2], WHO[2:]):
        said = repo.run("resolve", "--keep", "ours", *words, code=1)
        assert "add `--by NAME --reason TEXT`" in said.err
    said = repo.run("resolve", "--keep", "ours", "--by", " ", "--reason", "so", code=1)
    assert said.err.startswith("error: ")
    repo.run("resolve", *WHO, code=2)
    assert repo.checkpoint.read_bytes() == before


def test_a_new_item_supersedes_both(repo: Repo, style: str) -> None:
    one_slot(repo, style)
    item = {"id": "d3", "text": "three", "slot": "q", "validFrom": "2024-02-02", "supersedes": ["d1", "d2"]}
    said = repo.run("resolve", "--session", repo.write(session("s3", item, at="2024-02-09T09:00:00Z")))
    assert said.out == "recorded session s3\nwrote snapshots/ledger.json\n"
    sound(repo)
    assert repo.run("as-of", "2024-03-01", "--json").ids == ["d3"]


def test_a_session_that_is_refused_writes_nothing(repo: Repo) -> None:
    one_slot(repo, "driver")
    before = repo.checkpoint.read_bytes()
    file = repo.write(session("s3", {"id": "d3", "corrects": "d9"}, at="2024-02-09T09:00:00Z"))
    assert "d9 is unknown" in repo.run("resolve", "--session", file, code=1).err
    assert repo.checkpoint.read_bytes() == before


def test_a_new_item_that_starts_later_leaves_a_conflict_and_says_so(repo: Repo) -> None:
    one_slot(repo, "driver")
    item = {"id": "d3", "text": "three", "slot": "q", "validFrom": "2024-02-08", "supersedes": ["d1", "d2"]}
    said = repo.run("resolve", "--session", repo.write(session("s3", item, at="2024-02-09T09:00:00Z")), code=1)
    assert "both hold in slot q from 2024-02-03 to 2024-02-08" in said.out
    repo.run("resolve", "--keep", "ours", *WHO)
    sound(repo)


def test_one_slot_at_a_time(repo: Repo, style: str) -> None:
    ours = [session("s1", {"id": "d1", "slot": "q"}, {"id": "d2", "slot": "r", "validFrom": "2024-01-01"}, day=2)]
    theirs = [session("s2", {"id": "d3", "slot": "q"}, {"id": "d4", "slot": "r", "validFrom": "2024-01-02"}, day=3)]
    meet(repo, style, ours, theirs)
    said = repo.run("resolve", "--slot", "q", "--keep", "d1", *WHO, code=1)
    assert "rejected d3, and kept d1\nwrote snapshots/ledger.json\nsnapshots/ledger.json: 1 conflict\n" in said.out
    assert "conflict in slot r" in said.out
    assert "conflict in slot q" not in said.out
    assert "no conflict is about q" in repo.run("resolve", "--slot", "q", "--keep", "d1", *WHO, code=1).err
    repo.run("resolve", "--id", "d2", "--keep", "d4", *WHO)
    sound(repo)
    assert repo.run("as-of", "2024-03-01", "--json").ids == ["d1", "d4"]


def test_what_is_only_textual_is_written_without_a_question(repo: Repo, style: str) -> None:
    ours = [session("s1", {"id": "d1", "slot": "a", "text": "one"}, day=2)]
    theirs = [session("s2", {"id": "d2", "slot": "b", "text": "two"}, day=3)]
    meet(repo, style, ours, theirs)
    assert repo.run("resolve").out == (
        "nothing is in conflict\n" if style == "driver" else "wrote snapshots/ledger.json\n"
    )
    assert {line.get("decision") for line in sound(repo)} >= {"d0", "d1", "d2"}


def test_one_id_for_two_items_gives_one_of_them_another(repo: Repo, style: str) -> None:
    ours = [session("s1", {"id": "d1", "slot": "a", "text": "one"}, day=2)]
    theirs = [
        session("s2", {"id": "d1", "slot": "b", "text": "two"}, day=3),
        session("s3", {"id": "d2", "slot": "b", "text": "three", "corrects": "d1"}, day=4),
        session("s4", reviews=[{"reject": "d1", "reason": "an early text"}], day=5),
    ]
    meet(repo, style, ours, theirs)
    assert "ledger resolve --id d1 --keep ours\n" in repo.run("resolve", code=1).out
    said = repo.run("resolve", "--id", "d1", "--keep", "ours")
    assert said.out.startswith("recorded d1 as d1~theirs: it was theirs\n")
    found = sound(repo)
    lines = {line["decision"]: line for line in found if "decision" in line}
    assert (lines["d1"]["text"], lines["d1~theirs"]["text"]) == ("one", "two")
    assert [line["rejects"] for line in found if "rejects" in line] == ["d1~theirs"]
    assert lines["d2"]["corrects"] == "d1~theirs"
    assert repo.run("as-of", "2024-03-01", "--json").ids == ["d1", "d2", "d0"]


def test_one_id_in_one_slot_takes_both_decisions(repo: Repo, style: str) -> None:
    ours = [session("s1", {"id": "d1", "slot": "q", "text": "one"}, day=2)]
    theirs = [session("s2", {"id": "d1", "slot": "q", "text": "two"}, day=3)]
    meet(repo, style, ours, theirs)
    said = repo.run("resolve", code=1)
    assert "ledger resolve --id d1 --keep ours --by NAME --reason TEXT\n" in said.out
    assert said.out.count("conflict in") == 1
    said = repo.run("resolve", "--keep", "theirs", *WHO)
    assert "recorded d1 as d1~ours: it was ours\nrejected d1~ours, and kept d1\n" in said.out
    lines = {line.get("decision"): line for line in sound(repo)}
    assert (lines["d1"]["text"], lines["d1~ours"]["text"]) == ("two", "one")


def test_one_session_id_on_both_sides(repo: Repo, style: str) -> None:
    ours = [session("s1", {"slot": "a", "text": "one"}, {"text": "more"}, day=2)]
    theirs = [
        session(
            "s1", {"slot": "b", "text": "two", "from": "e"}, day=3, episodes=[{"id": "e", "kind": "m", "text": "x"}]
        )
    ]
    meet(repo, style, ours, theirs)
    said = repo.run("resolve", code=1)
    assert "session s1 is recorded by both sides, with different content" in said.out
    assert said.out.count("conflict in") == 1
    said = repo.run("resolve", "--keep", "ours")
    assert "recorded session s1 as s1~theirs, s1/d1 as s1/d1~theirs: it was theirs" in said.out
    lines = sound(repo)
    assert {line["session"] for line in lines} == {"s0", "s1", "s1~theirs"}
    assert {line["decision"]: line["text"] for line in lines if "decision" in line} == {
        "d0": "zero", "s1/d1": "one", "s1/d2": "more", "s1/d1~theirs": "two",
    }  # fmt: skip


def test_two_corrections_of_one_item(repo: Repo, style: str) -> None:
    meet(
        repo,
        style,
        [session("s1", {"id": "d1", "corrects": "d0", "text": "one"}, day=2)],
        [session("s2", {"id": "d2", "corrects": "d0", "text": "two"}, day=3)],
    )
    repo.run("resolve", "--keep", "d2", *WHO)
    sound(repo)
    assert repo.run("as-of", "2024-03-01", "--json").ids == ["d2"]


def test_a_circle_is_rejected_at_its_own_clock(repo: Repo) -> None:
    base = session("s0", {"id": "da"}, {"id": "db"})
    ours = [session("s1", supersessions=[{"old": "da", "new": "db"}], day=2)]
    theirs = [session("s2", supersessions=[{"old": "db", "new": "da"}], day=3)]
    meet(repo, "driver", ours, theirs, base)
    assert "--keep theirs --by NAME --reason TEXT" in repo.run("resolve", code=1).out
    repo.run("resolve", "--keep", "ours", *WHO)
    [review] = [line for line in sound(repo) if "rejects" in line]
    assert (review["rejects"], review["recordedAt"]) == ({"supersedes": "db", "with": "da"}, "2024-02-03T09:00:00Z")
    assert repo.run("as-of", "2024-03-01", "--json").ids == ["db"]


def test_two_kinds_of_an_entity(repo: Repo, style: str) -> None:
    meet(
        repo,
        style,
        [session("s1", {"about": ["orders"]}, day=2, entities=[{"name": "orders", "kind": "service"}])],
        [session("s2", {"about": ["orders"]}, day=3, entities=[{"name": "Orders", "kind": "team"}])],
    )
    said = repo.run("resolve", "--keep", "ours")
    assert 'left out: {"entity": "Orders", "kind": "team"' in said.out
    assert [line["kind"] for line in sound(repo) if "entity" in line] == ["service"]


def test_a_recorded_line_that_a_side_changed_stays_as_it_was(repo: Repo) -> None:
    repo.apply(BASE)
    data = repo.checkpoint.read_bytes()
    for name, side in (("base", data), ("ours", data.replace(b'"zero"', b'"nought"')), ("theirs", data)):
        (repo.path / name).write_bytes(side)
    said = repo.run("merge-driver", "base", "ours", "theirs", code=1)
    assert "rewritten history: ours changed what session s0 had recorded before" in said.err
    assert "ledger resolve --id s0 --keep base" in said.err
    repo.checkpoint.write_bytes((repo.path / "ours").read_bytes())
    assert "--keep base" in repo.run("resolve", code=1).out
    assert "settles none" in repo.run("resolve", "--keep", "ours", *WHO, code=1).err
    assert 'left out: {"decision": "d0", "text": "nought"' in repo.run("resolve", "--keep", "base").out
    assert repo.checkpoint.read_bytes() == data


def test_lines_kept_by_hand_and_out_of_order_are_written_canonically(repo: Repo) -> None:
    one_slot(repo, "merge")
    rows = [r for r in repo.checkpoint.read_text().splitlines() if not r.startswith(("<<<<<<<", "=======", ">>>>>>>"))]
    repo.checkpoint.write_text("\n".join(rows) + "\n")
    said = repo.run("resolve", code=1)
    assert "--keep d1" in said.out
    assert "  one      " in said.out
    assert "`--keep ours` settles none of these conflicts" in repo.run("resolve", "--keep", "ours", *WHO, code=1).err
    repo.run("resolve", "--keep", "d1", *WHO)
    sound(repo)


def test_where_nothing_is_in_conflict_nothing_is_written(story: Repo) -> None:
    before = (story.checkpoint.stat().st_ino, story.checkpoint.stat().st_mtime_ns)
    assert story.run("resolve").out == "nothing is in conflict\n"
    assert story.run("resolve", "--keep", "ours", *WHO, code=1).err.startswith("error: nothing is in conflict\n")
    assert (story.checkpoint.stat().st_ino, story.checkpoint.stat().st_mtime_ns) == before


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lambda t: t.replace("=======\n", ""), "conflict marker that belongs to no conflict"),
        (lambda t: t.replace("<<<<<<< ours\n", ""), "conflict marker that belongs to no conflict"),
        (lambda t: t.replace(">>>>>>> theirs\n", ""), "the last conflict has no end"),
        (lambda t: t.replace('"two"', '"two'), "line 9: "),
        (lambda t: t.replace("{\n", "{\nhello\n", 1), "line 2: no line of a checkpoint: 'hello'"),
        (lambda t: t.replace('"ledger": 1', '"ledger": 2'), "line 2: not of format 1"),
        (lambda t: t.replace('"end": "ledger"\n}\n', ""), "the checkpoint ends in the middle"),
        (lambda t: t.replace("two", "\udcff"), "not UTF-8"),
    ],
)
def test_what_cannot_be_read_is_named_and_left_alone(repo: Repo, edit: Any, says: str) -> None:
    one_slot(repo, "driver")
    data = edit(repo.checkpoint.read_text()).encode(errors="surrogateescape")
    repo.checkpoint.write_bytes(data)
    for words in ((), ("--keep", "ours", *WHO)):
        assert says in repo.run("resolve", *words, code=3).err
    assert repo.checkpoint.read_bytes() == data


def test_crlf_is_read_and_lf_written(repo: Repo) -> None:
    one_slot(repo, "diff3")
    repo.checkpoint.write_bytes(repo.checkpoint.read_bytes().replace(b"\n", b"\r\n"))
    repo.run("resolve", "--keep", "ours", *WHO)
    sound(repo)


def test_what_waits_in_the_journal_still_waits(repo: Repo) -> None:
    repo.apply(BASE)
    one = session("s9", {"id": "d9", "slot": "z"}, at="2024-01-31T09:00:00Z")
    repo.apply(one, flags=("--no-export", "--backdated"))
    waiting = (repo.store / "journal.jsonl").read_bytes()
    base = repo.checkpoint.read_bytes()
    a = base.replace(b'"slot q"', b'"slot q"')
    repo.checkpoint.write_bytes(a.replace(b'"slot q": [\n', b'<<<<<<< x\n=======\n>>>>>>> y\n"slot q": [\n'))
    repo.run("resolve")
    assert repo.checkpoint.read_bytes() == base
    assert (repo.store / "journal.jsonl").read_bytes() == waiting
    assert repo.run("as-of", "2024-03-01", "--json").ids == ["d9", "d0"]


def test_a_clock_ahead_of_this_machine(repo: Repo) -> None:
    one_slot(repo, "driver")
    repo.now = NOW.replace(year=2024, month=2, day=3, hour=8) + timedelta(minutes=58)
    repo.run("resolve", "--keep", "ours", *WHO)
    [review] = [line for line in sound(repo) if "rejects" in line]
    assert review["recordedAt"] == "2024-02-03T09:00:00.000001Z"


def test_what_is_to_be_typed_next_fits_where_one_stands(repo: Repo) -> None:
    meet(repo, "driver", [session("s1", {"id": "d1", "slot": "q"})], [session("s2", {"id": "d2", "slot": "q"})])
    deep = repo.path / "deep" / "er"
    deep.mkdir(parents=True)
    (repo.path / "kept here").mkdir()
    repo.checkpoint.rename(repo.path / "kept here" / "l.json")
    repo.checkpoint.symlink_to("../kept here/l.json")
    before = Path.cwd()
    try:
        os.chdir(deep)
        repo.capture.readouterr()
        assert run(["resolve", "--keep", "ours", *WHO], clock=lambda: NOW) == 0
    finally:
        os.chdir(before)
    assert "`git add '../../kept here/l.json'`" in repo.capture.readouterr().err


def test_a_long_text_is_told_by_its_beginning(repo: Repo) -> None:
    long = "x" * 5000
    meet(
        repo,
        "driver",
        [session("s1", {"id": "d1", "slot": "q", "text": long})],
        [session("s2", {"id": "d2", "slot": "q"})],
    )
    rows = repo.run("resolve", code=1).out.splitlines()
    assert all(len(row) < 400 for row in rows if row.startswith(("  ours", "  theirs")))
