"""The judge ``explore``: all states of a bounded instance, visited by the compiled kernel, breadth-first.

One verdict for each claim; claims that are refuted each get their own shortest counterexample, for the
search goes on. Counts are TLC's (distinct, generated, depth). A search that was stopped decides nothing but
what it has refuted or reached.

Does a search look at anything? Actions that never fire, guard conjuncts that are never true, variables
that never change.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tidemark.checks.explore.lasso import failing_text
from tidemark.checks.explore.liveness import LivenessChecker, bounds_note, cut_arguments
from tidemark.checks.explore.replay import replay_command
from tidemark.checks.verdicts.commands import check_command
from tidemark.checks.verdicts.counterexample import Shape
from tidemark.checks.verdicts.errors import BadInputError, StoppedError, UnsoundCombinationError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.progress import Progress, silent
from tidemark.checks.verdicts.trace import counterexample, failing_at_end
from tidemark.checks.verdicts.verdict import (
    COVERAGE,
    RUN_STEPS,
    Aspect,
    Searched,
    Subject,
    Verdict,
    amended,
    holds,
    inconclusive,
    refuted,
)
from tidemark.models.digest import instance_digest
from tidemark.models.instance import Instance
from tidemark.models.manifest import AnyEntry, InstanceEntry, Kind, instance_of
from tidemark.models.native.codec import Field
from tidemark.models.native.errors import SavedSearchError
from tidemark.models.native.graph import build_graph, bytes_needed
from tidemark.models.native.kernel import Conditions, compile_kernel
from tidemark.models.native.search.breadth_first import Search, SearchLimits, Watch, estimate
from tidemark.models.native.search.checkpoint import load, save
from tidemark.models.native.search.path import Path as Run
from tidemark.models.native.search.path import path_to
from tidemark.models.native.search.result import Hit, SearchResult
from tidemark.spec.language.expr import Expr, Quantified
from tidemark.spec.language.render import render
from tidemark.spec.language.spec import Action, Property
from tidemark.spec.language.types import BOOL


def refuse_liveness(instance: Instance, properties: Sequence[str] | None) -> None:
    """Symmetry and liveness do not go together: a cycle of representatives need not be a cycle of states.

    Raises UnsoundCombinationError that names the first leads_to among the properties (all if None).
    """
    spec = instance.spec
    chosen = spec.properties if properties is None else [spec.property(name) for name in properties]
    for prop in chosen:
        if prop.kind == "leads_to":
            raise UnsoundCombinationError(
                f"{instance.name}: {prop.id} is a liveness property, which symmetry cannot decide",
                remedy="judge it on an instance without symmetry",
            )


BLOCK = 1 << 18


@dataclass(frozen=True)
class Vacuous:
    """One thing that says nothing. ``id`` is the verdict's property id, for example
    ``vacuity.action.seal``.
    """

    id: str
    reason: str


@dataclass(frozen=True)
class Coverage:
    """What a complete search has covered. ``cut``: what only the bounds keep from happening, as sentences."""

    vacuous: tuple[Vacuous, ...]
    cut: tuple[str, ...]
    checked: int


def coverage(result: SearchResult) -> Coverage:
    """Look for vacuous parts of a complete search.

    An action all of whose steps leave the bounds did fire: it is no fault of the protocol, and is only
    noted. So is a variable that only such actions write.
    """
    spec = result.kernel.instance.spec
    generated, out_of_bounds = result.generated_by_action(), result.out_of_bounds_by_action()
    never = [action for action in spec.actions if generated[action.name] == 0]
    cut = {a.name for a in spec.actions if generated[a.name] and generated[a.name] == out_of_bounds[a.name]}
    vacuous = [item for action in never for item in _never_fired(result, action)]
    notes = [f"every step of {name} leaves the bounds" for name in sorted(cut)]
    constant = set(_constant_fields(result))
    for field in result.kernel.codec.fields:
        name = field.variable.name
        writers = {action.name for action in spec.actions if field.variable in action.writes}
        if name not in constant:
            continue
        if field.value.size == 1 or (writers and writers <= cut):
            notes.append(f"{name} never changes within the bounds")
        else:
            vacuous.append(Vacuous(f"vacuity.variable.{name}", f"the variable {name} never changes"))
    return Coverage(
        tuple(vacuous), tuple(notes), len(spec.actions) + result.kernel.plan.guards + len(spec.variables)
    )


def _never_fired(result: SearchResult, action: Action) -> Iterator[Vacuous]:
    yield Vacuous(f"vacuity.action.{action.name}", f"the action {action.name} never fires")
    if not action.guards:
        return
    conditions = [_for_some(action, guard.expr) for guard in action.guards]
    compiled = Conditions(result.kernel.instance, conditions)
    union = np.zeros(max(1, -(-len(conditions) // 64)), dtype=np.uint64)
    for first in range(0, result.distinct, BLOCK):
        union |= np.bitwise_or.reduce(compiled.evaluate(result.states[first : first + BLOCK]), axis=0)
    held = [bool(int(union[i // 64]) >> (i % 64) & 1) for i in range(len(conditions))]
    for number, guard in enumerate(action.guards):
        if not held[number]:
            text = guard.text or render(guard.expr)
            yield Vacuous(
                f"vacuity.guard.{action.name}.{number + 1}",
                f"conjunct {number + 1} of the guard of {action.name} is never true: {text}",
            )


def _for_some(action: Action, expr: Expr) -> Expr:
    return Quantified(BOOL, "exists", action.params, expr) if action.params else expr


def _constant_fields(result: SearchResult) -> Iterator[str]:
    """Variables that have one value in all states."""
    states = result.states
    differs = np.zeros(states.shape[1], dtype=np.uint64)
    for first in range(0, len(states), BLOCK):
        differs |= np.bitwise_or.reduce(states[first : first + BLOCK] ^ states[0], axis=0)
    if result.symmetry is not None:  # what is the same in all representatives need not be so in all states
        for renaming in result.symmetry.renamings:
            differs |= result.symmetry.image(states[0], renaming) ^ states[0]
    for field in result.kernel.codec.fields:
        if not any(int(differs[word]) & mask for word, mask in _masks(field)):
            yield field.variable.name


def _masks(field: Field) -> Iterator[tuple[int, int]]:
    for run in field.runs:
        yield run.word, ((1 << run.count * field.bits) - 1) << run.shift


NAME = "explore"
DEADLOCK = "deadlock"


def search(
    instance: Instance,
    *,
    limits: SearchLimits | None = None,
    progress: Progress = silent,
    saved: Path | None = None,
    workers: int | None = None,
    symmetry: Sequence[str] = (),
) -> SearchResult:
    """Visit all states of an instance, with all cores if ``workers`` is None, up to renamings of the sorts
    of ``symmetry``.

    A search that the user stops is written to ``saved`` and gone on with at the next call; StoppedError
    says so. Raises NativeError for an instance that does not fit into packed words, BadInstance for bad
    constants.
    """
    kernel = compile_kernel(instance)
    progress(0, unit="states", note=str(estimate(kernel, limits or SearchLimits())))
    running = Search(kernel, limits, workers=workers, symmetry=symmetry)
    if saved is not None and saved.exists():
        with suppress(SavedSearchError):  # of another version of the protocol: search anew
            running = load(saved, kernel, limits, workers=workers, symmetry=symmetry)
    result = running.run(_watch(progress))
    if running.interrupted:
        if saved is not None:
            save(running, saved)
        raise StoppedError(
            f"the search of {instance.name} was stopped after {result.distinct} states, depth {result.depth}",
            remedy="run it again: it continues where it stopped" if saved is not None else "run it again",
            saved=saved,
        )
    if saved is not None:
        saved.unlink(missing_ok=True)
    return result


def _watch(progress: Progress) -> Watch:
    def watch(*, distinct: int, frontier: int, depth: int, rate: float, trend: float) -> None:
        course = f" (levels x{trend:.2f})" if trend else ""
        progress(distinct, unit="states", note=f"depth {depth}, frontier {frontier}{course}, {rate:,.0f}/s")

    return watch


def explore(
    instance: Instance,
    *,
    protocol: str = "",
    properties: Sequence[str] | None = None,
    progress: Progress = silent,
    limits: SearchLimits | None = None,
    deadlock: bool = False,
    saved: Path | None = None,
    workers: int | None = None,
    symmetry: Sequence[str] = (),
) -> list[Verdict]:
    """Verdicts on the properties (all of them if None), on ``deadlock`` if asked for, and on coverage.

    ``protocol`` is the manifest's name in the verdicts. Raises what ``search`` raises; KeyError for an
    unknown property.
    """
    if symmetry:
        refuse_liveness(instance, properties)
    result = search(
        instance, limits=limits, progress=progress, saved=saved, workers=workers, symmetry=symmetry
    )
    return verdicts(result, protocol=protocol, properties=properties, limits=limits, deadlock=deadlock)


def verdicts(
    result: SearchResult,
    *,
    protocol: str = "",
    properties: Sequence[str] | None = None,
    limits: SearchLimits | None = None,
    deadlock: bool = False,
) -> list[Verdict]:
    """What a search says about an instance."""
    spec = result.kernel.instance.spec
    chosen = spec.properties if properties is None else [spec.property(name) for name in properties]
    report = _Report(result, protocol or spec.name.lower(), limits or SearchLimits())
    found = [report.claim(prop) for prop in chosen if prop.kind != "leads_to"]
    live = [prop for prop in chosen if prop.kind == "leads_to"]
    found += report.live(live) if live else []
    if deadlock:
        found.append(report.deadlock())
    return found + report.coverage()


@dataclass(frozen=True)
class _Report:
    result: SearchResult
    protocol: str
    limits: SearchLimits

    @property
    def instance(self) -> Instance:
        return self.result.kernel.instance

    @property
    def counts(self) -> dict[str, int]:
        result = self.result
        return {
            "distinct": result.distinct,
            "generated": result.generated,
            "depth": result.depth,
            "outside": result.out_of_bounds,
        } | ({} if result.symmetry is None else {"unreduced": result.unreduced})

    @property
    def bounds(self) -> str:
        symmetry = self.result.symmetry
        alike = (
            "" if symmetry is None else f"; elements of {', '.join(symmetry.sorts)} identified by symmetry"
        )
        return self.instance.bounds_text() + alike

    @property
    def searched(self) -> Searched:
        seconds = self.result.totals.seconds
        return {"counts": self.counts, "bounds": self.bounds, "seconds": seconds, "replay": self.command}

    @property
    def rates(self) -> dict[str, float]:
        return {"states_per_second": self.result.rate, "bytes_per_state": self.result.visited.bytes_per_state}

    @property
    def command(self) -> str:
        return check_command(NAME, self.instance.name)

    def subject(self, claim: str, aspect: Aspect = Aspect.PROPERTY) -> Subject:
        return Subject(
            protocol=self.protocol, property_id=claim, judge=NAME, instance=self.instance.name, aspect=aspect
        )

    def claim(self, prop: Property) -> Verdict:
        """Invariant, lemma, transition invariant or witness."""
        hit = self.result.hit(prop)
        if prop.kind == "reachable":
            return self._witness(prop, hit)
        if hit is not None:
            run = path_to(self.result, hit)
            failing = failing_at_end(self.result.kernel.interpreter, prop, run.states)
            shown = self._shown(prop.id, run, failing)
            return amended(shown, counts=shown.counts | {RUN_STEPS: len(run.steps)})
        return self._holds(self.subject(prop.id))

    def _holds(self, subject: Subject, *, notes: tuple[str, ...] = ()) -> Verdict:
        if not self.result.complete:
            return self._unknown(subject, self.result.stopped)
        return self._seen(subject, notes=notes)

    def _seen(self, subject: Subject, *, notes: tuple[str, ...]) -> Verdict:
        return holds(subject, **self.searched, rates=self.rates, notes=notes)

    def _unknown(self, subject: Subject, reason: str) -> Verdict:
        covered = f"covered so far: {self.result.distinct} states, {self.result.depth} levels"
        return inconclusive(subject, reason=f"{reason}; {covered}", **self.searched)

    def _witness(self, prop: Property, hit: Hit | None) -> Verdict:
        subject = self.subject(prop.id, Aspect.VACUITY)
        if hit is not None:
            steps = len(path_to(self.result, hit).steps)
            return self._seen(subject, notes=(f"reached after {steps} steps",))
        if not self.result.complete:
            return self._unknown(subject, self.result.stopped)
        return refuted(subject, reason=f"not reached within the bounds: {prop.description}", **self.searched)

    def _shown(
        self, claim: str, run: Run, failing: str, *, replay: str = "", notes: tuple[str, ...] = ()
    ) -> Verdict:
        shown = counterexample(
            self.instance,
            states=run.states,
            steps=run.steps,
            failing=failing,
            shape=Shape.RUN if run.loop_start is None else Shape.LASSO,
            loop_start=run.loop_start,
        )
        replay = replay or replay_command(
            self.result.kernel.interpreter,
            entry=self.instance.name,
            property_id=claim,
            initial=run.states[0],
            steps=run.steps,
            loop_start=run.loop_start,
        )
        whole: Searched = {**self.searched, "replay": replay}
        return refuted(self.subject(claim), counterexample=shown, **whole, rates=self.rates, notes=notes)

    def deadlock(self) -> Verdict:
        """Is there a state without any enabled step?"""
        state = self.result.totals.first_deadlock
        if state is None:
            return self._holds(self.subject(DEADLOCK))
        run = path_to(self.result, Hit(state))
        return self._shown(DEADLOCK, run, "no step is enabled", replay=self.command)

    def live(self, props: Sequence[Property]) -> list[Verdict]:
        """Verdicts on leads_to properties, which need the whole graph."""
        if not self.result.complete:
            return [self._unknown(self.subject(prop.id), self.result.stopped) for prop in props]
        room, needed = self.limits.memory, bytes_needed(self.result)
        if room is not None and needed > room:
            reason = f"the graph takes {needed} bytes, more than the memory bound of {room}; raise the bound"
            return [self._unknown(self.subject(prop.id), reason) for prop in props]
        checker = LivenessChecker(build_graph(self.result))
        return [self._live(checker, prop) for prop in props]

    def _live(self, checker: LivenessChecker, prop: Property) -> Verdict:
        answer = checker.check(prop)
        if answer.lasso is not None:
            assert answer.case is not None
            cut = cut_arguments(self.result.kernel.interpreter, prop, answer.lasso)
            notes = (*([cut] if cut else []), bounds_note(self.result))
            return self._shown(prop.id, answer.lasso, failing_text(prop, answer.case), notes=notes)
        if not answer.waiting:
            return self._unknown(
                self.subject(prop.id), "nothing was decided: the premise never holds without the conclusion"
            )
        verdict = self._holds(self.subject(prop.id), notes=(f"{answer.waiting} waiting states",))
        return amended(
            verdict,
            bounds=f"{self.bounds}; {bounds_note(self.result)}",
            counts={**verdict.counts, "edges": checker.graph.edges},
        )

    def coverage(self) -> list[Verdict]:
        """One verdict on the whole, and one for each thing that is vacuous."""
        whole = self.subject(COVERAGE, Aspect.VACUITY)
        if not self.result.complete:
            return [self._unknown(whole, self.result.stopped)]
        found: Coverage = coverage(self.result)
        if not found.vacuous:
            return [self._holds(whole, notes=found.cut)]
        parts = [(item.id, item.reason) for item in found.vacuous]
        parts.append((COVERAGE, "; ".join(item.reason for item in found.vacuous)))
        return [
            refuted(self.subject(claim, Aspect.VACUITY), reason=reason, **self.searched, notes=found.cut)
            for claim, reason in parts
        ]


class ExploreJudge:
    """Searches manifest instances natively."""

    name = NAME
    kinds = frozenset({Kind.INVARIANT, Kind.LEMMA, Kind.TRANSITION, Kind.REACHABLE, Kind.LEADS_TO})

    def run(self, entry: AnyEntry, context: Context) -> list[Verdict]:
        """Verdicts on the pinned claims of an instance.

        Raises StoppedError with the saved search if the user stops it; BadInputError for an entry of
        another kind.
        """
        if not isinstance(entry, InstanceEntry):
            raise BadInputError(f"{entry.name} is not an instance", remedy="explore judges instances only")
        instance = instance_of(entry)
        return explore(
            instance,
            protocol=context.manifest.name,
            properties=context.manifest.claims_of(entry, self.kinds),
            progress=context.progress,
            saved=context.build / "searches" / f"{entry.name}-{instance_digest(instance)}.npz",
            limits=SearchLimits(memory=context.memory),
            workers=context.workers,
            symmetry=entry.symmetry,
        )


JUDGE = ExploreJudge()
