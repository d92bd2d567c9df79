"""The edges of a proxy, made of objects of the controlled world: an oracle, logs, clocks that end.

The oracle and the logs are processes: each call of them is a delivery and a reply, and may meet the faults of
the network. Or, for programs that look at other things, they are near: a call is one step.
"""

from collections.abc import Hashable

from tidemark.impl.errors import RpcError, RpcTimeoutError
from tidemark.impl.proxy.values import AppendOutcome, Message
from tidemark.impl.timestamp import Timestamp
from tidemark.models.protocols.common.calls import remote
from tidemark.models.protocols.proxy.refinement import ChannelTs, LogView
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

LOG = "log"


class LogProcess:
    """The logs of all channels, and the messages that they have promised never to take.

    Args:
        refusals: how many messages they may refuse.
    """

    def __init__(self, refusals: int = 0) -> None:
        self.appended: set[ChannelTs] = set()
        self.refused: set[ChannelTs] = set()
        self._refusals = refusals

    async def run(self, process: Process) -> None:
        """Serve."""

        async def append(channel: str, ts: Timestamp) -> None:
            if self._refusals and await process.choose(2, "log.refuse"):
                self._refusals -= 1
                self.refused.add((channel, ts))
            self.append(channel, ts)

        async def settle(channel: str, ts: Timestamp) -> bool:
            if (channel, ts) not in self.appended:
                self.refused.add((channel, ts))
            return (channel, ts) in self.appended

        process.serve("append", append)
        process.serve("settle", settle)

    def append(self, channel: str, ts: Timestamp) -> None:
        """Append a message. Raises RpcError if it was promised that this never happens."""
        if (channel, ts) in self.refused:
            raise RpcError(f"the message {ts} of {channel} was given up")
        self.appended.add((channel, ts))

    def declared(self) -> Hashable:
        """What influences the future, beyond the view."""
        return ()

    def view(self) -> LogView:
        """Return what is in the logs, and what is ruled out."""
        return LogView(tuple(sorted(self.appended)), tuple(sorted(self.refused)))


class LogCalls:
    """The logs as a proxy sees them.

    Args:
        near: the logs themselves, if each append is one step.
    """

    def __init__(self, process: Process, world: World, *, near: LogProcess | None = None) -> None:
        self._process = process
        self._world = world
        self._near = near

    async def append(self, message: Message, *, deadline: float) -> None:
        """Append a message."""
        del deadline
        if self._near is not None:
            logs, bit = self._near, self._world.interner.bit(LOG)

            def put() -> None:
                self._world.touch(writes=bit)
                logs.append(message.channel, message.ts)

            await self._world.operation(f"append {message.channel} {message.ts}", put)
            return
        await remote(self._process, LOG, "append", message.channel, message.ts)

    async def settle(self, message: Message) -> AppendOutcome:
        """Find out, and rule out."""
        while True:
            try:
                found = await remote(self._process, LOG, "settle", message.channel, message.ts)
            except RpcTimeoutError:
                continue
            return AppendOutcome.APPENDED if found else AppendOutcome.REFUSED
