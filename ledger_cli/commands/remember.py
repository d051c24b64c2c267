"""`ledger remember`: a chat becomes a session file to review."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ledger_cli import views
from ledger_cli.commands import models
from ledger_cli.commands.embeddings import Choice, Embeddings, EmbeddingsModel, EmbeddingsUrl, embedder
from ledger_cli.commands.shell import AsJson, answer, shell

if TYPE_CHECKING:
    from ledger_cli.memory.extraction import Extractor
    from ledger_cli.memory.transcript import Message


def remember(
    ctx: typer.Context,
    chat: Annotated[Path, typer.Argument(metavar="CHAT", help="JSON lines, a JSON list, or `name: text`. `-`: stdin.")],
    session: Annotated[str, typer.Option("--session", metavar="ID", help="The new session's id.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="The session file. `-`: stdout.")
    ] = None,
    apply: Annotated[bool, typer.Option("--apply", help="Apply it at once, unreviewed.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there.")] = False,
    at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="The session's clock; left out: when it is applied.")
    ] = None,
    by: Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who writes it.")] = None,
    assistant: Annotated[
        list[str] | None,
        typer.Option("--assistant", metavar="NAME", help="Who speaks for the model in a plain transcript."),
    ] = None,
    command: models.Command = None,
    url: models.Url = None,
    model: models.ModelName = None,
    replay: Annotated[
        Path | None, typer.Option("--replay", metavar="FILE", help="Take recorded answers; nobody is asked.")
    ] = None,
    record: Annotated[Path | None, typer.Option("--record", metavar="FILE", help="Keep the answers.")] = None,
    batch: Annotated[
        int, typer.Option("--batch", metavar="N", min=1, max=1000, help="How many messages are read at once.")
    ] = 40,
    timeout: models.Timeout = 120.0,
    embeddings: Embeddings = Choice.none,
    embeddings_url: EmbeddingsUrl = None,
    embeddings_model: EmbeddingsModel = None,
    backdated: Annotated[bool, typer.Option("--backdated", help="Accept a clock older than the newest entry.")] = False,
    json: AsJson = False,
) -> None:
    """Make a session file of a chat, to be reviewed and applied.

    A model, a command or recorded answers say what the chat tells. What repeats or contradicts what holds is found,
    and said in the file.
    """
    from ledger_cli.memory import files
    from ledger_cli.memory import remember as memory
    from ledger_cli.memory.replay import Recording

    if output is None and not apply:
        raise typer.BadParameter("say where it goes: -o FILE, `-o -` for stdout, or --apply")
    if str(output) == "-" and (json or apply):
        raise typer.BadParameter("-o - prints the session file: give it without --json and --apply")
    sh = shell(ctx)
    clock = sh.time(at) if at is not None else None
    ledger = sh.ledger()
    written = [path for path in (output, record) if path is not None and str(path) != "-"]
    for path in written:
        files.check(path, force=force)
    memory.checked_id(ledger, session)
    vectors = embedder(embeddings, embeddings_url, embeddings_model)
    messages = _messages(chat, assistant or ())
    extractor = Recording(_extractor(replay, command, url, model, timeout))
    try:
        found = memory.remember(
            ledger, messages, extractor, session=session, source=str(chat) if str(chat) != "-" else "stdin",
            at=clock, by=by, batch=batch, backdated=backdated, embedder=vectors,
            progress=views.terminal.progress,
        )  # fmt: skip
    finally:
        if record is not None and extractor.answers:
            files.write(record, extractor.data, force=force)  # what was answered was paid for
    if found.session is not None and output is not None:
        if str(output) == "-":
            views.terminal.out(found.text)
        else:
            files.write(output, found.text.encode(), force=force)
    applied = ledger.apply([found.session], backdated=backdated) if apply and found.session is not None else []
    place = None if output is None or str(output) == "-" or found.session is None else str(output)
    answer(
        json,
        lambda: views.as_json.remembered(found, place, bool(applied)),
        lambda: views.memory.remembered(found, place, applied, in_file=output is not None),
    )


def _messages(chat: Path, assistants: list[str] | tuple[()]) -> tuple[Message, ...]:
    import sys

    from ledger_cli.errors import Problem
    from ledger_cli.memory import transcript

    if str(chat) == "-":
        return transcript.read(sys.stdin.buffer.read(), "stdin", assistants=assistants, say=views.terminal.talk)
    try:
        data = chat.read_bytes()
    except OSError as fault:
        raise transcript.TranscriptError([Problem(f"cannot be read: {fault.strerror}", str(chat))]) from None
    return transcript.read(data, str(chat), assistants=assistants, say=views.terminal.talk)


def _extractor(
    replay: Path | None, command: str | None, url: str | None, model: str | None, timeout: float
) -> Extractor:
    from ledger_cli.errors import Problem, Refused
    from ledger_cli.memory.replay import Replay

    models.only_one(replay=replay, command=command)
    models.only_one(replay=replay, url=url)
    if replay is None:
        return models.reader(url, model, command, timeout)
    try:
        return Replay(replay.read_bytes(), str(replay))
    except OSError as fault:
        raise Refused([Problem(f"cannot be read: {fault.strerror}", str(replay))]) from None
