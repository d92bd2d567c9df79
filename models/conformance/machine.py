"""The state machine, made from the actions of the specification.

A step may be drawn when the interpreter enables it and the adapter offers it. It is performed on the
implementation, the interpreter does the same, and the two states are compared; every invariant must hold.

There is one rule and not one for each action: Hypothesis leaves out some rules in each example, and a
protocol without one of its actions soon stands still.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tidemark.models.conformance.adapter import Adapter
from tidemark.models.conformance.run import ConformanceRun
from tidemark.models.refinement.step import StepChecker

_FAIR = 10
"""How often a fair action is in the list that is drawn from."""

_CHANCES = (0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
"""Half of the steps are done in the plainest way. What the others stand for is the adapter's business."""


@dataclass
class Journal:
    """What the examples did: actions performed, faults that happened, and the last example."""

    performed: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    examples: int = 0
    last: ConformanceRun | None = None


class _Machine(RuleBasedStateMachine):
    """What to drive is added by ``machine``."""

    checker: StepChecker
    journal: Journal
    build: Callable[[], Adapter]

    def __init__(self) -> None:
        super().__init__()
        self._run: ConformanceRun | None = None

    @initialize()
    def begin(self) -> None:
        """The first abstract state is an initial state of the specification."""
        self._run = self.journal.last = ConformanceRun(self.checker, type(self).build)
        self.journal.examples += 1
        self._run.begin()

    @rule(data=st.data())
    def act(self, data: Any) -> None:
        """An action that is offered, then one of its steps; nothing when all is done. Fair actions are drawn
        more often: examples get further, and faults stay faults.
        """
        run = self._run
        assert run is not None
        actions = [
            action.name
            for action in self.checker.spec.actions
            for _ in range(1 if action.fairness == "none" else _FAIR)
            if run.offered(action.name)
        ]
        if not actions:
            return
        action = data.draw(st.sampled_from(actions), label="action")
        step = data.draw(st.sampled_from(run.offered(action)), label="step")
        run.do(step, data.draw(st.sampled_from(_CHANCES), label="chance"))
        self.journal.performed[action] += 1

    def teardown(self) -> None:
        """End the implementation's run."""
        if self._run is not None:
            self.journal.faults.update(self._run.faults())
            self._run.close()


def machine(checker: StepChecker, build: Callable[[], Adapter], journal: Journal) -> type[_Machine]:
    """The state machine class of a protocol: run it with ``run_state_machine_as_test``."""
    return type(
        f"{checker.spec.name}Machine",
        (_Machine,),
        {"checker": checker, "journal": journal, "build": staticmethod(build)},
    )
