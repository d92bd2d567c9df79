"""Harmless deviations from the proxy's tick: the holding halves of the pairs.

Each is proved for any size; the other half is a mutant in ``proxy`` or an instance of ``proxy_seeds``.
"""

from tidemark.spec.language import (
    Bool,
    exists,
    forall,
    greatest,
    implies,
    ite,
    lemma,
    maximum,
    minimum,
    require,
)
from tidemark.spec.proxy import Proxy


class NoGate(Proxy):
    """Every tick publishes minTs - 1: the gate damps jitter, and is not needed (hazard 28)."""

    def moves(s, c: Proxy.Channel) -> Bool:
        return s.snap_present[c]


class NanosecondSlip(Proxy):
    """The interval is added in another unit: 200 ms as nanoseconds are 763 ms of hybrid time, not quite four
    times as much (hazard 28). The gate is still capped by the greatest timestamp of the snapshot.
    """

    def next_gate(s, c: Proxy.Channel) -> Proxy.Ts:
        return ite(s.follows[c], minimum(s.now + 4 * s.interval, s.snap_max[c]), s.now)


class GreatestIsDefault(Proxy):
    """A report's default is the greatest of the tick's timestamp and all published values (facts 3.3)."""

    def idle_value(s, c: Proxy.Channel) -> Proxy.Ts:
        own = greatest(
            s.Ts,
            lambda x: exists(s.Channel, lambda d: s.follows[d] & (s.published[d] == x)),
            upto=s.issued,
            default=0,
        )
        return maximum(s.default, own)

    @lemma(source="facts 3.3")
    def the_snapshot_is_below_whoever_is_not_in_it(s) -> Bool:
        """A task on a channel that the snapshot does not have is above all timestamps of the snapshot."""
        return forall(
            s.Task,
            s.Channel,
            s.Channel,
            lambda t, c, d: implies(
                (s.tick == "taken") & s.is_open(t, c) & ~s.snap_present[c], s.ts[t] > s.snap_min[d]
            ),
        )


class MinNotTaken(Proxy):
    """A commit leaves the least timestamp alone: a new one is larger (design document 004; facts 3.2)."""

    def least_with(s, t: Proxy.Task, c: Proxy.Channel) -> Proxy.Ts:
        return ite(s.present[c], s.min_ts[c], s.ts[t])


class CommitFirst(Proxy):
    """The task is committed before it is enqueued; then the pop needs no lock (hazard 27)."""

    def holds_lock(s, t: Proxy.Task) -> Bool:
        return (s.phase[t] == "asked") | ((s.phase[t] == "stamped") & ~s.committed[t])

    def is_due(s, t: Proxy.Task) -> Bool:
        return (s.phase[t] == "stamped") & ~s.committed[t]

    def enqueue(s, t: Proxy.Task) -> None:
        super().enqueue(t)
        require(s.committed[t])

    def pop_is_free(s) -> Bool:
        return True

    @lemma(source="hazard 27")
    def what_is_enqueued_is_committed(s) -> Bool:
        """No worker can have a task that is not committed."""
        return forall(s.Task, lambda t: implies(s.enqueued(t), s.committed[t]))
