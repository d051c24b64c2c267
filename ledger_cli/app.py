"""The process: its streams, its clock, the one boundary of errors, and the exit code."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO, cast

from ledger_cli import __version__
from ledger_cli.errors import LedgerError

BUG = 70
INTERRUPTED = 130
PIPE_CLOSED = 141


def now() -> datetime:
    """The machine's clock."""
    return datetime.now(UTC)


class _Unwritten(BaseException):
    """Stdout took no more. No OSError, since click and rich leave the process on that of a closed pipe, and no bug."""


class _Stream:
    """Stdout or stderr, with its failures told apart from all others; after one it leads to nowhere.

    One of stdout is `_Unwritten`. What cannot be said on stderr is not said.
    """

    def __init__(self, stream: TextIO, *, is_answer: bool) -> None:
        if hasattr(stream, "reconfigure"):
            # What the ledger holds is UTF-8, whatever the locale. The name of a file may be no text at all.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
        self._stream, self._is_answer = stream, is_answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        self._try(lambda: self._stream.write(text))
        return len(text)

    def flush(self) -> None:
        self._try(self._stream.flush)

    def _try(self, do: Callable[[], object]) -> None:
        try:
            do()
        except OSError as fault:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())  # Python flushes once more at its end
            if self._is_answer:
                raise _Unwritten from fault


def _open_missing() -> None:
    """Let a stream that the process was started without lead to nowhere. In this order each gets its own number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))


def run(arguments: Sequence[str] | None = None, *, clock: Callable[[], datetime] = now) -> int:
    """Run one command line and return its exit code. Says every failure in a sentence on stderr."""
    _open_missing()
    streams = sys.stdout, sys.stderr
    sys.stdout = cast(TextIO, _Stream(sys.stdout, is_answer=True))
    sys.stderr = cast(TextIO, _Stream(sys.stderr, is_answer=False))
    try:
        code = _run(arguments, clock)
        sys.stdout.flush()
        return code
    except _Unwritten as fault:
        if isinstance(fault.__cause__, BrokenPipeError):  # the reader of our output went away, as `head` does
            return PIPE_CLOSED
        sys.stderr.write(f"error: cannot write the answer: {getattr(fault.__cause__, 'strerror', '')}\n")
        return LedgerError.exit_code
    finally:
        sys.stdout, sys.stderr = streams


def _run(arguments: Sequence[str] | None, clock: Callable[[], datetime]) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _call(words, clock)
    except LedgerError as fault:
        from ledger_cli.views import talk

        talk.error(fault)
        return fault.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED
    except Exception as fault:
        return _bug(fault)


def _call(words: list[str], clock: Callable[[], datetime]) -> int:
    if words[:1] == ["merge-driver"] and len(words) == 5 and not words[1].startswith("-"):
        # What git calls, as it calls it, for every merge: to read the words takes Typer as long as to merge the files.
        # And the last of them may be `-x/ledger.json`.
        from ledger_cli import driver

        return driver.run(Path.cwd(), *words[1:])
    from ledger_cli import cli
    from ledger_cli.commands.shell import Shell

    return cli.call(words, Shell(clock, Path.cwd(), os.environ.get("LEDGER_ENGINE") or "kglite"))


def _bug(fault: Exception) -> int:
    import tempfile
    import traceback

    report = "".join(traceback.format_exception(fault))
    sys.stderr.write(f"error: this is a bug in ledger {__version__}: {type(fault).__name__}: {fault}\n")
    try:
        with tempfile.NamedTemporaryFile("w", prefix="ledger-bug-", suffix=".txt", delete=False) as file:
            file.write(f"ledger {__version__}, Python {sys.version}\n{report}")
        sys.stderr.write(f"  hint: please report it with what stands in {file.name}\n")
    except OSError:
        sys.stderr.write(report)
    return BUG


def main() -> None:
    """The console script."""
    # A ledger of 100,000 items is millions of objects, and none of them in a cycle: to look for cycles among them would
    # take a tenth of a check, and some of every start.
    gc.disable()
    sys.exit(run())
