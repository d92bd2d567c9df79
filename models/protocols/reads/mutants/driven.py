"""A wrong query node for conformance: one fault of the implementation."""

from __future__ import annotations

from typing import ClassVar

from tidemark.impl.querynode.query_node import QueryNodeParts
from tidemark.models.protocols.reads.driver import ReadsAdapter
from tidemark.models.protocols.reads.mutants.implementation import DoesNotWaitDelegator


class ReadsDoNotWait(ReadsAdapter):
    """A read is answered at the service time that there is."""

    parts: ClassVar[QueryNodeParts] = QueryNodeParts(delegator=DoesNotWaitDelegator)
