"""The time tick in the steps of the logs and the session store that run in a cluster.

A coordinator takes over log by log: a log's answer is the fence and the last tick in one. Then it lists the
sessions, and has all logs refuse those that are over, one session after the other. The step that begins to
serve relies on what ``sessions`` guarantees.
"""

from tidemark.spec.language import (
    Bool,
    Set,
    action,
    all_of,
    each,
    exists,
    forall,
    implies,
    lemma,
    option,
    reachable,
    require,
    transition_invariant,
)
from tidemark.spec.timetick import TimeTick
from tidemark.spec.timetick.variants import session_steps
from tidemark.spec.timetick.variants.takeover import TakesOverLogByLog


class OverTheEdges(TakesOverLogByLog):
    """Logs are fenced and read one after the other, sessions listed, fenced, learned and forgotten."""

    shut: Set[TimeTick.Source] = False  # every log refuses the proxy
    listed: Set[TimeTick.Source] = False  # the coordinator that starts has it in its list

    def refused(s, p):
        return s.FENCED & s.shut[p]

    @action(fairness="weak", source="facts 4; hazards 11, 30; B46")
    def fence_and_read(s, c: TimeTick.Channel):
        """The log answers a coordinator that starts: it refuses the predecessor, and says its last tick."""
        s.close_log(c)
        s.read_log(c)

    def crash_start(s):
        require(~s.up & exists(s.Source, s.Channel, lambda p, c: s.has_read[c] | s.listed[p]))
        s.forget_what_was_read()
        s.fault()

    def forget_what_was_read(s):
        super().forget_what_was_read()
        s.listed = each(s.Source, lambda p: False)

    # ---- sessions ----

    @action(source="facts 4: initSessions; B46")
    def list_sessions(s):
        """A coordinator that starts lists the sessions."""
        require(~s.up)
        s.listed = each(s.Source, lambda p: s.session[p] == "registered")

    @action(fairness="weak", source="hazard 11")
    def shut_logs(s, p: TimeTick.Source):
        """All logs refuse a source whose lease is gone, whoever fences it and when."""
        require((s.session[p] == "expired") & ~s.shut[p])
        s.shut[p] = True

    @action(fairness="weak", source="hazard 11; B46")
    def note_fence(s, p: TimeTick.Source):
        """The store notes for a coordinator that starts that all logs refuse the source."""
        require(~s.up & s.shut[p] & ~s.fenced[p])
        s.fenced[p] = True

    learn = session_steps.learn
    forget = session_steps.forget

    @action(
        fairness="weak",
        source="facts 4: initSessions; B46, hazard 30",
        relies_on=("sessions.who_serves_is_known_or_refused",),
    )
    def restart(s):
        """A coordinator begins to serve: whoever has served is listed, or the logs refuse it."""
        require(forall(s.Source, lambda p: implies(s.serves[p], s.listed[p] | s.refused(p))))
        listed, fenced = s.listed, s.fenced
        super().restart()
        s.known = each(s.Source, lambda p: (p == s.ddl) | listed[p] & ~fenced[p])
        s.fenced = fenced

    @transition_invariant(source="facts 4; hazard 29", frame=True)
    def a_dead_coordinator_sends_nothing(before, after):
        """While no coordinator runs, nothing is added to the logs but messages and what was sent before."""
        return implies(
            ~before.up,
            forall(after.Channel, lambda c: (after.highest[c] == before.highest[c]) | (before.stray[c] > 0)),
        )

    @lemma(source="hazard 11; B46")
    def lists_and_logs_follow_the_leases(s):
        """Listed is who has registered; logs refuse only whose lease is gone; who has served and was
        forgotten is refused. While a coordinator serves there is no list.
        """
        return forall(
            s.Source,
            lambda p: all_of(
                implies(s.listed[p], ~s.up & (s.session[p] != "none")),
                implies(s.FENCED & s.serves[p] & s.fenced[p], s.shut[p]),
                implies(s.shut[p], s.session[p] == "expired"),
            ),
        )

    @reachable(after="shut_logs", source="hazard 11; B46")
    def a_start_fences_who_may_still_append(before, after, p):
        """A coordinator that starts has the logs refuse a source that has a message on the way."""
        return ~before.up & exists(
            before.Message, lambda m: (before.sender[m] == p) & (before.message[m] == "open")
        )

    @reachable(after="append", source="hazard 12")
    def a_message_outlives_its_sender(before, after, m):
        """A DDL message reaches its log when the coordinator has crashed."""
        return ~before.up & (before.sender[m] == before.ddl) & (after.message[m] == "appended")

    @reachable(after="fence_and_read", source="hazards 12, 30")
    def a_fence_ends_what_is_on_its_way(before, after, c):
        """A DDL message and a tick of the predecessor are on their way to a log that refuses both."""
        return (before.stray[c] > 0) & exists(
            before.Message, lambda m: before.is_sent_to(m, c) & (after.message[m] == "dropped")
        )


class TicksAreTaken(OverTheEdges):
    """A log takes the ticks of the predecessor after it has answered."""

    TICKS_FENCED: Bool = option(False)


class DdlIsTaken(OverTheEdges):
    """A log takes the DDL messages of the predecessor after it has answered."""

    DDL_FENCED: Bool = option(False)
