"""A wrong data node, for the walks."""

from __future__ import annotations

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.allocation.program import allocation

DRIVEN = Host("allocation-driven", allocation)

MUTANTS = patches(
    __name__,
    Patch(
        "a-segment-ends-without-a-tick",
        at="datanode/buffer_manager.py:BufferManager.seal_segment",
        old="buffer.consumed.ts < expires",
        new="False",
        killer="conformance",
        on=DRIVEN,
        source="seed 004, 6.3",
        says="The data node ends a segment at whatever tick it has read.",
    ),
)
