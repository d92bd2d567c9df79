"""Query nodes in processes of their own, over the files of a running cluster: each is killed while reads
wait at it, the others answer, and a new one takes over from binlogs and log. Every answer is as promised.
"""

import asyncio
import time
from contextlib import AsyncExitStack

from tests.impl.cluster.audit import wrong_rows
from tests.impl.cluster.parts import COLLECTION, Workload, play
from tidemark.impl.client.client import Result
from tidemark.impl.client.session import Session
from tidemark.impl.cluster.child import child_cluster, start
from tidemark.impl.cluster.config import ClusterConfig
from tidemark.impl.errors import NotServableError
from tidemark.impl.proxy.reads import Reader, ReaderConfig, ReadTask
from tidemark.impl.querynode.remote import RemoteReplica
from tidemark.impl.system.clocks import SystemTimestampClock
from tidemark.impl.timestamp import MILLISECOND
from tidemark.impl.values.consistency import ConsistencyLevel

SIZES = ("--full-buffer-bytes", "600", "--segment-rows", "60", "--query-nodes", "1")
ROUNDS = 3
AHEAD = 500 * MILLISECOND
"""By how much the customized read of a kill is ahead of the last write: it waits until the node is dead."""
CONFIG = ClusterConfig()
CUSTOMIZED, SESSION, STRONG = ConsistencyLevel.CUSTOMIZED, ConsistencyLevel.SESSION, ConsistencyLevel.STRONG


class RemoteOracle:
    """The oracle of the cluster, by way of a proxy."""

    def __init__(self, connection):
        self.connection = connection

    async def alloc(self, count):
        assert count == 1
        return int((await self.connection.call("now"))["ts"])


class Watched(RemoteReplica):
    """A query node. waiting: reads that it has not answered. refused: how many it has failed to answer."""

    waiting = refused = 0

    async def query(self, channel, **asked):
        self.waiting += 1
        try:
            return await super().query(channel, **asked)
        except NotServableError:
            self.refused += 1
            raise
        finally:
            self.waiting -= 1


class Nodes:
    """The query nodes, as ``Replicas`` of which another one is asked first from round to round."""

    def __init__(self):
        self.replicas, self.turn = [], 0

    def of(self, channel):
        return self.replicas[self.turn :] + self.replicas[: self.turn]


class Bench:
    """A cluster, its clients, and query nodes beside it."""

    def __init__(self, root):
        self.root = root
        self.work = Workload(seed=3)
        self.nodes, self.session = Nodes(), Session()

    async def connect(self, cluster):
        self.writer, self.other = await cluster.client(0), await cluster.client(1)
        await self.writer.create(COLLECTION, shards=2)
        for _ in range(20):
            await self.write()
        await self.writer.flush(COLLECTION)
        self.channels = tuple(
            (await self.other.connection.call("channels", collection=COLLECTION))["channels"]
        )
        self.reader = Reader(
            oracle=RemoteOracle(self.other.connection),
            clock=SystemTimestampClock(),
            replicas=self.nodes,
            config=ReaderConfig(graceful_ts=CONFIG.graceful_ts),
        )

    async def query_node(self, name, stack):
        options = ("query-node", "--dir", str(self.root), "--name", name)
        child = await start("tidemark.impl.cluster", *options)
        stack.push_async_callback(child.kill)
        self.nodes.replicas.append(Watched(child.port))
        return child

    async def write(self):
        await self.work.write_once(self.writer, "writer")

    async def read(self, level, *, ahead=0):
        """One read, judged. A customized one names the last acknowledged write, or what is ahead of it."""
        last = max(write.ts or 0 for write in self.work.promises.writes)
        named = {SESSION: self.session.timestamp, CUSTOMIZED: last + ahead}.get(level, 0)
        begun, task = time.monotonic_ns(), ReadTask(level, self.channels, client_ts=named)
        answer = await self.reader.execute(task)
        moments = {channel: answer.moments[channel] for channel in self.channels}
        found = Result({row.key: row.value for row in answer.rows}, task.guarantee, moments)
        assert self.work.promises.broken(found, level=level, client="reader", begun=begun, named=named) == []
        if level is SESSION:
            assert min(moments.values()) >= named, "a session's reads do not go back"
            self.session.saw(found.moment)

    def begin_round(self, *, ahead=0):
        reads = [self.read(level, ahead=ahead) for level in ConsistencyLevel]
        return [asyncio.create_task(one) for one in (self.write(), *reads)]

    async def rounds(self):
        for number in range(ROUNDS):
            self.nodes.turn = number % len(self.nodes.replicas)
            await asyncio.gather(*self.begin_round())

    async def kill_first(self, child):
        """Kill the node that is asked first while it has work. A further page of what was read before shows
        the moments that the first page has shown.
        """
        self.nodes.turn, node = 0, self.nodes.replicas[0]
        first = await self.reader.execute(ReadTask(STRONG, self.channels))
        running = self.begin_round(ahead=AHEAD)
        refused = node.refused
        await asyncio.sleep(self.work.rng.uniform(0, CONFIG.tick_seconds / 2))
        waited = node.waiting
        await child.kill()
        await asyncio.gather(*running)
        assert waited + node.refused - refused > 0, "the kill has met a read"
        further = await self.reader.execute(ReadTask(STRONG, self.channels, page_of=first))
        assert (further.moments, further.rows) == (first.moments, first.rows)
        await self.rounds()
        await self.nodes.replicas.pop(0).close()


async def query_nodes_are_killed(root):
    bench = Bench(root)
    async with child_cluster(root, *SIZES) as cluster, AsyncExitStack() as stack:
        await bench.connect(cluster)
        first, second = [await bench.query_node(name, stack) for name in ("a", "b")]
        await bench.rounds()
        await bench.kill_first(first)
        third = await bench.query_node("a", stack)
        await bench.kill_first(second)
        assert bench.nodes.replicas[0].answered > 0
        await bench.writer.flush(COLLECTION)
        for user in (bench.writer, bench.other, *bench.nodes.replicas):
            await user.close()
        await third.end()
        await cluster.end()
    assert await wrong_rows(root, CONFIG) == {}


def test_every_answer_is_as_promised_while_query_nodes_are_killed(tmp_path):
    play(lambda: query_nodes_are_killed(tmp_path))
