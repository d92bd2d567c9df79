"""Drives the real DDL source by the actions of ``tidemark.spec.ddl``, in the controlled world.

A step is offered when an event that may happen now represents it. Performing it fires that event. By chance
something happens besides that changes nothing: a task, a job or the reporter comes to a lock and has to wait,
or the logs refuse a job's message.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tidemark.impl.errors import ImplementationError, RpcError
from tidemark.impl.timestamp import Timestamp
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.common.driven import DrivenRun
from tidemark.models.protocols.common.oracle import ANSWERS, ChosenOracle, OracleCalls, ask_alone
from tidemark.models.protocols.ddl.program import LOG, DdlProgram, DdlScenario
from tidemark.models.refinement.actions import action_table
from tidemark.models.refinement.step import StepChecker
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

_ALWAYS = 1_000
_OTHERS = "others"
_ANSWERS = {"stamp": "task", "stamp_job": "job", "stamp_now": "reporter", "others_allocate": _OTHERS}
_SILENCE = {"fail_ask": "task", "fail_job": "job", "fail_now": "reporter"}
_ACTIONS = action_table("ddl")


class DrivenDdl(DdlProgram):
    """One DDL source whose tasks come again when they were refused, and another client of the oracle.

    Attributes:
        refuses: the logs refuse the next message.
    """

    def __init__(self, scenario: DdlScenario, *, protocol: str) -> None:
        super().__init__(scenario, protocol=protocol)
        self.chosen = self.oracle = ChosenOracle()
        self.refuses = False

    def populate(self, world: World) -> None:
        """Define the processes."""
        super().populate(world)
        world.process(_OTHERS, self._run_others, daemon=True)

    async def _run_others(self, process: Process) -> None:
        assert self._answers is not None
        calls = OracleCalls(process, self.world, self._answers, near=self.oracle)
        await ask_alone(process, calls, _ALWAYS, "others.ask")

    async def come(self, process: Process, work: Callable[[], Any]) -> None:
        """A task comes, and again when it was refused; a job that failed is over."""
        while True:
            await process.point("client.come")
            try:
                await work()
            except ImplementationError:
                if isinstance(work, functools.partial) and work.args[-1] in self.tasks:
                    continue
            return

    async def _append(self, ts: Timestamp) -> None:
        bit = self.world.interner.bit(LOG)

        def put() -> None:
            if self.refuses:
                raise RpcError(f"the message {ts} is refused")
            self.world.touch(writes=bit)
            self.appended.add(ts)

        await self.world.operation(f"append {ts}", put)


class DdlAdapter(DrivenRun):
    """One run of the DDL source."""

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        silent = [bool(value) for value in instance.map_constants["silent"]]
        scenario = DdlScenario(
            tasks=silent.count(False),
            dummies=silent.count(True),
            jobs=int(str(instance.bounds["Job"])),
            reports=_ALWAYS,
        )
        self._program = DrivenDdl(scenario, protocol=instance.protocol)
        self._checker = checker
        super().__init__(self._program)
        self._settle()

    # What the machine asks.

    def offers(self, step: Step) -> bool:
        """See ``Adapter``. No timestamp is given twice."""
        answered: Any = self._program.observe()[ANSWERS]
        if step.action in _ANSWERS and step.args[-1] in answered:
            return False
        return bool(self._events_of(step))

    def perform(self, step: Step, chance: int) -> None:
        """See ``Adapter``."""
        events = self._events_of(step)
        self._program.chosen.next = int(step.args[-1]) if step.action in _ANSWERS else None
        self._program.refuses = step.action == "fail_job"
        self._fire(events[chance % len(events)])
        self._settle()
        if chance:
            self._disturb(chance)

    # Looking.

    def _events_of(self, step: Step) -> list[Event]:
        """The events that represent a step. Which timestamp an answer has, the step says."""
        if self._found is None:
            self._found = {}
            for event in self._world.enabled():
                for meant in self._meant(event):
                    self._found.setdefault(meant, []).append(event)
        who = _ANSWERS.get(step.action) or _SILENCE.get(step.action)
        if who is None:
            return self._found.get(step, [])
        number = int(step.args[0]) if who in ("task", "job") else 0
        found = list(self._found.get(Step("allocate", (who, number)), []))
        if step.action == "fail_job":
            found += self._found.get(Step("append_job", (number,)), [])
        return found

    def _meant(self, event: Event) -> tuple[Step, ...]:
        """What an event represents; nothing if it changes nothing, or only waits."""
        verb, _, rest = event.label.partition(" ")
        kind, _, number = event.owner.partition(" ")
        mine = (int(number),) if number.isdigit() else ()
        if verb == "allocate":
            return (Step("allocate", (kind if mine or kind == "reporter" else _OTHERS, *(mine or (0,)))),)
        if verb == "append":
            return (Step("append" if kind == "task" else "append_job", mine),)
        return self._resumed(rest.partition(" ")[0], kind, mine)

    def _resumed(self, point: str, kind: str, mine: tuple[int, ...]) -> tuple[Step, ...]:
        source = self._program.source
        assert source is not None
        if point == "client.come":
            lock = source.scheduler.lock if kind == "task" else source.lock_manager.lock
            return () if lock.users else (Step("ask" if kind == "task" else "begin_job", mine),)
        if point == "background.look":
            if source.lock_manager.reader.value == "busy":
                return (Step("read_last"),)
            return () if source.lock_manager.lock.users else (Step("ask_now"),)
        action = "look" if point == "timer.ddl" else _ACTIONS.at(point)
        return () if action is None else (Step(action, mine),)

    # Letting things happen.

    def _fire(self, event: Event) -> None:
        super()._fire(event)
        self._raise_failures()
        self._state = self._look()

    def _settle(self) -> None:
        """The other client is always about to ask."""
        for event in self._world.enabled():
            if event.label.startswith("resume others.ask"):
                self._fire(event)
                return

    def _disturb(self, chance: int) -> None:
        """Let something come to a lock that has to wait. If it changes anything, the machine will see it."""
        waiting = [
            event
            for event in self._world.enabled()
            if event.label.startswith("resume") and not self._meant(event)
        ]
        if waiting:
            self._fire(waiting[(chance - 1) % len(waiting)])
