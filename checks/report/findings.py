"""``tidemark show findings``: what the suite has found out about the sources.

The words stand in the protocols' ``findings.toml``. Without an id the output is the text of ``FINDINGS.md``:
an index with the outcome of each, as the manifest expects it and the gate compares it. With an id it is one
finding whole, with the shortest counterexamples: from kept verdicts where they are given, else searched. The
runs of all findings are in the report that a run of the gate writes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from textwrap import fill
from types import MappingProxyType

from tidemark.checks.report.forms.trace_text import trace_text
from tidemark.checks.verdicts.errors import BadInputError, known_names
from tidemark.checks.verdicts.plan import Task, all_tasks
from tidemark.checks.verdicts.verdict import Outcome, Verdict
from tidemark.models.findings import Evidence, Finding, finding_files, load_findings
from tidemark.models.instance import Instance
from tidemark.models.manifest import Expected, InstanceEntry, Kind, Manifest, MutantEntry, ProofEntry
from tidemark.models.manifest.resolve import instance_of, instance_of_mutant
from tidemark.models.sources import Family, Label, labels_in, repository_catalogue, segments
from tidemark.spec.language.protocol import resolve

_HEAD = """# Findings

Results on the claims of the source documents and on suspected hazards, as `tidemark show findings` prints
them. *Holds*: in a bounded instance. *Proved*: for any size. `tidemark show findings ID` prints one finding:
its source, the entries that decide it, and its shortest counterexamples. `tidemark show sources` prints the
findings by source, `tidemark show` the entries. `make verify` judges them; `build/report/index.html` has the
runs."""

_WIDTH = 120
_INDEXED = (Family.SEED, Family.HAZARD, Family.BUG)
_DECIDED_BY = {InstanceEntry: "explore", MutantEntry: "mutate"}
"""Judges whose kept verdicts a finding is shown from."""
_Verdicts = Mapping[tuple[str, str], Verdict]
"""By entry and claim."""
_ENDING = "proved by `tidemark prove {entry}`, any size"
_EXPECTED = "{outcome} in `{entry}`, as it is expected: no verdict is kept here"
_PLANTED = "**refuted** by `tidemark mutate {entry}`, a fault that is planted in the implementation"


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

    @cached_property
    def frames(self) -> frozenset[str]:
        """Claims that say no more than the steps do: that they hold is no result about the protocol."""
        spec = resolve(self.manifest.protocol).trace()
        return frozenset(prop.id for prop in spec.properties if prop.frame is not None)

    def _entry(self, finding: Finding, name: str) -> InstanceEntry | ProofEntry | MutantEntry:
        if name not in self._entries:
            raise BadInputError(
                f"the finding {finding.id!r} names the entry {name!r}, which is not in the manifest",
                remedy=known_names(name, self._entries),
            )
        return self._entries[name]

    def searched(self, finding: Finding) -> list[Task]:
        """The tasks whose searches decide a finding."""
        names = {
            one.entry for one in finding.evidence if self._elsewhere(self._entry(finding, one.entry)) is None
        }
        return [
            task
            for task in all_tasks([self.manifest])
            if task.entry.name in names and task.judge == _DECIDED_BY.get(type(task.entry))
        ]

    def _judged(self, finding: Finding, kept: _Verdicts, say: Callable[[str], object]) -> _Verdicts:
        """The kept verdicts, and those of the claims that fall: each a search that ends at its refutation."""
        found = dict(kept)
        for evidence in finding.evidence:
            elsewhere = self._elsewhere(self._entry(finding, evidence.entry)) is not None
            falls = not elsewhere and self.expected(finding, evidence) is Expected.REFUTED
            if falls and (evidence.entry, evidence.claim) not in kept:
                from tidemark.checks.explore.judge import explore
                from tidemark.models.native.search.breadth_first import SearchLimits

                say(evidence.entry)
                entry = self._entries[evidence.entry]
                assert not isinstance(entry, ProofEntry)
                verdict, *_ = explore(
                    self._instance(entry),
                    properties=[evidence.claim],
                    limits=SearchLimits(stop_on=frozenset({evidence.claim})),
                    symmetry=self._host(entry).symmetry,
                )
                found[evidence.entry, evidence.claim] = verdict
        return found

    def expected(self, finding: Finding, evidence: Evidence) -> Expected:
        """The verdict that the manifest expects of a piece of evidence; the gate compares it.

        Raises BadInputError if its entry does not judge its claim, if nothing says why its size suffices, or
        if a counterexample is to be shown where none is expected.
        """
        entry = self._entry(finding, evidence.entry)
        if isinstance(entry, MutantEntry):
            decided, outcome = entry.killer == evidence.claim, Expected.REFUTED
        else:
            decided = evidence.claim in self.manifest.claims_of(entry, list(Kind))
            outcome = entry.expect.of(evidence.claim)
        if not decided:
            raise BadInputError(
                f"the finding {finding.id!r}: {evidence.entry!r} does not judge {evidence.claim!r}",
                remedy="name another entry or claim",
            )
        searched = isinstance(entry, InstanceEntry) and self.size(entry, evidence.claim)
        if outcome is Expected.HOLDS and searched == "":
            raise BadInputError(
                f"the finding {finding.id!r} rests on the size of {evidence.entry!r}",
                remedy="say there what one more of is tried:  larger = [SORT, ...]",
            )
        if evidence.shown and outcome is not Expected.REFUTED:
            raise BadInputError(
                f"the finding {finding.id!r} shows a counterexample of {evidence.entry!r}, but there is none",
                remedy="remove 'shown', or name an entry whose claim is refuted",
            )
        return outcome

    def size(self, entry: InstanceEntry, claim: str) -> str:
        """Why the size of an instance in which a claim holds suffices; empty if nothing says it."""
        if self.manifest.kinds_of(entry)[claim] is Kind.REACHABLE:
            return "a run reaches it"
        options = resolve(entry.protocol).trace().options
        other = {name: value for name, value in entry.constants.items() if name in options}
        proofs = [
            proof.name
            for proof in self.manifest.proof
            if (proof.protocol, proof.constants) == (entry.protocol, other)
            and claim in self.manifest.claims_of(proof, list(Kind))
            and proof.expect.of(claim) is Expected.PROVED
        ]
        if proofs:
            return _ENDING.format(entry=proofs[0])
        larger = f"{entry.name}-larger"
        return f"so it does in `{larger}`" if larger in self._entries else ""

    def shown(self, finding: Finding) -> list[Evidence]:
        """The evidence whose counterexample is shown: as the finding says, else the first that a search
        refutes.
        """
        searched = [
            one for one in finding.evidence if self._elsewhere(self._entry(finding, one.entry)) is None
        ]
        refuted = [one for one in searched if self.expected(finding, one) is Expected.REFUTED]
        return [one for one in searched if one.shown] or refuted[:1]

    def section(
        self, finding: Finding, *, kept: _Verdicts = MappingProxyType({}), say: Callable[[str], object] = str
    ) -> Iterator[str]:
        """The Markdown lines of one finding. ``say`` is told the entry before each search that is run.

        What no kept verdict decides is searched if it falls, else said as the manifest expects it.

        Raises BadInputError if it refers to something unknown.
        """
        yield f"## {finding.title}"
        yield ""
        yield f"`{finding.id}` · {linked(finding.source)}"
        yield ""
        yield fill(finding.text, _WIDTH)
        yield ""
        for evidence in finding.evidence:
            self.expected(finding, evidence)
        judged = self._judged(finding, kept, say)
        for evidence in finding.evidence:
            entry = self._entry(finding, evidence.entry)
            elsewhere = self._elsewhere(entry)
            repeats = (
                evidence.claim in self.frames and self.expected(finding, evidence) is not Expected.REFUTED
            )
            frame = " (a frame condition: it repeats what each step says)" * repeats
            if elsewhere is not None:
                yield f"- `{evidence.claim}`: {elsewhere}{frame}"
                continue
            assert not isinstance(entry, ProofEntry)
            verdict = judged.get((evidence.entry, evidence.claim))
            words = (
                _words(verdict, entry)
                if verdict
                else _EXPECTED.format(outcome=self.expected(finding, evidence).value, entry=entry.name)
            )
            if isinstance(entry, InstanceEntry) and self.expected(finding, evidence) is Expected.HOLDS:
                words += f"; {self.size(entry, evidence.claim)}"
            yield f"- `{evidence.claim}`: {words}{frame}"
        for evidence in self.shown(finding):
            verdict = judged[evidence.entry, evidence.claim]
            if verdict.counterexample is None:
                raise BadInputError(
                    f"the finding {finding.id!r}: {evidence.entry!r} is expected to be refuted, and is not",
                    remedy="run  tidemark verify --only " + evidence.entry,
                )
            yield ""
            yield f"The shortest run of `{evidence.entry}`:"
            yield ""
            yield "```"
            yield trace_text(verdict.counterexample, limit=200)
            yield "```"

    def _elsewhere(self, entry: InstanceEntry | ProofEntry | MutantEntry) -> str | None:
        """What decides an entry that is no search of the specification's states; None if one is."""
        if isinstance(entry, ProofEntry):
            return _ENDING.format(entry=entry.name)
        if isinstance(entry, MutantEntry) and entry.instance not in self._entries:
            return _PLANTED.format(entry=entry.name)
        return None

    def _host(self, entry: InstanceEntry | MutantEntry) -> InstanceEntry:
        """The entry that gives the bounds: a mutant is judged on another one."""
        host = entry if isinstance(entry, InstanceEntry) else self._entries[entry.instance]
        assert isinstance(host, InstanceEntry)
        return host

    def _instance(self, entry: InstanceEntry | MutantEntry) -> Instance:
        host = self._host(entry)
        mine = instance_of(entry) if isinstance(entry, InstanceEntry) else instance_of_mutant(entry, host)
        return replace(mine, name=entry.name)


def linked(source: str) -> str:
    """A ``source`` text in Markdown, with a link from each label to the page that explains it."""
    catalogue = repository_catalogue()
    found = (
        (piece, catalogue.entries.get(label.text) if label else None)
        for piece, label in segments(source, parts=catalogue.parts)
    )
    return "".join(f"[{piece}]({entry.link})" if entry else piece for piece, entry in found)


def _words(verdict: Verdict, entry: InstanceEntry | MutantEntry) -> str:
    where = f"mutant `{entry.name}`" if isinstance(entry, MutantEntry) else f"instance `{entry.name}`"
    if verdict.outcome is Outcome.REFUTED and verdict.counterexample is not None:
        return f"**refuted** by the {where} in {len(verdict.counterexample.steps)} steps"
    if verdict.outcome is Outcome.HOLDS:
        return f"holds in the {where} ({verdict.counts['distinct']:,} states; {verdict.bounds})"
    raise BadInputError(
        f"{entry.name} decides nothing about {verdict.subject.property_id}: {verdict.reason}",
        remedy="name an entry that does",
    )


def books(manifests: Sequence[Manifest]) -> list[Book]:
    """The findings of the repository, each file with its manifest."""
    known = {manifest.name: manifest for manifest in manifests}
    found = [load_findings(path) for path in finding_files()]
    return [Book(known[content.manifest], content.finding) for content in found if content.manifest in known]


def findings_text(manifests: Sequence[Manifest]) -> str:
    """The index: the text of ``FINDINGS.md``."""
    return "\n".join([_HEAD, *_contents(books(manifests))]) + "\n"


def found_in(manifests: Sequence[Manifest], only: str) -> tuple[Book, Finding]:
    """The finding of that id, and its book. Raises BadInputError if there is none."""
    known = {finding.id: (book, finding) for book in books(manifests) for finding in book.findings}
    if only not in known:
        remedy = known_names(only, known, lists="tidemark show findings")
        raise BadInputError(f"there is no finding {only!r}", remedy=remedy)
    return known[only]


def _contents(every: Sequence[Book]) -> Iterator[str]:
    """The results, a row each, by protocol. Nothing is run for it."""
    for book in every:
        yield from [
            "",
            f"## {book.manifest.name}",
            "",
            "| finding | result | outcome |",
            "| --- | --- | --- |",
        ]
        for finding in book.findings:
            outcomes = dict.fromkeys(book.expected(finding, evidence).value for evidence in finding.evidence)
            yield f'| <a id="{finding.id}"></a>`{finding.id}` | {finding.title} | {", ".join(outcomes)} |'


def sources_text(manifests: Sequence[Manifest]) -> str:
    """What ``tidemark show sources`` prints."""
    return "\n".join(_source_lines(books(manifests))) + "\n"


def _source_lines(every: Sequence[Book]) -> Iterator[str]:
    """The findings and mutants on each seed, hazard and bug, as a Markdown table. Nothing is run for it."""
    found: dict[Label, list[str]] = {}
    mutants: dict[Label, list[str]] = {}
    for book in every:
        for finding in book.findings:
            for label in _indexed(finding.source):
                found.setdefault(label, []).append(f"`{finding.id}`")
        for mutant in book.manifest.mutant:
            fate = "" if mutant.killer else " (no property tells it apart)"
            for label in _indexed(mutant.source):
                mutants.setdefault(label, []).append(f"`{mutant.name}`{fate}")
    yield from ["| source | findings | mutants that are killed |", "| --- | --- | --- |"]
    for label in sorted({*found, *mutants}, key=lambda label: label.key):
        decided, killed = ", ".join(found.get(label, [])), ", ".join(mutants.get(label, []))
        yield f"| {linked(label.text)} | {decided} | {killed} |"


def _indexed(source: str) -> tuple[Label, ...]:
    """The seeds, hazards and bugs of a text; facts and properties are not what a finding decides."""
    return tuple(label for label in labels_in(source) if label.family in _INDEXED)
