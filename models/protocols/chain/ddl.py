"""The root coordinator with its real DDL source, as it is put together by default: tasks, background jobs,
both loops, ticks; an oracle that may not answer.

No specification is followed here: what is looked at is the log. After a tick no DDL message at or below it
may come, and no loop may end.
"""

from collections.abc import Hashable

from tidemark.impl.errors import RpcError
from tidemark.impl.rootcoord.config import RootCoordConfig
from tidemark.impl.rootcoord.ddl_source import DdlSource
from tidemark.impl.rootcoord.ports import RootCoordPorts
from tidemark.impl.rootcoord.root_coord import RootCoord
from tidemark.impl.timestamp import Timestamp
from tidemark.models.protocols.chain.program import FORWARD, WATERMARK, CoarsePoints, Entry, last_tick
from tidemark.models.protocols.common.calls import Alone
from tidemark.models.protocols.common.oracle import (
    ORACLE,
    Answers,
    CountedClock,
    OracleCalls,
    OracleProcess,
    Pause,
)
from tidemark.models.protocols.timetick import program as timetick_program
from tidemark.models.protocols.timetick.ports import ROOT_COORD, SessionCalls, Sessions
from tidemark.models.protocols.timetick.refinement import coordinator_view
from tidemark.models.refinement.scenario import FaultyScenario, program
from tidemark.models.simulation.program import Observation, Program
from tidemark.models.simulation.settings import ClockOrder, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

LOG = "cell log"
CHANNEL = "a"
LOOPS = "loops_go_on"
"""Claim id: at the end both loops have run as often as their timers have ended."""
FINISHED = "every_task_is_finished"
"""Claim id: at the end no task with a timestamp is unfinished, dummies neither: the minimum would stay."""
POINTS = ("ddl.scheduler", "ddl.finish", "background.note", "ddl.push")


class DdlChainScenario(FaultyScenario):
    """What happens.

    Attributes:
        tasks: DDL tasks. jobs: background jobs.
        reports, dummies: how often each loop's timer ends.
        near: a call of the oracle is one step, and is always answered.
    """

    tasks: int = 1
    jobs: int = 0
    reports: int = 1
    dummies: int = 0
    near: bool = True


class DdlChainProgram(Alone, Program):
    """One root coordinator without proxies, clients with DDL, a background job, one log."""

    claims = (WATERMARK, FORWARD, LOOPS, FINISHED)

    def __init__(self, scenario: DdlChainScenario) -> None:
        self.tasks, self.jobs, self.near = scenario.tasks, scenario.jobs, scenario.near
        self.settings = Settings(faults=scenario.faults, clock=ClockOrder.UNTIMED)
        self.oracle = OracleProcess()
        self.entries: list[Entry] = []
        self.coordinator: tuple[RootCoord, DdlSource, CountedClock, SessionCalls] | None = None
        self._pauses = {
            0.2: Pause("timer.ddl", scenario.reports),
            0.3: Pause("timer.dummy", scenario.dummies),
        }

    def build(self, world: World) -> None:
        """Define the processes."""
        self.world = world
        self.answers = Answers(world)
        self.sessions = Sessions(world)
        if not self.near:
            world.process(ORACLE, self.oracle.run, daemon=True)
        world.process(ROOT_COORD, self._run, daemon=True)

    async def _run(self, process: Process) -> None:
        clock = CountedClock(process, self._pauses)
        calls = SessionCalls(process, self.world, self.sessions)
        oracle = OracleCalls(process, self.world, self.answers, near=self.oracle if self.near else None)
        points = CoarsePoints(process, POINTS)
        ddl = DdlSource(oracle=oracle, preemption=points)
        ports = RootCoordPorts(
            ddl=ddl,
            sessions=calls,
            ticks=self,
            clock=clock,
            preemption=points,
        )
        config = RootCoordConfig(ddl_tick_seconds=0.2, dummy_seconds=0.3)
        coordinator = RootCoord(channels=(CHANNEL,), ports=ports, config=config)
        self.coordinator = (coordinator, ddl, clock, calls)
        await coordinator.start()
        for place in range(self.tasks):
            process.spawn(self._come(process, ddl, background=False), f"task {place}")
        for place in range(self.jobs):
            process.spawn(self._come(process, ddl, background=True), f"job {place}")
        await coordinator.supervisor.wait_failed()

    async def _come(self, process: Process, ddl: DdlSource, *, background: bool) -> None:
        await process.point("client.come")
        work = ddl.lock_manager.run_task if background else ddl.scheduler.run_task
        try:
            await work(self._append)
        except RpcError:
            return  # the oracle has not answered: the client hears of it

    async def _append(self, ts: Timestamp) -> None:
        await self.world.operation(f"append {ts}", lambda: self._add(("message", ts)))

    def _add(self, entry: Entry) -> None:
        self.world.touch(writes=self.world.interner.bit(LOG))
        self.entries.append(entry)

    async def send_tick(self, channel: str, ts: Timestamp) -> None:
        """See ``TickStreams``."""
        await self.world.operation(f"tick {channel} {ts}", lambda: self._add(("tick", ts)))

    async def last_tick(self, channel: str) -> Timestamp:
        """See ``TickStreams``."""
        del channel
        self.world.touch(reads=self.world.interner.bit(LOG))
        return last_tick(self.entries)

    # What is looked at.

    def observe(self) -> Observation:
        """Return the log."""
        return {LOG: tuple(self.entries)}

    def on_step(self, before: Observation, after: Observation, label: str) -> str | None:
        """What is new in the log lies above every tick that is in it."""
        del before, after, label
        (kind, ts), highest = self.entries[-1], last_tick(self.entries[:-1])
        if ts > highest:
            return None
        return (
            f"{WATERMARK if kind == 'message' else FORWARD}: the {kind} {ts} comes after the tick {highest}"
        )

    def check_final(self) -> str | None:
        """Each loop has slept again after its last round, and nothing is left in the scheduler."""
        assert self.coordinator is not None
        _, ddl, clock, _ = self.coordinator
        if ddl.scheduler.heap:
            left = ", ".join(f"{task.ts} ({task.phase.value})" for task in ddl.scheduler.heap)
            return f"{FINISHED}: the scheduler still has {left}"
        idle = [name for name, left in clock.left.items() if left]
        return f"{LOOPS}: {idle[0]} has not ended as often as it may" if idle else None

    def final(self) -> Hashable:
        """Return the log."""
        return tuple(self.entries)

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        assert self.coordinator is not None
        coordinator, ddl, clock, calls = self.coordinator
        scheduler, manager = ddl.scheduler, ddl.lock_manager
        return (
            tuple(self.entries),
            (self.oracle.given, self.answers.answered),
            coordinator_view(coordinator),
            (timetick_program.memory_of(coordinator, clock), calls.told),
            coordinator.reporting,
            (ddl.background, scheduler.min_ddl_ts, tuple(scheduler.lock.users)),
            tuple((task.ts, task.phase.value) for task in scheduler.heap),
            (manager.last_ts, manager.in_progress, manager.reader.value, tuple(manager.lock.users)),
        )


ddl_chain = program(DdlChainProgram, DdlChainScenario)
