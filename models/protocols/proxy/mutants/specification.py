"""Named mutants of the proxy's statistics and tick: hazards and real bugs, each with its killer.

Every class overrides as little as possible of ``Proxy``.
"""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import (
    Bool,
    action,
    all_of,
    any_of,
    each,
    forall,
    implies,
    ite,
    lemma,
    minimum,
    require,
)
from tidemark.spec.proxy import Proxy
from tidemark.spec.proxy.variants.live import TicksForever


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

    def promise(s, c: Proxy.Channel) -> Proxy.Ts:
        return s.snap_min[c]


@mutant(
    killer="proxy.reported_is_below_all_to_come",
    source="B6",
    instance="proxy-tiny",
    name="tick-publishes-current",
)
class PublishesCurrent(Proxy):
    """The tick publishes min(current, now): for a channel that is new, now (B6)."""

    def promise(s, c: Proxy.Channel) -> Proxy.Ts:
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

    def pop_is_free(s) -> Bool:
        return True


@mutant(killer="proxy.reported_is_below_all_to_come", source="B7", instance="proxy-small")
class PopDeletesMin(Proxy):
    """A pop takes the least timestamp out of the set, whosever it is (B7)."""

    def removed(s, t: Proxy.Task, c: Proxy.Channel) -> Proxy.Ts:
        return s.min_ts[c]


@mutant(killer="proxy.reported_is_below_all_to_come", source="B7", instance="proxy-small")
class CommitInsertsMin(Proxy):
    """A commit puts the least timestamp into the set instead of the task's (B7)."""

    def entered(s, t: Proxy.Task, c: Proxy.Channel) -> Proxy.Ts:
        return s.min_ts[c]


@mutant(killer="proxy.no_ghost_is_tracked", source="B8", instance="proxy-tiny")
class PopLookupFails(Proxy):
    """The pop looks the channels up again; the collection is gone, and the timestamp stays (B8)."""

    @action(source="B8")
    def pop_in_vain(s, t: Proxy.Task) -> None:
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

    def next_gate(s, c: Proxy.Channel) -> Proxy.Ts:
        return s.now + s.interval


@mutant(
    killer="proxy.reported_is_below_all_to_come",
    source="H25, B6; seed 004, 6.6.3",
    instance="proxy-tiny",
    name="document-rule",
)
class Document(Proxy):
    """The rule as the document has it."""

    @action(fairness="weak", source="seed 004, 6.6.3: addPChan")
    def add_channel(s, c: Proxy.Channel) -> None:
        """The ticker follows the channel from now on."""
        require(~s.follows[c])
        s.follows[c] = True

    def publish(s) -> None:
        require(s.tick == ite(s.NOW_FIRST, "taken", "stamped"))
        s.published = each(
            s.Channel,
            lambda c: ite(s.is_quiet(c), s.current[c], ite(s.moves(c), s.promise(c), s.published[c])),
        )
        s.current = each(
            s.Channel,
            lambda c: ite(s.is_quiet(c), s.now, ite(s.moves(c), s.next_gate(c), s.current[c])),
        )
        s.default = s.now
        s.forget_tick()

    def is_quiet(s, c: Proxy.Channel) -> Bool:
        """The channel was added, and the snapshot does not have it."""
        return s.follows[c] & ~s.snap_present[c]

    def moves(s, c: Proxy.Channel) -> Bool:
        return s.follows[c] & s.snap_present[c] & (s.snap_min[c] > s.current[c])

    def promise(s, c: Proxy.Channel) -> Proxy.Ts:
        return minimum(s.snap_min[c], s.now)

    def idle_value(s, c: Proxy.Channel) -> Proxy.Ts:
        return s.reported[c]


class DocumentMinusOne(Document):
    """The rule one lower: below minTs and below now."""

    def promise(s, c: Document.Channel) -> Document.Ts:
        return minimum(s.snap_min[c], s.now) - 1

    @lemma(source="seed 004, 6.6.3")
    def the_gate_is_above_what_is_published(s) -> Bool:
        """A quiet channel may publish the gate."""
        return forall(
            s.Channel,
            lambda c: all_of(
                ite(s.follows[c], s.published[c] <= s.current[c], s.published[c] + s.current[c] == 0),
                s.follows[c] | (s.reported[c] == 0),
            ),
        )

    @lemma(source="seed 004, 6.6.3")
    def the_gate_is_below_all_that_is_new(s) -> Bool:
        """A task that comes after the snapshot gets more than the gate."""
        return forall(
            s.Channel,
            lambda c: implies(any_of(s.tick == "stamped", s.tick == "taken"), s.now > s.current[c]),
        )

    @lemma(source="seed 004, 6.6.3")
    def a_snapshot_has_a_span(s) -> Bool:
        """The least timestamp of a snapshot is not above the greatest."""
        return forall(s.Channel, lambda c: implies(s.snap_present[c], s.snap_min[c] <= s.snap_max[c]))


@mutant(
    killer="proxy.reports_pass_finished_tasks",
    source="B8",
    instance="proxy-live",
    name="pop-lookup-fails-stops-reports",
)
class PopLookupFailsStopsReports(TicksForever):
    """A pop whose lookup fails leaves its timestamp behind: the reports of its channels stop (B8)."""

    @action(source="B8")
    def pop_in_vain(s, t: Proxy.Task) -> None:
        """The lookup fails: the task is over, its timestamp is not taken out."""
        require((s.phase[t] == "finished") & s.pop_is_free() & s.outcome_is_known(t))
        s.phase[t] = "popped"


@mutant(
    killer="proxy.reports_pass_finished_tasks",
    source="H27",
    instance="proxy-live",
    name="pop-without-lock-stops-reports",
)
class PopWithoutLockStopsReports(TicksForever):
    """A pop before the commit leaves a ghost: the reports of its channels stop (hazard 27)."""

    def pop_is_free(s) -> Bool:
        return True


@mutant(killer="proxy.reports_follow_the_oracle", source="B48", instance="proxy-live")
class NoDefaultReport(TicksForever):
    """Channels without unfinished tasks are not reported (B48)."""

    def idle_value(s, c: TicksForever.Channel) -> TicksForever.Ts:
        return s.reported[c]
