"""The edges of the flush implementation, made of objects of the controlled world.

Each coroutine method here suspends its caller until the search picks that it goes on: these are the places of
interruption which the granularity table of ``impl/README.md`` counts.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from tidemark.impl.datanode.data_node import DataNode
from tidemark.impl.errors import RpcError, StoreError, UnknownChannelError
from tidemark.impl.storage.memory import MemoryMetaStore
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import (
    ChannelName,
    ChannelRecord,
    Pack,
    Position,
    Row,
    SaveBinlogPaths,
    UpdateCheckpoints,
)
from tidemark.models.protocols.common.calls import as_remote, known_as, remote
from tidemark.models.protocols.flush.refinement import CallId, NodeHistory
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.storage import TORN, Disk
from tidemark.models.simulation.world.world import World

CHANNEL: ChannelName = "channel"
BESIDE: ChannelName = "channel beside"
CLIENT = "client"
COORDINATOR = "coordinator"
NODE = "node"
OBJECTS = "objects"


class Log:
    """Logs whose packs are all there from the start. Reading the next one is a step; at the end, a long wait.

    Args:
        world: in which they are read.
        packs: what they hold, by channel.
        endless: at the end the last tick comes again and again, without rows. The clock does not move then:
            there are finitely many states; what a later tick would find new is not found.
        read: called with each pack that is read.
    """

    def __init__(
        self,
        world: World,
        packs: Mapping[ChannelName, Sequence[Pack]],
        *,
        read: Callable[[Pack], None] = lambda _: None,
        endless: bool = False,
    ) -> None:
        self._world = world
        self._endless = endless
        self._read = read
        self._packs = packs

    async def next_pack(self, channel: ChannelName, after: Position) -> Pack:
        """Return the first pack that ends after a position."""
        for pack in self._packs[channel]:
            if pack.end.ts > after.ts:
                await self._world.operation(f"consume {channel} {pack.end.ts}", _nothing)
                self._read(pack)
                return pack
        if self._endless:
            await self._world.operation("idle tick", _nothing)
            last = self._packs[channel][-1]
            return Pack(start=last.start, end=last.end)
        endless: asyncio.Future[Pack] = asyncio.get_running_loop().create_future()
        return await endless


def _nothing() -> None:
    """The log is immutable: reading it touches nothing."""


class Refusing(MemoryMetaStore):
    """Metadata of which no request with a record of the channel beside is stored."""

    async def save_channels(self, records: Sequence[ChannelRecord]) -> None:
        """Keep the records, or none of them."""
        if BESIDE in [record.channel for record in records]:
            raise StoreError(f"the record of {BESIDE} cannot be stored")
        await super().save_channels(records)


def sealing(node: DataNode) -> Callable[..., Awaitable[bool]]:
    """The handler of a node that seals segments."""
    return as_remote(
        lambda channel, segments, expires: node.seal_segments(channel, segments, expires=expires),
        UnknownChannelError,
    )


class Objects:
    """The object store of one process."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def put(self, path: str, rows: Sequence[Row]) -> None:
        """Write an object."""
        with known_as(StoreError):
            await self._process.store(OBJECTS).put(path, tuple(rows))

    async def get(self, path: str) -> tuple[Row, ...]:
        """Read an object."""
        rows = await self._process.store(OBJECTS).get(path)
        if rows is None:
            raise StoreError(f"there is no object {path!r}")
        return tuple(rows)


class LocalObjects:
    """The object store of a node that keeps its binlogs on its own disk: a write, and then a sync."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def put(self, path: str, rows: Sequence[Row]) -> None:
        """Write an object. It is durable when this returns."""
        self._process.disk.append((path, tuple(rows)))
        await self.sync()

    async def sync(self) -> None:
        """Force what was written to the disk."""
        await self._process.disk.sync()

    async def get(self, path: str) -> tuple[Row, ...]:
        """Read an object."""
        rows = dict(self.whole(self._process.disk)).get(path)
        if rows is None:
            raise StoreError(f"there is no object {path!r} on the disk of {self._process.name}")
        return rows

    @staticmethod
    def whole(disk: Disk) -> list[tuple[str, tuple[Row, ...]]]:
        """Return the objects that are not torn, in the order of writing."""
        return [record for record in disk.records() if record != TORN]


class CallIds:
    """The id of each call of the coordinator that the refinement mapping speaks of. It travels with the call.

    Args:
        noted: called when the history has changed.
    """

    def __init__(self, process: Process, history: NodeHistory, noted: Callable[[], None]) -> None:
        self._process = process
        self._history = history
        self._noted = noted
        self._calls = 0

    def __call__(self, request: object, *_: object) -> tuple[CallId, ...]:
        """Note that a call begins."""
        if not isinstance(request, SaveBinlogPaths | UpdateCheckpoints):
            return ()
        self._calls += 1
        call = (self._process.incarnation, self._calls)
        history = self._history
        if isinstance(request, SaveBinlogPaths):
            history.saves[call[0], request.segment_id, request.position.ts] = call
        elif found := [one.position.ts for one in request.positions if one.channel == CHANNEL]:
            history.checkpoint_call = call
            history.reported = tuple(found)
            # Beside one that cannot be stored it is not on its way.
            history.sent = tuple(sorted({*history.sent, *found[: len(found) >= len(request.positions)]}))
        self._noted()
        return (call,)


class PollingClock:
    """The pause between two polls of a client. It ends when there is something new to see.

    A poll that finds what the poll before it has found changes nothing anywhere; leaving such polls out
    leaves out stuttering only.
    """

    def __init__(self, process: Process) -> None:
        self._process = process
        self._changed = asyncio.Event()

    def news(self) -> None:
        """Note that the coordinator has answered a node, or failed to reach the node."""
        self._changed.set()

    @property
    def changed(self) -> bool:
        """Whether there is news."""
        return self._changed.is_set()

    async def sleep(self, seconds: float) -> None:
        """Wait for news, and then for the client to come back."""
        del seconds
        await self._changed.wait()
        await self._process.point("client.poll")
        self._changed.clear()


class TimerClock:
    """Waiting by timers of the process."""

    async def sleep(self, seconds: float) -> None:
        """Return when the timer fires."""
        await asyncio.sleep(seconds)


class Repetitions:
    """How many failed calls and writes may still be repeated, by all incarnations of a process together.

    A limit of its own: with ``Settings.timer_firings``, every repetition that is allowed is also a round of
    the updater that may begin at any time.
    """

    def __init__(self, left: int) -> None:
        self.left = left

    async def wait(self, process: Process) -> None:
        """Return at any time later; never, if none is left."""
        if not self.left:
            await asyncio.get_running_loop().create_future()
        self.left -= 1
        await process.point("pause")


class RepeatingClock:
    """Pauses before a repetition have a budget; the other ones are timers of the process.

    Args:
        process: whose pauses they are.
        repetitions: what is left of the budget.
        period: the pause that is none before a repetition, in seconds.
    """

    def __init__(self, process: Process, repetitions: Repetitions, *, period: float) -> None:
        self._process = process
        self._repetitions = repetitions
        self._period = period

    async def sleep(self, seconds: float) -> None:
        """Return when the pause is over."""
        if seconds == self._period:
            await asyncio.sleep(seconds)
        else:
            await self._repetitions.wait(self._process)


TOLD_MEANS_DURABLE = "told_means_durable"

"""Claim id: a client that is told that its flush is done finds the checkpoint at or beyond it."""

METHOD = "flush"


class Client:
    """The clients of one execution: a task for each flush that is wanted.

    Args:
        flushes: the flush timestamps.
        repetitions: how many failed calls are repeated.
        stored: the checkpoint that the coordinator has stored.

    Attributes:
        told: flush timestamps that the client was told are done.
        wrong: those of them that were not.
    """

    def __init__(
        self, flushes: tuple[Timestamp, ...], repetitions: Repetitions, *, stored: Callable[[], Timestamp]
    ) -> None:
        self.told: set[Timestamp] = set()
        self.wrong: set[Timestamp] = set()
        self._flushes = flushes
        self._repetitions = repetitions
        self._stored = stored
        self._world: World | None = None

    def build(self, world: World) -> None:
        """Define the process."""
        self._world = world
        world.process(CLIENT, self._run, daemon=True)

    def serve(self, process: Process, handler: Callable[[Timestamp], Awaitable[None]]) -> None:
        """Answer the calls of the client in a process, with a coroutine that returns when a flush is done."""
        process.serve(METHOD, handler)

    def state(self) -> tuple[tuple[Timestamp, ...], tuple[Timestamp, ...], int]:
        """Return what influences the future."""
        return tuple(sorted(self.told)), tuple(sorted(self.wrong)), self._repetitions.left

    def complaint(self) -> str | None:
        """Return what is wrong with what the client was told, or None."""
        if not self.wrong:
            return None
        return (
            f"{TOLD_MEANS_DURABLE}: the flush up to {min(self.wrong)} is not done, and its client is told so"
        )

    async def _run(self, process: Process) -> None:
        for flush_ts in self._flushes:
            process.spawn(self._flush(process, flush_ts), f"client {flush_ts}")

    async def _flush(self, process: Process, flush_ts: Timestamp) -> None:
        while True:
            try:
                await remote(process, COORDINATOR, METHOD, flush_ts)
            except RpcError:
                await self._repetitions.wait(process)
                continue
            break
        assert self._world is not None
        # Looked at in the client's step: what is seen must not depend on where the coordinator's are placed.
        self._world.touch(reads=self._world.interner.bit(COORDINATOR))
        self.told.add(flush_ts)
        if self._stored() < flush_ts:
            self.wrong.add(flush_ts)
