"""Named mutants of transactions in a log, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import Bool, all_of, each, forall, implies, ite, require
from tidemark.spec.transactions import Transactions

SMALL = "transactions-small"
TWO = "transactions-two"


@mutant(killer="transactions.committed_bodies_are_delivered", source="facts 11", instance=SMALL)
class CommitsTooLate(Transactions):
    """A commit is taken after the end of the transaction's time: a reader has dropped the bodies."""

    def is_in_time(s, t: Transactions.Transaction, ts: Transactions.Ts) -> Bool:
        return s.stage[t] == "open"


@mutant(killer="transactions.a_start_covers_what_is_open", source="B28; facts 11", instance=SMALL)
class StartPassesABegin(Transactions):
    """A reader begins anew behind the begin of a transaction that is open."""

    def is_pending(s, t: Transactions.Transaction, p: Transactions.Place) -> Bool:
        return super().is_pending(t, p) & (s.stage[t] == "committed")


@mutant(killer="transactions.a_start_covers_what_is_open", source="facts 11", instance=SMALL)
class CommitLetsTheStartGo(Transactions):
    """A transaction holds the start back until its commit is read, though a tick has not reached it."""

    def is_pending(s, t: Transactions.Transaction, p: Transactions.Place) -> Bool:
        return super().is_pending(t, p) & ~((s.stage[t] == "committed") & (s.ended[t] < p))


@mutant(killer="transactions.nothing_else_is_delivered", source="facts 11", instance=SMALL)
class DeliversWithoutACommit(Transactions):
    """A body is delivered by the next tick, committed or not."""

    def comes_at(s, b: Transactions.Body, p: Transactions.Place) -> Bool:
        return super().comes_at(b, p) | ((s.place[b] > s.reading) & (s.place[b] < p))


@mutant(killer="transactions.committed_bodies_are_delivered", source="facts 11", instance=SMALL)
class ReaderDropsItTooEarly(Transactions):
    """A reader drops a transaction by the tick that hands it over."""

    def is_assembled(s, b: Transactions.Body, p: Transactions.Place) -> Bool:
        return super().is_assembled(b, p) & (s.until[s.of[b]] > s.tick_at[p])


@mutant(killer="transactions.an_open_transaction_outlives_a_crash", source="facts 11", instance=SMALL)
class ForgottenByACrash(Transactions):
    """A node that starts does not look for open transactions."""

    def is_found(s, t: Transactions.Transaction) -> Bool:
        return super().is_found(t) & (s.stage[t] != "open")


@mutant(killer="transactions.an_open_transaction_outlives_a_crash", source="B28; facts 11", instance=SMALL)
class CutBehindWhatIsRead(Transactions):
    """The log is cut behind what was read, though a transaction is open there."""

    def truncate(s, upto: Transactions.Place) -> None:
        require((upto > s.cut) & (upto <= s.reading))
        s.cut = upto


@mutant(killer="transactions.an_open_transaction_outlives_a_crash", source="facts 11", instance=SMALL)
class ExpiresBeforeATick(Transactions):
    """The node forgets a transaction before the log has a tick that says so."""

    def expires(s, t: Transactions.Transaction) -> Bool:
        return (s.stage[t] == "open") & (s.tick > 0)


@mutant(
    killer="transactions.all_that_is_over_ends_together",
    source="facts 11: expiry",
    instance="transactions-due",
)
class OnlyTheFirstExpires(Transactions):
    """Of the transactions that end by the same tick, the node forgets one."""

    def expires(s, t: Transactions.Transaction) -> Bool:
        is_over = super().expires
        return is_over(t) & forall(s.Transaction, lambda u: implies(is_over(u), s.begun[t] <= s.begun[u]))


@mutant(
    killer="transactions.bodies_come_at_their_commit", source="facts 11: whole or not at all", instance=TWO
)
class DeliversLateBodies(Transactions):
    """A reader hands over the first body at the commit, and the others by the next tick."""

    def comes_at(s, b: Transactions.Body, p: Transactions.Place) -> Bool:
        first = forall(
            s.Body, lambda c: implies((s.of[c] == s.of[b]) & (s.place[c] > 0), s.place[b] <= s.place[c])
        )
        t = s.of[b]
        late = all_of(s.is_assembled(b, p), s.commit_ts[t] <= s.passed)
        return ite(first, super().comes_at(b, p), late)


@mutant(killer="transactions.what_is_committed_is_delivered", source="facts 11", instance="transactions-live")
class WaitsForOpenOnes(Transactions):
    """A reader hands nothing over while a transaction is open."""

    def read(s, p: Transactions.Place, upto: Transactions.Place) -> None:
        require(forall(s.Transaction, lambda t: s.stage[t] != "open"))
        super().read(p, upto)


@mutant(killer="transactions.nothing_else_is_delivered", source="facts 11", instance=SMALL)
class CrashCommitsWhatIsOpen(Transactions):
    """A node that starts takes an open transaction for a committed one, and a reader its bodies."""

    def crash(s) -> None:
        super().crash()
        s.delivered = each(
            s.Body, lambda b: s.delivered[b] | ((s.stage[s.of[b]] == "open") & (s.place[b] > 0))
        )
