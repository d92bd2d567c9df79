"""A wrong proxy for conformance: one fault of the implementation."""

from __future__ import annotations

from typing import ClassVar

from tidemark.impl.proxy.proxy import ProxyParts
from tidemark.models.protocols.proxy.driver import ProxyAdapter
from tidemark.models.protocols.proxy.mutants.implementation import InsertsTheLeast


class CommitInsertsTheLeast(ProxyAdapter):
    """A commit puts the least timestamp into the set instead of the task's (B7)."""

    parts: ClassVar[ProxyParts] = ProxyParts(statistics=InsertsTheLeast)
