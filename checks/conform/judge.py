"""The judge ``conform``: Hypothesis drives the implementation and the interpreter side by side.

It samples: a pass holds over the examples that were run, and the bounds say how many. Actions that no example
performed are named by the coverage verdict, unless the adapter says why it cannot offer them.
"""

from __future__ import annotations

import contextlib
import io
import time
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from hypothesis.stateful import run_state_machine_as_test

from tidemark.checks.conform.walks import Walks
from tidemark.checks.verdicts.asking import taken_over
from tidemark.checks.verdicts.commands import check_command
from tidemark.checks.verdicts.counterexample import Counterexample
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.trace import counterexample
from tidemark.checks.verdicts.verdict import COVERAGE, Aspect, Searched, Verdict, holds, inconclusive, refuted
from tidemark.models.conformance import Adapter, ConformanceRun, Journal, Mismatch, machine, shortest
from tidemark.models.conformance.draws import even_draws
from tidemark.models.instance import Instance
from tidemark.models.manifest import AnyEntry, ConformEntry, Kind
from tidemark.models.refinement.step import StepChecker
from tidemark.models.simulation.execution import CLOSED_WORLD
from tidemark.spec.language.references import load_callable

CLAIM = "conformance"

_ATTEMPTS = 400
"""Runs that the shortening of a counterexample may take."""


class AdapterClass(Protocol):
    """What the manifest's ``adapter`` names."""

    ignored: tuple[str, ...]
    """Variables of the specification that only count for bounds."""
    never_offered: dict[str, str]
    """Actions that the adapter cannot perform, each with the reason."""

    def __call__(self, instance: Instance, checker: StepChecker) -> Adapter:
        """Begin a run of the implementation."""


class ConformJudge:
    """Judges an implementation by examples."""

    name = "conform"
    kinds: frozenset[Kind] = frozenset()

    def run(self, entry: AnyEntry, context: Context) -> list[Verdict]:
        """See ``Judge``."""
        assert isinstance(entry, ConformEntry)
        judged = self._driven if entry.program is None else self._walked
        return taken_over(context.reuse, entry.name, lambda: judged(entry, context))

    def _walked(self, entry: ConformEntry, context: Context) -> list[Verdict]:
        walks = Walks(entry, context.seed)
        seconds = walks.run()
        over: Searched = {
            "counts": {"examples": walks.made, "performed": walks.steps},
            "bounds": f"{entry.examples} walks of at most {entry.steps} steps, seed {context.seed}",
            "seconds": seconds,
            "replay": check_command(self.name, entry.name),
        }
        violation = walks.violation()
        if violation is not None and violation.kind == CLOSED_WORLD:
            subject = context.subject(entry, self.name, CLAIM)
            reason = f"the program cannot be explored: {violation.message}"
            return [inconclusive(subject, reason=reason, **over)]
        if violation is not None:  # the walks end at the first failure: what they cover says nothing
            return [self._conformance(entry, context, over, walks.shown())]
        return [
            self._conformance(entry, context, over, None),
            self._coverage(entry, context, over, walks.silent(), notes=walks.reached()),
        ]

    def _driven(self, entry: ConformEntry, context: Context) -> list[Verdict]:
        drive = Drive.of(entry, context)
        begin = time.perf_counter()
        failing = drive.failing()
        if failing is not None:
            failing = shortest(failing, drive.build, attempts=_ATTEMPTS)
        return self.verdicts(drive, failing, time.perf_counter() - begin)

    def verdicts(self, drive: Drive, failing: ConformanceRun | None, seconds: float) -> list[Verdict]:
        """What the examples say."""
        entry, context, journal = drive.entry, drive.context, drive.journal
        counts = {
            "examples": journal.examples,
            "performed": sum(journal.performed.values()),
            **{f"fault_{name}": times for name, times in sorted(journal.faults.items())},
        }
        bounds = (
            f"{entry.examples} examples of at most {entry.steps} steps, seed {context.seed}; "
            f"{drive.checker.interpreter.instance.bounds_text()}"
        )
        replay = check_command(self.name, entry.name)
        over: Searched = {"counts": counts, "bounds": bounds, "seconds": seconds, "replay": replay}
        conformance = self._conformance(entry, context, over, _shown(failing))
        if failing is not None:  # the examples end at the first failure: what they cover says nothing
            return [conformance]
        silent = _silent(entry, drive.checker, drive.adapter, journal)
        return [conformance, self._coverage(entry, context, over, silent)]

    def _conformance(
        self, entry: ConformEntry, context: Context, over: Searched, shown: Counterexample | None
    ) -> Verdict:
        subject = context.subject(entry, self.name, CLAIM)
        return holds(subject, **over) if shown is None else refuted(subject, counterexample=shown, **over)

    def _coverage(
        self,
        entry: ConformEntry,
        context: Context,
        over: Searched,
        problems: list[str],
        notes: tuple[str, ...] = (),
    ) -> Verdict:
        subject = context.subject(entry, self.name, COVERAGE, Aspect.VACUITY)
        if not problems:
            return holds(subject, **over, notes=notes)
        return refuted(subject, reason="; ".join(problems), **over)


def _instance(entry: ConformEntry, context: Context) -> Instance:
    for known in context.manifest.instance:
        if known.name == entry.instance:
            bounds, constants = {**known.bounds, **entry.bounds}, {**known.constants, **entry.constants}
            return Instance(known.protocol, bounds, constants, known.name)
    raise BadInputError(f"no instance {entry.instance!r}", remedy="name an instance of the manifest")


@dataclass
class Drive:
    """The examples of one entry, and what they have done."""

    entry: ConformEntry
    context: Context
    adapter: AdapterClass
    checker: StepChecker
    journal: Journal = field(default_factory=Journal)

    @classmethod
    def of(cls, entry: ConformEntry, context: Context) -> Drive:
        """Nothing is run yet. Raises BadInputError for an unknown instance."""
        assert entry.adapter is not None
        adapter = cast("AdapterClass", load_callable(entry.adapter, what="adapter"))
        checker = StepChecker(_instance(entry, context), ignored=adapter.ignored)
        return cls(entry, context, adapter, checker)

    def build(self) -> Adapter:
        """A run of the implementation from its start."""
        return self.adapter(self.checker.interpreter.instance, self.checker)

    def failing(self) -> ConformanceRun | None:
        """Run the examples; returns the first failing run, or None."""
        entry, seed = self.entry, self.context.seed
        tested: Any = machine(self.checker, self.build, self.journal)
        # The gate must not depend on luck: a seed is a set of examples.
        tested._hypothesis_internal_use_seed = seed  # noqa: SLF001  what @seed does to a test function
        chosen = even_draws(entry.examples, stateful_step_count=entry.steps)
        try:
            # Hypothesis prints the choices of a failing example; the counterexample says it better.
            with contextlib.redirect_stdout(io.StringIO()):
                run_state_machine_as_test(tested, settings=chosen)
        except Mismatch:
            return self.journal.last
        return None


def _shown(failing: ConformanceRun | None) -> Counterexample | None:
    if failing is None:
        return None
    return counterexample(
        failing.checker.interpreter.instance,
        states=failing.states,
        steps=[step for step, _ in failing.moves],
        failing=str(failing.mismatch),
        replayable=False,
    )


def _silent(entry: ConformEntry, checker: StepChecker, adapter: AdapterClass, journal: Journal) -> list[str]:
    """What makes the run say less than it seems: too few examples, actions never performed, excuses that are
    not needed.
    """
    names = [action.name for action in checker.spec.actions]
    problems = []
    if journal.examples < entry.examples:
        problems.append(f"only {journal.examples} of {entry.examples} examples were run")
    problems += [
        f"the action {name} was never performed"
        for name in names
        if not journal.performed[name] and name not in adapter.never_offered
    ]
    problems += [
        f"the fault {name} never happened" for name, times in sorted(journal.faults.items()) if not times
    ]
    problems += [
        f"the adapter excuses {name!r}, which was performed or does not exist"
        for name in adapter.never_offered
        if name not in names or journal.performed[name]
    ]
    return problems


JUDGE = ConformJudge()
