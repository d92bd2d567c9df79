"""Mutants of a query node that its life shows: slips of the kind that people make.

The functions return the program of ``tidemark.models.protocols.segments.life:life`` with the fault in it.
"""

from __future__ import annotations

from collections import Counter

from tidemark.impl.querynode.delegator import ShardDelegator
from tidemark.impl.querynode.delete_buffer import DeleteBuffer
from tidemark.impl.querynode.query_node import QueryNodeParts
from tidemark.impl.timestamp import Timestamp
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.segments.life import NodeLife, life
from tidemark.models.protocols.segments.reckoning import NOTHING_IS_LEFT


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
