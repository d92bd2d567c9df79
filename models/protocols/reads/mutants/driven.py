"""A wrong query node and a wrong proxy for conformance: one fault of the implementation each."""

from __future__ import annotations

from typing import ClassVar

from tidemark.impl.proxy.reads import Reader
from tidemark.impl.querynode.query_node import QueryNodeParts
from tidemark.models.protocols.reads.driver import ReadsAdapter
from tidemark.models.protocols.reads.handover_driver import MovesAdapter
from tidemark.models.protocols.reads.mutants.asking import AsksTheNextForAnything
from tidemark.models.protocols.reads.mutants.implementation import DoesNotWaitDelegator


class ReadsDoNotWait(ReadsAdapter):
    """A read is answered at the service time that there is."""

    parts: ClassVar[QueryNodeParts] = QueryNodeParts(delegator=DoesNotWaitDelegator)


class TheNextIsAskedForAnything(MovesAdapter):
    """The next node is asked without the guarantee."""

    reader: ClassVar[type[Reader]] = AsksTheNextForAnything
