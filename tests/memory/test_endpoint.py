"""Vectors from an OpenAI-compatible endpoint: a real HTTP server that answers well, badly, slowly, or not at all."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from ledger_cli.errors import LedgerError
from ledger_cli.memory import endpoint
from ledger_cli.memory.choosing import embedder
from ledger_cli.memory.endpoint import EndpointEmbedder, EndpointError
from tests.conftest import Repo

Answer = Callable[[dict[str, Any]], tuple[int, Any]]
"""From a request's body to a status and what is sent: JSON, or bytes as they are."""


class Server:
    """A server on localhost that answers as it is told, one answer after the other, the last one for good."""

    def __init__(self) -> None:
        self.answers: list[Answer] = [well]
        self.requests: list[tuple[str, str, dict[str, Any]]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append((self.path, self.headers.get("Authorization", ""), body))
                answer = outer.answers.pop(0) if len(outer.answers) > 1 else outer.answers[0]
                status, said = answer(body)
                data = said if isinstance(said, bytes) else json.dumps(said).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.send_header("Retry-After-Ms", "1")
                self.end_headers()
                with suppress(BrokenPipeError, ConnectionResetError):  # who asked has given up
                    self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"


def vector(text: str) -> list[float]:
    return [1.0, float(len(text)), float(text.count("e"))]


def well(body: dict[str, Any]) -> tuple[int, Any]:
    """As the API has it; the rows in no order."""
    rows = [{"object": "embedding", "index": n, "embedding": vector(t)} for n, t in enumerate(body["input"])]
    return 200, {"object": "list", "model": body["model"], "data": rows[::-1], "usage": {"total_tokens": 1}}


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def model(server: Server, **options: Any) -> EndpointEmbedder:
    return EndpointEmbedder(server.url, "tiny", "secret", **options)


def test_texts_become_vectors_in_their_order_by_one_request(server: Server) -> None:
    texts = ["one", "three", "eleven"]
    assert model(server).embed(texts) == [vector(text) for text in texts]
    [(path, key, body)] = server.requests
    assert (path, key) == ("/v1/embeddings", "Bearer secret")
    assert (body["model"], body["input"], body["encoding_format"]) == ("tiny", texts, "float")


def test_of_no_texts_nothing_is_asked(server: Server) -> None:
    assert model(server).embed([]) == []
    assert server.requests == []


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_passes_is_tried_again(server: Server, status: int) -> None:
    server.answers = [lambda body: (status, {"error": {"message": "not now"}}), well]
    assert model(server).embed(["one"]) == [vector("one")]
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("status", "sentence"),
    [(429, "no more requests"), (500, "answered 500"), (404, "answered 404"), (401, "does not take the key")],
)
def test_what_stays_is_a_sentence(server: Server, status: int, sentence: str) -> None:
    server.answers = [lambda body: (status, {"error": {"message": "no"}})]
    with pytest.raises(EndpointError, match=sentence):
        model(server).embed(["one"])
    assert 1 <= len(server.requests) <= 3


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"<html>hello</html>",
        b"{",
        b"null",
        b"[]",
        {},
        {"data": None},
        {"data": [{"index": 0}]},
        {"data": [{"index": None, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}]},
        {"data": "AAAA"},
        {"data": [{"index": 0, "embedding": None}]},
        {"data": [7]},
    ],
)
def test_a_malformed_answer_is_a_sentence(server: Server, said: Any) -> None:
    server.answers = [lambda body: (200, said)]
    with pytest.raises(EndpointError, match="answered what cannot be read"):
        model(server).embed(["one"])


def test_a_slow_answer_is_given_up(server: Server) -> None:
    waiting = threading.Event()

    def slow(body: dict[str, Any]) -> tuple[int, Any]:
        waiting.wait(2)
        return well(body)

    server.answers = [slow]
    with pytest.raises(EndpointError, match="did not answer in time"):
        model(server, timeout=0.05).embed(["one"])
    waiting.set()


def test_an_endpoint_that_is_not_there_is_a_sentence() -> None:
    with pytest.raises(EndpointError, match="cannot be reached"):
        EndpointEmbedder("http://127.0.0.1:9/v1", "tiny", None, timeout=1).embed(["one"])


def test_a_password_in_the_url_is_neither_said_nor_kept() -> None:
    embedder = EndpointEmbedder("http://bob:s3cret@127.0.0.1:9/v1", "tiny", None, timeout=1)
    assert embedder.name == "tiny at http://127.0.0.1:9/v1"  # the name that its vectors are kept under
    with pytest.raises(EndpointError) as said:
        embedder.embed(["one"])
    assert "s3cret" not in f"{said.value.message} {said.value.hint}" and "127.0.0.1:9" in said.value.message


def test_a_server_of_ones_own_needs_no_key(server: Server) -> None:
    assert EndpointEmbedder(server.url, "tiny", None).embed(["one"]) == [vector("one")]


@pytest.mark.parametrize("url", ["", "localhost:80", "file:///etc/passwd", "ftp://host/v1"])
def test_what_is_no_base_url_is_refused(url: str) -> None:
    with pytest.raises(LedgerError, match=r"base URL"):
        embedder("endpoint", url=url, model="tiny")


def test_without_a_model_it_says_how_to_name_one() -> None:
    with pytest.raises(LedgerError) as refused:
        embedder("endpoint", url="http://localhost/v1")
    assert "LEDGER_EMBEDDINGS_MODEL" in refused.value.hint
    with pytest.raises(LedgerError, match="no embeddings 'psychic'"):
        embedder("psychic")


def test_without_the_sdk_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(LedgerError) as refused:
        endpoint.client("http://localhost/v1", None)
    assert refused.value.hint == "pip install 'ledger-cli[llm]'"


def test_recall_asks_the_endpoint_once_for_each_text(
    repo: Repo, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"text {'e' * n}" for n in range(150)]
    facts = [{"id": f"f{n}", "text": text} for n, text in enumerate(texts)]
    repo.apply({"session": "s", "at": "2024-01-01", "facts": facts})
    monkeypatch.setenv("OPENAI_API_KEY", "fallback")
    options = ("--embeddings", "endpoint", "--embeddings-url", server.url, "--embeddings-model", "tiny", "--json")
    first = repo.run("recall", "question", *options)
    asked = [text for _, _, body in server.requests for text in body["input"]]
    assert sorted(asked) == sorted(["question", *texts])
    assert {key for _, key, _ in server.requests} == {"Bearer fallback"}
    monkeypatch.setenv("LEDGER_LLM_KEY", "mine")
    server.requests.clear()
    for name, value in {"": "endpoint", "_URL": server.url, "_MODEL": "tiny"}.items():
        monkeypatch.setenv(f"LEDGER_EMBEDDINGS{name}", value)
    assert repo.run("recall", "question", "--json").out == first.out
    assert [(key, body["input"]) for _, key, body in server.requests] == [("Bearer mine", ["question"])]


def test_an_endpoint_that_fails_half_way_is_an_error_and_what_it_gave_is_kept(repo: Repo, server: Server) -> None:
    facts = [{"id": f"f{n}", "text": f"text {n}"} for n in range(200)]
    repo.apply({"session": "s", "at": "2024-01-01", "facts": facts})
    server.answers = [well, well, lambda body: (400, {"error": {"message": "out of money"}})]
    options = ("--embeddings", "endpoint", "--embeddings-url", server.url, "--embeddings-model", "tiny", "--json")
    said = repo.run("recall", "question", *options, code=1)
    assert said.out == ""
    assert said.err.startswith(f"error: {server.url} answered 400: ")
    server.answers, server.requests = [well], []
    repo.run("recall", "question", *options)
    again = [text for _, _, body in server.requests for text in body["input"] if text != "question"]
    assert len(again) == 200 - 64


def test_the_key_stands_in_no_message_and_no_file(repo: Repo, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEDGER_LLM_KEY", "sk-do-not-tell")
    repo.apply({"session": "s", "at": "2024-01-01", "facts": [{"id": "f", "text": "text"}]})
    options = ("--embeddings", "endpoint", "--embeddings-url", server.url, "--embeddings-model", "tiny", "--json")
    said = [repo.run("recall", "question", *options)]
    server.answers = [lambda body: (401, {"error": {"message": "no"}})]
    said.append(repo.run("recall", "question", *options, code=1))
    assert not any("sk-do-not-tell" in one.out + one.err for one in said)
    assert not any(b"sk-do-not-tell" in path.read_bytes() for path in repo.path.rglob("*") if path.is_file())
