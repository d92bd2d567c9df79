"""A wrong reader of transactions for conformance."""

from __future__ import annotations

from typing import ClassVar

from tidemark.impl.broker.messages import ChannelMessage
from tidemark.impl.streaming.assembly import Assembled, Assembly
from tidemark.impl.streaming.term import StreamingParts
from tidemark.impl.streaming.transaction_messages import DataMessage
from tidemark.models.protocols.transactions.driver import TransactionsAdapter


class _PassesOn(Assembly):
    def _keep(self, one: Assembled, body: DataMessage) -> tuple[ChannelMessage, ...]:
        return (*super()._keep(one, body), body)


class BodiesComeBeforeTheCommit(TransactionsAdapter):
    """A reader hands over a body before it has read the commit, too."""

    parts: ClassVar[StreamingParts] = StreamingParts(assembly=_PassesOn)
