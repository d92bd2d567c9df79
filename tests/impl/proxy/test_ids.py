"""The proxy's ids on a plain event loop: runs, concurrency, cancellation, failure."""

import asyncio
from itertools import chain
from unittest.mock import AsyncMock

import pytest

from tests.impl.parts import settle
from tidemark.impl.errors import NoTimestampError, NotLeaderError, RpcError
from tidemark.impl.proxy.ids import IdCache
from tidemark.impl.rootcoord.ids import IdAllocator
from tidemark.impl.runtime import NoPreemption, Supervisor
from tidemark.impl.timestamp import Batch


class Source:
    """A coordinator that answers when it may; ``asked``: how many ids each question was for."""

    def __init__(self, *, most: int = 10) -> None:
        self.asked: list[int] = []
        self.fails = False
        self.may_answer = asyncio.Event()
        self.was_asked = asyncio.Event()
        self._most = most
        self._given = 0

    async def allocate(self, count: int = 1, *, deadline: float = 0.0) -> Batch:
        del deadline
        self.asked.append(count)
        self.was_asked.set()
        await self.may_answer.wait()
        if self.fails:
            raise RpcError("it is down")
        first = self._given + 1
        self._given += min(count, self._most)
        return Batch(first, self._given)


def _cache(source: Source, supervisor: Supervisor) -> IdCache:
    return IdCache(source=source, preemption=NoPreemption(), spawn=supervisor.spawn, batch=4, deadline=1.0)


def _ids(runs: tuple[Batch, ...]) -> list[int]:
    return list(chain.from_iterable(range(run.first, run.last + 1) for run in runs))


async def test_a_caller_that_leaves_loses_no_batch():
    source = Source()
    cache = _cache(source, Supervisor())
    leaves, stays = (asyncio.create_task(cache.take(2)) for _ in range(2))
    await source.was_asked.wait()
    leaves.cancel()
    source.may_answer.set()
    assert _ids(await stays) == [1, 2]
    assert source.asked == [4]
    assert leaves.cancelled()
    assert not cache.waiting


async def test_all_who_wait_are_told_of_a_failure_and_later_ones_ask_again():
    source = Source()
    source.fails = True
    cache = _cache(source, Supervisor())
    waiting = [asyncio.create_task(cache.take(1)) for _ in range(3)]
    await source.was_asked.wait()
    source.may_answer.set()
    answers = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(answer) for answer in answers] == [RpcError] * 3
    assert "it is down" in str(answers[0])
    assert source.asked == [4]
    source.fails = False
    assert _ids(await cache.take(1)) == [1]


@pytest.mark.parametrize("count", [0, -1])
async def test_none_is_not_asked_for(count: int):
    source = Source()
    with pytest.raises(ValueError, match=f"at least 1, got {count}"):
        await _cache(source, Supervisor()).take(count)
    with pytest.raises(ValueError, match=f"at least 1, got {count}"):
        await IdAllocator(oracle=source, most=5).allocate(count)
    with pytest.raises(ValueError, match=f"most is {count}"):
        IdAllocator(oracle=source, most=count)
    assert source.asked == []


async def test_a_batch_is_no_larger_than_the_coordinator_allows():
    source = Source()
    source.may_answer.set()
    assert await IdAllocator(oracle=source, most=5).allocate(7) == Batch(1, 5)
    assert await IdAllocator(oracle=source, most=5).allocate(1) == Batch(6, 6)
    assert await IdAllocator(oracle=source, most=1).allocate(2) == Batch(7, 7)
    assert source.asked == [5, 1, 1]


@pytest.mark.parametrize(
    ("error", "told"),
    [(NotLeaderError("f"), RpcError), (NoTimestampError("f"), RpcError), (RuntimeError("f"), RuntimeError)],
)
async def test_an_oracle_without_ids_is_a_failed_call_and_a_defect_is_not_hidden(error, told):
    oracle = AsyncMock()
    oracle.allocate.side_effect = error
    with pytest.raises(told, match="f"):
        await IdAllocator(oracle=oracle, most=5).allocate(1)


async def test_a_defect_of_the_source_is_the_failure_of_the_process():
    source, supervisor = AsyncMock(), Supervisor()
    source.allocate.side_effect = RuntimeError("a defect")
    asked = asyncio.create_task(_cache(source, supervisor).take(1))
    await settle()
    assert str(supervisor.failure) == "a defect"
    asked.cancel()


async def test_the_ids_of_a_caller_that_leaves_are_left_out():
    """It has one of three, and leaves when the others have come: ids between two batches are not given."""

    async def allocate(count, *, deadline):
        if len(batches) == 2:
            leaves.cancel()
        return batches.pop(0)

    batches = [Batch(1, 1), Batch(11, 13), Batch(21, 24)]
    cache = _cache(AsyncMock(allocate=allocate), Supervisor())
    leaves, stays = (asyncio.create_task(cache.take(count)) for count in (3, 4))
    assert _ids(await stays) == [11, 12, 13, 21]
    assert leaves.cancelled()
