"""Collection of garbage beside writers, as a program under exploration: the real coordinator, its collector,
and a channel that is taken up, dropped, and created again.

A data node is a plan: it writes a file, and then has it recorded. Everything is in one process, which may
crash at any step; metadata and files stay. What a node of an earlier term writes comes whenever it likes. The
claims are those of ``tidemark.spec.garbage``, said of files and records; no specification is followed step by
step.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence
from contextlib import suppress

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.garbage import FileReaders, GarbageCollector
from tidemark.impl.storage.memory import MemoryMetaStore
from tidemark.impl.types import (
    LOG_BEGINNING,
    BinlogRecord,
    ChannelRecord,
    EndPosition,
    MetaSnapshot,
    Owner,
    SaveBinlogPaths,
    SaveOutcome,
    SegmentId,
    SegmentRecord,
)
from tidemark.models.protocols.common.at_once import finish
from tidemark.models.simulation.program import Observation, Program
from tidemark.models.simulation.settings import ClockOrder, FaultBudget, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

CHANNEL, NODE, CLUSTER = "channel", "node", "cluster"
NAMED = "named_files_are_there"
"""Claim id: each file that a record of a living collection names is in the store."""
READ = "files_that_are_read_are_there"
"""Claim id: each file that a reader was given is in the store until it gives it back."""
GONE = "files_without_a_record_go"
"""Claim id: at the end no file of a dropped collection is left, and no other one without a record."""


class GarbageProgram(Program):
    """One channel.

    Args:
        plan: what becomes of the channel, one after another: ``take``, ``drop``, ``create``. With each
            ``take`` a node writes a file and has it recorded.
        readers: a reader is given each recorded file, reads it, and gives it back.
        crashes: how often everything may crash.
        collector: class of the collector.
    """

    claims = (NAMED, READ, GONE)

    def __init__(
        self, *, plan: Sequence[str], readers: bool, crashes: int, collector: type[GarbageCollector]
    ) -> None:
        self.settings = Settings(
            clock=ClockOrder.UNTIMED, faults=FaultBudget(crashes=crashes), crashable=frozenset({CLUSTER})
        )
        self.plan, self.with_readers = plan, readers
        self.files: set[str] = set()
        self.done = 0
        self.covers: set[str] = set()
        self.wrong: str | None = None
        self._collector_class = collector
        self._stored = MemoryMetaStore()
        finish(self._stored.save_channels([ChannelRecord(CHANNEL)]))

    def build(self, world: World) -> None:
        """Define the process."""
        self.world = world
        world.process(CLUSTER, self._run, daemon=True)

    async def _run(self, process: Process) -> None:
        self.news = asyncio.Event()
        self.news.set()
        self.forgotten = asyncio.Event()
        self.readers = FileReaders()
        self.syncing: dict[str, str] = {}
        self.coordinator = Coordinator(meta=self)
        self.collector = self._collector_class(
            coordinator=self.coordinator, folder=self, readers=self.readers, preemption=process
        )
        self.looks = ""
        await self.coordinator.load()
        process.spawn(self._collect(process), "collector")
        process.spawn(self._plan(process), "plan")

    async def _collect(self, process: Process) -> None:
        """Look at everything anew whenever something has changed."""
        while True:
            await self.news.wait()
            self.news.clear()
            await process.point("collector.come")
            await self.collector.collect()
            if self.coordinator.channel(CHANNEL).collected:
                self.forgotten.set()

    # What becomes of the channel.

    async def _plan(self, process: Process) -> None:
        while self.done < len(self.plan):
            await process.point("plan.come")
            step = self.plan[self.done]
            if step == "take":
                await self._take(process)
            elif step == "drop":
                await self._drop()
            else:
                if not self.coordinator.channel(CHANNEL).collected:
                    await self.forgotten.wait()
                await self.coordinator.create_channel(CHANNEL, LOG_BEGINNING)
            self.covers.add(step)
            self.done += 1

    async def _take(self, process: Process) -> None:
        """The node begins another incarnation, and syncs a segment of its own."""
        answer = await self.coordinator.recover_channel(CHANNEL, NODE)
        owner = answer.owner
        process.spawn(self._sync(process, owner), f"sync {owner.term}")

    async def _drop(self) -> None:
        record = self.coordinator.channel(CHANNEL)
        if not record.dropped:
            await self.coordinator.drop_channel(CHANNEL, Owner(NODE, record.term))

    async def _sync(self, process: Process, owner: Owner) -> None:
        """Write the file, and have it recorded: also when another incarnation has begun meanwhile."""
        segment, end = owner.term, EndPosition(owner.term)
        path = f"{CHANNEL}/segment-{segment}/term-{owner.term:06d}-position-{end.ts:020d}"
        self.syncing[path] = "new"
        await process.point("node.sync")
        await self.world.operation(f"put {path}", lambda: self._put(path))
        self.syncing[path] = "put"
        binlog = BinlogRecord(path, (end.ts,))
        outcome = await self.coordinator.save_binlog_paths(
            SaveBinlogPaths(CHANNEL, owner, segment, end, binlog)
        )
        del self.syncing[path]
        self.covers.add(outcome.value)
        if self.with_readers and outcome is SaveOutcome.RECORDED:
            await self._read(process, path)

    async def _read(self, process: Process, path: str) -> None:
        """A reader is given the file if a record of a living channel names it."""
        await process.point("reader.come")
        if self.coordinator.channel(CHANNEL).dropped or path not in self._named():
            return
        self.readers.lend(path, [path])
        await process.point("reader.read")
        self._compare()
        self.readers.give_back(path)
        self.covers.add("a reader")
        self.news.set()

    def _put(self, path: str) -> None:
        self.files.add(path)
        self._changed()

    # What must be so.

    def _named(self) -> set[str]:
        """By the stored records, of a living channel."""
        if self._stored.channels[CHANNEL].dropped:
            return set()
        return {one.path for record in self._stored.segments.values() for one in record.binlogs}

    def _changed(self) -> None:
        self.news.set()
        self._compare()

    def _compare(self) -> None:
        if missing := sorted(self._named() - self.files):
            self.wrong = f"{NAMED}: {missing[0]} is recorded and deleted"
        given = {path for paths in self.readers.given.values() for path in paths}
        if missing := sorted(given - self.files):
            self.wrong = f"{READ}: {missing[0]} is read and deleted"

    # The edges: see MetaStore and ObjectFolder.

    async def load(self) -> MetaSnapshot:
        """See MetaStore."""
        found: MetaSnapshot = await self.world.operation("load", lambda: finish(self._stored.load()))
        return found

    async def save_channels(self, records: Sequence[ChannelRecord]) -> None:
        """See MetaStore."""

        def store() -> None:
            finish(self._stored.save_channels(records))
            self._changed()

        await self.world.operation("store the channel", store)

    async def save_segment(self, record: SegmentRecord) -> None:
        """See MetaStore."""

        def store() -> None:
            finish(self._stored.save_segment(record))
            self._changed()

        await self.world.operation(f"store segment {record.segment_id}", store)

    async def replace_segment(self, record: SegmentRecord) -> None:
        """See MetaStore."""
        await self.save_segment(record)

    async def collect(self, channel: ChannelRecord, segments: Sequence[SegmentId]) -> None:
        """See MetaStore."""

        def store() -> None:
            finish(self._stored.collect(channel, segments))
            self._changed()

        await self.world.operation("forget the segments", store)

    async def paths(self, folder: str) -> tuple[str, ...]:
        """See ObjectFolder."""
        found: tuple[str, ...] = await self.world.operation(
            f"list {folder}", lambda: tuple(sorted(path for path in self.files if path.startswith(folder)))
        )
        self.looks = ",".join(found)
        return found

    async def delete(self, path: str) -> None:
        """See ObjectFolder."""

        def remove() -> None:
            self.covers.add("a file is deleted")
            self.files.discard(path)
            self._changed()

        await self.world.operation(f"delete {path}", remove)

    # What is looked at.

    def observe(self) -> Observation:
        """Return files, records, and what was found wrong."""
        records = (self._stored.channels[CHANNEL], tuple(sorted(self._stored.segments.items())))
        return {CLUSTER: (tuple(sorted(self.files)), records, self.done, self.wrong)}

    def on_step(self, before: Observation, after: Observation, label: str) -> str | None:
        """Return what was found wrong."""
        del before, after, label
        return self.wrong

    def on_stutter(self, label: str) -> str | None:
        """Likewise."""
        del label
        return self.wrong

    def check_final(self) -> str | None:
        """The plan is carried out, and what is not of the present term is named."""
        if self.wrong is not None:
            return self.wrong
        record = self._stored.channels[CHANNEL]
        present = f"/term-{record.term:06d}-"
        left = sorted(path for path in self.files - self._named() if record.dropped or present not in path)
        if left:
            return f"{GONE}: {left[0]} is left"
        if self.done < len(self.plan) or (record.dropped and not record.collected):
            return f"{GONE}: after {self.done} steps of the plan the records are {record}"
        return None

    def covered(self) -> frozenset[str]:
        """Return what has happened."""
        return frozenset(self.covers)

    def final(self) -> Hashable:
        """Return how it has ended."""
        return tuple(self.observe().values())

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        memory = self.coordinator
        return (
            tuple(self.observe().values()),
            tuple(sorted(memory.channels.items())),
            tuple(sorted(memory.segments.items())),
            tuple(sorted(self.syncing.items())),
            (tuple(sorted(self.readers.given)), self.looks, self.news.is_set(), self.forgotten.is_set()),
        )


def garbage(
    *,
    plan: Sequence[str],
    readers: bool = False,
    crashes: int = 0,
    collector: type[GarbageCollector] = GarbageCollector,
) -> GarbageProgram:
    """A program by plain arguments: see ``GarbageProgram``."""
    with suppress(StopIteration):
        unknown = next(step for step in plan if step not in ("take", "drop", "create"))
        raise ValueError(f"step {unknown!r} of the plan is not known; it is take, drop or create")
    return GarbageProgram(plan=plan, readers=readers, crashes=crashes, collector=collector)
