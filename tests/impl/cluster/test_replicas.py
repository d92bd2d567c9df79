"""The query nodes of a cluster: who serves what, who answers whom, and what is loaded when.

The nodes are stand-ins that take up channels as fast as a test says, and note their calls.
"""

import asyncio
from contextlib import suppress

import pytest

from tests.impl.parts import VirtualLoop, settle
from tidemark.impl.cluster.replicas import ReplicaSet, describe
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.errors import ReplicaClosedError
from tidemark.impl.queries.reads import AskedRead
from tidemark.impl.queries.values import QueryRequest
from tidemark.impl.querynode.values import ChannelDescription, LoadSegment, ShardAnswer
from tidemark.impl.runtime import Supervisor
from tidemark.impl.storage.memory import MemoryMetaStore
from tidemark.impl.stream.packs import StreamPosition
from tidemark.impl.types import BinlogRecord, ChannelRecord, EndPosition, SegmentRecord

LOOP = VirtualLoop
CHANNELS = {"a": ("a0", "a1"), "b": ("b0",)}


def segment(number, channel, *, flushed=True, positions=(3,)):
    binlogs = (BinlogRecord(f"{channel}/{number}", positions),) if positions else ()
    return SegmentRecord(number, channel, EndPosition(9), flushed=flushed, binlogs=binlogs)


LEVELS = (segment(-2, "a0", positions=(30, 33)), segment(-1, "a0", flushed=False, positions=(35,)))
FLUSHED, OTHER = (segment(1, "a0"), segment(4, "a0")), segment(5, "b0")
SEGMENTS = (*LEVELS, *FLUSHED, segment(2, "a0", flushed=False), segment(3, "a0", positions=()), OTHER)


class Node:
    """Stands for a query node. taken: the channels that it serves. sealed: their segments."""

    def __init__(self, bench, number):
        self.node_id, self.bench = f"node {number}", bench
        self.supervisor = Supervisor()
        self.taken, self.sealed, self.calls = [], [], []
        self.stopped = False

    async def watch(self, description):
        if description.channel in self.taken:
            raise ValueError(f"{self.node_id} serves {description.channel} already")
        self.taken.append(description.channel)
        await asyncio.sleep(self.bench.slow)
        self.serves_sealed(description.channel, 0)
        await self.bench.taken_up()

    async def release(self, channel):
        self.taken.remove(channel)

    async def stop(self):
        self.taken, self.stopped = [], True
        await self.supervisor.stop()

    def serves_sealed(self, channel, number):
        if channel not in self.taken:
            raise ReplicaClosedError(f"{self.node_id} does not serve {channel}")
        return number in self.sealed

    async def load_segment(self, channel, request):
        self.serves_sealed(channel, 0)
        self.calls.append(("load", channel, request))
        self.sealed.append(request.record.segment_id)

    def trim_deletes(self, channel, upto):
        self.serves_sealed(channel, 0)
        self.calls.append(("trim", channel, upto))

    async def serve(self, channel, read, *, deadline):
        self.serves_sealed(channel, 0)
        await asyncio.sleep(self.bench.answers_after)
        return ShardAnswer(7, ())


class Bench:
    """Two nodes. slow: seconds in which they take up a channel. made: also those that have ended."""

    slow = answers_after = 0.0

    async def begin(self):
        self.made, self.number = [], 0
        self.released_when_taken_up = None
        meta = MemoryMetaStore()
        await meta.save_channels(
            [ChannelRecord(channel, checkpoint=at) for channel, at in (("a0", 40), ("a1", 41), ("b0", 42))]
        )
        for record in SEGMENTS:
            await meta.save_segment(record)
        self.coordinator = Coordinator(meta=meta)
        await self.coordinator.load()
        self.set = ReplicaSet(coordinator=self.coordinator, make=self.make, count=2)
        self.results = self.set.queries.results()
        return self

    def make(self, number):
        self.made.append(Node(self, number))
        return self.made[-1]

    async def taken_up(self):
        """A collection may be released in the moment in which a node has taken it up."""
        collection, self.released_when_taken_up = self.released_when_taken_up, None
        if collection is not None:
            await self.set.release(collection)

    async def load(self, *collections):
        for collection in collections:
            await self.set.load(collection, CHANNELS[collection])

    async def asked(self, collection):
        """Who answers a read now: True, or refuses: False. None: the collection is not loaded."""
        self.number += 1
        read = AskedRead(
            channels=CHANNELS[collection], guarantee=3, moments={}, keys=None, nearest=None, deadline=9
        )
        try:
            writer = await self.set.queries.channels(collection)
        except ReplicaClosedError:
            return None
        await writer.write(QueryRequest(self.number, collection, read))
        await settle()
        return self.heard()

    def heard(self):
        found = [self.results.left.get_nowait() for _ in range(self.results.left.qsize())]
        return {one.node: one.refusal is None for one in found if one.number == self.number}

    async def serves(self, *collections, nodes=("node 0", "node 1")):
        """These collections are loaded at these nodes, which answer; and no others anywhere."""
        channels = [channel for collection in collections for channel in CHANNELS[collection]]
        assert sorted(self.set.channels) == channels
        assert sorted(node.node_id for node in self.set.nodes.values()) == list(nodes)
        for node in self.made:
            lives = node in self.set.nodes.values()
            assert (sorted(node.taken), node.stopped) == (channels if lives else [], not lives)
            assert len(node.supervisor._tasks) == (len(collections) if lives else 0)
        for collection in CHANNELS:
            answered = dict.fromkeys(nodes, True) if collection in collections else None
            assert await self.asked(collection) == answered


@pytest.fixture
def bench():
    return Bench().begin()


async def test_each_node_serves_what_is_loaded(bench):
    await bench.serves()
    await bench.load("a", "a", "b")
    await bench.serves("a", "b")
    for _ in range(2):
        await bench.set.release("a")
        await bench.serves("b")
    await bench.load("a")
    await bench.serves("a", "b")
    await bench.set.stop()
    assert [node.stopped for node in bench.made] == [True, True]


async def test_a_node_that_comes_again_serves_what_is_loaded_by_then(bench):
    await bench.load("a", "b")
    await bench.set.kill(0)
    await bench.serves("a", "b", nodes=["node 1"])
    await bench.set.revive(0)
    await bench.serves("a", "b")
    await bench.set.kill(1)
    await bench.set.release("b")
    await bench.set.revive(1)
    await bench.serves("a")


async def test_what_is_released_while_a_node_comes_is_released_there_too(bench):
    await bench.load("a")
    await bench.set.kill(0)
    bench.slow = 2
    reviving = asyncio.create_task(bench.set.revive(0))
    await asyncio.sleep(1)
    bench.slow = 0
    await bench.set.release("a")
    with suppress(ReplicaClosedError):
        await reviving
    await bench.serves()


async def test_a_request_in_flight_at_a_node_that_is_killed_is_refused_in_its_name(bench):
    await bench.load("a")
    bench.answers_after = 9
    assert await bench.asked("a") == {}
    await bench.set.kill(1)
    assert bench.heard() == {"node 1": False}


async def test_a_collection_that_is_released_when_it_is_taken_up_is_not_served(bench):
    bench.slow = 2
    bench.released_when_taken_up = "b"
    await bench.load("b")
    await asyncio.sleep(3)
    await bench.serves()
    await bench.load("b")
    await bench.serves("b")


async def test_a_flushed_segment_is_loaded_once_with_all_deletes_which_then_go(bench):
    await bench.load("a", "b")
    loads = [("load", "a0", LoadSegment(record, LEVELS, 40)) for record in FLUSHED]
    trims = [("trim", "a0", 40), ("trim", "a1", 41), ("trim", "b0", 42)]
    await bench.set.nodes[0].release("a0")
    await bench.set.load_flushed()
    other = ("load", "b0", LoadSegment(OTHER, (), 42))
    first, second = bench.made
    assert first.calls == [trims[1], other, trims[2]], "a node that misses a channel holds up no other"
    assert second.calls == [*loads, trims[0], trims[1], other, trims[2]]
    second.calls.clear()
    await bench.set.load_flushed()
    assert second.calls == trims


async def test_a_channel_is_described_as_it_is_recorded(bench):
    mine = tuple(one for one in SEGMENTS if one.channel == "a0")
    whole = ChannelDescription("a0", StreamPosition(0, 40), bench.coordinator.segments_of("a0"))
    assert set(whole.segments) == set(mine)
    assert describe(bench.coordinator, "a0") == whole
    rows = tuple(one for one in whole.segments if one.segment_id > 0)
    later = ChannelDescription("a0", StreamPosition(0, 29), rows)
    assert describe(bench.coordinator, "a0", levels=False) == later


async def test_the_failure_of_a_node_is_raised(bench):
    async def fails():
        raise RuntimeError("broken")

    bench.set.check()
    bench.set.nodes[1].supervisor.spawn(fails, "a task")
    await settle()
    with pytest.raises(RuntimeError, match="broken"):
        bench.set.check()
