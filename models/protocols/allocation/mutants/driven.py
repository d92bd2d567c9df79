"""A wrong data node and a wrong flush for conformance."""

from __future__ import annotations

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.allocation.driver import AllocationAdapter

MUTANTS = patches(
    __name__,
    Patch(
        "a-segment-ends-without-a-tick",
        at="datanode/buffer_manager.py:BufferManager.seal_segment",
        old="buffer.consumed.ts < expires",
        new="False",
        killer="conformance",
        on=Host("allocation-driven-a-segment-ends-without-a-tick", AllocationAdapter),
        source="seed 004, 6.3",
        says="The data node ends a segment at whatever tick it has read.",
    ),
    Patch(
        "a-resumed-flush-forgets-its-segments",
        at="datacoord/flush_service.py:FlushService.resume",
        old="self._segments_of(request)",
        new="()",
        killer="conformance",
        on=Host("allocation-driven-a-resumed-flush-forgets-its-segments", AllocationAdapter),
        source="seed 004, 6.3",
        says="After a restart of the coordinator a flush is for its timestamp alone.",
    ),
)
