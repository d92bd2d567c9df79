"""Lemmas and ranks: why the claims hold for any number of transactions, bodies and ticks."""

from tidemark.spec.language import (
    Bool,
    HelpfulCase,
    Measure,
    exists,
    forall,
    helpful,
    implies,
    least,
    lemma,
    rank,
)
from tidemark.spec.transactions.claims import TransactionsClaims


class Transactions(TransactionsClaims):
    """One channel with transactions, the node that writes it, and a reader that starts anew."""

    def is_committed(s, b: TransactionsClaims.Body) -> Bool:
        return (s.stage[s.of[b]] == "committed") & (s.place[b] > 0)

    def next_tick(s) -> TransactionsClaims.Place:
        """The place of the next tick of the reader: the first that it has not passed."""
        return least(s.Place, lambda p: (p > s.reading) & (p <= s.end) & (s.tick_at[p] > s.passed), default=0)

    @rank("what_is_committed_is_delivered")
    def what_a_body_waits_for(s, b: TransactionsClaims.Body) -> Measure:
        """A tick that passes the commit; the reader's way there. A reader that restarts keeps its tick."""
        ts = s.commit_ts[s.of[b]]
        return s.tick < ts, ts - s.passed

    @helpful("what_is_committed_is_delivered", action="write_tick")
    def a_tick_is_written(s, b: TransactionsClaims.Body) -> HelpfulCase:
        ts = s.commit_ts[s.of[b]]
        return s.is_committed(b) & (s.tick < ts), (ts,)

    @helpful("what_is_committed_is_delivered", action="read")
    def a_tick_is_read(s, b: TransactionsClaims.Body) -> HelpfulCase:
        return s.is_committed(b) & (s.tick >= s.commit_ts[s.of[b]]), (s.next_tick(), s.start)

    @lemma(source="facts 11")
    def ticks_are_in_order(s) -> Bool:
        """The ticks of the log grow with their places."""
        return forall(
            s.Place,
            lambda p: (s.tick_at[p] <= s.tick) & implies((p > s.end) | (p == 0), s.tick_at[p] == 0),
        ) & forall(
            s.Place,
            s.Place,
            lambda p, q: implies((p < q) & (s.tick_at[q] > 0), s.tick_at[p] < s.tick_at[q]),
        )

    @lemma(source="facts 11")
    def the_last_tick_is_in_the_log(s) -> Bool:
        """The last tick has a place, and the reader has passed all ticks up to its place."""
        return ((s.tick == 0) | exists(s.Place, lambda p: (p <= s.end) & (s.tick_at[p] == s.tick))) & forall(
            s.Place, lambda p: implies(p <= s.reading, s.tick_at[p] <= s.passed)
        )

    @lemma(source="facts 11; B28")
    def what_is_not_over_begins_behind_the_start(s) -> Bool:
        """A transaction that the node has forgotten and the reader has not begins behind the start."""
        return forall(
            s.Transaction,
            lambda t: implies(
                (s.stage[t] == "gone") & (s.until[t] > s.passed),
                s.begun[t] > s.start,
            ),
        )

    @lemma(source="facts 11")
    def a_transaction_has_its_places(s) -> Bool:
        """Begin, bodies and commit are in this order."""
        return forall(
            s.Transaction,
            lambda t: (
                (s.begun[t] <= s.end)
                & ((s.begun[t] > 0) == (s.stage[t] != "new"))
                & (s.ended[t] <= s.end)
                & ((s.ended[t] > 0) == (s.stage[t] == "committed"))
                & implies(s.ended[t] > 0, (s.tick_at[s.ended[t]] == 0) & (s.begun[t] < s.ended[t]))
                & implies(s.stage[t] == "committed", s.commit_ts[t] <= s.until[t])
            ),
        )

    @lemma(source="facts 11")
    def bodies_lie_in_their_transaction(s) -> Bool:
        """A body is behind the begin of its transaction, and before its commit."""
        return forall(
            s.Body,
            lambda b: (
                (s.place[b] <= s.end)
                & ((s.place[b] > 0) == (s.sent[b] == "logged"))
                & implies(s.sent[b] != "no", s.stage[s.of[b]] != "new")
                & implies(s.place[b] > 0, s.place[b] > s.begun[s.of[b]])
                & implies(
                    s.stage[s.of[b]] == "committed",
                    (s.sent[b] != "sent") & (s.place[b] < s.ended[s.of[b]]),
                )
            ),
        )

    @lemma(source="facts 11; property W")
    def commits_are_above_earlier_ticks(s) -> Bool:
        """A tick before a commit is smaller."""
        return forall(
            s.Transaction,
            s.Place,
            lambda t, p: implies(
                (s.stage[t] == "committed") & (p < s.ended[t]), s.tick_at[p] < s.commit_ts[t]
            ),
        )

    @lemma(source="facts 11")
    def the_reader_is_in_the_log(s) -> Bool:
        """The reader's start is in the log, and it has read no more than the log has."""
        return (
            (s.origin <= s.start)
            & (s.start <= s.reading)
            & (s.reading <= s.end)
            & (s.cut <= s.start)
            & (s.passed <= s.tick)
        )
