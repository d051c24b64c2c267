"""What every page of a site has: its frame, and the pieces that pages are made of. All of it is XML, too."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ledger_cli.instant import show
from ledger_cli.model import entity_key
from ledger_cli.views.markup import clipped, escaped
from ledger_cli.views.site import paths
from ledger_cli.views.terminal import when

if TYPE_CHECKING:
    from ledger_cli.atlas import Atlas
    from ledger_cli.model import Item

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; object-src 'none'"
)
_NAV = {
    "index.html": "Overview",
    "timeline.html": "Timeline",
    "entities.html": "Entities",
    "slots.html": "Slots",
}
_TIMES = re.compile(r"\d{4}-\d\d-\d\d(?: [\d:.]*\d)?(?: →)?")
_LIST_TEXT = 400  # columns of a text in a list; an item's own page has all of it


def frame(path: str, title: str, main: str, found: Atlas, embedded: Any = None) -> str:
    """A whole page. `main` is markup, and `embedded` the JSON that its script reads."""
    root = "../" * path.count("/")
    links = "".join(
        f'<li><a href="{root}{to}"{current}>{word}</a></li>'
        for to, word in _NAV.items()
        for current in [' aria-current="page"' if to == path else ""]
    )
    held = "" if embedded is None else f'<script type="application/json" id="data">{encoded(embedded)}</script>\n'
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="{escaped(POLICY)}"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="referrer" content="no-referrer"/>
<meta name="color-scheme" content="light dark"/>
<title>{escaped(clipped(title, 120))} · ledger</title>
<link rel="icon" href="data:,"/>
<link rel="stylesheet" href="{root}assets/site.css"/>
</head>
<body data-root="{root}">
<a class="skip" href="#main">Skip to the content</a>
<header>
<nav aria-label="Pages"><ul>{links}</ul></nav>
<div id="search" role="search" hidden="hidden">
<label for="words">Search</label>
<input id="words" type="search" autocomplete="off" placeholder="words, an id, a name" aria-describedby="found"/>
<p id="found" role="status"></p>
<ul id="results" hidden="hidden" aria-label="Found"></ul>
</div>
<p class="built">{_built(found)}</p>
</header>
<main id="main" tabindex="-1">
{main}
</main>
<footer>
<p>Made by <code>ledger site</code>. All times are UTC.
<span class="keys">Keys: <kbd>/</kbd> search, <kbd>[</kbd> <kbd>]</kbd> the change of valid time before and after,
<kbd>{{</kbd> <kbd>}}</kbd> that of record time, <kbd>0</kbd> back to when this page was built.</span></p>
</footer>
{held}<script src="{root}assets/site.js" defer="defer"></script>
</body>
</html>
"""


def _built(found: Atlas) -> str:
    """When the pages were built, and up to which record they know, in one line."""
    built = f"Built {time(found.timeline.now)} UTC"
    if (last := found.latest) is None:
        return f"{built}, from an empty ledger"
    return f"{built}, knows all that was recorded up to {time(last.at)} ({bdi(last.id, 60)})"


def encoded(value: Any) -> str:
    """JSON that can stand in a script, in XML, and in a file of JavaScript."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029\ufffe\uffff":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def instant(at: datetime | None) -> str | None:
    """An instant as the script compares it, as text: UTC, without what is zero at its end. An earlier one is less."""
    return None if at is None else show(at)[:-1].removesuffix("T00:00:00")


def time(at: datetime) -> str:
    """An instant for people."""
    return f'<time datetime="{show(at)}">{escaped(when(at))}</time>'


def unbroken(text: str) -> str:
    """A text of ours in which times stand, none of them to be broken at the end of a line."""
    return _TIMES.sub(r'<span class="at">\g<0></span>', escaped(text))


def bdi(text: str, room: int | None = _LIST_TEXT) -> str:
    """A text of the ledger, kept apart from what stands beside it; clipped to so many columns (None: whole)."""
    return f'<bdi class="said">{escaped(text if room is None else clipped(text, room))}</bdi>'


def item_link(id: str, root: str) -> str:
    return f'<a class="id" href="{root}{paths.item(id)}"><bdi>{escaped(id)}</bdi></a>'


def entity_links(item: Item, root: str) -> str:
    """What an item is about."""
    return ", ".join(f'<a href="{root}{paths.entity(entity_key(name))}">{bdi(name)}</a>' for name in item.about)


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Names and values as a list; values are markup."""
    return "<dl>" + "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows) + "</dl>"


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    """A table; cells are markup. In a narrow window the rows of the kind `stack` stand on several lines."""
    named = f' class="{kind}"' if kind else ""
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{caption}"><table{named}>'
        f"<caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table></div>"
    )


def numbered(pages: int, here: int, to: Iterable[str]) -> str:
    """Links to the pages of a list that takes several."""
    if pages < 2:
        return ""
    links = "".join(
        f'<li><a href="{target}"{current}>{n}</a></li>'
        for n, target in enumerate(to, 1)
        for current in [' aria-current="page"' if n == here else ""]
    )
    return f'<nav class="pages" aria-label="Pages of this list"><ol>{links}</ol></nav>'
