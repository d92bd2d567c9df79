"""Verdicts about the mutants of an entry: each must be noticed, unless it is reviewed.

Which statements of the implementation each host runs, with the real code; and that the host is green.

A host that does not run the changed statement says of the mutant what it says of the real code.
"""

from __future__ import annotations

import hashlib
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.checks.mutation.implementation.farm import Farm, Order
from tidemark.checks.mutation.implementation.fate import (
    BY,
    FATE,
    NOTICED,
    REVIEWED,
    UNNOTICED,
    Fate,
    FateCounts,
    Journal,
    Trial,
)
from tidemark.checks.mutation.implementation.hosts import Answer, AnyHost, Kind, ask, hosts_of
from tidemark.checks.mutation.implementation.trial import DYING, FAILING, UNCHANGED, Target
from tidemark.checks.mutation.implementation.unit_tests import NoTestRunError, UnitTests, unit_tests_of
from tidemark.checks.verdicts.asking import taken_over_from
from tidemark.checks.verdicts.commands import check_command
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.progress import Progress
from tidemark.checks.verdicts.verdict import Aspect, Subject, Verdict, holds, inconclusive, refuted
from tidemark.models.manifest import ImplementationMutants, Manifest
from tidemark.models.mutation.source.mutants import SourceMutant, mutants_of
from tidemark.models.mutation.source.planting import probed
from tidemark.models.refinement.queries import Asked, merged

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, kw_only=True)
class Reach:
    """What a host does with the real code.

    lines: by file the first lines of the statements that it runs. seconds: processor time.
    """

    host: str
    answer: Answer
    lines: Mapping[str, frozenset[int]]
    seconds: float

    def runs(self, mutant: SourceMutant) -> bool:
        """Does the host run what the mutant changes?"""
        return mutant.line in self.lines.get(mutant.file, frozenset())


def reach_of(host: AnyHost, files: Iterable[str], target: Target) -> Reach:
    """Run the host, and note what it runs of the files."""
    lines: dict[str, set[int]] = {file: set() for file in files}
    begun = time.process_time()
    with ExitStack() as stack:
        for file, found in lines.items():
            stack.enter_context(probed(file, found.add, root=target.root, package=target.package))
        answer = ask(host, seed=0)
    return Reach(
        host=host.name,
        answer=answer,
        lines={file: frozenset(found) for file, found in lines.items()},
        seconds=time.process_time() - begun,
    )


def in_order(hosts: Sequence[AnyHost], reaches: Mapping[str, Reach], mutant: SourceMutant) -> list[AnyHost]:
    """The hosts that run what the mutant changes, in the given order."""
    return [host for host in hosts if reaches[host.name].runs(mutant)]


SUMMARY = "implementation-mutants"
"""Claim id of the count of mutants by fate."""
CONTROLS = "controls"
"""Claim id: the real code is not killed, and a trial that cannot be made is no kill."""
CONTROL_TRIALS = (UNCHANGED, FAILING, DYING)
"""The trials of the judge itself: made in every run."""
_CONTROL_HOSTS = 3
"""Hosts that try the real code: the first ones, which decide most. Files of tests do too if they have run in
this process: what a test leaves behind would make it fail whatever the mutant is.
"""


@dataclass(frozen=True)
class Plan:
    """What an entry asks for.

    entry: as it stands. whole: the entry that has files, hosts and reviews. mutants: those to be tried.
    """

    entry: ImplementationMutants
    whole: ImplementationMutants
    target: Target
    hosts: tuple[AnyHost, ...]
    mutants: tuple[SourceMutant, ...]

    @classmethod
    def of(cls, entry: ImplementationMutants, manifest: Manifest, *, every: bool = False) -> Plan:
        """``every``: no sample. Raises BadInputError: a file, a host or a package does not exist."""
        whole = next((one for one in manifest.implementation if one.name == entry.of), entry)
        try:
            target = Target.of(whole.package, whole.slips or "")
            made = [mutant for file in whole.files for mutant in mutants_of(target.root, file)]
            made += [patch.mutant() for patch in target.patches().values()]
        except (OSError, SyntaxError, ModuleNotFoundError) as error:
            raise BadInputError(f"{entry.name}: {error}", remedy="correct 'package' and 'files'") from error
        apart = sorted({mutant.file for mutant in made} - {*whole.files})
        if apart:
            raise BadInputError(
                f"{whole.name}: a slip is made in {apart[0]}, which is none of its files",
                remedy="add the file to 'files', or move the slip to the entry that has it",
            )
        gone = sorted(set(whole.reviewed) - {mutant.id for mutant in made})
        if gone:
            raise BadInputError(
                f"{whole.name}: the reviewed mutant {gone[0]!r} is not made any more",
                remedy="review the function anew: tidemark mutants --list shows the present names",
            )
        hosts: tuple[AnyHost, ...] = (*hosts_of(whole.hosts, manifest), *unit_tests_of(whole.tests))
        if entry.sample is None or every:
            return cls(entry, whole, target, hosts, tuple(made))
        rest = [mutant for mutant in made if mutant.id not in whole.reviewed]
        chosen = sampled([mutant.id for mutant in rest], entry.sample, entry.seed)
        return cls(entry, whole, target, hosts, tuple(one for one in rest if one.id in chosen))

    def orders(self, reaches: Mapping[str, Reach] | None) -> list[Order]:
        """Each mutant with the hosts that try it. If it is not known what they run these are all hosts, and
        tests that name its file come first.
        """
        if reaches is None:
            return [(mutant.id, self._likely_first(mutant.file)) for mutant in self.mutants]
        return [(mutant.id, in_order(self.hosts, reaches, mutant)) for mutant in self.mutants]

    def _likely_first(self, file: str) -> list[AnyHost]:
        def place(host: AnyHost) -> int:
            return (0 if host.names(file) else 2) if isinstance(host, UnitTests) else 1

        return sorted(self.hosts, key=place)


def sampled(ids: Sequence[str], size: int, seed: int) -> frozenset[str]:
    """At most ``size`` of the ids, always the same ones for a seed."""

    def rank(name: str) -> bytes:
        return hashlib.sha256(f"{seed} {name}".encode()).digest()

    return frozenset(sorted(ids, key=rank)[:size])


def implementation_verdicts(entry: ImplementationMutants, context: Context) -> list[Verdict]:
    """A verdict per mutant, the controls, and the count by fate.

    Those of a sample are taken over while the specifications reply to its trials as before. The trials of all
    mutants are kept as they come: a run that was stopped goes on behind them, unless it is to judge afresh.
    """
    plan = Plan.of(entry, context.manifest)
    if entry.sample is None:
        reaches = reaches_of(plan, progress=context.progress)
        journal = Journal(context.build, plan.whole.name, seed=context.seed)
        return list(_verdicts(plan, context, tried(plan, context, reaches, journal=journal)))
    reuse = context.reuse
    if reuse is None or entry.distributed:
        return list(_verdicts(plan, context, tried(plan, context, None)))

    def noted() -> tuple[list[Verdict], list[Asked]]:
        farm = _farm(plan, context, {}, noting=True)
        trials = tried(plan, context, None, farm=farm)
        known = all(trial.id in farm.asked for trial in trials if trial.id not in (FAILING, DYING))
        asked = merged(one for several in farm.asked.values() for one in several) if known else []
        return list(_verdicts(plan, context, trials)), asked

    return taken_over_from(reuse, entry.name, noted)


def _verdicts(plan: Plan, context: Context, trials: Sequence[Trial]) -> Iterator[Verdict]:
    entry = plan.entry
    subjects = {
        trial.id: context.subject(entry, "mutate", trial.id, Aspect.SLIP)
        for trial in trials
        if trial.id not in CONTROL_TRIALS
    }
    texts = {mutant.id: str(mutant) for mutant in plan.mutants}
    for trial in trials:
        if trial.id in subjects:
            yield _verdict(subjects[trial.id], trial, texts[trial.id], plan)
    controls = {trial.id: trial for trial in trials if trial.id not in subjects}
    yield _controls(context.subject(entry, "mutate", CONTROLS, Aspect.PIN), controls)
    own = [trial for trial in trials if trial.id in subjects]
    yield _summary(context.subject(entry, "mutate", SUMMARY, Aspect.PIN), own, plan)


def reaches_of(plan: Plan, *, progress: Progress) -> dict[str, Reach]:
    """What each host runs of the files with the real code.

    Raises BadInputError: a host does not say with the real code what it is pinned to say.
    """
    found = {}
    for number, host in enumerate(plan.hosts, start=1):
        try:
            reach = reach_of(host, plan.whole.files, plan.target)
        except NoTestRunError as error:
            raise BadInputError(str(error), remedy=f"first make them run: {host.replay}") from error
        if reach.answer.kind is not Kind.SAME:
            raise BadInputError(
                f"{host.name} is not green without any mutant: {reach.answer.words}",
                remedy=f"first make it green: {host.replay}",
            )
        found[host.name] = reach
        progress(number, total=len(plan.hosts), unit="hosts", note=host.name)
    return found


def _farm(plan: Plan, context: Context, seconds: Mapping[str, float], *, noting: bool = False) -> Farm:
    jobs = context.workers or 1
    return Farm(plan.target, seconds=seconds, jobs=jobs, seed=context.seed, noting=noting)


def tried(
    plan: Plan,
    context: Context,
    reaches: Mapping[str, Reach] | None,
    *,
    farm: Farm | None = None,
    journal: Journal | None = None,
) -> list[Trial]:
    """The trials of the mutants and of the controls, in order.

    ``reaches``: by host what it runs; None if that is not known. ``farm``: the one that tries them; by
    default one of its own. ``journal``: keeps the trials. Those that it has are not repeated, unless nothing
    may be taken over.
    """
    seconds = {name: reach.seconds for name, reach in (reaches or {}).items()}
    first = plan.hosts[:_CONTROL_HOSTS]
    again = [host for host in plan.hosts[_CONTROL_HOSTS:] if reaches and isinstance(host, UnitTests)]
    controls: list[Order] = [(UNCHANGED, [*first, *again]), (FAILING, first[:1]), (DYING, first[:1])]
    every = plan.orders(reaches)
    goes_on = journal is not None and context.reuse is not None and context.reuse.read
    known = {trial.id: trial for trial in journal.trials()} if journal and goes_on else {}
    found = [known[name] for name, hosts in every if hosts and name in known]
    due = [*controls, *((name, hosts) for name, hosts in every if hosts and name not in known)]
    farm = farm or _farm(plan, context, seconds)
    place = {name: number for number, (name, _) in enumerate([*controls, *every])}
    for trial in _spread(plan, context, due, seconds) if plan.entry.distributed else farm.trials(due):
        found.append(trial)
        if journal and trial.id not in CONTROL_TRIALS:
            journal.keep(trial)
        if not plan.entry.distributed:
            context.progress(len(found), total=len(place), unit="mutants", note=trial.id)
    return sorted([*found, *trials_without_hosts(every)], key=lambda trial: place[trial.id])


def _spread(
    plan: Plan, context: Context, orders: Sequence[Order], seconds: Mapping[str, float]
) -> Iterator[Trial]:
    """The same on Spark, round by round."""
    from tidemark.checks.mutation.implementation.farm import spread

    for found in spread(
        _session(context),
        plan.target,
        orders,
        name=plan.entry.name,
        seconds=seconds,
        seed=context.seed,
        progress=context.progress,
    ):
        yield from found


def trials_without_hosts(orders: Sequence[Order]) -> list[Trial]:
    """The mutants that no host runs: they need not be tried."""
    return [Trial(id=mutant, fate=Fate.UNREACHED) for mutant, hosts in orders if not hosts]


def _session(context: Context) -> SparkSession:
    from tidemark.checks.spark.session import spark_session

    return spark_session(master=context.master, build=context.build)


def _verdict(subject: Subject, trial: Trial, text: str, plan: Plan) -> Verdict:
    counts = {"executions": max(1, len(trial.tried))}
    by = f"{BY}{trial.host}" if trial.fate is Fate.KILLED else ""
    reviewed = plan.whole.reviewed.get(trial.id)
    notes = (text, f"{FATE}{trial.fate.value}{by}", *((f"{REVIEWED}{reviewed}",) if reviewed else ()))
    replay = check_command("mutate", subject.instance)
    if trial.fate in NOTICED and not is_harmless(trial, plan):
        return refuted(
            subject, reason=str(trial), counts=counts, seconds=trial.seconds, replay=replay, notes=notes
        )
    if trial.fate in UNNOTICED or is_harmless(trial, plan):
        return holds(
            subject,
            counts=counts,
            bounds=f"{len(trial.tried)} entries: {', '.join(trial.tried) or 'none reaches it'}",
            seconds=trial.seconds,
            replay=replay,
            notes=notes,
        )
    return inconclusive(
        subject, reason=str(trial), counts=counts, seconds=trial.seconds, replay=replay, notes=notes
    )


def is_harmless(trial: Trial, plan: Plan) -> bool:
    """An equivalent mutant may have other interleavings: the counts of a search change, and nothing else."""
    return trial.fate is Fate.COUNTED and trial.id in plan.whole.equivalent


def _controls(subject: Subject, controls: Mapping[str, Trial]) -> Verdict:
    """A runner that kills the real code, or that counts its own failures as kills, is found out here."""
    due = {UNCHANGED: Fate.SURVIVED, FAILING: Fate.BROKEN, DYING: Fate.BROKEN}
    problems = []
    for name, fate in due.items():
        trial = controls.get(name)
        if trial is None or trial.fate is not fate:
            problems.append(f"{name} must be {fate.value!r}: {trial or 'it was not tried'}")
    replay = check_command("mutate", subject.instance)
    if problems:
        return refuted(subject, counts={"pins": len(due)}, reason="; ".join(problems), replay=replay)
    return holds(subject, counts={"pins": len(due)}, bounds="the runner of mutants", replay=replay)


def _summary(subject: Subject, trials: Sequence[Trial], plan: Plan) -> Verdict:
    found = FateCounts.of(trials, plan.whole.equivalent)
    names = "\n".join(sorted(trial.id for trial in trials))
    counts = {
        "pins": max(1, found.total),
        "killed": found.fates[Fate.KILLED],
        "by_count": found.fates[Fate.COUNTED],
        "by_refusal": found.fates[Fate.REFUSED],
        "endless": found.fates[Fate.ENDLESS],
        "survived": found.fates[Fate.SURVIVED] + found.fates[Fate.UNREACHED],
        "equivalent": found.equivalent,
        "names_crc32": zlib.crc32(names.encode()),
    }
    killers = Counter(trial.host for trial in trials if trial.fate is Fate.KILLED)
    notes = (str(found), *(f"{host} kills {number}" for host, number in killers.most_common()))
    bounds = f"{len(plan.hosts)} entries, in the order in which they kill"
    return holds(
        subject, counts=counts, bounds=bounds, replay=check_command("mutate", subject.instance), notes=notes
    )
