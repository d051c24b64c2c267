"""The graph in words, for whoever writes a query: README tells the same, and a test holds both to the statements."""

from __future__ import annotations

NODES: dict[str, str] = {
    "Item": (
        "id kind text rationale slot about evidence confidence corrects validFrom statedTo validTo recordedAt closedAt "
        "by session place"
    ),
    "Entity": "id key name namedAt namedIn kind kindAt kindIn",
    "Episode": "id kind text mentions at recordedAt session",
    "Session": "id at newestAt",
    "Stretch": "validFrom validTo knownFrom knownTo",
    "Review": "id key verdict new ending by reason recordedAt at session",
    "Ending": "id key validTo by reason recordedAt session",
    "ToolCall": "id session seq name ask status rows error arguments took",
}
"""The labels, each with its properties. An item is an Item, and a Decision or a Fact."""

RELATIONSHIPS: tuple[tuple[str, str, str, str], ...] = (
    ("Item", "ABOUT", "Entity", "what it is about"),
    ("Item", "SUPERSEDES", "Item", "a link, with recordedAt, by, session; rejected ones too"),
    ("Item", "CORRECTS", "Item", "the version that it corrects"),
    ("Item", "IN_PLACE", "Item", "from a correction to the first item of its place"),
    ("Item", "FROM", "Episode", "evidence"),
    ("Item", "HOLDS", "Stretch", "when it holds, as known when: validFrom, validTo, knownFrom, knownTo"),
    ("Episode", "MENTIONS", "Entity", ""),
    ("Item|Episode", "IN_SESSION", "Session", ""),
    ("Review", "REJECTS|REINSTATES", "Item", ""),
    ("Review", "ON", "Item", "a verdict on a link, of the item that is replaced, or on an ending"),
    ("Ending", "ENDS", "Item", ""),
    ("Session", "HAS_CALL", "ToolCall", "a session of an agent's calls, with ts: milliseconds since 1970"),
    ("ToolCall", "TOUCHED", "Item|Episode|Entity", "what a call wrote or gave back"),
)
"""From, type, to, and what it means."""

NOTES: tuple[str, ...] = (
    "An item carries the label Item, and Decision or Fact. What is absent is null; times are in UTC.",
    "Compare times with localdatetime('2024-01-20T00:00:00').",
    "What holds now has validTo null; what held when, as known when, is in its stretches.",
    "An entity is looked up by its key: its name, case-folded.",
    "Names and ids of about, evidence and mentions are one text, a line each.",
    "A pattern without an upper bound stops at ten hops: write [:SUPERSEDES*1..50].",
    "One statement, without `;`. It only reads.",
)
