"""What people and scripts see. Each module is imported when it is first asked for: a question needs one of them."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ledger_cli.views import (
        annotations,
        as_json,
        calls,
        conflicts,
        markdown,
        memory,
        plane,
        prose,
        readable,
        site,
        svg,
        tables,
        talk,
        terminal,
        timeline,
    )

__all__ = [
    "annotations",
    "as_json",
    "calls",
    "conflicts",
    "markdown",
    "memory",
    "plane",
    "prose",
    "readable",
    "site",
    "svg",
    "tables",
    "talk",
    "terminal",
    "timeline",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
