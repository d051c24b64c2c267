"""What an id, a slot or a name may be made of, so that people can see it, tell it from others, and read a screen of it.

The characters are listed and not asked of Python's Unicode tables: each version has others, and a checkpoint has to
read the same under all.
"""

from __future__ import annotations

import re

LONGEST = 200
"""How many characters an id, a slot or a name has at most."""

# Category Cf (Unicode 15), without the joiners U+200C and U+200D, which some scripts are spelled with.
_FORMAT = (
    "\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064"
    "\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f"
)
# What shows nothing either: joiners, fillers, selectors.
_BLANK = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u200c\u200d\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
)
UNSEEN = re.compile(f"[{_FORMAT}]")
"""A character that is there without showing, or that turns others around."""

_SEEN = re.compile(rf"[^\s\x00-\x1f\x7f-\x9f{_FORMAT}{_BLANK}]")


def is_seen(text: str) -> bool:
    """Does a text show anything at all?"""
    return _SEEN.search(text) is not None


def fault_of_name(name: str) -> str:
    """What is wrong with the name of an entity, a kind, a person: nothing of it shows, or too much. "" = nothing."""
    if not is_seen(name):
        first = next((f"U+{ord(c):04X}" for c in name if not c.isspace()), "white space")
        return f"shows nothing: it is made of {first} and the like; write a visible character"
    if len(name) > LONGEST:
        return f"has {len(name)} characters; write at most {LONGEST}"
    return ""


def fault_of_id(text: str) -> str:
    """What is wrong with an id or a slot: as for a name, and no character that is there without showing."""
    if why := fault_of_name(text):
        return why
    if found := UNSEEN.search(text):
        return f"holds U+{ord(found[0]):04X}, which does not show; leave it out"
    return ""
