"""FINDINGS.md is the index that the command prints; one finding is printed with its runs."""

import re
from pathlib import Path

import pytest

from tidemark.checks.inputs.manifests import manifests
from tidemark.checks.report.findings import Book, books, findings_text, sources_text
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.findings import Evidence, Finding
from tidemark.models.manifest import Manifest

DOCUMENT = Path(__file__).parents[3] / "FINDINGS.md"


@pytest.fixture(scope="module", name="known")
def known_manifests() -> list[Manifest]:
    """The manifests of the repository."""
    return manifests()


def test_the_document_is_what_the_command_prints(known: list[Manifest]) -> None:
    """A verdict in it is what the manifest expects, which the gate compares."""
    assert DOCUMENT.read_text(encoding="utf-8") == findings_text(known)


def test_the_index_has_a_row_for_every_finding_and_no_dead_link(known: list[Manifest]) -> None:
    text = findings_text(known)
    ids = [finding.id for book in books(known) for finding in book.findings]
    assert len(ids) > 50
    assert re.findall(r'^\| <a id="([^"]+)"></a>', text, flags=re.MULTILINE) == ids
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= set(ids)
    row = next(line for line in text.splitlines() if 'id="in-flight"' in line)
    assert row.endswith(" | refuted, proved |")


def test_sources_are_printed_with_their_findings_and_mutants(known: list[Manifest]) -> None:
    row = next(line for line in sources_text(known).splitlines() if "sources.md#hazard-15)" in line)
    assert "`in-flight`" in row


@pytest.mark.parametrize(("only", "steps"), [("equality-stall", 1), ("ack-is-no-evidence", 1)])
def test_a_finding_is_printed_with_its_runs(only: str, steps: int, known: list[Manifest]) -> None:
    section = findings_text(known, only=only)
    assert section.count("**refuted** by the") >= steps
    assert "The shortest run of `" in section
    assert len(section.splitlines()) > 20


def test_evidence_of_the_implementation_names_the_command(known: list[Manifest]) -> None:
    """No search of states decides it: a program that runs the code does."""
    text = findings_text(known, only="segments-recovery")
    assert "**refuted** by `tidemark mutate segments-impl-the-recovery-has-no-pin`" in text


def test_an_unknown_finding(known: list[Manifest]) -> None:
    with pytest.raises(BadInputError, match="there is no finding 'in-fligth'") as caught:
        findings_text(known, only="in-fligth")
    assert "did you mean 'in-flight'" in caught.value.remedy


def _finding(entry: str, claim: str, *, shown: bool) -> Finding:
    evidence = Evidence(entry=entry, claim=claim, shown=shown)
    return Finding(id="odd", title="t", source="s", text="x", evidence=(evidence,))


@pytest.mark.parametrize(
    ("entry", "claim", "message"),
    [
        ("tini", "flush.stored_once", "not in the manifest"),
        ("tiny", "flush.stored_once", "there is none"),
        ("seed-not-strict-any-size", "flush.reset_only_by_greater_checkpoint", "does not judge"),
        ("save-appends", "flush.nothing_lost", "does not judge"),
    ],
)
def test_evidence_that_does_not_fit_is_refused(
    entry: str, claim: str, message: str, known: list[Manifest]
) -> None:
    flush = next(book for book in books(known) if book.manifest.name == "flush")
    finding = _finding(entry, claim, shown=True)
    with pytest.raises(BadInputError, match=message):
        Book(flush.manifest, ()).expected(finding, finding.evidence[0])
    with pytest.raises(BadInputError, match=message):
        list(Book(flush.manifest, ()).section(finding))
