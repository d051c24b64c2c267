"""`ledger session …`: write sessions, try them, and look at what was written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ledger_cli.commands.shell import AsJson, NoExport, shell

if TYPE_CHECKING:
    from ledger_cli.ledger import Applied
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

    sessions: list[Session] = []
    problems: list[Problem] = []
    for path in files:
        try:
            stdin = str(path) == "-"
            sessions += session_file.read(sys.stdin.buffer.read(), "stdin") if stdin else session_file.read_file(path)
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
    from ledger_cli.views import as_json, talk, terminal

    sessions = _read(files)
    done: list[Applied] = []
    with terminal.progress("applying", len(sessions)) as step:

        def on_applied(applied: Applied) -> None:
            done.append(applied)
            step()
            if not json:
                talk.applied(applied)

        try:
            shell(ctx).ledger().apply(sessions, backdated=backdated, export=not no_export, on_applied=on_applied)
        finally:
            if json:
                terminal.out(as_json.render(as_json.applied(done)))
            elif len(sessions) > 1:
                talk.count(done, len(sessions))


@app.command("check")
def check(ctx: typer.Context, files: Files, backdated: Backdated = False, json: AsJson = False) -> None:
    """Try sessions without writing anything: every effect, or every refusal."""
    from ledger_cli.views import as_json, talk, terminal

    found: list[Applied] = []
    try:
        shell(ctx).ledger().preview(_read(files), backdated=backdated, on_applied=found.append)
    finally:
        if json:
            terminal.out(as_json.render(as_json.applied(found)))
        else:
            for applied in found:
                talk.applied(applied, dry=True)


@app.command("new")
def new(ctx: typer.Context, id: Annotated[str, typer.Argument(metavar="ID", help="The new session's id.")]) -> None:
    """Print a session file to fill in."""
    from ledger_cli import session_file
    from ledger_cli.views import terminal

    if not id.strip():
        raise typer.BadParameter("give the new session an id")
    terminal.out(session_file.skeleton(id))


@app.command("list")
def list_(ctx: typer.Context, json: AsJson = False) -> None:
    """All sessions that were applied, by their clocks."""
    from ledger_cli.views import as_json, tables, terminal

    rows = shell(ctx).ledger().sessions()
    if json:
        terminal.out(as_json.render(as_json.sessions(rows)))
    else:
        tables.sessions(rows)


@app.command("show")
def show(ctx: typer.Context, id: Annotated[str, typer.Argument(metavar="ID")], json: AsJson = False) -> None:
    """What a session recorded, as the checkpoint's lines."""
    from json import loads

    from ledger_cli.lines import line
    from ledger_cli.views import as_json, terminal

    entries = shell(ctx).ledger().session(id)
    if json:
        entry_lines = [loads(line(entry)) for entry in entries]
        terminal.out(as_json.render({"session": id, "entries": entry_lines}))
    else:
        terminal.out("".join(line(entry) + "\n" for entry in entries))
