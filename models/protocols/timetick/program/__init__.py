"""The root coordinator as a program under exploration: sources report, sessions come and go.

Each step must be a step of ``tidemark.spec.timetick``, or change nothing of it.
"""

import functools
import math
from collections.abc import Hashable, Mapping
from typing import Any

from tidemark.impl.rootcoord.config import RootCoordConfig
from tidemark.impl.rootcoord.ports import RootCoordPorts
from tidemark.impl.rootcoord.root_coord import RootCoord
from tidemark.impl.timestamp import Timestamp
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
from tidemark.models.protocols.timetick.ports import (
    LOG,
    ROOT_COORD,
    SESSIONS,
    TICKS,
    Beginning,
    Logs,
    SessionCalls,
    Sessions,
    Source,
    TickLogs,
    prepare,
    run_proxy,
    tick_of,
)
from tidemark.models.protocols.timetick.refinement import (
    CoordinatorView,
    MessageView,
    SessionsView,
    SourceView,
    Whole,
    abstract,
    coordinator_view,
)
from tidemark.models.refinement.program import Abstraction, RefiningProgram
from tidemark.models.refinement.scenario import FaultyScenario, mapped, program
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import ClockOrder, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.storage import Store
from tidemark.models.simulation.world.world import World

OTHERS = "others"
SPECIFICATION = "tidemark.spec.timetick:TimeTick"


class TimeTickScenario(FaultyScenario):
    """What happens in a root coordinator's program.

    Attributes:
        channels: names of the channels.
        proxies: how many there are; their ids are 1, 2, ...
        messages: by message its source, a proxy or 0 for the DDL source, and its channel.
        reports: by proxy how often it reports.
        ddl_reports: how often the DDL source reports, in each incarnation of the coordinator.
        others: how many timestamps another client is given.
        expires: proxies that lose their lease, at any time after they began to serve.
        prepared: at first the others are given their timestamps, then all proxies register, then the
            coordinator begins, then they.
        endless: all sources report for ever.
        protocol: the specification that each step must follow.
    """

    channels: tuple[str, ...] = ("a",)
    proxies: int = 1
    messages: tuple[tuple[SourceId, str], ...] = ()
    reports: tuple[int, ...] = (1,)
    ddl_reports: int = 1
    others: int = 1
    expires: tuple[SourceId, ...] = ()
    prepared: bool = False
    endless: bool = False
    protocol: str = SPECIFICATION

    @property
    def ids(self) -> tuple[SourceId, ...]:
        """The proxies' ids."""
        return tuple(range(1, self.proxies + 1))

    def sent_by(self, source: SourceId) -> dict[int, str]:
        """Return the messages of a source, by number, with their channels."""
        wanted = 0 if source == DDL_SOURCE else source
        return {n: channel for n, (sender, channel) in enumerate(self.messages) if sender == wanted}

    def settings(self) -> Settings:
        """Return the bounds of the world."""
        return Settings(
            faults=self.faults,
            crashable=frozenset({ROOT_COORD}) if self.crashes else frozenset(),
            clock=ClockOrder.UNTIMED,
        )

    @property
    def channel_of(self) -> tuple[int, ...]:
        """By message the place of its channel."""
        return tuple(self.channels.index(channel) for _, channel in self.messages)

    def instance(self) -> Instance:
        """Return the bounded instance of the specification with these sources and messages."""
        senders = [self.proxies if sender == 0 else sender - 1 for sender, _ in self.messages]
        return Instance(
            self.protocol,
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


class StubDdl:
    """The DDL source, reduced as in ``tidemark.models.protocols.timetick.ports``."""

    def __init__(self, source: Source) -> None:
        self._source = source

    async def minimum(self) -> Timestamp:
        """Return the least value of a report: it is reported for every channel."""
        report = self._source.report()
        return 0 if report is None else min(value for _, value in report.channels)

    async def run_dummy(self) -> None:
        """There is no scheduler to be moved."""


class TimeTickProgram(RefiningProgram):
    """One root coordinator, proxies, a DDL source, the session store, and the logs."""

    table = "timetick"
    at_rest = ("timetick.an_open_message_ends",)

    def __init__(self, scenario: TimeTickScenario) -> None:
        super().__init__(self.mapping(scenario))
        self.scenario = scenario
        self.settings = scenario.settings()
        self.oracle = OracleProcess()
        self.coordinators: list[RootCoord] = []
        self.sources: dict[SourceId, Source] = {}
        self.beginning = Beginning()
        self.clocks: list[CountedClock] = []
        self.calls: list[SessionCalls] = []
        self._opened = 0

    def mapping(self, scenario: TimeTickScenario) -> Abstraction:
        """Return the refinement mapping."""
        return mapped(scenario, _values, ignored=("faults",))

    def populate(self, world: World) -> None:
        """Define the processes."""
        self.answers = Answers(world)
        self.sessions = Sessions(world)
        self.logs = Logs(world, self.sessions)
        self.ticks: Store = world.store(TICKS, remote=False)
        for source in (*self.scenario.ids, DDL_SOURCE):
            self.sources[source] = self._source(source)
        world.process(ROOT_COORD, self._run_root_coord, daemon=True)
        for source in self.scenario.ids:
            world.process(
                f"proxy {source}", functools.partial(self._run_proxy, source), daemon=True, restarts=False
            )
        world.process(OTHERS, self._run_others, daemon=True)

    def _source(self, source: SourceId) -> Source:
        channels = self.scenario.channels
        reports: float = 0 if source == DDL_SOURCE else self.scenario.reports[source - 1]
        if self.scenario.endless:
            reports = math.inf
        return Source(source, channels, self.scenario.sent_by(source), self.answers, reports)

    def _oracle_of(self, process: Process) -> OracleCalls:
        return OracleCalls(process, self.world, self.answers, near=self.oracle)

    async def _run_others(self, process: Process) -> None:
        await ask_alone(process, self._oracle_of(process), self.scenario.others, "others.ask")
        if self.scenario.prepared:
            await prepare(process, self.sessions, self.scenario.ids)

    async def _run_proxy(self, source: SourceId, process: Process) -> None:
        async def call(report: TimeTickReport) -> None:
            await remote(process, ROOT_COORD, "update_channel_time_tick", report)

        await run_proxy(
            process,
            self.sources[source],
            sessions=self.sessions,
            logs=self.logs,
            oracle=self._oracle_of(process),
            expires=source in self.scenario.expires,
            prepared=self.scenario.prepared,
            call=call,
        )

    # The coordinator.

    async def _run_root_coord(self, process: Process) -> None:
        ddl = self._source(DDL_SOURCE)
        ddl.messages = {number: MessageView("dropped", 0, 0) for number in self.sources[DDL_SOURCE].messages}
        config = RootCoordConfig(ddl_tick_seconds=0.2, dummy_seconds=0.3, round_capacity=1)
        clock = CountedClock(
            process,
            {
                0.2: Pause("timer.ddl", math.inf if self.scenario.endless else self.scenario.ddl_reports),
                0.3: Pause("timer.dummy", 0),
            },
        )
        calls = SessionCalls(process, self.world, self.sessions)
        oracle = self._oracle_of(process)
        ports = RootCoordPorts(
            ddl=StubDdl(ddl),
            sessions=calls,
            ticks=TickLogs(self.world, self.ticks),
            clock=clock,
            preemption=process,
        )
        coordinator = RootCoord(channels=self.scenario.channels, ports=ports, config=config)

        process.serve("session_changed", calls.tell)
        process.serve("update_channel_time_tick", coordinator.update_channel_time_tick)
        self.sources[DDL_SOURCE] = ddl
        self.coordinators.append(coordinator)
        self.clocks.append(clock)
        self.calls.append(calls)
        self._opened = process.incarnation
        if self.scenario.prepared:
            await self.beginning.run(process, coordinator, self.scenario.ids)
        else:
            await coordinator.start()
        for number in ddl.channel_of:
            if number not in ddl.messages:
                process.spawn(self._write_ddl(process, ddl, number, oracle), f"ddl {number}")
        await coordinator.supervisor.wait_failed()

    async def _write_ddl(self, process: Process, ddl: Source, number: int, oracle: OracleCalls) -> None:
        await process.point("ddl.write")
        await ddl.write(number, oracle, self.logs)

    # What is looked at.

    def undone(self, values: Mapping[str, Any]) -> str | None:
        """No complete round waits to be sent, or is being sent. A coordinator that serves knows who lives."""
        if values["queued"] or values["sending"]:
            return "a complete round is not sent"
        for p, session in values["session"].items():
            if values["up"] and session == "registered" and not values["known"][p]:
                return f"the session of source {p} lives, and is not known"
        return None

    def element(self, name: str, value: Any) -> Any:
        """Return a channel's place, a source's (the DDL source is the last one), or a message's number."""
        if name == "c":
            return self.scenario.channels.index(value)
        if name == "p":
            return (int(value) or self.scenario.proxies + 1) - 1
        return int(value)

    def condition(self, name: str, event: Event) -> bool:
        """The table's condition: the first coordinator runs, and was "followed"."""
        assert name == "followed", name
        del event
        return False

    def observe(self) -> Observation:
        """Return what each part holds, under its name."""
        found: dict[str, Hashable] = {
            ROOT_COORD: self._view(),
            SESSIONS: self.sessions.view(),
            LOG: tuple(sorted(self.logs.appended.items())),
            ANSWERS: self.answers.answered,
        }
        for channel in self.scenario.channels:
            found[self.ticks.owner(channel)] = tick_of(self.ticks, channel)
        for source in self.scenario.ids:
            found[f"proxy {source}"] = self.sources[source].view()
        return found

    def _view(self) -> tuple[CoordinatorView | None, SourceView, tuple[SourceId, ...]]:
        lane = self.world.lanes[ROOT_COORD]
        alive = lane.alive and lane.incarnation == self._opened and bool(self.coordinators)
        coordinator = self.coordinators[-1] if self.coordinators else None
        serving = {source for other in self.coordinators for source in other.sync.accepted if source > 0}
        ddl = self.sources[DDL_SOURCE].view()
        zeros = (0,) * len(self.scenario.channels)
        if alive:
            assert coordinator is not None
            reported = coordinator.reporting
            promised = zeros if reported is None else (reported.default,) * len(zeros)
            up = bool(coordinator.sync.entries)
            view = coordinator_view(coordinator) if up else None
            return view, SourceView(ddl.messages, promised), tuple(sorted(serving))
        over = tuple((number, MessageView("dropped", 0, 0)) for number, _ in ddl.messages)
        return None, SourceView(over, zeros), tuple(sorted(serving))

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        alive = self.world.lanes[ROOT_COORD].alive
        memory: Hashable = None
        if alive and self.coordinators:
            memory = (memory_of(self.coordinators[-1], self.clocks[-1]), self.calls[-1].told)
        return (
            tuple(self._observed.values()),
            memory,
            tuple((event.source, event.alive) for event in self.sessions.events),
            tuple(source.reports_left for source in self.sources.values()),
            self.oracle.given,
            (self.beginning.told, self.beginning.passed_on),
        )


def memory_of(coordinator: RootCoord, clock: CountedClock) -> Hashable:
    """Return what influences the future of a coordinator, beyond its view."""
    rounds = coordinator.sync.rounds
    return (
        tuple(coordinator.sync.lock.users),
        coordinator.watch.revision,
        tuple(repr(sorted(complete.items())) for complete in rounds.waiting),
        tuple(sorted(clock.left.items())),
    )


def _values(scenario: TimeTickScenario, known: Any) -> Mapping[str, Any]:
    proxies, messages = scenario.ids, max(len(scenario.messages), 1)
    coordinator, ddl, serving = known[ROOT_COORD]
    sessions = known[SESSIONS]
    assert isinstance(sessions, SessionsView)
    whole = Whole(
        issued=max(known[ANSWERS], default=0),
        coordinator=coordinator,
        sources={DDL_SOURCE: ddl, **{source: known[f"proxy {source}"] for source in proxies}},
        sessions=sessions,
        appended=dict(known[LOG]),
        ticks=tuple(known[f"store {TICKS}/{channel}"] for channel in scenario.channels),
        serving=serving,
    )
    return abstract(whole, proxies=proxies, messages=messages)


timetick = program(TimeTickProgram, TimeTickScenario)
