"""29 files of real projects, as they are: each ends as imported, or listed with its reason. The outcome is this table.

The files are beginnings of records from twelve repositories, side by side in one folder; `__` stands for a slash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ledger_cli.exchange import adr_import
from ledger_cli.instant import show_short
from tests.conftest import DATA

if TYPE_CHECKING:
    from tests.conftest import Repo

RAW = DATA / "adr" / "raw"
ODH = "architecture-decision-records__architecture-decision-records__"
ARIES = "aries-rfcs__features__"
GOVUK = "govuk-aws__docs__architecture__decisions__"
PUBLISHER = "content-publisher__docs__adr__"
BRAINS = "log4brains__docs__adr__"

IMPORTED = {  # file -> text, validFrom, what it supersedes
    f"{ODH}automl__ODH-ADR-0001-automl": ("Open Data Hub - AutoML Architecture Decision", "2026-07-20", ()),
    f"{ODH}operator__ODH-ADR-Operator-0002-operator-scope": ("Open Data Hub - Operator Scope", "2023-09-05", ()),
    f"{ODH}operator__ODH-ADR-Operator-0007-auth-crd": ("Open Data Hub - Addition of an Auth CR", "2024-10-22", ()),
    f"{ARIES}0023-did-exchange": (
        "Aries RFC 0023: DID Exchange v1", "2021-04-15", (f"{ARIES}0160-connection-protocol",)),
    f"{ARIES}0036-issue-credential": ("Aries RFC 0036: Issue Credential Protocol 1.0", "2019-05-28", ()),
    f"{ARIES}0160-connection-protocol": ("Connection Protocol", "2019-08-06", ()),
    f"{ARIES}0453-issue-credential-v2": (
        "Aries RFC 0453: Issue Credential Protocol 2.0", "2021-04-15", (f"{ARIES}0036-issue-credential",)),
    f"{PUBLISHER}0006-tagging-governments": ("Tagging Content to Governments", "2018-12-12", ()),
    f"{PUBLISHER}0009-modelling-history": ("Modelling history", "2018-12-17", ()),
    f"{PUBLISHER}0014-political-and-government-tagging": (
        "Political and Government Tagging", "2019-12-19", (f"{PUBLISHER}0006-tagging-governments",)),
    f"{GOVUK}0004-dns-definitions-for-hosts-and-services": (
        "DNS definitions for hosts and services", "2017-07-14", ()),
    f"{GOVUK}0010-terraform-directory-structure": ("Terraform directory structure", "2017-07-04", ()),
    f"{GOVUK}0015-dns-infrastructure": (
        "DNS infrastructure", "2018-03-06", (f"{GOVUK}0004-dns-definitions-for-hosts-and-services",)),
    f"{GOVUK}0017-terraform-data-structure": ("Terraform Data Structure", "2017-07-14", ()),
    f"{BRAINS}20200926-use-the-adr-number-as-its-unique-id": (
        "Use the ADR number as its unique ID", "2020-09-26", ()),
    f"{BRAINS}20201016-use-the-adr-slug-as-its-unique-id": (
        "Use the ADR slug as its unique ID", "2020-10-16", (f"{BRAINS}20200926-use-the-adr-number-as-its-unique-id",)),
    "nats-architecture-and-design__adr__ADR-48": ("TTL Support for Key-Value Buckets", "2025-04-09", ()),
    "nats-architecture-and-design__adr__ADR-6": ("Naming Rules", "2021-08-17", ()),
    "nats-architecture-and-design__adr__ADR-8": ("JetStream based Key-Value Stores", "2021-06-30", ()),
}  # fmt: skip
LISTED = {  # file -> the beginnings of its reasons, in order
    f"{ODH}eval-hub__ODH-ADR-EH-0001-eval-hub-service": [
        "nothing is decided yet: its status is 'Draft'", "the date 'January, 2026' has no day"],
    f"{ODH}model-registry__ODH-ADR-MR-0001-Sign": [
        "the status 'Refinement completed. TP in 3.4' is none that is known", "the date 'January , 2026' has no day"],
    "architecture__adr-017-simplify-chimera-model": [
        "nothing is decided yet: its status is 'PROPOSED'", "it has no date"],
    "cap-fiori-timetracking__docs__ADR__0002-command-pattern-business-logik": ["it has no date"],
    f"{GOVUK}0003-aws-networking-outline": ["it is superseded in part: 'Partly superseded'"],
    f"{GOVUK}0033-ip-ranges": ["nothing is decided yet: its status is 'Pending'"],
    "jabref__docs__decisions__0045-use-input-flag-always-for-input-files": ["it has no date"],
    "jabref__docs__decisions__0057-allow-positional-input-file-argument": ["it has no date"],
    "madr__docs__decisions__0003-provide-own-madr-tools": [
        "nothing is decided yet: its status is 'on hold'", "it has no date"],
    "madr__template__adr-template": ["an unfilled template: its title is '{short title, "],
}  # fmt: skip
REMARKS = {  # what is imported, and what of it was left alone
    f"{ARIES}0036-issue-credential": [
        "the status also says 'But should move to deprecated'",
        "supersedes 'Indy HIPE PR #89' leads out of this folder, to https://github.com/hyperledger/",
        "supersedes 'Credential Exchange 0.1 -- IIW 2019' leads out of this folder, to https://hackmd.io/",
    ],
    f"{ARIES}0160-connection-protocol": [
        "the status also says 'But should move to deprecated'",
        "supersedes 'HIPE 0031 - Connection Protocol' leads out of this folder, to https://github.com/hyperledger/",
    ],
    f"{PUBLISHER}0009-modelling-history": [
        "'Amended 2019-01-29': an amendment is",
        "it has no status: read as decided",
    ],
    f"{PUBLISHER}0014-political-and-government-tagging": ["it has no status: read as decided"],
    f"{GOVUK}0010-terraform-directory-structure": ["'Amended by 17. Terraform Data Structure': an amendment is"],
    f"{GOVUK}0017-terraform-data-structure": ["'Amends 10. Terraform directory structure': an amendment is"],
    "nats-architecture-and-design__adr__ADR-48": ["'Updates ADR-8': an amendment is"],
}


@pytest.fixture(scope="module")
def found() -> adr_import.Import:
    return adr_import.of_folder(RAW, session="import")


def test_every_file_is_in_the_table() -> None:
    files = {path.stem for path in RAW.iterdir()}
    assert len(files) == 29
    assert files == IMPORTED.keys() | LISTED.keys()
    assert IMPORTED.keys().isdisjoint(LISTED)


def test_what_is_imported_is_what_the_file_says(found: adr_import.Import) -> None:
    (session,) = found.sessions
    assert {i.id: (i.text, show_short(i.valid_from), i.supersedes) for i in session.items if i.valid_from} == IMPORTED
    assert (session.at, session.reviews, session.endings, session.supersessions) == (None, (), (), ())


def test_what_is_listed_has_its_reasons_and_nothing_is_made_of_it(found: adr_import.Import) -> None:
    listed = {o.record.removesuffix(".md"): list(o.reasons) for o in found.listed}
    assert listed.keys() == LISTED.keys()
    for file, reasons in LISTED.items():
        assert len(listed[file]) == len(reasons), listed[file]
        assert all(said.startswith(reason) for said, reason in zip(listed[file], reasons, strict=True)), listed[file]


def test_what_is_imported_says_what_of_it_is_left_to_the_reader(found: adr_import.Import) -> None:
    remarked = {o.id: list(o.reasons) for o in found.imported if o.reasons}
    assert remarked.keys() == REMARKS.keys()
    for file, reasons in REMARKS.items():
        assert len(remarked[file]) == len(reasons), remarked[file]
        assert all(said.startswith(reason) for said, reason in zip(remarked[file], reasons, strict=True)), remarked[
            file
        ]


def test_context_and_decision_are_the_rationale_as_they_are_written(found: adr_import.Import) -> None:
    (session,) = found.sessions
    for item in session.items:
        lines = (RAW / f"{item.id}.md").read_text(encoding="utf-8").split("\n")
        told = [line.rstrip() for line in (item.rationale or "").split("\n")]
        assert {line for line in told if line} <= {line.rstrip() for line in lines}, item.id
    rationale = {item.id: item.rationale or "" for item in session.items}
    assert rationale[f"{GOVUK}0004-dns-definitions-for-hosts-and-services"].split("\n") == [
        "## Context",
        "",
        "For our current monitoring to work we need Icinga to be able to communicate with hosts and services.",
        "",
        "## Decision",
        "",
        "Each stack will have an internal, private, zone for internal services such as the puppetmaster. These",
        "will be in the following format:",
        "",
        "    $servicename.$stackname.internal",
        "",
        "    puppet.perftesting.internal",
        "    monitoring.mystack.internal",
    ]


def test_the_session_file_is_applied_as_it_is(repo: Repo) -> None:
    file = repo.path / "sessions" / "adr.yaml"
    repo.run("import", "adr", RAW, "-o", file, "--session", "adr", "--by", "sam")
    done = repo.run("session", "apply", file, "--json").json["sessions"][0]
    assert done["added"] == sorted(IMPORTED)
    assert done["linked"] == sorted([old, new] for new, (_, _, olds) in IMPORTED.items() for old in olds)
    holds = repo.run("as-of", "2022-01-01", "--json").ids
    superseded = {old for _, _, olds in IMPORTED.values() for old in olds}
    assert set(holds) == {id for id, (_, since, _) in IMPORTED.items() if since < "2022"} - superseded
    assert repo.run("check").out == "ok\n"
