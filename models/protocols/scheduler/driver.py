"""Drives the queues of a proxy by the actions of ``tidemark.spec.scheduler``, in the controlled world.

A step is offered when an event that may happen now represents it. Clients come in any order and leave at any
time; the proxy is closed, or ends without a close. By chance a task comes to the lock and has to wait, an
answer is lost, or a call is given up before it is carried out.
"""

from __future__ import annotations

import asyncio
from typing import ClassVar

from tidemark.impl.proxy.queues import ProxyQueues, QueueKind, QueuesMode
from tidemark.impl.proxy.values import DmlTask
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.common.driven import SettlingRun
from tidemark.models.protocols.common.oracle import ChosenOracle
from tidemark.models.protocols.scheduler.program import SchedulerProgram, SchedulerScenario, leave
from tidemark.models.refinement.actions import action_table
from tidemark.models.refinement.step import StepChecker
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.settings import FaultBudget
from tidemark.models.simulation.world.process import Process

_FAULTS = 4
_FATE_PERIOD = 4
_FATES = {0: "drop", 1: "delay"}
"""What only may happen to a call, by its timestamp and the number of its task, modulo the period."""
_SELDOM = 7
"""A close and a crash are offered at each step of this number only: what comes after them is little."""
_POINTS = {point: actions[0] for point, actions in action_table("scheduler").points.items()}
_CLIENTS = ("client", "leaver")
_MODES = {
    "close": (QueuesMode.OPEN,),
    "end_close": (QueuesMode.CLOSING,),
    "crash": (QueuesMode.OPEN, QueuesMode.CLOSING),
}
"""Steps of the proxy as a whole, and when they are steps."""


class DrivenScheduler(SchedulerProgram):
    """Queues whose clients come in any order, and may all leave."""

    def __init__(self, instance: Instance) -> None:
        kinds = tuple(QueueKind(str(name)) for name in instance.map_constants["queue"])
        scenario = SchedulerScenario(
            tasks=kinds,
            leaves=tuple(range(len(kinds))),
            closes=True,
            crashes=True,
            greatest=int(str(instance.bounds["Ts"])),
            log_faults=FaultBudget(delays=_FAULTS, drops=_FAULTS, lost_replies=_FAULTS),
        )
        super().__init__(scenario, parts=None, protocol=instance.protocol)
        self.chosen = self.oracle = ChosenOracle()

    def bring_clients(self, process: Process, queues: ProxyQueues) -> None:
        """All clients at once, each with a point of its own."""
        for place in range(len(self.tasks)):
            process.spawn(self._come(process, queues, place), f"client {place}")

    async def _come(self, process: Process, queues: ProxyQueues, place: int) -> None:
        await process.point("client.come")
        client = asyncio.create_task(self.client(queues, place), name=f"client {place}")
        process.spawn(leave(process, client), f"leaver {place}")


class SchedulerAdapter(SettlingRun):
    """One run of the queues."""

    never_offered: ClassVar[dict[str, str]] = {"report": "the queues report nothing"}

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        self._checker = checker
        self._program = DrivenScheduler(instance)
        self._performed = 0
        super().__init__(self._program)
        self._settle()

    # What the machine asks.

    def offers(self, step: Step) -> bool:
        """See ``Adapter``."""
        if step.action in ("close", "crash") and self._performed % _SELDOM != _SELDOM - 1:
            return False
        return bool(self._events_of(step))

    def perform(self, step: Step, chance: int) -> None:
        """See ``Adapter``."""
        events = self._events_of(step)
        self._performed += 1
        self._program.chosen.next = int(step.args[-1]) if step.action == "stamp" else None
        self._fire(events[chance % len(events)])
        self._state = self._look()
        self._settle()
        if chance:
            self._disturb(chance)
            self._settle()

    # Looking.

    def _events_of(self, step: Step) -> list[Event]:
        """The events that represent a step. Which timestamp an answer has, the step says."""
        if self._found is None:
            self._found = {}
            for event in self._world.enabled():
                meant = self._meant(event)
                if meant is not None:
                    self._found.setdefault(meant, []).append(event)
        if step.action in ("stamp", "give_up"):
            return self._found.get(Step("allocate", (int(step.args[0]),)), [])
        return self._found.get(step, [])

    def _meant(self, event: Event) -> Step | None:
        verb, _, rest = event.label.partition(" ")
        if verb == "allocate":
            return Step("allocate", (self._task_of(event.owner),))
        if verb == "resume":
            return self._resumed(rest.partition(" ")[0], event.owner)
        if verb in ("deliver", "delay", "drop", "reply"):
            return self._message(verb, rest)
        return self._message("reply", rest.partition(" ")[2]) if verb == "lose" else None

    def _task_of(self, owner: str) -> int:
        """The task of a client, of an entry, or of a worker."""
        kind, _, number = owner.partition(" ")
        if kind in _CLIENTS:
            return int(number)
        tasks = [task for _, task in self._program.tasks]
        return [task.number if kind == "enter" else task.ts for task in tasks].index(int(number))

    def _resumed(self, point: str, owner: str) -> Step | None:
        queues = self._program.queues
        assert queues is not None
        if point == "queue.issue":
            kind = QueueKind(owner.removeprefix("scheduler "))
            first = queues.queues[kind].unissued[0]
            place = [task for _, task in self._program.tasks].index(first)
            return Step("issue" if self._is_wanted(first) else "drop", (place,))
        action = _POINTS.get(point)
        if action is None:
            return None
        if action in _MODES:
            return Step(action) if queues.mode in _MODES[action] else None
        return self._of_a_task(point, self._task_of(owner))

    def _of_a_task(self, point: str, place: int) -> Step | None:
        kind, task = self._program.tasks[place]
        queues = self._program.queues
        assert queues is not None
        held = bool(queues.queues[kind].stats_lock.users)
        if point in ("client.come", "task.pop") and held:
            return None
        if point == "client.come":
            return Step("ask" if queues.mode is QueuesMode.OPEN else "refuse", (place,))
        if point == "queue.enqueue":
            return Step("ask" if self._is_wanted(task) else "refuse", (place,))
        if point == "client.leave":
            return Step("cancel", (place,)) if self._program.values()["caller"][place] == "waits" else None
        return Step(_POINTS[point], (place,))

    def _is_wanted(self, task: DmlTask) -> bool:
        assert self._program.queues is not None
        return not task.left and self._program.queues.mode is QueuesMode.OPEN

    def _message(self, verb: str, title: str) -> Step | None:
        """What happens to a call, to its answer, or to the question what became of it."""
        _, method, arguments, _ = self._world.network.in_flight()[f"message {title}"]
        place = next(p for p, (_, task) in enumerate(self._program.tasks) if task.ts == arguments[1])
        values = self._program.values()
        unknown, running = values["unknown"][place], values["phase"][place] == "running"
        if method == "settle":
            return self._settling(verb, place) if unknown else None
        if verb == "reply":
            return Step("end", (place,)) if running else None
        only = _FATES.get((arguments[1] + place) % _FATE_PERIOD)
        if running and only is not None and verb != only:
            return Step("wait", (place,))
        if verb == "deliver":
            return Step("late" if unknown else "carry", (place,)) if unknown or running else None
        return Step("time_out", (place,)) if running else None

    def _settling(self, verb: str, place: int) -> Step:
        """The question what became of a call, which may overtake it: for some of them."""
        late = any(
            method == "append" and arguments[1] == self._program.tasks[place][1].ts and state == "sent"
            for _, method, arguments, state in self._world.network.in_flight().values()
        )
        waits = verb != "deliver" or (late and self._program.tasks[place][1].ts % 2)
        return Step("wait" if waits else "settle", (place,))

    def _is_prompt(self, event: Event) -> bool:
        """An answer that ends a task is a step: it does not come by itself."""
        return super()._is_prompt(event) and self._meant(event) is None
