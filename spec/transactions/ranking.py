"""Why committed bodies are delivered, for any size: a measure, and the actions that lower it."""

from tidemark.spec.language import helpful, least, rank
from tidemark.spec.transactions.claims import TransactionsClaims


class TransactionsRanking(TransactionsClaims):
    """One channel with transactions, the node that writes it, and a reader that starts anew."""

    def is_committed(s, b):
        return (s.stage[s.of[b]] == "committed") & (s.place[b] > 0)

    def next_tick(s):
        """The place of the next tick of the reader: the first that it has not passed."""
        return least(s.Place, lambda p: (p > s.reading) & (p <= s.end) & (s.tick_at[p] > s.passed), default=0)

    @rank("what_is_committed_is_delivered")
    def what_a_body_waits_for(s, b: TransactionsClaims.Body):
        """A tick that passes the commit; the reader's way there. A reader that restarts keeps its tick."""
        ts = s.commit_ts[s.of[b]]
        return s.tick < ts, ts - s.passed

    @helpful("what_is_committed_is_delivered", action="write_tick")
    def a_tick_is_written(s, b: TransactionsClaims.Body):
        ts = s.commit_ts[s.of[b]]
        return s.is_committed(b) & (s.tick < ts), (ts,)

    @helpful("what_is_committed_is_delivered", action="read")
    def a_tick_is_read(s, b: TransactionsClaims.Body):
        return s.is_committed(b) & (s.tick >= s.commit_ts[s.of[b]]), (s.next_tick(), s.start)
