"""`ledger trace …`: what an agent's tool calls did, from the record that was kept of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ledger_cli import views
from ledger_cli.commands.shell import AsJson, answer, named, shell

if TYPE_CHECKING:
    from ledger_cli.memory.calls import ToolCall

app = typer.Typer(no_args_is_help=True, help="Ask the record of an agent's tool calls.", rich_markup_mode=None)
Session = Annotated[str | None, typer.Option("--session", metavar="ID", help="Only the calls of this session.")]


def _calls(ctx: typer.Context, session: str | None) -> list[ToolCall]:
    from ledger_cli.memory.call_store import Calls

    found = Calls(shell(ctx).ledger().database).all()
    return found if session is None else [call for call in found if call.session == session]


@app.command("calls")
def calls(ctx: typer.Context, session: Session = None, json: AsJson = False) -> None:
    """Each tool's calls, and how they ended.

    With the rows they gave back, what they touched, and the milliseconds they took: half of them took p50 at the most.
    """
    from ledger_cli.memory import audits

    found = audits.tools(_calls(ctx, session))
    answer(json, lambda: views.as_json.tool_uses(found), lambda: views.calls.tool_uses(found))


@app.command("failures")
def failures(ctx: typer.Context, session: Session = None, json: AsJson = False) -> None:
    """The calls that were rolled back, and why."""
    from ledger_cli.memory import audits

    found = audits.failures(_calls(ctx, session))
    answer(json, lambda: views.as_json.calls(found), lambda: views.calls.failures(found))


@app.command("recent")
def recent(
    ctx: typer.Context,
    n: Annotated[int, typer.Option("--number", "-n", metavar="N", min=1, max=1_000_000, help="How many.")] = 10,
    session: Session = None,
    json: AsJson = False,
) -> None:
    """The latest calls, newest first."""
    from ledger_cli.memory import audits

    found = audits.recent(_calls(ctx, session), n)
    answer(json, lambda: views.as_json.calls(found), lambda: views.calls.recent(found))


@app.command("lineage")
def lineage(
    ctx: typer.Context,
    subject: Annotated[str, typer.Argument(metavar="ID|ENTITY", callback=named)],
    json: AsJson = False,
) -> None:
    """Which call wrote a thing, and which read it since.

    An item or an episode by its id, an entity by its name.
    """
    from ledger_cli.memory import audits

    found = audits.lineage(_calls(ctx, None), subject)
    answer(json, lambda: views.as_json.lineages(found), lambda: views.calls.lineages(found))
    if not found:
        views.terminal.talk(f"note: no call on record touched {subject!r}")


@app.command("nodes")
def nodes(ctx: typer.Context, session: Session = None, json: AsJson = False) -> None:
    """All that the calls touched.

    With the calls that wrote it, and how many reads gave it back.
    """
    from ledger_cli.memory import audits, trace

    found = trace.named(shell(ctx).ledger(), audits.nodes(_calls(ctx, session)))
    answer(json, lambda: views.as_json.node_uses(found), lambda: views.calls.node_uses(found))


@app.command("show")
def show(
    ctx: typer.Context,
    session: Annotated[str, typer.Argument(metavar="SESSION", callback=named)],
    seq: Annotated[int, typer.Argument(metavar="SEQ", min=1)],
    json: AsJson = False,
) -> None:
    """All that is on record of one call."""
    from ledger_cli.errors import Refused, short

    found = next((call for call in _calls(ctx, session) if call.seq == seq), None)
    if found is None:
        raise Refused(
            f"there is no call {seq} of session {short(session)} on record", "`ledger trace recent` lists calls"
        )
    call = found
    answer(json, lambda: views.as_json.call(call), lambda: views.calls.show(call))


@app.command("export")
def export(ctx: typer.Context, json: AsJson = False) -> None:
    """Write the calls to files for git to track.

    To snapshots/calls/, a file a session. A file only ever gains lines. Never runs `git add`.
    """
    from ledger_cli.memory.call_store import Calls

    ledger = shell(ctx).ledger()
    written = [(path.relative_to(ledger.root).as_posix(), n) for path, n in Calls(ledger.database).export()]
    answer(json, lambda: views.as_json.exported_calls(written), lambda: views.calls.exported(written))
