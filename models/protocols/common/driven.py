"""What drivers of conformance share: one execution, fired event by event, and the state that it shows."""

from __future__ import annotations

from typing import ClassVar

from tidemark.models.conformance.adapter import BrokenRunError, State
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.refinement.program import RefiningProgram
from tidemark.models.simulation.execution import Execution
from tidemark.models.simulation.footprint import Interner
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.program import Program

_MANY = 200


class DrivenRun:
    """One run of a program, a part of an ``Adapter``. A subclass says which events are a step.

    Attributes:
        ignored: variables that the driver does not compare.
        never_offered: actions that it never performs, with the reason.
    """

    ignored: ClassVar[tuple[str, ...]] = ()
    never_offered: ClassVar[dict[str, str]] = {}

    def __init__(self, program: Program) -> None:
        self._run = program
        self._execution = Execution(program, Interner())
        self._execution.start(checked=True)
        self._world = self._execution.world
        self._found: dict[Step, list[Event]] | None = None
        """The events that may happen now, by step; None after an event."""
        self._state = self._look()

    def state(self) -> State:
        """See ``Adapter``."""
        return self._state

    def read_again(self) -> State:
        """The state, as the mapping reads it now."""
        return self._look()

    def close(self) -> None:
        """See ``Adapter``."""
        self._execution.close()

    def _look(self) -> State:
        """The state by the program's own mapping. A subclass whose program has none overrides this."""
        assert isinstance(self._run, RefiningProgram)
        observed = self._run.observe()
        assert observed is not None  # a program that refines a protocol can be observed
        return self._run.abstract(observed)

    def _enabled(self, label: str, owner: str = "") -> list[Event]:
        """The events that begin so, of a task if one is named."""
        return [
            event
            for event in self._world.enabled()
            if event.label.startswith(label) and owner in ("", event.owner)
        ]

    def _must_fire(self, label: str, owner: str = "") -> None:
        """Let the first of these happen. Raises BrokenRunError if there is none."""
        events = self._enabled(label, owner)
        if not events:
            waiting = ", ".join(f"{one.label} of {one.owner}" for one in self._world.enabled()) or "nothing"
            raise BrokenRunError(f"there is no event {label!r}; there are {waiting}")
        self._fire(events[0])

    def _fire(self, event: Event) -> None:
        """Let an event happen. Raises BrokenRunError if it breaks the execution."""
        self._found = None
        self._execution.step_again(event)
        if self._execution.violation is not None:
            raise BrokenRunError(self._execution.violation.message)

    def _raise_failures(self) -> None:
        """Raises BrokenRunError if a task of a live process has failed."""
        for lane in self._world.lanes.values():
            for task in lane.tasks if lane.alive else ():
                error = task.exception() if task.done() and not task.cancelled() else None
                if error is not None:
                    raise BrokenRunError(f"{task.get_name()} failed: {error!r}")


class SettlingRun(DrivenRun):
    """A run of a process with calls of others: what waits for nothing else, and changes nothing, happens by
    itself: answers, and deliveries that come too late.
    """

    def _meant(self, event: Event) -> Step | None:
        """What an event represents by its name; None if it changes nothing, or only waits."""
        raise NotImplementedError

    def _fire(self, event: Event) -> None:
        super()._fire(event)
        self._raise_failures()

    def _settle(self, *, loses: bool = False) -> None:
        """Let answers arrive, and deliveries that change nothing. If one does, the machine will see it."""
        for _ in range(_MANY):
            event = self._prompt(loses=loses)
            if event is None:
                return
            self._fire(event)
            now = self._look()
            if now != self._state:
                self._state = now
                return
        raise BrokenRunError("the implementation does not come to rest")

    def _prompt(self, *, loses: bool) -> Event | None:
        enabled = self._world.enabled()
        if loses:
            lost = next((event for event in enabled if event.label.startswith("lose reply")), None)
            if lost is not None:
                return lost
        return next((event for event in enabled if self._is_prompt(event)), None)

    def _is_prompt(self, event: Event) -> bool:
        """Whether an event happens by itself."""
        if event.label.startswith("reply"):
            return True
        return event.label.startswith("deliver") and self._meant(event) is None

    def _disturb(self, chance: int) -> None:
        """Let a task come to the lock that has to wait."""
        waiting = [
            event
            for event in self._world.enabled()
            if event.label.startswith("resume") and not event.fault and self._meant(event) is None
        ]
        if waiting:
            self._fire(waiting[(chance - 1) % len(waiting)])
            self._state = self._look()
