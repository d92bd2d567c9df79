"""The state machine, made from the actions of the specification.

A step may be drawn when the interpreter enables it and the adapter offers it. It is performed on the
implementation, the interpreter does the same, and the two states are compared; every invariant must hold.

There is one rule and not one for each action: Hypothesis leaves out some rules in each example, and a
protocol without one of its actions soon stands still.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from models.interpreted.interpreter import Step
from models.refinements.step import StepChecker
from models.stateful.adapter import Adapter, BrokenRunError, State

_FAIR = 5
"""How often a fair action stands in the list that is drawn from."""


class Mismatch(AssertionError):  # noqa: N818  an assertion that failed, as Hypothesis expects it
    """Implementation and interpreter have come apart; the message has the claim and what differs."""

    def __init__(self, claim: str, text: str) -> None:
        self.claim = claim
        super().__init__(f"{claim}: {text}")


@dataclass
class Journal:
    """What the examples did: how often each action was performed, and the steps of the last example.

    Hypothesis runs the shrunk failure last, so that ``steps`` and ``states`` are its shortest failing run.
    """

    performed: Counter[str] = field(default_factory=Counter)
    examples: int = 0
    steps: list[Step] = field(default_factory=list)
    states: list[State] = field(default_factory=list)
    mismatch: Mismatch | None = None

    def begin(self, state: State) -> None:
        """A new example starts."""
        self.examples += 1
        self.steps, self.states, self.mismatch = [], [state], None


class _Machine(RuleBasedStateMachine):
    """What to drive is added by ``machine``."""

    checker: StepChecker
    journal: Journal
    build: Callable[[], Adapter]

    def __init__(self) -> None:
        super().__init__()
        self._adapter: Adapter | None = None
        self._state: State = ()
        self._offers: dict[str, list[Step]] | None = None

    @initialize()
    def begin(self) -> None:
        """The first abstract state is an initial state of the specification."""
        self._adapter = type(self).build()
        self._state = self._adapter.state()
        self.journal.begin(self._state)
        wrong = self.checker.start(self._state)
        if wrong is not None:
            self._fail(wrong.claim, wrong.text)

    def offered(self, action: str) -> list[Step]:
        """Steps of an action that both sides can do now and that stay within the bounds."""
        if self._adapter is None:
            return []
        if self._offers is None:
            self._offers = {}
            for found in self.checker.successors(self._state):
                if found.inside and found.state != self._state and self._adapter.offers(found.step):
                    self._offers.setdefault(found.step.action, []).append(found.step)
        return self._offers.get(action, [])

    @rule(data=st.data())
    def act(self, data: Any) -> None:
        """An action that is offered, then one of its steps; nothing when budgets are spent and all is done.

        Actions that the specification calls fair are drawn more often: examples get further, and faults stay
        faults.
        """
        actions = [
            action.name
            for action in self.checker.spec.actions
            for _ in range(1 if action.fairness == "none" else _FAIR)
            if self.offered(action.name)
        ]
        if actions:
            action = data.draw(st.sampled_from(actions), label="action")
            self.do(data.draw(st.sampled_from(self.offered(action)), label="step"))

    def do(self, step: Step) -> None:
        """One step on both sides."""
        assert self._adapter is not None
        before, self._offers = self._state, None
        self.journal.steps.append(step)
        try:
            self._adapter.perform(step)
        except BrokenRunError as error:
            self.journal.states.append(before)
            self._fail("conformance", f"during {step}: {error}")
        self._state = self._adapter.state()
        self.journal.states.append(self._state)
        expected = self.checker.interpreter.apply(before, step)
        assert expected is not None
        wanted = self.checker.normal(expected.state)
        if self._state != wanted:
            differs = self.checker.changes(wanted, self._state)
            self._fail(
                "conformance", f"after {step} the implementation differs (specified -> seen): {differs}"
            )
        # The lemmas are the proof's: a state that the interpreter has reached too satisfies them.
        broken = self.checker.broken(self._state, lemmas=False)
        if broken is not None:
            self._fail(broken.id, broken.sentence)
        self.journal.performed[step.action] += 1

    def _fail(self, claim: str, text: str) -> NoReturn:
        self.journal.mismatch = Mismatch(claim, text)
        raise self.journal.mismatch

    def teardown(self) -> None:
        """End the implementation's run."""
        if self._adapter is not None:
            self._adapter.close()


def machine(checker: StepChecker, build: Callable[[], Adapter], journal: Journal) -> type[_Machine]:
    """The state machine class of a protocol: run it with ``run_state_machine_as_test``."""
    return type(
        f"{checker.spec.name}Machine",
        (_Machine,),
        {"checker": checker, "journal": journal, "build": staticmethod(build)},
    )
