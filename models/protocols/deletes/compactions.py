"""The compactor of level zero over records and files that are written out: what is read and written, once.

The explored programs judge what comes of any order. That something is done a second time shows there only as
more orders; here each file that is written is counted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import replace

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.level_zero import LevelZeroCompactor
from tidemark.impl.errors import StoreError
from tidemark.impl.storage.memory import MemoryMetaStore
from tidemark.impl.types import BinlogRecord, ChannelRecord, Compaction, Row, SegmentRecord
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.simulation.world.process import Process

ONCE = "a_file_is_written_once"
"""Claim id: deletes are written to each segment once, and it is rewritten once, whoever else wants it."""
NAMED = "records_name_the_files_that_are_there"
"""Claim id: what the records name at the end lies in the store, with these rows."""

_CHANNEL = "c"
_ROWS = (Row(1, 1, 10), Row(2, 1, 11), Row(6, 1, 10))
_DELETES = (Row(5, -2, 10), Row(5, -2, 12))
_FILES = {"c/rows": _ROWS, "c/level": _DELETES}
_DELTA, _DELTA_ROWS = "c/segment-1/delta-c-level", (_DELETES[0],)
_EARLIER = "c/segment-1/delta-earlier"
_REWRITTEN, _LEFT = "c/segment-1/compacted-000001", (_ROWS[1], _ROWS[2])


def _segment(number: int, path: str, *positions: int) -> SegmentRecord:
    return SegmentRecord(
        segment_id=number, channel=_CHANNEL, flushed=True, binlogs=(BinlogRecord(path, positions),)
    )


_SEGMENT, _LEVEL = _segment(1, "c/rows", 1, 2, 6), _segment(-2, "c/level", 5, 5)
_APPLIED = Compaction(applied=("c/level",), deltas=(BinlogRecord(_DELTA, (5,)),))
SCRIPTS: tuple[Script, ...] = (
    # Deletes are applied and dropped; then the segment is rewritten.
    {"applied": False, "does": (("compact",),), "written": (_DELTA,), "named": ("c/rows", _DELTA)},
    {"applied": False, "does": (("compact",), ("rewrite",)), "written": (_DELTA, _REWRITTEN),
     "named": (_REWRITTEN,)},
    # An earlier process has applied them, and not dropped them.
    {"applied": True, "does": (("compact",),), "written": (), "named": ("c/rows", _DELTA)},
    # The deletes of two files, the later ones first.
    {"applied": True, "earlier": True, "does": (("rewrite",),), "written": (_REWRITTEN,),
     "named": (_REWRITTEN, "c/level")},
    # A file is not written: nothing is dropped.
    {"applied": False, "fails": True, "does": (("compact",),), "written": (), "marks": (),
     "named": ("c/rows", "c/level")},
    # Two at once.
    {"applied": False, "does": (("compact", "compact"),), "written": (_DELTA,), "named": ("c/rows", _DELTA)},
    {"applied": True, "does": (("rewrite", "rewrite"),), "written": (_REWRITTEN,),
     "named": (_REWRITTEN, "c/level")},
    {"applied": True, "does": (("compact", "rewrite"), ("rewrite",)), "written": (_REWRITTEN,),
     "named": (_REWRITTEN,)},
)  # fmt: skip


class Compactions(ComparedProgram):
    """One channel with a segment and a level-zero segment.

    Scripts say whether the deletes are ``applied`` already, what is done at once, one after another
    (``does``), and which files are ``written`` and in the end ``named``. ``earlier``: older deletes are
    applied, too. ``fails``: no file is written. ``marks``: what is marked as applied in the end.
    """

    claims = (ONCE, NAMED)

    def __init__(self) -> None:
        super().__init__(SCRIPTS, timers=0)
        self.files: dict[str, tuple[Row, ...]] = dict(_FILES)
        self.written: list[str] = []

    async def live(self, process: Process) -> None:
        """Compact and rewrite, and compare what was written."""
        meta = MemoryMetaStore()
        segment = _SEGMENT
        if self.script["applied"]:
            self.files[_DELTA] = _DELTA_ROWS
            segment = replace(segment, compaction=_APPLIED)
        if "earlier" in self.script:
            self.files[_EARLIER] = (Row(1, -2, 10),)
            deltas = (*_APPLIED.deltas, BinlogRecord(_EARLIER, (1,)))
            segment = replace(segment, compaction=replace(_APPLIED, deltas=deltas))
        await meta.save_channels([ChannelRecord(_CHANNEL, checkpoint=7)])
        for record in (segment, _LEVEL):
            await meta.save_segment(record)
        coordinator = Coordinator(meta=meta)
        await coordinator.load()
        compactor = LevelZeroCompactor(coordinator=coordinator, store=self)
        self.begun = True
        await process.point("begin")
        for together in self.script["does"]:
            with suppress(StoreError):
                await asyncio.gather(*(getattr(compactor, kind)(_CHANNEL) for kind in together))
        records = coordinator.segments_of(_CHANNEL)
        named = [one for record in records for one in (*record.binlogs, *record.compaction.deltas)]
        self.compare(NAMED, "files", sorted({one.path for one in named}), sorted(self.script["named"]))
        for one in named:
            found = tuple(row.ts for row in self.files.get(one.path, ()))
            self.compare(NAMED, one.path, found, one.row_positions)
        if _REWRITTEN in self.files:
            self.compare(NAMED, "the rows that are left", self.files[_REWRITTEN], _LEFT)
        marks = tuple(self.script.get("marks", ("c/level",)))
        self.compare(NAMED, "deletes applied", coordinator.segments[1].compaction.applied, marks)
        self.compare(ONCE, "what was written", self.written, list(self.script["written"]))

    # The object store.

    async def get(self, path: str) -> tuple[Row, ...]:
        """See ObjectStore. Others go on meanwhile."""
        await asyncio.sleep(0)
        return self.files[path]

    async def put(self, path: str, rows: Sequence[Row]) -> None:
        """See ObjectStore."""
        await asyncio.sleep(0)
        if "fails" in self.script:
            raise StoreError(f"{path} is not written")
        self.written.append(path)
        self.files[path] = tuple(rows)

    # What is looked at.

    def look(self) -> Hashable:
        """What was written."""
        return (tuple(self.written), self.wrong())


def compactions() -> Compactions:
    """Return the program of all scripts."""
    return Compactions()
