"""Named mutants of the proxy's statistics and tick: hazards and real bugs, each with its killer.

Every class overrides as little as possible of ``Proxy``.
"""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import action, ite, minimum, require
from tidemark.spec.proxy import Proxy


@mutant(killer="proxy.reported_is_below_all_to_come", source="H24", instance="proxy-small")
class SnapshotFirst(Proxy):
    """The tick takes the snapshot, then fetches its timestamp (hazard 24)."""

    NOW_FIRST = False


@mutant(
    killer="proxy.reported_is_below_all_to_come",
    source="H25, B6",
    instance="proxy-tiny",
    name="tick-no-minus-one",
)
class NoMinusOne(Proxy):
    """The tick publishes minTs itself (hazard 25, B6)."""

    def promise(s, c):
        return s.snap_min[c]


@mutant(
    killer="proxy.reported_is_below_all_to_come",
    source="B6",
    instance="proxy-tiny",
    name="tick-publishes-current",
)
class PublishesCurrent(Proxy):
    """The tick publishes min(current, now): for a channel that is new, now (B6)."""

    def promise(s, c):
        return minimum(ite(s.follows[c], s.current[c], s.now), s.now)


@mutant(
    killer="proxy.reported_is_below_all_to_come", source="H26, B7; seed 002, Enqueue", instance="proxy-small"
)
@mutant(
    killer="proxy.min_ts_never_goes_back",
    source="H26; seed 002, Enqueue",
    instance="proxy-small",
    name="min-ts-goes-back",
)
class EnqueueUnlocked(Proxy):
    """Nothing is locked: commits come in any order, and snapshots fall in between (hazard 26, B7)."""

    LOCKED = False


@mutant(killer="proxy.no_ghost_is_tracked", source="H27", instance="proxy-tiny")
class PopWithoutLock(Proxy):
    """The pop does not wait for the lock: a fast worker pops before the commit (hazard 27)."""

    def pop_is_free(s):
        return True


@mutant(killer="proxy.reported_is_below_all_to_come", source="B7", instance="proxy-small")
class PopDeletesMin(Proxy):
    """A pop takes the least timestamp out of the set, whosever it is (B7)."""

    def removed(s, t, c):
        return s.min_ts[c]


@mutant(killer="proxy.reported_is_below_all_to_come", source="B7", instance="proxy-small")
class CommitInsertsMin(Proxy):
    """A commit puts the least timestamp into the set instead of the task's (B7)."""

    def entered(s, t, c):
        return s.min_ts[c]


@mutant(killer="proxy.no_ghost_is_tracked", source="B8", instance="proxy-tiny")
class PopLookupFails(Proxy):
    """The pop looks the channels up again; the collection is gone, and the timestamp stays (B8)."""

    @action(source="B8")
    def pop_in_vain(s, t: Proxy.Task):
        """The lookup fails: the task is over, its timestamp is not taken out."""
        require((s.phase[t] == "finished") & s.pop_is_free() & s.outcome_is_known(t))
        s.phase[t] = "popped"


@mutant(
    killer="proxy.appends_are_above_the_report",
    source="H12",
    instance="proxy-tiny",
    name="produce-outcome-unknown",
)
class OutcomeUnknown(Proxy):
    """A timestamp is popped although the log may still get the message (hazard 12)."""

    KNOWN_OUTCOME = False


@mutant(killer="proxy.the_gate_waits_for_nobody_to_come", source="H28", instance="proxy-small")
class GateNotCapped(Proxy):
    """The gate runs an interval ahead of now, whatever the greatest timestamp (hazard 28)."""

    def next_gate(s, c):
        return s.now + s.interval
