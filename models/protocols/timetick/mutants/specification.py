"""Named mutants of the time tick: real bugs and hazards, each with the property that must find it.

Every class overrides as little as possible of ``TimeTick``. It says which property must be refuted,
which hazard (H) or bug (B) it represents, and on which of the manifest's instances it shows. What only
takes an assumption about the environment away is an instance of the manifest.
"""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import (
    Bool,
    Map,
    action,
    each,
    everywhere,
    exists,
    forall,
    greatest,
    implies,
    ite,
    least,
    lemma,
    other_parameters,
    removed,
    require,
    when,
)
from tidemark.spec.timetick import TimeTick

# ---- sessions ----


@mutant(killer="timetick.watermark_promise", source="B46, H10", instance="timetick-small")
class InitSessionsMissesOne(TimeTick):
    """A coordinator that starts builds its map from a list in which one live proxy is missing."""

    @other_parameters
    def restart(s, missed: TimeTick.Source) -> None:
        require(missed != s.ddl)
        super().restart()
        s.known[missed] = False


@mutant(killer="timetick.watermark_promise", source="B45", instance="timetick-small")
class DdlKeyCollides(TimeTick):
    """The DDL source and the proxy have one key in the map, so that the DDL report represents both."""

    def accept(s, p: TimeTick.Source) -> None:
        super().accept(p)
        with when(p == s.ddl):
            s.entry = each(s.Source, lambda q: s.known[q])
            s.entry_ts = each(s.Source, s.Channel, lambda q, c: ite(s.known[q], s.promised[p, c], 0))


@mutant(
    killer="timetick.whoever_serves_is_waited_for", source="facts 4: refused; H10", instance="timetick-small"
)
class ReportsOfStrangersAreTaken(TimeTick):
    """A report of a session that the coordinator does not know makes an entry, and its sender serves."""

    def accept(s, p: TimeTick.Source) -> None:
        require(s.up)
        require(exists(s.Channel, lambda c: s.promised[p, c] > 0))
        s.entry[p] = s.known[p]
        s.entry_ts = each(
            s.Source, s.Channel, lambda q, c: ite((q == p) & s.known[p], s.promised[q, c], s.entry_ts[q, c])
        )
        s.serves[p] = s.serves[p] | (p != s.ddl)


@mutant(
    killer="timetick.only_known_sessions_have_entries",
    source="facts 4: delSession",
    instance="timetick-small",
)
class RemovedSessionLeavesItsEntry(TimeTick):
    """delSession takes the session from the map and not its report."""

    def clear_entry(s, p: TimeTick.Source) -> None:
        pass


@mutant(killer="timetick.watermark_promise", source="H11", instance="timetick-small")
class RemovedBeforeItsLeaseEnds(TimeTick):
    """A watch event of an older lease removes a session that lives, without a fence."""

    def forget(s, p: TimeTick.Source) -> None:
        require(s.up & s.known[p])
        require(p != s.ddl)
        s.known[p] = False
        s.clear_entry(p)


@mutant(killer="timetick.watermark_promise", source="seed 002, DDL; H53", instance="timetick-ddl")
class DdlSourceIsNotWaitedFor(TimeTick):
    """Rounds wait for proxies only; the DDL source is none of the sessions."""

    def is_learned_at_start(s, p: TimeTick.Source) -> Bool:
        return (p != s.ddl) & super().is_learned_at_start(p)

    def close_round(s) -> None:
        require(exists(s.Source, lambda p: s.known[p]))
        super().close_round()

    def round_value(s, c: TimeTick.Channel) -> TimeTick.Ts:
        return least(
            s.Ts, lambda v: exists(s.Source, lambda p: s.known[p] & (s.entry_ts[p, c] == v)), default=0
        )


# ---- rounds ----


@mutant(
    killer="timetick.watermark_promise",
    source="seed 002, coordinator: no tick before everybody has reported",
    instance="timetick-small",
)
class RoundDoesNotWait(TimeTick):
    """A tick is made of the reports that there are."""

    def round_is_complete(s) -> Bool:
        return exists(s.Source, lambda p: s.entry[p])

    def round_value(s, c: TimeTick.Channel) -> TimeTick.Ts:
        return least(
            s.Ts, lambda v: exists(s.Source, lambda p: s.entry[p] & (s.entry_ts[p, c] == v)), default=0
        )


@mutant(killer="timetick.watermark_promise", source="facts 4: reduction", instance="timetick-small")
class GreatestOfTheReports(TimeTick):
    """The round takes the maximum over the sessions."""

    def round_value(s, c: TimeTick.Channel) -> TimeTick.Ts:
        return greatest(
            s.Ts,
            lambda v: exists(s.Source, lambda p: s.known[p] & (s.entry_ts[p, c] == v)),
            upto=s.issued,
            default=0,
        )


@mutant(killer="timetick.watermark_promise", source="B6, H25: at the coordinator", instance="timetick-small")
class OneAboveTheMinimum(TimeTick):
    """The tick is the least timestamp to come instead of one below it."""

    def round_value(s, c: TimeTick.Channel) -> TimeTick.Ts:
        return super().round_value(c) + 1


@mutant(killer="timetick.reports_are_used_once", source="facts 4", instance="timetick-small")
class EntriesStayAfterARound(TimeTick):
    """The map is cloned and not set back to nil."""

    def clear_entries(s) -> None:
        s.entry = each(s.Source, lambda p: s.up & s.entry[p])
        s.entry_ts = each(s.Source, s.Channel, lambda p, c: ite(s.up, s.entry_ts[p, c], 0))


@mutant(killer="timetick.a_taken_round_leaves_none_behind", source="B9, H29", instance="timetick-small")
class QueueOfTwoRounds(TimeTick):
    """The queue holds more than one round and the oldest is sent first: the sender is always behind."""

    queued_behind: Bool = False
    behind_ts: Map[TimeTick.Channel, TimeTick.Ts] = everywhere(0)

    def drop_round(s) -> None:
        require(s.up & s.queued)
        require(s.round_is_complete())
        with when(~s.queued_behind):
            s.queued_behind = True
            s.behind_ts = each(s.Channel, s.round_value)
        s.clear_entries()

    def take_round(s) -> None:
        super().take_round()
        with when(s.queued_behind):
            s.queued = True
            s.queued_ts = each(s.Channel, lambda c: s.behind_ts[c])
            s.queued_behind = False
            s.behind_ts = each(s.Channel, lambda c: 0)

    def crash_coordinator(s) -> None:
        super().crash_coordinator()
        s.queued_behind = False
        s.behind_ts = each(s.Channel, lambda c: 0)


@mutant(killer="timetick.ticks_advance", source="H29", instance="timetick-small")
class SenderHangs(TimeTick):
    """A send never ends, and with it the round: all rounds to come are dropped."""

    @action(source="hazard 29")
    def end_round(s) -> None:
        """The sends of the round are joined, or never are."""
        super().end_round()


# ---- ticks ----


@mutant(killer="timetick.ticks_never_go_back", source="H30: join", instance="timetick-small")
class TicksAreNotCompared(TimeTick):
    """A tick below the last one is sent: a session that joins brings an older value."""

    MONOTONE = False
    overtake = removed
    crash_coordinator = removed


@mutant(killer="timetick.ticks_never_go_back", source="B5", instance="timetick-small")
class DdlReportUnordered(TimeTick):
    """An older report of the DDL source arrives after a newer one, and ticks are not compared."""

    MONOTONE = False
    register = removed

    def overtake(s, p: TimeTick.Source, c: TimeTick.Channel, value: TimeTick.Ts) -> None:
        require(p == s.ddl)
        super().overtake(p, c, value)


@mutant(killer="timetick.what_counts_as_sent_is_in_the_log", source="B10", instance="timetick-small")
class FailedSendCounts(TimeTick):
    """A tick whose send failed is counted as sent."""

    def fail_send(s, c: TimeTick.Channel, applied: Bool) -> None:
        super().fail_send(c, applied)
        s.synced[c] = s.round_ts[c]


@mutant(killer="timetick.ticks_never_go_back", source="B10, H30", instance="timetick-small")
class FailedSendIsForgotten(TimeTick):
    """Only a tick that was counted as sent is remembered; one that failed may be in the log all the same."""

    def fail_send(s, c: TimeTick.Channel, applied: Bool) -> None:
        before = s.last[c]
        super().fail_send(c, applied)
        s.last[c] = before


@mutant(
    killer="timetick.ticks_never_go_back",
    source="H12: for ticks; H30",
    instance="timetick-small",
)
class LateTick(TimeTick):
    """A tick whose send has failed is appended later, after others."""

    stray: Map[TimeTick.Channel, TimeTick.Ts] = everywhere(0)

    def fail_send(s, c: TimeTick.Channel, applied: Bool) -> None:
        super().fail_send(c, applied)
        s.stray[c] = ite(applied, s.stray[c], s.round_ts[c])

    @action(source="hazard 12")
    def land_tick(s, c: TimeTick.Channel) -> None:
        """The broker completes the send."""
        require(s.stray[c] > 0)
        s.tick[c] = s.stray[c]
        s.highest[c] = ite(s.highest[c] < s.stray[c], s.stray[c], s.highest[c])
        s.stray[c] = 0

    @lemma(source="hazard 12")
    def stray_ticks_are_below_all_to_come(s) -> Bool:
        """What may still land lies below all messages to come: the promise holds all the same."""
        return forall(
            s.Message, lambda m: implies(s.may_append(m), s.lies_above(m, s.stray[s.channel_of[m]]))
        ) & forall(s.Channel, lambda c: s.stray[c] <= s.issued)


@mutant(killer="timetick.a_dead_coordinator_sends_nothing", source="facts 2.4, 4", instance="timetick-small")
class DeadCoordinatorSends(TimeTick):
    """A coordinator that lost its lease goes on sending while its successor starts."""

    def crash_coordinator(s) -> None:
        require(s.up)
        s.up = False
        s.fault()

    def send_tick(s, c: TimeTick.Channel) -> None:
        require(s.sending & s.to_send[c])
        with when(s.is_new(c)):
            s.log_tick(c)
            s.last[c] = s.round_ts[c]
            s.synced[c] = s.round_ts[c]
        s.to_send[c] = False


@mutant(killer="timetick.watermark_promise", source="H11, B46", instance="timetick-small")
class FenceOnlyWhatIsKnown(TimeTick):
    """A coordinator that starts does not fence the sources whose lease ended while no coordinator watched."""

    def restart(s) -> None:
        require(~s.up)
        s.up = True
        s.known = each(s.Source, s.is_learned_at_start)
        s.last = each(s.Channel, lambda c: ite(s.RESUMES, s.highest[c], 0))
        s.synced = each(s.Channel, lambda c: s.last[c])


class AppendsNeedALease(TimeTick):
    """The log takes messages of registered sources only; the DDL source has no lease of its own."""

    def append(s, m: TimeTick.Message) -> None:
        require(s.session[s.sender[m]] == "registered")
        super().append(m)
