"""A wrong coordinator, for the walks."""

from __future__ import annotations

from dataclasses import replace

from tidemark.models.mutation.patches import Host, patches
from tidemark.models.protocols.ownership.mutants import implementation
from tidemark.models.protocols.ownership.program import ownership

MUTANTS = patches(
    __name__,
    *(
        replace(patch, killer="conformance", on=Host("ownership-driven", ownership))
        for patch in implementation.MUTANTS
        if patch.name == "a-save-counts-twice"
    ),
)
