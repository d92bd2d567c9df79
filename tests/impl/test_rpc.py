"""Calls within a process behave like calls over a network."""

import asyncio
from unittest.mock import AsyncMock, Mock, call

import pytest

from tests.impl.parts import CHANNEL, OWNER, VirtualLoop, run, settle
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.direct import DirectCoordinatorClient
from tidemark.impl.datanode.direct import DirectNodeClient
from tidemark.impl.errors import (
    NoTimestampError,
    NotLeaderError,
    RpcError,
    RpcTimeoutError,
    StoreError,
    UnknownChannelError,
)
from tidemark.impl.rpc import Calls
from tidemark.impl.storage.memory import MemoryMetaStore
from tidemark.impl.timestamp import Batch
from tidemark.impl.tso.direct import DirectOracle

CALLS = (
    (DirectCoordinatorClient, call.save_binlog_paths("request"), "answer"),
    (DirectCoordinatorClient, call.update_channel_checkpoints("request"), None),
    (DirectCoordinatorClient, call.recover_channel(CHANNEL, "n", 4), "answer"),
    (DirectCoordinatorClient, call.drop_channel(CHANNEL, OWNER), None),
    (DirectNodeClient, call.flush_channel(CHANNEL, 7), None),
    (DirectNodeClient, call.seal_segments(CHANNEL, (1, 2), expires=9), "answer"),
)
"""The client, a call, and what its caller gets of the "answer"."""


@pytest.mark.parametrize(("client", "asked", "answer"), CALLS, ids=lambda one: getattr(one, "_mock_name", ""))
async def test_a_call_arrives_once_with_its_arguments_and_its_answer_returns(client, asked, answer):
    name, given, named = asked
    handler = (Mock if name == "flush_channel" else AsyncMock)(return_value="answer")
    callee = Mock(**{name: handler})
    found = await getattr(client(callee), name)(*given, **named, deadline=5)
    assert (found, callee.mock_calls) == (answer, [asked])
    assert name == "flush_channel" or handler.await_count == 1


@pytest.mark.parametrize("name", ["flush_channel", "seal_segments"])
@pytest.mark.parametrize(
    ("error", "raised"), [(UnknownChannelError("c"), RpcError), (KeyError("bug"), KeyError)]
)
async def test_a_node_that_does_not_serve_the_channel_is_a_failed_call(name, error, raised):
    handler = (Mock if name == "flush_channel" else AsyncMock)(side_effect=error)
    client = DirectNodeClient(Mock(**{name: handler}))
    given = {"expires": 9} if name == "seal_segments" else {}
    with pytest.raises(raised):
        await getattr(client, name)(CHANNEL, 7, **given, deadline=5)


@pytest.mark.parametrize(
    ("error", "raised"),
    [(NotLeaderError("b"), RpcError), (NoTimestampError("none"), RpcError), (KeyError("bug"), KeyError)],
)
async def test_the_oracle_answers_with_the_last_timestamp_or_refuses(error, raised):
    server = Mock(allocate=AsyncMock(side_effect=[Batch(1, 5), error]))
    assert await DirectOracle(server).alloc(5) == 5
    with pytest.raises(raised):
        await DirectOracle(server).alloc(1)
    assert server.mock_calls == [call.allocate(5), call.allocate(1)]


@pytest.mark.parametrize("error", [None, KeyError("bug"), asyncio.CancelledError()])
def test_a_call_is_kept_until_it_ends_whoever_leaves(error):
    ended = []

    async def work():
        await asyncio.sleep(3)
        ended.append(True)
        if error is not None:
            raise error

    async def scenario():
        calls = Calls()
        loop = asyncio.get_running_loop()
        with pytest.raises(RpcTimeoutError, match="Work: no answer within 1 s"):
            await calls.call(work(), name="Work", deadline=1)
        assert loop.time() == 1
        leaving = asyncio.create_task(calls.call(work(), name="Work", deadline=9))
        await asyncio.sleep(1)
        leaving.cancel()
        await asyncio.wait([leaving])
        assert (leaving.cancelled(), loop.time(), ended) == (True, 2, [])
        assert list(calls.running.values()) == ["Work", "Work"]
        await asyncio.sleep(5)
        assert (ended, calls.running) == ([True, True], {})

    run(scenario(), loop=VirtualLoop)


async def test_a_caller_that_gives_up_does_not_stop_the_callee():
    class SlowMeta(MemoryMetaStore):
        def __init__(self):
            super().__init__()
            self.gate = asyncio.Event()

        async def save_channels(self, records):
            await self.gate.wait()
            await super().save_channels(records)

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


async def test_a_failing_store_is_a_failed_call_and_a_wrong_program_is_not():
    async def fail(error):
        raise error

    calls = Calls()
    with pytest.raises(RpcError, match="Save failed: disk is full; repeat the call"):
        await calls.call(fail(StoreError("disk is full")), name="Save", deadline=1.0)
    with pytest.raises(KeyError):
        await calls.call(fail(KeyError("bug")), name="Save", deadline=1.0)
    await settle()
    assert calls.running == {}
