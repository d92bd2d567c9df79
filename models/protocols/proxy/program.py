"""The proxy as a program under exploration: clients, queue, workers and ticker; an oracle; logs.

Each step must be a step of ``tidemark.spec.proxy``, or change nothing of it.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tidemark.impl.errors import RpcError
from tidemark.impl.proxy.config import ProxyConfig
from tidemark.impl.proxy.ports import ProxyPorts
from tidemark.impl.proxy.proxy import Proxy
from tidemark.impl.proxy.values import DmlTask, TaskPhase
from tidemark.impl.values.report import TimeTickReport
from tidemark.models.instance import Instance
from tidemark.models.protocols.common.oracle import (
    ANSWERS,
    ORACLE,
    Answers,
    CountedClock,
    OracleCalls,
    OracleProcess,
    Pause,
    SparingOracle,
    ask_alone,
)
from tidemark.models.protocols.proxy.ports import LOG, LogCalls, LogProcess
from tidemark.models.protocols.proxy.ports.real_log import RealLogs
from tidemark.models.protocols.proxy.refinement import LogView, ProxyView, abstract, proxy_view
from tidemark.models.refinement.program import RefiningProgram
from tidemark.models.refinement.scenario import FaultyScenario, mapped, program
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import ClockOrder, FaultBudget, Link, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

PROXY = "proxy"
OTHERS = "others"
TICKER_TASK = "proxy 1 ticker"
SPECIFICATION = "tidemark.spec.proxy:Proxy"


class ProxyScenario(FaultyScenario):
    """What happens in a proxy program.

    Attributes:
        tasks: by task the channels that it writes to.
        ticks: how often the ticker ticks.
        reports: how often it is reported.
        others: how many timestamps another client is given.
        parallel: how many tasks are executed at the same time.
        interval: how far the gate may run ahead of the tick's timestamp.
        near_oracle: a call of the oracle is one step, and answers come in the order of the timestamps.
        near_logs: an append is one step, and always succeeds.
        endless: it ticks and reports for ever; the oracle, near, answers ticks only where they are needed.
        real_logs: the logs are those of the broker, over files in memory.
        oracle_drops: budget of calls of the oracle that vanish.
        refusals: how many messages, those of the first timestamps, the logs may refuse.
        protocol: the specification, or a variant of it.
    """

    tasks: tuple[tuple[str, ...], ...]
    ticks: int = 1
    reports: int = 1
    others: int = 0
    parallel: int = 2
    interval: int = 1
    near_oracle: bool = False
    near_logs: bool = False
    endless: bool = False
    real_logs: bool = False
    oracle_drops: int = 0
    refusals: int = 0
    protocol: str = SPECIFICATION

    @property
    def channels(self) -> tuple[str, ...]:
        """The channels, in the order of the specification's elements."""
        return tuple(sorted({channel for task in self.tasks for channel in task}))

    @property
    def last(self) -> int:
        """The greatest timestamp that may be given."""
        return len(self.tasks) + self.ticks + self.others + self.endless

    def settings(self) -> Settings:
        """Return the bounds of the world."""
        oracle = FaultBudget(drops=self.oracle_drops)
        return Settings(
            faults=replace(self.faults, drops=self.drops + self.oracle_drops),
            links=(
                Link(source=PROXY, destination=ORACLE, faults=oracle),
                Link(source=PROXY, destination=LOG, faults=self.faults),
            ),
            clock=ClockOrder.UNTIMED,
        )

    def instance(self) -> Instance:
        """Return the bounded instance of a specification with these tasks."""
        uses = [[channel in task for channel in self.channels] for task in self.tasks]
        return Instance(
            self.protocol,
            bounds={"Task": len(self.tasks), "Channel": len(self.channels), "Ts": self.last},
            constants={"uses": uses, "interval": self.interval},
            name="scheduled",
        )


class ProxyProgram(RefiningProgram):
    """One proxy with its clients, an oracle, the logs, and another client that is given timestamps."""

    table = "proxy"

    def __init__(self, scenario: ProxyScenario) -> None:
        super().__init__(mapped(scenario, _values))
        self.scenario = scenario
        self.settings = scenario.settings()
        self.tasks = [DmlTask(channels) for channels in scenario.tasks]
        self.oracle = self._sparing() if scenario.endless else OracleProcess()
        self.log = RealLogs(scenario.channels) if scenario.real_logs else LogProcess(scenario.refusals)
        self.reported: TimeTickReport | None = None
        self.proxy: Proxy | None = None
        self.clock: CountedClock | None = None
        self._answers: Answers | None = None
        self._calls: OracleCalls | None = None

    def _sparing(self) -> OracleProcess:
        """One timestamp for each task, and so many for ticks."""

        def needed(_: str) -> bool:
            assert self.proxy is not None
            report = self.proxy.ticker.report(1)
            return all(task.phase is TaskPhase.POPPED for task in self.tasks) and (
                report is None or any(report.value(c) < task.ts for task in self.tasks for c in task.channels)
            )

        return SparingOracle(most=len(self.tasks) + self.scenario.ticks, needed=needed)

    def populate(self, world: World) -> None:
        """Define the processes."""
        self._answers = Answers(world)
        world.process(ORACLE, self.oracle.run, daemon=True)
        world.process(LOG, self.log.run, daemon=True)
        world.process(PROXY, self._run_proxy, daemon=True)
        if self.scenario.others:
            world.process(OTHERS, self._run_others, daemon=True)

    async def _run_others(self, process: Process) -> None:
        await ask_alone(process, self._oracle_of(process), self.scenario.others, "others.ask")

    def _oracle_of(self, process: Process) -> OracleCalls:
        assert self._answers is not None
        near = self.oracle if self.scenario.near_oracle else None
        return OracleCalls(process, self.world, self._answers, near=near)

    async def _run_proxy(self, process: Process) -> None:
        self._calls = self._oracle_of(process)
        config, endless = self.config(), self.scenario.endless
        self.clock = CountedClock(
            process,
            {
                config.tick_seconds: Pause("timer.tick", math.inf if endless else self.scenario.ticks),
                # What is reported before the first tick says nothing.
                config.report_seconds: Pause(
                    "timer.report", math.inf if endless else self.scenario.reports, after="timer.tick"
                ),
            },
        )
        near = self.log if self.scenario.near_logs else None
        ports = ProxyPorts(
            oracle=self._calls,
            streams=LogCalls(process, self.world, near=near),
            root_coord=self,
            clock=self.clock,
            preemption=process,
        )
        self.proxy = Proxy(source=1, ports=ports, config=config)
        self.proxy.serving.set()
        self.proxy.start()
        process.spawn(self.run_clients(process, self.proxy), "clients")
        await self.proxy.supervisor.wait_failed()

    async def run_clients(self, process: Process, proxy: Proxy) -> None:
        """Clients come one after another. Which of them comes first makes no difference but in names."""
        for place, task in enumerate(self.tasks):
            await process.point("client.write")
            process.spawn(self._client(proxy, task), f"client {place}")

    async def _client(self, proxy: Proxy, task: DmlTask) -> None:
        try:
            await proxy.submit(task)
        except RpcError:
            return  # the oracle has not answered: the client hears of it

    def config(self) -> ProxyConfig:
        """Return the configuration of the proxy."""
        return ProxyConfig(parallel_tasks=self.scenario.parallel, tick_interval_ts=self.scenario.interval)

    async def update_channel_time_tick(self, report: TimeTickReport, *, deadline: float) -> None:
        """Take a report, as the root coordinator would."""
        del deadline
        self.reported = report

    # What is looked at.

    def undone(self, values: Mapping[str, Any]) -> str | None:
        """Each task is over, or its enqueueing has failed; the ticker is through."""
        open_ones = [t for t, phase in values["phase"].items() if phase not in ("new", "popped")]
        if open_ones:
            return f"task {open_ones[0]} is not over: {values['phase'][open_ones[0]]}"
        return f"a tick is not finished: {values['tick']}" if values["tick"] != "idle" else None

    def condition(self, name: str, event: Event) -> bool:
        """The table's conditions: the oracle is "silent"; a message of the event's task was "refused"."""
        if name == "refused":
            number = int(event.owner.rpartition(" ")[2])
            (ts,) = (task.ts for task in self.tasks if task.number == number)
            return any(refused == ts for _, refused in self.log.refused)
        return isinstance(self.oracle, SparingOracle) and self.oracle.silent

    def element(self, name: str, value: Any) -> Any:
        """Return a channel's place, or a task's: by its number among the requests, or by its timestamp."""
        if name == "c":
            return self.scenario.channels.index(value)
        if name == "t__ts":
            return next((place for place, task in enumerate(self.tasks) if task.ts == int(value)), None)
        if name == "t__number":
            return next((place for place, task in enumerate(self.tasks) if task.number == int(value)), None)
        return int(value)

    def observe(self) -> Observation:
        """Return what the proxy, the logs and the oracle hold."""
        assert self._answers is not None
        return {PROXY: self._view(), LOG: self.log.view(), ANSWERS: self._answers.answered}

    def _view(self) -> ProxyView:
        assert self.proxy is not None
        assert self._calls is not None
        floors = self._calls.floors
        return proxy_view(
            self.proxy,
            self.tasks,
            floors=[floors.get(f"enter {task.number}", 0) for task in self.tasks],
            now_floor=floors.get(TICKER_TASK, 0),
            reported=self.reported,
        )

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        assert self.proxy is not None
        assert self.clock is not None
        memory = memory_of(self.proxy, self.clock, self.tasks)
        return tuple(self._observed.values()), memory, self.oracle.given, self.log.declared()


def memory_of(proxy: Proxy, clock: CountedClock, tasks: Sequence[DmlTask]) -> Hashable:
    """Return what influences the future of a proxy, beyond its view."""
    queue = proxy.queue
    return (
        tuple(task.ts for task in queue.unissued),
        tuple(sorted(queue.active)),
        tuple(queue.stats_lock.users),
        tuple(sorted(clock.left.items())),
        tuple((task.number, tuple(sorted((c, o.value) for c, o in task.outcomes.items()))) for task in tasks),
        proxy.scheduler.free_slots,
    )


def _values(scenario: ProxyScenario, observation: Any) -> Mapping[str, Any]:
    channels, last = scenario.channels, scenario.last
    proxy, log, answered = observation[PROXY], observation[LOG], observation[ANSWERS]
    assert isinstance(proxy, ProxyView)
    assert isinstance(log, LogView)
    assert isinstance(answered, tuple)
    return abstract(proxy, log, answered, channels=channels, last=last)


proxy = program(ProxyProgram, ProxyScenario)
