"""The proof of a protocol for any size: every obligation by name, what each one used, and what is left.

A claim is proved only if all of its obligations are, and so is every claim that they used. A proof says
something only if its hypotheses can be true (see ``possibilities``).
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from tidemark.checks.prove.answers import Answers, questions
from tidemark.checks.prove.prover import (
    FIRST_S,
    LARGER,
    SIZE,
    SMALLER,
    ObligationOutcome,
    Progress,
    Prover,
    Workers,
)
from tidemark.models.manifest import ProofEntry
from tidemark.models.symbolic.hints import SmallModel
from tidemark.models.symbolic.ranking import claim_of, resting_on
from tidemark.models.symbolic.subject import ProofSubject
from tidemark.spec.language.spec import Spec
from tidemark.spec.language.types import NumberType, SortType

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Proof:
    """All obligations of a protocol with their outcomes."""

    subject: ProofSubject
    outcomes: tuple[ObligationOutcome, ...]
    seconds: float
    workers: int = 1
    """Processes that were at work."""
    taken_over: int = 0
    """Obligations that another proof, or an earlier run, has proved."""

    @property
    def spec(self) -> Spec:
        """The protocol that was proved, with its options put in."""
        return self.subject.spec

    def of(self, claim: str) -> tuple[ObligationOutcome, ...]:
        """Outcomes of the obligations of one claim, those of all its reasons if it is a leads_to."""
        return tuple(one for one in self.outcomes if claim_of(one.obligation.claim) == claim)

    def rests_on(self, claim: str) -> tuple[str, ...]:
        """The other leads_to that the proof of a leads_to needs."""
        return resting_on(self.subject.rankings).get(claim, ())

    def finitely(self, claim: str) -> tuple[str, ...]:
        """The numbers that change finitely often in the runs of which a leads_to is proved."""
        of = (ranking for ranking in self.subject.rankings if ranking.claim.id == claim)
        return tuple(variable.name for ranking in of for variable in ranking.finitely)

    def open(self) -> tuple[ObligationOutcome, ...]:
        """What is not proved."""
        return tuple(outcome for outcome in self.outcomes if not outcome.proved)

    def slowest(self) -> ObligationOutcome:
        """The obligation that took longest."""
        return max(self.outcomes, key=lambda outcome: outcome.answer.seconds)

    def statistics(self) -> Statistics:
        """How many obligations there were, how many needed a solver, how long it took."""
        slowest = self.slowest() if self.outcomes else None
        return Statistics(
            total=len(self.outcomes),
            by_form=sum(outcome.obligation.trivial for outcome in self.outcomes),
            unanswered=sum(outcome.answer.status in ("unknown", "refused") for outcome in self.outcomes),
            queries=sum(outcome.answer.queries for outcome in self.outcomes),
            wall_s=self.seconds,
            workers=self.workers,
            slowest=slowest.obligation.name if slowest else "",
            slowest_s=slowest.answer.seconds if slowest else 0.0,
        )


@dataclass(frozen=True)
class Statistics:
    """Figures of a proof. Times in seconds."""

    total: int
    by_form: int
    """Decided by their form alone: the step does not touch what the claim reads."""
    unanswered: int
    """Unknown (time-out) or outside what a proof can express."""
    queries: int
    wall_s: float
    workers: int
    slowest: str
    slowest_s: float

    def text(self) -> str:
        """One line."""
        return (
            f"{self.total} obligations, {self.by_form} decided by their form, "
            f"{self.queries} queries for the others, {self.unanswered} without an answer; "
            f"slowest: {self.slowest or 'none'}"
        )


def subject_of(entry: ProofEntry) -> ProofSubject:
    """What an entry of a manifest proves."""
    return ProofSubject(entry.protocol, entry.constants, implied=entry.implied, liveness=entry.liveness)


def prove(
    protocol: str | ProofSubject,
    *,
    constants: Mapping[str, Any] | None = None,
    timeout_s: float = 20.0,
    seed: int = 0,
    jobs: int = 1,
    spark: SparkSession | None = None,
    only: Collection[str] | None = None,
    answers: Answers | None = None,
    progress: Progress = lambda _done, _all, _name: None,
) -> Proof:
    """Prove all invariants, lemmas and transition invariants of a protocol, named ``module:Class``.

    ``timeout_s`` is the limit of one obligation, ``jobs`` the greatest number of processes. With a Spark
    session the portions are its tasks. ``only``: names of the obligations that are tried, all if None.
    ``answers``: what is kept of earlier runs; not used together with ``only``. Raises SpecError.
    """
    begin = time.perf_counter()
    subject = (
        protocol if isinstance(protocol, ProofSubject) else ProofSubject(protocol, dict(constants or {}))
    )
    prover = Prover(subject, seed)
    if only is not None:
        answers = None
    known = _kept(prover, answers, timeout_s=timeout_s) if answers is not None else {}
    taken = len(known)
    with Workers(prover, jobs=jobs, progress=progress, spark=spark) as workers:
        portions = prover.portions(only, without=known)
        places = list(chain(*portions))
        found = workers.run(portions, timeout_s=min(timeout_s, FIRST_S))
        found = _second_pass(workers, places, found, timeout_s=timeout_s)
    known |= dict(zip(places, found, strict=True))
    if answers is not None:
        _keep(prover, answers, known, timeout_s=timeout_s)
    outcomes = [known[place] for place in sorted(known)]
    outcomes = _without_unproved(prover, outcomes, timeout_s=timeout_s)
    outcomes = [outcome if outcome.proved else prover.smallest(outcome) for outcome in outcomes]
    return Proof(subject, tuple(outcomes), time.perf_counter() - begin, workers.processes, taken)


def _kept(prover: Prover, answers: Answers, *, timeout_s: float) -> dict[int, ObligationOutcome]:
    """Outcomes by place of the obligations that were proved before."""
    asked = questions(prover.obligations, timeout_s=timeout_s)
    hard = {place: one for place, one in enumerate(asked) if not one.obligation.trivial}
    found = answers.known(prover.spec, hard)
    return {place: ObligationOutcome(prover.obligations[place], one) for place, one in sorted(found.items())}


def _keep(
    prover: Prover, answers: Answers, outcomes: Mapping[int, ObligationOutcome], *, timeout_s: float
) -> None:
    asked = questions(prover.obligations, timeout_s=timeout_s)
    hard = {place: one for place, one in outcomes.items() if not one.obligation.trivial}
    answers.keep(prover.spec, {place: (asked[place], one.answer) for place, one in hard.items()})


def _second_pass(
    workers: Workers, places: Sequence[int], outcomes: Sequence[ObligationOutcome], *, timeout_s: float
) -> list[ObligationOutcome]:
    """Full time for what the first pass left open and what no small counterexample explains.

    ``places`` are those of the outcomes among all obligations.
    """
    result = list(outcomes)
    hard = [i for i, o in enumerate(outcomes) if o.answer.status == "unknown" and o.model is None]
    if not hard or timeout_s <= FIRST_S:
        return result
    second = workers.run([(places[i],) for i in hard], timeout_s=timeout_s)
    for i, again in zip(hard, second, strict=True):
        result[i] = again
    return result


def _without_unproved(
    prover: Prover, outcomes: Sequence[ObligationOutcome], *, timeout_s: float
) -> list[ObligationOutcome]:
    """Do again, without the claims that are not proved, what used them; what then fails depends on them."""
    result = list(outcomes)
    unproved: frozenset[str] = frozenset()
    while True:
        now = frozenset(o.obligation.claim for o in result if not o.proved)
        if now == unproved:
            return result
        unproved = now
        typing = frozenset(claim for claim in unproved if claim.startswith("type:"))
        for i, outcome in enumerate(result):
            if not outcome.proved or outcome.obligation.claim in unproved:
                continue
            if typing:
                # The types of the state are always assumed: also by what simplifies a goal to nothing.
                result[i] = replace(outcome, missing=typing)
            elif not outcome.obligation.trivial and outcome.answer.used & unproved:
                again = prover.attempt(outcome.obligation, timeout_s=timeout_s, without=unproved)
                lost = replace(outcome, model=again.model, missing=outcome.answer.used & unproved)
                result[i] = again if again.answer.status == "proved" else lost


def size_text(spec: Spec) -> str:
    """What a proof speaks about: ``any number of Segment and unbounded Position``."""
    sorts = [kind.name for kind in spec.types if isinstance(kind, SortType)]
    numbers = [kind.name for kind in spec.types if isinstance(kind, NumberType)]
    parts = [f"any number of {', '.join(sorts)}"] if sorts else []
    parts += [f"unbounded {', '.join(numbers)}"] if numbers else []
    return " and ".join(parts) or "any number of steps"


SIZES = (*SMALLER, SIZE, *LARGER)
"""Of the instances in which a possibility is looked for, smallest first."""


@dataclass(frozen=True)
class Shown:
    """One thing that must be possible, with the state (and step) that shows it; None if none was found."""

    what: str
    model: SmallModel | None


def possibilities(prover: Prover) -> list[Shown]:
    """An initial state; and for each action a state, in which all invariants hold, from which it can be
    taken.
    """
    found = [Shown("an initial state that satisfies the assumptions", _first(prover, None))]
    words = "a step {} from a state in which all invariants hold"
    found.extend(
        Shown(words.format(action.name), _first(prover, action.name)) for action in prover.spec.actions
    )
    return found


def _first(prover: Prover, action: str | None) -> SmallModel | None:
    for size in SIZES:
        hints = prover.hints(size)
        if hints is None:
            continue
        model = hints.an_initial_state() if action is None else hints.a_step_of(action)
        if model is not None:
            return model
    return None
