"""What transactions in a log assume of the streaming node that writes it, in their own words."""

from tidemark.models.composition.reading import Reading
from tidemark.spec.language import all_of
from tidemark.spec.streaming import Streaming
from tidemark.spec.transactions import Transactions


def _is_about_to_land(transactions, streaming, m):
    """A message of the present term that is given its timestamp and may be appended now; the log's last tick
    is the same for both.
    """
    return all_of(
        streaming.stage[m] == "pending", streaming.mine[m], streaming.place[m] == 0,
        streaming.tick == transactions.tick,
    )  # fmt: skip


class CommitIsAMessage(Reading, user=Transactions, owner=Streaming, action="commit"):
    """A commit is a message like every other."""

    @staticmethod
    def glue(transactions, streaming, ts: Transactions.Ts, m: Streaming.Message):
        return _is_about_to_land(transactions, streaming, m) & (streaming.ts[m] == ts)

    @staticmethod
    def takes(transactions, ts):
        return transactions.is_to_come(ts)


class BeginIsAMessage(Reading, user=Transactions, owner=Streaming, action="begin"):
    """A begin is a message, and its transaction lasts beyond the message's own timestamp."""

    @staticmethod
    def glue(transactions, streaming, until: Transactions.Ts, m: Streaming.Message):
        return _is_about_to_land(transactions, streaming, m) & (streaming.ts[m] < until)

    @staticmethod
    def takes(transactions, until):
        return transactions.is_to_come(until)
