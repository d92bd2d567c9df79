"""A walk through an instance: the run so far, what is possible, and why the rest is not."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tidemark.checks.report.forms.trace_text import change_text
from tidemark.checks.verdicts.errors import BadInputError, known_names
from tidemark.checks.verdicts.trace import counterexample, failing_conjunct, failing_part
from tidemark.models.interpreted.evaluate import State
from tidemark.models.interpreted.interpreter import BelowZeroError, Interpreter, Step, Transition

_INITIAL = 1000
"""Initial states that are looked at."""


@dataclass
class Session:
    """A run of an instance by hand.

    Attributes:
        interpreter: runs the instance.
        planned: the steps of a counterexample that can be followed; none if there is none.
        states: the states of the run so far, the present one last.
        steps: the steps between them.
    """

    interpreter: Interpreter
    planned: Sequence[Step] = ()
    states: list[State] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.states:
            self.start(0)

    @property
    def state(self) -> State:
        """The present state."""
        return self.states[-1]

    def start(self, number: int) -> None:
        """Begin again in the initial state of this number. Raises BadInputError if there is none."""
        initial = list(itertools.islice(self.interpreter.initial(), _INITIAL))
        if not 0 <= number < len(initial):
            raise BadInputError(
                f"there is no initial state {number}",
                remedy=f"{self.interpreter.instance.name} has {len(initial)}, numbered from 0",
            )
        self.states, self.steps = [initial[number]], []

    def enabled(self) -> list[Transition]:
        """The steps that are possible, in declared order; also one that makes a number negative."""
        found = (self.interpreter.transition(self.state, step) for step in self.interpreter.steps)
        return [one for one in found if one is not None]

    def take(self, step: Step) -> None:
        """Take a step. Raises BadInputError if it is not enabled, leaves the bounds of the instance, or makes
        a natural number negative.
        """
        try:
            found = self.interpreter.apply(self.state, step)
        except BelowZeroError as error:
            whole = error.after(self.states, self.steps)
            raise BadInputError(f"{whole.place}: {whole.problem}", remedy=whole.remedy) from None
        if found is None:
            raise BadInputError(f"{step} is not enabled: {'; '.join(self.why(step))}", remedy="see  enabled")
        if not found.in_bounds:
            raise BadInputError(
                f"{step} leaves the bounds {self.interpreter.instance.bounds_text()}",
                remedy="take another step, or give a larger bound",
            )
        self.states.append(found.state)
        self.steps.append(step)

    def back(self, number: int = 1) -> None:
        """Go back so many steps. Raises BadInputError if there are not so many."""
        if not 0 < number <= len(self.steps):
            raise BadInputError(f"{len(self.steps)} steps lie behind", remedy="go back fewer")
        del self.states[-number:], self.steps[-number:]

    def following(self) -> Step | None:
        """The next step of the planned run; None at its end, or after another step was taken."""
        here = len(self.steps)
        on_it = list(self.planned[:here]) == self.steps
        return self.planned[here] if on_it and here < len(self.planned) else None

    def why(self, step: Step) -> list[str]:
        """The conjuncts of the guard that do not hold, each with the values for which it fails."""
        action = self.interpreter.spec.action(step.action)
        local = {param.name: value for param, value in zip(action.params, step.args, strict=True)}
        found = []
        for guard in action.guards:
            part = failing_part(self.interpreter, guard.expr, self.state, **local)
            if part:
                found.append(f"{guard.text}  fails: {part}" if guard.text else f"fails: {part}")
        return found

    def disabled(self) -> Iterator[tuple[Step, list[str]]]:
        """Each step that is not possible, with the reasons."""
        for step in self.interpreter.steps:
            reasons = self.why(step)
            if reasons:
                yield step, reasons

    def steps_of(self, action: str) -> list[Step]:
        """The steps of an action. Raises BadInputError if there is no such action."""
        found = [step for step in self.interpreter.steps if step.action == action]
        if not found:
            known = [one.name for one in self.interpreter.spec.actions]
            raise BadInputError(f"there is no action {action!r}", remedy=known_names(action, known))
        return found

    def changes(self, after: State) -> list[str]:
        """What differs between the present state and another one."""
        trace = counterexample(
            self.interpreter.instance,
            states=[self.state, after],
            steps=[self.interpreter.steps[0]],  # its name is not shown
            failing="nothing",
        )
        return [change_text(one) for one in trace.changes(1)]

    def broken(self) -> dict[str, str]:
        """The claims that the present state, or the last step, breaks: id and the part that fails."""
        found = {}
        spec = self.interpreter.spec
        for prop in spec.of_kind("invariant", "lemma"):
            found[prop.id] = failing_conjunct(self.interpreter, prop, self.state)
        if self.steps:
            for prop in spec.of_kind("transition_invariant"):
                found[prop.id] = failing_conjunct(self.interpreter, prop, *self.states[-2:])
        return {name: part for name, part in found.items() if part}
