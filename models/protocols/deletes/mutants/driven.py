"""A wrong compactor, for the walks."""

from __future__ import annotations

from dataclasses import replace

from tidemark.models.mutation.patches import Host, patches
from tidemark.models.protocols.deletes.compaction import compaction
from tidemark.models.protocols.deletes.mutants import implementation

MUTANTS = patches(
    __name__,
    *(
        replace(patch, on=Host("deletes-driven", compaction), killer="conformance")
        for patch in implementation.COMPACTIONS
        if patch.name == "the-filter-of-keys-misses"
    ),
)
