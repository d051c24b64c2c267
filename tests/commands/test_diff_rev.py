"""`ledger diff --rev`: what differs between revisions, on the screen, in JSON, and as a comment."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.commands.conftest import LATER
from tests.conftest import ROOT

if TYPE_CHECKING:
    from tests.commands.conftest import Golden
    from tests.conftest import Repo

KEYS = [
    *("from", "fromCommit", "to", "toCommit", "sessions", "added", "closed", "reopened", "rejected", "reinstated"),
    *("ended", "removed", "true", "believed"),
]


@pytest.fixture
def grown(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """Three commits, of the same names on every machine: an empty ledger, the story, and what came later."""
    for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"):
        monkeypatch.setenv(name, "2024-06-01T00:00:00Z")
    save(repo, "empty")
    repo.run("session", "apply", *sorted((ROOT / "sessions").glob("*.yaml")))
    save(repo, "story")
    repo.apply(*LATER)
    save(repo, "later")
    return repo


def save(repo: Repo, name: str) -> None:
    repo.git("add", "-A")
    repo.git("commit", "-qm", name)
    repo.git("tag", name)


def plain(text: str) -> str:
    """Without the names of commits: git's own files may differ."""
    return re.sub(r"\b[0-9a-f]{7,40}\b", "<commit>", text)


@pytest.mark.parametrize("rev", ["story..later", "empty..story", "later..later"])
def test_the_screen_the_json_and_the_comment(grown: Repo, golden: Golden, rev: str) -> None:
    screen, json = grown.run("diff", "--rev", rev), grown.run("diff", "--rev", rev, "--json")
    comment = grown.run("diff", "--rev", rev, "--markdown")
    assert (screen.err, json.err, comment.err) == ("", "", "")
    name = rev.replace("..", "-")
    golden(f"diff/rev-{name}.txt", plain(screen.out))
    golden(f"diff/rev-{name}.json", plain(json.out))
    golden(f"diff/rev-{name}.md", plain(comment.out))


def test_the_keys_of_the_contract_in_their_order(grown: Repo) -> None:
    found = grown.run("diff", "--rev", "empty..later", "--json").json
    assert list(found) == KEYS
    assert {tuple(s) for s in found["sessions"]} == {("session", "at", "by", "added", "linked", "ended", "reviews")}
    assert {tuple(m) for m in found["true"] + found["believed"]} == {("id", "slot", "before", "after")}


def test_what_is_true_and_what_was_believed_move_apart(grown: Repo) -> None:
    """Late news: orders was on mysql since 10 January, and nobody believed it before 1 February."""
    grown.git("checkout", "-q", "empty")
    grown.run("session", "apply", ROOT / "sessions" / "session1.yaml")
    save(grown, "first")
    grown.run("session", "apply", ROOT / "sessions" / "session2.yaml")
    found = grown.run("diff", "--rev", "first", "--json").json
    true = {m["id"]: m for m in found["true"]}
    believed = {m["id"]: m for m in found["believed"]}
    assert true["d1"]["after"] == [["2024-01-01T00:00:00Z", "2024-01-10T00:00:00Z"]]
    assert believed["d1"]["after"] == [["2024-01-01T09:00:00Z", "2024-02-01T09:00:00Z"]]
    assert (found["to"], found["toCommit"], found["closed"]) == ("the work tree", None, ["d1"])


def test_sides_that_are_left_out_are_head(grown: Repo) -> None:
    whole = grown.run("diff", "--rev", "story..later", "--json").json
    for rev in ("story..", "story..HEAD", "story...later", "story"):
        assert grown.run("diff", "--rev", rev, "--json").json["added"] == whole["added"]
    assert grown.run("diff", "--rev", "..story", "--json").json["added"] == []


def test_three_dots_leave_out_what_the_other_side_did(grown: Repo) -> None:
    grown.git("checkout", "-q", "-b", "mine", "story")
    grown.apply({"session": "mine", "at": "2024-05-01", "decisions": [{"id": "m", "text": "mine"}]})
    save(grown, "mine-1")
    assert grown.run("diff", "--rev", "later...mine-1", "--json").json["added"] == ["m"]
    both = grown.run("diff", "--rev", "later..mine-1", "--json").json
    assert both["added"] == ["m"]
    assert {line["session"] for line in both["removed"]} == {f"session-{n}" for n in (5, 6, 7, 8)}


def test_the_exit_code_tells_differences(grown: Repo) -> None:
    assert grown.run("diff", "--rev", "story..later", "--exit-code", code=3).out
    assert grown.run("diff", "--rev", "later", "--exit-code").out == "nothing changed\n"
    dates = ("diff", "--from", "2024-01-31", "--to")
    grown.run(*dates, "2024-02-15", "--exit-code", code=3)
    grown.run(*dates, "2024-01-31", "--exit-code")


def test_rewritten_history_is_in_the_comment(grown: Repo) -> None:
    grown.checkpoint.write_text(grown.checkpoint.read_text().replace("orders uses postgres", "orders uses sqlite"))
    comment = grown.run("diff", "--rev", "HEAD", "--markdown").out
    assert "1 line rewritten or removed" in comment
    assert "❌ **rewritten**: decision d1 of session session-1 was rewritten" in comment


def test_a_damaged_checkpoint_is_named_with_its_revision(grown: Repo) -> None:
    grown.checkpoint.write_text("{}\n")
    save(grown, "broken")
    said = grown.run("diff", "--rev", "later..broken", code=3)
    assert said.err.startswith("error: the checkpoint of broken (")
    assert grown.run("diff", "--rev", "nowhere", code=1).err.startswith("error: there is no commit nowhere")


def test_a_long_session_is_folded(grown: Repo) -> None:
    items = [{"id": f"x{n}", "text": f"number {n}"} for n in range(12)]
    grown.apply({"session": "a <b> & $c$", "at": "2024-05-01", "decisions": items})
    comment = grown.run("diff", "--rev", "HEAD", "--markdown").out
    assert (
        "<details>\n<summary><b>a &lt;b&gt; &amp; <span>$</span>c<span>$</span> · 2024-05-01</b>, 12 lines" in comment
    )
    assert "</details>" in comment


def test_a_comment_is_never_longer_than_github_takes(grown: Repo) -> None:
    sessions = [{"session": f"s{n:03}", "at": "2024-05-01", "decisions": [{"text": "*x* " * 300}]} for n in range(100)]
    grown.apply(*sessions)
    comment = grown.run("diff", "--rev", "HEAD", "--markdown").out
    assert len(comment) < 65_536
    assert "more sections: `ledger diff --rev` shows them all" in comment


def test_a_long_session_hides_no_other(grown: Repo) -> None:
    items = [{"id": f"x{n}", "text": "<" * 600, "rationale": "&" * 600} for n in range(50)]
    items.append({"id": "y", "text": "at the end", "about": [f"{'<' * 190}{n}" for n in range(30)]})
    small = {"session": "small", "at": "2024-05-02", "decisions": [{"text": "a small one", "slot": "q"}]}
    grown.apply({"session": "long", "at": "2024-05-01", "decisions": items}, small)
    grown.checkpoint.write_text(grown.checkpoint.read_text().replace("orders uses postgres", "orders uses sqlite"))
    comment = grown.run("diff", "--rev", "HEAD", "--markdown").out
    assert len(comment) < 65_536
    assert "… and 49 more: `ledger diff --rev` shows them all" in comment
    assert "“a small one”" in comment
    assert "❌ **rewritten**" in comment
    assert "**q**<br>true: " in comment


def test_many_problems_leave_room_and_are_never_left_out(grown: Repo) -> None:
    items = [{"text": f"{n}{'<' * 600}", "slot": f"{'&' * 180}{n}"} for n in range(60)]
    grown.apply({"session": "long", "at": "2024-05-01", "decisions": items})
    save(grown, "long")
    grown.checkpoint.write_text(grown.checkpoint.read_text().replace("<<", ">>"))
    comment = grown.run("diff", "--rev", "HEAD", "--markdown").out
    assert comment.count("❌ **rewritten**") > 10
    assert len(comment) < 65_536


HOSTILE = [
    "<script>alert(1)</script>",
    "`code` and ``more`` and ```fence```",
    "a | b | c",
    "@everyone and @org/team, see #1, org/repo#2 and GH-3",
    "![img](http://evil.example/x.png) [link](javascript:alert(1))",
    "http://evil.example www.evil.example <http://evil.example> mail me@evil.example",
    "# heading\n\n- list\n1. one\n> quote\n---\n```\nfence",
    "**bold** _it_ ~~gone~~ $math$ :warning: :+1: \\* &lt; &#64;x &amp;",
    "<!-- comment --> </details></summary><img src=x onerror=y>",
    "[^1] {.class} || spoiler ||",
]


@pytest.mark.parametrize("field", ["text", "rationale", "about", "id", "slot", "session", "by"])
def test_hostile_text_is_text(grown: Repo, field: str) -> None:
    from markdown_it import MarkdownIt

    sessions = []
    for n, hostile in enumerate(HOSTILE):
        text = hostile if field in ("text", "rationale") else " ".join(hostile.split())
        item: dict[str, Any] = {"id": f"h{n}", "text": "plain"}
        session: dict[str, Any] = {"session": f"s{n}", "at": f"2024-05-01T00:00:{n:02}Z", "decisions": [item]}
        (session if field in ("session", "by") else item)[field] = [text] if field == "about" else text
        sessions.append(session)
    grown.apply(*sessions)
    comment = grown.run("diff", "--rev", "HEAD", "--markdown").out
    shown = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(comment)
    tags = set(re.findall(r"</?([a-z0-9]+)", shown))
    assert tags <= {"h3", "h4", "p", "ul", "li", "strong", "br", "details", "summary", "b"}, tags
    assert re.findall(r"<!--.*?-->", shown) == ["<!-- ledger diff -->"]
    seen = html.unescape(re.sub(r"<[^>]+>", " ", shown.replace("<!-- ledger diff -->", ""))).replace("\u200b", "")
    for hostile in HOSTILE:
        assert " ".join(hostile.split()) in " ".join(seen.split())
    assert not re.search(r"[@#]\w|://\w|www\.|:warning:|:\+1:", comment.replace("<!-- ledger diff -->", ""))


def test_what_turns_the_line_round_or_is_not_seen_is_named(grown: Repo) -> None:
    grown.apply({"session": "s", "at": "2024-05-01", "decisions": [{"id": "b", "text": "safe \u202eevil\u200b\u2066"}]})
    comment = grown.run("diff", "--rev", "HEAD", "--markdown").out
    assert "safe ⟨U+202E⟩evil⟨U+200B⟩⟨U+2066⟩" in comment
    assert "\u202e" not in comment


@pytest.mark.parametrize(
    "words",
    [
        ("--rev", "HEAD", "--from", "2024-01-01"),
        ("--from", "2024-01-01", "--to", "2024-02-01", "--markdown"),
        ("--rev", "HEAD", "--markdown", "--json"),
    ],
)
def test_options_that_do_not_go_together_are_usage_errors(grown: Repo, words: tuple[str, ...]) -> None:
    assert grown.run("diff", *words, code=2).err.startswith("Usage: ledger diff")
