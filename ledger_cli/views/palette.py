"""The colours of every picture and page, each once for a light and once for a dark reader."""

from __future__ import annotations

import re

COLOURS = {
    "page": ("#ffffff", "#0d1117"),
    "panel": ("#f6f8fa", "#151b23"),
    "ink": ("#1f2328", "#f0f6fc"),
    "quiet": ("#59636e", "#9ea7b3"),
    "rule": ("#d1d9e0", "#3d444d"),
    "link": ("#0550ae", "#79b8ff"),
    "valid": ("#0969da", "#4493f8"),
    "record": ("#8250df", "#ab7df8"),
    "bad": ("#b3261e", "#ff8a80"),
    "lit": ("#fff3c4", "#3a2f0b"),
    "lit-ink": ("#4d3800", "#f2cc60"),
    "lit-edge": ("#9a6700", "#d29922"),
    # What lies beside each other in a plane; patterns tell the areas apart where colours do not.
    "area0": ("#b6d4fb", "#1d426f"),
    "area1": ("#fbdf9d", "#614509"),
    "area2": ("#bfe8c6", "#1d4a2a"),
    "area3": ("#f6c6e0", "#5c2347"),
    "area4": ("#d9ccf5", "#42307a"),
    "area5": ("#cfd6dd", "#3b444e"),
}
"""By name: light, dark. Text on `page`, `panel` and `lit` has a contrast of 4.5 to 1 or more (WCAG 2, AA)."""

_DARK = "@media (prefers-color-scheme: dark)"
_NAME = re.compile(r"\$([a-z0-9-]+)")


def themed(rules: str) -> str:
    """Style rules, one a line, with `$name` for a colour: written out in light, and what has a colour in dark too.

    A picture stands alone, and not every reader of SVG knows variables of CSS.
    """
    dark = []
    for rule in rules.splitlines():
        selector, _, body = rule.partition("{")
        coloured = [each.strip() for each in body.rstrip(" }").split(";") if "$" in each]
        if coloured:
            dark.append(f"  {selector}{{ {'; '.join(coloured)} }}")
    return f"{_filled(rules, 0)}\n  {_DARK} {{\n{_filled(chr(10).join(dark), 1)}\n  }}\n"


def _filled(rules: str, tone: int) -> str:
    return _NAME.sub(lambda found: COLOURS[found[1]][tone], rules)


def variables() -> str:
    """The colours as variables of CSS, for pages: `var(--ink)`."""
    light, dark = (" ".join(f"--{name}: {pair[tone]};" for name, pair in COLOURS.items()) for tone in (0, 1))
    return f":root {{ color-scheme: light dark; {light} }}\n{_DARK} {{ :root {{ {dark} }} }}\n"
