"""The edges of proxies and query nodes, made of objects of the controlled world: logs, requests, results."""

from collections.abc import Callable, Sequence
from functools import partial

from tidemark.impl.errors import StoreError
from tidemark.impl.queries.values import QueryResult
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName, Row
from tidemark.impl.values.messages import DeleteMessage, Entry, InsertMessage, LogMessage, Tick, physical
from tidemark.models.protocols.common.gate import Gate
from tidemark.models.protocols.common.requests import Between
from tidemark.models.simulation.world.world import World

LOGS = "cell logs"
TRANSIT = "cell transit"
CHANNELS = ("a_1v0", "b_1v1")
"""The virtual channels of the collection, each in a physical one of its own."""


class Logs:
    """The logs of the channels, and the oracle: a write has its timestamp when it is in its log.

    Attributes:
        issued: the greatest timestamp that was given.
        placed: by write its timestamp.
        ticks: by channel the greatest tick in its log.
    """

    def __init__(self, world: World, *, writes: int) -> None:
        self.issued: Timestamp = 0
        self.placed: dict[int, Timestamp] = {}
        self.entries: dict[ChannelName, list[Entry]] = {channel: [] for channel in CHANNELS}
        self.ticks: dict[ChannelName, Timestamp] = dict.fromkeys(CHANNELS, 0)
        self.gate = Gate(world)
        self._world = world
        self._bit = world.interner.bit(LOGS)
        self._writes = writes

    def view(self) -> tuple[Timestamp, tuple[tuple[int, Timestamp], ...]]:
        """The greatest timestamp, and what is in the logs."""
        return self.issued, tuple(sorted(self.placed.items()))

    async def append(self, write: int, channel: ChannelName, key: int, *, deletes: bool) -> Timestamp:
        """Append a write; return its timestamp."""

        def put() -> Timestamp:
            self.issued += 1
            self.placed[write] = ts = self.issued
            message: LogMessage = InsertMessage(ts, channel, (Row(ts, 1, key),))
            if deletes:
                message = DeleteMessage(ts, channel, -1, (key,))
            self._put(channel, message)
            return ts

        found: Timestamp = await self._world.operation(f"append {write}", put)
        return found

    async def send_tick(self, channel: ChannelName) -> None:
        """Append the greatest tick that may be, once there is a new one."""

        def is_due() -> bool:
            return self.issued > self.ticks[channel]

        await self.gate.operation("tick", is_due, lambda: self._tick(channel))

    async def send_last_tick(self, channel: ChannelName) -> None:
        """Once every write is in its log: a tick at or above all of them."""

        def is_due() -> bool:
            return len(self.placed) == self._writes and self.issued > self.ticks[channel]

        await self.gate.operation("last tick", is_due, lambda: self._tick(channel))

    def _tick(self, channel: ChannelName) -> None:
        self.ticks[channel] = self.issued
        self._put(channel, Tick(self.issued))

    def _put(self, channel: ChannelName, message: LogMessage) -> None:
        self._world.touch(writes=self._bit)
        log = self.entries[channel]
        log.append(Entry(len(log) + 1, 0, message))
        self.gate.look()

    async def read(self, channel: ChannelName, place: int) -> Sequence[Entry]:
        """See EntryLog: of the physical channel, one entry at a time."""
        log = next(self.entries[one] for one in CHANNELS if physical(one) == channel)

        def take() -> Sequence[Entry]:
            self._world.touch(reads=self._bit)
            return (log[place - 1],)

        found: Sequence[Entry] = await self.gate.operation("read", lambda: place <= len(log), take)
        return found


class Transit(Between):
    """What lies between proxies and nodes. The rows of a result come one by one.

    Attributes:
        shown: by read and channel the moment of a part whose rows have all come.
        rows: by read the timestamps of the rows that have come.
        told: is told of each request that is in the channel.
    """

    writes = "write"

    def __init__(self, world: World, told: Callable[[int], None]) -> None:
        super().__init__(world)
        self.shown: dict[tuple[int, ChannelName], Timestamp] = {}
        self.rows: dict[int, tuple[Timestamp, ...]] = {}
        self._told = told
        self._bit = world.interner.bit(TRANSIT)

    def changed(self) -> None:
        """Something has changed here."""
        self.world.touch(writes=self._bit)
        super().changed()

    def written(self, number: int) -> None:
        """A request is in the channel."""
        self._told(number)
        super().written(number)

    def content(self, result: QueryResult) -> str:
        """What it holds has been shown."""
        del result
        return ""

    async def put(self, result: QueryResult) -> None:
        """See ResultChannel."""
        number = result.number
        for channel, answer in sorted(result.shards.items()):
            for row in answer.rows:
                await self.world.operation(f"row {number} {row.ts}", partial(self._row, number, row))
            show = partial(self._show, (number, channel), answer.moment)
            await self.world.operation(f"part {number} {CHANNELS.index(channel)}", show)
        await self.world.operation(f"result {result.number}", lambda: None)
        await super().put(result)

    def _row(self, number: int, row: Row) -> None:
        self.rows[number] = (*self.rows.get(number, ()), row.ts)
        self.world.touch(writes=self._bit)

    def _show(self, part: tuple[int, ChannelName], moment: Timestamp) -> None:
        self.shown[part] = moment
        self.world.touch(writes=self._bit)

    def view(self) -> tuple[tuple[tuple[tuple[int, ChannelName], Timestamp], ...], ...]:
        """What has come of which read."""
        rows = tuple(((q, ""), ts) for q in sorted(self.rows) for ts in sorted(self.rows[q]))
        return tuple(sorted(self.shown.items())), rows


class NoObjects:
    """The object store of a node that loads nothing."""

    async def put(self, path: str, rows: Sequence[Row]) -> None:
        """See ObjectStore."""
        raise StoreError(f"nothing is stored here: {path!r}, {len(rows)} rows")

    async def get(self, path: str) -> tuple[Row, ...]:
        """See ObjectStore."""
        raise StoreError(f"there is no object {path!r}")
