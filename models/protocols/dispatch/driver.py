"""Drives the real dispatchers of a channel by the actions of ``tidemark.spec.dispatch``, in the controlled
world.

The driver itself appends to the log and says with which position a target comes. Any other step is offered
when an event that may happen now is that step. What changes nothing happens at once: an entry that another
dispatcher has read already, a pack that a paused dispatcher reads, a look of the manager that finds nothing.
"""

from __future__ import annotations

from typing import Any

from tidemark.impl.stream.dispatchers import Deputy, Dispatcher
from tidemark.impl.stream.manager import DispatcherManager
from tidemark.impl.values.messages import LogMessage, Tick
from tidemark.models.conformance.adapter import BrokenRunError
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.common.driven import DrivenRun
from tidemark.models.protocols.dispatch.program import (
    DispatchProgram,
    DispatchScenario,
    MessagePlan,
    TargetPlan,
)
from tidemark.models.refinement.step import StepChecker
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.world.process import Process

_MANY = 200
_NEAR, _TICKS = 2, 3


class DrivenDispatch(DispatchProgram):
    """Dispatchers whose log grows by their driver, and whose targets come when it says so."""

    def __init__(self, scenario: DispatchScenario, **options: Any) -> None:
        super().__init__(scenario, **options)
        self.positions: dict[int, int] = {}

    async def _run_producers(self, process: Process) -> None:
        del process

    async def _register(self, process: Process, manager: DispatcherManager) -> None:
        for number in range(len(self.scenario.targets)):
            process.spawn(self._come(process, manager, number), f"come {number}")

    async def _come(self, process: Process, manager: DispatcherManager, number: int) -> None:
        position = await self.log.gate.operation(
            f"register {number}",
            lambda: True,
            lambda: self.log.end_of_pack(self.positions[number]),
        )
        self.begins[number] = position.ts
        target = self.targets[number] = manager.register(self.scenario.channel(number), position)
        process.spawn(self._take_packs(target, number), f"target {number}")
        process.spawn(self._leave(process, manager, number), f"leave {number}")

    def message_at(self, number: int, ts: int) -> LogMessage:
        """A message, with the timestamp that it got."""
        plan = self.scenario.messages[number]
        return self.scenario.made(plan, number, ts)

    def put(self, message: LogMessage) -> None:
        """Append to the log."""
        self.log.entries.append(message)
        self.log.gate.look()


def scenario_of(instance: Instance) -> DispatchScenario:
    """The targets and messages of a bounded instance."""
    constants = instance.map_constants
    messages = zip(constants["to"], constants["is_ddl"], constants["about"], strict=True)
    last = int(str(instance.bounds["Ts"]))
    return DispatchScenario(
        targets=tuple(TargetPlan(collection=int(number)) for number in constants["collection"]),
        messages=tuple(
            MessagePlan(ts=last, to=int(to), about=int(about) if is_ddl else None)
            for to, is_ddl, about in messages
        ),
        ticks=(last,),
    )


class DispatchAdapter(DrivenRun):
    """One run of a channel's dispatchers."""

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        del checker
        scenario = scenario_of(instance)
        self._slow = [bool(slow) for slow in instance.map_constants["slow"]]
        self._numbers = {scenario.channel(t): t for t in range(len(scenario.targets))}
        self._program = DrivenDispatch(scenario, protocol=instance.protocol)
        super().__init__(self._program)
        self._settle()

    # What the machine asks.

    def offers(self, step: Step) -> bool:
        """See ``Adapter``. Ticks follow closely, and targets go late: runs get further."""
        ticks = self._ticks()
        if step.action in ("append", "send_tick"):
            return int(step.args[-1]) <= max(ticks, default=0) + _NEAR
        if step.action == "remove" and len(ticks) < _TICKS:
            return False
        return bool(self._events_of(step))

    def perform(self, step: Step, chance: int) -> None:
        """See ``Adapter``."""
        del chance
        values = [int(value) for value in step.args]
        if step.action == "append":
            self._program.put(self._program.message_at(*values))
        elif step.action == "send_tick":
            self._program.put(Tick(values[0]))
        else:
            if step.action == "register":
                self._program.positions[values[0]] = values[1]
            self._fire(self._events_of(step)[0])
        self._settle()
        self._state = self._look()

    # Which event is which step.

    def _events_of(self, step: Step) -> list[Event]:
        asked = (step.action, *(int(value) for value in step.args))
        return [event for event in self._world.enabled() if asked in self._steps_of(event)]

    def _steps_of(self, event: Event) -> list[tuple[Any, ...]]:
        """The step that an event is now, as a name with arguments; none if it changes nothing."""
        label, owner = event.label, event.owner
        if label.startswith("register "):
            number = int(label.split()[1])
            return [("register", number, at) for at in (0, *self._ticks())]
        if label.startswith("resume leave "):
            return [("remove", int(label.split()[2]))]
        if label.startswith("resume target.take "):
            number = int(owner.split()[1])
            return [("take_late" if self._slow[number] else "take", number)]
        if label.startswith("resume dispatch.manage "):
            return self._of_manager()
        return self._of_dispatcher(event)

    def _ticks(self) -> list[int]:
        return [message.ts for message in self._program.log.entries if isinstance(message, Tick)]

    def _of_manager(self) -> list[tuple[Any, ...]]:
        manager = self._program.manager
        assert manager is not None
        step = manager.next_step()
        if step is None:
            return []
        name = step.__name__.removeprefix("_")
        if name == "build_main":
            return [(name, min(target.position.ts for target in manager.waiting.values()))]
        if name == "start_deputy":
            return [(name, self._numbers[next(iter(manager.waiting))])]
        if name in ("pause_main", "resume_main"):
            return [(name,)]
        found = (deputy for deputy in manager.deputies.values() if self._is_meant(name, deputy, manager))
        return [(name, self._numbers[next(found).target.channel])]

    @staticmethod
    def _is_meant(step: str, deputy: Deputy, manager: DispatcherManager) -> bool:
        """The manager takes the first deputy for which a step of a merge may be next."""
        if step == "find":
            assert manager.main is not None
            return not deputy.candidate and deputy.at == manager.main.at
        return deputy.candidate and (deputy.paused or step != "merge")

    def _of_dispatcher(self, event: Event) -> list[tuple[Any, ...]]:
        """What a dispatcher does next: it reads an entry, takes a pack, or sends a part of it."""
        manager, label = self._program.manager, event.label
        if manager is None or not label.startswith(("read node", "resume dispatch.", "timer node")):
            return []
        main = manager.main
        if label.startswith(("resume dispatch.send ", "timer node")) and main is not None and main.owed:
            target = main.owed[0]
            if label.startswith("timer"):
                return [("split", self._numbers[target.channel])]
            return [] if target.is_full else [("send_main", self._numbers[target.channel])]
        dispatcher: Dispatcher | None = main
        if event.owner.startswith("deputy "):
            dispatcher = manager.deputies.get(event.owner.removeprefix("deputy "))
        return [] if dispatcher is None else self._of_pack(dispatcher, reads=label.startswith("read node"))

    def _of_pack(self, dispatcher: Dispatcher, *, reads: bool) -> list[tuple[Any, ...]]:
        consumer, log = dispatcher.consumer, self._program.log
        if not reads:
            assert dispatcher.pack is not None
            return self._of_tick(dispatcher, dispatcher.pack.end)
        message = log.entries[consumer.read]
        seen = log.view()[log.handed : consumer.read + 1]
        found = [("read", number) for kind, number, _ in seen if kind == "message"]
        if isinstance(message, Tick) and not consumer.seeking and message.ts > consumer.last:
            found += self._of_tick(dispatcher, message.ts)
        # A deputy that begins behind what is not read yet waits: one event would be several steps.
        return found if len(found) <= 1 else [("wait",)]

    def _of_tick(self, dispatcher: Dispatcher, end: int) -> list[tuple[Any, ...]]:
        """A pack is there: it is taken, if it may be."""
        if not dispatcher.may_take():
            return []
        if isinstance(dispatcher, Deputy):
            return [("send_deputy", self._numbers[dispatcher.target.channel], end)]
        return [("read_main", end)]

    def _settle(self) -> None:
        """What changes nothing happens."""
        for _ in range(_MANY):
            quiet = next((event for event in self._world.enabled() if not self._steps_of(event)), None)
            if quiet is None:
                return
            self._fire(quiet)
        raise BrokenRunError(f"after {_MANY} events that change nothing there is still one")
