"""A wrong side of ids for the walks."""

from __future__ import annotations

from dataclasses import replace

from tidemark.models.mutation.patches import Host, patches
from tidemark.models.protocols.ids.mutants import implementation
from tidemark.models.protocols.ids.program import ids

MUTANTS = patches(
    __name__,
    *(
        replace(patch, on=Host("ids-driven", ids), killer="conformance")
        for patch in implementation.MUTANTS
        if patch.name == "a-run-begins-where-another-ended"
    ),
)
