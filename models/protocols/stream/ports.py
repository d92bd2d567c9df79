"""The edges of a consumer, made of objects of the controlled world: its log, and where packs are stored."""

from typing import Any, NamedTuple

from tidemark.impl.stream.aligned import AlignedPack, AlignedPosition
from tidemark.impl.stream.packs import StreamPack, StreamPosition
from tidemark.impl.types import Row
from tidemark.impl.values.messages import (
    ChannelMessage,
    DdlMessage,
    InsertMessage,
    LogMessage,
    collection_of,
    virtual,
)
from tidemark.models.protocols.common.growing_log import GrowingLog
from tidemark.models.simulation.world.storage import Store
from tidemark.models.simulation.world.world import World

SINK = "sink"
KEY = "stored"


def message_of(number: int, ts: int, *, text: str = "") -> ChannelMessage:
    """A message of the log, by its number: a row, or what is said (``drop``) of a collection."""
    if text:
        return DdlMessage(ts, virtual("log", number, 0), text)
    return InsertMessage(ts, "log_1v0", (Row(ts, 1, number),))


def number_of(message: LogMessage) -> int:
    """The number of a message."""
    if isinstance(message, DdlMessage):
        return int(collection_of(message.channel))
    assert isinstance(message, InsertMessage)
    return message.rows[0].key


class Log(GrowingLog):
    """One physical channel. It grows while it is read."""

    def __init__(self, world: World, *, late: bool = False) -> None:
        super().__init__(world, number_of, late=late)


class Stored(NamedTuple):
    """What was stored of the packs, with the end position of the last one."""

    done: tuple[int, ...]
    twice: tuple[int, ...]
    position: StreamPosition | AlignedPosition


class Sink:
    """Takes a pack and its end position in one step."""

    def __init__(self, store: Store, first: StreamPosition | AlignedPosition) -> None:
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

    async def load(self, world: World) -> StreamPosition | AlignedPosition:
        """The position of the last pack."""

        def look() -> StreamPosition | AlignedPosition:
            world.touch(reads=world.interner.bit(self.owner))
            return self.stored().position

        position: StreamPosition | AlignedPosition = await world.operation("load", look)
        return position

    async def put(self, pack: StreamPack | AlignedPack) -> None:
        """Store a pack. Raise StorageFailedError, or StorageUnknownError: it may be stored."""

        def change(content: dict[str, Any]) -> None:
            before: Stored = content.get(KEY, Stored((), (), self._first))
            numbers = [number_of(message) for message in pack.messages]
            again = (n for n in numbers if n in before.done or numbers.count(n) > 1)
            twice = {*before.twice, *again}
            done = {*before.done, *numbers}
            content[KEY] = Stored(tuple(sorted(done)), tuple(sorted(twice)), pack.finish)

        await self._store.transact("store", change, keys=(KEY,))
