"""The judge of mutation: can the checks fail? Every wrong protocol must be noticed by a named claim.

Generated mutants change one place of one action of the protocol as it is now; named ones are subclasses with
an argued fault. The protocol itself must be green on the same instance first. A mutant whose steps are the
protocol's on every reachable state is reported as equivalent within the bounds, never as killed.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tidemark.checks.mutation.assess import Baseline, Fate, MutantResult, assess, baseline, summary
from tidemark.checks.verdicts.commands import check_command
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.progress import Progress, silent
from tidemark.checks.verdicts.verdict import (
    Aspect,
    Outcome,
    Searched,
    Subject,
    Verdict,
    amended,
    holds,
    inconclusive,
    refuted,
)
from tidemark.models.instance import Instance
from tidemark.models.manifest import (
    AnyEntry,
    ConformEntry,
    GeneratedMutants,
    ImplementationMutants,
    InstanceEntry,
    InterleaveEntry,
    Kind,
    MutantEntry,
)
from tidemark.models.manifest.resolve import instance_of, instance_of_mutant
from tidemark.models.mutation.generated import find_mutant, mutants_of, mutated
from tidemark.models.native.search.breadth_first import SearchLimits
from tidemark.models.refinement.program import REFINEMENT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SUMMARY = "generated-mutants"
"""Claim id of the count of generated mutants by fate."""
EQUIVALENT = "equivalent"
"""Claim id of a named mutant that no property is expected to notice."""
LIMITS = SearchLimits(states=2_000_000, seconds=60.0)
"""Where the search of one mutant stops without a decision."""


def sampled(ids: Sequence[str], size: int | None) -> tuple[str, ...]:
    """At most ``size`` of the ids, always the same ones, in the given order; all if None."""
    if size is None or size >= len(ids):
        return tuple(ids)
    chosen = set(sorted(ids, key=lambda name: hashlib.sha256(name.encode()).digest())[:size])
    return tuple(name for name in ids if name in chosen)


def mutate(
    instance: Instance,
    *,
    mutants: Sequence[str] | None = None,
    claims: Collection[str] | None = None,
    limits: SearchLimits = LIMITS,
    progress: Progress = silent,
    spark: SparkSession | None = None,
) -> list[MutantResult]:
    """The fate of generated mutants of the instance's protocol, in order.

    ``mutants``: their ids, all if None. ``claims``: ids of the claims that hold on the instance, all if None.
    With a Spark session the mutants are spread over its cores; the results are the same. Raises BadInstance
    for an unknown id.
    """
    ids = tuple(mutants) if mutants is not None else tuple(m.id for m in mutants_of(instance.protocol))
    for mutant_id in ids:
        find_mutant(instance.protocol, mutant_id)
    chosen = tuple(sorted(claims)) if claims is not None else None
    if spark is not None:
        return _spread(spark, instance, ids, chosen, limits, progress=progress)
    results = []
    for number, mutant_id in enumerate(ids, start=1):
        results.append(_generated(instance, mutant_id, chosen, limits))
        progress(number, total=len(ids), unit="mutants", note=mutant_id)
    return results


def _generated(
    instance: Instance, mutant_id: str, claims: tuple[str, ...] | None, limits: SearchLimits
) -> MutantResult:
    base = _baseline(instance, claims, limits)
    change = str(find_mutant(instance.protocol, mutant_id))
    return assess(base, mutated(instance, mutant_id), mutant_id, change=change, limits=limits)


def _spread(
    spark: SparkSession,
    instance: Instance,
    ids: tuple[str, ...],
    claims: tuple[str, ...] | None,
    limits: SearchLimits,
    *,
    progress: Progress,
) -> list[MutantResult]:
    """Neighbouring mutants differ in one action and go to different tasks, so that the tasks are alike."""
    from tidemark.checks.spark.sweep import run_many

    tasks = max(1, min(len(ids), 2 * spark.sparkContext.defaultParallelism))
    parts = [(instance, ids[number::tasks], claims, limits) for number in range(tasks)]
    results: list[list[MutantResult]] = run_many(
        spark,
        parts,
        "tidemark.checks.mutation.judge:generated_part",
        name=f"mutants in {instance.name}",
        unit="parts",
        progress=progress,
    )
    found = {result.id: result for part in results for result in part}
    return [found[mutant_id] for mutant_id in ids]


def generated_part(
    part: tuple[Instance, tuple[str, ...], tuple[str, ...] | None, SearchLimits],
) -> list[MutantResult]:
    """The work of one Spark task: the fate of some mutants of an instance."""
    instance, ids, claims, limits = part
    return [_generated(instance, mutant_id, claims, limits) for mutant_id in ids]


@lru_cache(maxsize=4)
def _baseline(instance: Instance, claims: tuple[str, ...] | None, limits: SearchLimits) -> Baseline:
    """One search of the protocol itself for all its mutants in this process."""
    return baseline(instance, claims=claims, limits=limits)


class MutateJudge:
    """See ``tidemark.checks.verdicts.judge.Judge``."""

    name = "mutate"
    kinds: frozenset[Kind] = frozenset()

    def run(self, entry: AnyEntry, context: Context) -> list[Verdict]:
        """A verdict per mutant; for generated ones also the count by fate."""
        if isinstance(entry, GeneratedMutants):
            return list(_generated_verdicts(entry, context))
        if isinstance(entry, ImplementationMutants):
            from tidemark.checks.mutation.implementation.judge import implementation_verdicts

            return list(implementation_verdicts(entry, context))
        if isinstance(entry, MutantEntry):
            return [_named_verdict(entry, context)]
        raise BadInputError(f"{entry.name!r} has no mutants", remedy="use the judge that the entry asks for")


JUDGE = MutateJudge()


def _host(name: str, context: Context) -> AnyEntry:
    return next(entry for entry in context.manifest.entries() if entry.name == name)


def _claims_of(host: InstanceEntry, context: Context) -> tuple[str, ...]:
    """Claims that are expected to hold on the instance: only these can notice a mutant."""
    pinned = context.manifest.claims_of(host, list(Kind))
    return tuple(claim for claim in pinned if host.expect.of(claim).value == Outcome.HOLDS.value)


def _generated_verdicts(entry: GeneratedMutants, context: Context) -> Iterator[Verdict]:
    host = _host(entry.instance, context)
    assert isinstance(host, InstanceEntry)
    instance = instance_of(host)
    ids = sampled(ids_of(instance, entry.actions), entry.sample)
    spark = _session(context) if entry.distributed else None
    results = mutate(
        instance, mutants=ids, claims=_claims_of(host, context), progress=context.progress, spark=spark
    )
    for result in results:
        if result.fate is not Fate.EQUIVALENT:
            yield _verdict(context.subject(entry, "mutate", result.id, Aspect.MUTANT), result, instance)
    yield _summary(context.subject(entry, "mutate", SUMMARY, Aspect.PIN), results, instance)


def ids_of(instance: Instance, actions: Collection[str]) -> list[str]:
    """Ids of the generated mutants of these actions, all if there are none. Raises BadInputError."""
    unknown = sorted({*actions} - {action.name for action in instance.spec.actions})
    if unknown:
        raise BadInputError(
            f"{instance.protocol} has no action {unknown[0]!r}",
            remedy="name those of the instance's protocol",
        )
    found = mutants_of(instance.protocol)
    return [mutant.id for mutant in found if not actions or mutant.action.name in actions]


def _session(context: Context) -> SparkSession:
    from tidemark.checks.spark.session import spark_session

    return spark_session(master=context.master, build=context.build)


def _replay(subject: Subject) -> str:
    return check_command("mutate", subject.instance)


def _verdict(subject: Subject, result: MutantResult, instance: Instance) -> Verdict:
    searched: Searched = {
        "counts": {"distinct": result.distinct},
        "bounds": instance.bounds_text(),
        "seconds": result.seconds,
        "replay": _replay(subject),
    }
    if result.fate is Fate.KILLED:
        notes = (f"killed by {result.killer}", result.change)
        return refuted(subject, counterexample=result.counterexample, **searched, notes=notes)
    if result.fate is Fate.UNDECIDED:
        return inconclusive(subject, reason=result.reason, **searched, notes=(result.change,))
    return holds(subject, **searched, notes=(f"{result.fate.value}: {result.reason}", result.change))


def _summary(subject: Subject, results: Sequence[MutantResult], instance: Instance) -> Verdict:
    """The number of mutants by fate; which of them must die is said by their own verdicts."""
    found = summary(list(results))
    counts = {
        "executions": found.total,
        "killed": found.killed,
        "equivalent": found.equivalent,
        "survived": found.survived,
        "undecided": found.undecided,
    }
    killers = Counter(result.killer for result in results if result.fate is Fate.KILLED)
    notes = (str(found), *(f"{killer} kills {n}" for killer, n in sorted(killers.items())))
    return holds(subject, counts=counts, bounds=instance.bounds_text(), replay=_replay(subject), notes=notes)


def _named_verdict(entry: MutantEntry, context: Context) -> Verdict:
    subject = context.subject(entry, "mutate", entry.killer or EQUIVALENT, Aspect.MUTANT)
    host = _host(entry.instance, context)
    if not isinstance(host, InstanceEntry):
        return _by_other_judge(entry, host, subject, context)
    instance = instance_of(host)
    base = _baseline(instance, tuple(sorted(_claims_of(host, context))), LIMITS)
    result = assess(
        base,
        instance_of_mutant(entry, host),
        entry.name,
        change=entry.source,
        limits=LIMITS,
        only=entry.killer,
    )
    return _verdict(subject, result, instance)


def _by_other_judge(entry: MutantEntry, host: AnyEntry, subject: Subject, context: Context) -> Verdict:
    """A mutant of an interleaving program or of a proof: its judge runs the host with the mutant put in.

    The search itself has to find it: that a random execution of its audit does is no kill.
    """
    from tidemark.checks.gate.registry import registry
    from tidemark.checks.interleave.audits.audit import MISSED
    from tidemark.checks.verdicts.plan import judges_of

    place = {"interleave": "program", "proof": "protocol", "conform": "adapter"}[host.section]
    if isinstance(host, ConformEntry) and host.program is not None:
        place = "program"
    changes: dict[str, Any] = {place: entry.ref, "name": entry.name}
    if isinstance(host, InterleaveEntry) and entry.killer is not None:
        # Its search ends at the first violation of a claim: here, of this one. At the refinement any of them
        # ends it, and one of another claim of the host is no refutation of the refinement.
        changes["claims"] = host.claims if entry.killer == REFINEMENT else (entry.killer,)
        changes["live"] = tuple(claim for claim in host.live if claim == entry.killer)
    changed = host.model_copy(update=changes)
    (name,) = judges_of(host)
    for verdict in registry()[name].run(changed, context):
        if verdict.subject.property_id == entry.killer:
            if missed := next((note for note in verdict.notes if MISSED in note), ""):
                return inconclusive(subject, reason=missed, replay=_replay(subject))
            replay = verdict.replay if host.section == "interleave" else _replay(subject)
            return amended(verdict, subject=subject, replay=replay)
    return inconclusive(
        subject,
        reason=f"the judge {name} gave no verdict on {entry.killer or EQUIVALENT}",
        replay=_replay(subject),
    )
