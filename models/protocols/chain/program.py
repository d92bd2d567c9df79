"""The whole chain as a program under exploration: oracle, proxies, root coordinator, logs; all but the oracle
are the real parts.

No specification is followed here: what is looked at are the logs. After a tick nothing at or below it may
come. The parts are taken in coarser steps than in their own programs, which follow their specifications.
"""

import functools
from collections.abc import Hashable, Mapping, Sequence

from tidemark.impl.errors import RpcError
from tidemark.impl.proxy.config import ProxyConfig
from tidemark.impl.proxy.ports import MessageStream, ProxyPorts
from tidemark.impl.proxy.proxy import Proxy
from tidemark.impl.proxy.values import AppendOutcome, DmlTask, Message
from tidemark.impl.rootcoord.config import RootCoordConfig
from tidemark.impl.rootcoord.ports import RootCoordPorts, SessionStore, TickStreams
from tidemark.impl.rootcoord.root_coord import RootCoord
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.values.report import DDL_SOURCE, SourceId
from tidemark.models.protocols.common.calls import Alone, calls, remote
from tidemark.models.protocols.common.oracle import Answers, CountedClock, OracleCalls, OracleProcess, Pause
from tidemark.models.protocols.proxy import program as proxy_program
from tidemark.models.protocols.proxy.refinement import ProxyView, proxy_view
from tidemark.models.protocols.timetick import program as timetick_program
from tidemark.models.protocols.timetick.ports import (
    ROOT_COORD,
    Beginning,
    SessionCalls,
    Sessions,
    Source,
    wait_for_beginning,
)
from tidemark.models.protocols.timetick.program import StubDdl
from tidemark.models.protocols.timetick.refinement import CoordinatorView, coordinator_view
from tidemark.models.refinement.scenario import FaultyScenario, program
from tidemark.models.simulation.program import Observation, Program
from tidemark.models.simulation.settings import ClockOrder, FaultBudget, Link, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

LOG = "log"
WATERMARK = "watermark_promise"
_ATTEMPTS = 2
"""First reports of a proxy: the coordinator may not know it yet."""
FORWARD = "ticks_never_go_back"
POINTS = ("queue.commit", "ticker.snapshot", "sync.close_round")
"""Where the parts can be preempted, beside the calls of their ports."""

Entry = tuple[str, Timestamp]
"""One entry of a log: "message" or "tick", and its timestamp."""


class CoarsePoints:
    """Preemption at some of the points only."""

    def __init__(self, process: Process, points: Sequence[str]) -> None:
        self._process = process
        self._points = frozenset(points)

    async def point(self, name: str) -> None:
        """Possibly let others run."""
        if name in self._points:
            await self._process.point(name)


class ChainScenario(FaultyScenario):
    """What happens in a chain.

    Attributes:
        writes: by proxy, by task, the channels that it writes to.
        ticks: how often a proxy ticks and reports after its first report.
        ddl_reports: how often the DDL source reports, in each incarnation of the coordinator.
        points: where the parts can be preempted.
        late_join: the last proxy registers while the coordinator runs.
        early: clients write at any time, and it is the proxy that waits until it serves.
    """

    writes: tuple[tuple[tuple[str, ...], ...], ...]
    ticks: int = 1
    ddl_reports: int = 2
    points: tuple[str, ...] = POINTS
    late_join: bool = False
    early: bool = False

    @property
    def channels(self) -> tuple[str, ...]:
        """All channels."""
        return tuple(sorted({channel for tasks in self.writes for task in tasks for channel in task}))

    @property
    def proxies(self) -> tuple[SourceId, ...]:
        """The proxies' ids."""
        return tuple(range(1, len(self.writes) + 1))

    def settings(self) -> Settings:
        """Return the bounds of the world. Appends of proxies are the only messages that meet faults."""
        quiet = FaultBudget()
        return Settings(
            faults=self.faults,
            links=tuple(Link(source=_name(p), destination=ROOT_COORD, faults=quiet) for p in self.proxies),
            crashable=frozenset({ROOT_COORD}) if self.crashes else frozenset(),
            clock=ClockOrder.UNTIMED,
        )


def _name(source: SourceId) -> str:
    return f"proxy {source}"


class Logs(Alone):
    """All logs, entry by entry. Messages come by the network; ticks, and fences, in one step."""

    def __init__(self, world: World, sessions: Sessions) -> None:
        self.entries: dict[str, list[Entry]] = {}
        self.refused: set[tuple[str, Timestamp]] = set()
        self._world = world
        self._sessions = sessions

    async def run(self, process: Process) -> None:
        """Serve."""

        async def append(source: SourceId, channel: str, ts: Timestamp) -> None:
            if self._sessions.refuses(source) or (channel, ts) in self.refused:
                raise RpcError(f"the message {ts} of source {source} is refused")
            self.entries.setdefault(channel, []).append(("message", ts))

        async def settle(channel: str, ts: Timestamp) -> bool:
            found = ("message", ts) in self.entries.get(channel, [])
            if not found:
                self.refused.add((channel, ts))
            return found

        process.serve("append", append)
        process.serve("settle", settle)

    def view(self) -> Hashable:
        """Return everything."""
        entries = tuple(sorted((channel, tuple(found)) for channel, found in self.entries.items()))
        return entries, tuple(sorted(self.refused))

    async def send_tick(self, channel: str, ts: Timestamp) -> None:
        """See ``TickStreams``."""

        def put() -> None:
            self._world.touch(writes=self._world.interner.bit(LOG))
            self.entries.setdefault(channel, []).append(("tick", ts))

        await self._world.operation(f"tick {channel} {ts}", put)

    async def last_tick(self, channel: str) -> Timestamp:
        """See ``TickStreams``."""
        self._world.touch(reads=self._world.interner.bit(LOG))
        return last_tick(self.entries.get(channel, []))


def last_tick(entries: Sequence[Entry]) -> Timestamp:
    """Return the greatest tick; 0 if there is none."""
    return max((ts for kind, ts in entries if kind == "tick"), default=0)


class LogCalls:
    """The logs as one proxy sees them."""

    def __init__(self, process: Process, source: SourceId) -> None:
        self._process = process
        self._source = source

    async def append(self, message: Message, *, deadline: float) -> None:
        """Append a message."""
        del deadline
        await remote(self._process, LOG, "append", self._source, message.channel, message.ts)

    async def settle(self, message: Message) -> AppendOutcome:
        """Find out, and rule out. The budget of faults leaves this call alone."""
        found = await remote(self._process, LOG, "settle", message.channel, message.ts)
        return AppendOutcome.APPENDED if found else AppendOutcome.REFUSED


class ChainProgram(Program):
    """Proxies, a root coordinator and logs, and what may be said of the logs."""

    claims = (WATERMARK, FORWARD)

    def __init__(self, scenario: ChainScenario) -> None:
        self.scenario = scenario
        self.settings = scenario.settings()
        self.oracle = OracleProcess()
        self.tasks = {
            source: [DmlTask(channels) for channels in tasks]
            for source, tasks in zip(scenario.proxies, scenario.writes, strict=True)
        }
        self.beginning = Beginning()
        self.attempts = dict.fromkeys(scenario.proxies, _ATTEMPTS)
        self.proxies: dict[SourceId, tuple[Proxy, CountedClock]] = {}
        self.coordinator: tuple[RootCoord, CountedClock] | None = None
        self._covered: set[str] = set()

    def build(self, world: World) -> None:
        """Define the processes. All proxies but one that joins late are registered before the start."""
        self.world = world
        self.answers = Answers(world)
        self.make_edges(world)
        world.process(ROOT_COORD, self._run_root_coord, daemon=True)
        for source in self.scenario.proxies:
            run = functools.partial(self._run_proxy, source)
            world.process(_name(source), run, daemon=True, restarts=False)

    # Logs and session store: a variant has others.

    def make_edges(self, world: World) -> None:
        """Make logs and session store."""
        self.sessions = Sessions(world)
        self.logs = Logs(world, self.sessions)
        self.calls: SessionCalls | None = None
        for source in self.registered():
            self.sessions.change(source, alive=True)
        world.process(LOG, self.logs.run, daemon=True)

    def edges_of(self, process: Process) -> tuple[SessionStore, TickStreams]:
        """Session store and logs as an incarnation of the coordinator sees them."""
        self.calls = SessionCalls(process, self.world, self.sessions)
        process.serve("session_changed", self.calls.tell)
        return self.calls, self.logs

    def streams_of(self, process: Process, source: SourceId) -> MessageStream:
        """The logs as a proxy sees them."""
        return LogCalls(process, source)

    async def register(self, process: Process, source: SourceId) -> None:
        """A proxy begins its session."""
        await process.point("proxy.register")
        self.sessions.change(source, alive=True)
        process.post(ROOT_COORD, "session_changed")

    def entries(self) -> Mapping[str, Sequence[Entry]]:
        """What the logs hold."""
        return self.logs.entries

    def declared_edges(self) -> Hashable:
        """What in logs and session store influences what happens next."""
        return self.logs.view(), self.sessions.view(), self.calls.told if self.calls is not None else 0

    def registered(self) -> tuple[SourceId, ...]:
        """The proxies that are registered before the coordinator begins."""
        proxies = self.scenario.proxies
        return proxies[:-1] if self.scenario.late_join else proxies

    def _oracle_of(self, process: Process) -> OracleCalls:
        return OracleCalls(process, self.world, self.answers, near=self.oracle)

    async def _run_root_coord(self, process: Process) -> None:
        config = RootCoordConfig(ddl_tick_seconds=0.2, dummy_seconds=0.3)
        clock = CountedClock(
            process, {0.2: Pause("timer.ddl", self.scenario.ddl_reports), 0.3: Pause("timer.dummy", 0)}
        )
        sessions, ticks = self.edges_of(process)
        ddl = Source(DDL_SOURCE, self.scenario.channels, {}, self.answers)
        ports = RootCoordPorts(
            ddl=StubDdl(ddl),
            sessions=sessions,
            ticks=ticks,
            clock=clock,
            preemption=CoarsePoints(process, self.scenario.points),
        )
        coordinator = RootCoord(channels=self.scenario.channels, ports=ports, config=config)
        process.serve("update_channel_time_tick", coordinator.update_channel_time_tick)
        self.coordinator = (coordinator, clock)
        await coordinator.start()
        self.beginning.pass_on(process, self.scenario.proxies)
        await coordinator.supervisor.wait_failed()

    async def _run_proxy(self, source: SourceId, process: Process) -> None:
        await wait_for_beginning(process)
        if source not in self.registered():
            await self.register(process, source)
        config = ProxyConfig(parallel_tasks=2, tick_interval_ts=1)
        clock = CountedClock(
            process,
            {
                config.tick_seconds: Pause("timer.tick", self.scenario.ticks),
                config.report_seconds: Pause("timer.report", self.scenario.ticks, after="timer.tick"),
            },
        )
        ports = ProxyPorts(
            oracle=self._oracle_of(process),
            streams=self.streams_of(process, source),
            root_coord=calls(process, ROOT_COORD),
            clock=clock,
            preemption=CoarsePoints(process, self.scenario.points),
        )
        proxy = Proxy(source=source, ports=ports, config=config)
        self.proxies[source] = (proxy, clock)
        if self.scenario.early:
            self._spawn_clients(process, source, proxy)
        while not proxy.serving.is_set() and self.attempts[source]:
            # The first rounds of both loops, in their order: until a report is accepted nothing is written.
            self.attempts[source] -= 1
            await proxy.ticker.tick()
            await proxy.report_once()
        proxy.start()
        if not self.scenario.early:
            self._spawn_clients(process, source, proxy)
        await proxy.supervisor.wait_failed()

    def _spawn_clients(self, process: Process, source: SourceId, proxy: Proxy) -> None:
        for place, task in enumerate(self.tasks[source]):
            process.spawn(self._client(process, proxy, task), f"client {place}")

    async def _client(self, process: Process, proxy: Proxy, task: DmlTask) -> None:
        await process.point("client.write")
        await proxy.submit(task)

    # What is looked at.

    def observe(self) -> Observation:
        """Return the logs: nothing else is judged."""
        return {LOG: self.logs.view()}

    def on_step(self, before: Observation, after: Observation, label: str) -> str | None:
        """What is new in a log lies above every tick that is in it."""
        del before, after, label
        for channel, entries in self.entries().items():
            for place in range(len(entries)):
                wrong = self._look_at(entries[: place + 1])
                if wrong is not None:
                    claim, words = wrong
                    return (
                        f"{claim}: the {words} of {channel} comes after the tick {last_tick(entries[:place])}"
                    )
        return None

    def _look_at(self, entries: Sequence[Entry]) -> tuple[str, str] | None:
        """The claim that the last of these entries breaks, with its name."""
        (kind, ts), highest = entries[-1], last_tick(entries[:-1])
        if ts <= highest:
            return (WATERMARK if kind == "message" else FORWARD), f"{kind} {ts}"
        if kind == "message" and highest:
            self._covered.add("a message follows a tick")
        if kind == "tick" and any(k == "message" and t <= ts for k, t in entries):
            self._covered.add("a tick passes a message")
        return None

    def covered(self) -> frozenset[str]:
        """Return what has happened."""
        return frozenset(self._covered)

    def final(self) -> Hashable:
        """Return the logs."""
        return self.logs.view()

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        assert self.coordinator is not None
        coordinator, clock = self.coordinator
        view: CoordinatorView | None = None
        memory: Hashable = None
        if self.world.lanes[ROOT_COORD].alive:
            view, memory = coordinator_view(coordinator), timetick_program.memory_of(coordinator, clock)
        return (
            self.declared_edges(),
            self.answers.answered,
            self.oracle.given,
            (self.beginning.passed_on, tuple(self.attempts.values())),
            (view, memory, coordinator.reporting),
            tuple(self._proxy(source) for source in sorted(self.proxies)),
        )

    def _proxy(self, source: SourceId) -> tuple[ProxyView, Hashable, bool]:
        proxy, clock = self.proxies[source]
        tasks = self.tasks[source]
        view = proxy_view(proxy, tasks, floors=[0] * len(tasks), now_floor=0, reported=None)
        return view, proxy_program.memory_of(proxy, clock, tasks), proxy.serving.is_set()


chain = program(ChainProgram, ChainScenario)
