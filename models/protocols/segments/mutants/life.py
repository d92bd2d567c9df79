"""Mutants of a query node that its life shows: slips of the kind that people make.

The functions return the program of ``tidemark.models.protocols.segments.life:life`` with the fault in it.
"""

from __future__ import annotations

from collections import Counter

from tidemark.impl.querynode.delegator import ShardDelegator
from tidemark.impl.querynode.delete_buffer import DeleteBuffer
from tidemark.impl.querynode.query_node import QueryNodeParts
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
