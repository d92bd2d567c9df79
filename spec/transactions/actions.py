"""Transactions in the log of one channel: begin, bodies, commit, rollback, expiry; state and steps.

A client opens a transaction, sends bodies, and commits or rolls back. Each of these is a message of the log.
A reader keeps bodies back until it has read the commit, and delivers all of them with the commit's timestamp.
Ticks pass in between. A transaction lasts until a given time; a tick that reaches it ends the transaction,
for the node and for readers. After a crash the node finds the open transactions again by reading the log.

A reader that restarts begins behind a place that it noted at a tick, and so does the node: that place must be
before the begin of every transaction that is open at the tick.

Sources: facts 11.

How it is cut:

- Timestamps are those that the streaming node gives: a commit is later than every tick of the log
  (``spec/streaming``). Ticks are the clock: a begin says until which timestamp its transaction lasts.
- To send a body and to have it in the log are two steps. All other messages are appended in one step.
- A tick that is not greater than the last one is left out.
- A crash and the term that follows are one step. Until then, messages under way may still be appended.
- A reader reads to the next tick in one step. Its memory follows from its start and its place; ``delivered``
  are the bodies that it has delivered, over all its restarts.
- Left out: messages without a transaction (``spec/streaming``), prolongation by a body, several channels.
"""

from tidemark.spec.language import (
    Bool,
    Enum,
    Map,
    Nat,
    Protocol,
    Set,
    Sort,
    TypeAlias,
    action,
    all_of,
    constant,
    each,
    everywhere,
    exists,
    forall,
    implies,
    ite,
    one_of,
    require,
)


class TransactionsActions(Protocol, name="transactions"):
    """One channel with transactions, the node that writes it, and a reader that starts anew."""

    Transaction: TypeAlias = Sort
    Body: TypeAlias = Sort
    Ts: TypeAlias = Nat
    Place: TypeAlias = Nat
    Faults: TypeAlias = Nat
    Stage: TypeAlias = Enum["new", "open", "committed", "rolled_back", "gone"]
    Sent: TypeAlias = Enum["no", "sent", "logged", "refused"]

    of: Map[Body, Transaction] = constant()

    # The log.
    end: Place = 0
    tick: Ts = 0  # the last tick
    tick_at: Map[Place, Ts] = everywhere(0)  # the tick at a place; 0: none
    begun: Map[Transaction, Place] = everywhere(0)
    until: Map[Transaction, Ts] = everywhere(0)  # how long it lasts
    ended: Map[Transaction, Place] = everywhere(0)  # the place of the commit
    commit_ts: Map[Transaction, Ts] = everywhere(0)
    place: Map[Body, Place] = everywhere(0)
    cut: Place = 0  # the log is cut up to here

    # The node's memory.
    stage: Map[Transaction, Stage] = everywhere("new")
    sent: Map[Body, Sent] = everywhere("no")

    # The reader.
    origin: Place = 0  # its present start is behind this place
    reading: Place = 0
    passed: Ts = 0  # the last tick that it has handed over
    start: Place = 0  # behind this place it would begin anew
    delivered: Set[Body] = everywhere(False)
    faults: Faults = 0  # crashes, so that an instance can bound them

    # ---- the node ----

    @action(source="facts 11", relies_on=("streaming.ticks_cover_what_is_acknowledged",))
    def begin(s, t: Transaction, until: Ts) -> None:
        """A transaction begins; it lasts until a time that is still to come."""
        require((s.stage[t] == "new") & s.is_to_come(until))
        s.end = s.end + 1
        s.begun[t] = s.end
        s.until[t] = until
        s.stage[t] = "open"

    @action(source="facts 11")
    def send(s, b: Body) -> None:
        """A body is on its way into the log."""
        require((s.sent[b] == "no") & (s.stage[s.of[b]] == "open"))
        s.sent[b] = "sent"

    @action(fairness="weak", source="facts 11")
    def append(s, b: Body) -> None:
        """A body is in the log."""
        require(s.sent[b] == "sent")
        s.end = s.end + 1
        s.place[b] = s.end
        s.sent[b] = "logged"

    @action(source="facts 11")
    def refuse(s, b: Body) -> None:
        """The append of a body fails: the log does not take it, now or later. The client gets the error."""
        require(s.sent[b] == "sent")
        s.sent[b] = "refused"

    @action(source="facts 11", relies_on=("streaming.ticks_cover_what_is_acknowledged",))
    def commit(s, t: Transaction, ts: Ts) -> None:
        """A commit is in the log: in time, and behind all bodies."""
        require((s.stage[t] == "open") & s.is_to_come(ts))
        require(s.is_in_time(t, ts) & s.has_all_bodies(t))
        s.end = s.end + 1
        s.ended[t] = s.end
        s.commit_ts[t] = ts
        s.stage[t] = "committed"

    def is_to_come(s, ts: Ts) -> Bool:
        """No tick has reached this time: a message that is appended is later than the last tick."""
        return ts > s.tick

    def is_in_time(s, t: Transaction, ts: Ts) -> Bool:
        return ts <= s.until[t]

    def has_all_bodies(s, t: Transaction) -> Bool:
        return forall(s.Body, lambda b: implies(s.of[b] == t, s.sent[b] != "sent"))

    @action(source="facts 11")
    def roll_back(s, t: Transaction) -> None:
        """A transaction is given up, perhaps too late; its bodies on their way may still come."""
        require(one_of(s.stage[t], "open", "gone"))
        s.end = s.end + 1
        s.stage[t] = "rolled_back"

    @action(source="facts 11")
    def expire(s) -> None:
        """The node forgets all expired transactions, in one step."""
        require(exists(s.Transaction, s.expires))
        s.stage = each(s.Transaction, lambda t: ite(s.expires(t), "gone", s.stage[t]))

    def expires(s, t: Transaction) -> Bool:
        return (s.stage[t] == "open") & (s.tick >= s.until[t])

    @action(fairness="weak", source="facts 11; property W")
    def write_tick(s, ts: Ts) -> None:
        """A tick is in the log."""
        require(ts > s.tick)
        s.end = s.end + 1
        s.tick_at[s.end] = ts
        s.tick = ts

    @action(source="B28; facts 11")
    def crash(s) -> None:
        """A crash and a new term, which finds open transactions in the log. Bodies on the way are refused."""
        s.faults = s.faults + 1
        s.stage = each(
            s.Transaction,
            lambda t: ite((s.stage[t] == "open") & ~s.is_found(t), "gone", s.stage[t]),
        )
        s.sent = each(s.Body, lambda b: ite(s.sent[b] == "sent", "refused", s.sent[b]))

    def is_found(s, t: Transaction) -> Bool:
        """The log says that the transaction is open."""
        return (s.begun[t] > s.cut) & (s.until[t] > s.tick)

    @action(source="B28; facts 11")
    def truncate(s, upto: Place) -> None:
        """The log is cut behind the reader's start."""
        require((upto > s.cut) & (upto <= s.start))
        s.cut = upto

    # ---- the reader ----

    @action(fairness="weak", source="facts 11")
    def read(s, p: Place, upto: Place) -> None:
        """The reader comes to the next new tick, and delivers the transactions that were committed up to it.

        ``upto``: its place for a restart. Transactions that are open at the tick must be behind.
        """
        require((p > s.reading) & (p <= s.end) & (s.tick_at[p] > s.passed))
        require(forall(s.Place, lambda q: implies((q > s.reading) & (q < p), s.tick_at[q] <= s.passed)))
        require((upto >= s.start) & (upto < p))
        require(forall(s.Transaction, lambda t: implies(s.is_pending(t, p), s.begun[t] > upto)))
        s.delivered = each(s.Body, lambda b: s.delivered[b] | s.comes_at(b, p))
        s.passed = s.tick_at[p]
        s.start = upto
        s.reading = p

    def is_pending(s, t: Transaction, p: Place) -> Bool:
        """A transaction that began before this tick is not over at it."""
        ts = s.tick_at[p]
        return all_of(
            s.begun[t] > 0,
            s.begun[t] < p,
            s.until[t] > ts,
            s.stage[t] != "rolled_back",
            ~((s.stage[t] == "committed") & (s.ended[t] < p) & (s.commit_ts[t] <= ts)),
        )

    def comes_at(s, b: Body, p: Place) -> Bool:
        """The tick lets the reader deliver a body that it has assembled."""
        t = s.of[b]
        return all_of(
            s.is_assembled(b, p),
            s.commit_ts[t] > s.passed,
            s.commit_ts[t] <= s.tick_at[p],
        )

    def is_assembled(s, b: Body, p: Place) -> Bool:
        """Since its start the reader has read begin, body and commit in this order, in time."""
        t = s.of[b]
        return all_of(
            s.stage[t] == "committed",
            s.ended[t] < p,
            s.until[t] > s.passed,
            s.begun[t] > s.origin,
            s.place[b] > s.begun[t],
            s.place[b] < s.ended[t],
        )

    @action(source="facts 11; B28")
    def start_anew(s) -> None:
        """The reader ends, and begins behind the place that it has noted."""
        s.faults = s.faults + 1
        s.origin = s.start
        s.reading = s.start
