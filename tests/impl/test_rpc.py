"""Calls within a process behave like calls over a network."""

import asyncio

import pytest

from tests.impl.parts import CHANNEL, pack, run, settle
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.direct import DirectCoordinatorClient
from tidemark.impl.errors import RpcError, RpcTimeoutError, StoreError
from tidemark.impl.rpc import Calls
from tidemark.impl.storage.memory import MemoryLog, MemoryMetaStore, MemoryObjectStore
from tidemark.impl.types import EndPosition


def test_a_caller_that_gives_up_does_not_stop_the_callee():
    class SlowMeta(MemoryMetaStore):
        def __init__(self):
            super().__init__()
            self.gate = asyncio.Event()

        async def save_channels(self, records):
            await self.gate.wait()
            await super().save_channels(records)

    async def scenario():
        meta = SlowMeta()
        coordinator = Coordinator(meta=meta)
        assigning = asyncio.create_task(coordinator.assign(CHANNEL, "a"))
        client = DirectCoordinatorClient(coordinator)
        meta.gate.set()
        await assigning
        meta.gate.clear()
        with pytest.raises(RpcTimeoutError, match=r"RecoverChannel: no answer within 0\.01 s"):
            await client.recover_channel(CHANNEL, "a", 1, deadline=0.01)
        assert coordinator.channel(CHANNEL).term == 1
        meta.gate.set()
        await settle()
        assert coordinator.channel(CHANNEL).term == 2

    run(scenario())


def test_a_failing_store_is_a_failed_call_and_a_wrong_program_is_not():
    async def fail(error):
        raise error

    async def scenario():
        calls = Calls()
        with pytest.raises(RpcError, match="Save failed: disk is full; repeat the call"):
            await calls.call(fail(StoreError("disk is full")), name="Save", deadline=1.0)
        with pytest.raises(KeyError):
            await calls.call(fail(KeyError("bug")), name="Save", deadline=1.0)
        await settle()
        assert calls.running == {}

    run(scenario())


def test_the_log_in_memory_wakes_its_readers_and_refuses_gaps():
    async def scenario():
        log = MemoryLog()
        waiting = asyncio.create_task(log.next_pack(CHANNEL, EndPosition(0)))
        await settle()
        assert not waiting.done()
        await log.append(CHANNEL, pack(2, start=0))
        assert (await waiting).end == EndPosition(2)
        with pytest.raises(ValueError, match="pack starts at 3 but 'channel-1' ends at 2"):
            await log.append(CHANNEL, pack(4))

    run(scenario())


def test_an_object_that_was_never_written_is_an_error():
    async def scenario():
        with pytest.raises(StoreError, match="there is no object 'a'"):
            await MemoryObjectStore().get("a")

    run(scenario())
