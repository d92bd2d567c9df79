"""Wrong query nodes, for the walks."""

from __future__ import annotations

from dataclasses import replace

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.segments.mutants import implementation
from tidemark.models.protocols.segments.positions import positions
from tidemark.models.protocols.segments.program import segments

MUTANTS = patches(
    __name__,
    Patch(
        "the-oldest-is-not-replayed",
        at="querynode/delegator.py:ShardDelegator._replay",
        old="done = 0",
        new="done = 1",
        killer="conformance",
        on=Host("segments-driven", segments),
        source="facts 6.1: the delete buffer",
        says="The replay begins after the first delete above the files' position.",
    ),
    *(
        replace(patch, on=Host("segments-driven-positions", positions), killer="conformance")
        for patch in implementation.FILTERS
        if patch.name == "the-row-at-the-position-is-taken"
    ),
)
