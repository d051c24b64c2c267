"""`ledger search WORDS`: items by their words, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.commands.conftest import Golden
    from tests.conftest import Repo


def test_the_screen_and_the_json(long_story: Repo, golden: Golden) -> None:
    screen = long_story.run("search", "redis", "cache", "orders")
    assert screen.err == ""
    golden("search/redis-cache-orders.txt", screen.out)


def test_the_keys_of_the_contract_in_their_order(long_story: Repo) -> None:
    found = long_story.run("search", "redis", "cache", "orders", "--json").json
    assert list(found) == ["words", "items"]
    assert found["words"] == "redis cache orders"
    of_as_of = long_story.run("as-of", "2024-03-15", "--json").json["items"][0]
    assert {tuple(item) for item in found["items"]} == {(*of_as_of, "score")}
    scores = [item["score"] for item in found["items"]]
    assert scores == sorted(scores, reverse=True)


def test_words_in_one_argument_or_in_several_are_one_question(story: Repo) -> None:
    several = story.run("search", "redis", "cache", "orders", "--json").out
    assert story.run("search", "redis cache orders", "--json").out == several


def test_what_no_longer_holds_is_found_and_says_so(story: Repo) -> None:
    [d1] = story.run("search", "postgres", "--json").json["items"]
    assert (d1["id"], d1["validTo"], d1["closedAt"]) == ("d1", "2024-01-10T00:00:00Z", "2024-02-01T09:00:00Z")


def test_limit_keeps_the_best(story: Repo) -> None:
    assert story.run("search", "redis cache orders", "-n", "1", "--json").ids == ["d6"]
    assert len(story.run("search", "orders search payments", "--limit", "3", "--json").ids) == 3


def test_a_rationale_is_searched_too(long_story: Repo) -> None:
    assert long_story.run("search", "asked", "--json").ids == ["f1"]


def test_case_does_not_matter(story: Repo) -> None:
    assert story.run("search", "REDIS", "--json").ids == ["d6"]


def test_nothing_found_is_an_answer(story: Repo) -> None:
    said = story.run("search", "zeppelin")
    assert (said.out, said.err) == ("nothing\n", "")
    assert story.run("search", "zeppelin", "--json").json == {"words": "zeppelin", "items": []}


def test_nothing_recorded_is_an_answer(repo: Repo) -> None:
    assert repo.run("search", "orders", "--json").json == {"words": "orders", "items": []}


def test_what_looks_like_a_query_language_is_words(story: Repo) -> None:
    for words in ("orders AND mysql", '"orders', "orders*", "text:orders", "orders) OR (", "-orders", "or/ders [x]"):
        assert story.run("search", "--json", "--", words).err == "", words
