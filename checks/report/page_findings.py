"""The findings on the page of a run: what was decided, with links to the runs that show it."""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.checks.report.forms.bundle import bundle_id
from tidemark.checks.verdicts.result import RunResult, SourceNote
from tidemark.checks.verdicts.verdict import Aspect, Outcome, Verdict
from tidemark.models.findings import Finding, finding_files, load_findings
from tidemark.models.sources import repository_catalogue

_JUDGES = ("explore", "mutate", "prove")
"""Judges of the entries that a finding may name."""


@dataclass(frozen=True, kw_only=True)
class Decided:
    """A verdict that a finding rests on; ``anchor`` is the place of its run on the page, if it has one."""

    claim: str
    entry: str
    outcome: str
    anchor: str


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A finding as the page shows it."""

    title: str
    source: SourceNote
    text: str
    decided: tuple[Decided, ...]


def run_anchor(verdict: Verdict) -> str:
    """The name of the place on the page at which a counterexample is."""
    return f"run-{bundle_id(verdict)}"


def findings_with_runs(result: RunResult) -> list[Shown]:
    """The findings that this run decided; those that rest on an entry that was not run are left out."""
    verdicts: dict[tuple[str, str, str], Verdict] = {}
    for judgement in result.judgements:
        subject = judgement.verdict.subject
        if subject.judge in _JUDGES and subject.aspect in (Aspect.PROPERTY, Aspect.MUTANT):
            verdicts[subject.protocol, subject.instance, subject.property_id] = judgement.verdict
    books = [load_findings(path) for path in finding_files()]
    shown = [(book.manifest, finding) for book in books for finding in book.finding]
    return [
        _shown(finding, [verdicts[manifest, e.entry, e.claim] for e in finding.evidence])
        for manifest, finding in shown
        if all((manifest, e.entry, e.claim) in verdicts for e in finding.evidence)
    ]


def _shown(finding: Finding, verdicts: list[Verdict]) -> Shown:
    decided = tuple(
        Decided(
            claim=verdict.subject.property_id,
            entry=verdict.subject.instance,
            outcome=verdict.outcome.value,
            anchor=run_anchor(verdict) if verdict.outcome is Outcome.REFUTED else "",
        )
        for verdict in verdicts
    )
    links = tuple(entry.link for entry in repository_catalogue().resolve(finding.source))
    return Shown(
        title=finding.title,
        source=SourceNote(text=finding.source, links=links),
        text=finding.text.strip(),
        decided=decided,
    )
