"""The proxy in finer steps: commit, pop and snapshot go from channel to channel under the lock.

In ``impl/proxy`` each of them is one section between two awaits, for all channels, and the programs with
several channels compare it with the one step of the protocol. A server with threads goes from channel to
channel; this variant shows that it loses nothing.
"""

from tidemark.spec.language import (
    Bool,
    Map,
    Self,
    Set,
    action,
    all_of,
    any_of,
    each,
    everywhere,
    exists,
    forall,
    implies,
    invariant,
    ite,
    least,
    lemma,
    maximum,
    reachable,
    require,
)
from tidemark.spec.proxy import Proxy


class ChannelByChannel(Proxy):
    """The lock is held from the first channel to the last."""

    in_stats: Set[Proxy.Task, Proxy.Channel] = everywhere(False)  # a commit has come so far
    popping: Set[Proxy.Task] = everywhere(False)  # a pop has the lock
    gone: Set[Proxy.Task, Proxy.Channel] = everywhere(False)  # it has come so far
    copying: Bool = False
    copied: Set[Proxy.Channel] = everywhere(False)
    copy_present: Set[Proxy.Channel] = everywhere(False)
    copy_min: Map[Proxy.Channel, Proxy.Ts] = everywhere(0)
    copy_max: Map[Proxy.Channel, Proxy.Ts] = everywhere(0)

    # ---- the lock, and open tasks ----

    def holds_lock(s, t: Proxy.Task) -> Bool:
        return super().holds_lock(t) | s.popping[t]

    def lock_is_free(s) -> Bool:
        return super().lock_is_free() & implies(s.LOCKED, ~s.copying)

    def is_open(s, t: Proxy.Task, c: Proxy.Channel) -> Bool:
        return super().is_open(t, c) & ~s.gone[t, c]

    # ---- commit ----

    @action(fairness="weak", source="seed 002, commitPChanStats; facts 3.1")
    def commit_channel(s, t: Proxy.Task, c: Proxy.Channel) -> None:
        """The statistics of one channel get the task's timestamp."""
        require(s.is_due(t))
        require(s.uses[t, c] & ~s.in_stats[t, c])
        s.in_stats[t, c] = True
        s.min_ts[c] = s.least_with(t, c)
        s.max_ts[c] = maximum(s.max_ts[c], s.ts[t])
        s.present[c] = True
        s.tracked[c, s.ts[t]] = True

    def commit(s, t: Proxy.Task) -> None:
        require(s.is_due(t))
        require(forall(s.Channel, lambda c: implies(s.uses[t, c], s.in_stats[t, c])))
        s.committed[t] = True
        s.in_stats = each(s.Task, s.Channel, lambda u, c: s.in_stats[u, c] & (u != t))

    # ---- pop ----

    @action(fairness="strong", source="seed 002, popPChanStats; facts 3.1")
    def begin_pop(s, t: Proxy.Task) -> None:
        """The task has ended and takes the lock."""
        require((s.phase[t] == "finished") & s.pop_is_free())
        require(implies(s.KNOWN_OUTCOME, s.outcome_is_known(t)))
        require(~s.popping[t])
        s.popping[t] = True

    @action(fairness="weak", source="seed 002, popPChanStats; facts 3.1")
    def pop_channel(s, t: Proxy.Task, c: Proxy.Channel) -> None:
        """The task's timestamp leaves the statistics of one channel."""
        require(s.popping[t] & s.uses[t, c])
        require(~s.gone[t, c])
        s.gone[t, c] = True
        s.tracked[c, s.ts[t]] = False
        s.present[c] = exists(s.Ts, lambda x: s.tracked[c, x])
        s.min_ts[c] = least(s.Ts, lambda x: s.tracked[c, x], default=0)
        s.max_ts[c] = ite(s.present[c], s.max_ts[c], 0)

    def pop(s, t: Proxy.Task) -> None:
        require(s.popping[t])
        require(forall(s.Channel, lambda c: implies(s.uses[t, c], s.gone[t, c])))
        s.phase[t] = "popped"
        s.popping[t] = False
        s.gone = each(s.Task, s.Channel, lambda u, c: s.gone[u, c] & (u != t))

    # ---- snapshot ----

    @action(fairness="strong", source="seed 002, tick: getStatisticsFunc; facts 3.3")
    def begin_snapshot(s) -> None:
        """The ticker takes the lock."""
        require(s.tick == ite(s.NOW_FIRST, "stamped", "idle"))
        require(s.lock_is_free() & ~s.copying)
        s.copying = True

    @action(fairness="weak", source="seed 002, tick: getStatisticsFunc; facts 3.3")
    def copy_channel(s, c: Proxy.Channel) -> None:
        """It copies the statistics of one channel."""
        require(s.copying & ~s.copied[c])
        s.copied[c] = True
        s.copy_present[c] = s.present[c]
        s.copy_min[c] = s.min_ts[c]
        s.copy_max[c] = s.max_ts[c]

    def take_snapshot(s) -> None:
        require(s.copying & forall(s.Channel, lambda c: s.copied[c]))
        s.tick = "taken"
        s.snap_present = each(s.Channel, lambda c: s.copy_present[c])
        s.snap_min = each(s.Channel, lambda c: s.copy_min[c])
        s.snap_max = each(s.Channel, lambda c: s.copy_max[c])
        s.copying = False
        s.copied = each(s.Channel, lambda c: False)
        s.copy_present = each(s.Channel, lambda c: False)
        s.copy_min = each(s.Channel, lambda c: 0)
        s.copy_max = each(s.Channel, lambda c: 0)

    # ---- claims and lemmas ----

    @invariant(source="hazard 27; B8")
    def no_ghost_is_tracked(s) -> Bool:
        """Tracked timestamps are of tasks that have not ended there and are committed, or about to be."""
        return forall(
            s.Channel,
            s.Ts,
            lambda c, x: implies(
                s.tracked[c, x],
                exists(
                    s.Task,
                    lambda t: s.is_open(t, c) & (s.committed[t] | s.in_stats[t, c]) & (s.ts[t] == x),
                ),
            ),
        )

    @lemma(source="seed 004, 6.6.1; facts 3.2: new timestamps are larger")
    def the_holder_is_the_latest(s) -> Bool:
        """The task that asks or commits is above all tracked ones, except for its own entries."""
        return forall(
            s.Task,
            s.Channel,
            s.Ts,
            lambda t, c, x: implies(
                s.holds_lock(t) & ~s.popping[t] & s.tracked[c, x],
                any_of(
                    x < ite(s.phase[t] == "asked", s.floor[t] + 1, s.ts[t]),
                    s.in_stats[t, c] & (x == s.ts[t]),
                ),
            ),
        )

    @lemma(source="facts 3.1")
    def one_section_is_under_way(s) -> Bool:
        """A commit, pop or copy that has reached some channels has the lock; a copy equals the statistics."""
        return all_of(
            forall(
                s.Task,
                s.Channel,
                lambda t, c: all_of(
                    implies(s.in_stats[t, c], s.uses[t, c] & s.is_due(t) & s.tracked[c, s.ts[t]]),
                    implies(s.gone[t, c], s.popping[t]),
                ),
            ),
            forall(
                s.Task,
                lambda t: all_of(
                    implies(s.popping[t], (s.phase[t] == "finished") & s.committed[t]),
                    implies(s.popping[t], s.outcome_is_known(t)),
                    implies(s.copying, ~s.holds_lock(t)),
                ),
            ),
            s.copying | forall(s.Channel, lambda c: ~s.copied[c]),
            implies(s.copying, (s.tick == "stamped")),
            forall(
                s.Channel,
                lambda c: ite(
                    s.copied[c],
                    (s.copy_present[c] == s.present[c])
                    & (s.copy_min[c] == s.min_ts[c])
                    & (s.copy_max[c] == s.max_ts[c]),
                    ~s.copy_present[c] & (s.copy_min[c] == 0) & (s.copy_max[c] == 0),
                ),
            ),
        )

    @reachable(after="copy_channel", source="facts 3.3")
    def a_snapshot_meets_a_task_that_is_over(before, after: Self, c: Proxy.Channel) -> Bool:
        """While statistics are copied, an ended task waits for the lock."""
        return exists(before.Task, lambda t: (before.phase[t] == "finished") & before.committed[t])

    @reachable(after="commit_channel", source="facts 3.1")
    def a_task_is_over_before_it_is_committed(before, after: Self, t: Proxy.Task, c: Proxy.Channel) -> Bool:
        """A worker ends a task that is in the statistics of some of its channels only."""
        return (before.phase[t] == "finished") & exists(before.Channel, lambda d: before.in_stats[t, d])


class CommitLetsGo(ChannelByChannel):
    """A commit releases the lock after its first channel."""

    def holds_lock(s, t: ChannelByChannel.Task) -> Bool:
        return super().holds_lock(t) & ~exists(s.Channel, lambda c: s.in_stats[t, c])
