"""A wrong side of ids for conformance."""

from __future__ import annotations

from dataclasses import replace

from tidemark.models.mutation.patches import Host, patches
from tidemark.models.protocols.ids.driver import IdsAdapter
from tidemark.models.protocols.ids.mutants import implementation

MUTANTS = patches(
    __name__,
    *(
        replace(patch, on=Host(f"ids-driven-{patch.name}", IdsAdapter), killer="conformance")
        for patch in implementation.MUTANTS
        if patch.name == "a-run-begins-where-another-ended"
    ),
)
