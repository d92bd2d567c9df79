"""Breadth-first search with the plain interpreter: slow and simple; faster engines are compared with it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from tidemark.models.interpreted.evaluate import State
from tidemark.models.interpreted.interpreter import BelowZeroError, Interpreter, Step

Watch = Callable[[int, int, int], None]
"""Gets distinct states, frontier and depth now and then."""


@dataclass(frozen=True)
class Found:
    """Where a claim was first decided: a state, or the step that was taken from it and the state after."""

    before: State
    step: Step | None = None
    after: State | None = None


@dataclass
class Reached:
    """The states within the bounds and the decided claims. Counts are TLC's: generated are initial states and
    every successor, also repeated and outside ones; depth: states on the longest shortest path. ``found`` has
    the first violation of a claim, or the first step that shows a witness.
    """

    parents: dict[State, tuple[State, Step] | None] = field(default_factory=dict)
    generated: int = 0
    out_of_bounds: int = 0
    depth: int = 0
    fired: dict[str, int] = field(default_factory=dict)
    found: dict[str, Found] = field(default_factory=dict)
    complete: bool = False

    def run_to(self, state: State) -> tuple[list[State], list[Step]]:
        """The shortest run from an initial state to ``state``."""
        states, steps = [state], []
        while (link := self.parents[states[-1]]) is not None:
            states.append(link[0])
            steps.append(link[1])
        return states[::-1], steps[::-1]


class Search:
    """One search; ``limit`` bounds the number of states (the result is then not complete)."""

    def __init__(self, interpreter: Interpreter, *, limit: int | None = None) -> None:
        self._interpreter = interpreter
        self._limit = limit
        spec = interpreter.spec
        self._states = spec.of_kind("invariant", "lemma")
        self._steps = spec.of_kind("transition_invariant")
        self._witnesses = spec.of_kind("reachable")

    def run(self, watch: Watch | None = None) -> Reached:
        """Search level by level. Raises BelowZeroError with a shortest run to the step."""
        reached = Reached(fired={action.name: 0 for action in self._interpreter.spec.actions})
        frontier = list(self._interpreter.initial())
        reached.generated = len(frontier)
        for state in frontier:
            reached.parents[state] = None
            self._check_state(reached, state)
        while frontier:
            reached.depth += 1
            if watch is not None:
                watch(len(reached.parents), len(frontier), reached.depth)
            following: list[State] = []
            for state in frontier:
                try:
                    self._expand(reached, state, following)
                except BelowZeroError as error:
                    raise error.after(*reached.run_to(state)) from None
                if self._limit is not None and len(reached.parents) > self._limit:
                    return reached
            frontier = following
        reached.complete = True
        return reached

    def _expand(self, reached: Reached, state: State, following: list[State]) -> None:
        for transition in self._interpreter.successors(state):
            reached.generated += 1
            reached.fired[transition.step.action] += 1
            if not transition.in_bounds:
                reached.out_of_bounds += 1
                continue
            self._check_step(reached, state, transition.step, transition.state)
            if transition.state not in reached.parents:
                reached.parents[transition.state] = (state, transition.step)
                following.append(transition.state)
                self._check_state(reached, transition.state)

    def _check_state(self, reached: Reached, state: State) -> None:
        for prop in self._states:
            if prop.id not in reached.found and not self._interpreter.holds(prop, state):
                reached.found[prop.id] = Found(state)

    def _check_step(self, reached: Reached, before: State, step: Step, after: State) -> None:
        for prop in self._steps:
            if prop.id not in reached.found and not self._interpreter.holds(prop, before, after):
                reached.found[prop.id] = Found(before, step, after)
        for prop in self._witnesses:
            fires = prop.after == step.action and prop.id not in reached.found
            if fires and self._interpreter.holds(prop, before, after, step):
                reached.found[prop.id] = Found(before, step, after)
