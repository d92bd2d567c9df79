"""The broker's own logs in the place of simulated ones: ``ChannelLog`` over files that are in memory.

What a log promises to a proxy, that a message which was given up never comes, is then kept by the code that
runs in a cluster.
"""

from collections.abc import Hashable, Sequence
from pathlib import Path

from tidemark.impl.broker.channel_log import ChannelLog
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.values.messages import InsertMessage
from tidemark.models.protocols.common.memory_files import MemoryFiles
from tidemark.models.protocols.proxy.ports import LogProcess
from tidemark.models.protocols.proxy.refinement import LogView
from tidemark.models.simulation.world.process import Process

_SOURCE = 1
_ROOT = Path("log")


class RealLogs(LogProcess):
    """The logs of some channels, as one process."""

    def __init__(self, channels: Sequence[str]) -> None:
        super().__init__()
        self._channels = channels
        self._logs: dict[str, ChannelLog] = {}

    async def run(self, process: Process) -> None:
        """Serve."""
        files = MemoryFiles(process)
        self._logs = {channel: ChannelLog(_ROOT, channel, files=files) for channel in self._channels}
        for channel, log in self._logs.items():
            process.spawn(log.run(), f"log {channel}")

        async def append(channel: str, ts: Timestamp) -> None:
            await self._logs[channel].append(_SOURCE, InsertMessage(ts, f"{channel}_1v0", ()))

        async def settle(channel: str, ts: Timestamp) -> bool:
            return await self._logs[channel].settle(_SOURCE, ts)

        process.serve("append", append)
        process.serve("settle", settle)

    def declared(self) -> Hashable:
        """See LogProcess."""
        return tuple(
            (channel, tuple(append.message.ts for append in log.waiting), tuple(sorted(log.given_up)))
            for channel, log in self._logs.items()
        )

    def view(self) -> LogView:
        """What is in the logs; what was given up and is neither there nor being written is ruled out."""
        appended = {
            (channel, entry.message.ts) for channel, log in self._logs.items() for entry in log.entries
        }
        writing = {
            (channel, append.message.ts) for channel, log in self._logs.items() for append in log.writing
        }
        given_up = {(channel, ts) for channel, log in self._logs.items() for _, ts in log.given_up}
        return LogView(tuple(sorted(appended)), tuple(sorted(given_up - appended - writing)))
