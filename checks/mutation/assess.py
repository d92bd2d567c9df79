"""Does a claim notice that something is wrong? The baseline is looked at first, then each mutant."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, replace

from tidemark.checks.mutation.find_violation import Find, Findings, MutantLimits, find_violations
from tidemark.checks.mutation.liveness import first_lasso
from tidemark.checks.mutation.relation import Library, Relation
from tidemark.checks.mutation.result import Fate, MutantResult
from tidemark.checks.verdicts.counterexample import Counterexample, Shape
from tidemark.checks.verdicts.trace import counterexample, failing_conjunct, run_again
from tidemark.checks.verdicts.verdict import COVERAGE
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.native.codec import State
from tidemark.models.native.search.path import Path
from tidemark.spec.language.spec import Property


@dataclass(frozen=True)
class Baseline:
    """The protocol itself on the instance, completely searched; ``claims`` are those that mutants must break.

    ``problems`` is empty if the baseline is green: every claim holds, every witness is reached.
    """

    instance: Instance
    claims: tuple[Property, ...]
    library: Library
    findings: Findings
    problems: tuple[str, ...]

    def of_kind(self, *kinds: str) -> tuple[Property, ...]:
        """Claims of these kinds."""
        return tuple(claim for claim in self.claims if claim.kind in kinds)


def baseline(
    instance: Instance,
    *,
    claims: Collection[str] | None = None,
    limits: MutantLimits,
    library: Library | None = None,
) -> Baseline:
    """Search the protocol itself. ``claims``: ids of those that hold on this instance; all if None."""
    library = library if library is not None else Library()
    relation = Relation(instance, library)
    chosen = tuple(claim for claim in relation.claims() if claims is None or claim.id in claims)
    findings = find_violations(relation, stop_on=(), limits=limits)
    problems = (
        [] if findings.complete else [f"the search of the protocol itself is incomplete: {findings.stopped}"]
    )
    if claims is not None:
        problems += [f"unknown claim {claim!r}" for claim in sorted({*claims} - {c.id for c in chosen})]
    problems += [f"{claim.id} is refuted" for claim in chosen if claim.id in findings.broken]
    if findings.complete:
        unreached = [c.id for c in chosen if c.kind == "reachable" and c.id not in findings.reached]
        problems += [f"the witness {claim} is not reached" for claim in unreached]
        lasso = first_lasso(findings, (claim for claim in chosen if claim.kind == "leads_to"))
        problems += [f"{lasso.prop.id} is refuted"] if lasso is not None else []
    if not chosen:
        problems.append("there is no claim that could kill a mutant")
    return Baseline(instance, chosen, library, findings, tuple(problems))


def assess(
    base: Baseline,
    instance: Instance,
    mutant_id: str,
    *,
    change: str,
    limits: MutantLimits,
    only: str | None = None,
) -> MutantResult:
    """The fate of a mutant. ``only``: no other claim counts as its killer."""
    begun = time.perf_counter()
    blank = MutantResult(id=mutant_id, change=change, fate=Fate.UNDECIDED)
    found = _Assessment(base, instance, blank, limits, only).result()
    return replace(found, seconds=time.perf_counter() - begun)


class _Assessment:
    def __init__(
        self, base: Baseline, instance: Instance, blank: MutantResult, limits: MutantLimits, only: str | None
    ) -> None:
        self.base, self.instance, self.blank, self.limits, self.only = base, instance, blank, limits, only
        self.relation = Relation(instance, base.library)

    def claims(self, *kinds: str) -> tuple[Property, ...]:
        """The mutant's own reading of the claims that may kill it."""
        wanted = {claim.id for claim in self.base.of_kind(*kinds) if self.only in (None, claim.id)}
        return tuple(claim for claim in self.relation.claims() if claim.id in wanted)

    def result(self) -> MutantResult:
        if self.base.problems:
            return self._undecided(f"the baseline is not green: {self.base.problems[0]}")
        if self.only is None and not self._differs():
            return self._equivalent()
        kinds = ("invariant", "transition_invariant", *(("lemma",) if self.only is not None else ()))
        safety = self.claims(*kinds)
        findings = find_violations(self.relation, stop_on=[claim.id for claim in safety], limits=self.limits)
        self.blank = replace(self.blank, distinct=findings.visited.count)
        return self._judged(findings, safety)

    def _differs(self) -> bool:
        base = self.base.findings
        if self.instance.spec.variables != self.base.instance.spec.variables:
            return True
        return self.relation.differs(base.relation, base.visited.states)

    def _undecided(self, reason: str) -> MutantResult:
        return replace(self.blank, fate=Fate.UNDECIDED, reason=reason)

    def _equivalent(self) -> MutantResult:
        count = self.base.findings.visited.count
        reason = f"its steps are the protocol's from each of the {count} reachable states"
        return replace(self.blank, fate=Fate.EQUIVALENT, reason=reason, distinct=count)

    def _judged(self, findings: Findings, safety: tuple[Property, ...]) -> MutantResult:
        broken = [claim for claim in safety if claim.id in findings.broken]
        if broken:
            return self._by_run(findings, min(broken, key=lambda claim: findings.broken[claim.id].state))
        if not findings.complete:
            return self._undecided(findings.stopped)
        killed = self._by_absence(findings) or self._by_lasso(findings)
        if killed is not None:
            return killed
        lemmas = [claim for claim in self.claims("lemma") if claim.id in findings.broken]
        if lemmas:
            return self._by_run(findings, min(lemmas, key=lambda claim: findings.broken[claim.id].state))
        if self.only is not None and not self._differs():
            return self._equivalent()
        others = sorted(findings.broken.keys() - {self.only})
        noticed = f"; {others[0]} does" if others else ""
        who = f"{self.only} does not tell" if self.only else "no claim tells"

        return replace(self.blank, fate=Fate.SURVIVED, reason=f"{who} it from the protocol{noticed}")

    def _killed(self, killer: str, kind: str, example: Counterexample) -> MutantResult:
        return replace(self.blank, fate=Fate.KILLED, killer=killer, kind=kind, counterexample=example)

    def _by_run(self, findings: Findings, claim: Property) -> MutantResult:
        states, steps = _replayed(findings, findings.broken[claim.id])
        interpreter = self.relation.interpreter
        if claim.kind == "transition_invariant":
            failing = failing_conjunct(interpreter, claim, states[-2], states[-1])
        else:
            failing = failing_conjunct(interpreter, claim, states[-1])
        example = counterexample(self.instance, states=states, steps=steps, failing=failing, replayable=False)
        return self._killed(claim.id, claim.kind, example)

    def _by_absence(self, findings: Findings) -> MutantResult | None:
        """A witness that is no longer reached, or an action that is never taken any more."""
        for claim in self.claims("reachable"):
            if claim.id not in findings.reached:
                find = self.base.findings.reached[claim.id]
                example = self._departure(findings, find, f"the witness {claim.id} is not reached")
                return self._killed(claim.id, claim.kind, example)
        if self.only is not None:
            return None
        for action, find in self.base.findings.fired.items():
            if action not in findings.fired:
                example = self._departure(findings, find, f"the action {action} is never taken")
                return self._killed(COVERAGE, COVERAGE, example)
        return None

    def _departure(self, findings: Findings, find: Find, what: str) -> Counterexample:
        """The protocol's own run to the place, up to the step that the mutant cannot take."""
        states, steps = _replayed(self.base.findings, find)
        number = next(
            (n for n, step in enumerate(steps) if self._after(states[n], step) != states[n + 1]),
            len(steps) - 1,
        )
        failing = (
            f"{what} in {findings.visited.count} states; the protocol's run gets there, "
            f"but the mutant does not take its step {number + 1}, {steps[number]}, to this state"
        )
        return counterexample(
            self.base.instance,
            states=states[: number + 2],
            steps=steps[: number + 1],
            failing=failing,
            replayable=False,
        )

    def _after(self, state: State, step: Step) -> State | None:
        found = self.relation.interpreter.apply(state, step)
        return found.state if found is not None and found.in_bounds else None

    def _by_lasso(self, findings: Findings) -> MutantResult | None:
        lasso = first_lasso(findings, self.claims("leads_to"))
        if lasso is None:
            return None
        path: Path = lasso.path
        example = counterexample(
            self.instance,
            states=path.states,
            steps=path.steps,
            failing=f"{lasso.prop.id}: {lasso.prop.description}",
            shape=Shape.LASSO,
            loop_start=path.loop_start,
            replayable=False,
        )
        return self._killed(lasso.prop.id, lasso.prop.kind, example)


def _replayed(findings: Findings, find: Find) -> tuple[list[State], list[Step]]:
    """The run to the place, taken again by the interpreter, which has the last word."""
    start, steps = findings.run_to(find)
    return run_again(findings.relation.interpreter, start, steps), steps
