"""Drives the real consumer of a channel by the actions of ``tidemark.spec.stream``, in the controlled world.

The driver itself appends to the log. A step of the consumer is offered when an event that may happen now
represents it. By chance a pack is stored and reported as failed; the consumer then seeks.
"""

from __future__ import annotations

from typing import ClassVar

from tidemark.impl.broker.messages import LogMessage, Tick
from tidemark.impl.stream.consumer import ChannelConsumer
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.common.driven import DrivenRun
from tidemark.models.protocols.stream.ports import message_of
from tidemark.models.protocols.stream.program import StreamProgram, StreamScenario
from tidemark.models.refinement.step import StepChecker
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.settings import FaultBudget
from tidemark.models.simulation.world.process import Process

_PROMPT = ("restart consumer", "load consumer")
_UNKNOWN = (1, 2, 3)
"""Chances with which a pack is stored and reported as failed."""


class DrivenStream(StreamProgram):
    """A consumer whose log grows by its driver."""

    async def _run_producers(self, process: Process) -> None:
        del process

    def put(self, message: LogMessage) -> None:
        """Append to the log."""
        self.log.entries.append(message)
        self.log.gate.look()


class StreamAdapter(DrivenRun):
    """One run of a consumer. A variant of it overrides ``consumer``."""

    consumer: ClassVar[type[ChannelConsumer]] = ChannelConsumer

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        del checker
        last, faults = int(str(instance.bounds["Ts"])), int(str(instance.bounds["Faults"]))
        messages, places = int(str(instance.bounds["Message"])), int(str(instance.bounds["Place"]))
        scenario = StreamScenario(
            messages=(last,) * messages,
            ticks=(last,) * (places - messages),
            start=int(str(instance.constants["start"])),
            faults=FaultBudget(crashes=faults, storage_lost_acks=faults),
        )
        self._program = DrivenStream(scenario, consumer=self.consumer, protocol=instance.protocol)
        super().__init__(self._program)
        self._settle()

    # What the machine asks.

    def offers(self, step: Step) -> bool:
        """See ``Adapter``."""
        return self._message(step) is not None or bool(self._events_of(step))

    def perform(self, step: Step, chance: int) -> None:
        """See ``Adapter``."""
        message = self._message(step)
        if message is not None:
            self._program.put(message)
            self._state = self._look()
            return
        events = self._events_of(step)
        unknown = [event for event in events if event.label.startswith("unknown")]
        self._fire(unknown[0] if unknown and chance in _UNKNOWN else events[0])
        self._settle()

    # Looking, and letting things happen.

    def _message(self, step: Step) -> LogMessage | None:
        """What a step appends to the log; None if it is a step of the consumer."""
        if step.action == "append":
            return message_of(int(step.args[0]), int(step.args[1]))
        if step.action == "append_again":
            number = int(step.args[0])
            return message_of(number, int(self._program.values()["ts"][number]))
        return Tick(int(step.args[1])) if step.action == "send_tick" else None

    def _events_of(self, step: Step) -> list[Event]:
        labels = {
            "store": ("store sink", "unknown store sink"),
            "crash": ("resume consumer.seek", "crash consumer"),
        }.get(step.action, ("read consumer",))
        found = [event for event in self._execution.world.enabled() if event.label.startswith(labels)]
        return sorted(found, key=lambda event: event.fault)

    def _fire(self, event: Event) -> None:
        super()._fire(event)
        self._state = self._look()

    def _settle(self) -> None:
        """A consumer that died starts again, and looks up its position."""
        for _ in _PROMPT:
            for event in self._execution.world.enabled():
                if event.label.startswith(_PROMPT):
                    self._fire(event)
                    break
