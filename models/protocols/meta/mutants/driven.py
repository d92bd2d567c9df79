"""A wrong cache and a wrong coordinator for the walks."""

from __future__ import annotations

from dataclasses import replace

from tidemark.models.mutation.patches import Host, patches
from tidemark.models.protocols.meta.mutants import implementation
from tidemark.models.protocols.meta.program import meta

MUTANTS = patches(
    __name__,
    *(
        replace(patch, on=Host("meta-driven", meta), killer="conformance")
        for patch in implementation.CACHES
        if patch.name in ("an-answer-is-always-taken", "acknowledged-before-all-answer")
    ),
)
