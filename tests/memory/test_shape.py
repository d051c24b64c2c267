"""What is wrong with a JSON value: as the reference implementation of JSON Schema says, for what is asked of models."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger_cli.memory import shape
from ledger_cli.memory.extraction import EXTRACTION, JUDGEMENT, SUMMARY

SCALARS = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.5, 1.0, "", "text", "old", "new"])
KEYS = st.sampled_from(["entities", "facts", "decisions", "text", "slot", "about", "from", "name", "kind", "x",
                        "rationale", "validFrom", "validTo", "confidence", "verdicts", "summary"])  # fmt: skip
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner), max_leaves=12)


def near(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that are almost of a schema: of it, with anything in the place of some parts."""
    types = schema.get("type", "object")
    if types == "object":
        whole = st.fixed_dictionaries({k: near(of) for k, of in schema["properties"].items()})
        return whole | st.fixed_dictionaries({}, optional={k: near(of) for k, of in schema["properties"].items()})
    if types == "array":
        return st.lists(near(schema["items"]), max_size=2) | SCALARS
    return st.sampled_from(schema["enum"]) | SCALARS if "enum" in schema else SCALARS


@pytest.mark.parametrize("schema", [EXTRACTION, JUDGEMENT, SUMMARY], ids=["extraction", "judgement", "summary"])
def test_it_finds_faults_where_the_reference_does(schema: dict[str, Any]) -> None:
    reference = jsonschema.Draft202012Validator(schema)

    @given(VALUES | near(schema))
    def agree(value: Any) -> None:
        assert (not list(shape.faults(value, schema))) == reference.is_valid(value)

    agree()


@given(VALUES | near(EXTRACTION))
def test_what_may_be_null_may_be_left_out(value: Any) -> None:
    filled = shape.filled(value, EXTRACTION)
    if not list(shape.faults(value, EXTRACTION)):
        assert filled == value
    assert shape.filled(filled, EXTRACTION) == filled


def test_a_fault_names_the_place_and_what_is_wrong_there() -> None:
    answer = {"entities": [], "facts": [{"text": 1, "about": [None]}], "decisions": {}, "more": 1}
    found = list(shape.faults(shape.filled(answer, EXTRACTION), EXTRACTION))
    assert found == [
        "the answer.facts[0] lacks 'from'",
        "the answer.facts[0].text is integer, not string",
        "the answer.facts[0].about[0] is null, not string",
        "the answer.decisions is object, not array",
        "the answer has 'more', which is not asked for",
    ]
