"""`ledger show ID`: all that is recorded of one item, or one episode."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.commands.conftest import Golden
    from tests.conftest import Repo


@pytest.mark.parametrize("id", ["d1", "d5", "d6", "d7", "d9", "d10", "d11", "f1", "e1", "e2"])
def test_the_screen_and_the_json(long_story: Repo, golden: Golden, id: str) -> None:
    screen, json = long_story.run("show", id), long_story.run("show", id, "--json")
    assert (screen.err, json.err) == ("", "")
    golden(f"show/{id}.txt", screen.out)
    golden(f"show/{id}.json", json.out)


def test_the_keys_of_the_contract_in_their_order(long_story: Repo) -> None:
    item = long_story.run("show", "d11", "--json").json
    assert list(item)[16:] == ["versions", "supersedes", "supersededBy", "reviews", "endings", "evidence"]
    assert [list(link) for link in item["supersedes"]] == [["old", "new", "live", "recordedAt", "by", "session"]]
    episode = long_story.run("show", "e2", "--json").json
    assert list(episode) == ["id", "kind", "text", "mentions", "at", "recordedAt", "session"]


def test_an_unknown_id_says_where_to_look(story: Repo) -> None:
    said = story.run("show", "d99", code=1)
    assert (said.out, said.err) == (
        "",
        "error: d99 is unknown\n  hint: `ledger search WORDS` finds items by their words\n",
    )
