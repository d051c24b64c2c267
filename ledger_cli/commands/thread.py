"""`ledger thread …`: the messages of conversations under way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ledger_cli import views
from ledger_cli.commands import models
from ledger_cli.commands.look import MOST
from ledger_cli.commands.shell import AsJson, answer, named, shell

if TYPE_CHECKING:
    from ledger_cli.memory.threads import Threads

app = typer.Typer(no_args_is_help=True, help="Keep the messages of a conversation.", rich_markup_mode=None)
Name = Annotated[str, typer.Argument(metavar="THREAD", help="The conversation's name.", callback=named)]


def _threads(ctx: typer.Context) -> Threads:
    from ledger_cli.memory.threads import Threads

    return Threads(shell(ctx).ledger(), say=views.terminal.talk)


@app.command("append")
def append(
    ctx: typer.Context,
    thread: Name,
    text: Annotated[str, typer.Argument(metavar="[TEXT]", help="What is said; `-`, or left out: stdin.")] = "-",
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help="system, user or assistant.")] = "user",
) -> None:
    """Add a message.

    Durable once its line is printed.
    """
    import sys

    from ledger_cli.memory.threads import ROLES

    if role not in ROLES:
        raise typer.BadParameter(f"--role is one of {', '.join(ROLES)}")
    if text == "-":
        try:
            text = sys.stdin.buffer.read().decode().removesuffix("\n")
        except UnicodeDecodeError:
            raise typer.BadParameter("what stands on stdin is not UTF-8") from None
    number = _threads(ctx).append(thread, next(r for r in ROLES if r == role), text)
    views.terminal.out(f"message {number}\n")


@app.command("prepare")
def prepare(
    ctx: typer.Context,
    thread: Name,
    last: Annotated[int, typer.Option("--last", metavar="N", min=0, max=MOST, help="How many messages, at most.")] = 20,
    json: AsJson = False,
) -> None:
    """What goes into a chat call: the summary, then the last messages.

    Oldest first; with --json a list of {role, content}. Asks no model.
    """
    found = _threads(ctx).prepare(thread, last)
    answer(json, lambda: views.as_json.prepared(found), lambda: views.memory.prepared(found))
    if found.left_out:
        views.terminal.talk(
            f"note: {found.left_out} older messages are in neither; `ledger thread compact` takes them into the summary"
        )


@app.command("compact")
def compact(
    ctx: typer.Context,
    thread: Name,
    keep: Annotated[int, typer.Option("--keep", metavar="N", min=0, max=MOST, help="How many stay as they are.")] = 10,
    summary: Annotated[
        str | None, typer.Option("--summary", metavar="TEXT", help="The new summary, of the old one too.")
    ] = None,
    command: models.Command = None,
    url: models.Url = None,
    model: models.ModelName = None,
    timeout: models.Timeout = 120.0,
) -> None:
    """Sum up all but the last messages.

    With --summary as given; else by a command or a model. The messages stay in the thread's file.
    """
    from ledger_cli.names import is_seen

    models.only_one(summary=summary, command=command)
    models.only_one(summary=summary, url=url)
    if summary is not None and not is_seen(summary):
        raise typer.BadParameter("--summary says nothing")
    summarise = (lambda *_: summary) if summary is not None else models.reader(url, model, command, timeout).summarise
    taken = _threads(ctx).compact(thread, keep, summarise)
    views.terminal.out(
        f"{taken} message{'s' * (taken != 1)} summed up\n"
        if taken
        else "nothing to sum up: no more messages than kept\n"
    )
