"""What drivers of conformance share: one execution, fired event by event, and the state that it shows."""

from __future__ import annotations

from typing import ClassVar

from tidemark.models.conformance.adapter import BrokenRunError, State
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.refinement.program import RefiningProgram
from tidemark.models.simulation.execution import Execution
from tidemark.models.simulation.footprint import Interner
from tidemark.models.simulation.loop.lane import Event


class DrivenRun:
    """One run of a program, a part of an ``Adapter``. A subclass says which events are a step.

    Attributes:
        ignored: variables that the driver does not compare.
        never_offered: actions that it never performs, with the reason.
    """

    ignored: ClassVar[tuple[str, ...]] = ()
    never_offered: ClassVar[dict[str, str]] = {}

    def __init__(self, program: RefiningProgram) -> None:
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

    def close(self) -> None:
        """See ``Adapter``."""
        self._execution.close()

    def _look(self) -> State:
        observed = self._run.observe()
        assert observed is not None  # a program that refines a protocol can be observed
        return self._run.abstract(observed)

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
