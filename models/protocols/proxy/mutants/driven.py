"""A wrong proxy for conformance: one fault of the implementation."""

from __future__ import annotations

from dataclasses import replace

from tidemark.models.mutation.patches import Host, patches
from tidemark.models.protocols.proxy.driver import ProxyAdapter
from tidemark.models.protocols.proxy.mutants import implementation

MUTANTS = patches(
    __name__,
    *(
        replace(one, on=Host("proxy-driven", ProxyAdapter), killer="conformance")
        for one in implementation.MUTANTS
        if one.name == "commit-inserts-the-least"
    ),
)
