"""The edges of clients and query nodes, made of objects of the controlled world: the log, history, calls."""

from collections.abc import Sequence

from tidemark.impl.querynode.values import ShardAnswer
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName
from tidemark.impl.values.messages import DeleteMessage, Entry, InsertMessage, LogMessage, Tick
from tidemark.models.protocols.common.calls import remote
from tidemark.models.protocols.common.gate import Gate
from tidemark.models.protocols.common.oracle import Answers
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

LOG = "cell log"
HISTORY = "cell history"
CHANNEL = "log_1v0"
"""The virtual channel of the program, in the physical channel ``log``."""
"""Whose channel it is."""


class Log:
    """The log of the channel, and the writes that are under way to it.

    Attributes:
        entries: what it holds.
        begun: by write the greatest timestamp that its own is above: what was answered when it was asked for,
            then one less than itself.
        tick: the greatest tick in it.
        timestamps: how many are given in all.
    """

    def __init__(self, world: World, answers: Answers, *, timestamps: int) -> None:
        self.entries: list[Entry] = []
        self.begun: dict[int, Timestamp] = {}
        self.tick: Timestamp = 0
        self.gate = Gate(world)
        self._world = world
        self._bit = world.interner.bit(LOG)
        self._answers = answers
        self.timestamps = timestamps

    def view(self) -> tuple[tuple[tuple[Timestamp, int, bool], ...], Timestamp]:
        """The writes in it as (timestamp, key, deletes), and the greatest tick."""
        found: list[tuple[Timestamp, int, bool]] = []
        for entry in self.entries:
            if isinstance(entry.message, InsertMessage):
                found += [(row.ts, row.key, False) for row in entry.message.rows]
            elif isinstance(entry.message, DeleteMessage):
                found += [(entry.message.ts, key, True) for key in entry.message.keys]
        return tuple(found), self.tick

    def begin(self, write: int, above: Timestamp) -> None:
        """A write is on its way, with a timestamp above this one."""
        self._world.touch(writes=self._bit)
        self.begun[write] = above
        self.gate.look()

    def give_up(self, write: int) -> None:
        """A write has failed before it was appended."""
        self._world.touch(writes=self._bit)
        del self.begun[write]
        self.gate.look()

    def expect_one_less(self) -> None:
        """A read was given up before it had a timestamp."""
        self._world.touch(writes=self._bit)
        self.timestamps -= 1
        self.gate.look()

    async def append(self, write: int, message: LogMessage) -> None:
        """Append a write."""

        def put() -> None:
            del self.begun[write]
            self.put(message)

        await self._world.operation(f"append {write}", put)

    def _allowed(self) -> Timestamp:
        """The greatest tick that may be."""
        return min([self._answers.latest(), *self.begun.values()])

    async def send_tick(self) -> None:
        """Append the greatest tick that may be, once there is a new one."""

        def put() -> None:
            self.tick = self._allowed()
            self.put(Tick(self.tick))

        await self.gate.operation("tick", lambda: self._allowed() > self.tick, put)

    async def send_last_tick(self) -> None:
        """Once everything is in the log: a tick above all of it."""

        def put() -> None:
            self.tick = self._answers.latest()
            self.put(Tick(self.tick))

        await self.gate.operation("last tick", self._is_quiet, put)

    def _is_quiet(self) -> bool:
        answered = self._answers.answered
        all_are_given = len(answered) == self.timestamps and not self.begun
        return all_are_given and self.tick < max(answered, default=0)

    def put(self, message: LogMessage) -> None:
        """The log grows."""
        self._world.touch(writes=self._bit)
        self.entries.append(Entry(len(self.entries) + 1, 0, message))
        self.gate.look()

    async def read(self, channel: ChannelName, place: int) -> Sequence[Entry]:
        """See EntryLog. One entry at a time."""
        del channel

        def take() -> Sequence[Entry]:
            self._world.touch(reads=self._bit)
            return (self.entries[place - 1],)

        found: Sequence[Entry] = await self.gate.operation("read", lambda: place <= len(self.entries), take)
        return found


class History:
    """What clients were told, in the order of the real time: for the claims alone."""

    def __init__(self, world: World) -> None:
        self.acknowledged: tuple[int, ...] = ()
        self.answered: tuple[int, ...] = ()
        self._world = world
        self._bit = world.interner.bit(HISTORY)

    def acknowledge(self, write: int) -> None:
        """A client was told that its write is in the log."""
        self._world.touch(writes=self._bit)
        self.acknowledged = tuple(sorted((*self.acknowledged, write)))

    def answer(self, read: int) -> None:
        """A client has the answer to its read."""
        self._world.touch(writes=self._bit)
        self.answered = tuple(sorted((*self.answered, read)))

    def look(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What was acknowledged and what was answered."""
        self._world.touch(reads=self._bit)
        return self.acknowledged, self.answered


class NodeCalls:
    """A query node as a proxy sees it, over the network. Each call carries the number of its read."""

    def __init__(self, process: Process, node: str, read: int) -> None:
        self._process = process
        self._node = node
        self._read = read

    async def query(
        self,
        channel: ChannelName,
        *,
        guarantee: Timestamp,
        mvcc: Timestamp | None,
        keys: tuple[int, ...] | None,
        deadline: float,
    ) -> ShardAnswer:
        """See Replica."""
        del channel, keys, deadline
        answer = await remote(self._process, self._node, "query", self._read, guarantee, mvcc)
        assert isinstance(answer, ShardAnswer)
        return answer


class OneReplica:
    """Who serves the channel: one node, chosen by the program."""

    def __init__(self, calls: NodeCalls) -> None:
        self._calls = calls

    def of(self, channel: ChannelName) -> Sequence[NodeCalls]:
        """See Replicas."""
        del channel
        return (self._calls,)


class OffClock:
    """The proxy's own clock: the time of the oracle, and an error."""

    def __init__(self, answers: Answers, error: int) -> None:
        self._answers = answers
        self._error = error

    def now(self) -> Timestamp:
        """See ReadClock."""
        return max(self._answers.latest() + self._error, 0)
