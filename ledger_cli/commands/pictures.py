"""To look at: `timeline`, `site`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ledger_cli import views
from ledger_cli.commands.shell import AsJson, answer, named, shell


def timeline(
    ctx: typer.Context,
    subject: Annotated[str | None, typer.Argument(metavar="[ENTITY|SLOT|ID]", show_default=False)] = None,
    svg: Annotated[
        str | None, typer.Option("--svg", metavar="FILE", help="Draw it into a file; `-` writes to stdout.")
    ] = None,
    plane: Annotated[
        bool, typer.Option("--plane", help="As a plane: valid time across, record time upwards. With --svg.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Both axes as bars, a row an item.

    Of an item's chain, of the items about an entity or in a slot, or of the whole ledger.
    """
    if plane and svg is None:
        raise typer.BadParameter("a plane is a drawing: say where it goes, with --svg FILE")
    if json and svg is not None:
        raise typer.BadParameter("--json and --svg are two answers; give one")
    if subject is not None:
        named(subject)
    ledger = shell(ctx).ledger()
    path = None if svg in (None, "-") else shell(ctx).folder / str(svg)
    if path is not None:
        from ledger_cli.exchange import writing

        writing.refuse_own(ledger, path)
    found = ledger.timeline(subject)
    if svg is None:
        answer(json, lambda: views.as_json.timeline(found), lambda: views.timeline.timeline(found))
        return
    drawn = views.plane.draw(found) if plane else views.svg.draw(found)
    if path is None:
        views.terminal.out(drawn)
        return
    writing.file(path, drawn)
    views.terminal.talk(views.readable.plain(f"wrote {Path(svg)}"))


def site(
    ctx: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new or empty folder, or a site made before.")],
    open: Annotated[bool, typer.Option("--open", help="Show it in the browser.")] = False,
) -> None:
    """Write the ledger as a static site.

    Pages that need no server and nothing from outside: overview, timeline, every entity and item, search.
    """
    from ledger_cli import site_folder
    from ledger_cli.exchange import writing

    sh = shell(ctx)
    target = sh.path(folder)
    ledger = sh.ledger()
    writing.refuse_own(ledger, target)
    found = ledger.atlas()
    with views.terminal.progress("writing pages", views.site.count(found)) as step:
        count = site_folder.write(target, views.site.pages(found), step)
    named, page = views.readable.plain(str(target)), target / "index.html"
    views.terminal.out(f"wrote {views.terminal.counted({'file': count})} to {named}\n")
    if not open:
        views.terminal.talk(f"Next: open {named}/index.html in a browser, or `ledger site {named} --open`")
        return
    import webbrowser

    if not webbrowser.open(page.resolve().as_uri()):
        views.terminal.talk(f"no browser was found to show it: open {named}/index.html in one")
