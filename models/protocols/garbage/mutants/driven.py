"""Wrong collectors and readers for conformance."""

from __future__ import annotations

from dataclasses import replace

from tidemark.models.mutation.patches import Host, patches
from tidemark.models.protocols.garbage.driver import GarbageAdapter
from tidemark.models.protocols.garbage.mutants import implementation

MUTANTS = patches(
    __name__,
    *(
        replace(patch, on=Host(f"garbage-driven-{patch.name}", GarbageAdapter), killer="conformance")
        for patch in implementation.MUTANTS
        if patch.name in ("readers-are-not-waited-for", "a-reader-has-what-it-was-given-last")
    ),
)
