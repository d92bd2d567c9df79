"""A wrong compactor for conformance."""

from __future__ import annotations

from dataclasses import replace

from tidemark.models.mutation.patches import Host, patches
from tidemark.models.protocols.deletes.driver import DeletesAdapter
from tidemark.models.protocols.deletes.mutants import implementation

MUTANTS = patches(
    __name__,
    *(
        replace(patch, on=Host(f"deletes-driven-{patch.name}", DeletesAdapter), killer="conformance")
        for patch in implementation.COMPACTIONS
        if patch.name == "the-filter-of-keys-misses"
    ),
)
