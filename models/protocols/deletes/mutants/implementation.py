"""Mutants of what is done with deletes: by data node and coordinator, by the compactor, by a load."""

from tidemark.models.mutation.patches import Edit, Host, Patch, patches
from tidemark.models.protocols.deletes.program import deletes
from tidemark.models.protocols.deletes.program.compaction import VISIBLE, compaction

ONE = Host("deletes-impl-one", deletes)
COMPACT = Host("deletes-impl-compact", compaction)
LOADS = Host("deletes-impl-compact-loads", compaction)
LEVELS = Host("deletes-impl-compact-two-levels", compaction)

BUFFER = "datanode/write_buffer.py:WriteBuffer."
SYNC = "datanode/sync_manager.py:SyncManager."
COORDINATOR = "datacoord/coordinator.py:Coordinator."
COMPACTOR = "datacoord/level_zero.py:LevelZeroCompactor."

DROPPED = "deletes.dropped_means_applied"
LOST = "deletes.no_consumed_delete_is_lost"

NODES = (
    Patch(
        "buffered-deletes-do-not-count",
        at=BUFFER + "get_checkpoint",
        old="[buffer.start for buffer in self.buffers.values()]",
        new="[buffer.start for segment, buffer in self.buffers.items() if segment > 0]",
        on=ONE,
        source="facts 7.5",
        says="The checkpoint passes deletes that are in the buffer.",
    ),
    Patch(
        "deletes-in-flight-do-not-count",
        at=BUFFER + "get_checkpoint",
        old="self.in_flight.values()",
        new="(start for (segment, _), start in self.in_flight.items() if segment > 0)",
        on=ONE,
        source="facts 7.5; B13",
        says="The checkpoint passes deletes that are being written out.",
    ),
    Patch(
        "deletes-are-forgotten-before-the-save",
        at=SYNC + "_run",
        old="await self._upload(task)",
        new="""await self._upload(task)
            if task.segment_id < 0:
                task.sink.on_synced(task)""",
        also=(Edit(BUFFER + "on_synced", "del self.tasks[task.key]", "self.tasks.pop(task.key, None)"),),
        killer=LOST,
        on=ONE,
        source="facts 7.6",
        says="Deletes leave the memory when their object is written, and not when it is recorded.",
    ),
    Patch(
        "the-filter-of-deletes-is-negated",
        at="datanode/recovery.py:RecoveryFilter._should_filter",
        old="recorded is not None and row.ts <= recorded.ts",
        new="(recorded is not None and row.ts <= recorded.ts) is (row.segment_id > 0)",
        killer=LOST,
        on=ONE,
        source="facts 7.1; B63",
        says="A delete that is not recorded is left out.",
    ),
    Patch(
        "deletes-are-answered-and-not-recorded",
        at=COORDINATOR + "_with_rows",
        old="if record.flushed",
        new="if request.segment_id < 0 or record.flushed",
        on=ONE,
        source="facts 10.2; hazard 21",
        says="The coordinator answers the save of a level-zero segment, and records nothing.",
    ),
)

COMPACTIONS = (
    Patch(
        "segments-that-grow-do-not-count",
        at=COMPACTOR + "_ripe",
        old="""if max(level.row_positions) <= checkpoint
            and all(record.flushed for record in self._older(channel, level))""",
        new="",
        also=(Edit(COMPACTOR + "_older", "if 0 <", "if record.flushed and 0 <"),),
        killer=DROPPED,
        on=COMPACT,
        source="facts 10.4; B38",
        says="A level-zero binlog is dropped when the flushed segments have it.",
    ),
    Patch(
        "the-filter-of-keys-misses",
        at=COMPACTOR + "_apply",
        old="if delete.key in known",
        new="if False",
        on=COMPACT,
        walked=Host("deletes-driven", compaction),
        source="facts 7.1",
        says="The filter of a segment does not know a key of it.",
    ),
    Patch(
        "applied-is-noted-and-not-done",
        at=COMPACTOR + "_apply",
        old="if taken:",
        new="if False:",
        on=COMPACT,
        source="facts 10.4",
        says="A segment is said to have deletes that were not written to it.",
    ),
    Patch(
        "a-drop-takes-the-whole-segment",
        at=COMPACTOR + "_drop",
        old="left = tuple(one for one in record.binlogs if one != level)",
        new="left = ()",
        on=LEVELS,
        source="facts 10.4",
        says="With one binlog all those of its level-zero segment are dropped.",
    ),
    Patch(
        "a-rewritten-segment-is-forgotten",
        at=COMPACTOR + "_older",
        old="if 0 <",
        new="if record.binlogs and 0 <",
        on=LEVELS,
        source="facts 10.4",
        says="A segment that has lost its rows takes no later deletes.",
    ),
    Patch(
        "a-rewriting-forgets-the-deletes",
        at=COMPACTOR + "_rewrite",
        old=" if not self._is_removed(row, deletes)",
        new="",
        killer=DROPPED,
        on=COMPACT,
        source="facts 10.4",
        says="A segment loses its deletes, and not the rows that they remove.",
    ),
    Patch(
        "a-load-begins-at-the-checkpoint",
        at=COORDINATOR + "delete_checkpoint",
        old="min([begins, *starts])",
        new="checkpoint",
        on=LOADS,
        source="facts 6.1; B37",
        says="A load without level-zero segments reads the stream from the checkpoint on.",
    ),
    Patch(
        "a-load-leaves-deltas-out",
        at="querynode/delegator.py:ShardDelegator._read",
        old="record.compaction.deltas",
        new="()",
        killer=VISIBLE,
        on=COMPACT,
        source="facts 6.1; B34",
        says="A query node reads the rows of a segment, and not the deletes in its files.",
    ),
    Patch(
        "the-first-segment-is-left-out",
        at=COMPACTOR + "_older",
        old="< last]",
        new="< last][1:]",
        killer=DROPPED,
        on=Host("deletes-impl-compact-two-tasks", compaction),
        source="facts 10.4; B38",
        says="Of the segments with older rows the first one does not get the deletes.",
    ),
)

SLIPS = (
    Patch(
        "deletes-are-applied-again",
        at=COMPACTOR + "_apply",
        old="if level.path in record.compaction.applied:\n                return",
        new="""forgotten = replace(record, compaction=replace(record.compaction, applied=()))
            await self._coordinator.replace_segment(record, forgotten)
            record = self._coordinator.segments[segment_id]""",
        source="facts 10.4",
        says="What an earlier process has applied is applied once more.",
    ),
    Patch(
        "the-last-file-of-deletes-counts",
        at=COMPACTOR + "_is_removed",
        old="any(delete.key == row.key and delete.ts > row.ts for delete in deletes)",
        new="{delete.key: delete.ts for delete in deletes}.get(row.key, 0) > row.ts",
        source="facts 10.4",
        says="Of the deletes of a key the one that was read last is looked at, not the latest.",
    ),
    Patch(
        "deletes-are-dropped-that-were-not-written",
        at=COMPACTOR + "compact",
        old="await self._apply(level, record.segment_id)",
        new="""try:
                    await self._apply(level, record.segment_id)
                except Exception:
                    pass""",
        source="facts 10.4",
        says="A file that could not be written ends nothing: the binlog is dropped all the same.",
    ),
)

MUTANTS = patches(__name__, *NODES, *COMPACTIONS)
