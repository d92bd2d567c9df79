"""Drives the real consumers of channels by the actions of ``tidemark.spec.stream``, in the controlled world.

The driver itself appends to the logs. A step of the consumer is offered when an event that may happen now
represents it. By chance a pack is stored and reported as failed; the consumer then seeks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from tidemark.impl.stream.aligned import AlignedConsumer
from tidemark.impl.stream.minimum import MinimumConsumer
from tidemark.impl.values.messages import LogMessage, Tick
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

    def put(self, message: LogMessage, channel: int = 0) -> None:
        """Append to a log."""
        log = self.logs[channel]
        log.entries.append(message)
        log.gate.look()


def scenario_of(instance: Instance) -> StreamScenario:
    """Room for what an instance may have in its logs."""
    last, faults = int(str(instance.bounds["Ts"])), int(str(instance.bounds["Faults"]))
    messages, places = int(str(instance.bounds["Message"])), int(str(instance.bounds["Place"]))
    constants = instance.map_constants
    return StreamScenario(
        messages=(last,) * messages,
        ticks=(last,) * (places - messages),
        start=int(str(instance.constants["start"])),
        channels=int(str(instance.bounds["Channel"])),
        channel=tuple(map(int, constants["channel"])),
        drops=tuple(number for number, drops in enumerate(constants["drops"]) if drops),
        faults=FaultBudget(crashes=faults, storage_lost_acks=faults),
    )


class StreamAdapter(DrivenRun):
    """One run of a consumer."""

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        del checker
        self._program = self._made(instance)
        super().__init__(self._program)
        self._settle()

    def _made(self, instance: Instance) -> DrivenStream:
        return DrivenStream(scenario_of(instance), protocol=instance.protocol)

    # What the machine asks.

    def offers(self, step: Step) -> bool:
        """See ``Adapter``."""
        return self._message(step) is not None or bool(self._events_of(step))

    def perform(self, step: Step, chance: int) -> None:
        """See ``Adapter``."""
        message = self._message(step)
        if message is not None:
            self._program.put(message, self._channel(step))
            self._state = self._look()
            return
        events = self._events_of(step)
        unknown = [event for event in events if event.label.startswith("unknown")]
        self._fire(unknown[0] if unknown and chance in _UNKNOWN else events[0])
        self._settle()

    # Looking, and letting things happen.

    def _message(self, step: Step) -> LogMessage | None:
        """What a step appends to the log; None if it is a step of the consumer."""
        number = int(step.args[0]) if step.args else 0
        text = "drop" if number in self._program.scenario.drops else ""
        if step.action == "append":
            return message_of(number, int(step.args[1]), text=text)
        if step.action == "append_again":
            return message_of(number, int(self._program.values()["ts"][number]), text=text)
        return Tick(int(step.args[1])) if step.action == "send_tick" else None

    def _channel(self, step: Step) -> int:
        """The channel of a tick or a message."""
        number = int(step.args[0])
        is_tick = step.action in ("send_tick", "read_tick")
        return number if is_tick else self._program.scenario.channel_of(number)

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


class AlignedAdapter(StreamAdapter):
    """One run of a consumer of several channels that pursues as long as the log goes on. A variant of it
    overrides ``aligned``.

    It reads the channel that is furthest behind; the specification leaves open which of several. By chance it
    stops pursuing.
    """

    aligned: ClassVar[type[AlignedConsumer]] = AlignedConsumer

    def _made(self, instance: Instance) -> DrivenStream:
        scenario = scenario_of(instance)
        last = int(str(instance.bounds["Ts"]))
        pursuing = replace(scenario, aligned=True, pursues=last + 1)
        return DrivenStream(pursuing, consumer=self.aligned, protocol=instance.protocol)

    def _events_of(self, step: Step) -> list[Event]:
        events = super()._events_of(step)
        consumer = self._program.consumer
        if step.action == "store" and not events:
            return [event for event in self._execution.world.enabled() if event.label.startswith("timer")]
        if step.action in ("read_message", "read_tick") and isinstance(consumer, AlignedConsumer):
            is_read = consumer.readers.index(consumer.next_reader()) == self._channel(step)
            return events if is_read else []
        return events

    def perform(self, step: Step, chance: int) -> None:
        """See ``Adapter``. A pack that grows is handed over before it is stored."""
        if step.action == "store" and not super()._events_of(step):
            self._fire(self._events_of(step)[0])
        super().perform(step, chance)


class MinimumAdapter(AlignedAdapter):
    """The same of a consumer whose packs end at the smallest of the last ticks."""

    aligned: ClassVar[type[AlignedConsumer]] = MinimumConsumer
