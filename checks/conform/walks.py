"""Walks over a program of the explorer: Hypothesis picks what happens next, within budgets that no search can
exhaust. Each step is compared with the specification, as in a search.

It samples: a pass holds over the walks that were made, and the bounds say how many and how long.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any

from hypothesis import given, seed
from hypothesis import strategies as st

from tidemark.checks.interleave.executions.record import ExecutionRecord
from tidemark.checks.interleave.executions.recorded_execution import (
    Refining,
    SaysFaults,
    counterexample_of,
    witness,
)
from tidemark.checks.interleave.executions.run import Runner
from tidemark.checks.interleave.executions.shrink import shrink
from tidemark.checks.interleave.executions.token import encode
from tidemark.checks.interleave.judge import program_of
from tidemark.checks.interleave.result import Found
from tidemark.checks.interleave.search_loop import quiet
from tidemark.checks.interleave.strategies.strategy import StateStrategy
from tidemark.checks.verdicts.counterexample import Counterexample
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.conformance.draws import even_draws
from tidemark.models.manifest import ConformEntry
from tidemark.models.simulation import Execution, Footprint, Interner, ProgramRef, Violation

FAULT, ANYTHING_ELSE = 1, 10
"""How often a kind of event is drawn: faults stay faults, and walks get further."""
_NUMBER = re.compile(r"\d+")
_ATTEMPTS = 400
"""Executions that the shortening of a counterexample may take."""


class Walk(StateStrategy):
    """Decides by Hypothesis: first the kind of event, which is its label without numbers, then one of them. A
    kind that was drawn often in this walk is drawn less often.

    Args:
        weights: how often a kind is drawn, by the beginning of its label, if not by the rule.
    """

    def __init__(self, weights: dict[str, int]) -> None:
        self._weights = weights
        self._faults: frozenset[str] = frozenset()
        self._drawn: Counter[str] = Counter()
        self.data: Any = None
        """Of Hypothesis, for the present walk."""

    def new_execution(self) -> bool:
        """Begin a walk."""
        self._drawn.clear()
        return True

    def arrive(self, execution: Execution) -> bool:
        """Note which events are faults."""
        self._faults = frozenset(event.label for event in execution.enabled() if event.fault)
        return True

    def pick(self, enabled: Sequence[str], last: Footprint | None) -> int:
        """Draw a kind, and an event of it."""
        del last
        kinds: dict[str, list[int]] = {}
        for place, label in enumerate(enabled):
            kinds.setdefault(_NUMBER.sub("#", label), []).append(place)
        names = list(kinds)
        sums = list(accumulate(self._weight(name, enabled[kinds[name][0]]) for name in names))
        drawn = self._draw(sums[-1]) if len(names) > 1 else 0
        name = next(name for name, upto in zip(names, sums, strict=True) if drawn < upto)
        self._drawn[name] += 1
        return kinds[name][self._draw(len(kinds[name]))]

    def _weight(self, kind: str, label: str) -> int:
        rule = FAULT if label in self._faults else ANYTHING_ELSE
        weight = next((w for begin, w in self._weights.items() if label.startswith(begin)), rule)
        tired: float = (1 + self._drawn[kind]) ** 0.5
        return round(100 * weight / tired) + 1

    def _draw(self, below: int) -> int:
        return 0 if below == 1 else int(self.data.draw(st.integers(0, below - 1)))

    def done(self, last: Footprint | None) -> None:
        """Nothing is learned."""


class Broken(AssertionError):  # noqa: N818  an assertion that failed, as Hypothesis expects it
    """A walk has shown a violation."""


@dataclass
class Walks:
    """The walks of one entry, and what they have exercised.

    Attributes:
        made: how many there were.
        steps: of all of them.
        covered: by action and fault how many walks have had it.
        broken: the walk that has shown a violation.
    """

    entry: ConformEntry
    seed: int
    made: int = 0
    steps: int = 0
    covered: Counter[str] = field(default_factory=Counter)
    broken: ExecutionRecord | None = None

    @cached_property
    def program(self) -> ProgramRef:
        """What is walked over."""
        return program_of(self.entry)

    def run(self) -> float:
        """Make the walks, to the first violation. Returns the seconds that it took."""
        begun = time.perf_counter()
        walk = Walk(self.entry.weights)
        runner = Runner(self.program.load(), walk, interner=Interner(), steps=self.entry.steps)

        def one(data: Any) -> None:
            walk.data = data
            walk.new_execution()
            self._note(runner.run())

        # The gate must not depend on luck: a seed is a set of walks.
        example = even_draws(self.entry.examples)(seed(self.seed)(given(st.data())(one)))
        with quiet(), contextlib.suppress(Broken):
            example()
        return time.perf_counter() - begun

    def _note(self, record: ExecutionRecord) -> None:
        self.made += 1
        self.steps += len(record.trace)
        self.covered.update(record.covered)
        if record.violation is not None:
            self.broken = record
            raise Broken(record.violation.message)

    def violation(self) -> Violation | None:
        """What is wrong, if anything is."""
        return None if self.broken is None else self.broken.violation

    def shown(self) -> Counterexample:
        """The shortest run that was found with the same violation."""
        record, violation = self.broken, self.violation()
        assert record is not None
        assert violation is not None
        labels = tuple(step.label for step in record.trace)
        found = Found(violation, record.picks, labels, encode(self.program.digest(), record.trace))
        short = shrink(self.program, found, attempts=_ATTEMPTS, fewest=True)
        return counterexample_of(witness(self.program, short.found.token))

    def reached(self) -> tuple[str, ...]:
        """How many walks have had what the entry must reach."""
        return tuple(f"{name} in {self.covered[name]} of {self.made} walks" for name in self.entry.reaches)

    def silent(self) -> list[str]:
        """What makes the walks say less than it seems: actions and faults that none has had, steps that too
        few have had, excuses that are not needed.
        """
        program = self.program.load()()
        if not isinstance(program, Refining):
            raise BadInputError(
                f"{self.entry.name}: {self.entry.program!r} refines no protocol",
                remedy="name a program whose steps are compared with a specification",
            )
        actions = [action.name for action in program.checker.spec.actions]
        faults = sorted(program.faults) if isinstance(program, SaysFaults) else []
        excused = self.entry.unreached
        few = self.made < self.entry.examples
        problems = [f"only {self.made} of {self.entry.examples} walks were made"] if few else []
        problems += ["a later state is taken for a first one"] * program.checker.mistakes_a_start()
        problems += [
            f"no walk has had the {what} {name}"
            for what, names in (("action", actions), ("fault", faults))
            for name in names
            if not self.covered[name] and name not in excused
        ]
        known = {*actions, *(witness.id for witness in program.checker.spec.of_kind("reachable"))}
        problems += [
            f"{name} in {self.covered[name]} of {self.made} walks, and {least:.0%} of them must have it"
            if name in known
            else f"the entry reaches {name!r}, which is no action and no witness"
            for name, least in self.entry.reaches.items()
            if self.covered[name] < least * self.made or name not in known
        ]
        return problems + [
            f"the entry excuses {name!r}, which a walk has had or which does not exist"
            for name in excused
            if self.covered[name] or name not in (*actions, *faults)
        ]
