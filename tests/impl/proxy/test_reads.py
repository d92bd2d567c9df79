"""The proxy's read path: guarantees by level, further pages, several channels and replicas."""

import asyncio

import pytest

from tests.impl.parts import run
from tidemark.impl.client.session import Session
from tidemark.impl.errors import NotServableError, RpcError, UnknownChannelError
from tidemark.impl.proxy.reads import Reader, ReaderConfig, ReadTask
from tidemark.impl.querynode.values import ShardAnswer
from tidemark.impl.types import Row
from tidemark.impl.values.consistency import ConsistencyLevel


class World:
    """An oracle at 100, a clock at 90, and replicas that note what they were asked."""

    def __init__(self, **answers):
        self.asked, self.answers = [], answers

    async def alloc(self, count):
        return 100

    def now(self):
        return 90

    def of(self, channel):
        return [Asked(self, answer) for answer in self.answers[channel]]

    def reader(self):
        return Reader(oracle=self, clock=self, replicas=self, config=ReaderConfig(graceful_ts=15))


class Asked:
    def __init__(self, world, answer):
        self.world, self.answer = world, answer

    async def query(self, channel, *, guarantee, mvcc, keys, deadline):
        self.world.asked.append((channel, guarantee, mvcc))
        await asyncio.sleep(0)
        if isinstance(self.answer, RpcError):
            raise self.answer
        return self.answer


def answer(moment, *rows):
    return ShardAnswer(moment, tuple(Row(ts, 1, key) for ts, key in rows))


@pytest.mark.parametrize(
    ("level", "guarantee"),
    [
        (ConsistencyLevel.STRONG, 100),
        (ConsistencyLevel.SESSION, 42),
        (ConsistencyLevel.BOUNDED, 75),
        (ConsistencyLevel.EVENTUALLY, 0),
        (ConsistencyLevel.CUSTOMIZED, 42),
    ],
)
def test_each_level_has_its_guarantee(level, guarantee):
    async def scenario():
        world = World(a=[answer(200)])
        await world.reader().read(level, ["a"], client_ts=42)
        assert world.asked == [("a", guarantee, None)]

    run(scenario())


def test_all_channels_have_one_guarantee_and_further_pages_their_moments():
    async def scenario():
        world = World(a=[answer(120, (3, 1))], b=[answer(110, (2, 2), (4, 3))])
        reader = world.reader()
        first = await reader.read(ConsistencyLevel.STRONG, ["a", "b"])
        assert [(row.ts, row.key) for row in first.rows] == [(2, 2), (3, 1), (4, 3)]
        assert first.moment == 120
        session = Session()
        session.wrote(119)
        session.saw(first.moment)
        session.wrote(118)
        assert session.timestamp == 120
        world.asked.clear()
        await reader.execute(ReadTask(ConsistencyLevel.STRONG, ("a", "b"), page_of=first))
        assert world.asked == [("a", 120, 120), ("b", 110, 110)]
        with pytest.raises(UnknownChannelError, match="channel 'c', and its first page shows a, b"):
            await reader.execute(ReadTask(ConsistencyLevel.STRONG, ("a", "c"), page_of=first))

    run(scenario())


def test_another_replica_is_asked_with_the_same_guarantee_and_no_replica_is_an_error():
    async def scenario():
        world = World(a=[NotServableError("released"), answer(120)], b=[], c=[RpcError("down")])
        reader = world.reader()
        await reader.read(ConsistencyLevel.STRONG, ["a"])
        assert world.asked == [("a", 100, None), ("a", 100, None)]
        with pytest.raises(NotServableError, match="no replica"):
            await reader.read(ConsistencyLevel.EVENTUALLY, ["b"])
        with pytest.raises(RpcError, match="down"):
            await reader.read(ConsistencyLevel.EVENTUALLY, ["c"])

    run(scenario())
