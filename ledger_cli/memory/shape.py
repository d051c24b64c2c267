"""What is wrong with a JSON value, by the part of JSON Schema that models are asked to keep to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}


def faults(value: object, schema: Schema, path: str = "the answer") -> Iterator[str]:
    """Every fault of a value, each with the path to it. Knows type, enum, properties, required,
    additionalProperties and items.
    """
    types = schema.get("type", [])
    names = [types] if isinstance(types, str) else list(types)
    if names and not any(_is(value, name) for name in names):
        yield f"{path} is {_named(value)}, not {' or '.join(names)}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path} is none of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        yield from (f"{path} lacks {name!r}" for name in schema.get("required", ()) if name not in value)
        for name, one in value.items():
            if name in properties:
                yield from faults(one, properties[name], f"{path}.{name}")
            elif schema.get("additionalProperties", True) is False:
                yield f"{path} has {name[:40]!r}, which is not asked for"
    elif isinstance(value, list) and "items" in schema:
        for n, one in enumerate(value):
            yield from faults(one, schema["items"], f"{path}[{n}]")


def filled(value: object, schema: Schema) -> object:
    """The value with null for what it leaves out and may be null: what people and commands write need not say it."""
    if isinstance(value, dict) and "properties" in schema:
        properties = schema["properties"]
        given = {name: filled(one, properties.get(name, {})) for name, one in value.items()}
        absent = {n: None for n, of in properties.items() if n not in value and "null" in of.get("type", ())}
        return given | absent
    if isinstance(value, list) and "items" in schema:
        return [filled(one, schema["items"]) for one in value]
    return value


def _is(value: object, name: str) -> bool:
    if isinstance(value, bool):  # no number, though Python takes it for one
        return name == "boolean"
    if name == "integer" and isinstance(value, float):  # 1.0 is one
        return value.is_integer()
    return isinstance(value, _TYPES[name])


def _named(value: object) -> str:
    return next(
        name for name in ("null", "boolean", "integer", "number", "string", "array", "object") if _is(value, name)
    )
