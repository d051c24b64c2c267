"""The options that say which model is asked, and how long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ledger_cli import views

if TYPE_CHECKING:
    from ledger_cli.memory.models import Reader

Url = Annotated[
    str | None,
    typer.Option("--url", metavar="URL", help="An OpenAI-compatible endpoint; left out: LEDGER_LLM_URL."),
]
ModelName = Annotated[
    str | None, typer.Option("--model", metavar="MODEL", help="Its model; left out: LEDGER_LLM_MODEL.")
]
Command = Annotated[
    str | None,
    typer.Option("--command", metavar="CMD", help="Ask a command: JSON on its stdin, JSON on its stdout."),
]
Timeout = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", min=0.1, max=3600, help="For one answer; asked up to 4 times.")
]


def only_one(**given: object) -> None:
    """A usage error where more than one of these is given."""
    if len(names := [f"--{name}" for name, value in given.items() if value is not None]) > 1:
        raise typer.BadParameter(f"give one of {' and '.join(names)}")


def reader(url: str | None, model: str | None, command: str | None, timeout: float) -> Reader:
    """Who answers: the command, else the endpoint that options or the environment name. Raises NoEndpoint."""
    from ledger_cli.memory import models
    from ledger_cli.memory.address import address

    only_one(command=command, url=url)
    only_one(command=command, model=model)
    if command is not None:
        return models.Reader(models.Command(command, timeout), say=views.terminal.talk)
    return models.Reader(models.Endpoint(address(url, model), timeout), say=views.terminal.talk)
