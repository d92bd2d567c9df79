"""Is a property true in every state of a bounded instance? Breadth-first search on Spark, for what outgrows
one core.

Gives the same counts as the native engine: distinct and generated states, depth, per action.
Counterexamples are shortest, because the search goes level by level, and are taken again step by step by
the interpreter.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from checks.counterexample import Counterexample
from checks.errors import BadInputError, StoppedError
from checks.judge import Context
from checks.progress import Progress, silent
from checks.replay import replay_command
from checks.spark.cost import Cost, sample
from checks.spark.native_kernel import FACTORY
from checks.spark.run_directory import RunDirectory
from checks.spark.runners import OnSpark
from checks.spark.search import Limits, Result, Round, Search
from checks.spark.search_kernel import Recipe, kernel_of
from checks.trace import BrokenRunError, counterexample, failing_conjunct, run_again
from checks.verdict import Aspect, Subject, Verdict, amended, holds, inconclusive, refuted
from models.instance import Instance
from models.interpreted.interpreter import Interpreter, Step
from models.manifest import AnyEntry, InstanceEntry, Kind, instance_of
from models.native.errors import NativeError
from spec.language.spec import Kind as PropertyKind
from spec.language.spec import Property

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = "distribute"
KINDS: tuple[PropertyKind, ...] = ("invariant", "lemma", "transition_invariant", "reachable")

GATE_HANDOVER = 5_000
GATE_SHARE = 30
"""In the gate, Spark takes over from this frontier, or from this part of the expected states if that is
fewer: a search that never left this process would compare one engine with itself.
"""

MakeSubject = Callable[[Property, Aspect], Subject]


def distribute(
    instance: Instance,
    *,
    spark: SparkSession,
    workdir: Path,
    partitions: int | None = None,
    resume: bool | int = False,
    progress: Progress = silent,
    limits: Limits | None = None,
    claims: Sequence[str] | None = None,
    subject: MakeSubject | None = None,
    expected_states: int | None = None,
    factory: str = FACTORY,
) -> list[Verdict]:
    """Search an instance on Spark; one verdict for each claim about states and steps.

    Args:
        instance: what is searched.
        spark: the session.
        workdir: directory of the run, on a file system that driver and executors share.
        partitions: number of owners of states; None takes the number of cores, or what a resumed run has.
        resume: go on with the run in ``workdir``: True from its last complete round, a number from that
            round.
        progress: told of each round.
        limits: where to stop early; what was not decided is then inconclusive.
        claims: ids of the properties to judge; None is all about states and steps.
        subject: makes the subject of a verdict; None names the protocol by its class.
        expected_states: if known, for the forecast.
        factory: ``module:function`` that makes the kernel.

    Raises:
        BadInputError: the instance does not fit in packed states, or the directory is not that of this run.
        CorruptFileError: a file of a resumed run is damaged; the remedy names the round before it.
        StoppedError: the user stopped the search; ``saved`` is the directory to resume.
    """
    started = time.monotonic()
    runner = OnSpark(spark)
    recipe = Recipe.of(instance, factory)
    directory = _directory(
        workdir, instance, recipe, partitions or runner.cores, resume=resume, chosen=partitions is not None
    )
    first = sample(kernel_of(recipe))
    cost = Cost(
        rate=first.rate, cores=runner.cores, states=first.states if first.complete else expected_states
    )
    progress(0, total=expected_states, unit="states", note=cost.text())
    search = Search(directory, spark=runner, limits=limits or Limits(handover=cost.handover))
    try:
        result = search.run(_shown(progress, expected_states))
    except KeyboardInterrupt as error:
        raise StoppedError(
            f"the search of {instance.name} was stopped after {directory.complete_rounds()} complete rounds",
            remedy=f"resume it: its rounds are in {workdir}",
            saved=workdir,
        ) from error
    judged = _Judged(search, result, Interpreter(instance), subject or _plain_subject(instance), cost.text())
    wanted = None if claims is None else {instance.spec.property(claim).id for claim in claims}
    found = [
        judged.verdict(prop) for prop in instance.spec.of_kind(*KINDS) if wanted is None or prop.id in wanted
    ]
    seconds = time.monotonic() - started
    return [amended(verdict, seconds=seconds) for verdict in found]


def _directory(
    workdir: Path, instance: Instance, recipe: Recipe, partitions: int, *, resume: bool | int, chosen: bool
) -> RunDirectory:
    try:
        kernel_of(recipe)
    except NativeError as error:
        raise BadInputError(str(error), remedy="lower the bounds of the instance") from error
    if resume is False:
        return RunDirectory.create(workdir, instance, recipe=recipe, partitions=partitions)
    directory = RunDirectory.resume(
        workdir, instance, recipe=recipe, partitions=partitions if chosen else None
    )
    rounds = directory.complete_rounds() if resume is True else resume + 1
    directory.keep(rounds)
    directory.verify(rounds)
    return directory


def _shown(progress: Progress, total: int | None) -> Callable[[Round], None]:
    def watch(done: Round) -> None:
        rate = done.frontier / max(done.seconds, 1e-9)
        where = f"depth {done.depth}, frontier {done.frontier:,}"
        note = f"{where}, {rate:,.0f} states/s, {done.sent_bytes:,} bytes sent"
        progress(done.distinct, total=total, unit="states", note=note)

    return watch


def _plain_subject(instance: Instance) -> MakeSubject:
    def make(prop: Property, aspect: Aspect) -> Subject:
        protocol = instance.protocol.rpartition(":")[2].lower()
        return Subject(
            protocol=protocol, property_id=prop.id, judge=NAME, instance=instance.name, aspect=aspect
        )

    return make


@dataclass(frozen=True)
class _Judged:
    """From a search's result to verdicts."""

    search: Search
    result: Result
    interpreter: Interpreter
    subject: MakeSubject
    forecast: str

    @property
    def counts(self) -> dict[str, int]:
        """Counts as the native engine defines them."""
        result = self.result
        return {
            "distinct": result.distinct,
            "generated": result.levels[0] + result.generated,
            "depth": len(result.levels),
            "outside": sum(result.steps.outside),
        }

    @property
    def rates(self) -> dict[str, float]:
        """What differs from run to run."""
        result, rounds = self.result, self.result.rounds
        seconds = sum(done.seconds for done in rounds)
        bytes_sent = result.steps.sent * self.search.directory.plan.kernel.words * 8
        return {
            "states_per_s": sum(done.frontier for done in rounds) / max(seconds, 1e-9),
            "rounds_on_spark": sum(done.on_spark for done in rounds),
            "sent_bytes_per_state": bytes_sent / max(result.distinct, 1),
        }

    @property
    def bounds(self) -> str:
        """Over what the verdicts speak."""
        outside = sum(self.result.steps.outside)
        left = f"; {outside:,} steps leave the bounds and were not followed" if outside else ""
        return f"{self.interpreter.instance.bounds_text()}{left}"

    @property
    def replay(self) -> str:
        """The command that searches again."""
        return f"tidemark verify --tier full --only {NAME}/{self.interpreter.instance.name}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Who did the work, and the forecast."""
        rounds = self.result.rounds
        spread = sum(done.on_spark for done in rounds)
        return (f"{spread} of {len(rounds)} rounds ran on Spark, the small ones in the driver", self.forecast)

    def verdict(self, prop: Property) -> Verdict:
        """The verdict on one property."""
        if prop.kind == "reachable":
            return self._witness(prop)
        found = self.result.violations.get(prop.id)
        if found is not None:
            depth, finding = found
            return self._refuted(prop, *self._run_to(finding.state, depth))
        if prop.id in self.result.events:
            return self._refuted(prop, *self._run_through(prop, self.result.events[prop.id]))
        return self._unless_stopped(self.subject(prop, Aspect.PROPERTY))

    def _unless_stopped(self, subject: Subject) -> Verdict:
        if not self.result.stopped:
            return self._holds(subject)
        return inconclusive(
            subject, reason=self.result.stopped, counts=self.counts, bounds=self.bounds, notes=self.notes
        )

    def _holds(self, subject: Subject) -> Verdict:
        return holds(
            subject,
            counts=self.counts,
            bounds=self.bounds,
            notes=self.notes,
            rates=self.rates,
            replay=self.replay,
        )

    def _witness(self, prop: Property) -> Verdict:
        """A witness is there to show that a search is not about nothing."""
        subject = self.subject(prop, Aspect.VACUITY)
        if prop.id in self.result.events:
            return self._holds(subject)
        if self.result.stopped:
            return self._unless_stopped(subject)
        return refuted(
            subject,
            counts=self.counts,
            counterexample=None,
            reason=f"never reached within the bounds: {prop.sentence}",
            replay=self.replay,
            bounds=self.bounds,
        )

    def _run_to(self, state: tuple[int, ...], depth: int) -> tuple[list[tuple[object, ...]], list[Step]]:
        """A shortest run to a packed state, taken again by the interpreter."""
        rows, numbers = self.search.run_to(state, depth)
        unpacked = [self.search.directory.plan.kernel.unpack(row) for row in rows]
        steps = [self.interpreter.steps[number] for number in numbers]
        if run_again(self.interpreter, unpacked[0], steps) != unpacked:
            raise BrokenRunError("the interpreter comes to other states than the kernel on the same steps")
        return unpacked, steps

    def _run_through(self, prop: Property, depth: int) -> tuple[list[tuple[object, ...]], list[Step]]:
        """A shortest run whose last step breaks a transition invariant."""
        states, steps = self._run_to(self.search.culprit(prop.id, depth), depth)
        for transition in self.interpreter.successors(states[-1]):
            if transition.inside and not self.interpreter.holds(prop, states[-1], transition.state):
                return [*states, transition.state], [*steps, transition.step]
        raise BrokenRunError(
            f"the kernel says that {prop.id} fails after depth {depth}, the interpreter does not"
        )

    def _refuted(self, prop: Property, states: list[tuple[object, ...]], steps: list[Step]) -> Verdict:
        instance = self.interpreter.instance
        before, after = (
            (states[-2], states[-1]) if prop.kind == "transition_invariant" else (states[-1], None)
        )
        failing = failing_conjunct(self.interpreter, prop, before, after)
        if not failing:
            raise BrokenRunError(
                f"the kernel says that {prop.id} fails at depth {len(steps)}, the interpreter does not"
            )
        shown: Counterexample = counterexample(instance, states=states, steps=steps, failing=failing)
        return refuted(
            self.subject(prop, Aspect.PROPERTY),
            counts=self.counts,
            counterexample=shown,
            replay=replay_command(
                self.interpreter, entry=instance.name, property_id=prop.id, initial=states[0], steps=steps
            ),
            bounds=self.bounds,
            notes=self.notes,
            rates=self.rates,
        )


class _Judge:
    """The judge ``distribute`` of the gate."""

    name = NAME
    kinds = frozenset((Kind.INVARIANT, Kind.LEMMA, Kind.TRANSITION, Kind.REACHABLE))

    def run(self, entry: AnyEntry, context: Context) -> list[Verdict]:
        """Search one instance from the beginning, in a directory of its own below the build folder."""
        from checks.spark.session import spark_session

        assert isinstance(entry, InstanceEntry)
        if entry.symmetry:
            raise BadInputError(
                f"{entry.name}: the distributed search knows no symmetry ({', '.join(entry.symmetry)})",
                remedy="take the engine 'distribute' or the symmetry out of the entry",
            )
        expected = entry.counts.get("distinct")
        handover = GATE_HANDOVER if expected is None else min(GATE_HANDOVER, expected // GATE_SHARE)
        spark = spark_session(master=context.master, build=context.build)
        workdir = context.build / "distribute" / entry.name
        if workdir.exists():
            shutil.rmtree(workdir)  # the code may have changed since: the gate never trusts old rounds
        try:
            return distribute(
                replace(instance_of(entry), name=entry.name),
                spark=spark,
                workdir=workdir,
                progress=context.progress,
                limits=Limits(handover=handover),
                claims=context.manifest.claims_of(entry, self.kinds),
                subject=lambda prop, aspect: context.subject(entry, NAME, prop.id, aspect),
                expected_states=expected,
            )
        finally:
            shutil.rmtree(workdir, ignore_errors=True)


JUDGE = _Judge()
