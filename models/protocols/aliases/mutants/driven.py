"""A wrong cache for conformance."""

from __future__ import annotations

from dataclasses import replace

from tidemark.models.mutation.patches import Host, patches
from tidemark.models.protocols.aliases.mutants import names

MUTANTS = patches(
    __name__,
    *(
        replace(patch, on=Host("aliases-driven", names.names), killer="conformance")
        for patch in names.MUTANTS
        if patch.name == "an-alias-is-not-forgotten"
    ),
)
