"""Drives the real flush implementation by the actions of ``tidemark.spec.flush``, in the controlled world.

A step is offered when some event that may happen now represents it. Performing it fires that event, and then
lets happen what waits for nothing else and has to change nothing: answers to the coordinator's calls, polls
that find nothing new, policies that have lost their reason, the pause after a failed write. By chance one
more thing happens that should change nothing and that a careless implementation might be moved by: a request
of a dead incarnation, an old checkpoint, a timer in the middle of a round, a save that is to be refused; or a
fault: a request is doubled, a write fails, is torn, or succeeds and is reported as failed.
"""

from __future__ import annotations

from typing import ClassVar

from tidemark.models.conformance.adapter import BrokenRunError, State
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.flush.driver_events import EventReader
from tidemark.models.protocols.flush.driver_world import DrivenFlush, scenario_of
from tidemark.models.refinement.step import StepChecker
from tidemark.models.simulation.execution import Execution
from tidemark.models.simulation.footprint import Interner
from tidemark.models.simulation.loop.lane import Event

_MANY = 100
_RECOVERY = (".recover_channel",)
_FAULTS = {6: "duplicate ", 7: "fail ", 8: "tear ", 9: "unknown "}
"""Chances that represent a fault, where it is possible, by the beginning of its label."""


class FlushAdapter:
    """One run of the flush implementation."""

    ignored: ClassVar[tuple[str, ...]] = ("faults",)
    never_offered: ClassVar[dict[str, str]] = {}

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        self._checker = checker
        self._program = DrivenFlush(scenario_of(instance), protocol=instance.protocol)
        self._execution = Execution(self._program, Interner())
        self._execution.start(checked=True)
        self._world = self._execution.world
        self._reader = EventReader(self._program, self._world)
        self._found: dict[Step, list[Event]] | None = None
        self._state = self._look()
        self._settle()

    # What the machine asks.

    def state(self) -> State:
        """See ``Adapter``."""
        return self._state

    def offers(self, step: Step) -> bool:
        """See ``Adapter``."""
        return step in self._events()

    def perform(self, step: Step, chance: int) -> None:
        """See ``Adapter``."""
        # A request that is late can do more than one that is gone: the plainest loss is a delay.
        events = sorted(self._events()[step], key=lambda event: event.label.startswith("drop "))
        self._fire(events[chance % len(events)])
        if step.action == "recover":
            self._recover()
        self._state = self._look()
        # Being asked by a recovering node gives it the channel. While the channel has no owner that is a
        # step of its own (assign); only a question that changes nothing is asked here.
        if step.action == "crash" and chance % 2 and self._assigned():
            self._ask_early()
        self._settle()
        if chance:
            self._disturb(chance)
            self._settle()

    def faults(self) -> dict[str, int]:
        """See ``CountsFaults``."""
        left = self._world.budget
        return {
            kind.value: count - left[kind]
            for kind, count in self._program.scenario.faults.remaining().items()
            if count
        }

    def close(self) -> None:
        """See ``Adapter``."""
        self._execution.close()

    # Looking.

    def _look(self) -> State:
        return self._checker.encode(self._program.values())

    def _events(self) -> dict[Step, list[Event]]:
        """The events that represent a step, by step."""
        if self._found is None:
            self._found = {}
            for event in self._world.enabled():
                step = self._reader.step_of(event)
                if step is not None:
                    self._found.setdefault(step, []).append(event)
        return self._found

    def _assigned(self) -> bool:
        return bool(self._program.values()["assigned"])

    def _idle(self, event: Event) -> bool:
        """Whether the specification lets the event change nothing now."""
        step = self._reader.step_of(event)
        if step is None:
            return True
        found = self._checker.apply(self._state, step)
        return found is None or found.state == self._state

    # Letting things happen.

    def _fire(self, event: Event) -> None:
        self._reader.note(event)
        self._found = None
        self._execution.step_again(event)
        self._raise_failure()

    def _raise_failure(self) -> None:
        if self._execution.violation is not None:
            raise BrokenRunError(self._execution.violation.message)
        for lane in self._world.lanes.values():
            for task in lane.tasks if lane.alive else ():
                error = task.exception() if task.done() and not task.cancelled() else None
                if error is not None:
                    raise BrokenRunError(f"{task.get_name()} failed: {error!r}")

    def _settle(self) -> None:
        """Fire what waits for nothing else. If that changes the abstract state, the machine will see it."""
        for _ in range(_MANY):
            prompt = next((event for event in self._world.enabled() if self._is_prompt(event)), None)
            if prompt is None:
                return
            self._fire(prompt)
            now = self._look()
            if now != self._state:
                self._state = now
                return
        raise BrokenRunError(f"the implementation does not come to rest: {prompt!r} is only the last event")

    def _is_prompt(self, event: Event) -> bool:
        """Whether an event blocks others for nothing."""
        label = event.label
        if label.startswith("reply "):
            return self._reader.step_of(event) is None
        if label.startswith("resume pause") and event.owner.startswith("sync "):
            return self._reader.step_of(event) is None
        if not label.startswith("resume ") or label.startswith(("resume pause", "resume client.ask")):
            return False
        if label.startswith("resume operator"):
            return False
        if label.startswith("resume updater.select") and self._in_round():
            return False
        return self._idle(event)

    def _in_round(self) -> bool:
        """A round of the updater is going on: another one would wait for it."""
        return self._reader.round_is_handed_over() or self._program.values()["rpc"] != "idle"

    def _disturb(self, chance: int) -> None:
        """Fire one event that should change nothing."""
        enabled = self._world.enabled()
        if chance in _FAULTS:
            harmless = [event for event in enabled if event.fault and event.label.startswith(_FAULTS[chance])]
        else:
            harmless = [event for event in enabled if self._is_disturbance(event)]
            harmless.sort(key=lambda event: not event.label.startswith("deliver"))
        if harmless:
            self._fire(harmless[(chance - 1) % len(harmless)])
            self._state = self._look()

    def _is_disturbance(self, event: Event) -> bool:
        label = event.label
        if event.fault or label.startswith(("restart", "reply")) or label.endswith(_RECOVERY):
            return False
        if label.startswith(("resume operator", "resume client.ask")):
            return False
        return self._idle(event)

    # Recovery.

    def _recover(self) -> None:
        """Let the new incarnation ask, be answered and open the channel."""
        for _ in range(_MANY):
            if self._program.opened:
                return
            self._fire_recovery()
        raise BrokenRunError("the node does not come back")

    def _ask_early(self) -> None:
        """Let a new incarnation ask at once: checkpoints may be stored between its question and its start."""
        self._fire_recovery()
        self._fire_recovery()

    def _fire_recovery(self) -> None:
        """Fire the one event that the recovery waits for: restart, question or answer."""
        self._fire(
            next(
                event
                for event in self._world.enabled()
                if not event.fault and (event.label.startswith("restart") or event.label.endswith(_RECOVERY))
            )
        )
