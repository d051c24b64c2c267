"""What every command shares: where it runs, what time it is, and how its options read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ledger_cli import instant, views
from ledger_cli.names import is_seen

if TYPE_CHECKING:
    from ledger_cli.ledger import Ledger


@dataclass
class Shell:
    """The folder a command runs in, and the clock."""

    clock: Callable[[], datetime]
    folder: Path
    engine: str = "kglite"

    def ledger(self) -> Ledger:
        """The ledger of the folder or the nearest above it."""
        from ledger_cli.ledger import Ledger

        return Ledger.find(self.folder, clock=self.clock, engine=self.engine, say=views.terminal.talk)

    def ledger_at(self, revision: str) -> Ledger:
        """As `ledger`; where the files have none any more, the one that a revision has. Raises NoLedger.

        So a ledger that a commit removes is no folder without one.
        """
        from ledger_cli.errors import LedgerError, NoLedger
        from ledger_cli.gitrepo import GitRepo
        from ledger_cli.ledger import FOLDER, Ledger

        try:
            return self.ledger()
        except NoLedger:
            try:
                repo = GitRepo.of(self.folder)
                commit = repo.commit(revision)
                for folder in (self.folder, *self.folder.parents):  # `inside` ends it above the repository
                    if repo.blob(commit, repo.inside(folder / FOLDER / "ledger.json")) is not None:
                        return Ledger(folder, clock=self.clock, engine=self.engine, say=views.terminal.talk)
            except LedgerError:
                pass
            raise

    def path(self, given: Path) -> Path:
        """A file or a folder as given, from the folder that the command runs in; `-` stays what it is."""
        return given if given == Path("-") or self.folder == Path.cwd() else self.folder / given

    def time(self, text: str) -> datetime:
        """A time to record: as in session files, or `now`. Raises a usage error."""
        if text == "now":
            return self.clock()
        try:
            return instant.parse(text)
        except ValueError as fault:
            raise typer.BadParameter(str(fault)) from None

    def asked(self, text: str) -> datetime:
        """A time to ask of; see `instant.asked`. Raises a usage error."""
        try:
            return instant.asked(text, self.clock())
        except ValueError as fault:
            raise typer.BadParameter(str(fault)) from None

    def entity_and_time(self, words: list[str]) -> tuple[str | None, datetime]:
        """`[ENTITY] DATE`, as given."""
        if len(words) > 2:
            raise typer.BadParameter("give one entity (quote a name with spaces) and one date")
        if len(words) == 2:
            named(words[0])
        return (words[0] if len(words) == 2 else None), self.asked(words[-1])


def named(text: str) -> str:
    """An entity's name or an id, as given; a usage error where nothing of it shows."""
    if not is_seen(text):
        raise typer.BadParameter(f"{text!r} names nothing")
    return text


def shell(ctx: typer.Context) -> Shell:
    """The shell that `app` put into the context."""
    found = ctx.find_object(Shell)
    assert found is not None
    return found


def answer(json: bool, contract: Callable[[], object], screen: Callable[[], None]) -> None:
    """Show an answer: for scripts the JSON that `contract` makes of it, for people its `screen`."""
    if json:
        views.as_json.out(contract())
    else:
        screen()


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, a fixed contract for scripts.")]
EntityAndDate = Annotated[
    list[str], typer.Argument(metavar="[ENTITY] DATE", help="YYYY-MM-DD, RFC 3339 with an offset, or `now`.")
]
NoExport = Annotated[bool, typer.Option("--no-export", help="Leave the checkpoint to `ledger export` (the hook).")]
By = Annotated[str, typer.Option("--by", metavar="NAME", help="Who says so.")]
At = Annotated[str | None, typer.Option("--at", help="The record time; left out: now.", metavar="TIME")]
