"""`ledger import …`, and what `ledger export --format` writes: exchange with other tools."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ledger_cli import views
from ledger_cli.commands.shell import AsJson, Shell, shell

if TYPE_CHECKING:
    from ledger_cli.exchange.outcomes import Import
    from ledger_cli.ledger import Ledger
    from ledger_cli.model import Entry

app = typer.Typer(
    no_args_is_help=True, help="Take in what other tools, or another ledger, hold.", rich_markup_mode=None
)


class Form(StrEnum):
    """What an export can be."""

    csv = "csv"
    jsonl = "jsonl"
    cypher = "cypher"
    adr = "adr"


class RecordTime(StrEnum):
    """Where the record time of what is imported comes from."""

    now = "now"
    git = "git"


def _name(given: str | None) -> str | None:
    from ledger_cli import session_file

    try:
        return given and session_file.check_name(given)
    except ValueError as fault:
        raise typer.BadParameter(str(fault)) from None


Into = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where the session file goes; `-`: stdout.")]
Id = Annotated[str | None, typer.Option("--session", metavar="ID", help="The session's id; left out: one of now.")]
By = Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who says so.", callback=_name)]
_STDOUT = Path("-")
_TOLD = 8
"""More ids than these are counted."""


@app.command("adr")
def adr(
    ctx: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the decision records.")],
    output: Into = _STDOUT,
    record_time: Annotated[
        RecordTime, typer.Option("--record-time", help="`git`: a session for each commit that decided something.")
    ] = RecordTime.now,
    session: Id = None,
    by: By = None,
    json: AsJson = False,
) -> None:
    """Write decision records as a session file to review.

    One item a record. What cannot be decided is listed with the reason. Nothing is applied.
    """
    from ledger_cli.exchange import adr_import

    folder, output = (shell(ctx).path(each) for each in (folder, output))
    _check_output(output, json)
    git = record_time is RecordTime.git
    # The same history gives the same sessions: their ids have the time of a commit, not that of the import.
    id = _session_id(shell(ctx), session or ("adr" if git else None), "adr")
    found = adr_import.of_folder(folder, session=id, by=by, git=git, now=shell(ctx).clock())
    _hand_out(found, str(folder), output, json)


@app.command("csv")
def csv(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="`-`: stdin.")],
    output: Into = _STDOUT,
    session: Id = None,
    by: By = None,
    json: AsJson = False,
) -> None:
    """Restore an export, or write another table as a session file to review.

    An export has the columns entry, recordedAt and session, and goes straight into the ledger.
    """
    from ledger_cli.exchange import csv_table, foreign, reading

    file, output = (shell(ctx).path(each) for each in (file, output))
    name = "stdin" if file == _STDOUT else str(file)
    header, rows = csv_table.rows(reading.text_of(file), name)
    if {"entry", "recordedAt", "session"} <= set(header):
        _refuse_output(output, session, by)
        given = reading.each(name, csv_table.whole(header, rows, name), csv_table.entry)
        _restore(shell(ctx).ledger(), given, json)
    else:
        _check_output(output, json)
        _hand_out(foreign.session(rows, name, id=_session_id(shell(ctx), session, "csv"), by=by), name, output, json)


@app.command("jsonl")
def jsonl(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="`-`: stdin.")],
    output: Into = _STDOUT,
    session: Id = None,
    by: By = None,
    json: AsJson = False,
) -> None:
    """Restore an export, or write other records as a session file to review.

    An export's records have recordedAt and session, and go straight into the ledger.
    """
    from ledger_cli.exchange import entries, foreign, reading
    from ledger_cli.exchange import jsonl as lines

    file, output = (shell(ctx).path(each) for each in (file, output))
    name = "stdin" if file == _STDOUT else str(file)
    rows = lines.rows(reading.text_of(file), name)
    if rows and entries.is_ours(rows[0][1]):
        _refuse_output(output, session, by)
        given = reading.each(name, reading.whole(name, rows, entries.is_end, entries.counted), entries.entry)
        _restore(shell(ctx).ledger(), given, json)
    else:
        _check_output(output, json)
        _hand_out(foreign.session(rows, name, id=_session_id(shell(ctx), session, "jsonl"), by=by), name, output, json)


def export(ledger: Ledger, form: Form, output: Path) -> None:
    """Write all of a ledger in another form; its checkpoint is only read."""
    from ledger_cli.exchange import adr_write, csv_table, cypher, jsonl, writing

    if form is Form.adr and output == _STDOUT:
        raise typer.BadParameter("a folder of decision records needs a place: --output DIR")
    if output != _STDOUT:
        writing.refuse_own(ledger, output)
    entries = ledger.database.entries()
    if form is Form.adr:
        files, left_out = adr_write.write(entries)
        writing.folder(output, files)
        said = views.terminal.counted({"record": len(files)}) or "no record"
        views.terminal.out(f"wrote {views.readable.plain(str(output))}: {said}\n")
        if left_out:
            more = f" and {len(left_out) - _TOLD} more" if len(left_out) > _TOLD else ""
            views.terminal.talk(f"note: corrected, and told by their corrections: {', '.join(left_out[:_TOLD])}{more}")
        return
    text = {Form.csv: csv_table.write, Form.jsonl: jsonl.write, Form.cypher: cypher.write}[form](entries)
    if output == _STDOUT:
        views.terminal.out(text)
    else:
        writing.file(output, text)
        said = views.terminal.counted({"entry": len(entries)}) or "no entry"
        views.terminal.out(f"wrote {views.readable.plain(str(output))}: {said}\n")


def _restore(ledger: Ledger, entries: list[Entry], json: bool) -> None:
    from ledger_cli.exchange.restore import restore

    done = restore(ledger, entries)
    if json:
        views.as_json.out(views.as_json.restored(done))
    else:
        views.talk.restored(done)


def _hand_out(found: Import, source: str, output: Path, json: bool) -> None:
    """The session file, and what became of every record: the one is data, the other talk, unless it is asked for."""
    from ledger_cli.errors import Refused
    from ledger_cli.exchange import writing
    from ledger_cli.session_writer import to_yaml

    if found.sessions:
        text = to_yaml(found.sessions, found.comments(source))
        if output == _STDOUT:
            views.terminal.out(text)
        else:
            writing.new_file(output, text)
    if json:
        views.as_json.out(views.as_json.imported(found, None if not found.sessions else str(output)))
    else:
        views.talk.imported(found, output=None if output == _STDOUT else output)
    if not found.sessions:
        raise Refused("nothing could be imported", "the reasons are above" if not json else "")


def _check_output(output: Path, json: bool) -> None:
    from ledger_cli.exchange import writing

    if json and output == _STDOUT:
        raise typer.BadParameter("--json needs --output FILE for the session file")
    if output != _STDOUT:
        writing.refuse_own(None, output)
        writing.refuse_existing(output)


def _refuse_output(output: Path, session: str | None, by: str | None) -> None:
    if output != _STDOUT or session is not None or by is not None:
        raise typer.BadParameter("this is an export of a ledger: it is restored as it was, without --output or names")


def _session_id(sh: Shell, given: str | None, sort: str) -> str:
    from ledger_cli import instant, session_file

    try:
        return session_file.check_id(given or f"import-{sort}-{instant.show(instant.tidy(sh.clock(), None))}")
    except ValueError as fault:
        raise typer.BadParameter(str(fault)) from None
