"""What the last run measured about some protocols, as Markdown, and what became of each hazard and bug.

All of it is counted from the verdicts; nothing is judged for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tidemark.checks.report.findings import Book, books
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.result import RunResult
from tidemark.checks.verdicts.verdict import Aspect, Judgement, Outcome
from tidemark.models.manifest import Manifest
from tidemark.models.sources import Family, Label, labels_in

_SEARCHES = ("explore", "distribute", "interpreted")
_GENERATED = {
    "generated-mutants": "mutants of the specification, generated",
    "implementation-mutants": "mutants of the implementation, generated",
}
"""Claim id of a count by fate -> the row that shows it; an entry may try a sample of them."""
_NO_FATE = ("executions", "pins", "names_crc32")
"""What stands beside the fates in such a count."""
_NAMED = 6
"""Entries that are named for one verdict of one judge; of more the number is given."""
_NOTHING = "none in this run"
_NOT_JUDGED = "not judged in this run"
_Found = dict[Label, dict[str, dict[str, dict[str, None]]]]
"""Label -> verdict -> judge -> names of entries, in the order in which they were found."""


def figures_text(result: RunResult, manifests: Sequence[Manifest], names: Sequence[str]) -> str:
    """The figures of the protocols ``names``, and the verdict and judge for each of their hazards and bugs.

    Raises BadInputError for a name that no manifest has, and for a protocol of which the run judged nothing.
    """
    known = {manifest.name: manifest for manifest in manifests}
    judged = {one.verdict.subject.protocol for one in result.judgements}
    for name in names:
        if name not in known:
            every = ", ".join(sorted(known))
            raise BadInputError(f"there is no protocol {name!r}", remedy=f"name some of: {every}")
        if name not in judged:
            raise BadInputError(f"the last run judged nothing of {name!r}", remedy="run  tidemark verify")
    chosen = [_Part(result, (known[name],)) for name in names]
    whole = _Part(result, tuple(known[name] for name in names))
    columns = [*chosen, whole] if len(chosen) > 1 else chosen
    rows = [list(part.figures().values()) for part in columns]
    heads = [*names, *["together"] * (len(chosen) > 1)]
    lines = [f"tier {result.tier}, {result.done:,} of {result.planned:,} checks. {result.summary()}", ""]
    lines += _table(["figure", *heads], zip(whole.figures(), *rows, strict=True))
    return "\n".join([*lines, "", *_table(["source", "verdict", "judge"], whole.labels())]) + "\n"


def of_protocols(result: RunResult, manifests: Sequence[Manifest], names: Sequence[str]) -> RunResult:
    """What a run found out about these protocols alone; its exit code is theirs."""
    entries = {entry.name for one in manifests if one.name in names for entry in one.entries()}
    judgements = tuple(one for one in result.judgements if one.verdict.subject.protocol in names)
    unjudged = tuple(one for one in result.unjudged if one.task.partition("/")[2] in entries)
    return result.model_copy(update={"judgements": judgements, "unjudged": unjudged})


def _table(heads: Sequence[str], rows: Iterator[Sequence[str]] | zip[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"| {' | '.join('---' for _ in heads)} |"
    yield from (f"| {' | '.join(row)} |" for row in rows)


@dataclass(frozen=True)
class _Part:
    """The verdicts of a run on the protocols of some manifests."""

    result: RunResult
    manifests: tuple[Manifest, ...]

    @cached_property
    def _judgements(self) -> tuple[Judgement, ...]:
        return self._run.judgements

    @cached_property
    def _run(self) -> RunResult:
        return of_protocols(self.result, self.manifests, [one.name for one in self.manifests])

    @cached_property
    def _books(self) -> list[Book]:
        return books(self.manifests)

    @cached_property
    def _by_place(self) -> Mapping[tuple[str, str], list[Judgement]]:
        """Instance and claim -> the judgements, one a judge; pins are none."""
        found: dict[tuple[str, str], list[Judgement]] = {}
        for one in self._judgements:
            subject = one.verdict.subject
            if subject.aspect is not Aspect.PIN:
                found.setdefault((subject.instance, subject.property_id), []).append(one)
        return found

    @cached_property
    def _of_mutants(self) -> Mapping[str, list[Judgement]]:
        """Mutant by hand -> what became of it."""
        found: dict[str, list[Judgement]] = {m.name: [] for one in self.manifests for m in one.mutant}
        for one in self._judgements:
            if one.verdict.subject.of_mutant and one.verdict.subject.instance in found:
                found[one.verdict.subject.instance].append(one)
        return found

    def figures(self) -> dict[str, str]:
        """The figures with their names, the same names for any protocols."""
        wrong = len(self._run.failures) + len(self._run.unjudged)
        return {
            "verdicts": f"{len(self._judgements):,}, {wrong:,} not as expected",
            **self._proofs(),
            **{f"states: {name}": self._work(name, "distinct") for name in _SEARCHES},
            "executions: interleave": self._work("interleave", "executions"),
            "steps: interleave": self._work("interleave", "steps"),
            "examples: conform": self._work("conform", "examples"),
            "mutants by hand": self._by_hand(),
            **{row: self._generated(claim) for claim, row in _GENERATED.items()},
            **self._found(),
        }

    def _proofs(self) -> dict[str, str]:
        """Solver time is kept with a verdict that is taken over; the wall time of its check is not."""
        own = [one for one in self._judgements if one.verdict.subject.judge == "prove"]
        claims = [one for one in own if one.verdict.subject.aspect is Aspect.PROPERTY]
        done = [
            one.verdict.counts.get("obligations", 0)
            for one in claims
            if one.verdict.outcome is Outcome.PROVED
        ]
        solver = sum(one.verdict.seconds for one in claims)
        tasks = {f"prove/{one.verdict.subject.instance}" for one in own}
        fresh = tasks - self.result.taken_over.keys()
        wall = sum(self.result.task_seconds.get(task, 0.0) for task in fresh)
        old = f", {len(tasks - fresh)} of {len(tasks)} taken over" * (fresh != tasks)
        return {
            "obligations proved": f"{sum(done):,} ({len(done)} of {len(claims)} claims)" if own else _NOTHING,
            "seconds of the solver": f"{solver:.1f}" if own else _NOTHING,
            "seconds of the proofs' checks, wall time": f"{wall:.1f}{old}" if own else _NOTHING,
        }

    def _work(self, judge: str, count: str) -> str:
        """All verdicts of one search share its work."""
        searches: dict[str, int] = {}
        for one in self._judgements:
            subject, counts = one.verdict.subject, one.verdict.counts
            if subject.judge == judge and subject.aspect is not Aspect.PIN and count in counts:
                searches[subject.instance] = max(searches.get(subject.instance, 0), counts[count])
        if not searches:
            return _NOTHING
        entries = f"{len(searches)} {'entry' if len(searches) == 1 else 'entries'}"
        return f"{sum(searches.values()):,} in {entries}, largest {max(searches.values()):,}"

    def _by_hand(self) -> str:
        fates = Counter(_word(one) for group in self._of_mutants.values() for one in group)
        return _fates(fates, made=fates.total())

    def _generated(self, claim: str) -> str:
        fates = Counter[str]()
        for one in self._judgements:
            if one.verdict.subject.property_id == claim:
                fates.update({k: n for k, n in one.verdict.counts.items() if k not in _NO_FATE})
        return _fates(fates, made=fates.total())

    def _found(self) -> dict[str, str]:
        pieces = Counter[str]()
        number = 0
        for book in self._books:
            for finding in book.findings:
                number += 1
                for evidence in finding.evidence:
                    found = self._by_place.get((evidence.entry, evidence.claim), [])
                    pieces.update({self._verdict(one) for one in found} or {_NOT_JUDGED})
        said = ", ".join(f"{count:,} {word}" for word, count in sorted(pieces.items()))
        return {"findings": f"{number:,}", "their evidence": said or _NOTHING}

    def _verdict(self, one: Judgement) -> str:
        subject, word = one.verdict.subject, _word(one)
        frame = subject.property_id in self.result.frames and one.verdict.outcome is not Outcome.REFUTED
        return f"{word} (a frame condition)" if frame and not subject.of_mutant else word

    def labels(self) -> Iterator[tuple[str, str, str]]:
        """Hazard or bug, verdict, and who says so: what findings rest on, then mutants that name it."""
        found: _Found = {}

        def add(source: str, entry: str, judged: Sequence[Judgement]) -> None:
            pairs = [(self._verdict(one), one.verdict.subject.judge) for one in judged]
            for label in _hazards(source):
                for word, judge in pairs or [(_NOT_JUDGED, "")]:
                    found.setdefault(label, {}).setdefault(word, {}).setdefault(judge, {})[entry] = None

        for book in self._books:
            for finding in book.findings:
                for piece in finding.evidence:
                    add(finding.source, piece.entry, self._by_place.get((piece.entry, piece.claim), []))
        for mutant in (mutant for one in self.manifests for mutant in one.mutant):
            add(mutant.source, mutant.name, self._of_mutants.get(mutant.name, []))
        self._of_claims(found)
        for label in sorted(found, key=lambda label: label.key):
            for word, judges in sorted(found[label].items()):
                yield label.text, word, "; ".join(_entries(judge, names) for judge, names in judges.items())

    def _of_claims(self, found: _Found) -> None:
        """A label that claims alone name is decided by what is said of them."""
        known = set(found)
        for one in self._judgements:
            subject = one.verdict.subject
            note = self.result.sources.get(subject.property_id)
            if note is None or subject.aspect is not Aspect.PROPERTY or subject.judge == "argue":
                continue  # an argument says who guarantees a claim, not whether it is true
            for label in set(_hazards(note.text)) - known:
                judges = found.setdefault(label, {}).setdefault(self._verdict(one), {})
                judges.setdefault(subject.judge, {})[subject.instance] = None


def _hazards(source: str) -> tuple[Label, ...]:
    return tuple(label for label in labels_in(source) if label.family in (Family.HAZARD, Family.BUG))


def _word(one: Judgement) -> str:
    """The verdict in a word; in capitals and with what was expected, if it is not that."""
    outcome = one.verdict.outcome
    if not one.ok:
        return f"{outcome.value.upper()}, expected {one.expected.value}"
    if one.verdict.subject.of_mutant:
        return "killed" if outcome is Outcome.REFUTED else "equivalent"
    return outcome.value


def _fates(fates: Mapping[str, int], *, made: int) -> str:
    """What is killed comes first."""
    ordered = sorted(fates.items(), key=lambda item: (item[0] != "killed", item[0]))
    said = ", ".join(f"{count:,} {fate.replace('_', ' ')}" for fate, count in ordered if count)
    return f"{made:,} made: {said}" if made else _NOTHING


def _entries(judge: str, names: Mapping[str, None]) -> str:
    shown = ", ".join(f"`{name}`" for name in list(names)[:_NAMED])
    more = f" and {len(names) - _NAMED} more" * (len(names) > _NAMED)
    return (f"{judge}: " if judge else "") + shown + more
