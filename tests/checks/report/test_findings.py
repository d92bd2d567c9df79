"""FINDINGS.md is what the suite finds, and nothing else."""

from pathlib import Path

import pytest

from tidemark.checks.cli.run import manifests
from tidemark.checks.report.findings import Book, books, findings_text, index_lines
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.findings import Evidence, Finding

DOCUMENT = Path(__file__).parents[3] / "FINDINGS.md"


@pytest.mark.parametrize(
    "only", ["equality-stall", "flag-cleared-early", "ack-is-no-evidence", "refused-save"]
)
def test_a_section_is_what_a_new_run_says(only: str) -> None:
    section = findings_text(manifests(), only=only)
    assert section.count("refuted") >= 1
    assert section in DOCUMENT.read_text(encoding="utf-8")


def test_the_document_has_every_finding_in_order() -> None:
    titles = [f"## {finding.title}" for book in books(manifests()) for finding in book.findings]
    titles.append("## By source")
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("## ")] == titles


def test_the_contents_name_every_finding_once() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    for book in books(manifests()):
        assert text.count(f"**{book.manifest.name}**\n") == 1
        for finding in book.findings:
            assert text.count(f"- [{finding.title}](#") == 1


def test_the_index_is_up_to_date() -> None:
    index = "\n".join(index_lines(books(manifests())))
    assert "| [hazard 15](docs/sources.md#hazard-15) | " in index
    assert DOCUMENT.read_text(encoding="utf-8").endswith(index + "\n")


def _finding(entry: str, claim: str, *, shown: bool) -> Finding:
    evidence = Evidence(entry=entry, claim=claim, shown=shown)
    return Finding(id="odd", title="t", source="s", text="x", evidence=(evidence,))


@pytest.mark.parametrize(
    ("entry", "claim", "message"),
    [
        ("tini", "flush.stored_once", "not in the manifest"),
        ("tiny", "flush.stored_once", "there is none"),
        ("seed-not-strict-any-size", "flush.reset_only_by_greater_checkpoint", "does not prove"),
    ],
)
def test_evidence_that_does_not_fit_is_refused(entry: str, claim: str, message: str) -> None:
    flush = next(book for book in books(manifests()) if book.manifest.name == "flush")
    book = Book(flush.manifest, ())
    with pytest.raises(BadInputError, match=message):
        list(book.section(_finding(entry, claim, shown=True)))
