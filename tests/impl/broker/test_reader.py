"""The reader that follows the files of logs: what it hands over, when it pauses, what it refuses."""

import asyncio
from pathlib import Path

import pytest

from tests.impl.parts import Script
from tidemark.impl.broker.channel_log import ChannelLog
from tidemark.impl.broker.reader import FileEntryLog
from tidemark.impl.errors import CorruptDataError
from tidemark.impl.storage.file_log import checked, log_file
from tidemark.impl.values.messages import Tick
from tidemark.models.protocols.common.memory_files import MemoryFiles

ROOT, CHANNEL = Path("log"), "dml_0"


class Clock:
    """In each pause something is appended."""

    def __init__(self, log, *appended):
        self.log = log
        self.appended = list(appended)
        self.pauses = []

    async def sleep(self, seconds):
        self.pauses.append(seconds)
        await asyncio.gather(*(self.log.append(1, Tick(ts)) for ts in self.appended.pop(0)))


async def test_a_reader_gets_what_was_appended_and_pauses_only_when_nothing_is_new():
    files = MemoryFiles(Script())
    log = ChannelLog(ROOT, CHANNEL, files=files)
    writer = asyncio.create_task(log.run())
    clock = Clock(log, (1,), (), (2, 3), (4,))
    reader = FileEntryLog(ROOT, clock=clock, poll_seconds=0.5, files=files)
    both = await asyncio.gather(reader.read(CHANNEL, 1), reader.read(CHANNEL, 1))
    assert list(both) == [log.entries, log.entries]
    assert clock.pauses == [0.5]
    for place, pauses in ((3, 3), (2, 3), (4, 4), (1, 4)):
        assert await reader.read(CHANNEL, place) == log.entries[place - 1 :]
        assert len(clock.pauses) == pauses
    assert len(log.entries) == 4
    writer.cancel()


@pytest.mark.parametrize("text", [b"{", b"[1]", b'[[1,1,["tick"]]]', b'[[2,1,["tick",9]]]'])
async def test_a_damaged_line_is_refused(text):
    files = MemoryFiles(Script())
    await files.write(log_file(ROOT, CHANNEL), checked(text) + b"\n")
    with pytest.raises(CorruptDataError, match="log/dml_0"):
        await ChannelLog(ROOT, CHANNEL, files=files).load()
    if b"9" not in text:  # a reader counts the entries itself
        reader = FileEntryLog(ROOT, clock=Clock(None), files=files)
        for _ in range(2):
            with pytest.raises(CorruptDataError, match="log/dml_0"):
                await reader.read(CHANNEL, 1)
