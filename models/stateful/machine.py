"""The state machine: one rule for each action of the specification.

A rule may run when the interpreter enables its action and the adapter offers it. It performs the step on the
implementation, lets the interpreter do the same, and compares the two states; every invariant must hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from models.interpreted.interpreter import Step
from models.refinements.step import StepChecker
from models.stateful.adapter import Adapter, State


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
    """Rules are added by ``machine``."""

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

    def do(self, step: Step) -> None:
        """One step on both sides."""
        assert self._adapter is not None
        before, self._offers = self._state, None
        self._adapter.perform(step)
        self._state = self._adapter.state()
        self.journal.steps.append(step)
        self.journal.states.append(self._state)
        expected = self.checker.interpreter.apply(before, step)
        assert expected is not None
        wanted = self.checker.normal(expected.state)
        if self._state != wanted:
            differs = self.checker.changes(wanted, self._state)
            self._fail(
                "conformance", f"after {step} the implementation differs (specified -> seen): {differs}"
            )
        for prop in self.checker.spec.of_kind("invariant", "lemma"):
            if not self.checker.interpreter.holds(prop, self._state):
                self._fail(prop.id, prop.sentence)
        self.journal.performed[step.action] += 1

    def _fail(self, claim: str, text: str) -> None:
        self.journal.mismatch = Mismatch(claim, text)
        raise self.journal.mismatch

    def teardown(self) -> None:
        """End the implementation's run."""
        if self._adapter is not None:
            self._adapter.close()


def _rule_for(action: str) -> Any:
    @precondition(lambda self: bool(self.offered(action)))
    @rule(data=st.data())
    def perform(self: _Machine, data: Any) -> None:
        self.do(data.draw(st.sampled_from(self.offered(action)), label="step"))

    perform.__name__ = action
    return perform


def machine(checker: StepChecker, build: Callable[[], Adapter], journal: Journal) -> type[_Machine]:
    """The state machine class of a protocol: run it with ``run_state_machine_as_test``."""
    rules = {f"rule_{action.name}": _rule_for(action.name) for action in checker.spec.actions}
    return type(
        f"{checker.spec.name}Machine",
        (_Machine,),
        {"checker": checker, "journal": journal, "build": staticmethod(build), **rules},
    )
