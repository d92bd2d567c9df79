"""The judge ``prove``: is a property true for any number of elements and any numbers?

Induction over the steps. A claim whose induction fails is not refuted by that, for the state before the
step may be
unreachable: then a real run is looked for (``bmc``), and only a run refutes.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidemark.checks.prove.answers import Answers
from tidemark.checks.prove.bmc import FoundRun, broken_part, find_runs, reach
from tidemark.checks.prove.bounded import INDUCTIVE, by_k_induction
from tidemark.checks.prove.proof import SIZES, Proof, possibilities, prove, size_text, subject_of
from tidemark.checks.prove.prover import FIRST_S, ObligationOutcome, Prover
from tidemark.checks.prove.types import not_typed, refuse_fall
from tidemark.checks.verdicts.commands import check_command
from tidemark.checks.verdicts.counterexample import Counterexample, Shape
from tidemark.checks.verdicts.errors import BadInputError, missing_package
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.trace import counterexample
from tidemark.checks.verdicts.verdict import (
    COVERAGE,
    SECOND_OPINION,
    Aspect,
    Outcome,
    Verdict,
    amended,
    holds,
    inconclusive,
    proved,
    refuted,
)
from tidemark.models.cores import cores
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.models.manifest import AnyEntry, Kind, ProofEntry
from tidemark.models.symbolic.errors import UnprovableError
from tidemark.models.symbolic.hints import SmallModel
from tidemark.models.symbolic.implied import ImpliedError
from tidemark.models.symbolic.ranking import RankingError, resting_on
from tidemark.models.symbolic.second import Compared, Opinion, compare, decisive
from tidemark.models.symbolic.solve import Query
from tidemark.models.symbolic.subject import ProofSubject
from tidemark.models.symbolic.unroll import Reply, consistent
from tidemark.spec.language.spec import Property, Spec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


NOTED = 5
"""Queries without a second answer that a verdict names."""

Told = Callable[[int, int, str], None]


def compared(
    subject: ProofSubject,
    *,
    timeout_s: float = FIRST_S,
    unproved: frozenset[str] = frozenset(),
    seed: int = 0,
    told: Told = lambda *_: None,
) -> list[Compared]:
    """Every query that decided a conjunct of an obligation, with the answers of both solvers.

    The obligations are attempted as a proof attempts them: what the first pass leaves open gets its full
    limit, ``timeout_s``, and what is proved is proved without the claims that are not (``unproved``). What
    the first solver leaves open is not asked. Raises MissingToolError without cvc5; SpecError.
    """
    asked: list[Query] = []
    prover = Prover(subject, seed, asked.append)
    found: list[Compared] = []
    for number, obligation in enumerate(prover.obligations):
        told(number, len(prover.obligations), obligation.name)
        without = unproved if obligation.claim not in unproved else frozenset()
        for limit in (min(timeout_s, FIRST_S), timeout_s):
            asked.clear()
            outcome = prover.attempt(obligation, timeout_s=limit, without=without)
            if outcome.answer.status != "unknown" or outcome.model is not None:
                break
        try:
            found += [compare(query) for query in decisive(asked)]
        except ModuleNotFoundError as error:
            raise missing_package("the second opinion", error) from error
    return found


def second_opinion(
    entry: ProofEntry, context: Context, *, judge: str, unproved: frozenset[str] = frozenset()
) -> Verdict:
    """One verdict: the solvers do not contradict each other, and agree on as many queries as is pinned.

    ``unproved``: claims that the proof does not prove.
    """
    begin = time.perf_counter()
    found = compared(
        subject_of(entry),
        timeout_s=entry.timeout_s,
        unproved=unproved,
        seed=context.seed,
        told=lambda done, total, name: context.progress(
            done, total=total, unit="obligations", note=f"second opinion on {name}"
        ),
    )
    subject = context.subject(entry, judge, SECOND_OPINION, Aspect.PIN)
    by = Counter(item.opinion for item in found)
    counts = {"queries": len(found), "agreed": by[Opinion.AGREES], "unanswered": by[Opinion.UNKNOWN]}
    seconds, replay = time.perf_counter() - begin, check_command(judge, entry.name)
    wrong = [item for item in found if item.opinion is Opinion.CONTRADICTS]
    if wrong:
        first = wrong[0]
        reason = (
            f"{len(wrong)} contradictions; {first.query.obligation}: {first.query.piece} is "
            f"{first.query.result} for Z3 and {first.other} for cvc5"
        )
        return refuted(subject, counts=counts, reason=reason, seconds=seconds, replay=replay)
    if not by[Opinion.AGREES]:
        why = found[0].other if found else "no query decided anything"
        reason = f"cvc5 answers none of {len(found)} queries: {why}"
        return inconclusive(subject, reason=reason, counts=counts, seconds=seconds, replay=replay)
    bounds = f"{by[Opinion.AGREES]} of {len(found)} queries answered by both solvers"
    notes = tuple(
        f"{item.query.obligation}: cvc5 says {item.other}"
        for item in found
        if item.opinion is Opinion.UNKNOWN
    )[:NOTED]
    return holds(subject, counts=counts, bounds=bounds, seconds=seconds, replay=replay, notes=notes)


_KINDS = frozenset({Kind.INVARIANT, Kind.LEMMA, Kind.TRANSITION, Kind.LEADS_TO})

REACH_DEPTH = 10
"""Steps of the longest run that is looked for to the state of a counterexample to induction."""

REACH_S = 5.0
"""Seconds for that."""

_WHY = {
    "failed": "not inductive",
    "unknown": "the solver found no answer in time for",
    "refused": "outside what a proof can express",
}


@dataclass(frozen=True, kw_only=True)
class ProveJudge:
    """Judges a protocol without an instance. ``on_spark``: its obligations are tasks of Spark."""

    on_spark: bool = False

    @property
    def name(self) -> str:
        """See ``Judge``."""
        return "prove"

    @property
    def kinds(self) -> frozenset[Kind]:
        """See ``Judge``."""
        return _KINDS

    def run(self, entry: AnyEntry, context: Context) -> list[Verdict]:
        """See ``Judge``."""
        assert isinstance(entry, ProofEntry)
        proof = _proved(
            entry,
            answers=Answers(context.reuse, entry.name, others=[one.name for one in context.manifest.proof]),
            timeout_s=entry.timeout_s,
            seed=context.seed,
            jobs=context.workers or cores(),
            spark=_session(context) if self.on_spark else None,
            only=entry.failing if entry.only_failing else None,
            progress=lambda done, total, name: context.progress(
                done, total=total, unit="obligations", note=name
            ),
        )
        claims = context.manifest.claims_of(entry, self.kinds)
        untyped = [one for one in proof.open() if one.obligation.kind == "type"]
        if untyped and not entry.only_failing:
            refuse_fall(proof.subject)
            raise not_typed(untyped, claims=claims)
        open_claims = {outcome.obligation.claim for outcome in proof.open()}
        broken = [proof.spec.property(claim) for claim in claims if claim in open_claims]
        runs = find_runs(proof.subject, broken) if broken else {}
        verdicts = [
            self._verdict(entry, context, proof, proof.spec.property(claim), run=runs.get(claim))
            for claim in claims
        ]
        if entry.k_induction is not None:
            verdicts = [self._longer(entry, context, proof, verdict) for verdict in verdicts]
        verdicts += [self._failing(entry, context, proof, name) for name in entry.failing]
        if entry.second_opinion:
            unproved = frozenset(open_claims)
            verdicts.append(second_opinion(entry, context, judge=self.name, unproved=unproved))
        if entry.only_failing:
            return verdicts  # each of them shows a state in which the hypotheses hold
        return [*verdicts, *vacuity(entry, context, proof, judge=self.name)]

    def _failing(self, entry: ProofEntry, context: Context, proof: Proof, name: str) -> Verdict:
        """An obligation that must fail: a prover that proves everything is found out by it."""
        subject = context.subject(entry, self.name, name, Aspect.OBLIGATION)
        replay = check_command(self.name, entry.name)
        (outcome,) = (one for one in proof.outcomes if one.obligation.name == name)
        counts, seconds = {"obligations": 1}, outcome.answer.seconds
        if outcome.proved:
            return proved(subject, counts=counts, seconds=seconds, replay=replay)
        if outcome.model is None:  # with one that rests on claims that fail too, it fails without them
            return inconclusive(
                subject, reason=describe(outcome), counts=counts, seconds=seconds, replay=replay
            )
        return refuted(
            subject,
            counts=counts,
            counterexample=show(outcome.model, proof.spec.property(outcome.obligation.claim)),
            reason=describe(outcome),
            bounds=f"a state of {outcome.model.instance.bounds_text()}, reachable or not",
            seconds=seconds,
            replay=replay,
        )

    def _longer(self, entry: ProofEntry, context: Context, proof: Proof, verdict: Verdict) -> Verdict:
        """Induction over several steps, for what induction over one step leaves open."""
        assert entry.k_induction is not None
        prop = proof.spec.property(verdict.subject.property_id)
        if verdict.outcome is not Outcome.INCONCLUSIVE or prop.kind not in INDUCTIVE:
            return verdict
        (again,) = by_k_induction(
            proof,
            [prop],
            lambda _prop: verdict.subject,
            k=entry.k_induction,
            seconds=entry.timeout_s,
            seed=context.seed,
            replay=verdict.replay,
        )
        if again.outcome is Outcome.PROVED:
            return again
        return amended(
            verdict, notes=(*verdict.notes, f"induction over {entry.k_induction} steps: {again.reason}")
        )

    def _verdict(
        self, entry: ProofEntry, context: Context, proof: Proof, prop: Property, *, run: FoundRun | None
    ) -> Verdict:
        subject = context.subject(entry, self.name, prop.id)
        outcomes = proof.of(prop.id)
        others = proof.rests_on(prop.id)
        seconds = sum(outcome.answer.seconds for outcome in outcomes)
        counts = {
            "obligations": len(outcomes),
            "by_form": sum(outcome.obligation.trivial for outcome in outcomes),
        }
        follows: tuple[str, ...] = ()
        if entry.implied:
            counts["implied"] = int(prop.id in entry.implied)
        if prop.id in entry.implied:
            follows = (f"follows in the same state from {', '.join(entry.implied[prop.id])}",)
        if others:
            follows = (f"rests on {', '.join(others)}",)
        if finitely := proof.finitely(prop.id):
            follows = (f"in runs in which {', '.join(finitely)} changes finitely often", *follows)
        replay = check_command(self.name, entry.name)
        below = [outcome for other in others for outcome in proof.of(other)]
        failed = [outcome for outcome in (*outcomes, *below) if not outcome.proved]
        if not failed:
            slowest = max(outcomes, key=lambda outcome: outcome.answer.seconds)
            notes = (
                f"for {size_text(proof.spec)}",
                *follows,
                f"slowest: {slowest.obligation.name}, {slowest.answer.seconds:.2f} s",
            )
            rates = {"slowest_s": slowest.answer.seconds}
            return proved(subject, counts=counts, seconds=seconds, replay=replay, notes=notes, rates=rates)
        shown = next((outcome for outcome in failed if outcome.model is not None), None)
        reached: tuple[str, ...] = ()
        if prop.kind != "leads_to" and run is None and shown is not None and shown.model is not None:
            found = reach(shown.model, prop, depth=REACH_DEPTH, seconds=REACH_S)
            reached, run = (f"the counterexample to induction: {found.text}",), found.run
        if run is not None:
            return refuted(
                subject,
                counts=counts,
                counterexample=run.counterexample,
                replay=replay,
                reason=_reason(failed),
                bounds=f"a run of {run.depth} steps within {run.instance.bounds_text()}",
                seconds=seconds,
                notes=(*reached, *run.notes),
            )
        counts["discharged"] = sum(outcome.proved for outcome in outcomes)
        return inconclusive(
            subject,
            reason=_reason(failed),
            counts=counts,
            bounds=f"{size_text(proof.spec)}",
            seconds=seconds,
            replay=replay,
            notes=(*reached, *(describe(outcome) for outcome in failed)),
            counterexample=_shown(shown, proof.spec),
        )


def vacuity(entry: ProofEntry, context: Context, proof: Proof, *, judge: str) -> list[Verdict]:
    """One verdict: the hypotheses of the proof can be true, for every action."""
    begin = time.perf_counter()
    shown = possibilities(Prover(proof.subject))
    together = _together(proof, seed=context.seed)
    subject = context.subject(entry, judge, COVERAGE, Aspect.VACUITY)
    seconds = time.perf_counter() - begin
    replay = check_command(judge, entry.name)
    missing = [item.what for item in shown if item.model is None]
    counts = {"queries": len(shown) - len(missing)}
    if together == "no":
        missing.insert(0, "values of any size for which assumptions, initial condition and lemmas are true")
    figures = proof.statistics()
    rates = {"wall_s": figures.wall_s, "slowest_s": figures.slowest_s, "workers": float(figures.workers)}
    if missing:
        largest = f"sorts of up to {max(e for e, _ in SIZES)} elements, keys up to {max(g for _, g in SIZES)}"
        reason = f"not found with {largest}: {'; '.join(missing)}; a proof about it says nothing"
        return [inconclusive(subject, reason=reason, counts=counts, seconds=seconds, replay=replay)]
    instances = {item.model.instance.bounds_text() for item in shown if item.model is not None}
    bounds = f"a state for each of {len(shown)} hypotheses, within {max(instances, key=len)}"
    return [
        holds(
            subject,
            counts=counts,
            bounds=bounds,
            seconds=seconds,
            replay=replay,
            notes=(figures.text(), *_taken_over(proof), _TOGETHER[together]),
            rates=rates,
        )
    ]


def _taken_over(proof: Proof) -> tuple[str, ...]:
    """Says so where obligations are those of an earlier run."""
    return (
        (f"{proof.taken_over} of them taken over from another proof or an earlier run",)
        if proof.taken_over
        else ()
    )


CONSISTENT_S = 1.5
"""Limit of the question whether the hypotheses can be true together, in seconds."""

_TOGETHER = {
    "yes": "assumptions, initial condition and lemmas are satisfiable together, for any size",
    "unknown": "the solver does not tell whether assumptions, initial condition and lemmas are satisfiable "
    "for any size; within bounds they are",
}


def _together(proof: Proof, *, seed: int) -> Reply:
    """Are the hypotheses satisfiable in the encoding that the proof uses?"""
    try:
        return consistent(proof.spec, seconds=CONSISTENT_S, seed=seed)
    except UnprovableError:
        return "unknown"


def _check_finitely(entry: ProofEntry, subject: ProofSubject) -> None:
    """The entry says which runs its claims are proved of. Raises BadInputError."""
    if set(subject.finitely) != set(entry.finitely):
        remedy = f"the ranks name {list(subject.finitely)}: write these, or correct the ranks"
        raise BadInputError(f"{entry.name}: finitely = {list(entry.finitely)}", remedy=remedy)


def _proved(entry: ProofEntry, **options: Any) -> Proof:
    """Raises BadInputError for an obligation that the protocol does not have, and for a circle of claims."""
    try:
        subject = subject_of(entry)
        resting_on(subject.rankings)
        _check_finitely(entry, subject)
        return prove(subject, **options)
    except RankingError as error:
        remedy = "correct 'liveness': name all claims on which one rests, and let none rest on itself"
        raise BadInputError(f"{entry.name}: {error}", remedy=remedy) from error
    except ImpliedError as error:
        remedy = "correct 'implied': claim -> claims of the same state that imply it, without a circle"
        raise BadInputError(f"{entry.name}: {error}", remedy=remedy) from error
    except LookupError as error:
        remedy = "correct 'fails': consecution:ACTION, step:ACTION or initiation"
        raise BadInputError(f"{entry.name}: {error}", remedy=remedy) from error


def _session(context: Context) -> SparkSession:
    from tidemark.checks.spark.session import spark_session

    return spark_session(master=context.master, build=context.build)


def describe(outcome: ObligationOutcome) -> str:
    """One line about an obligation that is not proved."""
    obligation, answer = outcome.obligation, outcome.answer
    if outcome.missing:
        return f"{obligation.name}: needs {', '.join(sorted(outcome.missing))}, which is not proved"
    if outcome.model is not None:
        step = f" under {outcome.model.step}" if outcome.model.step is not None else ""
        size = outcome.model.instance.bounds_text()
        if obligation.kind == "implied":
            others = ", ".join(fact.source for fact in obligation.lemmas)
            return f"{obligation.name}: not implied by {others} (a state of {size})"
        if obligation.kind == "reason":
            return f"{obligation.name}: does not follow from the invariants (a state of {size})"
        return f"{obligation.name}: not inductive{step} (a state of {size})"
    detail = (
        f": {answer.reason}" if answer.reason else f", {answer.queries} queries in {answer.seconds:.1f} s"
    )
    return f"{_WHY[answer.status]} {obligation.name}{detail}; not proved: {answer.failing}"


def _shown(outcome: ObligationOutcome | None, spec: Spec) -> Counterexample | None:
    if outcome is None or outcome.model is None:
        return None
    obligation = outcome.obligation
    anywhere = obligation.kind in ("implied", "reason")
    return show(outcome.model, spec.property(obligation.claim), anywhere=anywhere)


def _reason(failed: Sequence[ObligationOutcome]) -> str:
    first = min(failed, key=lambda outcome: (bool(outcome.missing), outcome.model is None))
    more = f" (and {len(failed) - 1} more)" if len(failed) > 1 else ""
    return describe(first) + more


def show(model: SmallModel, prop: Property, *, anywhere: bool = False) -> Counterexample:
    """The state before, the step, the state after, and the conjunct that broke.

    ``anywhere``: without a step, it is any state in which other claims hold, and not an initial one.

    Raises RuntimeError if the interpreter does not find the same step: then the encoding is wrong.
    """
    interpreter = Interpreter(model.instance)
    if model.step is None or model.after is None:
        failing = broken_part(interpreter, prop, [model.before]) or prop.description
        shape = Shape.INDUCTION if anywhere else Shape.RUN
        return counterexample(model.instance, states=[model.before], steps=[], failing=failing, shape=shape)
    found = interpreter.apply(model.before, model.step)
    if found is None or found.state != model.after:
        raise RuntimeError(f"the interpreter does not confirm {model.step}: the bounded encoding is wrong")
    failing = broken_part(interpreter, prop, [model.before, model.after])
    if not failing:
        raise RuntimeError(
            f"the interpreter does not confirm that {prop.id} fails: the bounded encoding is wrong"
        )
    return counterexample(
        model.instance,
        states=[model.before, model.after],
        steps=[model.step],
        failing=failing,
        shape=Shape.INDUCTION,
    )


JUDGE = ProveJudge()
