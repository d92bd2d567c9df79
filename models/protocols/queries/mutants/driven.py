"""A wrong proxy for conformance."""

from __future__ import annotations

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.queries.program import queries

MUTANTS = patches(
    __name__,
    Patch(
        "a-late-request-stays",
        at="queries/requests.py:ResultCollector.leave",
        old="self.pending.pop(number, None)",
        new="pass",
        killer="conformance",
        on=Host("queries-driven", queries),
        source="seed 004, 6.6.1",
        says="A request that has run out of time stays in the map of those that wait.",
    ),
)
