"""`ledger demo`: the orders story, played with the real commands in a temporary folder."""

from __future__ import annotations

import typer

from ledger_cli.commands.shell import Shell, shell

STORY = "story.yaml"


def demo(ctx: typer.Context) -> None:
    """Play the orders story in a temporary folder."""
    import tempfile
    from importlib.resources import files
    from pathlib import Path

    from ledger_cli import instant, session_file
    from ledger_cli.ledger import Ledger
    from ledger_cli.views import tables, talk, terminal

    sh: Shell = shell(ctx)
    story = session_file.read(files("ledger_cli").joinpath(STORY).read_bytes(), STORY)
    with tempfile.TemporaryDirectory(prefix="ledger-demo-") as folder:
        root = Path(folder)
        Ledger.init(root)
        ledger = Ledger(root, clock=sh.clock, engine=sh.engine)

        def say(command: str) -> None:
            terminal.lines([[""], [("$ " + command, "bold cyan")]])

        terminal.lines([[("$ ledger session apply sessions/*.yaml", "bold cyan")]])
        ledger.apply(story, on_applied=talk.applied)
        day = instant.parse("2024-01-20")
        say("ledger as-of orders 2024-01-20")
        tables.answer(ledger.as_of(day, "orders"))
        say("ledger believed orders 2024-01-20")
        tables.answer(ledger.believed(day, "orders")[0])
        say("ledger believed 2024-01-28 --known 2024-01-28 --known 2024-02-03 --known 2024-02-10")
        known = [instant.parse(d) for d in ("2024-01-28", "2024-02-03", "2024-02-10")]
        tables.answers(ledger.believed(instant.parse("2024-01-28"), None, known))
        say("ledger history orders")
        tables.history(ledger.history("orders"))
    terminal.talk("\nThis was a temporary folder. Begin your own: `ledger init`.")
