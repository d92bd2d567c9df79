"""Does a claim notice that something is wrong? The baseline is looked at first, then each mutant."""

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from tidemark.checks.explore.liveness import LivenessChecker
from tidemark.checks.verdicts.counterexample import Counterexample, Shape
from tidemark.checks.verdicts.trace import counterexample, failing_at_end
from tidemark.checks.verdicts.verdict import COVERAGE, NOT_GREEN
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import BelowZeroError, Step
from tidemark.models.native.codec import State
from tidemark.models.native.graph import build_graph
from tidemark.models.native.parts import KernelOfParts, PartsLibrary
from tidemark.models.native.search.breadth_first import Search, SearchLimits
from tidemark.models.native.search.path import Path, path_to
from tidemark.models.native.search.result import Hit, SearchResult
from tidemark.spec.language.spec import Property


class Fate(StrEnum):
    """The answers that a mutant can get."""

    KILLED = "killed"
    EQUIVALENT = "equivalent within bounds"
    """Its steps are the protocol's from every state that the protocol can reach within the bounds."""
    SURVIVED = "survived"
    """It behaves differently and no claim notices."""
    UNDECIDED = "undecided"
    """The search was stopped by a limit, or the baseline is not green."""


@dataclass(frozen=True, kw_only=True)
class MutantResult:
    """The fate of one mutant. ``killer`` is the id of the claim that is refuted, ``kind`` its kind.

    ``change`` is what was made wrong, as text; ``distinct`` counts the states that were visited.
    """

    id: str
    fate: Fate
    change: str = ""
    killer: str = ""
    kind: str = ""
    reason: str = ""
    distinct: int = 0
    seconds: float = 0.0
    counterexample: Counterexample | None = None


@dataclass(frozen=True)
class Summary:
    """Counts by fate."""

    total: int
    killed: int
    equivalent: int
    survived: int
    undecided: int

    def __str__(self) -> str:
        parts = [f"{self.killed} of {self.total - self.equivalent} mutants killed"]
        parts += [f"{self.equivalent} equivalent within bounds"] if self.equivalent else []
        parts += [f"{self.survived} survived"] if self.survived else []
        parts += [f"{self.undecided} undecided"] if self.undecided else []
        return ", ".join(parts)


def summary(results: list[MutantResult]) -> Summary:
    """Count results by fate."""
    fates = [result.fate for result in results]
    return Summary(
        len(fates),
        fates.count(Fate.KILLED),
        fates.count(Fate.EQUIVALENT),
        fates.count(Fate.SURVIVED),
        fates.count(Fate.UNDECIDED),
    )


TYPES = "types"
"""The killer of a generated mutant that makes a natural number negative: no claim is needed to notice it."""
CHUNK = 2048
"""States that are expanded together: a violation is looked for after each chunk."""


@dataclass(frozen=True)
class Baseline:
    """The protocol itself on the instance, completely searched; ``claims`` are those that mutants must break.

    ``problems`` is empty if the baseline is green: every claim holds, every witness is reached.
    """

    instance: Instance
    claims: tuple[Property, ...]
    library: PartsLibrary
    kernel: KernelOfParts
    found: SearchResult
    problems: tuple[str, ...]

    def of_kind(self, *kinds: str) -> tuple[Property, ...]:
        """Claims of these kinds."""
        return tuple(claim for claim in self.claims if claim.kind in kinds)


def baseline(instance: Instance, *, claims: Collection[str] | None = None, limits: SearchLimits) -> Baseline:
    """Search the protocol itself. ``claims``: ids of those that hold on this instance; all if None."""
    library = PartsLibrary()
    kernel = KernelOfParts(instance, library)
    chosen = tuple(claim for claim in instance.spec.properties if claims is None or claim.id in claims)
    found, fell = _searched(kernel, limits)
    if fell is not None:
        raise fell
    problems = [] if found.complete else [f"the search of the protocol itself is incomplete: {found.stopped}"]
    if claims is not None:
        problems += [f"unknown claim {claim!r}" for claim in sorted({*claims} - {c.id for c in chosen})]
    problems += [f"{claim.id} is refuted" for claim, _ in _broken(found, chosen)]
    if found.complete:
        problems += [f"the witness {claim.id} is not reached" for claim in _unreached(found, chosen)]
        lasso = _first_lasso(found, (claim for claim in chosen if claim.kind == "leads_to"))
        problems += [f"{lasso[0].id} is refuted"] if lasso is not None else []
    if not chosen:
        problems.append("there is no claim that could kill a mutant")
    return Baseline(instance, chosen, library, kernel, found, tuple(problems))


def _searched(
    kernel: KernelOfParts, limits: SearchLimits, stop_on: Iterable[str] = ()
) -> tuple[SearchResult, BelowZeroError | None]:
    """The native search on one core: mutants share the cores, not the search of one of them. With the error
    of the protocol that has ended it, if any.

    Raises KeyboardInterrupt if the user stopped it.
    """
    running = Search(kernel, replace(limits, stop_on=frozenset(stop_on)), chunk=CHUNK, workers=1)
    try:
        found = running.run()
    except BelowZeroError as error:
        return running.result(str(error)), error
    if running.interrupted:
        raise KeyboardInterrupt
    return found, None


def _broken(found: SearchResult, claims: Iterable[Property]) -> list[tuple[Property, Hit]]:
    """The claims about states and steps that were broken, each with the first place."""
    kinds = ("invariant", "lemma", "transition_invariant")
    hits = [(claim, found.hit(claim)) for claim in claims if claim.kind in kinds]
    return [(claim, hit) for claim, hit in hits if hit is not None]


def _unreached(found: SearchResult, claims: Iterable[Property]) -> list[Property]:
    return [claim for claim in claims if claim.kind == "reachable" and found.hit(claim) is None]


def _first_lasso(found: SearchResult, claims: Iterable[Property]) -> tuple[Property, Path] | None:
    """The first of the leads_to claims that a complete search refutes, with its lasso."""
    claims = tuple(claims)
    checker = LivenessChecker(build_graph(found)) if claims else None
    for claim in claims:
        assert checker is not None
        path = checker.check(claim).lasso
        if path is not None:
            return claim, path
    return None


def _fired(found: SearchResult) -> list[str]:
    """Actions that were taken within the bounds."""
    inside = found.totals.generated - found.totals.out_of_bounds
    actions = found.kernel.instance.spec.actions
    return [action.name for action, count in zip(actions, inside.tolist(), strict=True) if count]


def _first_step(kernel: KernelOfParts, found: SearchResult, action: str) -> Hit:
    """The first place where an action is taken within the bounds. Raises LookupError if there is none."""
    part = kernel.parts[action]
    offset = kernel.plan.first_step[list(kernel.parts).index(action)]
    for first in range(0, found.distinct, part.chunk):
        seen = part.expand(found.states[first : first + part.chunk])
        if len(seen.step):
            at = int(np.argmin(seen.parent))
            target = tuple(seen.successors[at].tolist())
            return Hit(first + int(seen.parent[at]), offset + int(seen.step[at]), target)
    raise LookupError(f"{action} is never taken")


def assess(
    base: Baseline,
    instance: Instance,
    mutant_id: str,
    *,
    change: str,
    limits: SearchLimits,
    only: str | None = None,
) -> MutantResult:
    """The fate of a mutant. ``only``: no other claim counts as its killer."""
    begun = time.perf_counter()
    blank = MutantResult(id=mutant_id, change=change, fate=Fate.UNDECIDED)
    found = _Assessment(base, instance, blank, limits, only).result()
    return replace(found, seconds=time.perf_counter() - begun)


class _Assessment:
    def __init__(
        self, base: Baseline, instance: Instance, blank: MutantResult, limits: SearchLimits, only: str | None
    ) -> None:
        self.base, self.instance, self.blank, self.limits, self.only = base, instance, blank, limits, only
        self.kernel = KernelOfParts(instance, base.library)

    def claims(self, *kinds: str) -> tuple[Property, ...]:
        """The mutant's own reading of the claims that may kill it."""
        wanted = {claim.id for claim in self.base.of_kind(*kinds) if self.only in (None, claim.id)}
        return tuple(claim for claim in self.instance.spec.properties if claim.id in wanted)

    def result(self) -> MutantResult:
        if self.base.problems:
            return self._undecided(f"{NOT_GREEN}: {self.base.problems[0]}")
        if self.only is None and not self._differs():
            return self._equivalent()
        kinds = ("invariant", "transition_invariant", *(("lemma",) if self.only is not None else ()))
        safety = self.claims(*kinds)
        found, fell = _searched(self.kernel, self.limits, (claim.id for claim in safety))
        self.blank = replace(self.blank, distinct=found.distinct)
        if fell is not None and self.only is None and not _broken(found, safety):
            example = self._shown(self.instance, fell.states, fell.steps, f"{fell.step} {fell.below}")
            return self._killed(TYPES, TYPES, example)
        return self._judged(found, safety)

    def _differs(self) -> bool:
        if self.instance.spec.variables != self.base.instance.spec.variables:
            return True
        return self.kernel.differs(self.base.kernel, self.base.found.states)

    def _undecided(self, reason: str) -> MutantResult:
        return replace(self.blank, fate=Fate.UNDECIDED, reason=reason)

    def _equivalent(self) -> MutantResult:
        count = self.base.found.distinct
        reason = f"its steps are the protocol's from each of the {count} reachable states"
        return replace(self.blank, fate=Fate.EQUIVALENT, reason=reason, distinct=count)

    def _judged(self, found: SearchResult, safety: tuple[Property, ...]) -> MutantResult:
        broken = _broken(found, safety)
        if broken:
            return self._by_run(found, *min(broken, key=lambda item: item[1].state))
        if not found.complete:
            return self._undecided(found.stopped)
        killed = self._by_absence(found) or self._by_lasso(found)
        if killed is not None:
            return killed
        lemmas = _broken(found, self.claims("lemma"))
        if lemmas:
            return self._by_run(found, *min(lemmas, key=lambda item: item[1].state))
        if self.only is not None and not self._differs():
            return self._equivalent()
        every = _broken(found, self.instance.spec.properties)
        others = sorted({claim.id for claim, _ in every} - {self.only})
        noticed = f"; {others[0]} does" if others else ""
        who = f"{self.only} does not tell" if self.only else "no claim tells"
        return replace(self.blank, fate=Fate.SURVIVED, reason=f"{who} it from the protocol{noticed}")

    def _killed(self, killer: str, kind: str, example: Counterexample) -> MutantResult:
        return replace(self.blank, fate=Fate.KILLED, killer=killer, kind=kind, counterexample=example)

    def _by_run(self, found: SearchResult, claim: Property, hit: Hit) -> MutantResult:
        path = path_to(found, hit)
        failing = failing_at_end(self.kernel.interpreter, claim, path.states)
        return self._killed(
            claim.id, claim.kind, self._shown(self.instance, path.states, path.steps, failing)
        )

    def _shown(
        self, instance: Instance, states: Sequence[State], steps: Sequence[Step], failing: str
    ) -> Counterexample:
        return counterexample(instance, states=states, steps=steps, failing=failing, replayable=False)

    def _by_absence(self, found: SearchResult) -> MutantResult | None:
        """A witness that is no longer reached, or an action that is never taken any more."""
        base = self.base.found
        for claim in _unreached(found, self.claims("reachable")):
            hit = base.hit(claim)
            assert hit is not None  # the baseline is green
            example = self._departure(found, hit, f"the witness {claim.id} is not reached")
            return self._killed(claim.id, claim.kind, example)
        if self.only is not None:
            return None
        fired = _fired(found)
        for action in _fired(base):
            if action not in fired:
                hit = _first_step(self.base.kernel, base, action)
                example = self._departure(found, hit, f"the action {action} is never taken")
                return self._killed(COVERAGE, COVERAGE, example)
        return None

    def _departure(self, found: SearchResult, hit: Hit, what: str) -> Counterexample:
        """The protocol's own run to the place, up to the step that the mutant cannot take."""
        path = path_to(self.base.found, hit)
        states, steps = path.states, path.steps
        number = next(
            (n for n, step in enumerate(steps) if self._after(states[n], step) != states[n + 1]),
            len(steps) - 1,
        )
        failing = (
            f"{what} in {found.distinct} states; the protocol's run gets there, "
            f"but the mutant does not take its step {number + 1}, {steps[number]}, to this state"
        )
        return self._shown(self.base.instance, states[: number + 2], steps[: number + 1], failing)

    def _after(self, state: State, step: Step) -> State | None:
        found = self.kernel.interpreter.transition(state, step)
        return found.state if found is not None and found.in_bounds else None

    def _by_lasso(self, found: SearchResult) -> MutantResult | None:
        lasso = _first_lasso(found, self.claims("leads_to"))
        if lasso is None:
            return None
        claim, path = lasso
        example = counterexample(
            self.instance,
            states=path.states,
            steps=path.steps,
            failing=f"{claim.id}: {claim.description}",
            shape=Shape.LASSO,
            loop_start=path.loop_start,
            replayable=False,
        )
        return self._killed(claim.id, claim.kind, example)
