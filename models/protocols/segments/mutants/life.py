"""Mutants of a query node that its life shows: slips of the kind that people make.

The functions return the program of ``tidemark.models.protocols.segments.life:life`` with the fault in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tidemark.impl.querynode.delegator import ShardDelegator
from tidemark.impl.querynode.delete_buffer import DeleteBuffer
from tidemark.impl.querynode.query_node import QueryNodeParts
from tidemark.impl.querynode.segments import Segment
from tidemark.impl.querynode.values import ShardRead
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import Row
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.segments.life import NodeLife, life
from tidemark.models.protocols.segments.reckoning import ANSWERS_ARE_RIGHT, NOTHING_IS_LEFT


class _LatestPin(DeleteBuffer):
    def trim(self, upto: Timestamp) -> None:
        pins, self._pins = self._pins, Counter([max(self._pins)] if self._pins else [])
        super().trim(upto)
        self._pins = pins


class _TrimsToTheLatestPin(ShardDelegator):
    delete_buffer_class = _LatestPin


@mutant(killer=NOTHING_IS_LEFT, source="B38: trimmed", instance="segments-impl-life")
def the_latest_load_holds_a_trim_back() -> NodeLife:
    """Of two loads that need deletes, the one that needs fewer of them says what is kept."""
    return life(parts=QueryNodeParts(delegator=_TrimsToTheLatestPin))


class _CutsFirst(ShardDelegator):
    def collect(self, read: ShardRead) -> tuple[Row, ...]:
        if read.nearest is None:
            return super().collect(read)
        rows = [row for one in self.segments() for known in one.rows.values() for row in known]
        shown = [row for one in self.segments() for row in one.visible(read.moment)]
        return tuple(row for row in read.nearest.cut(rows) if row in shown)


@mutant(killer=ANSWERS_ARE_RIGHT, source="facts 6.1: deletes in a search", instance="segments-impl-life")
def a_search_is_cut_before_it_is_known_what_is_deleted() -> NodeLife:
    """Deleted rows, and later ones, take the places of visible rows."""
    return life(parts=QueryNodeParts(delegator=_CutsFirst))


class _CutsEachSegment(ShardDelegator):
    def collect(self, read: ShardRead) -> tuple[Row, ...]:
        if read.nearest is None:
            return super().collect(read)
        parts = (read.nearest.cut(one.visible(read.moment)) for one in self.segments())
        return tuple(row for part in parts for row in part)


@mutant(killer=ANSWERS_ARE_RIGHT, source="facts 6.1: search", instance="segments-impl-life")
def the_parts_of_segments_are_not_merged() -> NodeLife:
    """Each segment gives its nearest rows, and they are handed on one after the other."""
    return life(parts=QueryNodeParts(delegator=_CutsEachSegment))


class _PagesByTimestamp(ShardDelegator):
    async def _replay(self, segment: Segment, since: Timestamp) -> None:
        while True:
            await self._preemption.point("load.replay")
            batch, _ = self.deletes.batch(since, 0, self._config.replay_batch)
            if not batch:
                return
            since = batch[-1].ts
            for delete in batch:
                segment.delete(delete.key, delete.ts)


@mutant(killer=ANSWERS_ARE_RIGHT, source="B41: batches", instance="segments-impl-life")
def a_batch_of_deletes_ends_its_timestamp() -> NodeLife:
    """A load goes on behind the timestamp of the last delete that it took: others of it are left out."""
    return life(parts=QueryNodeParts(delegator=_PagesByTimestamp))


class _NoKeysAreAll(Segment):
    def visible(self, moment: Timestamp, keys: tuple[int, ...] | None = None) -> Iterator[Row]:
        return super().visible(moment, keys or None)


class _ReadsAll(ShardDelegator):
    segment_class = _NoKeysAreAll


@mutant(killer=ANSWERS_ARE_RIGHT, source="facts 6.1: query", instance="segments-impl-life")
def a_read_of_no_keys_reads_all() -> NodeLife:
    """No keys count as no condition."""
    return life(parts=QueryNodeParts(delegator=_ReadsAll))


class _Appends(Segment):
    def delete(self, key: int, ts: Timestamp) -> None:
        if key in self.rows and ts not in self.deletes.setdefault(key, []):
            self.deletes[key].append(ts)


class _KeepsTheirOrder(ShardDelegator):
    segment_class = _Appends


@mutant(killer=ANSWERS_ARE_RIGHT, source="B34: deletes of level zero", instance="segments-impl-life")
def deletes_are_kept_as_they_come() -> NodeLife:
    """The deletes of a key are in the order of their arrival, and looked up as if they ascended."""
    return life(parts=QueryNodeParts(delegator=_KeepsTheirOrder))
