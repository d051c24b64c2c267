"""What of the program is Typer's: the commands, and how a command line is read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ledger_cli import __version__
from ledger_cli.commands.shell import Shell

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
    "recall": "recall.recall",
    "remember": "remember.remember",
    "thread": "thread.app",
    "timeline": "pictures.timeline",
    "site": "pictures.site",
    "query": "look.query",
    "trace": "trace.app",
    "serve": "serve.serve",
    "check": "keep.check",
    "resolve": "merges.resolve",
    "merge-driver": "merges.merge_driver",
    "export": "keep.export",
    "import": "exchange.app",
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


def named(words: Sequence[str]) -> str | None:
    """The command that a command line names, if it plainly names one."""
    options = iter(words)
    for word in options:
        if word in ("-C", "--directory"):
            next(options, None)
        elif not word.startswith("--directory="):
            return word if word in COMMANDS else None
    return None


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


# Of whichever click this typer brings along: it has no public name.
_ClickException: Any = typer.BadParameter.__mro__[2]


def call(words: Sequence[str], shell: Shell) -> int:
    """Run the command that a command line names; its exit code. What is wrong with the words is said on stderr.

    Raises what the command raises, and KeyboardInterrupt.
    """
    try:
        _refuse_bytes(words)
        code = build(named(words))(args=list(words), prog_name="ledger", obj=shell, standalone_mode=False)
        return code if isinstance(code, int) else 0
    except typer.Exit as done:
        return done.exit_code
    except _ClickException as fault:
        fault.show()
        return int(fault.exit_code)
    except typer.Abort:
        raise KeyboardInterrupt from None


def _refuse_bytes(words: Sequence[str]) -> None:
    for n, word in enumerate(words, 1):
        try:
            os.fsencode(word).decode("utf-8")
        except UnicodeError:
            raise typer.BadParameter(f"argument {n} is not UTF-8: {os.fsencode(word)!r}") from None
