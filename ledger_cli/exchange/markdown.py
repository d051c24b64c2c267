"""As much Markdown as a decision record takes: front matter, headings, tables, links; code is left as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

_FENCE = re.compile(r"(`{3,}|~{3,})(?!.*\|)")  # with a bar, some readers see the head of a table
_INNER = re.compile(r"(?:[ \t>*+-]|\d+[.)])*(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*")
_LONGEST = 10_000
_MOST_LINKS = 200
"""Nobody writes more on a line, or into a paragraph; to tell what is code in it would take a day."""
_CODE = re.compile(r"(?<!`)(`+)(?!`)[^\n]+?(?<!`)\1(?!`)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LINK = re.compile(r"\[((?:[^\[\]\\]|\\.)*)\]\(\s*<?((?:[^()\s<>]|\([^()\s]*\))*)>?(?:\s+[\"'(][^)]*)?\s*\)")
_ESCAPE = re.compile(r"(?<!\\)(\\+)([<&])")
_MARKUP = re.compile(r"(?<!\\)(\\*)(<(?=[A-Za-z/!?])|&(?=#?\w+;))")
_SCRIPT = re.compile(r"\]\s*(?=[(:]\s*(?:javascript|vbscript|data)\s*:)", re.IGNORECASE)
_KEY = re.compile(r"([A-Za-z][\w -]*?)[ \t]*:(?:[ \t]+(.*)|[ \t]*)")


@dataclass(frozen=True)
class Section:
    """A heading (its text, and how deep: 0 is what stands before the first) and what stands under it."""

    level: int
    title: str
    body: str


@dataclass(frozen=True)
class Link:
    """`[text](target)`."""

    text: str
    target: str


def front_matter(text: str) -> tuple[dict[str, list[str]], str]:
    """The keys of the YAML block at the top, each with its values, and the text below it.

    A flat reading on purpose: these blocks are written by hand, and one odd line must not hide the others.
    """
    lines = text.split("\n")
    ends = [n for n, line in enumerate(lines[1:], start=1) if line.rstrip() in ("---", "...")]
    if lines[0].rstrip() != "---" or not ends:
        return {}, text
    found: dict[str, list[str]] = {}
    key = ""
    for line in lines[1 : ends[0]]:
        if match := _KEY.fullmatch(line.rstrip()):
            key = match[1].casefold()
            found[key] = [*found.get(key, ()), *_values(match[2] or "")]
        elif key and (item := re.fullmatch(r"\s+(?:-\s+)?(\S.*)|-\s+(\S.*)", line.rstrip())):
            found[key] += _values(item[1] or item[2])
    return found, "\n".join(lines[ends[0] + 1 :])


def _values(text: str) -> list[str]:
    if text.startswith("[") and text.endswith("]"):
        try:
            listed = json.loads(text)
        except ValueError:
            listed = [_scalar(part) for part in text[1:-1].split(",")]
        return [str(value) for value in listed if str(value).strip()]
    return [value] if (value := _scalar(text)) else []


def _scalar(text: str) -> str:
    text = text.strip()
    if text.startswith('"'):
        try:
            value, _ = json.JSONDecoder().raw_decode(text)
        except ValueError:
            return text.strip('"')
        return str(value)
    if text.startswith("'") and text.rfind("'") > 0:
        return text[1 : text.rfind("'")].replace("''", "'")
    text = re.sub(r"(?:^|\s)#.*", "", text).strip()
    return "" if text in ("null", "~") else text


def pieces(text: str) -> Iterator[tuple[bool, str]]:
    """A text in pieces, each with whether it is code (a fenced block, or a span); together they are the text.

    Code is only what every reader takes for code. Behind a fence in a list or a quotation that is no block any more:
    where it ends hangs on more than the fence. A span stands on one line, and in no cell of a table.
    """
    if "`" not in text and "~~~" not in text:
        yield False, text
        return
    lines = re.split(r"(?<=\n)", text)
    fenced = list(_fenced(lines))
    inner = next((n for n, (line, fence) in enumerate(fenced) if not fence and _opens(line, _INNER)), len(lines))
    blocks = [*fenced[:inner], *((line, "") for line in lines[inner:])]
    for is_code, group in groupby(blocks, key=lambda block: bool(block[1])):
        its = [line for line, _ in group]
        if is_code:
            yield True, "".join(its)
        else:
            yield from _spans(its)


def _fenced(lines: Iterable[str], opening: re.Pattern[str] = _FENCE) -> Iterator[tuple[str, str]]:
    """Each line with the fence that it stands in, or opens, or closes; "" for a line of text."""
    fence = ""
    for line in lines:
        if fence:
            yield line, fence
            if line.lstrip(" >").startswith(fence) and not line.strip(f" >\t\n{fence[0]}"):
                fence = ""
        else:
            fence = _opens(line, opening)
            yield line, fence


def _opens(line: str, opening: re.Pattern[str]) -> str:
    """The fence that a line opens; "" for none. (Backticks with more of them behind are a span.)"""
    found = opening.match(line)
    return "" if found is None or (found[1][0] == "`" and "`" in line[found.end() :]) else found[1]


def is_open(text: str) -> bool:
    """Does a text end within code, so that it would take what follows along?"""
    *_, (_, fence) = _fenced([*text.split("\n"), ""], _INNER)
    return bool(fence)


def quotation(text: str) -> str:
    """A text as a quotation, which nothing in it can leave."""
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _spans(lines: list[str]) -> Iterator[tuple[bool, str]]:
    """The spans of lines, in the paragraphs where each line closes its own: what they are does not hang on the rest."""
    for blank, group in groupby(lines, key=lambda line: not line.strip()):
        paragraph = list(group)
        whole = "".join(paragraph)
        at = 0
        if not blank and "`" in whole and all(map(_closes_its_own, paragraph)) and not _binds_tighter(whole):
            for code in _CODE.finditer(whole):
                if "|" not in code[0]:
                    yield False, whole[at : code.start()]
                    yield True, code[0]
                    at = code.end()
        yield False, whole[at:]


def _closes_its_own(line: str) -> bool:
    return "`" not in line or (len(line) <= _LONGEST and "`" not in _CODE.sub("", line))


def _binds_tighter(paragraph: str) -> bool:
    """May a backtick be no mark of code: behind a backslash, or in the target of a link?"""
    if "\\`" in paragraph or "]:" in paragraph or paragraph.count("](") > _MOST_LINKS:
        return True
    for found in re.finditer(r"\]\(", paragraph):
        depth = 1
        for character in paragraph[found.end() :]:
            if character in "`\\<\"'":
                return True
            depth += (character == "(") - (character == ")")
            if not depth:
                break
    return False


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    """The pieces of a text; what stands between two pieces of code is one, over all its paragraphs."""
    for is_code, group in groupby(pieces(text), key=lambda piece: piece[0]):
        yield is_code, "".join(part for _, part in group)


def outside_code(change: Callable[[str], str], text: str) -> str:
    """The text with what is no code changed."""
    return "".join(part if is_code else change(part) for is_code, part in _parts(text))


def without_comments(text: str) -> str:
    """The text without what a reader does not see. A comment that begins outside of code hides code as well."""
    kept: list[str] = []
    hidden = False
    for is_code, part in _parts(text):
        if hidden:
            _, end, part = part.partition("-->")
            hidden, is_code = not end, False
        if not is_code:
            part, begin, _ = _COMMENT.sub("", part).partition("<!--")
            hidden = hidden or bool(begin)
        kept.append(part)
    return "".join(kept)


def without_code(text: str) -> str:
    """The text with its code left out: what is asked for in words is not asked for there."""
    return "".join("" if is_code else piece for is_code, piece in pieces(text))


def plain(text: str) -> str:
    """The text that was meant where it was written with `inert`."""
    return outside_code(lambda piece: _ESCAPE.sub(_unescaped, piece), text)


def _unescaped(found: re.Match[str]) -> str:
    marks, sign = found.groups()
    return marks[: len(marks) // 2] + sign if len(marks) % 2 else found[0]


def inert(text: str) -> str:
    """A text in which no tag, entity or script is one to a reader of Markdown."""
    # Of a run of backslashes, every two are one to a reader.
    return outside_code(lambda piece: _SCRIPT.sub(r"]\\", _MARKUP.sub(r"\1\1\\\2", piece)), text)


def sections(text: str) -> list[Section]:
    """The parts of a text by its headings; the first has none. Headings in code are none."""
    found: list[Section] = []
    level, title, body = 0, "", list[str]()
    for line, fence in _fenced(text.split("\n"), _INNER):
        if not fence and (heading := _HEADING.fullmatch(line)):
            found.append(Section(level, title, "\n".join(body)))
            level, title, body = len(heading[1]), (heading[2] or "").strip(), []
        elif not fence and (under := _UNDERLINE.fullmatch(line)) and _may_be_title(body):
            found.append(Section(level, title, "\n".join(body[:-1])))
            level, title, body = (1 if under[1][0] == "=" else 2), body[-1].strip(), []
        else:
            body.append(line)
    return [*found, Section(level, title, "\n".join(body))]


def _may_be_title(body: list[str]) -> bool:
    """May the last line be one that is underlined? It is a paragraph of one line."""
    above = body[-2].strip() if len(body) > 1 else ""
    return bool(body) and not above and bool(re.match(r"[^\s|>*+-]", body[-1]))


def links(text: str) -> list[Link]:
    """The inline links of a text."""
    return [Link(text, target) for text, target in _LINK.findall(text)]


def without_links(text: str, put: str = "") -> str:
    """The text with `put` in the place of each link."""
    return _LINK.sub(put, text)


def link_texts(text: str) -> str:
    """The text with each link as its words."""
    return _LINK.sub(lambda found: found[1], text)


def cells(line: str) -> list[str] | None:
    """The cells of a row of a table; None for another line, and for the rule under the header."""
    text = line.strip()
    if not text.startswith("|") or text.count("|") < 2:
        return None
    row = [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", text.strip("|"))]
    return None if all(re.fullmatch(r":?-*:?", cell) for cell in row) and "-" in text else row
