"""``tidemark findings``: what the suite has found out about the sources, with the shortest counterexamples.

The words stand in ``models/findings``; the outcomes and counts are run here and are the same that the gate
compares with the manifest. The output is Markdown and is the text of ``FINDINGS.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from textwrap import fill

from tidemark.checks.explore.judge import explore
from tidemark.checks.report.forms.trace_text import trace_text
from tidemark.checks.verdicts.errors import BadInputError, known_names
from tidemark.checks.verdicts.verdict import Outcome, Verdict
from tidemark.models.findings import Evidence, Finding, finding_files, load_findings
from tidemark.models.instance import Instance
from tidemark.models.manifest import Expected, InstanceEntry, Kind, Manifest, MutantEntry, ProofEntry
from tidemark.models.sources import Family, Label, labels_in, repository_catalogue, segments

_HEAD = """# Findings

What came out when the claims of the source documents and the suspected hazards were decided. This file is the
output of `tidemark findings`; a test compares it with a new run. *Holds* is said of a bounded instance,
*proved* of any size. Each entry named here is judged by `make verify`; `tidemark show` lists all entries."""

_WIDTH = 120
_INDEXED = (Family.SEED, Family.HAZARD, Family.BUG)
_ENDING = "proved by `tidemark prove {entry}`, any size"


@dataclass(frozen=True)
class Book:
    """The findings about one protocol and the manifest that decides them."""

    manifest: Manifest
    findings: tuple[Finding, ...]

    @cached_property
    def _entries(self) -> dict[str, InstanceEntry | ProofEntry | MutantEntry]:
        manifest = self.manifest
        kinds = (InstanceEntry, ProofEntry, MutantEntry)
        return {entry.name: entry for entry in manifest.entries() if isinstance(entry, kinds)}

    def _entry(self, finding: Finding, name: str) -> InstanceEntry | ProofEntry | MutantEntry:
        if name not in self._entries:
            raise BadInputError(
                f"the finding {finding.id!r} names the entry {name!r}, which is not in the manifest",
                remedy=known_names(name, self._entries),
            )
        return self._entries[name]

    def _judged(self, finding: Finding) -> dict[tuple[str, str], Verdict]:
        """The verdicts of all searches that a finding rests on, by entry and claim; one search an entry."""
        claims: dict[str, list[str]] = {}
        for evidence in finding.evidence:
            if not isinstance(self._entry(finding, evidence.entry), ProofEntry):
                claims.setdefault(evidence.entry, []).append(evidence.claim)
        found: dict[tuple[str, str], Verdict] = {}
        for name, wanted in claims.items():
            entry = self._entries[name]
            assert not isinstance(entry, ProofEntry)
            host = self._host(entry)
            for verdict in explore(self._instance(entry), properties=wanted, symmetry=host.symmetry):
                found[name, verdict.subject.property_id] = verdict
        return found

    def section(self, finding: Finding) -> Iterator[str]:
        """The Markdown lines of one finding. Raises BadInputError if it refers to something unknown."""
        yield f"## {finding.title}"
        yield ""
        yield f"`{finding.id}` · {_linked(finding.source)}"
        yield ""
        yield fill(finding.text, _WIDTH)
        yield ""
        judged, shown = self._judged(finding), list[tuple[Evidence, Verdict]]()
        for evidence in finding.evidence:
            entry = self._entry(finding, evidence.entry)
            if isinstance(entry, ProofEntry):
                yield f"- `{evidence.claim}`: {self._proof(entry, evidence.claim)}"
                continue
            verdict = judged[evidence.entry, evidence.claim]
            yield f"- `{evidence.claim}`: {_words(verdict, entry)}"
            if evidence.shown:
                shown.append((evidence, verdict))
        for evidence, verdict in shown:
            yield from _trace(finding, evidence, verdict)

    def _proof(self, entry: ProofEntry, claim: str) -> str:
        """Expected by the manifest and compared by the gate; the proof is not run again here."""
        claims = self.manifest.claims_of(entry, list(Kind))
        if claim not in claims or entry.expect.of(claim) is not Expected.PROVED:
            raise BadInputError(
                f"the proof {entry.name!r} does not prove {claim!r}", remedy="name another entry or claim"
            )
        return _ENDING.format(entry=entry.name)

    def _host(self, entry: InstanceEntry | MutantEntry) -> InstanceEntry:
        """The entry that gives the bounds: a mutant is judged on another one."""
        host = entry if isinstance(entry, InstanceEntry) else self._entries[entry.instance]
        assert isinstance(host, InstanceEntry)
        return host

    def _instance(self, entry: InstanceEntry | MutantEntry) -> Instance:
        host = self._host(entry)
        protocol = entry.protocol if isinstance(entry, InstanceEntry) else entry.ref
        return Instance(protocol, host.bounds, host.constants, entry.name)


def _linked(source: str) -> str:
    """A ``source`` text in Markdown, with a link from each label to the page that explains it."""
    catalogue = repository_catalogue()
    found = (
        (piece, catalogue.entries.get(label.text) if label else None)
        for piece, label in segments(source, parts=catalogue.parts)
    )
    return "".join(f"[{piece}]({entry.link})" if entry else piece for piece, entry in found)


def _words(verdict: Verdict, entry: InstanceEntry | MutantEntry) -> str:
    states = f"{verdict.counts['distinct']:,} states, depth {verdict.counts['depth']}"
    where = f"mutant `{entry.name}`" if isinstance(entry, MutantEntry) else f"instance `{entry.name}`"
    if verdict.outcome is Outcome.REFUTED and verdict.counterexample is not None:
        return f"**refuted** by the {where} in {len(verdict.counterexample.steps)} steps ({states})"
    if verdict.outcome is Outcome.HOLDS:
        return f"holds in the {where} ({states}; {verdict.bounds})"
    raise BadInputError(
        f"{entry.name} decides nothing about {verdict.subject.property_id}: {verdict.reason}",
        remedy="name an entry that does",
    )


def _trace(finding: Finding, evidence: Evidence, verdict: Verdict) -> Iterator[str]:
    if verdict.counterexample is None:
        raise BadInputError(
            f"the finding {finding.id!r} shows a counterexample of {evidence.entry!r}, but there is none",
            remedy="remove 'shown', or name an entry whose claim is refuted",
        )
    yield ""
    yield f"<details><summary>The shortest run of <code>{evidence.entry}</code></summary>"
    yield ""
    yield "```"
    yield trace_text(verdict.counterexample, limit=200)
    yield "```"
    yield ""
    yield "</details>"


def books(manifests: Sequence[Manifest]) -> list[Book]:
    """The findings of the repository, each file with its manifest."""
    known = {manifest.name: manifest for manifest in manifests}
    found = [load_findings(path) for path in finding_files()]
    return [Book(known[content.manifest], content.finding) for content in found if content.manifest in known]


def _contents(every: Sequence[Book]) -> Iterator[str]:
    """What came out, a line each, by protocol."""
    for book in every:
        yield from ["", f"**{book.manifest.name}**", ""]
        for finding in book.findings:
            yield f"- [{finding.title}](#{_anchor(finding.title)})"


def _anchor(title: str) -> str:
    """The name that Markdown renderers give to a heading."""
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -_")
    return kept.replace(" ", "-")


def findings_text(manifests: Sequence[Manifest], *, only: str = "") -> str:
    """The document, or one section of it. Raises BadInputError for an unknown finding."""
    every = books(manifests)
    names = [finding.id for book in every for finding in book.findings]
    if only and only not in names:
        raise BadInputError(f"there is no finding {only!r}", remedy=known_names(only, names))
    lines = [] if only else [_HEAD, *_contents(every)]
    for book in every:
        for finding in book.findings:
            if only in ("", finding.id):
                lines += ["", *book.section(finding)] if lines else [*book.section(finding)]
    if not only:
        lines += ["", *index_lines(every)]
    return "\n".join(lines) + "\n"


def index_lines(every: Sequence[Book]) -> Iterator[str]:
    """What became of each seed, hazard and bug, as a Markdown table. Nothing is run for it."""
    found: dict[Label, list[str]] = {}
    for book in every:
        for finding in book.findings:
            for label in _indexed(finding.source):
                found.setdefault(label, []).append(f"[{finding.id}](#{_anchor(finding.title)})")
        for mutant in book.manifest.mutant:
            fate = f"killed by `{mutant.killer}`" if mutant.killer else "no property tells it apart"
            for label in _indexed(mutant.source):
                found.setdefault(label, []).append(f"mutant `{mutant.name}` {fate}")
    yield from ["## By source", "", "| source | what decides it |", "| --- | --- |"]
    for label in sorted(found, key=lambda label: label.key):
        yield f"| {_linked(label.text)} | {'; '.join(found[label])} |"


def _indexed(source: str) -> tuple[Label, ...]:
    """The seeds, hazards and bugs of a text; facts and properties are not what a finding decides."""
    return tuple(label for label in labels_in(source) if label.family in _INDEXED)
