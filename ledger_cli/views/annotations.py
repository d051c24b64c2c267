"""Findings as GitHub's runner takes them: one workflow command a line, which shows beside the line of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger_cli.views.terminal import out

if TYPE_CHECKING:
    from ledger_cli.answers import Checkup

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def check(found: Checkup) -> None:
    """One line a problem: what, whose sessions, and the command that resolves it. Nothing, where nothing is wrong."""
    for f in found.findings:
        told = f.message + (f" (sessions: {f.others})" if f.others else "") + (f"; hint: {f.hint}" if f.hint else "")
        where = f"file={_value(found.file)},line={f.line or 1},title={_value(f'ledger: {f.code}')}"
        out(f"::{_COMMANDS[f.severity]} {where}::{_text(told)}\n")


def _text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _value(text: str) -> str:
    return _text(text).replace(":", "%3A").replace(",", "%2C")
