"""A program whose steps must be steps of a specification: what every such program has in common."""

import inspect
from collections.abc import Callable, Hashable, Mapping
from functools import cache
from typing import Any

from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.judged import judged_place, place_of
from tidemark.models.refinement.actions import action_table
from tidemark.models.refinement.events import Allowed, EventTable, Names
from tidemark.models.refinement.step import (
    MappingError,
    Matched,
    NoCounterpartError,
    Refuted,
    State,
    StepChecker,
)
from tidemark.models.simulation.errors import ProgramError
from tidemark.models.simulation.loop.lane import Event, where
from tidemark.models.simulation.program import Observation, Program
from tidemark.models.simulation.settings import FaultKind
from tidemark.models.simulation.world.world import World

REFINEMENT = "refinement"

WORK_IS_DONE = "work_is_done"
"""Claim id: where nothing can happen any more but faults, no work is left. A program says what its
work is."""

Values = Callable[[Observation], Mapping[str, Any]]
"""The refinement mapping: from an observation to the value of each variable of the specification."""


class Abstraction:
    """A refinement mapping (``values``) with what was answered before: observations repeat all the time. It
    depends on its arguments alone, and may outlive executions. ``ignored``: variables that only count;
    ``sound``: see ``tidemark.models.refinement.step.StepChecker``.
    """

    def __init__(
        self, instance: Instance, values: Values, *, ignored: tuple[str, ...] = (), sound: bool = True
    ) -> None:
        if not callable(values):
            raise ProgramError(f"the mapping is {values!r:.60}: give a function of the observed state")
        self.checker = StepChecker(instance, ignored=ignored, sound=sound)
        self.values = values
        self._sound = sound
        self._states: dict[tuple[Hashable, ...], State] = {}
        self._last: tuple[Observation | None, State] = None, ()
        self._actions: dict[tuple[State, State, str], str] = {}
        self._labels: dict[tuple[str, State, State, Allowed], str | None] = {}
        self._params = {action.name: action.params for action in self.checker.spec.actions}
        self._tables: dict[str, tuple[EventTable, frozenset[str]]] = {}

    def use(self, table: str) -> None:
        """Know the table of a protocol: programs that name it demand that a step is what its event stands
        for. A variant that breaks the properties of the protocol has none.
        """
        if table not in self._tables and self._sound:
            params = {name: tuple(p.name for p in found) for name, found in self._params.items()}
            rows = action_table(table)
            self._tables[table] = EventTable(rows.event, params), frozenset(rows.faults)

    def state(self, observation: Observation) -> State:
        """Return the state of the specification that an observation stands for. Raises MappingError."""
        if observation is self._last[0]:
            return self._last[1]
        try:
            key = tuple(observation.items())
            known = self._states.get(key)
        except (AttributeError, TypeError) as error:
            raise MappingError(_not_observable(observation)) from error
        if known is None:
            known = self._states[key] = self._read(observation)
        self._last = observation, known
        return known

    def _read(self, observation: Observation) -> State:
        try:
            found = self.values(observation)
        except NoCounterpartError:
            raise
        except MappingError as error:
            raise MappingError(str(error), place=place_of(self.values)) from error
        except Exception as error:
            words = f"the mapping cannot read this state: {type(error).__name__}: {error}"
            raise MappingError(words, place=judged_place(error) or place_of(self.values)) from error
        try:
            return self.checker.encode(found)
        except MappingError as error:
            raise MappingError(str(error), place=place_of(self.values)) from error

    def action(self, before: State, after: State, meant: str | None, matched: Matched) -> str:
        """Return ``meant`` if it is among the actions with this effect, else the one that was found."""
        if meant is None or meant == matched.step.action:
            return matched.step.action
        key = (before, after, meant)
        if key not in self._actions:
            found = {step.action for step in self.checker.between(before, after)}
            self._actions[key] = meant if meant in found else matched.step.action
        return self._actions[key]

    def mislabelled(self, table: str, before: State, after: State, event: Event, names: Names) -> str | None:
        """Return what is wrong with a step, or a stutter, that is not one that its event stands for by a
        table; or None.
        """
        if table not in self._tables:
            return None
        allowed = self._tables[table][0].allowed(event, names)
        if before is after or before == after:
            if allowed.stutters:
                return None
            return f"{REFINEMENT}: the step {event.label!r} stands for {allowed.text()}, and changes nothing"
        key = (table, before, after, allowed)
        if key not in self._labels:
            self._labels[key] = self._compare(*key)
        wrong = self._labels[key]
        return wrong and f"{REFINEMENT}: the step {event.label!r} {wrong}"

    def _compare(self, table: str, before: State, after: State, allowed: Allowed) -> str | None:
        steps = self.checker.between(before, after)
        if not steps or any(allowed.permits(step, self._names(step)) for step in steps):
            return None
        does = " or ".join(map(str, steps))
        words = f"stands for {allowed.text()}, and what it does is {does}"
        if all(step.action in self._tables[table][1] for step in steps):
            words += ", although no fault was injected that explains it"
        return words

    def _names(self, step: Step) -> tuple[str, ...]:
        return tuple(param.name for param in self._params[step.action])


@cache
def _wrong_populate(populate: Callable[..., Any]) -> str:
    """Why the method of a program's class cannot be called with a world; empty if it can. Looked at once."""
    try:
        inspect.signature(populate).bind(None, None)
    except TypeError as error:
        return str(error)
    return ""


class RefiningProgram(Program):
    """Each step is a step of the specification or changes nothing of it; every invariant holds after it.

    A subclass defines its processes in ``populate``. Its ``settings`` do not change afterwards.
    """

    at_rest: tuple[str, ...] = ()
    """Ids of leads_to claims of the specification that wait for nothing where nothing can happen any more but
    faults: the work is done. A program whose loops end after so many rounds leaves out what needs more."""
    table: str | None = None
    """Name of the protocol whose ``manifest/actions.toml`` says which event stands for which action."""

    def __init__(self, abstraction: Abstraction) -> None:
        if not isinstance(abstraction, Abstraction):
            raise ProgramError(f"{abstraction!r:.60} is no Abstraction(instance, values)")
        self.abstraction = abstraction
        if self.table is not None:
            abstraction.use(self.table)
        self._matched: set[str] = set()
        self._world: World | None = None

    def build(self, world: World) -> None:
        """Define the processes."""
        kind = type(self)
        if not hasattr(self, "abstraction"):
            words = f"{kind.__name__} does not call super().__init__(Abstraction(instance, values))"
            raise ProgramError(words, place=place_of(kind))
        if wrong := _wrong_populate(kind.populate):
            raise ProgramError(f"{kind.__name__}.populate(self, world): {wrong}", place=place_of(kind))
        self._world = world
        self.populate(world)

    def populate(self, world: World) -> None:
        """Define the processes."""
        del world
        words = f"{type(self).__name__} has no method populate(self, world)"
        raise ProgramError(words, place=place_of(type(self)))

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
        try:
            return _words(self.checker.start(self.abstract(state)))
        except NoCounterpartError as nothing:
            return f"{REFINEMENT}: {nothing}"

    def on_step(self, before: Observation, after: Observation, label: str) -> str | None:
        """Each step must be a step of the specification, after which every invariant holds."""
        complaint = self.complaint()
        if complaint is not None:
            return complaint
        try:
            old, new = self.abstract(before), self.abstract(after)
        except NoCounterpartError as nothing:
            return f"{REFINEMENT}: {nothing}"
        except MappingError as error:  # it has read the first state: this one is the implementation's doing
            return ": ".join(filter(None, (REFINEMENT, error.place, str(error))))
        answer = self.checker.check(old, new)
        if isinstance(answer, Matched):
            self._matched.add(self.action(old, new, label, answer))
            self._matched |= self.checker.witnessed(old, new, answer.step)
        if isinstance(answer, Refuted):
            return _words(answer)
        return self._mislabelled(old, new)

    def on_stutter(self, label: str) -> str | None:
        """A step that changes nothing must be one that may."""
        del label
        return self._mislabelled((), ())

    def _mislabelled(self, old: State, new: State) -> str | None:
        event = self.world.fired
        if event is None or self.table is None:
            return None
        return self.abstraction.mislabelled(self.table, old, new, event, self)

    def element(self, name: str, value: Any) -> Any:
        """Return the element of the specification that an event names so: ``value`` is a text of its label or
        an argument of its message. A form may follow two underscores in the name of the parameter.
        """
        del name
        return int(value) if isinstance(value, str) else value

    def check_rest(self) -> str | None:
        """The work is done, and whatever the claims of ``at_rest`` wait for has come."""
        observation = self.observe()
        if observation is None or self.world.firings_exhausted:
            return None
        state = self.abstract(observation)
        left = self.undone(self.checker.interpreter.decode(state))
        if left is not None:
            return f"{WORK_IS_DONE}: nothing can happen any more, and {left}; {self._who_waits()}"
        for claim in self.at_rest:
            waits = self.checker.unmet(claim, state)
            if waits is not None:
                return f"{claim}: nothing can happen any more, and it waits with {waits}; {self._who_waits()}"
        return None

    def _who_waits(self) -> str:
        tasks = [where(task) for lane in self.world.every_lane if lane.alive for task in lane.pending_tasks()]
        return f"waiting: {'; '.join(tasks)}" if tasks else "no task waits"

    def undone(self, values: Mapping[str, Any]) -> str | None:
        """Return what is left to be done where nothing can happen any more but faults, in words, or None."""
        del values
        return None

    def condition(self, name: str, event: Event) -> bool:
        """Tell whether a condition of the table of actions holds in the step of an event."""
        raise ProgramError(
            f"{type(self).__name__} knows no condition {name!r} (event {event.label!r}): override `condition`"
        )

    def covered(self) -> frozenset[str]:
        """Return the actions that steps have matched, the witnesses reached, and the faults that happened."""
        left, given = self.world.budget, self.settings.faults.remaining()
        happened = {fault_name(kind) for kind, count in given.items() if left[kind] < count}
        return frozenset(self._matched | happened)

    def final(self) -> Hashable:
        """Return the abstract state at the end."""
        observation = self.observe()
        assert observation is not None
        return self.abstract(observation)


def frozen(values: Mapping[str, Any]) -> Hashable:
    """Return values by variable name in a form for ``observe``, where a mapping reads them at once."""
    return tuple(
        (name, tuple(value.items()) if isinstance(value, Mapping) else value)
        for name, value in values.items()
    )


def thawed(known: Any) -> dict[str, Any]:
    """Return the values that ``frozen`` was given."""
    return {name: dict(value) if isinstance(value, tuple) else value for name, value in known}


def fault_name(kind: FaultKind) -> str:
    """Return the name under which a kind of fault is said to have happened."""
    return f"fault.{kind.value}"


def _not_observable(observation: object) -> str:
    """Return why an observation cannot be compared with others, in words."""
    if not isinstance(observation, Mapping):
        return f"observe() returns {observation!r:.60}: give a dictionary of parts"
    for name, part in observation.items():
        try:
            hash(part)
        except TypeError:
            return f"the part {name!r} of observe() is {part!r:.60}, which can change: give a tuple of it"
    return f"observe() returns {observation!r:.60}"


def _words(refuted: Refuted | None) -> str | None:
    return None if refuted is None else f"{refuted.claim}: {refuted.text}"
