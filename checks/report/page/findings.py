"""The findings on the page of a run: what was decided, with links to the runs that show it."""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.checks.report.page.links import run_link
from tidemark.checks.verdicts.result import RunResult, SourceNote
from tidemark.checks.verdicts.verdict import Aspect, Judgement, Outcome
from tidemark.models.findings import Finding, finding_files, load_findings
from tidemark.models.sources import repository_catalogue

_JUDGES = ("explore", "mutate", "prove")
"""Judges of the entries that a finding may name."""


@dataclass(frozen=True, kw_only=True)
class Decided:
    """A verdict that a finding rests on; ``link`` leads to its run, if it has one."""

    claim: str
    entry: str
    outcome: str
    link: str


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A finding as the page shows it."""

    title: str
    source: SourceNote
    text: str
    decided: tuple[Decided, ...]


def findings_with_runs(result: RunResult) -> list[Shown]:
    """The findings that this run decided; those that rest on an entry that was not run are left out."""
    judged: dict[tuple[str, str, str], Judgement] = {}
    for judgement in result.judgements:
        subject = judgement.verdict.subject
        if subject.judge in _JUDGES and subject.aspect in (Aspect.PROPERTY, Aspect.MUTANT):
            judged[subject.protocol, subject.instance, subject.property_id] = judgement
    books = [load_findings(path) for path in finding_files()]
    shown = [(book.manifest, finding) for book in books for finding in book.finding]
    return [
        _shown(finding, [judged[manifest, e.entry, e.claim] for e in finding.evidence])
        for manifest, finding in shown
        if all((manifest, e.entry, e.claim) in judged for e in finding.evidence)
    ]


def _shown(finding: Finding, judged: list[Judgement]) -> Shown:
    decided = tuple(
        Decided(
            claim=one.verdict.subject.property_id,
            entry=one.verdict.subject.instance,
            outcome=one.verdict.outcome.value,
            link=run_link(one) if one.verdict.outcome is Outcome.REFUTED else "",
        )
        for one in judged
    )
    links = tuple(entry.link for entry in repository_catalogue().resolve(finding.source))
    return Shown(
        title=finding.title,
        source=SourceNote(text=finding.source, links=links),
        text=finding.text.strip(),
        decided=decided,
    )
