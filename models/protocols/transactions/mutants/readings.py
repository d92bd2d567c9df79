"""Readings from which the guard of a step does not follow: what must be found of them is in the manifest."""

from tidemark.models.protocols.transactions.readings import CommitIsAMessage
from tidemark.spec.streaming import Streaming
from tidemark.spec.transactions import Transactions


class CommitIsOlder(CommitIsAMessage):
    """What was acknowledged already counts as about to land."""

    @staticmethod
    def glue(transactions, streaming, ts: Transactions.Ts, m: Streaming.Message):
        return (streaming.tick == transactions.tick) & (streaming.ts[m] == ts)
