"""A wrong streaming node for conformance."""

from __future__ import annotations

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.streaming.program import streaming

MUTANTS = patches(
    __name__,
    Patch(
        "recovery-starts-at-its-own-checkpoint",
        at="streaming/recovery_storage.py:RecoveryStorage.start",
        old="min(self.saved.flusher, self.saved.recovery)",
        new="self.saved.recovery",
        killer="conformance",
        on=Host("streaming-driven", streaming),
        source="B28",
        says="A recovery starts at the checkpoint of the recovery storage, whatever the flusher's is.",
    ),
)
