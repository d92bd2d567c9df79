"""The edges of a consumer, made of objects of the controlled world: its log, and where packs are stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tidemark.impl.broker.messages import Entry, InsertMessage, LogMessage, Tick
from tidemark.impl.stream.packs import StreamPack, StreamPosition
from tidemark.impl.types import ChannelName, Row
from tidemark.models.protocols.common.gate import Gate
from tidemark.models.simulation.world.storage import Store
from tidemark.models.simulation.world.world import World

LOG = "cell log"
SINK = "sink"
KEY = "stored"


def message_of(number: int, ts: int) -> InsertMessage:
    """A message of the log, by its number."""
    return InsertMessage(ts, "log_1v0", (Row(ts, 1, number),))


def number_of(message: LogMessage) -> int:
    """The number of a message."""
    assert isinstance(message, InsertMessage)
    return message.rows[0].key


class Log:
    """One physical channel. It grows while it is read."""

    def __init__(self, world: World) -> None:
        self.entries: list[LogMessage] = []
        self.gate = Gate(world)
        self._world = world
        self._bit = world.interner.bit(LOG)

    def view(self) -> tuple[tuple[str, int, int], ...]:
        """What it holds, place by place: (kind, number of the message, timestamp)."""
        return tuple(
            ("tick", 0, m.ts) if isinstance(m, Tick) else ("message", number_of(m), m.ts)
            for m in self.entries
        )

    @property
    def highest(self) -> int:
        """The greatest tick."""
        return max((m.ts for m in self.entries if isinstance(m, Tick)), default=0)

    def has(self, number: int) -> bool:
        """Whether a message is in it."""
        return any(kind == "message" and known == number for kind, known, _ in self.view())

    async def append(self, title: str, message: LogMessage, *, after: int | None = None) -> None:
        """Append a message or a tick; a message only above every tick. ``after``: once this one is there."""

        def put() -> None:
            if isinstance(message, Tick) or message.ts > self.highest:
                self._world.touch(writes=self._bit)
                self.entries.append(message)
                self.gate.look()
            else:
                self._world.touch(reads=self._bit)

        await self.gate.operation(title, lambda: after is None or self.has(after), put)

    async def read(self, channel: ChannelName, place: int) -> Sequence[Entry]:
        """See EntryLog. One entry at a time."""
        del channel

        def take() -> Sequence[Entry]:
            self._world.touch(reads=self._bit)
            return (Entry(place, 0, self.entries[place - 1]),)

        found: Sequence[Entry] = await self.gate.operation("read", lambda: place <= len(self.entries), take)
        return found


class Stored(NamedTuple):
    """What was stored of the packs, with the end position of the last one."""

    done: tuple[int, ...]
    twice: tuple[int, ...]
    position: StreamPosition


class Sink:
    """Takes a pack and its end position in one step."""

    def __init__(self, store: Store, first: StreamPosition) -> None:
        self._store = store
        self._first = first

    @property
    def owner(self) -> str:
        """The name of what it changes."""
        return self._store.owner(KEY)

    def stored(self) -> Stored:
        """What is stored now, for observers."""
        found: Stored = self._store.content().get(KEY, Stored((), (), self._first))
        return found

    async def load(self, world: World) -> StreamPosition:
        """The position of the last pack."""

        def look() -> StreamPosition:
            world.touch(reads=world.interner.bit(self.owner))
            return self.stored().position

        position: StreamPosition = await world.operation("load", look)
        return position

    async def put(self, pack: StreamPack) -> None:
        """Store a pack. Raise StorageFailedError, or StorageUnknownError: it may be stored."""

        def change(content: dict[str, Any]) -> None:
            before: Stored = content.get(KEY, Stored((), (), self._first))
            numbers = [number_of(message) for message in pack.messages]
            again = (n for n in numbers if n in before.done or numbers.count(n) > 1)
            twice = {*before.twice, *again}
            done = {*before.done, *numbers}
            content[KEY] = Stored(tuple(sorted(done)), tuple(sorted(twice)), pack.finish)

        await self._store.transact("store", change, keys=(KEY,))
