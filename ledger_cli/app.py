"""The command line: one Typer app, the one error boundary, and the only reader of the clock."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, TextIO, cast

import typer
from typer.core import TyperGroup

from ledger_cli import __version__
from ledger_cli.commands.shell import Shell
from ledger_cli.errors import LedgerError

COMMANDS = {
    "init": "keep.init",
    "demo": "demo.demo",
    "session": "session.app",
    "reject": "reviews.reject",
    "reinstate": "reviews.reinstate",
    "end": "reviews.end",
    "as-of": "axes.as_of",
    "believed": "axes.believed",
    "lateness": "axes.lateness",
    "diff": "axes.diff",
    "history": "look.history",
    "show": "look.show",
    "search": "look.search",
    "slots": "look.slots",
    "query": "look.query",
    "check": "keep.check",
    "resolve": "merges.resolve",
    "merge-driver": "merges.merge_driver",
    "export": "keep.export",
    "rebuild": "keep.rebuild",
    "install": "setup.install",
    "doctor": "keep.doctor",
    "textconv": "setup.textconv",
}
"""Every command, in the order of the help, and where it stands in `commands/`."""


class _InOrder(TyperGroup):
    """Typer would list groups last; `session` is what people come for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=list(COMMANDS).index)


def build(only: str | None = None) -> typer.Typer:
    """The Typer app with all commands, or with one: to read the signatures of all takes longer than most answers."""
    app = typer.Typer(
        name="ledger",
        cls=_InOrder,
        help="Decisions and facts on two time axes, kept as one canonical JSON file in git.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(start)
    for name, where in COMMANDS.items():
        if only in (None, name):
            module, _, attribute = where.partition(".")
            command = getattr(import_module(f"ledger_cli.commands.{module}"), attribute)
            if isinstance(command, typer.Typer):
                app.add_typer(command, name=name)
            else:
                app.command(name)(command)
    return app


def _named(words: Sequence[str]) -> str | None:
    """The command that a command line names, if it plainly names one."""
    options = iter(words)
    for word in options:
        if word in ("-C", "--directory"):
            next(options, None)
        elif not word.startswith("--directory="):
            return word if word in COMMANDS else None
    return None


# Of whichever click this typer brings along: it has no public name.
_ClickException: Any = typer.BadParameter.__mro__[2]

BUG = 70
INTERRUPTED = 130
PIPE_CLOSED = 141


def now() -> datetime:
    """The machine's clock."""
    return datetime.now(UTC)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ledger {__version__}")
        raise typer.Exit


def start(
    ctx: typer.Context,
    directory: Annotated[
        Path | None, typer.Option("--directory", "-C", metavar="DIR", help="Run as if started there.")
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    sh = ctx.find_object(Shell)
    if sh is not None and directory is not None:
        if not directory.is_dir():
            raise typer.BadParameter(f"{directory} is not a folder")
        sh.folder = directory.absolute()


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
    shell = Shell(clock, Path.cwd(), os.environ.get("LEDGER_ENGINE") or "kglite")
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        _refuse_bytes(words)
        code = build(_named(words))(args=words, obj=shell, standalone_mode=False)
        return code if isinstance(code, int) else 0
    except LedgerError as fault:
        from ledger_cli.views import talk

        talk.error(fault)
        return fault.exit_code
    except typer.Exit as done:
        return done.exit_code
    except _ClickException as fault:
        fault.show()
        return int(fault.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        sys.stderr.write("interrupted\n")
        return INTERRUPTED
    except Exception as fault:
        return _bug(fault)


def _refuse_bytes(words: Sequence[str]) -> None:
    for n, word in enumerate(words, 1):
        try:
            os.fsencode(word).decode("utf-8")
        except UnicodeError:
            raise typer.BadParameter(f"argument {n} is not UTF-8: {os.fsencode(word)!r}") from None


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
    # A ledger of 100,000 items is millions of objects, and none of them in a cycle: looking for cycles after every 700
    # new ones takes a fifth of a rebuild, and some of every start.
    gc.set_threshold(100_000, 50, 50)
    sys.exit(run())
