"""A wrong DDL source for the walks: one fault of the implementation."""

from __future__ import annotations

from dataclasses import replace

from tidemark.models.mutation.patches import Host, patches
from tidemark.models.protocols.ddl.mutants import implementation
from tidemark.models.protocols.ddl.program import ddl

MUTANTS = patches(
    __name__,
    *(
        replace(one, on=Host("ddl-driven", ddl), killer="conformance")
        for one in implementation.MUTANTS
        if one.name == "noted-before-the-append"
    ),
)
