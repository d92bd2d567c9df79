"""Mutants of the query node's segments: hazards and real bugs, and slips of the kind that people make.

What a read would find tells of those that lose or repeat rows; of the others the likeness with the
specification.
"""

from tidemark.models.mutation.patches import Edit, Host, Patch, patches
from tidemark.models.protocols.segments.program import segments
from tidemark.models.protocols.segments.program.positions import positions

LOAD = Host("segments-impl-load", segments)
FILES = Host("segments-impl-files", segments)
RECOVERY = Host("segments-impl-recovery", segments)
TWO = Host("segments-impl-recovery-two", segments)
GROWING = Host("segments-impl-positions", positions)
FLUSHED = Host("segments-impl-positions-flushed", positions)

SHARD = "querynode/delegator.py:ShardDelegator."
BUFFER = "querynode/delete_buffer.py:DeleteBuffer."
EXCLUDED = "querynode/excluded.py:ExcludedSegments."
SEGMENT = "querynode/segments.py:Segment."

FOUND = "a_read_finds_what_was_written"
TWICE = "segments.no_row_is_served_twice"
COMPLETE = "segments.growing_segments_are_complete"
FORGOTTEN = "facts 6.1: forgotten when below the tick"

LOADS = (
    Patch(
        "replays-from-a-newer-position",
        at=SHARD + "_replay",
        old="done = 0",
        new="done, since = 0, max(since, self.service_time.value)",
        killer=FOUND,
        on=LOAD,
        source="B34",
        says="The replay begins at a position of its own moment; the files are those of an earlier one.",
    ),
    Patch(
        "replays-from-the-greater-position",
        at=SHARD + "load",
        old="record = request.record",
        new="""record = request.record
        since = max(request.replay_from, record.dml_position.ts)
        request = LoadSegment(record, request.level_zero, since)""",
        on=FILES,
        source="B35",
        says="The replay begins at the greater of the files' position and the segment's own.",
    ),
    Patch(
        "trims-without-pin",
        at=BUFFER + "pinned",
        old="if since < self.floor:",
        new="if True:\n            yield\n            return\n        if since < self.floor:",
        on=LOAD,
        source="B38: trimmed",
        says="The buffer is trimmed up to the delete checkpoint, whatever a load needs.",
    ),
    Patch(
        "replays-one-batch",
        at=SHARD + "_replay",
        old="segment.delete(delete.key, delete.ts)",
        new="segment.delete(delete.key, delete.ts)\n            return",
        on=FILES,
        source="facts 6.1: the delete buffer",
        says="The replay ends after its first batch.",
    ),
    Patch(
        "serves-after-the-replay",
        at=SHARD + "load",
        old="self._serve(segment)",
        new='await self._preemption.point("load.replay")\n            self._serve(segment)',
        on=LOAD,
        source="facts 6.1",
        says="The segment is served some time after the last look at the buffer.",
    ),
    Patch(
        "nothing-is-forwarded",
        at=SHARD + "delete",
        old="self.segments()",
        new="self.growing.values()",
        on=LOAD,
        source="facts 6.1",
        says="Deletes of the stream go into growing segments and the buffer only.",
    ),
    Patch(
        "the-growing-segment-goes-first",
        at=SHARD + "load",
        old="record = request.record",
        new="record = request.record\n        self.growing.pop(record.segment_id, None)",
        killer=FOUND,
        on=LOAD,
        source="facts 6.1",
        says="The growing segment is released when the load of the sealed one begins.",
    ),
    Patch(
        "the-growing-segment-is-kept",
        at=SHARD + "_serve",
        old="self.growing.pop(segment.segment_id, None)",
        new="pass",
        killer=FOUND,
        on=LOAD,
        source="facts 6.1",
        says="The growing segment stays beside the sealed one.",
    ),
    Patch(
        "rows-of-a-sealed-segment-are-taken",
        at=SHARD + "insert",
        old="not self.excluded.excludes(row.segment_id, row.ts)",
        new="True",
        killer=TWICE,
        on=LOAD,
        source="facts 6.1: excluded timestamps",
        says="The filter looks once for a pack: a row goes into a growing segment beside the sealed one.",
    ),
    Patch(
        "deletes-in-files-are-not-loaded",
        at=SHARD + "load",
        old="in request.level_zero",
        new="in ()",
        on=FILES,
        source="facts 10.4: deletes in files",
        says="A segment is loaded without the level-zero segments that hold its deletes.",
    ),
    Patch(
        "rows-in-files-are-not-loaded",
        at=SHARD + "_take_growing",
        old="self.growing[record.segment_id] = segment",
        new="pass",
        killer=FOUND,
        on=FILES,
        source="facts 6.1, 10.4",
        says="The rows of growing segments that are in files are left out of the stream, and are not loaded.",
    ),
    Patch(
        "a-listed-segment-grows-as-well",
        at=SHARD + "recover",
        old="self.excluded.add(record.segment_id, EVERYTHING)",
        new="pass",
        also=(
            Edit(
                SHARD + "_serve",
                "self.excluded.add(segment.segment_id, EVERYTHING)\n"
                "        self.growing.pop(segment.segment_id, None)",
                "pass",
            ),
        ),
        killer=TWICE,
        on=RECOVERY,
        source="facts 6.1: excluded timestamps",
        says="A segment that is loaded in the recovery grows in the stream too: its rows are served twice.",
    ),
    Patch(
        "deletes-before-the-stream-are-not-replayed",
        at=SHARD + "load",
        old="record = request.record",
        new="""record = request.record
        since = max(request.replay_from, self._description.seek.ts)
        request = LoadSegment(record, request.level_zero, since)""",
        on=RECOVERY,
        source="facts 10.4: deletes in files",
        says="A segment that the recovery loads gets the deletes of the stream, and not those before it.",
    ),
    Patch(
        "the-service-time-is-raised-before-the-loads",
        at=SHARD + "finish_pack",
        old="self.excluded.forget_below(tick)",
        new="self.excluded.forget_below(tick)\n        self.serviceable = True",
        killer=FOUND,
        on=RECOVERY,
        source="facts 6.1: serviceable",
        says="The first pack that is applied makes the channel serviceable, whatever is still loaded.",
    ),
    Patch(
        "the-recovery-has-no-pin",
        at=BUFFER + "pinned",
        old="if since < self.floor:",
        new="if not since:\n            yield\n            return\n        if since < self.floor:",
        on=RECOVERY,
        source="B38: trimmed",
        says="The buffer is trimmed although segments are still to be loaded in the recovery.",
    ),
    Patch(
        "a-sealed-segment-grows-again",
        at=SHARD + "_take_growing",
        old="record.segment_id in self.sealed",
        new="False",
        killer=FOUND,
        on=FILES,
        source="facts 6.1",
        says="Rows of a growing segment are read while it is flushed and loaded, and then served beside it.",
    ),
)

FILTERS = (
    Patch(
        "the-row-at-the-position-is-taken",
        at=EXCLUDED + "excludes",
        old="ts <= upto",
        new="ts < upto",
        killer=TWICE,
        on=GROWING,
        walked=Host("segments-driven-positions", positions),
        source="H46: strict",
        says="A row at the position itself is given to the growing segment that was loaded with it.",
    ),
    Patch(
        "the-position-is-the-next",
        at=EXCLUDED + "excludes",
        old="ts <= upto",
        new="ts <= upto + 1",
        killer=COMPLETE,
        on=GROWING,
        source="B62: what a position means",
        says="A position is taken for that of the next row, which is left out and in no file.",
    ),
    Patch(
        "growing-segments-have-the-position-of-the-channel",
        at=SHARD + "_take_growing",
        old="record.dml_position.ts",
        new="self._description.seek.ts",
        on=GROWING,
        source="facts 6.1, 10.4",
        says="Rows of a growing segment are left out up to where the stream begins; its files go further.",
    ),
    Patch(
        "sealed-segments-have-the-position-of-the-channel",
        at=SHARD + "_serve",
        old="self.excluded.add(segment.segment_id, EVERYTHING)",
        new="self.excluded.upto[segment.segment_id] = self._description.seek.ts",
        on=FLUSHED,
        source="facts 6.1, 10.4",
        says="Rows of a loaded segment are left out up to where the stream begins; it was flushed ahead.",
    ),
    Patch(
        "one-position-for-all-segments",
        at=EXCLUDED + "excludes",
        old="self.upto.get(segment_id)",
        new="max(self.upto.values(), default=None)",
        killer=COMPLETE,
        on=GROWING,
        source="facts 6.1: by segment",
        says="Rows of every segment are left out up to the greatest position.",
    ),
    Patch(
        "what-is-excluded-is-forgotten-too-early",
        at="querynode/pipeline.py:ShardPipeline.process",
        old="needed = tuple(",
        new="self._delegator.excluded.forget_below(pack.end)\n        needed = tuple(",
        on=GROWING,
        source=FORGOTTEN,
        says="What is excluded below the end of a pack is forgotten before the pack is applied.",
    ),
    Patch(
        "each-pack-forgets-all",
        at=EXCLUDED + "forget_below",
        old="upto >= tick",
        new="False",
        on=FLUSHED,
        source=FORGOTTEN,
        says="A pack that is applied forgets what is excluded above its end, and that a segment is sealed.",
    ),
    Patch(
        "nothing-is-forgotten",
        at=EXCLUDED + "forget_below",
        old="upto >= tick",
        new="True",
        on=GROWING,
        source=FORGOTTEN,
        says="What is excluded is kept for good: it grows with every segment.",
    ),
    Patch(
        "the-filter-looks-at-sealed-segments-only",
        at=SHARD + "insert",
        old="not self.excluded.excludes(row.segment_id, row.ts)",
        new="row.segment_id not in self.sealed",
        also=(Edit(SHARD + "needs", "isinstance(message, DeleteMessage) or", "True or"),),
        killer=TWICE,
        on=GROWING,
        source="facts 6.1: excluded timestamps",
        says="Rows of a growing segment are never left out.",
    ),
    Patch(
        "a-sealed-segment-keeps-its-old-position",
        at=EXCLUDED + "add",
        old="max(upto, self.upto.get(segment_id, 0))",
        new="min(upto, self.upto.get(segment_id, upto))",
        on=FLUSHED,
        source="facts 6.1: flushed segments",
        says="A segment that was taken up as a growing one, and is served as a sealed one, is not closed.",
    ),
)

READS = (
    Patch(
        "a-search-is-cut-before-it-is-known-what-is-deleted",
        at=SHARD + "collect",
        old="return read.nearest.cut(found)",
        new="""shown = list(found)
            rows = (row for one in self.segments() for known in one.rows.values() for row in known)
            return tuple(row for row in read.nearest.cut(rows) if row in shown)""",
        killer=FOUND,
        on=FILES,
        source="facts 6.1: deletes in a search",
        says="Deleted rows, and later ones, take the places of visible rows.",
    ),
    Patch(
        "the-parts-of-segments-are-not-merged",
        at=SHARD + "collect",
        old="return read.nearest.cut(found)",
        new="""parts = (read.nearest.cut(one.visible(read.moment)) for one in self.segments())
            return tuple(row for part in parts for row in part)""",
        killer=FOUND,
        on=TWO,
        source="facts 6.1: search",
        says="Each segment gives its nearest rows, and they are handed on one after the other.",
    ),
    Patch(
        "a-read-of-no-keys-reads-all",
        at=SEGMENT + "visible",
        old="keys is None",
        new="not keys",
        killer=FOUND,
        on=LOAD,
        source="facts 6.1: query",
        says="No keys count as no condition.",
    ),
)

MUTANTS = patches(
    __name__,
    *LOADS,
    *FILTERS,
    *READS,
)

SLIPS = (
    Patch(
        "the-latest-load-holds-a-trim-back",
        at="querynode/delete_buffer.py:DeleteBuffer.trim",
        old="min([upto, *self._pins])",
        new="min(upto, max(self._pins, default=upto))",
        source="B38: trimmed",
        says="Of two loads that need deletes, the one that needs fewer of them says what is kept.",
    ),
    Patch(
        "a-batch-of-deletes-ends-its-timestamp",
        at="querynode/delegator.py:ShardDelegator._replay",
        old="for delete in batch:",
        new="since, done = batch[-1].ts, 0\n            for delete in batch:",
        source="B41: batches",
        says="A load goes on behind the timestamp of its last delete: others of that timestamp are left out.",
    ),
    Patch(
        "deletes-are-kept-as-they-come",
        at="querynode/segments.py:Segment.delete",
        old="insort(known, ts)",
        new="known.append(ts)",
        source="B34: deletes of level zero",
        says="The deletes of a key are in the order of their arrival, and looked up as if they ascended.",
    ),
)
