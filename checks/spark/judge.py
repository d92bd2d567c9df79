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

from tidemark.checks.spark.planning.cost import Cost, outlook, sample
from tidemark.checks.spark.planning.history import FOLDER, History
from tidemark.checks.spark.search.breadth_first import HANDOVER, Round, RoundLimits, Search
from tidemark.checks.spark.search.native_kernel import FACTORY
from tidemark.checks.spark.search.run_directory import RunDirectory
from tidemark.checks.spark.search.runners import OnSpark
from tidemark.checks.spark.search.search_kernel import kernel_of
from tidemark.checks.spark.search.verdicts import NAME, Judged, MakeSubject
from tidemark.checks.verdicts.errors import BadInputError, StoppedError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.progress import Progress, silent
from tidemark.checks.verdicts.verdict import Aspect, Subject, Verdict, amended
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.models.manifest import AnyEntry, InstanceEntry, Kind, instance_of
from tidemark.models.native.errors import NativeError
from tidemark.spec.language.spec import Kind as PropertyKind
from tidemark.spec.language.spec import Property

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KINDS: tuple[PropertyKind, ...] = ("invariant", "lemma", "transition_invariant", "reachable")

GATE_HANDOVER = 5_000
GATE_SHARE = 30
"""In the gate, Spark takes over from this frontier, or from this part of the expected states if that is
fewer: a search that never left this process would compare one engine with itself.
"""


def distribute(
    instance: Instance,
    *,
    spark: SparkSession,
    workdir: Path,
    partitions: int | None = None,
    resume: bool | int = False,
    progress: Progress = silent,
    limits: RoundLimits | None = None,
    claims: Sequence[str] | None = None,
    subject: MakeSubject | None = None,
    expected_states: int | None = None,
    history: Path | None = None,
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
        history: folder to which each round is added as a row of a Parquet file.

    Raises:
        BadInputError: the instance does not fit in packed states, or the directory is not that of this run.
        CorruptFileError: a file of a resumed run is damaged; the remedy names the round before it.
        StoppedError: the user stopped the search; ``saved`` is the directory to resume.
    """
    started = time.monotonic()
    runner = OnSpark(spark)
    if limits is not None and limits.handover <= HANDOVER:
        runner.warm(instance, FACTORY)  # Spark will be needed, and soon
    directory = _directory(
        workdir, instance, partitions or runner.cores, resume=resume, chosen=partitions is not None
    )
    first = sample(kernel_of(instance, FACTORY))
    cost = Cost(
        rate=first.rate, cores=runner.cores, states=first.states if first.complete else expected_states
    )
    progress(0, total=expected_states, unit="states", note=cost.text())
    search = Search(directory, spark=runner, limits=limits or RoundLimits(handover=cost.handover))
    try:
        result = search.run(_watch(progress, expected_states, _history(history, directory, runner)))
    except KeyboardInterrupt as error:
        raise StoppedError(
            f"the search of {instance.name} was stopped after {directory.complete_rounds()} complete rounds",
            remedy=f"its rounds are in {workdir}: give the same command with --resume",
            saved=workdir,
        ) from error
    judged = Judged(search, result, Interpreter(instance), subject or _plain_subject(instance), cost.text())
    wanted = None if claims is None else {instance.spec.property(claim).id for claim in claims}
    found = [
        judged.verdict(prop) for prop in instance.spec.of_kind(*KINDS) if wanted is None or prop.id in wanted
    ]
    seconds = time.monotonic() - started
    return [amended(verdict, seconds=seconds) for verdict in found]


def _directory(
    workdir: Path, instance: Instance, partitions: int, *, resume: bool | int, chosen: bool
) -> RunDirectory:
    try:
        kernel_of(instance, FACTORY)
    except NativeError as error:
        raise BadInputError(str(error), remedy="lower the bounds of the instance") from error
    if resume is False:
        return RunDirectory.create(workdir, instance, factory=FACTORY, partitions=partitions)
    directory = RunDirectory.resume(
        workdir, instance, factory=FACTORY, partitions=partitions if chosen else None
    )
    rounds = directory.complete_rounds() if resume is True else int(resume) + 1
    directory.keep(rounds)
    directory.verify(rounds)
    return directory


def _history(folder: Path | None, directory: RunDirectory, runner: OnSpark) -> History | None:
    if folder is None:
        return None
    plan = directory.plan
    return History(
        folder,
        run=plan.run,
        protocol=plan.instance.protocol,
        instance=plan.instance.name,
        master=runner.master,
        cores=runner.cores,
        partitions=plan.partitions,
        words=plan.kernel.words,
    )


def _watch(progress: Progress, total: int | None, history: History | None) -> Callable[[Round], None]:
    levels, sent = list[int](), 0

    def watch(done: Round) -> None:
        nonlocal sent
        levels.append(done.frontier)
        sent += done.sent_bytes
        if history is not None:
            history.add(**vars(done))
        ahead = outlook(levels)
        parts = (
            f"depth {done.depth}",
            f"frontier {done.frontier:,}",
            f"{done.expanded / max(done.seconds, 1e-9):,.0f} states/s",
            f"{sent / max(sum(levels), 1):,.0f} bytes sent a state",
            "" if ahead is None else f"about {ahead.rounds} rounds and {ahead.states:,} states to come",
        )
        progress(done.distinct, total=total, unit="states", note=", ".join(filter(None, parts)))

    return watch


def _plain_subject(instance: Instance) -> MakeSubject:
    def make(prop: Property, aspect: Aspect) -> Subject:
        protocol = instance.protocol.rpartition(":")[2].lower()
        return Subject(
            protocol=protocol, property_id=prop.id, judge=NAME, instance=instance.name, aspect=aspect
        )

    return make


@dataclass(frozen=True, kw_only=True)
class DistributeJudge:
    """The judge ``distribute``. The fields are for whom it is not the gate; see ``distribute``.

    ``directory``: where the rounds lie and stay; None takes one below the build folder, which is removed when
    the search is complete.
    """

    resume: bool | int = False
    partitions: int | None = None
    directory: Path | None = None
    limits: RoundLimits | None = None

    @property
    def name(self) -> str:
        """See ``tidemark.checks.verdicts.judge.Judge``."""
        return NAME

    @property
    def kinds(self) -> frozenset[Kind]:
        """See ``tidemark.checks.verdicts.judge.Judge``."""
        return frozenset((Kind.INVARIANT, Kind.LEMMA, Kind.TRANSITION, Kind.REACHABLE))

    def run(self, entry: AnyEntry, context: Context) -> list[Verdict]:
        """Search one instance. Its rounds are removed when it is done, and only then."""
        from tidemark.checks.spark.session import spark_session

        assert isinstance(entry, InstanceEntry)
        if entry.symmetry:
            raise BadInputError(
                f"{entry.name}: the distributed search knows no symmetry ({', '.join(entry.symmetry)})",
                remedy="take the engine 'distribute' or the symmetry out of the entry",
            )
        expected = entry.counts.get("distinct")
        handover = GATE_HANDOVER if expected is None else min(GATE_HANDOVER, expected // GATE_SHARE)
        spark = spark_session(master=context.master, build=context.build)
        workdir = self.directory or context.build / NAME / entry.name
        if self.resume is False and self.directory is None and workdir.exists():
            shutil.rmtree(workdir)  # the code may have changed since: the gate never trusts old rounds
        found = distribute(
            replace(instance_of(entry), name=entry.name),
            spark=spark,
            workdir=workdir,
            partitions=self.partitions,
            resume=self.resume,
            progress=context.progress,
            limits=self.limits or RoundLimits(handover=handover),
            claims=context.manifest.claims_of(entry, self.kinds),
            subject=lambda prop, aspect: context.subject(entry, NAME, prop.id, aspect),
            expected_states=expected,
            history=context.build / FOLDER,
        )
        if self.directory is None:
            shutil.rmtree(workdir, ignore_errors=True)
        return found


JUDGE = DistributeJudge()
