"""A wrong coordinator for conformance."""

from __future__ import annotations

from dataclasses import replace

from tidemark.models.mutation.patches import Host, patches
from tidemark.models.protocols.ownership.driver import OwnershipAdapter
from tidemark.models.protocols.ownership.mutants import implementation

DRIVEN = Host("ownership-driven-a-save-counts-twice", OwnershipAdapter)

MUTANTS = patches(
    __name__,
    *(replace(patch, killer="conformance", on=DRIVEN) for patch in implementation.MUTANTS),
)
