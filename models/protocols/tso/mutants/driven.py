"""A wrong oracle, for the walks."""

from __future__ import annotations

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.tso.program import oracle

MUTANTS = patches(
    __name__,
    Patch(
        "saved-is-ignored",
        at="tso/oracle.py:TimestampOracle.start",
        old="await self._store.load()",
        new="0 * await self._store.load()",
        killer="conformance",
        on=Host("tso-impl-driven", oracle),
        source="B2",
        says="The saved window is not used at a start (B2).",
    ),
)
