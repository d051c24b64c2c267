"""`ledger session …`: write sessions, try them, and look at what was written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ledger_cli import views
from ledger_cli.commands.shell import AsJson, NoExport, answer, named, shell

if TYPE_CHECKING:
    from ledger_cli.answers import Applied
    from ledger_cli.stated import Session

app = typer.Typer(no_args_is_help=True, help="Apply sessions, try them, list them.", rich_markup_mode=None)
Files = Annotated[
    list[Path], typer.Argument(metavar="FILE...", help="YAML or JSON; one session or a list. `-`: stdin.")
]
Backdated = Annotated[
    bool, typer.Option("--backdated", help="Accept a clock older than the newest entry (never before what it touches).")
]


def _read(files: list[Path]) -> list[Session]:
    """All sessions of the files; every fault of every file at once."""
    import sys

    from ledger_cli import session_file
    from ledger_cli.errors import Problem, SessionFileError

    if [str(path) for path in files].count("-") > 1:
        raise typer.BadParameter("standard input is named twice")
    sessions: list[Session] = []
    problems: list[Problem] = []
    for path in files:
        try:
            if str(path) == "-":
                sessions += session_file.read(sys.stdin.buffer.read(), "stdin", guess=True)
            else:
                sessions += session_file.read_file(path)
        except SessionFileError as fault:
            problems += fault.problems
    if problems:
        raise SessionFileError(problems)
    return sessions


@app.command("apply")
def apply(
    ctx: typer.Context, files: Files, backdated: Backdated = False, no_export: NoExport = False, json: AsJson = False
) -> None:
    """Write sessions to the ledger.

    Each session is atomic and durable once its line is printed. The same session again changes nothing. The first
    that breaks a rule stops the rest.
    """
    sessions = _read(files)
    done: list[Applied] = []
    with views.terminal.progress("applying", len(sessions)) as step:

        def on_applied(applied: Applied) -> None:
            done.append(applied)
            step()
            if not json:
                views.talk.applied(applied)

        try:
            shell(ctx).ledger().apply(sessions, backdated=backdated, export=not no_export, on_applied=on_applied)
        finally:
            if json:
                views.as_json.out(views.as_json.applied(done))
            elif len(sessions) > 1:
                views.talk.count(done, len(sessions))


@app.command("check")
def check(ctx: typer.Context, files: Files, backdated: Backdated = False, json: AsJson = False) -> None:
    """Try sessions without writing anything.

    Says every effect, or every refusal.
    """
    found: list[Applied] = []

    def screen() -> None:
        for applied in found:
            views.talk.applied(applied, dry=True)

    try:
        shell(ctx).ledger().preview(_read(files), backdated=backdated, on_applied=found.append)
    finally:
        answer(json, lambda: views.as_json.applied(found), screen)


@app.command("new")
def new(ctx: typer.Context, id: Annotated[str, typer.Argument(metavar="ID", help="The new session's id.")]) -> None:
    """Print a session file to fill in."""
    from ledger_cli import session_file

    try:
        session_file.check_id(id)
    except ValueError as fault:
        raise typer.BadParameter(str(fault)) from None
    views.terminal.out(session_file.skeleton(id))


@app.command("list")
def list_(ctx: typer.Context, json: AsJson = False) -> None:
    """All sessions that were applied, by their clocks."""
    rows = shell(ctx).ledger().sessions()
    answer(json, lambda: views.as_json.sessions(rows), lambda: views.tables.sessions(rows))


@app.command("show")
def show(
    ctx: typer.Context, id: Annotated[str, typer.Argument(metavar="ID", callback=named)], json: AsJson = False
) -> None:
    """What a session recorded, as the checkpoint's lines."""
    from ledger_cli.lines import line

    entries = shell(ctx).ledger().session(id)

    def screen() -> None:
        views.terminal.out("".join(line(entry) + "\n" for entry in entries))

    answer(json, lambda: views.as_json.session(id, entries), screen)
