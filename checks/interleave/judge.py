"""The judge ``interleave``: the implementation in every bounded order of its steps.

Each step must be a step of the specification or change nothing of it, after which every invariant holds. A
claim is ``refinement``, the id of a property that is checked at each step, the id of a witness that some step
must be, or ``execution`` (no deadlock, no unexpected exception, no leaked task). An execution ends at its
first violation, so that one broken claim leaves the others undecided.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.checks.interleave.audits.audit import BY_FOOTPRINTS, FOOTPRINTS, judged
from tidemark.checks.interleave.executions.recorded_execution import (
    Refining,
    SaysFaults,
    counterexample_of,
    witness,
)
from tidemark.checks.interleave.executions.shrink import shrink
from tidemark.checks.interleave.limits import ExecutionLimits, Options, Reduction
from tidemark.checks.interleave.result import Exploration, Found
from tidemark.checks.interleave.searches import explore, explore_with_delays
from tidemark.checks.interleave.spark import Spread, explore_on_spark
from tidemark.checks.verdicts.asking import taken_over
from tidemark.checks.verdicts.commands import check_command, token_command
from tidemark.checks.verdicts.counterexample import Counterexample, Shape
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.progress import Progress
from tidemark.checks.verdicts.verdict import COVERAGE, Aspect, Searched, Verdict, holds, inconclusive, refuted
from tidemark.models.manifest import AnyEntry, ConformEntry, InterleaveEntry, Kind
from tidemark.models.simulation import EXECUTION, ProgramRef
from tidemark.spec.language.spec import Kind as PropertyKind

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "interleave"
REFINEMENT = "refinement"
CHECKED: tuple[PropertyKind, ...] = ("invariant", "lemma", "transition_invariant")
"""Kinds of property that are looked at after each step."""
WITNESS: PropertyKind = "reachable"

SHRINKING = 400
"""Executions that may be spent on making a counterexample short."""
AUDIT = {
    Reduction.NONE: 0,
    Reduction.SLEEP_SETS: 20,
    Reduction.OPTIMAL: 20,
    Reduction.STATES: 200,
}
"""Random executions that the search must explain. Merging rests on a promise: that is looked at closely."""
ENDLESS_STEPS = 300
"""Steps of an execution of a program that has no end. Such a program is not audited: what it declares is, by
its variants that end; numbers of calls, which only tell them apart, grow without end here."""
SPREAD = Spread(parts=16, budget=400)


def program_of(entry: InterleaveEntry | ConformEntry) -> ProgramRef:
    """The program of an entry, by name."""
    assert entry.program is not None
    return ProgramRef.of(entry.program, **entry.constants)


def options_of(entry: InterleaveEntry) -> Options:
    """How an entry's program is searched."""
    steps = ENDLESS_STEPS if entry.live else ExecutionLimits().steps
    return Options(
        limits=ExecutionLimits(executions=entry.limit, steps=steps),
        reduction=entry.reduction,
        stop_at=frozenset(entry.claims),
        stop_at_violation=REFINEMENT in entry.claims,
        audit=0 if entry.live else AUDIT[entry.reduction],
        live=entry.live,
    )


def interleave(
    entry: InterleaveEntry,
    *,
    progress: Progress,
    spark: SparkSession | None = None,
    options: Options | None = None,
) -> Exploration:
    """Search the interleavings of an entry's program; on a Spark session where one is given.

    The search ends at the first violation of a claim of the entry; any violation is one of ``refinement``.
    """
    chosen = options or options_of(entry)
    program = program_of(entry)

    def tick(found: Exploration) -> None:
        _tell(progress, found, "")

    if entry.delays is not None:
        return explore_with_delays(program, entry.delays, options=chosen, tick=tick)
    if spark is None:
        return explore(program, chosen, tick=tick)
    return explore_on_spark(
        spark,
        program,
        chosen,
        spread=SPREAD,
        tick=lambda done, found: _tell(progress, found, done.text()),
    )


def _tell(progress: Progress, found: Exploration, note: str) -> None:
    words = ", ".join(part for part in (found.forecast(), note) if part)
    progress(found.done, unit="executions", note=words)


class InterleaveJudge:
    """Judges programs of the implementation."""

    name = NAME
    kinds: frozenset[Kind] = frozenset()

    def run(self, entry: AnyEntry, context: Context) -> list[Verdict]:
        """See ``Judge``."""
        if not isinstance(entry, InterleaveEntry):
            raise BadInputError(f"{entry.name} is not a program", remedy="interleave judges programs only")
        if FOOTPRINTS in entry.claims:
            return [_footprints(entry, context)]
        checker = _checker(entry)
        if checker is not None:
            _check_claims(entry, checker)
        # Only what a leads_to promises can be waited for, and an answer must be asked for.
        promised = () if checker is None else tuple(p.id for p in checker.checker.spec.of_kind("leads_to"))
        for claim in entry.live:
            if claim not in promised or claim not in entry.claims:
                raise BadInputError(
                    f"{entry.name}: {claim!r} is under 'live', and is no leads_to among its claims",
                    remedy=f"name some of {', '.join(promised) or 'none'}, under 'claims' as well",
                )
        # Refuse to spread what is searched on one core only.
        for asked, what in (
            (entry.live, "endless runs are looked for"),
            (entry.delays is not None, "delays are bounded"),
        ):
            if asked and entry.on_spark:
                raise BadInputError(f"{entry.name}: {what} on one core", remedy="leave 'distributed' out")
        if entry.on_spark or entry.live:  # what endless runs ask of the specification is not noted
            spark = _session(context) if entry.on_spark else None
            return verdicts_of(entry, context, interleave(entry, progress=context.progress, spark=spark))
        return taken_over(
            context.reuse,
            entry.name,
            lambda: verdicts_of(entry, context, interleave(entry, progress=context.progress)),
        )


def _footprints(entry: InterleaveEntry, context: Context) -> Verdict:
    """Only what has nothing else to say is asked for what its steps touch."""
    if entry.claims != (FOOTPRINTS,) or entry.reduction not in BY_FOOTPRINTS:
        raise BadInputError(
            f"{entry.name}: {FOOTPRINTS!r} is claimed beside others, or where no search rests on it",
            remedy=f"claim it alone, with one of {', '.join(sorted(BY_FOOTPRINTS))}",
        )
    return judged(
        program_of(entry),
        lambda: interleave(entry, progress=context.progress),
        context.subject(entry, NAME, FOOTPRINTS),
        replay=check_command(NAME, entry.name),
    )


def verdicts_of(entry: InterleaveEntry, context: Context, result: Exploration) -> list[Verdict]:
    """What a search of the entry's program says: a verdict per claim, and what was exercised."""
    checker = _checker(entry)
    return _Verdicts(entry, context, result, _exercised(checker), _witnesses(checker)).all()


def _checker(entry: InterleaveEntry) -> Refining | None:
    fresh = program_of(entry).load()()
    return fresh if isinstance(fresh, Refining) else None


def _exercised(program: Refining | None) -> dict[str, str]:
    """What the executions have to exercise, by the name under which they say so; each in words."""
    if program is None:
        return {}
    actions = {action.name: f"action.{action.name}" for action in program.checker.spec.actions}
    faults = program.faults if isinstance(program, SaysFaults) else ()
    return actions | {fault: fault for fault in sorted(faults)}


def _witnesses(program: Refining | None) -> frozenset[str]:
    return frozenset() if program is None else frozenset(p.id for p in program.checker.spec.of_kind(WITNESS))


def _check_claims(entry: InterleaveEntry, program: Refining) -> None:
    """A claim that no step is checked for would hold for nothing."""
    spec = program.checker.spec
    stepwise = (p.id for p in spec.of_kind(*CHECKED, WITNESS))
    known = {REFINEMENT, EXECUTION, *program.claims, *getattr(program, "at_rest", ()), *stepwise, *entry.live}
    for claim in entry.claims:
        if claim not in known:
            raise BadInputError(
                f"{entry.name}: {claim!r} is not checked at the steps of a program",
                remedy=f"claim some of: {', '.join(sorted(known))}",
            )


def _session(context: Context) -> SparkSession:
    from tidemark.checks.spark.session import spark_session

    return spark_session(master=context.master, build=context.build)


@dataclass(frozen=True)
class _Verdicts:
    """The verdicts of one search."""

    entry: InterleaveEntry
    context: Context
    result: Exploration
    exercised: dict[str, str]
    witnesses: frozenset[str]

    @property
    def counts(self) -> dict[str, int]:
        """What was done. On Spark the audit and the repetitions are counted like on one core. Of a program
        without an end every execution is one that was merged.
        """
        done = self.result.statistics
        counts = {
            "executions": done.executions + (done.met_again if self.result.endless else 0),
            "blocked": done.blocked,
            "merged": done.met_again,
            "steps": done.steps,
            "deepest": done.deepest,
            "final_states": len(self.result.finals),
            "final_states_crc32": self.result.finals_check_sum(),
        }
        if self.result.states:
            counts["declared_states"] = len(self.result.states)
        return counts

    def searched(self, token: str = "") -> Searched:
        """What all verdicts have. ``token``: of the execution that refutes a claim, which is one at least."""
        counts, replay = self.counts, check_command(NAME, self.entry.name)
        if token:
            counts["executions"] = max(self.result.statistics.executions, 1)
            replay = token_command(token)
        return {
            "counts": counts,
            "bounds": self.result.bounds,
            "seconds": self.result.seconds,
            "replay": replay,
        }

    def all(self) -> list[Verdict]:
        """One per claim, and what the search has exercised."""
        return [*(self._claim(claim) for claim in self.entry.claims), *self._coverage()]

    def _found(self, claim: str) -> Found | None:
        """The preferred example against a claim. Whatever no other claim speaks of is no refinement."""
        claims = self.entry.claims
        mine = [
            found
            for violation, found in self.result.violations.items()
            if violation.claim == claim or (violation.claim not in claims and claim == REFINEMENT)
        ]
        own = [found for found in mine if found.violation.claim == claim]
        return min(own or mine, key=lambda found: found.rank(), default=None)

    def _claim(self, claim: str) -> Verdict:
        if claim in self.witnesses:
            # A witness that was seen was seen, whatever else is wrong.
            if claim in self.result.covered:
                return self._vacuity(claim, "")
            if self.result.violations or self.result.reason:
                return self._unknown(claim, "the search was not completed", Aspect.VACUITY)
            return self._vacuity(claim, "no step is a witness within the bounds")
        if self.result.refused is not None:
            return self._unknown(claim, self.result.reason)
        found = self._found(claim)
        if found is not None:
            return self._refuted(claim, found)
        if self.result.violations:
            broken = sorted({violation.claim for violation in self.result.violations})
            return self._unknown(claim, f"executions ended where {', '.join(broken)} was broken")
        if self.result.reason:
            return self._unknown(claim, self.result.reason)
        subject = self.context.subject(self.entry, NAME, claim)
        notes = (f"final states {self.result.finals_digest()}",)
        return holds(subject, **self.searched(), rates={"executions/s": self.result.rate}, notes=notes)

    def _unknown(self, claim: str, reason: str, aspect: Aspect = Aspect.PROPERTY) -> Verdict:
        subject = self.context.subject(self.entry, NAME, claim, aspect)
        return inconclusive(subject, reason=reason, **self.searched())

    def _refuted(self, claim: str, found: Found) -> Verdict:
        program = program_of(self.entry)
        loop_start = self.result.loops.get(claim)
        if loop_start is not None:
            return self._endless(claim, found, counterexample_of(witness(program, found.token)), loop_start)
        short = shrink(program, found, attempts=SHRINKING)
        before, after = short.before[0], len(short.found.picks)
        seen = witness(program, short.found.token)
        return refuted(
            self.context.subject(self.entry, NAME, claim),
            counterexample=counterexample_of(seen),
            reason=short.found.violation.message,
            **self.searched(seen.token),
            notes=(*[f"shrunk from {before} to {after} steps"] * (after < before), *self.result.reasons),
        )

    def _endless(self, claim: str, found: Found, shown: Counterexample, loop_start: int) -> Verdict:
        """The run is left as it is: a shorter one would have to be a lasso as well."""
        steps = shown.steps[: len(found.picks)]
        update = {
            "shape": Shape.LASSO,
            "loop_start": loop_start,
            "steps": steps,
            "failing": found.violation.message,
        }
        return refuted(
            self.context.subject(self.entry, NAME, claim),
            counterexample=shown.model_copy(update=update),
            reason=found.violation.message,
            **self.searched(found.token),
        )

    def _coverage(self) -> list[Verdict]:
        """Which actions of the specification no step has matched, and which faults no execution has had: the
        check says nothing about them.
        """
        if not self.exercised:
            return []
        if self.result.violations or self.result.reason:
            return [self._unknown(COVERAGE, "the search was not completed", Aspect.VACUITY)]
        never = [words for name, words in self.exercised.items() if name not in self.result.covered]
        parts = [(f"vacuity.{words}", f"no step is the {words.replace('.', ' ', 1)}") for words in never]
        if not parts:
            return [self._vacuity(COVERAGE, "")]
        parts.append((COVERAGE, "; ".join(reason for _, reason in parts)))
        return [self._vacuity(claim, reason) for claim, reason in parts]

    def _vacuity(self, claim: str, reason: str) -> Verdict:
        subject = self.context.subject(self.entry, NAME, claim, Aspect.VACUITY)
        if not reason:
            return holds(subject, **self.searched())
        return refuted(subject, reason=reason, **self.searched())


JUDGE = InterleaveJudge()
