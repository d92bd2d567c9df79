"""The root coordinator over the logs and the session store that run in a cluster: it crashes while ticks and
DDL messages are on their way, and another one takes over.

Each step must be a step of ``tidemark.models.protocols.timetick.mutants.edges``, or change nothing of it.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidemark.impl.broker.sessions import SqliteSessions
from tidemark.impl.rootcoord.config import RootCoordConfig
from tidemark.impl.rootcoord.ports import RootCoordPorts
from tidemark.impl.rootcoord.root_coord import RootCoord, RootCoordParts
from tidemark.impl.values.report import DDL_SOURCE, SourceId, TimeTickReport
from tidemark.models.instance import Instance
from tidemark.models.protocols.common.calls import remote
from tidemark.models.protocols.common.oracle import (
    ANSWERS,
    Answers,
    CountedClock,
    OracleCalls,
    OracleProcess,
    Pause,
    ask_alone,
)
from tidemark.models.protocols.sessions.ports import STORE
from tidemark.models.protocols.timetick.edges import (
    LOGS,
    FencedSessions,
    LogEdge,
    SessionEdge,
    SourceLogs,
    StreamCalls,
)
from tidemark.models.protocols.timetick.edges_refinement import (
    CoordinatorsView,
    Edges,
    LifeView,
    abstract_edges,
)
from tidemark.models.protocols.timetick.ports import ROOT_COORD, Source, run_reports
from tidemark.models.protocols.timetick.program import OTHERS, StubDdl, memory_of
from tidemark.models.protocols.timetick.refinement import MessageView, SourceView, coordinator_view
from tidemark.models.refinement.program import Abstraction, RefiningProgram
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import ClockOrder, FaultBudget, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

SPECIFICATION = "tidemark.models.protocols.timetick.mutants.edges:OverTheEdges"


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeoverScenario:
    """What happens.

    Attributes:
        channels: names of the channels.
        proxies: 0 or 1: the session store numbers sessions as they come.
        messages: by message its source, 1 for the proxy or 0 for the DDL source, and its channel.
        reports: how often the proxy reports. ddl_reports: how often the DDL source does, in each incarnation.
        others: how many timestamps another client is given.
        expires: the proxy's lease ends, at any time after it began to serve.
        faults: crashes of the coordinator.
    """

    channels: tuple[str, ...]
    proxies: int
    messages: tuple[tuple[SourceId, str], ...]
    reports: int
    ddl_reports: int
    others: int
    expires: bool
    faults: FaultBudget = field(default_factory=FaultBudget)

    @property
    def channel_of(self) -> tuple[int, ...]:
        """By message the place of its channel."""
        return tuple(self.channels.index(channel) for _, channel in self.messages)

    def sent_by(self, source: SourceId) -> dict[int, str]:
        """The messages of a source, by number, with their channels."""
        wanted = 0 if source == DDL_SOURCE else source
        return {n: channel for n, (sender, channel) in enumerate(self.messages) if sender == wanted}

    def settings(self) -> Settings:
        """The bounds of the world."""
        return Settings(faults=self.faults, crashable=frozenset({ROOT_COORD}), clock=ClockOrder.UNTIMED)

    def instance(self, protocol: str) -> Instance:
        """The bounded instance of a specification with these sources and messages."""
        senders = [self.proxies if sender == 0 else sender - 1 for sender, _ in self.messages]
        return Instance(
            protocol,
            bounds={
                "Source": self.proxies + 1,
                "Channel": len(self.channels),
                "Message": max(len(self.messages), 1),
                "Ts": self.others + len(self.messages),
                "Faults": 0,
            },
            constants={
                "ddl": self.proxies,
                "sender": senders or [self.proxies],
                "channel_of": list(self.channel_of) or [0],
            },
            name="scheduled",
        )


@dataclass(eq=False)
class Life:
    """One incarnation of the coordinator with its edges."""

    process: Process
    coordinator: RootCoord
    clock: CountedClock
    streams: StreamCalls
    sessions: SessionEdge
    ddl: Source

    @property
    def has_served(self) -> bool:
        """It has taken over."""
        return bool(self.coordinator.sync.entries)

    def view(self) -> LifeView:
        """The picture of it: of a dead one, as it was when it crashed."""
        reported, count = self.coordinator.reporting, len(self.coordinator.channels)
        promised = (0 if reported is None else reported.default,) * count
        return LifeView(
            number=self.streams.number,
            told=tuple(sorted(self.streams.told.items())),
            memory=coordinator_view(self.coordinator) if self.has_served else None,
            under_way=tuple(sorted(self.streams.under_way.items())),
            ddl=SourceView(self.ddl.view().messages, promised),
            listed=self.sessions.listed,
        )


class TakeoverProgram(RefiningProgram):
    """A root coordinator that may crash, a proxy or none, the broker's logs, the session store."""

    table = "timetick"

    def __init__(self, scenario: TakeoverScenario, *, protocol: str) -> None:
        super().__init__(_abstraction(scenario, protocol))
        self.scenario = scenario
        self.settings = scenario.settings()
        self.oracle = OracleProcess()
        self.lives: list[Life] = []

    def populate(self, world: World) -> None:
        """Define the processes."""
        self.answers = Answers(world)
        self.sessions = FencedSessions(world, SqliteSessions)
        self.logs = LogEdge(world, self.scenario.channels)
        self.proxies = {
            source: Source(
                source,
                self.scenario.channels,
                self.scenario.sent_by(source),
                self.answers,
                self.scenario.reports,
            )
            for source in range(1, self.scenario.proxies + 1)
        }
        world.process(LOGS, self.logs.run, daemon=True)
        world.process(ROOT_COORD, self._coordinate, daemon=True)
        for source in self.proxies:
            run = functools.partial(self._run_proxy, source)
            world.process(f"proxy {source}", run, daemon=True, restarts=False)
        world.process(OTHERS, self._run_others, daemon=True)

    def _oracle_of(self, process: Process) -> OracleCalls:
        return OracleCalls(process, self.world, self.answers, near=self.oracle)

    async def _run_others(self, process: Process) -> None:
        await ask_alone(process, self._oracle_of(process), self.scenario.others, "others.ask")

    # The coordinator.

    async def _coordinate(self, process: Process) -> None:
        await process.point("coordinator.begin")
        life = self._make_life(process)
        before = self.lives[-1].ddl.messages if self.lives else {}
        life.ddl.messages = {number: MessageView("dropped", 0, 0) for number in before}
        self.lives.append(life)
        process.serve("update_channel_time_tick", life.coordinator.update_channel_time_tick)
        await life.coordinator.start()
        for number in life.ddl.channel_of:
            if number not in life.ddl.messages:
                process.spawn(self._write(process, life.ddl, number, "ddl.write"), f"ddl {number}")
        await life.coordinator.supervisor.wait_failed()

    def _make_life(self, process: Process) -> Life:
        scenario = self.scenario
        clock = CountedClock(
            process, {0.2: Pause("timer.ddl", scenario.ddl_reports), 0.3: Pause("timer.dummy", 0)}
        )
        ddl = Source(DDL_SOURCE, scenario.channels, scenario.sent_by(DDL_SOURCE), self.answers)
        streams, sessions = StreamCalls(process, self.logs), SessionEdge(process, self.sessions)
        coordinator = RootCoord(
            channels=scenario.channels,
            ports=RootCoordPorts(
                oracle=self._oracle_of(process),
                sessions=sessions,
                ticks=streams,
                clock=clock,
                preemption=process,
            ),
            config=RootCoordConfig(ddl_tick_seconds=0.2, dummy_seconds=0.3),
            parts=RootCoordParts(ddl=lambda **_: StubDdl(ddl)),
        )
        return Life(process, coordinator, clock, streams, sessions, ddl)

    # The proxy.

    async def _run_proxy(self, number: SourceId, process: Process) -> None:
        source = self.proxies[number]
        given = await self.sessions.register(process.name)
        assert given == number
        serving = asyncio.Event()
        process.spawn(self._run_reports(process, source, serving), "reports")
        await serving.wait()
        for message in source.channel_of:
            process.spawn(self._write(process, source, message, "client.write"), f"client {message}")
        if self.scenario.expires:
            await self.sessions.end(number)

    async def _run_reports(self, process: Process, source: Source, serving: asyncio.Event) -> None:
        async def call(report: TimeTickReport) -> None:
            await remote(process, ROOT_COORD, "update_channel_time_tick", report)

        await run_reports(process, source, serving, call)

    async def _write(self, process: Process, source: Source, number: int, point: str) -> None:
        await process.point(point)
        logs = SourceLogs(process, lambda message: self.scenario.messages[message][1])
        await source.write(number, self._oracle_of(process), logs)

    # What is looked at.

    def element(self, name: str, value: Any) -> Any:
        """Return a channel's place, a source's (the DDL source is the last one), or a message's number."""
        if name == "c":
            return self.scenario.channels.index(value)
        if name == "p":
            return (int(value) or self.scenario.proxies + 1) - 1
        return int(value)

    def undone(self, values: Mapping[str, Any]) -> str | None:
        """A coordinator serves, and no complete round waits to be sent, or is being sent."""
        if not values["up"]:
            return "no coordinator serves"
        if values["queued"] or values["sending"]:
            return "a complete round is not sent"
        return None

    def observe(self) -> Observation:
        """Return what each part holds, under its name."""
        found: dict[str, Hashable] = {
            ROOT_COORD: self._lives(),
            LOGS: self.logs.view(),
            STORE: self.sessions.states(),
            ANSWERS: self.answers.answered,
        }
        for number, source in self.proxies.items():
            found[f"proxy {number}"] = source.view()
        return found

    def _lives(self) -> CoordinatorsView:
        living = next((life.view() for life in self.lives if life.process.alive), None)
        dead = [n for n, life in enumerate(self.lives) if not life.process.alive and life.has_served]
        later = self.lives[dead[-1] + 1 :] if dead else self.lives
        serving = {p for life in self.lives for p in life.coordinator.sync.accepted if p > 0}
        return CoordinatorsView(
            living=living,
            before=self.lives[dead[-1]].view() if dead else None,
            closed=tuple(sorted({channel for life in later for channel in life.streams.told})),
            serving=tuple(sorted(serving)),
            shut=self.sessions.shut,
        )

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        living = next((life for life in self.lives if life.process.alive), None)
        memory: Hashable = None
        if living is not None:
            memory = (
                memory_of(living.coordinator, living.clock),
                tuple(living.coordinator.sender.last.items()),
            )
        return (
            tuple(self.observe().values()),
            memory,
            self.logs.declared(),
            self.sessions.gate.view(),
            tuple(self.sessions.changes),
            tuple(source.reports_left for source in self.proxies.values()),
            self.oracle.given,
        )


@functools.cache
def _abstraction(scenario: TakeoverScenario, protocol: str) -> Abstraction:
    """A pure function of its arguments: it may outlive executions."""
    instance = scenario.instance(protocol)
    options = instance.spec.options

    def values(observation: Observation) -> Mapping[str, Any]:
        known: Any = observation
        whole = Edges(
            issued=max(known[ANSWERS], default=0),
            channels=scenario.channels,
            logs=known[LOGS],
            coordinators=known[ROOT_COORD],
            proxies={source: known[f"proxy {source}"] for source in range(1, scenario.proxies + 1)},
            sessions=known[STORE],
        )
        return abstract_edges(
            whole,
            channel_of=scenario.channel_of or (0,),
            ticks_end=bool(options["TICKS_FENCED"]),
            ddl_ends=bool(options["DDL_FENCED"]),
        )

    return Abstraction(instance, values, ignored=("faults",), sound=protocol == SPECIFICATION)


def takeover(
    *,
    channels: Sequence[str] = ("a",),
    proxies: int = 0,
    messages: Sequence[Sequence[Any]] = (),
    reports: int = 1,
    ddl_reports: int = 1,
    others: int = 1,
    expires: bool = False,
    crashes: int = 1,
    protocol: str = SPECIFICATION,
) -> TakeoverProgram:
    """Return a program by plain arguments, as the manifest gives them.

    Args:
        channels, proxies, messages, reports, ddl_reports, others, expires: see ``TakeoverScenario``.
        crashes: budget of crashes of the coordinator.
        protocol: the specification, or a variant of it.
    """
    scenario = TakeoverScenario(
        channels=tuple(channels),
        proxies=proxies,
        messages=tuple((int(source), str(channel)) for source, channel in messages),
        reports=reports,
        ddl_reports=ddl_reports,
        others=others,
        expires=expires,
        faults=FaultBudget(crashes=crashes),
    )
    return TakeoverProgram(scenario, protocol=protocol)
