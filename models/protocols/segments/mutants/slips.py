"""Slips of people in the query node: tried with the mutants that rules make."""

from __future__ import annotations

from tidemark.models.mutation.patches import Patch

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
