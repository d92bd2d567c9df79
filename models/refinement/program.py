"""A program whose steps must be steps of a specification: what every such program has in common."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from tidemark.models.instance import Instance
from tidemark.models.refinement.step import Matched, Refuted, State, StepChecker
from tidemark.models.simulation.program import Observation, Program
from tidemark.models.simulation.settings import FaultKind
from tidemark.models.simulation.world.world import World

Values = Callable[[Observation], Mapping[str, Any]]
"""The refinement mapping: from an observation to the value of each variable of the specification."""


class Abstraction:
    """A refinement mapping with what was answered before: observations repeat all the time.

    It depends on its arguments alone, and may outlive executions.

    Args:
        ignored: variables of the specification that only count.
        sound: see ``tidemark.models.refinement.step.StepChecker``.
    """

    def __init__(
        self, instance: Instance, values: Values, *, ignored: tuple[str, ...] = (), sound: bool = True
    ) -> None:
        self.checker = StepChecker(instance, ignored=ignored, sound=sound)
        self._values = values
        self._states: dict[tuple[Hashable, ...], State] = {}
        self._actions: dict[tuple[State, State, str], str] = {}
        self._witnessed: dict[tuple[State, State], frozenset[str]] = {}

    def state(self, observation: Observation) -> State:
        """Return the state of the specification that an observation stands for."""
        key = tuple(observation.items())
        known = self._states.get(key)
        if known is None:
            known = self._states[key] = self.checker.encode(self._values(observation))
        return known

    def action(self, before: State, after: State, meant: str | None, matched: Matched) -> str:
        """Return ``meant`` if it is among the actions with this effect, else the one that was found."""
        if meant is None or meant == matched.step.action:
            return matched.step.action
        key = (before, after, meant)
        if key not in self._actions:
            found = {t.step.action for t in self.checker.successors(before) if t.state == after}
            self._actions[key] = meant if meant in found else matched.step.action
        return self._actions[key]

    def witnessed(self, before: State, after: State, matched: Matched) -> frozenset[str]:
        """Return the reachability properties that a step satisfies."""
        key = (before, after)
        if key not in self._witnessed:
            interpreter = self.checker.interpreter
            self._witnessed[key] = frozenset(
                prop.id
                for prop in self.checker.spec.of_kind("reachable")
                if interpreter.holds(prop, before, after, matched.step)
            )
        return self._witnessed[key]


class RefiningProgram(Program):
    """Each step is a step of the specification or changes nothing of it; every invariant holds after it.

    A subclass defines its processes in ``populate``. Its ``settings`` do not change afterwards.
    """

    def __init__(self, abstraction: Abstraction) -> None:
        self.abstraction = abstraction
        self._matched: set[str] = set()
        self._world: World | None = None

    def build(self, world: World) -> None:
        """Define the processes."""
        self._world = world
        self.populate(world)

    def populate(self, world: World) -> None:
        """Define the processes."""
        raise NotImplementedError

    @property
    def world(self) -> World:
        """The world, once it is built."""
        assert self._world is not None
        return self._world

    @property
    def faults(self) -> frozenset[str]:
        """Return the kinds of fault that may happen, by the names that ``covered`` uses."""
        given = self.settings.faults.remaining()
        return frozenset(fault_name(kind) for kind, count in given.items() if count)

    @property
    def checker(self) -> StepChecker:
        """The specification that the steps must follow."""
        return self.abstraction.checker

    def values(self) -> Mapping[str, Any]:
        """Return the present abstract state by variable name."""
        observation = self.observe()
        assert observation is not None
        return self.checker.interpreter.decode(self.abstract(observation))

    def meant(self, label: str) -> str | None:
        """Return the action that a step of this label stands for, where several have the same effect."""
        del label
        return None

    def complaint(self) -> str | None:
        """Return what is wrong by a claim of the program's own, or None."""
        return None

    def abstract(self, observation: Observation) -> State:
        """Return the state of the specification that an observation stands for."""
        return self.abstraction.state(observation)

    def action(self, before: State, after: State, label: str, matched: Matched) -> str:
        """Return the action that a step is meant to be, among those with the effect of ``matched``."""
        return self.abstraction.action(before, after, self.meant(label), matched)

    def on_start(self, state: Observation) -> str | None:
        """The first state must be an initial state of the specification."""
        return _words(self.checker.start(self.abstract(state)))

    def on_step(self, before: Observation, after: Observation, label: str) -> str | None:
        """Each step must be a step of the specification, after which every invariant holds."""
        complaint = self.complaint()
        if complaint is not None:
            return complaint
        old, new = self.abstract(before), self.abstract(after)
        answer = self.checker.check(old, new)
        if isinstance(answer, Matched):
            self._matched.add(self.action(old, new, label, answer))
            self._matched |= self.abstraction.witnessed(old, new, answer)
        return _words(answer if isinstance(answer, Refuted) else None)

    def covered(self) -> frozenset[str]:
        """Return the actions of the specification that steps have matched, the witnesses reached, and the
        kinds of fault that happened.
        """
        left, given = self.world.budget, self.settings.faults.remaining()
        happened = {fault_name(kind) for kind, count in given.items() if left[kind] < count}
        return frozenset(self._matched | happened)

    def final(self) -> Hashable:
        """Return the abstract state at the end."""
        observation = self.observe()
        assert observation is not None
        return self.abstract(observation)


def fault_name(kind: FaultKind) -> str:
    """Return the name under which a kind of fault is said to have happened."""
    return f"fault.{kind.value}"


def _words(refuted: Refuted | None) -> str | None:
    return None if refuted is None else f"{refuted.claim}: {refuted.text}"
