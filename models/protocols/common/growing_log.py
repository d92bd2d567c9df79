"""The log of a physical channel that grows while others read it, made of objects of the controlled world."""

from collections.abc import Callable, Sequence

from tidemark.impl.types import ChannelName
from tidemark.impl.values.messages import Entry, LogMessage, Tick
from tidemark.models.protocols.common.gate import Gate
from tidemark.models.simulation.world.world import World

LOG = "cell log"


class GrowingLog:
    """One physical channel. It grows while it is read.

    Args:
        world: where it lies.
        number_of: the number of a message.
        late: a message may come below a tick.

    Attributes:
        handed: the greatest place that was read.
    """

    def __init__(self, world: World, number_of: Callable[[LogMessage], int], *, late: bool = False) -> None:
        self.entries: list[LogMessage] = []
        self.gate = Gate(world)
        self.handed = 0
        self._world = world
        self._number_of = number_of
        self._late = late
        self._bit = world.interner.bit(LOG)

    def view(self) -> tuple[tuple[str, int, int], ...]:
        """What it holds, place by place: (kind, number of the message, timestamp)."""
        return tuple(
            ("tick", 0, m.ts) if isinstance(m, Tick) else ("message", self._number_of(m), m.ts)
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
        """Append a message or a tick; a message only above every tick, unless it may be late. ``after``: once
        this one is there.
        """

        def put() -> None:
            if isinstance(message, Tick) or self._late or message.ts > self.highest:
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
            self.handed = max(self.handed, place)
            return (Entry(place, 0, self.entries[place - 1]),)

        found: Sequence[Entry] = await self.gate.operation("read", lambda: place <= len(self.entries), take)
        return found
