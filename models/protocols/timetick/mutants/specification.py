"""Named mutants of the time tick: real bugs and hazards, each with the property that must find it.

Every class overrides as little as possible of ``TimeTick``. ``killer`` is the property that must be refuted,
``origin`` the hazard (H) or bug (B) that it stands for, ``instance`` the manifest's instance on which it
shows. What only takes an assumption about the environment away is an instance of the manifest.
"""

from typing import ClassVar

from tidemark.spec.language import (
    Bool,
    Map,
    action,
    each,
    exists,
    forall,
    greatest,
    implies,
    ite,
    least,
    lemma,
    require,
    when,
)
from tidemark.spec.timetick import TimeTick


class Mutant(TimeTick):
    """Base of the mutants of this file."""

    killer: ClassVar[str] = ""
    origin: ClassVar[str] = ""
    instance: ClassVar[str] = "timetick-small"


# ---- sessions ----


class InitSessionsMissesOne(Mutant):
    """A coordinator that starts builds its map from a list in which one live proxy is missing."""

    killer = "timetick.watermark_promise"
    origin = "B46, H10"

    def restart(s, missed: TimeTick.Source):
        require(missed != s.ddl)
        super().restart()
        s.known[missed] = False


class DdlKeyCollides(Mutant):
    """The DDL source and the proxy have one key in the map, so that the DDL report stands for both."""

    killer = "timetick.watermark_promise"
    origin = "B45"

    def accept(s, p):
        super().accept(p)
        with when(p == s.ddl):
            s.entry = each(s.Source, lambda q: s.known[q])
            s.entry_ts = each(s.Source, s.Channel, lambda q, c: ite(s.known[q], s.promised[p, c], 0))


class ReportsOfStrangersAreTaken(Mutant):
    """A report of a session that the coordinator does not know makes an entry, and its sender serves."""

    killer = "timetick.whoever_serves_is_waited_for"
    origin = "facts 4: refused; H10"

    def accept(s, p):
        require(s.up)
        require(exists(s.Channel, lambda c: s.promised[p, c] > 0))
        s.entry[p] = s.known[p]
        s.entry_ts = each(
            s.Source, s.Channel, lambda q, c: ite((q == p) & s.known[p], s.promised[q, c], s.entry_ts[q, c])
        )
        s.serves[p] = s.serves[p] | (p != s.ddl)


class RemovedSessionLeavesItsEntry(Mutant):
    """delSession takes the session from the map and not its report."""

    killer = "timetick.only_known_sessions_have_entries"
    origin = "facts 4: delSession"

    def clear_entry(s, p):
        pass


class RemovedBeforeItsLeaseEnds(Mutant):
    """A watch event of an older lease removes a session that lives, without a fence."""

    killer = "timetick.watermark_promise"
    origin = "H11"

    def forget(s, p):
        require(s.up & s.known[p])
        require(p != s.ddl)
        s.known[p] = False
        s.clear_entry(p)


class DdlSourceIsNotWaitedFor(Mutant):
    """Rounds wait for proxies only; the DDL source is none of the sessions."""

    killer = "timetick.watermark_promise"
    origin = "seed 002, DDL; H53"
    instance = "timetick-ddl"

    def is_learned_at_start(s, p):
        return (p != s.ddl) & super().is_learned_at_start(p)

    def close_round(s):
        require(exists(s.Source, lambda p: s.known[p]))
        super().close_round()

    def round_value(s, c):
        return least(
            s.Ts, lambda v: exists(s.Source, lambda p: s.known[p] & (s.entry_ts[p, c] == v)), default=0
        )


# ---- rounds ----


class RoundDoesNotWait(Mutant):
    """A tick is made of the reports that there are."""

    killer = "timetick.watermark_promise"
    origin = "seed 002, coordinator: no tick before everybody has reported"

    def round_is_complete(s):
        return exists(s.Source, lambda p: s.entry[p])

    def round_value(s, c):
        return least(
            s.Ts, lambda v: exists(s.Source, lambda p: s.entry[p] & (s.entry_ts[p, c] == v)), default=0
        )


class GreatestOfTheReports(Mutant):
    """The round takes the maximum over the sessions."""

    killer = "timetick.watermark_promise"
    origin = "facts 4: reduction"

    def round_value(s, c):
        return greatest(
            s.Ts,
            lambda v: exists(s.Source, lambda p: s.known[p] & (s.entry_ts[p, c] == v)),
            upto=s.issued,
            default=0,
        )


class OneAboveTheMinimum(Mutant):
    """The tick is the least timestamp to come instead of one below it."""

    killer = "timetick.watermark_promise"
    origin = "B6, H25: at the coordinator"

    def round_value(s, c):
        return super().round_value(c) + 1


class EntriesStayAfterARound(Mutant):
    """The map is cloned and not set back to nil."""

    killer = "timetick.reports_are_used_once"
    origin = "facts 4"

    def clear_entries(s):
        s.entry = each(s.Source, lambda p: s.up & s.entry[p])
        s.entry_ts = each(s.Source, s.Channel, lambda p, c: ite(s.up, s.entry_ts[p, c], 0))


class QueueOfTwoRounds(Mutant):
    """The queue holds more than one round and the oldest is sent first: the sender is always behind."""

    killer = "timetick.a_taken_round_leaves_none_behind"
    origin = "B9, H29"

    queued_behind: Bool = False
    behind_ts: Map[TimeTick.Channel, TimeTick.Ts] = 0

    def drop_round(s):
        require(s.up & s.queued)
        require(s.round_is_complete())
        with when(~s.queued_behind):
            s.queued_behind = True
            s.behind_ts = each(s.Channel, s.round_value)
        s.clear_entries()

    def take_round(s):
        super().take_round()
        with when(s.queued_behind):
            s.queued = True
            s.queued_ts = each(s.Channel, lambda c: s.behind_ts[c])
            s.queued_behind = False
            s.behind_ts = each(s.Channel, lambda c: 0)

    def crash_coordinator(s):
        super().crash_coordinator()
        s.queued_behind = False
        s.behind_ts = each(s.Channel, lambda c: 0)


class SenderHangs(Mutant):
    """A send never ends, and with it the round: all rounds to come are dropped."""

    killer = "timetick.ticks_advance"
    origin = "H29"

    @action(source="hazard 29")
    def end_round(s):
        """The sends of the round are joined, or never are."""
        super().end_round()


# ---- ticks ----


class TicksAreNotCompared(Mutant):
    """A tick below the last one is sent: a session that joins brings an older value."""

    killer = "timetick.ticks_never_go_back"
    origin = "H30: join"

    MONOTONE = False
    overtake = None
    crash_coordinator = None


class RestartForgetsTheTicks(Mutant):
    """A coordinator that starts does not know the last ticks, and sends a smaller one."""

    killer = "timetick.ticks_never_go_back"
    origin = "H30: restart"

    RESUMES = False


class DdlReportUnordered(Mutant):
    """An older report of the DDL source arrives after a newer one, and ticks are not compared."""

    killer = "timetick.ticks_never_go_back"
    origin = "B5"

    MONOTONE = False
    register = None

    def overtake(s, p, c, value):
        require(p == s.ddl)
        super().overtake(p, c, value)


class FailedSendCounts(Mutant):
    """A tick whose send failed is counted as sent."""

    killer = "timetick.what_counts_as_sent_is_in_the_log"
    origin = "B10"

    def fail_send(s, c, applied):
        super().fail_send(c, applied)
        s.synced[c] = s.round_ts[c]


class FailedSendIsForgotten(Mutant):
    """Only a tick that was counted as sent is remembered; one that failed may be in the log all the same."""

    killer = "timetick.ticks_never_go_back"
    origin = "B10, H30"

    def fail_send(s, c, applied):
        before = s.last[c]
        super().fail_send(c, applied)
        s.last[c] = before


class LateTick(Mutant):
    """A tick whose send has failed is appended later, after others."""

    killer = "timetick.ticks_never_go_back"
    origin = "H12: for ticks; H30"

    stray: Map[TimeTick.Channel, TimeTick.Ts] = 0

    def fail_send(s, c, applied):
        super().fail_send(c, applied)
        s.stray[c] = ite(applied, s.stray[c], s.round_ts[c])

    @action(source="hazard 12")
    def land_tick(s, c: TimeTick.Channel):
        """The broker completes the send."""
        require(s.stray[c] > 0)
        s.tick[c] = s.stray[c]
        s.highest[c] = ite(s.highest[c] < s.stray[c], s.stray[c], s.highest[c])
        s.stray[c] = 0

    @lemma(source="hazard 12")
    def stray_ticks_are_below_all_to_come(s):
        """What may still land lies below all messages to come: the promise holds all the same."""
        return forall(
            s.Message, lambda m: implies(s.may_append(m), s.lies_above(m, s.stray[s.channel_of[m]]))
        ) & forall(s.Channel, lambda c: s.stray[c] <= s.issued)


class DeadCoordinatorSends(Mutant):
    """A coordinator that lost its lease goes on sending while its successor starts."""

    killer = "timetick.a_dead_coordinator_sends_nothing"
    origin = "facts 2.4, 4"

    def crash_coordinator(s):
        require(s.up)
        s.up = False
        s.fault()

    def send_tick(s, c):
        require(s.sending & s.to_send[c])
        with when(s.is_new(c)):
            s.log_tick(c)
            s.last[c] = s.round_ts[c]
            s.synced[c] = s.round_ts[c]
        s.to_send[c] = False


class FenceOnlyWhatIsKnown(Mutant):
    """A coordinator that starts does not fence the sources whose lease ended while nobody watched."""

    killer = "timetick.watermark_promise"
    origin = "H11, B46"

    def restart(s):
        require(~s.up)
        s.up = True
        s.known = each(s.Source, s.is_learned_at_start)
        s.last = each(s.Channel, lambda c: ite(s.RESUMES, s.highest[c], 0))
        s.synced = each(s.Channel, lambda c: s.last[c])
