"""The edges of the root coordinator, made of objects of the controlled world: sessions, logs, sources.

Sources are proxies, and the coordinator's own DDL work, reduced to what the coordinator builds on: they
append messages, and report for each channel the greatest value that all they have still to append lies above.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tidemark.impl.errors import RpcError
from tidemark.impl.rootcoord.ports import SessionEvent
from tidemark.impl.rootcoord.root_coord import RootCoord
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.values.report import SourceId, TimeTickReport
from tidemark.models.protocols.common.calls import Alone, known_as
from tidemark.models.protocols.common.oracle import Answers, OracleCalls
from tidemark.models.protocols.timetick.refinement import (
    MessageView,
    SessionsView,
    SourceView,
    TickView,
    Values,
    values_of,
)
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.storage import Store
from tidemark.models.simulation.world.world import World

SESSIONS = "cell sessions"
LOG = "cell log"
TICKS = "ticks"
ROOT_COORD = "rootcoord"


class Sessions:
    """The session store, and whom the logs refuse. Every operation is one step, or part of one."""

    def __init__(self, world: World) -> None:
        self.status: dict[SourceId, str] = {}
        self.fenced: set[SourceId] = set()
        self.events: list[SessionEvent] = []
        self._world = world
        self._bit = world.interner.bit(SESSIONS)

    def view(self) -> SessionsView:
        """Return what it holds."""
        return SessionsView(tuple(sorted(self.status.items())), tuple(sorted(self.fenced)))

    def refuses(self, source: SourceId) -> bool:
        """Whether the logs refuse a source."""
        self._world.touch(reads=self._bit)
        return source in self.fenced

    def change(self, source: SourceId, *, alive: bool) -> None:
        """A session comes or goes. It does not come back."""
        self._world.touch(writes=self._bit)
        self.status[source] = "registered" if alive else "expired"
        self.events.append(SessionEvent(len(self.events) + 1, source, alive))

    def take_over(self) -> tuple[list[SourceId], int]:
        """Fence the sources without a live session; return the others."""
        self._world.touch(writes=self._bit)
        self.fenced |= {source for source, status in self.status.items() if status == "expired"}
        live = [source for source, status in sorted(self.status.items()) if status == "registered"]
        return live, len(self.events)

    def fence(self, source: SourceId) -> None:
        """Fence a source."""
        self._world.touch(writes=self._bit)
        self.fenced.add(source)

    def first_after(self, revision: int) -> SessionEvent | None:
        """Return the first change after a revision."""
        self._world.touch(reads=self._bit)
        return self.events[revision] if revision < len(self.events) else None


class SessionCalls:
    """The session store as the coordinator sees it.

    Attributes:
        told: messages of the watch that have arrived and were not looked at.
    """

    def __init__(self, process: Process, world: World, sessions: Sessions) -> None:
        self.told = 0
        self._process = process
        self._changed = asyncio.Event()
        self._world = world
        self._sessions = sessions

    async def tell(self) -> None:
        """Take a message of the watch."""
        self.told += 1
        self._changed.set()

    async def take_over(self) -> tuple[Sequence[SourceId], int]:
        """See ``SessionStore``."""
        return await self._world.operation("take over", self._sessions.take_over)

    async def next_event(self, after: int) -> SessionEvent:
        """See ``SessionStore``.

        One change for each message of the watch.
        """
        while True:
            if self.told:
                await self._process.point("watch.next")
            while not self.told:
                self._changed.clear()
                await self._changed.wait()
            self.told -= 1
            event = self._sessions.first_after(after)
            if event is not None:
                return event

    async def fence(self, source: SourceId) -> None:
        """See ``SessionStore``."""
        await self._world.operation(f"fence {source}", lambda: self._sessions.fence(source))


class MessageLogs(Protocol):
    """The logs as a source sees them."""

    async def append(self, source: SourceId, number: int, ts: Timestamp) -> bool:
        """Append a message. Return whether the log has it."""


class Logs:
    """The messages in the logs, by number, with their timestamps. A fenced source is refused."""

    def __init__(self, world: World, sessions: Sessions) -> None:
        self.appended: dict[int, Timestamp] = {}
        self._world = world
        self._sessions = sessions
        self._bit = world.interner.bit(LOG)

    async def append(self, source: SourceId, number: int, ts: Timestamp) -> bool:
        """Append a message. Return whether the log has it."""

        def put() -> bool:
            if self._sessions.refuses(source):
                return False
            self._world.touch(writes=self._bit)
            self.appended[number] = ts
            return True

        return await self._world.operation(f"append {number}", put)


class TickLogs(Alone):
    """The ticks in the logs. A send may fail, and the tick be in the log or not."""

    def __init__(self, world: World, store: Store) -> None:
        self._world = world
        self._store = store

    async def send_tick(self, channel: str, ts: Timestamp) -> None:
        """See ``TickStreams``."""
        highest = tick_of(self._store, channel).highest
        with known_as(RpcError):
            await self._store.put(channel, (ts, max(ts, highest)))

    async def last_tick(self, channel: str) -> Timestamp:
        """See ``TickStreams``. Read in the step of the caller."""
        self._world.touch(reads=self._world.interner.bit(self._store.owner(channel)))
        return tick_of(self._store, channel).highest


def tick_of(store: Store, channel: str) -> TickView:
    """Return the ticks of a channel's log."""
    return TickView(*store.content().get(channel, (0, 0)))


@dataclass
class Source:
    """A source's side of its messages and reports.

    Attributes:
        channel_of: by number of a message its channel.
        reports_left: how often it may still report.
        promised: the last report that it has made.
    """

    source: SourceId
    channels: tuple[str, ...]
    channel_of: dict[int, str]
    answers: Answers
    reports_left: float = 0
    messages: dict[int, MessageView] = field(default_factory=dict)
    promised: TimeTickReport | None = None

    def view(self) -> SourceView:
        """Return what it knows."""
        return SourceView(tuple(sorted(self.messages.items())), values_of(self.promised, self.channels))

    def report(self) -> TimeTickReport | None:
        """Make a report: for each channel the greatest value that is true. None before there is one."""
        values = self.values()
        if not any(values):
            return None
        self.promised = TimeTickReport(self.source, tuple(zip(self.channels, values, strict=True)), 0)
        return self.promised

    def values(self) -> Values:
        """Return what it would report."""
        upto = self.answers.latest()
        return tuple(self._value(channel, upto) for channel in self.channels)

    def _value(self, channel: str, upto: Timestamp) -> Timestamp:
        limits = [upto]
        for number, message in self.messages.items():
            if self.channel_of[number] == channel and message.stage == "asked":
                limits.append(message.floor)
            if self.channel_of[number] == channel and message.stage == "open":
                limits.append(message.ts - 1)
        before = 0 if self.promised is None else self.promised.value(channel)
        return max(before, min(limits))

    async def write(self, number: int, oracle: OracleCalls, logs: MessageLogs) -> None:
        """Write one message."""
        self.messages[number] = MessageView("asked", self.answers.latest(), 0)
        ts = await oracle.alloc(1)
        self.messages[number] = MessageView("open", 0, ts)
        await logs.append(self.source, number, ts)
        # In the log or refused: over in both cases. What is in the log, the log says.
        self.messages[number] = MessageView("dropped", 0, 0)


async def run_proxy(
    process: Process,
    source: Source,
    *,
    sessions: Sessions,
    logs: Logs,
    oracle: OracleCalls,
    expires: bool,
    prepared: bool,
    call: Callable[[TimeTickReport], Awaitable[None]],
) -> None:
    """Live as a proxy: register, report, serve once a report was accepted, perhaps lose the lease.

    A process whose lease is gone does not know it, and goes on. A prepared one was registered before, and
    begins when the coordinator has.
    """
    if prepared:
        await wait_for_beginning(process)
    else:
        await process.point("proxy.register")
        sessions.change(source.source, alive=True)
        process.post(ROOT_COORD, "session_changed")
    serving = asyncio.Event()
    process.spawn(run_reports(process, source, serving, call), "reports")
    await serving.wait()
    for number in source.channel_of:
        process.spawn(_run_client(process, source, number, oracle, logs), f"client {number}")
    if expires:
        await process.point("lease.ends")
        sessions.change(source.source, alive=False)
        process.post(ROOT_COORD, "session_changed")


async def wait_for_beginning(process: Process) -> None:
    """Wait for the word to begin."""
    told = asyncio.Event()

    async def begin() -> None:
        told.set()

    process.serve("begin", begin)
    await told.wait()


async def prepare(process: Process, sessions: Sessions, proxies: Sequence[SourceId]) -> None:
    """Register proxies, then let the coordinator begin."""
    for source in proxies:
        await process.point("proxy.register")
        sessions.change(source, alive=True)
    process.post(ROOT_COORD, "begin")


class Beginning:
    """The coordinator's part in a prepared beginning, whichever of its incarnations comes to it.

    Attributes:
        told: the word to begin has come. passed_on: the proxies have been told.
    """

    def __init__(self) -> None:
        self.told = False
        self.passed_on = False

    async def run(self, process: Process, coordinator: RootCoord, proxies: Sequence[SourceId]) -> None:
        """Wait for the word, take over, give the word to the proxies."""
        arrived = asyncio.Event()

        async def begin() -> None:
            self.told = True
            arrived.set()

        process.serve("begin", begin)
        if not self.told:
            await arrived.wait()
        await coordinator.start()
        self.pass_on(process, proxies)

    def pass_on(self, process: Process, proxies: Sequence[SourceId]) -> None:
        """Give the word to the proxies, once."""
        if not self.passed_on:
            self.passed_on = True
            for source in proxies:
                process.post(f"proxy {source}", "begin")


async def run_reports(
    process: Process,
    source: Source,
    serving: asyncio.Event,
    call: Callable[[TimeTickReport], Awaitable[None]],
) -> None:
    """Report now and then. Tell when the first report was accepted."""
    while source.reports_left:
        await process.point("timer.report")
        source.reports_left -= 1
        report = source.report()
        if report is None:
            continue
        try:
            await call(report)
        except RpcError:
            continue
        serving.set()


async def _run_client(process: Process, source: Source, number: int, oracle: OracleCalls, logs: Logs) -> None:
    await process.point("client.write")
    await source.write(number, oracle, logs)
