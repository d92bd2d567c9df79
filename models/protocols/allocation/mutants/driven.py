"""A wrong data node and a wrong flush, for the walks."""

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
    Patch(
        "a-resumed-flush-forgets-its-segments",
        at="datacoord/flush_service.py:FlushService.resume",
        old="self._segments_of(request)",
        new="()",
        killer="conformance",
        on=DRIVEN,
        source="seed 004, 6.3",
        says="After a restart of the coordinator a flush is for its timestamp alone.",
    ),
)
