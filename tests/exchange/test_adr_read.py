"""The dialects of decision records, one at a time: where title, status, dates and links are looked for."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from ledger_cli.exchange import adr_read, adr_templates, adr_words
from ledger_cli.exchange.adr_read import Record
from ledger_cli.instant import show_short

BODY = "## Context\n\nwhy\n\n## Decision\n\nwhat\n"
NYGARD = f"# 7. Use it\n\nDate: 2024-03-01\n\n## Status\n\n{{status}}\n\n{BODY}\n## Consequences\n\nmany\n"

ACCEPTED = NYGARD.format(status="Accepted")
TABLE = "# Use it\n\n| Status | Implemented |\n|---|---|\n| Date | 2024-03-01 |\n\n"


def read(text: str, file: str = "0007-use-it.md") -> Record:
    return adr_read.read(text, file)


def told(record: Record) -> tuple[Any, ...]:
    return record.text, record.status, show_short(record.date) if record.date else None, record.rationale, record.faults


USUAL = ("Use it", "decided", "2024-03-01", BODY.strip(), [])
DIALECTS = {
    "Nygard": ACCEPTED,
    "MADR 2": f"# Use it\n\n* Status: accepted\n* Deciders: Ada\n* Date: 2024-03-01 <!-- optional -->\n\n{BODY}",
    "MADR 3": f"---\nstatus: accepted\ndate: 2024-03-01\ndeciders: Ada\n---\n# Use it\n\n{BODY}",
    "MADR 4": f'---\n# Optional\nstatus: "accepted"\ndate: 2024-03-01\nconsulted: \n---\n\n# Use it\n\n{BODY}',
    "log4brains": f"# Use it\n\n- Status: accepted\n- Date: 2024-03-01\n- Tags: a, b\n\n{BODY}",
    "bold": f"# ADR-007: Use it\n\n**Status:** Accepted\n**Date**: March 1st, 2024\n\n{BODY}",
    "a table": f"# ADR 7: Use it\n\n| Date | 2024-03-01 |\n|:--|:--|\n|Status|Accepted|\n|Supersedes|N/A|\n\n{BODY}",
    "a table with a header": f"# Use it\n\n|Metadata|Value|\n|--|--|\n|Status|Approved|\n|Date|2024-03-01|\n\n{BODY}",
    "status at the end": f"# Use it\n\nDate: 2024-03-01\n\n{BODY}\n## Status\n\nACCEPTED\n",
    "the date a section": f"# Use it\n\n## Status\n\nAccepted\n\n## Date\n\n1 March 2024\n\n{BODY}",
    "the date with the status": f"# Use it\n\n## Status\n\nAccepted on 2024-03-01\n\n{BODY}",
    "headings underlined": "Use it\n======\n\nDate: 2024-03-01\n\nStatus\n------\n\nAccepted\n\n"
    "Context\n-------\n\nwhy\n\nDecision\n--------\n\nwhat\n",
    "all headings of one level": ACCEPTED.replace("## ", "# "),
    "Windows": ACCEPTED.replace("\n", "\r\n"),
    "a link as the status": f"# Use it\n\n- Status: [ADOPTED](/README.md#adopted)\n- Since: 2024-03-01\n\n{BODY}",
    "a tick": NYGARD.format(status="✅ Accepted"),
    "comments": NYGARD.format(status="<!-- Rejected -->\nAccepted"),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_dialect_says_the_same(dialect: str) -> None:
    assert told(read(DIALECTS[dialect])) == USUAL


@pytest.mark.parametrize(
    ("word", "status"),
    [
        *(
            (w, "decided")
            for w in (
                "accepted",
                "Akzeptiert",
                "Accepté",
                "Aceptado",
                "Aceito",
                "Accettato",
                "принято",
                "已接受",
                "承認済み",
                "승인됨",
                "Implemented",
                "APPROVED",
                "angenommen",
                "Goedgekeurd",
            )
        ),
        *(
            (w, "open")
            for w in (
                "proposed",
                "Draft",
                "In Review",
                "Vorgeschlagen",
                "Proposé",
                "Propuesto",
                "Proposto",
                "предложено",
                "提案",
                "草案",
                "on hold",
                "WIP",
                "Entwurf",
                "Voorgesteld",
            )
        ),
        *(
            (w, "rejected")
            for w in (
                "rejected",
                "Declined",
                "Abgelehnt",
                "Rejeté",
                "Rechazado",
                "Rejeitado",
                "Respinto",
                "отклонено",
                "已拒绝",
                "却下",
                "withdrawn",
                "Afgewezen",
                "not accepted",
            )
        ),
        *(
            (w, "ended")
            for w in (
                "deprecated",
                "Obsolete",
                "Veraltet",
                "Déprécié",
                "Obsoleto",
                "устарело",
                "已弃用",
                "廃止",
                "Verouderd",
            )
        ),
        *(
            (w, "superseded")
            for w in (
                "superseded",
                "Superceded by x",
                "Ersetzt durch y",
                "Remplacé par",
                "Reemplazado por",
                "Substituído por",
                "Sostituito da",
                "Vervangen door",
                "заменено",
                "已取代",
            )
        ),
        *(
            (w, "partly superseded")
            for w in (
                "Partly superseded",
                "partially superseded",
                "Superseded in part",
                "Teilweise ersetzt",
                "Partiellement remplacé",
            )
        ),
        *((w, None) for w in ("Refinement completed", "acceptedness", "unaccepted", "", "maybe", "1.0")),
    ],
)
def test_a_status_is_known_by_its_words_in_several_languages(word: str, status: str | None) -> None:
    assert adr_words.status_of(word) == status
    assert adr_words.status_of(f"**{word}**") == status


def test_the_headings_of_several_languages_are_known() -> None:
    for title in (
        "Context",
        "Context and Problem Statement",
        "Kontext und Problemstellung",
        "Contexte",
        "1. Contexto",
        "背景",
    ):
        assert adr_words.heading_of(title) == "context", title
    for title in ("Decision", "Decision Outcome", "Entscheidung", "Décision", "决策", "Decisão"):
        assert adr_words.heading_of(title) == "decision", title
    for title in ("Decision Drivers", "Considered Options", "Consequences", "Entscheidungsfaktoren", "Status"):
        assert adr_words.heading_of(title) is None, title


def test_deeper_sections_stay_in_theirs() -> None:
    text = ACCEPTED.replace("what\n", "what\n\n### Consequences\n\ngood\n")
    assert (read(text).rationale or "").endswith("what\n\n### Consequences\n\ngood")


def test_a_decision_alone_is_the_rationale_without_a_heading() -> None:
    assert read("# T\n\nDate: 2024-03-01\n\n## Decision\n\nbecause\n").rationale == "because"


def test_headings_and_statuses_in_code_are_text() -> None:
    code = "```\n## Status\n\nRejected\n\n# Other\n```"
    record = read(ACCEPTED.replace("why", code))
    assert told(record) == ("Use it", "decided", "2024-03-01", BODY.strip().replace("why", code), [])


def test_a_section_called_status_is_not_asked_where_the_metadata_says_it() -> None:
    assert told(read(f"{TABLE}{BODY}\n## Status\n\nThe interface has more.\n")) == USUAL


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (NYGARD.format(status="Proposed"), "nothing is decided yet: its status is 'Proposed'"),
        (NYGARD.format(status="Shiny"), "the status 'Shiny' is none that is known"),
        (NYGARD.format(status="Proposed\n\nAccepted"), "its status says two things: 'Proposed; Accepted'"),
        (NYGARD.format(status="Deprecated"), "its status is 'Deprecated', and no date says since when"),
        (NYGARD.format(status="Ersetzt ADR-9"), "'Ersetzt ADR-9' may say that it replaces another, or"),
        (NYGARD.format(status="Superseded: ADR-9"), "'Superseded: ADR-9' may say that it replaces"),
        (NYGARD.format(status="Partly superseded by ADR-9"), "it is superseded in part: 'Partly superseded by ADR-9'"),
        (ACCEPTED.replace("Date: 2024-03-01", ""), "it has no date"),
        (NYGARD.format(status="Deprecated since 2024-02-29"), "it ended on 2024-02-29, before its date 2024-03-01"),
        (ACCEPTED.replace("2024-03-01", "03/02/2024"), "the date '03/02/2024' may be 2024-02-03 or"),
        (ACCEPTED.replace("2024-03-01", "2024-03-01\nDate: 2024-03-02"), "it has more than one date"),
        (ACCEPTED.replace("# 7. Use it", ""), "it has no title"),
        (ACCEPTED.replace("why", "a\x0bb"), "it holds the control character U+000B"),
        ("# About\n\nRead this first.\n", "no decision record: it has no status, no date"),
        ("", "no decision record"),
        ("# NUMBER. TITLE\n\nDate: DATE\n\n## Status\n\nSTATUS\n\n" + BODY, "an unfilled template: its title is"),
        (
            "# X\n\n* Status: [proposed | rejected | accepted]\n* Date: 2024-03-01\n\n" + BODY,
            "an unfilled template: its",
        ),
        ("# X\n\n* Status: accepted\n* Date: [YYYY-MM-DD when updated]\n\n" + BODY, "an unfilled template: its"),
        (ACCEPTED.replace("why", "{Describe the context and problem statement.}"), "an unfilled temp"),
        (ACCEPTED.replace("what\n", adr_templates.SENTENCES[1] + "\n"), "an unfilled template: it says"),
    ],
)
def test_what_cannot_be_decided_is_a_fault_with_a_name(text: str, fault: str) -> None:
    assert any(said.startswith(fault) for said in read(text).faults), read(text).faults


@pytest.mark.parametrize(
    "said",
    [
        "Accepted, will be superseded by ADR-9",
        "Accepted; to be replaced by [9](0009.md)",
        "Accepted (may be superseded by ADR-9)",
        "Accepted, not superseded by ADR-9",
        "Accepted\n\nShould be deprecated on 2025-01-01",
        "Akzeptiert, soll ersetzt werden",
        "Accepted\n\nby the board, as always",
    ],
)
def test_what_is_planned_wished_or_denied_is_told_and_has_not_happened(said: str) -> None:
    record = read(NYGARD.format(status=said))
    assert (record.status, record.ended, record.statements, record.faults) == ("decided", None, [], [])
    assert len(record.remarks) == 1
    assert record.remarks[0].startswith("the status also says ")


def test_a_date_in_the_name_of_the_file_counts_where_there_is_no_other() -> None:
    text = ACCEPTED.replace("Date: 2024-03-01", "")
    record = read(text, "docs/20240301-use-it.md")
    assert told(record) == USUAL
    assert record.remarks == ["the date is that of the file's name"]


@pytest.mark.parametrize(
    "text",
    [
        ACCEPTED.replace("2024-03-01", "2024-03-01 10:00"),
        f"---\nstatus: accepted\ndate: 2024-03-01T10:00\n---\n# Use it\n\n{BODY}",
        f"# Use it\n\n## Status\n\nAccepted on 2024-03-01 10:00\n\n{BODY}",
    ],
)
def test_of_a_date_with_a_time_but_no_offset_the_day_counts_and_the_reader_is_told(text: str) -> None:
    record = read(text)
    assert (record.faults, record.date and show_short(record.date)) == ([], "2024-03-01")
    [remark] = record.remarks
    assert re.fullmatch("the time of day of '2024-03-01[ T]10:00' is left out: it has no offset", remark)


def test_of_an_end_the_day_counts_as_well() -> None:
    record = read(NYGARD.format(status="Deprecated since 2024-05-01 09:00"))
    assert (record.faults, record.ended and show_short(record.ended)) == ([], "2024-05-01")
    assert record.remarks == ["the time of day of '2024-05-01 09:00' is left out: it has no offset"]


@pytest.mark.parametrize("prose", ["", "\nSee `code`.\n", "\n```\n<!-- code\n```\n"])
def test_what_a_comment_hides_over_several_paragraphs_is_not_read(prose: str) -> None:
    hidden = "<!--\nDate: 1999-01-01\n\n- Supersedes [x](9999-x.md)\n\n## Status\n\nRejected\n-->\n"
    record = read(ACCEPTED.replace("## Status", f"{hidden}\n## Status") + prose)
    assert (record.faults, record.status, record.date and show_short(record.date)) == ([], "decided", "2024-03-01")
    assert (record.statements, record.remarks) == ([], [])


@pytest.mark.parametrize(
    "hidden",
    [
        "<!-- was `blue` once: Superseded by [1](0001-x.md) -->",
        "<!--\n```\ncode\n```\n\n## Status\n\nRejected\n-->",
        "<!-- `Proposed`, or Rejected -->",
        "<!--\n```\n-->\n",
    ],
)
def test_what_a_comment_hides_is_not_read_either_where_it_holds_code(hidden: str) -> None:
    record = read(ACCEPTED.replace("Accepted", f"Accepted\n\n{hidden}", 1))
    assert (record.faults, record.status, record.statements, record.remarks) == ([], "decided", [], [])


def test_an_end_is_known_by_its_date() -> None:
    for said in ("Deprecated since 2025-01-02", "Accepted\n\nDeprecated on 2025-01-02", "Deprecated (2025-01-02)"):
        record = read(NYGARD.format(status=said))
        assert (record.status, record.ended and show_short(record.ended), record.faults) == (
            "ended",
            "2025-01-02",
            [],
        ), said


@pytest.mark.parametrize(
    ("said", "relation", "references"),
    [
        ("Superseded by [9. More](0009-more.md)", "superseded by", [("9. More", "0009-more.md")]),
        ("Superceded by ADR-9", "superseded by", [("ADR-9", "")]),
        ("superseded by 9", "superseded by", [("9", "")]),
        ("Replaced by 0009-more.md", "superseded by", [("0009-more.md", "")]),
        ("Ersetzt durch [ADR 9](9.md)", "superseded by", [("ADR 9", "9.md")]),
        ("Remplacé par ADR-9", "superseded by", [("ADR-9", "")]),
        ("被 ADR-9 取代", "superseded by", [("ADR-9", "")]),
        ("Superseded on 2025-01-02 by ADR-9", "superseded by", [("ADR-9", "")]),
        ("Accepted\n\nSupercedes [2. Less](0002-less.md)", "supersedes", [("2. Less", "0002-less.md")]),
        ("accepted; supersedes ADR-2 and ADR-3", "supersedes", [("ADR-2", ""), ("ADR-3", "")]),
        ("Accepté\n\nRemplace ADR-2", "supersedes", [("ADR-2", "")]),
        (
            "Accepted\n\nSupersedes [Deprecated: replaced by x](2.md)",
            "supersedes",
            [("Deprecated: replaced by x", "2.md")],
        ),
    ],
)
def test_a_relation_is_read_from_the_status(said: str, relation: str, references: list[tuple[str, str]]) -> None:
    record = read(NYGARD.format(status=said))
    (statement,) = record.statements
    assert (statement.relation, [(r.text, r.target) for r in statement.references]) == (relation, references)
    assert record.status == ("superseded" if relation == "superseded by" else "decided")
    assert record.faults == []


def test_a_relation_is_read_from_a_list_of_links_and_from_metadata() -> None:
    links = "## Links\n\n- Supersedes [2](0002.md)\n* Relates to [3](0003.md)\n- Amends [4](0004.md)\n"
    record = read(ACCEPTED + links)
    assert [s.said for s in record.statements] == ["Supersedes 2"]
    assert [remark[:12] for remark in record.remarks] == ["'Amends 4': "]
    record = read(f"---\nstatus: accepted\ndate: 2024-03-01\nsupersedes: [0002-a.md, ADR-3]\n---\n# Use it\n\n{BODY}")
    assert [str(r) for s in record.statements for r in s.references] == ["0002-a.md", "ADR-3"]


def test_a_supersession_that_only_the_text_speaks_of_is_told_and_left_alone() -> None:
    text = ACCEPTED.replace("why", "This in part supersedes [0003](0003-x.md).")
    record = read(text)
    assert (record.statements, record.faults) == ([], [])
    assert record.remarks == ["the text says 'This in part supersedes 0003.': nothing is made of it"]


@pytest.mark.parametrize(
    "filler", ["](", "`", "`a", "[[", "[", "a", "被", "<!--", "(", "|", "\\", "<", "* ", "# \n", "``` ", ": "]
)
@pytest.mark.parametrize("place", ["Accepted", "why", "Use it", "2024-03-01"])
def test_a_lot_of_anything_is_read_in_the_time_of_reading_it(filler: str, place: str) -> None:
    long = filler * (100_000 // len(filler))
    text = ACCEPTED.replace(place, f"superseded by {long} `x` ADR-9") + "x `y`\n"
    assert read(text).file == "0007-use-it.md"


@pytest.mark.parametrize("seed", range(60))
def test_no_text_makes_the_reader_fall(seed: int) -> None:
    rng = random.Random(seed)
    words = ["---", "# ", "## Status", "status: ", "Superseded by", "ADR-7", "[", "](", ")", "|", "```", "\n", "\n\n"]
    words += [" ", "{x | y}", "Date: ", "2024-13-45", "<!--", "-->", "`", "==", "accepted", "* ", "\\", "part"]
    words += ["ledger-ended: z", "ledger-confidence: x"]
    text = "".join(rng.choice(words) for _ in range(400))
    record = read(text)
    assert isinstance(record.faults, list)
    assert record.faults or record.date is not None


STATED = "# B\n\nDate: 2024-01-01\n\n{}\n\n## Decision\n\nd\n"


@pytest.mark.parametrize(
    "form",
    [
        "## Status\n\nRejected",
        "### Status\n\nRejected",
        "Status\n------\n\nRejected",
        "**Status**\n\nRejected",
        "**Status:**\n\nRejected",
        "Status:\n\nRejected",
        "## Status: Rejected",
        "## Status (current)\n\nRejected",
        "## 2. Status\n\nRejected",
        "## State\n\nRejected",
        "## Current status\n\nRejected",
        "## Decision status\n\nRejected",
        "## Status of this ADR\n\nRejected",
        "ADR status: Rejected",
        "## Status\n\n- Status: Rejected",
        "## Status\n\n~~Accepted~~ Rejected",
    ],
)
def test_a_rejected_record_is_never_read_as_decided_wherever_its_status_stands(form: str) -> None:
    assert read(STATED.format(form)).status == "rejected"


@pytest.mark.parametrize(
    "form", ["<h2>Status</h2>\n\nRejected", "Rejected", "**Rejected**", "## The status quo\n\nRejected"]
)
def test_what_may_be_a_status_and_cannot_be_read_is_listed(form: str) -> None:
    [fault] = read(STATED.format(form)).faults
    assert fault.startswith("it has no status that can be read, but says ")


@pytest.mark.parametrize(
    ("metadata", "section"), [("Status: Accepted", "Rejected"), ("status: Accepted", "Deprecated since 2024-06-01")]
)
def test_metadata_and_a_section_that_differ_are_listed(metadata: str, section: str) -> None:
    found = read(f"# A\n\n{metadata}\nDate: 2024-01-01\n\n## Decision\n\nd\n\n## Status\n\n{section}\n")
    assert found.faults or found.status == "ended"
    twice = read(f"---\nstatus: accepted\nstatus: {section}\ndate: 2024-01-01\n---\n\n# A\n\n## Decision\n\nd\n")
    assert twice.faults or twice.status == "ended"


@pytest.mark.parametrize(
    "said",
    [
        *("Accepted, later rejected", "Accepted? No, rejected", "Approved by Bob, rejected by Alice", "Accepted?"),
        *("Accepted, revoked 2024-03-01", "Accepted -> Deprecated", "Accepted but deprecated since 2024-05-01"),
        *("Accepted until 2024-12-31", "Accepted, effective 2024-12-31", "Decided against", "Done: no"),
        *(
            "Implemented: not started",
            "Final draft",
            "Final review",
            "Accepted pending review",
            "Accepted in principle",
        ),
        *("採用しない", "採用見送り", "承認されていない", "承認待ち", "승인되지 않음", "승인 대기", "채택 안 함"),
        *(
            "采纳中",
            "已接受（待复审）",
            "Akzeptiert, aber widerrufen",
            "Accepté sous réserve",
            "Replaced ADR-0033 by a new one",
        ),
    ],
)
def test_a_status_that_takes_back_what_it_begins_with_is_listed(said: str) -> None:
    assert read(STATED.format(f"## Status\n\n{said}")).faults


@pytest.mark.parametrize(
    "said",
    [
        *("Accepted", "Accepted on 2024-01-01", "Accepted (2024-01-01)", "✅ Accepted.", "Approved by the architects"),
        *("Akzeptiert am 2024-01-01", "承認済み", "已接受", "승인됨", "Accepted by Sam, Mia and Ann", "Done"),
    ],
)
def test_a_status_that_goes_on_with_a_day_or_a_name_is_decided(said: str) -> None:
    found = read(STATED.format(f"## Status\n\n{said}"))
    assert (found.status, found.faults) == ("decided", [])


@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_a_date_in_the_section_of_the_status_is_its_date(between: str) -> None:
    found = read(f"# A\n\n## Status\n\nAccepted{between}Date: 2021-09-01\n\n## Decision\n\nd\n")
    assert found.date is not None and found.date.date().isoformat() == "2021-09-01"
    assert found.faults == []
