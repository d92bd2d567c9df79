"""The edges of the root coordinator that run in a cluster: the broker's logs over files in memory, and the
store of sessions over a database in memory.

The logs are a process of their own, which no crash of the coordinator ends: what the coordinator had sent is
on its way there, waits for a line, or is being written. Their answers come by the network.
"""

from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import cast

from tidemark.impl.broker.broker import Broker, CoordinatorStreams
from tidemark.impl.errors import RpcError
from tidemark.impl.rootcoord.ports import SessionEvent, SessionStore
from tidemark.impl.runtime import Work
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.values.messages import DdlMessage, InsertMessage, LogMessage, Tick, collection_of, virtual
from tidemark.impl.values.report import DDL_SOURCE, SourceId
from tidemark.models.protocols.common.calls import Alone, remote
from tidemark.models.protocols.common.memory_files import MemoryFiles
from tidemark.models.protocols.sessions.ports import SharedSessions, at_once
from tidemark.models.protocols.timetick.refinement.edges import Entries, EntryView, LifeView
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

LOGS = "logs"
_ROOT = Path("log")
Key = tuple[str, int]
"""A process, and which of its incarnations."""


class LogEdge:
    """The broker and its logs as a process that serves coordinators and proxies.

    Args:
        earlier: those who run when the question of a coordinator for a last tick arrives, by its number.

    Attributes:
        streams: what each incarnation of the coordinator was given, by its process and number there.
        followed: those who run and were followed, as they were then.
        has_admitted: a coordinator was told that it is the newest one.
    """

    def __init__(
        self,
        world: World,
        channels: Sequence[str],
        earlier: Callable[[int], Sequence[LifeView]] | None = None,
    ) -> None:
        self.streams: dict[Key, CoordinatorStreams] = {}
        self.followed: tuple[LifeView, ...] = ()
        self.has_admitted = False
        self._earlier = earlier
        self._world = world
        self._channels = channels
        self.broker: Broker | None = None
        self.files: MemoryFiles | None = None

    async def run(self, process: Process) -> None:
        """Serve."""
        self.files = MemoryFiles(process)
        self.broker = Broker(_ROOT, self._channels, files=self.files)

        def spawn(work: Work, name: str) -> None:
            process.spawn(work(), name)

        process.serve("last_tick", self._last_tick)
        process.serve("is_newest", self._is_newest)
        process.serve("send_tick", self._send_tick)
        process.serve("append", self._append)
        process.serve("append_ddl", self._append_ddl)
        process.serve("fence", self._fence)
        await self.broker.start(spawn)

    def open(self, key: Key) -> int:
        """An incarnation of the coordinator is given its streams, out of the logs' memory. Its number."""
        self._world.touch(reads=self._world.interner.bit(LOGS))
        assert self.broker is not None
        streams = self.streams[key] = CoordinatorStreams(self.broker)
        return streams.source

    async def _last_tick(self, coordinator: Key, channel: str) -> Timestamp:
        known = {life.number for life in self.followed}
        earlier = self._earlier(self.streams[coordinator].source) if self._earlier is not None else ()
        self.followed += tuple(life for life in earlier if life.number not in known)
        return await self.streams[coordinator].last_tick(channel)

    async def _is_newest(self, coordinator: Key) -> bool:
        found = await self.streams[coordinator].is_newest()
        self.has_admitted |= found
        return found

    async def _send_tick(self, coordinator: Key, channel: str, ts: Timestamp) -> None:
        await self.streams[coordinator].send_tick(channel, ts)

    async def _append_ddl(self, coordinator: Key, channel: str, number: int, ts: Timestamp) -> None:
        await self.streams[coordinator].append(DdlMessage(ts, virtual(channel, number, 0), "drop"))

    async def _append(self, source: SourceId, channel: str, number: int, ts: Timestamp) -> None:
        assert self.broker is not None
        await self.broker.log(channel).append(source, InsertMessage(ts, virtual(channel, number, 0), ()))

    async def _fence(self, source: SourceId) -> None:
        assert self.broker is not None
        await self.broker.fence(source)

    # What is looked at.

    def view(self) -> tuple[Entries, ...]:
        """What the logs hold."""
        logs = {} if self.broker is None else self.broker.logs
        return tuple(
            tuple(EntryView(entry.source, _number(entry.message), entry.message.ts) for entry in log.entries)
            for log in logs.values()
        )

    def declared(self) -> Hashable:
        """What influences what happens next, beyond the view."""
        if self.broker is None or self.files is None:
            return ()
        logs = tuple(
            (
                tuple((one.source, repr(one.message), one.done.done()) for one in log.waiting),
                tuple((one.source, repr(one.message), one.done.done()) for one in log.writing),
                log.coordinator,
                log.last_tick,
            )
            for log in self.broker.logs.values()
        )
        return (logs, self.files.declared())


def _number(message: LogMessage) -> int | None:
    """The number of a message; None for a tick."""
    return None if isinstance(message, Tick) else int(collection_of(message.channel))


class StreamCalls(Alone):
    """The logs as one incarnation of the coordinator sees them: ``TickStreams``, and DDL messages.

    Attributes:
        key: of this incarnation among all. number: as the logs know it.
        under_way: by channel the tick of which nothing was heard so far.
        told: by channel the last tick, with which the log says that it refuses all earlier coordinators.
    """

    def __init__(self, process: Process, edge: LogEdge) -> None:
        self.under_way: dict[str, Timestamp] = {}
        self.told: dict[str, Timestamp] = {}
        self.key = (process.name, process.incarnation)
        self.number = edge.open(self.key)
        self._process = process

    async def last_tick(self, channel: str) -> Timestamp:
        """See TickStreams."""
        found = int(await remote(self._process, LOGS, "last_tick", self.key, channel))
        self.told[channel] = found
        return found

    async def send_tick(self, channel: str, ts: Timestamp) -> None:
        """See TickStreams."""
        self.under_way[channel] = ts
        try:
            await remote(self._process, LOGS, "send_tick", self.key, channel, ts)
        finally:
            del self.under_way[channel]


class AskedStreams(StreamCalls):
    """The same where a coordinator is followed while it runs: the log's answer comes by the network."""

    async def is_newest(self) -> bool:
        """See TickStreams."""
        return bool(await remote(self._process, LOGS, "is_newest", self.key))


class SourceLogs:
    """The logs as a source's messages reach them."""

    def __init__(self, process: Process, channel_of: Callable[[int], str]) -> None:
        self._process = process
        self._channel_of = channel_of

    async def append(self, source: SourceId, number: int, ts: Timestamp) -> bool:
        """Append a message. Return whether the log has it."""
        method, sender = "append", cast("SourceId | Key", source)
        if source == DDL_SOURCE:
            method, sender = ("append_ddl", (self._process.name, self._process.incarnation))
        try:
            await remote(self._process, LOGS, method, sender, self._channel_of(number), number, ts)
        except RpcError:
            return False
        return True


class FencedSessions(SharedSessions):
    """The store of sessions. Its fences are those of the logs: ``fenced`` are the sources of which a
    coordinator was told that all logs refuse them.
    """

    async def fence(self, source: SourceId) -> None:
        """See Fences."""
        network, caller = self.world.network, self.world.caller
        await network.call(caller, LOGS, "fence", (source,))
        self.fenced.append(source)

    def begin(self, name: str) -> SourceId:
        """A node has begun a session before the program begins."""
        source = at_once(self._own.register(name, lease=1.0))
        self._changed()
        return source

    @property
    def shut(self) -> tuple[SourceId, ...]:
        """Whom all logs refuse, as a coordinator was told."""
        return tuple(sorted(set(self.fenced)))

    def states(self) -> tuple[tuple[SourceId, str], ...]:
        """The sessions in the store, with their states."""
        return tuple(sorted((int(source), str(state)) for source, state in self.rows()))


class SessionEdge:
    """The store of sessions as one incarnation of the coordinator sees it.

    Attributes:
        listed: the live sessions of the list with which it starts.
    """

    def __init__(self, process: Process, shared: FencedSessions) -> None:
        self.listed: tuple[SourceId, ...] = ()
        self._taking_over = False
        self._process = process
        self._shared = shared
        self._real: SessionStore = shared.follow(self._has_listed)

    def _has_listed(self, live: Sequence[SourceId]) -> None:
        """The first transaction of ``take_over`` is the list."""
        if self._taking_over:
            self._taking_over, self.listed = False, tuple(live)

    async def take_over(self) -> tuple[Sequence[SourceId], int]:
        """See SessionStore. Its answer comes in a step of its own."""
        self._taking_over = True
        found = await self._real.take_over()
        await self._process.point("sessions.serve")
        return found

    async def next_event(self, after: int) -> SessionEvent:
        """See SessionStore."""
        return await self._shared.next_event(after)

    async def fence(self, source: SourceId) -> None:
        """See SessionStore."""
        await self._real.fence(source)
