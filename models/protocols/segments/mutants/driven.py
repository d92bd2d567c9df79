"""Wrong query nodes for conformance."""

from __future__ import annotations

from dataclasses import replace

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.segments.driver import SegmentsAdapter
from tidemark.models.protocols.segments.mutants import implementation
from tidemark.models.protocols.segments.positions_driver import PositionsAdapter

MUTANTS = patches(
    __name__,
    Patch(
        "the-oldest-is-not-replayed",
        at="querynode/delegator.py:ShardDelegator._replay",
        old="done = 0",
        new="done = 1",
        killer="conformance",
        on=Host("segments-driven-the-oldest-is-not-replayed", SegmentsAdapter),
        source="facts 6.1: the delete buffer",
        says="The replay begins after the first delete above the files' position.",
    ),
    *(
        replace(patch, on=Host(f"segments-driven-{patch.name}", PositionsAdapter), killer="conformance")
        for patch in implementation.FILTERS
        if patch.name == "the-row-at-the-position-is-taken"
    ),
)
