"""A wrong cache and a wrong coordinator for conformance."""

from __future__ import annotations

from dataclasses import replace

from tidemark.models.mutation.patches import Host, patches
from tidemark.models.protocols.meta.driver import MetaAdapter
from tidemark.models.protocols.meta.mutants import implementation

MUTANTS = patches(
    __name__,
    *(
        replace(patch, on=Host(f"meta-driven-{patch.name}", MetaAdapter), killer="conformance")
        for patch in implementation.CACHES
        if patch.name in ("an-answer-is-always-taken", "acknowledged-before-all-answer")
    ),
)
