"""Wrong dispatchers for conformance: one fault of the implementation."""

from __future__ import annotations

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.dispatch.program import dispatch

MUTANTS = patches(
    __name__,
    Patch(
        "splits-from-the-end-of-the-pack",
        at="stream/dispatchers.py:MainDispatcher._send",
        old="pack.start",
        new="pack.finish",
        killer="conformance",
        on=Host("dispatch-driven", dispatch),
        source="H50: the split's position",
        says="A target that is split off goes on behind the pack that it did not take.",
    ),
)
