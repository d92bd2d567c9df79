"""Claims about transactions in a log: safety, liveness and witnesses."""

from tidemark.spec.language import (
    Bool,
    Self,
    all_of,
    exists,
    forall,
    implies,
    invariant,
    leads_to,
    reachable,
    transition_invariant,
)
from tidemark.spec.transactions.actions import TransactionsActions


class TransactionsClaims(TransactionsActions):
    """One channel with transactions, the node that writes it, and a reader that starts anew."""

    # ---- safety ----

    @invariant(source="facts 11")
    def committed_bodies_are_delivered(s) -> Bool:
        """Once a tick has passed a commit, the reader has delivered every body of the transaction."""
        return forall(
            s.Body,
            lambda b: implies(
                all_of(s.place[b] > 0, s.stage[s.of[b]] == "committed", s.commit_ts[s.of[b]] <= s.passed),
                s.delivered[b],
            ),
        )

    @invariant(source="facts 11", frame=True)
    def nothing_else_is_delivered(s) -> Bool:
        """A body is delivered only if its transaction is committed, at or below the reader's tick."""
        return forall(
            s.Body,
            lambda b: implies(
                s.delivered[b],
                all_of(s.place[b] > 0, s.stage[s.of[b]] == "committed", s.commit_ts[s.of[b]] <= s.passed),
            ),
        )

    @transition_invariant(source="facts 11", frame=True)
    def bodies_come_at_their_commit(before, after: Self) -> Bool:
        """A body is delivered by the first tick that has reached the commit's timestamp, and once."""
        return forall(
            before.Body,
            lambda b: implies(
                after.delivered[b] & ~before.delivered[b],
                (before.commit_ts[before.of[b]] > before.passed)
                & (before.commit_ts[before.of[b]] <= after.passed),
            ),
        )

    @invariant(source="facts 11; B28")
    def a_start_covers_what_is_open(s) -> Bool:
        """A reader that restarts reads the begin of every transaction that it may still deliver."""
        return forall(s.Transaction, lambda t: implies(s.may_be_delivered(t), s.begun[t] > s.start))

    def may_be_delivered(s, t: TransactionsActions.Transaction) -> Bool:
        """The transaction is open and its time is not over, or its commit is above the reader's tick."""
        return ((s.stage[t] == "open") & (s.until[t] > s.passed)) | (
            (s.stage[t] == "committed") & (s.commit_ts[t] > s.passed)
        )

    @transition_invariant(source="B28; facts 11")
    def an_open_transaction_outlives_a_crash(before, after: Self) -> Bool:
        """An open transaction ends only by its client, or when a tick has reached its time."""
        return forall(
            before.Transaction,
            lambda t: implies(
                (before.stage[t] == "open") & (after.stage[t] == "gone"), before.tick >= before.until[t]
            ),
        )

    @transition_invariant(source="facts 11: expiry", frame=True)
    def all_that_is_over_ends_together(before, after: Self) -> Bool:
        """Where the node forgets a transaction, it keeps no expired one."""
        return forall(
            before.Transaction,
            before.Transaction,
            lambda t, u: implies(
                all_of(before.stage[t] == "open", after.stage[t] == "gone", after.stage[u] == "open"),
                after.until[u] > after.tick,
            ),
        )

    # ---- liveness ----

    @leads_to(source="facts 11; property WL")
    def what_is_committed_is_delivered(s, b: TransactionsActions.Body) -> tuple[Bool, Bool]:
        """A body of a committed transaction is delivered in the end."""
        return (s.stage[s.of[b]] == "committed") & (s.place[b] > 0), s.delivered[b]

    # ---- witnesses ----

    @reachable(after="commit", source="facts 11")
    def a_tick_passes_between_body_and_commit(
        before, after: Self, t: TransactionsActions.Transaction
    ) -> Bool:
        """A commit follows a tick that followed a body of the transaction."""
        return exists(
            before.Body,
            before.Place,
            lambda b, p: all_of(
                before.of[b] == t, before.place[b] > 0, p > before.place[b], before.tick_at[p] > 0
            ),
        )

    @reachable(after="read", source="facts 11")
    def a_reader_delivers_after_it_began_anew(before, after: Self) -> Bool:
        """A reader that has restarted delivers a body."""
        return (before.origin > 0) & exists(before.Body, lambda b: after.delivered[b] & ~before.delivered[b])

    @reachable(after="read", source="facts 11")
    def an_open_transaction_holds_the_start_back(before, after: Self) -> Bool:
        """The start stays before the begin of a transaction that is far behind."""
        return exists(
            before.Transaction,
            lambda t: (
                (before.stage[t] == "open")
                & (before.begun[t] < before.reading)
                & (after.start < before.begun[t])
            ),
        )

    @reachable(after="expire", source="facts 11")
    def a_transaction_with_a_body_expires(before, after: Self) -> Bool:
        """A transaction that has a body in the log expires."""
        return exists(before.Body, lambda b: before.expires(before.of[b]) & (before.place[b] > 0))

    @reachable(after="expire", source="facts 11: expiry")
    def two_transactions_end_by_one_tick(before, after: Self) -> Bool:
        """Two transactions expire at the same tick."""
        return exists(
            before.Transaction,
            before.Transaction,
            lambda t, u: (t != u) & before.expires(t) & before.expires(u),
        )

    @reachable(after="truncate", source="B28")
    def a_transaction_is_cut_off(before, after: Self) -> Bool:
        """A transaction that was delivered is cut off."""
        return exists(
            before.Body,
            lambda b: before.delivered[b] & (before.ended[before.of[b]] <= after.cut),
        )
