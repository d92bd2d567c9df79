"""What ``tidemark mutants`` does: try the mutants, keep what became of them, print it and the table."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from tidemark.checks.mutation.implementation.farm import Farm, Order
from tidemark.checks.mutation.implementation.fate import NOTICED, UNNOTICED, Trial
from tidemark.checks.mutation.implementation.journal import Journal
from tidemark.checks.mutation.implementation.judge import Plan, is_harmless, reaches_of, trials_without_hosts
from tidemark.checks.mutation.implementation.table import (
    killers_text,
    measured_text,
    seconds_text,
    table_text,
)
from tidemark.checks.mutation.implementation.unit_tests import unit_tests_of
from tidemark.checks.verdicts.errors import BadInputError, known_names
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.cores import cores
from tidemark.models.manifest import Manifest
from tidemark.models.manifest.about import about


@dataclass(frozen=True)
class _Found:
    """What is known of the mutants of one entry."""

    plan: Plan
    trials: tuple[Trial, ...]

    @property
    def unexpected(self) -> list[Trial]:
        """Neither noticed nor reviewed, or reviewed and noticed all the same."""
        whole = self.plan.whole
        quiet = {*whole.equivalent, *whole.holes}
        harmless = {trial.id for trial in self.trials if is_harmless(trial, self.plan)}
        return [
            trial
            for trial in self.trials
            if trial.id not in harmless and trial.fate not in (UNNOTICED if trial.id in quiet else NOTICED)
        ]


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The options of the command. master: of the Spark session that tries them; None for processes of this
    machine. tests: files and folders of tests that are hosts, too.
    """

    entry: str
    only: str
    listed: bool
    last: bool
    build: Path
    jobs: int | None
    master: str | None = None
    tests: tuple[str, ...] = ()


def mutants(chosen: Chosen, manifests: Sequence[Manifest]) -> int:
    """Try, print, and return the exit status. Raises BadInputError for an unknown entry or id."""
    more = unit_tests_of(chosen.tests)
    plans = [replace(plan, hosts=(*plan.hosts, *more)) for plan in _plans(manifests, chosen.entry)]
    if not any(chosen.only in mutant.id for plan in plans for mutant in plan.mutants):
        remedy = f"{shlex.join(['tidemark', 'mutants', *filter(None, [chosen.entry]), '--list'])}  lists them"
        raise BadInputError(f"no mutant has {chosen.only!r} in its id", remedy=remedy)
    if chosen.listed:
        for plan in plans:
            for mutant in plan.mutants:
                if chosen.only in mutant.id:
                    print(mutant)
        return ExitCode.AS_EXPECTED.value
    found = [_tried(plan, chosen) for plan in plans]
    return _show(found)


def _plans(manifests: Sequence[Manifest], name: str) -> Iterator[Plan]:
    whole = {
        entry.name: (entry, manifest)
        for manifest in manifests
        for entry in manifest.implementation
        if (entry.name == name if name else entry.of is None)
    }
    if not whole:
        known = [entry.name for one in manifests for entry in one.implementation]
        raise BadInputError(f"there are no mutants {name!r}", remedy=known_names(name, known))
    print(about((manifest, name) for name, (_, manifest) in whole.items()))
    for entry, manifest in whole.values():
        yield Plan.of(entry, manifest, every=True)


def _tried(plan: Plan, chosen: Chosen) -> _Found:
    journal = Journal(chosen.build, plan.entry.name)
    known = {trial.id: trial for trial in journal.trials()}
    due = [mutant.id for mutant in plan.mutants if chosen.only in mutant.id]
    if not chosen.last and not set(due) <= set(known):
        reaches = reaches_of(plan, progress=_progress)
        orders = [order for order in plan.orders(reaches) if order[0] in due and order[0] not in known]
        seconds = {name: reach.seconds for name, reach in reaches.items()}
        tried = _trials(plan, [one for one in orders if one[1]], seconds, chosen)
        for trial in chain(trials_without_hosts(orders), tried):
            journal.keep(trial)
            known[trial.id] = trial
    return _Found(plan, tuple(known[name] for name in due if name in known))


def _trials(
    plan: Plan, orders: Sequence[Order], seconds: Mapping[str, float], chosen: Chosen
) -> Iterator[Trial]:
    """Try them here, or on Spark."""
    if chosen.master is None:
        yield from Farm(plan.target, seconds=seconds, jobs=chosen.jobs or cores()).trials(orders)
        return
    from tidemark.checks.mutation.implementation.spread import spread
    from tidemark.checks.spark.session import spark_session

    session = spark_session(master=chosen.master, build=chosen.build)
    name = plan.entry.name
    for found in spread(session, plan.target, orders, name=name, seconds=seconds, seed=0, progress=_Rounds()):
        yield from found


class _Rounds:
    """Tells how far a round on Spark is, once for each part that is done."""

    def __init__(self) -> None:
        self._told = -1

    def __call__(self, done: int, *, total: int | None = None, unit: str = "", note: str = "") -> None:
        if done != self._told:
            self._told = done
            _progress(done, total=total, unit=unit, note=note)


def _progress(done: int, *, total: int | None = None, unit: str = "", note: str = "") -> None:
    sys.stderr.write(f"[{done}/{total}] {unit}: {note}\n")


def _show(found: Sequence[_Found]) -> int:
    trials = [trial for one in found for trial in one.trials]
    equivalent = {name for one in found for name in one.plan.whole.equivalent}
    for one in found:
        texts = {mutant.id: str(mutant) for mutant in one.plan.mutants}
        for trial in one.trials:
            if trial in one.unexpected:
                print(f"{trial}\n    {texts[trial.id]}")
    if not trials:
        raise BadInputError("nothing was tried", remedy="leave --last or --only out")
    judges = {host.name: host.judge for one in found for host in one.plan.hosts}
    print(table_text(trials, equivalent, judges=judges))
    print(killers_text(trials, judges))
    print(seconds_text(trials))
    for one in found:
        print(measured_text(one.plan.entry.name, one.trials, judges))
    bad = any(one.unexpected for one in found)
    return (ExitCode.MISSING_REFUTATION if bad else ExitCode.AS_EXPECTED).value
