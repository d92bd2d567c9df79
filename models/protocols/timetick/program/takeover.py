"""The root coordinator over the logs and the session store that run in a cluster: it crashes while ticks and
DDL messages are on their way, or is followed while it runs, and another one takes over.

Each step must be a step of ``tidemark.spec.timetick.variants.edges``, or change nothing of it.
"""

import asyncio
import functools
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.impl.broker.sessions import SqliteSessions
from tidemark.impl.rootcoord.config import RootCoordConfig
from tidemark.impl.rootcoord.ports import RootCoordPorts
from tidemark.impl.rootcoord.root_coord import RootCoord
from tidemark.impl.values.report import DDL_SOURCE, SourceId, TimeTickReport
from tidemark.models.protocols.common.calls import remote
from tidemark.models.protocols.common.oracle import ANSWERS, Answers, CountedClock, Pause
from tidemark.models.protocols.sessions.ports import STORE
from tidemark.models.protocols.timetick.ports import ROOT_COORD, Source, run_reports, wait_for_beginning
from tidemark.models.protocols.timetick.program import (
    OTHERS,
    StubDdl,
    TimeTickProgram,
    TimeTickScenario,
    memory_of,
)
from tidemark.models.protocols.timetick.program.edges import (
    LOGS,
    AskedStreams,
    FencedSessions,
    LogEdge,
    SessionEdge,
    SourceLogs,
    StreamCalls,
)
from tidemark.models.protocols.timetick.refinement import MessageView, SourceView, coordinator_view
from tidemark.models.protocols.timetick.refinement.edges import (
    Edges,
    LifeView,
    abstract_admission,
    abstract_edges,
    coordinators_view,
)
from tidemark.models.refinement.program import Abstraction
from tidemark.models.refinement.scenario import program
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

SPECIFICATION = "tidemark.spec.timetick.variants.edges:OverTheEdges"
OLDER = "tidemark.spec.timetick.variants.edges:OlderOverTheEdges"
SUCCESSOR = "successor"


class TakeoverScenario(TimeTickScenario):
    """What happens. The session store numbers sessions as they come: there is at most one proxy.

    Attributes:
        followed: another coordinator takes over while the first one runs, to which the proxy reports.
    """

    proxies: int = 0
    crashes: int = 1
    protocol: str = SPECIFICATION
    followed: bool = False


@dataclass(eq=False)
class Life:
    """One incarnation of the coordinator with its edges."""

    process: Process
    coordinator: RootCoord
    clock: CountedClock
    streams: StreamCalls
    sessions: SessionEdge
    ddl: Source

    def view(self) -> LifeView:
        """The picture of it: of a dead one, as it was when it crashed."""
        reported, count = self.coordinator.reporting, len(self.coordinator.channels)
        promised = (0 if reported is None else reported.default,) * count
        return LifeView(
            number=self.streams.number,
            alive=self.process.alive,
            told=tuple(sorted(self.streams.told.items())),
            memory=coordinator_view(self.coordinator) if self.coordinator.sync.entries else None,
            under_way=tuple(sorted(self.streams.under_way.items())),
            ddl=SourceView(self.ddl.view().messages, promised),
            listed=self.sessions.listed,
            accepted=self.coordinator.sync.accepted,
        )


class TakeoverProgram(TimeTickProgram):
    """A root coordinator that may crash, a proxy or none, the broker's logs, the session store."""

    def __init__(self, scenario: TakeoverScenario) -> None:
        super().__init__(scenario)
        self.takeover = scenario
        self.lives: list[Life] = []

    def mapping(self, scenario: Any) -> Abstraction:
        """Return the refinement mapping."""
        return _abstraction(scenario)

    def populate(self, world: World) -> None:
        """Define the processes."""
        self.answers = Answers(world)
        self.store = FencedSessions(world, SqliteSessions)
        self.edge = LogEdge(world, self.scenario.channels, self._earlier)
        self.sources = {source: self._source(source) for source in self.scenario.ids}
        world.process(LOGS, self.edge.run, daemon=True)
        world.process(ROOT_COORD, self._coordinate, daemon=True)
        if self.takeover.followed:
            world.process(SUCCESSOR, self._succeed, daemon=True)
        for source in self.sources:
            run = functools.partial(self._run_proxy, source)
            world.process(f"proxy {source}", run, daemon=True, restarts=False)
        world.process(OTHERS, self._run_others, daemon=True)

    # The coordinator.

    async def _coordinate(self, process: Process) -> None:
        await process.point("coordinator.begin")
        life = self._make_life(process)
        before = self.lives[-1].ddl.messages if self.lives else {}
        life.ddl.messages = {number: MessageView("dropped", 0, 0) for number in before}
        self.lives.append(life)
        process.serve("update_channel_time_tick", life.coordinator.update_channel_time_tick)
        await life.coordinator.start()
        if self.takeover.followed and process.name == ROOT_COORD:
            process.post(SUCCESSOR, "begin")
        for number in life.ddl.channel_of:
            if number not in life.ddl.messages:
                process.spawn(self._write(process, life.ddl, number, "ddl.write"), f"ddl {number}")
        await life.coordinator.supervisor.wait_failed()

    async def _succeed(self, process: Process) -> None:
        await wait_for_beginning(process)
        await self._coordinate(process)

    def _earlier(self, number: int) -> Sequence[LifeView]:
        """Those with a greater number that run."""
        self.world.touch(reads=self.world.interner.bit(ROOT_COORD))
        return [life.view() for life in self.lives if life.streams.number > number and life.process.alive]

    def _make_life(self, process: Process) -> Life:
        scenario = self.takeover
        clock = CountedClock(
            process, {0.2: Pause("timer.ddl", scenario.ddl_reports), 0.3: Pause("timer.dummy", 0)}
        )
        ddl = self._source(DDL_SOURCE)
        make = AskedStreams if scenario.followed else StreamCalls
        streams, sessions = make(process, self.edge), SessionEdge(process, self.store)
        coordinator = RootCoord(
            channels=scenario.channels,
            ports=RootCoordPorts(
                ddl=StubDdl(ddl),
                sessions=sessions,
                ticks=streams,
                clock=clock,
                preemption=process,
            ),
            config=RootCoordConfig(ddl_tick_seconds=0.2, dummy_seconds=0.3),
        )
        return Life(process, coordinator, clock, streams, sessions, ddl)

    # The proxy.

    async def _run_proxy(self, number: SourceId, process: Process) -> None:
        source = self.sources[number]
        given = await self.store.register(process.name)
        assert given == number
        serving = asyncio.Event()
        process.spawn(self._run_reports(process, source, serving), "reports")
        await serving.wait()
        for message in source.channel_of:
            process.spawn(self._write(process, source, message, "client.write"), f"client {message}")
        if number in self.scenario.expires:
            await self.store.end(number)

    async def _run_reports(self, process: Process, source: Source, serving: asyncio.Event) -> None:
        async def call(report: TimeTickReport) -> None:
            await remote(process, ROOT_COORD, "update_channel_time_tick", report)

        await run_reports(process, source, serving, call)

    async def _write(self, process: Process, source: Source, number: int, point: str) -> None:
        await process.point(point)
        logs = SourceLogs(process, lambda message: self.scenario.messages[message][1])
        await source.write(number, self._oracle_of(process), logs)

    # What is looked at.

    def undone(self, values: Mapping[str, Any]) -> str | None:
        """A coordinator serves, and no complete round waits to be sent, or is being sent."""
        return super().undone(values) if values["up"] else "no coordinator serves"

    def condition(self, name: str, event: Event) -> bool:
        """The table's condition: the first coordinator runs, and was "followed"."""
        assert name == "followed", name
        del event
        return bool(self.edge.followed)

    def observe(self) -> Observation:
        """Return what each part holds, under its name."""
        found: dict[str, Hashable] = {STORE: self.store.states(), ANSWERS: self.answers.answered}
        if self.takeover.followed:
            found[ROOT_COORD] = self._lives(ROOT_COORD), self.store.shut
            found[SUCCESSOR] = self._lives(SUCCESSOR)
            found[LOGS] = self.edge.view(), self.edge.followed, self.edge.has_admitted
        else:
            found[ROOT_COORD] = coordinators_view(self._lives(ROOT_COORD), shut=self.store.shut)
            found[LOGS] = self.edge.view()
        for number, source in self.sources.items():
            found[f"proxy {number}"] = source.view()
        return found

    def _lives(self, process: str) -> tuple[LifeView, ...]:
        return tuple(life.view() for life in self.lives if life.process.name == process)

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        memory = tuple(
            (
                memory_of(life.coordinator, life.clock),
                tuple(life.coordinator.sender.last.items()),
            )
            for life in self.lives
            if life.process.alive
        )
        return (
            tuple(self._observed.values()),
            memory,
            self.edge.declared(),
            self.store.gate.view(),
            tuple(self.store.changes),
            tuple(source.reports_left for source in self.sources.values()),
            self.oracle.given,
        )


@functools.cache
def _abstraction(scenario: TakeoverScenario) -> Abstraction:
    """A pure function of its arguments: it may outlive executions."""
    instance = scenario.instance()
    options = instance.spec.options

    def values(observation: Observation) -> Mapping[str, Any]:
        known: Any = observation
        logs, coordinators = known[LOGS], known[ROOT_COORD]
        if scenario.followed:
            logs, followed, has_admitted = known[LOGS]
            lives, shut = known[ROOT_COORD]
            admitted = scenario.ids if has_admitted else ()
            coordinators = coordinators_view(
                (*lives, *known[SUCCESSOR]), shut=shut, followed=followed, admitted=admitted
            )
        whole = Edges(
            issued=max(known[ANSWERS], default=0),
            channels=scenario.channels,
            logs=logs,
            coordinators=coordinators,
            proxies={source: known[f"proxy {source}"] for source in scenario.ids},
            sessions=known[STORE],
        )
        found = abstract_edges(
            whole,
            channel_of=scenario.channel_of or (0,),
            ticks_end=bool(options["TICKS_FENCED"]),
            ddl_ends=bool(options["DDL_FENCED"]),
        )
        return found | abstract_admission(whole) if scenario.followed else found

    sound = scenario.protocol in (SPECIFICATION, OLDER)
    return Abstraction(instance, values, ignored=("faults",), sound=sound)


takeover = program(TakeoverProgram, TakeoverScenario)
