"""A wrong proxy, for the walks."""

from __future__ import annotations

from dataclasses import replace

from tidemark.models.mutation.patches import Host, patches
from tidemark.models.protocols.proxy.mutants import implementation
from tidemark.models.protocols.proxy.program import proxy

MUTANTS = patches(
    __name__,
    *(
        replace(one, on=Host("proxy-driven", proxy), killer="conformance")
        for one in implementation.MUTANTS
        if one.name == "commit-inserts-the-least"
    ),
)
