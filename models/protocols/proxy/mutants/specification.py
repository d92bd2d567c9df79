"""Named mutants of the proxy's statistics and tick: hazards and real bugs, each with its killer.

Every class overrides as little as possible of ``Proxy``. The manifest names the property that must be refuted
and the instance on which it shows.
"""

from tidemark.spec.language import action, ite, minimum, require
from tidemark.spec.proxy import Proxy


class SnapshotFirst(Proxy):
    """The tick takes the snapshot, then fetches its timestamp (hazard 24)."""

    NOW_FIRST = False


class NoMinusOne(Proxy):
    """The tick publishes minTs itself (hazard 25, B6)."""

    def promise(s, c):
        return s.snap_min[c]


class PublishesCurrent(Proxy):
    """The tick publishes min(current, now): for a channel that is new, now (B6)."""

    def promise(s, c):
        return minimum(ite(s.follows[c], s.current[c], s.now), s.now)


class EnqueueUnlocked(Proxy):
    """Nothing is locked: commits come in any order, and snapshots fall in between (hazard 26, B7)."""

    LOCKED = False


class PopWithoutLock(Proxy):
    """The pop does not wait for the lock: a fast worker pops before the commit (hazard 27)."""

    def pop_is_free(s):
        return True


class PopDeletesMin(Proxy):
    """A pop takes the least timestamp out of the set, whosever it is (B7)."""

    def removed(s, t, c):
        return s.min_ts[c]


class CommitInsertsMin(Proxy):
    """A commit puts the least timestamp into the set instead of the task's (B7)."""

    def entered(s, t, c):
        return s.min_ts[c]


class PopLookupFails(Proxy):
    """The pop looks the channels up again; the collection is gone, and the timestamp stays (B8)."""

    @action(source="B8")
    def pop_in_vain(s, t: Proxy.Task):
        """The lookup fails: the task is over, its timestamp is not taken out."""
        require((s.phase[t] == "finished") & s.pop_is_free() & s.outcome_is_known(t))
        s.phase[t] = "popped"


class OutcomeUnknown(Proxy):
    """A timestamp is popped although the log may still get the message (hazard 12)."""

    KNOWN_OUTCOME = False


class GateNotCapped(Proxy):
    """The gate runs an interval ahead of now, whatever the greatest timestamp (hazard 28)."""

    def next_gate(s, c):
        return s.now + s.interval
