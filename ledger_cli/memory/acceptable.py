"""What a session file takes: asked of its own reader, so that nothing is written that it would refuse."""

from __future__ import annotations

from typing import Any

from ledger_cli import session_file
from ledger_cli.errors import Refused


def fault_of(key: str, value: str) -> str:
    """Why a session file would refuse this value: `kind` is an entity's, `said` an episode's text, `by` the session's,
    any other key an item's.

    "" = it takes it.
    """
    document: dict[str, Any] = {"session": "s", "facts": [{"text": "a text", key: value}]}
    if key == "kind":
        document = {"session": "s", "entities": [{"name": "a name", "kind": value}]}
    elif key == "by":
        document = {"session": "s", "by": value}
    elif key == "said":
        document = {"session": "s", "episodes": [{"kind": "message", "text": value}]}
    try:
        session_file.of(document)
    except Refused as fault:
        return fault.problems[0].what
    return ""
