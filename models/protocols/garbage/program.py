"""Collection of garbage beside writers, as a program under exploration: the real coordinator, its collector,
and a channel that is taken up, dropped, and created again. Each step must be a step of
``tidemark.spec.garbage``, or change nothing of it.

A data node is a plan: it writes a file, and then has it recorded. Everything is in one process, which may
crash at any step; metadata and files stay. What a node of an earlier term writes comes whenever it likes.

===================  =======================================================================================
specification        implementation
===================  =======================================================================================
a file               that of a term: each term of the channel writes one
stored, written      the files of the store; those that were there once
reading              what the reader has been given and has not read: its own account
life, term, entry    the stored records; gone is a channel that is collected
first                the term after that which the channel had when it was dropped
marked               a file whose deletion has begun; decided before, at the listing
faults               left out: it counts
===================  =======================================================================================
"""

import asyncio
import functools
from collections.abc import Coroutine, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

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
from tidemark.models.instance import Instance
from tidemark.models.protocols.common.at_once import finish
from tidemark.models.protocols.garbage.refinement import (
    GarbageView,
    abstract,
    named_in,
    replaced_in,
    terms_of,
)
from tidemark.models.refinement.program import Abstraction, RefiningProgram
from tidemark.models.refinement.scenario import FaultyScenario, program
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import ClockOrder, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

CHANNEL, NODE, CLUSTER, READER = "channel", "node", "cluster", "reader"
SPECIFICATION = "tidemark.spec.garbage:Garbage"


class GarbageScenario(FaultyScenario):
    """What happens.

    Attributes:
        plan: what becomes of the channel, one after another. With each ``take`` a node writes a file and has
            it recorded; ``replace`` is a compaction of what is recorded.
        readers: a reader is given each recorded file and reads it. It gives back when it has read them all.
    """

    plan: tuple[Literal["take", "drop", "create", "replace"], ...]
    readers: bool = False

    @property
    def terms(self) -> int:
        """How many terms the channel may have."""
        return sum(step in ("take", "create") for step in self.plan) + self.crashes


class GarbageProgram(RefiningProgram):
    """One channel."""

    table = "garbage"
    at_rest = ("garbage.files_of_a_dropped_collection_go", "garbage.files_without_a_record_go")

    def __init__(self, scenario: GarbageScenario) -> None:
        super().__init__(_abstraction(scenario.terms))
        self.settings = Settings(
            clock=ClockOrder.UNTIMED, faults=scenario.faults, crashable=frozenset({CLUSTER})
        )
        self.plan, self.with_readers = scenario.plan, scenario.readers
        self.files: set[str] = set()
        self.written: set[str] = set()
        self.done = self.first = 0
        self.doing = ""
        self.unread: set[str] = set()
        self._stored = MemoryMetaStore()
        finish(self._stored.save_channels([ChannelRecord(CHANNEL)]))

    def populate(self, world: World) -> None:
        """Define the process."""
        world.process(CLUSTER, self._run, daemon=True)

    async def _run(self, process: Process) -> None:
        self.news = asyncio.Event()
        self.news.set()
        self.forgotten = asyncio.Event()
        self.readers = FileReaders()
        self.unread = set()  # a reader of an earlier incarnation is gone
        self.syncing: dict[str, str] = {}
        self.deleting: set[str] = set()
        self.coordinator = Coordinator(meta=self)
        self.collector = GarbageCollector(
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
            step = self.doing = self.plan[self.done]
            if step == "take":
                await self._take(process)
            elif step == "drop":
                await self._drop()
            elif step == "replace":
                await self._replace()
            else:
                await self._until_it_is_gone()
                if self.coordinator.channel(CHANNEL).dropped:  # or it was created before a crash
                    await self.coordinator.create_channel(CHANNEL, LOG_BEGINNING)
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

    async def _until_it_is_gone(self) -> None:
        record = self.coordinator.channel(CHANNEL)
        if record.dropped and not record.collected:
            await self.forgotten.wait()

    async def _replace(self) -> None:
        """A compaction has written the rows of each segment elsewhere."""
        for record in self.coordinator.segments_of(CHANNEL):
            await self.coordinator.replace_segment(record, replace(record, binlogs=(), dropped=True))

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
        if self.with_readers and outcome is SaveOutcome.RECORDED:
            await self._read(process, path)

    async def _read(self, process: Process, path: str) -> None:
        """A reader is given the file if a record of a living channel names it."""
        await process.point("reader.come")
        async with self.coordinator.lock.holding("coordinator.lock"):
            if self.coordinator.channel(CHANNEL).dropped or not self._names(path):
                return
            await process.point("reader.lend")  # apart from the store that let go of the lock
            self.readers.lend(READER, [path])
            self.unread.add(path)
        await process.point("reader.read")
        self.unread.discard(path)
        if not self.unread:
            self.readers.give_back(READER)
        self.news.set()

    def _names(self, path: str) -> bool:
        records = self.coordinator.segments_of(CHANNEL)
        return any(one.path == path for record in records for one in record.binlogs)

    def _put(self, path: str) -> None:
        self.files.add(path)
        self.written.add(path)
        self.news.set()

    # The edges: see MetaStore and ObjectFolder.

    async def load(self) -> MetaSnapshot:
        """See MetaStore."""
        found: MetaSnapshot = await self.world.operation("load", lambda: finish(self._stored.load()))
        return found

    async def save_channels(self, records: Sequence[ChannelRecord]) -> None:
        """See MetaStore."""

        def store() -> None:
            if records[0].dropped and not self._stored.channels[CHANNEL].dropped:
                self.first = records[0].term + 1
            finish(self._stored.save_channels(records))
            self.news.set()

        await self.world.operation("store the channel", store)

    async def save_segment(self, record: SegmentRecord) -> None:
        """See MetaStore."""
        await self._store(f"store segment {record.segment_id}", self._stored.save_segment(record))

    async def replace_segment(self, record: SegmentRecord) -> None:
        """See MetaStore."""
        await self.save_segment(record)

    async def collect(self, channel: ChannelRecord, segments: Sequence[SegmentId]) -> None:
        """See MetaStore."""
        await self._store("forget the segments", self._stored.collect(channel, segments))

    async def _store(self, label: str, work: Coroutine[None, None, None]) -> None:
        def store() -> None:
            finish(work)
            self.news.set()

        await self.world.operation(label, store)

    async def paths(self, folder: str) -> tuple[str, ...]:
        """See ObjectFolder."""
        found: tuple[str, ...] = await self.world.operation(
            f"list {folder}", lambda: tuple(sorted(path for path in self.files if path.startswith(folder)))
        )
        self.looks = ",".join(found)
        return found

    async def delete(self, path: str) -> None:
        """See ObjectFolder."""
        self.deleting.add(path)

        def remove() -> None:
            self.files.discard(path)
            self.deleting.discard(path)
            self.news.set()

        await self.world.operation(f"delete {path}", remove)

    # What is looked at.

    def condition(self, name: str, event: Event) -> bool:
        """What the plan does: "the plan says take", drop, create."""
        if name.startswith("the plan says "):
            return name == f"the plan says {self.doing}"
        return super().condition(name, event)

    def undone(self, values: Mapping[str, Any]) -> str | None:
        """The plan is carried out, and nothing is left of a dropped channel."""
        del values
        record = self._stored.channels[CHANNEL]
        if self.done < len(self.plan) or (record.dropped and not record.collected):
            return f"after {self.done} steps of the plan the record is {record}"
        return None

    def observe(self) -> Observation:
        """Return files, readers and records."""
        view = GarbageView(
            files=terms_of(self.files),
            written=terms_of(self.written),
            given=terms_of(self.unread),
            deleting=terms_of(self.deleting),
            named=named_in(self._stored),
            replaced=replaced_in(self._stored),
            record=self._stored.channels[CHANNEL],
            first=self.first,
        )
        return {CLUSTER: view}

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        memory = self.coordinator
        return (
            tuple(self._observed.values()),
            self.done,
            tuple(sorted(memory.channels.items())),
            tuple(sorted(memory.segments.items())),
            tuple(sorted(self.syncing.items())),
            (
                tuple(sorted(self.readers.given.items())),
                self.looks,
                self.news.is_set(),
                self.forgotten.is_set(),
            ),
        )


@functools.cache
def _abstraction(terms: int) -> Abstraction:
    """A pure function of its argument: it may outlive executions."""

    def values(observation: Observation) -> Mapping[str, Any]:
        known: Any = observation
        return abstract(known[CLUSTER], terms=terms)

    instance = Instance(
        SPECIFICATION,
        bounds={"File": terms + 1, "Reader": 1, "Term": terms + 1, "Faults": 0},
        constants={"term_of": list(range(terms + 1))},
        name="scheduled",
    )
    return Abstraction(instance, values, ignored=("faults",))


garbage = program(GarbageProgram, GarbageScenario)
