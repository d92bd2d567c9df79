"""The demonstration of reads: ``python -m tidemark.impl.demo.reads [--seed N] [--rounds N] [--dir PATH]``.

A cluster, a writer, a reader, and two query nodes in processes of their own, over the cluster's files. One of
the query nodes is killed with SIGKILL while reads wait at it; the other one answers; a new one starts from
binlogs and log and takes over. A further page after the kill shows the moments of the first page, and a
client reads page by page while rows are written. Every answer is checked against the promise of its level.
Exit code 0: all are as promised, and no row was lost or stored twice. 1: otherwise, or a kill has met no
read, and has shown nothing. 2: an option or the directory cannot be used. 130: Ctrl-C.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tidemark.impl.client.client import Client, Result
from tidemark.impl.client.session import Session
from tidemark.impl.cluster.child import Child, child_cluster, start
from tidemark.impl.cluster.config import ClusterConfig
from tidemark.impl.cluster.example import promises_of
from tidemark.impl.cluster.promises import Promises, Write
from tidemark.impl.cluster.stored import audit_cluster
from tidemark.impl.errors import NotServableError
from tidemark.impl.proxy.reads import ReadAnswer, Reader, ReaderConfig, ReadTask
from tidemark.impl.querynode.remote import RemoteReplica
from tidemark.impl.querynode.values import ShardAnswer
from tidemark.impl.system.clocks import SystemTimestampClock
from tidemark.impl.system.command import is_free, run_command
from tidemark.impl.system.connection import Connection
from tidemark.impl.timestamp import MILLISECOND, Interval, Timestamp
from tidemark.impl.types import ChannelName
from tidemark.impl.values.consistency import ConsistencyLevel

COLLECTION = "c"
SIZES = ("--full-buffer-bytes", "600", "--segment-rows", "60", "--query-nodes", "1")
TIME_LIMIT_SECONDS = 120.0
AHEAD = 500 * MILLISECOND
"""The customized read of a kill is this far ahead of the last write: it waits until the node is killed."""
PAGE_SIZE = 7
CONFIG = ClusterConfig()


class RemoteOracle:
    """The oracle of the cluster, by way of a proxy."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def alloc(self, count: int) -> Timestamp:
        """See Oracle: one timestamp at a time."""
        assert count == 1
        return int((await self._connection.call("now"))["ts"])


class Watched(RemoteReplica):
    """A query node. waiting: its unanswered reads. refused: how many it has failed to answer."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.waiting = 0
        self.refused = 0

    async def query(
        self,
        channel: ChannelName,
        *,
        guarantee: Timestamp,
        mvcc: Timestamp | None,
        keys: tuple[int, ...] | None,
        deadline: float,
    ) -> ShardAnswer:
        """See Replica."""
        self.waiting += 1
        try:
            return await super().query(channel, guarantee=guarantee, mvcc=mvcc, keys=keys, deadline=deadline)
        except NotServableError:
            self.refused += 1
            raise
        finally:
            self.waiting -= 1


@dataclass
class Nodes:
    """The query nodes: a ``Replicas`` whose first one changes from read to read."""

    replicas: list[Watched] = field(default_factory=list)
    turn: int = 0

    def of(self, channel: ChannelName) -> Sequence[Watched]:
        """See Replicas."""
        del channel
        return self.replicas[self.turn :] + self.replicas[: self.turn]


class Story:
    """Plays the demonstration. ``wrong``: the broken promises."""

    def __init__(self, directory: Path, *, seed: int, rounds: int) -> None:
        self.directory = directory
        self.rng = random.Random(seed)
        self.rounds = rounds
        self.promises: Promises = promises_of(CONFIG)
        self.wrong: list[str] = []
        self.reads: Counter[ConsistencyLevel] = Counter()
        self.nodes = Nodes()
        self.session = Session()
        self.keys: list[int] = []
        self.written = 0

    async def play(self) -> None:
        """All chapters."""
        async with child_cluster(self.directory, *SIZES) as cluster, AsyncExitStack() as stack:
            writer, asker = await cluster.client(0), await cluster.client(1)
            await writer.create(COLLECTION, shards=2)
            for _ in range(20):
                await self._write(writer)
            await writer.flush(COLLECTION)
            found = await asker.connection.call("channels", collection=COLLECTION)
            reader = Reader(
                oracle=RemoteOracle(asker.connection),
                clock=SystemTimestampClock(),
                replicas=self.nodes,
                config=ReaderConfig(graceful_ts=CONFIG.graceful_ts),
            )
            channels = tuple(found["channels"])
            first, second = [await self._query_node(name, stack) for name in ("a", "b")]
            play = partial(self._chapter, writer, asker, reader, channels)
            await play("two query nodes")
            await play("a is killed with SIGKILL", kill=first)
            self.nodes.replicas.pop(0)
            third = await self._query_node("a again", stack)
            await play("b is killed", kill=second, turn=0)
            await writer.flush(COLLECTION)
            for client in (writer, asker):
                await client.close()
            for replica in self.nodes.replicas:
                await replica.close()
            await third.end()
            await cluster.end()

    async def _query_node(self, name: str, stack: AsyncExitStack) -> Child:
        child = await start(
            "tidemark.impl.demo.query_process", "--dir", str(self.directory), "--node-id", name
        )
        stack.push_async_callback(child.kill)
        self.nodes.replicas.append(Watched(child.port))
        say(f"query node {name} serves after {child.seconds:.1f} s")
        return child

    async def _chapter(
        self,
        writer: Client,
        asker: Client,
        reader: Reader,
        channels: tuple[ChannelName, ...],
        title: str,
        *,
        kill: Child | None = None,
        turn: int | None = None,
    ) -> None:
        """Rounds of a write and a read at each level at the same time, with the kill in one of them. In the
        first round a client reads page by page, too.
        """
        before, met = self.promises.judged, ""
        for number in range(self.rounds):
            self.nodes.turn = number % len(self.nodes.replicas) if turn is None else turn
            killed = kill if number == 0 else None
            if killed is not None:
                self.nodes.turn = 0
            ahead = 0 if killed is None else AHEAD
            reads = [self._read(reader, channels, level, ahead=ahead) for level in ConsistencyLevel]
            work = [self._write(writer), *reads, *([self._pages(asker, channels)] if number == 0 else [])]
            if killed is None:
                await asyncio.gather(*work)
            else:
                met = await self.kill_under_work(killed, reader, channels, work)
        answered = ", ".join(str(replica.answered) for replica in self.nodes.replicas)
        say(f"{title}: {self.promises.judged - before} reads{met}; shards answered by node: {answered}")

    async def kill_under_work(
        self,
        kill: Child,
        reader: Reader,
        channels: tuple[ChannelName, ...],
        work: Sequence[Coroutine[Any, Any, None]],
    ) -> str:
        """Kill the first node while it has work, and ask for a further page of an earlier read. Returns the
        reads that the kill has met; without one the kill shows nothing, and is an error.
        """
        node = self.nodes.replicas[0]
        first = await reader.execute(ReadTask(ConsistencyLevel.STRONG, channels))
        running = [asyncio.create_task(one) for one in work]
        refused = node.refused
        await asyncio.sleep(self.rng.uniform(0, CONFIG.tick_seconds / 2))
        waited = node.waiting
        await kill.kill()
        await asyncio.gather(*running)
        failed = node.refused - refused
        if not waited and not failed:
            self.wrong.append("the kill has met no read: none waited at the query node, and none was refused")
        await self._further_page(reader, channels, first)
        return f", {waited} of shards waited at it and {failed} were refused"

    async def _further_page(
        self, reader: Reader, channels: tuple[ChannelName, ...], first: ReadAnswer
    ) -> None:
        found = await reader.execute(ReadTask(ConsistencyLevel.STRONG, channels, page_of=first))
        if (found.moments, found.rows) != (first.moments, first.rows):
            self.wrong.append(f"a further page shows {found.moments}, and the first one {first.moments}")

    async def _pages(self, asker: Client, channels: tuple[ChannelName, ...]) -> None:
        begun, found = time.monotonic_ns(), list[Result]()
        async for page in asker.pages(COLLECTION, size=PAGE_SIZE, level=ConsistencyLevel.STRONG):
            found.append(page)
            await asyncio.sleep(CONFIG.tick_seconds / 2)
        rows = {key: value for page in found for key, value in page.rows.items()}
        moments = {channel: found[-1].moments[channel] for channel in channels}
        answer = Result(rows, found[0].guarantee, moments)
        self.wrong.extend(
            self.promises.broken(answer, level=ConsistencyLevel.STRONG, client="asker", begun=begun)
        )

    async def _write(self, writer: Client) -> None:
        if self.keys and self.rng.random() < 0.3:
            keys = [self.keys.pop(self.rng.randrange(len(self.keys)))]
        else:
            keys = []
        writes = [Write(key, "writer", deletes=True) for key in keys]
        rows = {}
        if not keys:
            rows = {
                self.written + n: f"{self.rng.getrandbits(32):08x}" for n in range(self.rng.randint(1, 5))
            }
            self.written += len(rows)
            writes = [Write(key, "writer") for key in rows]
        self.promises.writes += writes
        ts = await (writer.insert(COLLECTION, rows) if rows else writer.delete(COLLECTION, keys))
        for write in writes:
            write.ts, write.ended = ts, time.monotonic_ns()
        self.keys.extend(rows)

    async def _read(
        self, reader: Reader, channels: tuple[ChannelName, ...], level: ConsistencyLevel, *, ahead: Interval
    ) -> None:
        named = {
            ConsistencyLevel.SESSION: self.session.timestamp,
            ConsistencyLevel.CUSTOMIZED: max(
                (w.ts for w in self.promises.writes if w.ts is not None), default=0
            )
            + ahead,
        }.get(level, 0)
        begun = time.monotonic_ns()
        task = ReadTask(level, channels, client_ts=named)
        answer = await reader.execute(task)
        rows = {row.key: row.value for row in answer.rows}
        found = Result(rows, task.guarantee, {channel: answer.moments[channel] for channel in channels})
        self.wrong.extend(self.promises.broken(found, level=level, client="reader", begun=begun, named=named))
        if level is ConsistencyLevel.SESSION:
            if min(found.moments.values()) < named:
                self.wrong.append(f"a session read goes back from {named} to {found.moments}")
            self.session.saw(found.moment)
        self.reads[level] += 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration. The exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tidemark.impl.demo.reads", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of the rows and of the kills (default 1)")
    parser.add_argument("--rounds", type=int, default=8, help="rounds of each chapter (default 8)")
    parser.add_argument("--dir", type=Path, help="an empty directory to work in (default: a temporary one)")
    given = parser.parse_args(arguments)
    if given.rounds < 1:
        parser.error(f"--rounds is {given.rounds}; it must be at least 1")
    with ExitStack() as stack:
        directory = given.dir
        if directory is None:
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tidemark-reads-")))
        elif not is_free(directory):  # what others have left would count as lost
            parser.error(f"--dir {directory} is not an empty directory; name another one")
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as failure:
            parser.error(f"--dir {directory} cannot be made: {failure.strerror}")
        return run_command("demo", lambda: told(directory, seed=given.seed, rounds=given.rounds))


async def told(directory: Path, *, seed: int, rounds: int) -> int:
    """Play, and check the stored rows. The exit code."""
    story = Story(directory, seed=seed, rounds=rounds)
    async with asyncio.timeout(TIME_LIMIT_SECONDS):
        await story.play()
        stored = await audit_cluster(directory, CONFIG)
    for sentence in story.wrong[:5]:
        say(f"  {sentence}")
    say(", ".join(f"{level.value} {story.reads[level]}" for level in ConsistencyLevel))
    say(f"stored: {stored.describe()}")
    good = not story.wrong and stored.clean and all(story.reads[level] for level in ConsistencyLevel)
    say(f"all {story.promises.judged} answers are as promised" if good else "WRONG: see above")
    return 0 if good else 1


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
