"""Drives the real oracle implementation by the actions of ``tidemark.spec.tso``, in the controlled world.

A step is offered when some event that may happen now represents it. Performing it fires that event, and then
lets happen what waits for nothing else and changes nothing: the word that the leader key is gone, the end of
a dead process. By chance one more thing happens that should change nothing and that a careless implementation
might be moved by: a save of a leader that is none, a campaign while there is a leader, a call that tries
again too early.
"""

from __future__ import annotations

from typing import ClassVar

from tidemark.models.conformance.adapter import BrokenRunError, State
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.tso.driver_events import EventReader
from tidemark.models.protocols.tso.driver_world import DrivenOracle, scenario_of
from tidemark.models.protocols.tso.ports import SharedStore
from tidemark.models.refinement.step import StepChecker
from tidemark.models.simulation.execution import Execution
from tidemark.models.simulation.footprint import Interner
from tidemark.models.simulation.loop.lane import Event

_MANY = 100
_PROMPT = ("deliver ", "restart ")


class TsoAdapter:
    """One run of the oracle implementation. A variant of it overrides ``store``."""

    ignored: ClassVar[tuple[str, ...]] = ()
    never_offered: ClassVar[dict[str, str]] = {}
    store: ClassVar[type[SharedStore]] = SharedStore

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        self._checker = checker
        self._program = DrivenOracle(scenario_of(instance), store=self.store, instance=instance)
        self._execution = Execution(self._program, Interner())
        self._execution.start(checked=True)
        self._world = self._execution.world
        self._reader = EventReader(self._program, self._world)
        self._found: dict[Step, list[Event]] | None = None
        self._state = self._look()

    def state(self) -> State:
        """See ``Adapter``."""
        return self._state

    def offers(self, step: Step) -> bool:
        """See ``Adapter``."""
        return self._reader.without_count(step) in self._events()

    def perform(self, step: Step, chance: int) -> None:
        """See ``Adapter``."""
        events = self._events()[self._reader.without_count(step)]
        self._reader.prepare(step)
        self._fire(events[chance % len(events)])
        self._state = self._look()
        self._settle()
        if chance:
            self._disturb(chance)
            self._settle()

    def close(self) -> None:
        """See ``Adapter``."""
        self._execution.close()

    def _look(self) -> State:
        return self._checker.encode(self._program.values())

    def _events(self) -> dict[Step, list[Event]]:
        """The events that represent a step, by step."""
        if self._found is None:
            self._found = {}
            for event in self._world.enabled():
                for step in self._reader.steps_of(event):
                    self._found.setdefault(step, []).append(event)
        return self._found

    def _fire(self, event: Event) -> None:
        self._found = None
        self._execution.step_again(event)
        if self._execution.violation is not None:
            raise BrokenRunError(self._execution.violation.message)
        complaint = self._program.complaint()
        if complaint is not None:
            raise BrokenRunError(complaint)

    def _settle(self) -> None:
        """Fire what waits for nothing else. If that changes the abstract state, the machine will see it."""
        for _ in range(_MANY):
            prompt = next((e for e in self._world.enabled() if e.label.startswith(_PROMPT)), None)
            if prompt is None:
                return
            self._fire(prompt)
            self._state = self._look()
        raise BrokenRunError("the implementation does not come to rest")

    def _disturb(self, chance: int) -> None:
        """Fire one event that should change nothing."""
        harmless = [event for event in self._world.enabled() if self._is_harmless(event)]
        if harmless:
            self._fire(harmless[(chance - 1) % len(harmless)])
            self._state = self._look()

    def _is_harmless(self, event: Event) -> bool:
        """Whether the specification lets the event change nothing now."""
        if event.fault or event.label.startswith("resume client.begin"):
            return False
        return not any(self._changes(step) for step in self._reader.steps_of(event))

    def _changes(self, step: Step) -> bool:
        found = self._checker.apply(self._state, step)
        return found is not None and found.state != self._state
