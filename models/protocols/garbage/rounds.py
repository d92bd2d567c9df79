"""One round of the collector over channels of every kind: which files and which records go, and which stay.

The explored programs have one channel, and look at everything until nothing is left to be done. Here is
written out what a single round does.
"""

from __future__ import annotations

from collections.abc import Hashable

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.garbage import FileReaders, GarbageCollector
from tidemark.impl.storage.memory import MemoryMetaStore
from tidemark.impl.types import BinlogRecord, ChannelRecord, Compaction, FlushRequest, SegmentRecord
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.simulation.world.process import Process

FILES = "a_round_deletes_the_garbage_and_nothing_else"
"""Claim id: files that no record names and no writer can have recorded, and all of a dropped channel; none
that is being read."""
RECORDS = "a_round_forgets_what_has_no_file_left"
"""Claim id: the records of a dropped channel without files go in the same round, unless a client waits for a
flush of it."""

_OLD, _PRESENT = "segment-1/term-000002-position-1", "segment-1/term-000003-position-2"
_CHANNELS = (
    ChannelRecord("living", term=3),
    ChannelRecord("empty", term=3),
    ChannelRecord("dropped", term=3, dropped=True),
    ChannelRecord("awaited", term=3, dropped=True, flush_requests=(FlushRequest(9),)),
    ChannelRecord("read", term=3, dropped=True),
    ChannelRecord("collected", term=3, dropped=True, collected=True),
)
_SEGMENTS = (
    SegmentRecord(
        segment_id=1,
        channel="living",
        binlogs=(BinlogRecord("living/segment-1/term-000001-position-1", (1,)),),
        compaction=Compaction(deltas=(BinlogRecord("living/segment-1/delta-x", (1,)),)),
    ),
    SegmentRecord(segment_id=2, channel="dropped", dropped=True),
    SegmentRecord(
        segment_id=3,
        channel="living",
        dropped=True,
        binlogs=(BinlogRecord("living/segment-3/term-000001-position-1", (1,)),),
    ),
)
_KEPT = (
    "living/segment-1/term-000001-position-1",  # it is recorded
    "living/segment-3/term-000001-position-1",  # so is that of a segment that was dropped
    "living/segment-1/delta-x",
    f"living/{_PRESENT}",  # its writer may still have it recorded
    "living/segment-1/compacted-000001",  # who has written it is not known
    "living/segment-2/term-000002-position-3",  # it is being read
    f"read/{_OLD}",
)
_GONE = (
    f"living/{_OLD}", f"dropped/{_OLD}", f"dropped/{_PRESENT}", "dropped/segment-1/compacted-000001",
    f"awaited/{_OLD}", f"collected/{_OLD}",
)  # fmt: skip
SCRIPTS: tuple[Script, ...] = ({"rounds": 1}, {"rounds": 2})


class GarbageRounds(ComparedProgram):
    """A coordinator with channels of every kind, and its collector."""

    claims = (FILES, RECORDS)

    def __init__(self) -> None:
        super().__init__(SCRIPTS, timers=0)
        self.files = {*_KEPT, *_GONE}
        self.forgotten: list[str] = []

    async def live(self, process: Process) -> None:
        """Collect, and compare what is left."""
        meta = MemoryMetaStore()
        await meta.save_channels(_CHANNELS)
        for segment in _SEGMENTS:
            await meta.save_segment(segment)
        coordinator = _Coordinator(self, meta)
        await coordinator.load()
        readers = FileReaders()
        readers.lend("a", ["living/segment-2/term-000002-position-3"])
        readers.lend("b", [f"read/{_OLD}"])
        self.begun = True
        await process.point("collect")
        collector = GarbageCollector(coordinator=coordinator, folder=self, readers=readers)
        for _ in range(self.script["rounds"]):
            await collector.collect()
            self.compare(FILES, "the files that are left", sorted(self.files), sorted(_KEPT))
            self.compare(RECORDS, "the channels that are forgotten", self.forgotten, ["dropped"])
            self.compare(RECORDS, "the segments that are left", sorted(coordinator.segments), [1, 3])

    # The object store.

    async def paths(self, folder: str) -> tuple[str, ...]:
        """See ObjectFolder."""
        return tuple(sorted(path for path in self.files if path.startswith(f"{folder}/")))

    async def delete(self, path: str) -> None:
        """See ObjectFolder."""
        self.files.discard(path)

    # What is looked at.

    def look(self) -> Hashable:
        """What is left."""
        return (tuple(sorted(self.files)), tuple(self.forgotten))


class _Coordinator(Coordinator):
    """Notes which channels are forgotten."""

    def __init__(self, program: GarbageRounds, meta: MemoryMetaStore) -> None:
        super().__init__(meta=meta)
        self._program = program

    async def collect_channel(self, channel: str) -> None:
        """See Coordinator."""
        self._program.forgotten.append(channel)
        await super().collect_channel(channel)


def rounds() -> GarbageRounds:
    """Return the program."""
    return GarbageRounds()
