"""Wrong collectors and readers, for the walks."""

from __future__ import annotations

from dataclasses import replace

from tidemark.models.mutation.patches import Host, patches
from tidemark.models.protocols.garbage.mutants import implementation
from tidemark.models.protocols.garbage.program import garbage

MUTANTS = patches(
    __name__,
    *(
        replace(patch, on=Host("garbage-driven", garbage), killer="conformance")
        for patch in implementation.MUTANTS
        if patch.name in ("readers-are-not-waited-for", "a-reader-has-what-it-was-given-last")
    ),
)
