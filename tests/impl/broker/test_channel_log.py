"""The log of a physical channel: order, fences, appends that are settled, what a crash leaves."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from tests.impl.parts import settle
from tidemark.impl.broker.broker import Broker, CoordinatorStreams, ProxyStreams
from tidemark.impl.broker.channel_log import ChannelLog, read_entries
from tidemark.impl.errors import CorruptDataError, RpcError, RpcTimeoutError, UnknownChannelError
from tidemark.impl.proxy.values import AppendOutcome, Message
from tidemark.impl.runtime import Supervisor
from tidemark.impl.storage.file_log import log_file
from tidemark.impl.storage.files import SystemFiles
from tidemark.impl.types import Row
from tidemark.impl.values.messages import DdlMessage, DeleteMessage, InsertMessage, Tick, encode_text

CHANNEL = "dml_0"
SHARD = "dml_0_7v0"
MESSAGES = (
    InsertMessage(5, SHARD, (Row(5, 1, 10, "a"), Row(5, 1, 11, "b"))),
    DeleteMessage(6, SHARD, -2, (10,)),
    DdlMessage(4, SHARD, "create"),
    Tick(6),
)


def insert(ts, *keys, channel=SHARD):
    return InsertMessage(ts, channel, tuple(Row(ts, 1, key, "v") for key in keys))


class SlowFiles(SystemFiles):
    """Forces to the disk only when it may."""

    def __init__(self):
        super().__init__()
        self.may = asyncio.Event()
        self.may.set()
        self.forcing = asyncio.Event()

    async def sync(self, path):
        if not self.may.is_set():
            self.forcing.set()
        await self.may.wait()
        await super().sync(path)


@asynccontextmanager
async def running(tmp_path, **options):
    supervisor = Supervisor()
    broker = Broker(tmp_path, [CHANNEL], **options)
    await broker.start(supervisor.spawn)
    try:
        yield broker
        supervisor.check()
    finally:
        await supervisor.stop()


async def test_entries_come_back_in_order_and_after_a_restart(tmp_path):
    async with running(tmp_path) as broker:
        log = broker.log(CHANNEL)
        places = await asyncio.gather(*(log.append(3, message) for message in MESSAGES))
        assert places == [1, 2, 3, 4]
        assert [entry.message for entry in await broker.read(CHANNEL, 1)] == list(MESSAGES)
    async with running(tmp_path) as broker:
        assert broker.log(CHANNEL).last_tick == 6
        assert [await broker.log(CHANNEL).append(3, Tick(ts)) for ts in (9, 7)] == [5, 6]
        assert broker.log(CHANNEL).last_tick == 9
        assert [entry.place for entry in await broker.read(CHANNEL, 4)] == [4, 5, 6]
        found = await read_entries(tmp_path, CHANNEL)
        assert [(entry.place, entry.source) for entry in found] == [(n, 3) for n in range(1, 7)]


async def test_a_reader_waits_until_there_is_something(tmp_path):
    async with running(tmp_path) as broker:
        reading = asyncio.create_task(broker.read(CHANNEL, 1))
        await settle()
        assert not reading.done()
        await broker.log(CHANNEL).append(1, Tick(2))
        assert [entry.message for entry in await reading] == [Tick(2)]


async def test_a_fence_waits_for_what_is_being_written_and_refuses_the_rest(tmp_path):
    files = SlowFiles()
    async with running(tmp_path, files=files) as broker:
        log = broker.log(CHANNEL)
        await log.append(1, Tick(1))
        files.may.clear()
        writing = asyncio.create_task(log.append(7, Tick(2)))
        await files.forcing.wait()
        waiting = asyncio.create_task(log.append(7, Tick(3)))
        fencing = asyncio.create_task(broker.fence(7))
        await settle()
        assert not fencing.done()
        files.may.set()
        await fencing
        assert writing.done()
        assert await writing == 2
        for late in (waiting, log.append(7, Tick(4))):
            with pytest.raises(RpcError, match="source 7"):
                await late
        assert not log.waiting
        assert await log.append(8, Tick(5)) == 3


async def test_an_append_that_timed_out_is_settled_either_way(tmp_path):
    files = SlowFiles()
    async with running(tmp_path, files=files) as broker:
        streams = ProxyStreams(broker, 7)
        messages = [Message(CHANNEL, ts, encode_text(insert(ts, ts))) for ts in (11, 12)]
        files.may.clear()
        for message in messages:
            with pytest.raises(RpcTimeoutError):
                await streams.append(message, deadline=0.05)
        settling = [asyncio.create_task(streams.settle(message)) for message in messages]
        await settle()
        assert not any(one.done() for one in settling), "the first is being written"
        files.may.set()
        assert await asyncio.gather(*settling) == [AppendOutcome.APPENDED, AppendOutcome.REFUSED]
        assert await ProxyStreams(broker, 8).settle(messages[0]) == AppendOutcome.REFUSED
        with pytest.raises(RpcError, match="given up"):
            await streams.append(messages[1], deadline=1.0)
        assert [entry.message.ts for entry in await broker.read(CHANNEL, 1)] == [11]


async def test_a_new_coordinator_ends_the_turn_of_the_one_before(tmp_path):
    """A tick of the earlier one that is on its way counts."""
    files = SlowFiles()
    async with running(tmp_path, files=files) as broker:
        old = CoordinatorStreams(broker)
        assert await old.last_tick(CHANNEL) == 0
        files.may.clear()
        sending = asyncio.create_task(old.send_tick(CHANNEL, 5))
        await files.forcing.wait()
        new = CoordinatorStreams(broker)
        assert new.source < old.source
        assert await old.is_newest()
        assert not await new.is_newest(), "it has not asked for a tick yet"
        asking = asyncio.create_task(new.last_tick(CHANNEL))
        await settle()
        assert not await old.is_newest(), "a later one has asked, and waits for the answer"
        files.may.set()
        assert await asking == 5
        assert await new.is_newest()
        await sending
        with pytest.raises(RpcError, match="refuses source"):
            await old.send_tick(CHANNEL, 6)
        with pytest.raises(RpcError, match="refuses source"):
            await old.append(DdlMessage(7, SHARD, "create"))
        await new.append(DdlMessage(8, SHARD, "create"))
    async with running(tmp_path) as broker:
        assert CoordinatorStreams(broker).source == -3


async def test_every_log_counts_in_a_fence_and_in_the_number_of_a_coordinator(tmp_path):
    supervisor, broker = Supervisor(), Broker(tmp_path, ["a", "b"])
    await broker.start(supervisor.spawn)
    first = CoordinatorStreams(broker)
    for channel in "ab":
        assert not await first.is_newest()
        await first.last_tick(channel)
    assert await first.is_newest()
    for channel, coordinator in (("a", -3), ("b", -5)):
        await broker.log(channel).follow(coordinator)
        await broker.log(channel).append(coordinator, Tick(1))
    assert broker.next_coordinator() == -6
    await broker.fence(7)
    for log in broker.logs.values():
        with pytest.raises(RpcError, match="refuses source 7"):
            await log.append(7, Tick(2))
    with pytest.raises(UnknownChannelError, match="known: a, b"):
        broker.log("c")
    again = Broker(tmp_path, ["a", "b"])
    await again.start(supervisor.spawn)
    assert again.next_coordinator() == -6
    await supervisor.stop()


async def test_a_gap_in_a_log_is_damage(tmp_path):
    async with running(tmp_path) as broker:
        for ts in (1, 2, 3):
            await broker.log(CHANNEL).append(1, Tick(ts))
    file = log_file(tmp_path, CHANNEL)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0] + lines[2])
    with pytest.raises(CorruptDataError, match="place 3 after 1"):
        await ChannelLog(tmp_path, CHANNEL).load()
