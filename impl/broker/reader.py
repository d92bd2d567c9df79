"""The logs for another process, which follows their files."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from tidemark.impl.broker.channel_log import entries_of
from tidemark.impl.ports import Clock
from tidemark.impl.storage.file_log import log_file, read_lines
from tidemark.impl.storage.files import SYSTEM_FILES, Files
from tidemark.impl.types import ChannelName
from tidemark.impl.values.messages import Entry


class FileEntryLog:
    """An ``EntryLog`` over files that another process writes. It keeps what it has read.

    Args:
        root: the directory of the logs.
        clock: for the pauses between two looks.
        poll_seconds: their length.
        files: the file system that it is in.
    """

    def __init__(
        self, root: Path, *, clock: Clock, poll_seconds: float = 0.01, files: Files = SYSTEM_FILES
    ) -> None:
        self._root = root
        self._clock = clock
        self._poll_seconds = poll_seconds
        self._files = files
        self._entries: defaultdict[ChannelName, list[Entry]] = defaultdict(list)
        self._offsets: defaultdict[ChannelName, int] = defaultdict(int)
        self._turns: defaultdict[ChannelName, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def read(self, channel: ChannelName, place: int) -> Sequence[Entry]:
        """See EntryLog. Raise StoreError, CorruptDataError."""
        entries = self._entries[channel]
        while len(entries) < place:
            async with self._turns[channel]:
                if len(entries) < place and not await self._read_on(channel):
                    await self._clock.sleep(self._poll_seconds)
        return entries[place - 1 :]

    async def _read_on(self, channel: ChannelName) -> bool:
        """Read the lines that were added. False when there were none."""
        file = log_file(self._root, channel)
        lines = await read_lines(self._files, file, self._offsets[channel])
        for line in lines:
            self._entries[channel].extend(entries_of(line, where=file))
            self._offsets[channel] += len(line) + 1
        return bool(lines)
