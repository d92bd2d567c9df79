"""The DDL source of the root coordinator as a program under exploration: tasks, jobs, the reporter.

Each step must be a step of ``tidemark.spec.ddl``, or change nothing of it.
"""

import functools
import math
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from typing import Any

from tidemark.impl.errors import RpcError
from tidemark.impl.rootcoord.ddl_lock_manager import Job, JobStage
from tidemark.impl.rootcoord.ddl_scheduler import DdlPhase, DdlTask
from tidemark.impl.rootcoord.ddl_source import DdlSource
from tidemark.impl.timestamp import Timestamp
from tidemark.models.instance import Instance
from tidemark.models.protocols.common.oracle import (
    ANSWERS,
    ORACLE,
    Answers,
    OracleCalls,
    OracleProcess,
    SparingOracle,
    ask_alone,
)
from tidemark.models.protocols.ddl.refinement import abstract, ddl_view
from tidemark.models.refinement.program import RefiningProgram
from tidemark.models.refinement.scenario import Scenario, mapped, program
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import ClockOrder, FaultBudget, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

SOURCE, OTHERS = "rootcoord", "others"
LOG = "cell log"
SPECIFICATION = "tidemark.spec.ddl:Ddl"


class DdlScenario(Scenario):
    """What happens.

    Attributes:
        tasks: DDL tasks of clients.
        dummies: tasks that append nothing.
        jobs: background jobs.
        reports: questions of the reporter.
        others: timestamps that another client is given.
        silences: calls of the oracle that have no answer; it is a process of its own then.
        endless: dummies come one after another, and questions for ever; the oracle answers both only where
            they are needed.
        protocol: the specification, or a variant of it.
    """

    tasks: int = 1
    dummies: int = 0
    jobs: int = 1
    reports: int = 1
    others: int = 0
    silences: int = 0
    endless: bool = False
    protocol: str = SPECIFICATION

    def instance(self) -> Instance:
        """Return the bounded instance of a specification; the dummies are the last tasks."""
        every = self.tasks + self.dummies
        return Instance(
            self.protocol,
            bounds={
                "Task": every,
                "Job": max(self.jobs, 1),
                "Ts": every + self.jobs + self.reports + self.others,
            },
            constants={"silent": [place >= self.tasks for place in range(every)]},
            name="scheduled",
        )


class DdlProgram(RefiningProgram):
    """One DDL source, its clients, an oracle and logs."""

    table = "ddl"

    def __init__(self, scenario: DdlScenario) -> None:
        super().__init__(mapped(scenario, _values))
        self.settings = Settings(clock=ClockOrder.UNTIMED, faults=FaultBudget(drops=scenario.silences))
        self.scenario = scenario
        self.oracle = self._sparing() if scenario.endless else OracleProcess()
        self.tasks = [DdlTask() for _ in range(scenario.tasks + scenario.dummies)]
        self.jobs = [Job() for _ in range(max(scenario.jobs, 1))]
        self.appended: set[Timestamp] = set()
        self.found: Timestamp | None = None
        self.reported: Timestamp = 0
        self.reports_left = math.inf if scenario.endless else scenario.reports
        self.source: DdlSource | None = None
        self._calls: OracleCalls | None = None
        self._answers: Answers | None = None

    def _sparing(self) -> OracleProcess:
        """A timestamp for each task and job, and for questions; then for what has to pass a job."""

        def needed(caller: str) -> bool:
            assert self.source is not None
            over = [job.ts for job in self.jobs if job.stage is JobStage.UNLOCKED]
            if not over or self.reported >= max(over):
                return False
            return (self.source.scheduler.min_ddl_ts >= max(over)) == (caller == "reporter")

        scenario = self.scenario
        return SparingOracle(most=scenario.tasks + scenario.jobs + scenario.reports, needed=needed)

    def populate(self, world: World) -> None:
        """Define the process."""
        self._answers = Answers(world)
        world.process(SOURCE, self._run, daemon=True)
        if self.scenario.others:
            world.process(OTHERS, self._run_others, daemon=True)
        if self.scenario.silences:
            world.process(ORACLE, self.oracle.run, daemon=True)

    async def _run_others(self, process: Process) -> None:
        assert self._answers is not None
        calls = OracleCalls(process, self.world, self._answers, near=self.oracle)
        await ask_alone(process, calls, self.scenario.others, "others.ask")

    async def _run(self, process: Process) -> None:
        assert self._answers is not None
        near = None if self.scenario.silences else self.oracle
        self._calls = OracleCalls(process, self.world, self._answers, near=near)
        source = self.source = DdlSource(oracle=self._calls, preemption=process)
        for place, task in enumerate(self.tasks):
            silent = place >= self.scenario.tasks
            if silent and self.scenario.endless:
                continue
            work = source.scheduler.run_dummy if silent else self._task_of(source)
            process.spawn(self.come(process, functools.partial(work, task)), f"task {place}")
        for place, job in enumerate(self.jobs[: self.scenario.jobs]):
            work_of = functools.partial(source.lock_manager.run_task, self._append, job)
            process.spawn(self.come(process, work_of), f"job {place}")
        process.spawn(self._report(process, source), "reporter")
        if self.scenario.endless:
            self._begin_dummies(process, source)

    def _begin_dummies(self, process: Process, source: DdlSource) -> None:
        """Each dummy comes when the one before it is over, again and again until the oracle answers."""

        async def run(place: int) -> None:
            task = self.tasks[place]
            while task.phase is not DdlPhase.FINISHED:
                await process.point("client.come")
                with suppress(RpcError):
                    await source.scheduler.run_dummy(task)
            if place + 1 < len(self.tasks):
                process.spawn(run(place + 1), f"task {place + 1}")

        process.spawn(run(self.scenario.tasks), f"task {self.scenario.tasks}")

    async def come(self, process: Process, work: Callable[[], Any]) -> None:
        """A task or a job comes."""
        await process.point("client.come")
        with suppress(RpcError):
            await work()

    def _task_of(self, source: DdlSource) -> Callable[[DdlTask], Any]:
        return functools.partial(source.scheduler.run_task, self._append)

    async def _append(self, ts: Timestamp) -> None:
        bit = self.world.interner.bit(LOG)

        def put() -> None:
            self.world.touch(writes=bit)
            self.appended.add(ts)

        await self.world.operation(f"append {ts}", put)

    async def _report(self, process: Process, source: DdlSource) -> None:
        """Ask for the minimum and report it, as the coordinator's loop does."""
        while self.reports_left:
            await process.point("timer.ddl")
            self.reports_left -= 1
            self.found = await source.minimum()
            await process.point("ddl.report")
            self.reported = self.found or self.reported
            self.found = None

    # What is looked at.

    def undone(self, values: Mapping[str, Any]) -> str | None:
        """Each task is finished, each job is over, and the reporter is through."""
        ended_tasks = ("finished", "new") if self.scenario.silences else ("finished",)
        tasks = [t for t, phase in values["phase"].items() if phase not in ended_tasks]
        if tasks:
            return f"task {tasks[0]} is not finished: {values['phase'][tasks[0]]}"
        ended = ("new", "unlocked")
        jobs = [j for j, stage in values["stage"].items() if stage not in ended or values["counted"][j]]
        if jobs:
            return f"job {jobs[0]} is not over: {values['stage'][jobs[0]]}"
        return f"a report is not finished: {values['loop']}" if values["loop"] != "idle" else None

    def condition(self, name: str, event: Event) -> bool:
        """The table's condition: the oracle is "silent"."""
        assert name == "silent", name
        del event
        return isinstance(self.oracle, SparingOracle) and self.oracle.silent

    def observe(self) -> Observation:
        """Return what the source, the logs and the oracle hold."""
        assert self.source is not None
        assert self._calls is not None
        assert self._answers is not None
        view = ddl_view(
            self.source,
            self.tasks,
            self.jobs,
            floors=self._calls.floors,
            found=self.found,
            reported=self.reported,
        )
        return {SOURCE: view, LOG: tuple(sorted(self.appended)), ANSWERS: self._answers.answered}

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        assert self.source is not None
        scheduler, manager = self.source.scheduler, self.source.lock_manager
        return (
            tuple(self._observed.values()),
            tuple(scheduler.lock.users),
            tuple(manager.lock.users),
            manager.in_progress,
            tuple(sorted((task.ts, task.phase.value) for task in scheduler.heap)),
            self.reports_left,
            self.oracle.given,
        )


def _values(scenario: DdlScenario, known: Any) -> Mapping[str, Any]:
    del scenario
    return abstract(known[SOURCE], known[LOG], known[ANSWERS])


ddl = program(DdlProgram, DdlScenario)
