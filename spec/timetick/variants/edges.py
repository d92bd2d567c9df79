"""The time tick in the steps of the logs and the session store that run in a cluster.

A coordinator takes over log by log: a log's answer is the fence and the last tick in one. Then it lists the
sessions, and has all logs refuse those that are over, one session after the other. The step that begins to
serve relies on what ``sessions`` guarantees.
"""

from tidemark.spec.language import (
    Bool,
    Self,
    Set,
    action,
    all_of,
    each,
    everywhere,
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

    shut: Set[TimeTick.Source] = everywhere(False)  # every log refuses the proxy
    listed: Set[TimeTick.Source] = everywhere(False)  # the coordinator that starts has it in its list

    def refused(s, p: TakesOverLogByLog.Source) -> Bool:
        return s.FENCED & s.shut[p]

    @action(fairness="weak", source="facts 4; hazards 11, 30; B46")
    def fence_and_read(s, c: TimeTick.Channel) -> None:
        """The log answers a coordinator that starts: it refuses the predecessor, and says its last tick."""
        s.close_log(c)
        s.read_log(c)

    def crash_start(s) -> None:
        require(~s.up & exists(s.Source, s.Channel, lambda p, c: s.has_read[c] | s.listed[p]))
        s.forget_what_was_read()
        s.fault()

    def forget_what_was_read(s) -> None:
        super().forget_what_was_read()
        s.listed = each(s.Source, lambda p: False)

    # ---- sessions ----

    @action(source="facts 4: initSessions; B46")
    def list_sessions(s) -> None:
        """A coordinator that starts lists the sessions."""
        require(~s.up)
        s.listed = each(s.Source, lambda p: s.session[p] == "registered")

    @action(fairness="weak", source="hazard 11")
    def shut_logs(s, p: TimeTick.Source) -> None:
        """All logs refuse a source whose lease is gone, whoever fences it and when."""
        require((s.session[p] == "expired") & ~s.shut[p])
        s.shut[p] = True

    @action(fairness="weak", source="hazard 11; B46")
    def note_fence(s, p: TimeTick.Source) -> None:
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
    def restart(s) -> None:
        """A coordinator begins to serve: whoever has served is listed, or the logs refuse it."""
        require(s.relied_on_at_start())
        listed, fenced = s.listed, s.fenced
        super().restart()
        s.known = each(s.Source, lambda p: (p == s.ddl) | listed[p] & ~fenced[p])
        s.fenced = fenced

    def relied_on_at_start(s) -> Bool:
        """Whoever has served is listed, or the logs refuse it."""
        return forall(s.Source, lambda p: implies(s.serves[p], s.listed[p] | s.refused(p)))

    @transition_invariant(source="facts 4; hazard 29", frame=True)
    def a_dead_coordinator_sends_nothing(before, after: Self) -> Bool:
        """While no coordinator runs, nothing is added to the logs but messages and what was sent before."""
        return implies(
            ~before.up,
            forall(after.Channel, lambda c: (after.highest[c] == before.highest[c]) | (before.stray[c] > 0)),
        )

    @lemma(source="hazard 11; B46")
    def lists_and_logs_follow_the_leases(s) -> Bool:
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
    def a_start_fences_who_may_still_append(before, after: Self, p: TakesOverLogByLog.Source) -> Bool:
        """A coordinator that starts has the logs refuse a source that has a message on the way."""
        return ~before.up & exists(
            before.Message, lambda m: (before.sender[m] == p) & (before.message[m] == "open")
        )

    @reachable(after="append", source="hazard 12")
    def a_message_outlives_its_sender(before, after: Self, m: TakesOverLogByLog.Message) -> Bool:
        """A DDL message reaches its log when the coordinator has crashed."""
        return ~before.up & (before.sender[m] == before.ddl) & (after.message[m] == "appended")

    @reachable(after="fence_and_read", source="hazards 12, 30")
    def a_fence_ends_what_is_on_its_way(before, after: Self, c: TakesOverLogByLog.Channel) -> Bool:
        """A DDL message and a tick of the predecessor are on their way to a log that refuses both."""
        return (before.stray[c] > 0) & exists(
            before.Message, lambda m: before.is_sent_to(m, c) & (after.message[m] == "dropped")
        )


class OlderOverTheEdges(OverTheEdges):
    """A coordinator is followed while it runs, and still takes reports: it asks the log before it admits a
    proxy. A log says that it is the newest one until a later one has asked for the last tick.
    """

    ASKS: Bool = option(True)  # it asks before it admits; else what it remembers is enough

    older: Bool = False  # a coordinator that was followed still answers
    # the log has said of its coordinator that it is the newest one
    admits: Set[TimeTick.Source] = everywhere(False)

    @action(source="facts 2.4, 4")
    def follow(s) -> None:
        """A later coordinator asks for the last tick: from now on the log refuses the older one."""
        s.crash_coordinator()
        s.older = True

    @action(source="facts 2.4, 4")
    def ask_to_admit(s, p: TimeTick.Source) -> None:
        """The log says of the coordinator that asks that it is the newest one."""
        require(s.up & s.known[p] & (p != s.ddl))
        s.admits[p] = True

    @action(source="facts 2.4, 4")
    def accept_by_the_older(s, p: TimeTick.Source) -> None:
        """The older coordinator takes a report at any later time, and the proxy serves."""
        require(s.older & (p != s.ddl))
        require(s.admits[p] | (~s.ASKS & (s.session[p] == "registered")))
        require(exists(s.Channel, lambda c: s.promised[p, c] > 0))
        s.serves[p] = True

    def forget(s, p: OverTheEdges.Source) -> None:
        require(implies(s.admits[p], s.refused(p)))
        super().forget(p)

    def relied_on_at_start(s) -> Bool:
        """So is whoever may come to serve: the list is younger than the log's answer."""
        return super().relied_on_at_start() & forall(
            s.Source, lambda p: implies(s.admits[p], s.listed[p] | s.refused(p))
        )

    @lemma(source="facts 2.4, 4")
    def admitted_sources_are_known_or_refused(s) -> Bool:
        """A coordinator that serves knows whoever may come to serve, or the logs refuse it."""
        return forall(
            s.Source,
            lambda p: implies(
                s.admits[p],
                all_of(
                    p != s.ddl,
                    s.session[p] != "none",
                    implies(s.up, s.known[p] | s.refused(p)),
                    implies(s.FENCED & s.fenced[p], s.shut[p]),
                ),
            ),
        )

    @reachable(after="accept_by_the_older", source="facts 2.4, 4")
    def an_answer_outlives_a_takeover(before, after: Self, p: OverTheEdges.Source) -> Bool:
        """The older coordinator admits a proxy when its successor serves."""
        return before.up & ~before.serves[p] & after.serves[p]


class OlderDoesNotAsk(OlderOverTheEdges):
    """What the older coordinator remembers is enough."""

    ASKS: Bool = option(False)


class TicksAreTaken(OverTheEdges):
    """A log takes the ticks of the predecessor after it has answered."""

    TICKS_FENCED: Bool = option(False)


class DdlIsTaken(OverTheEdges):
    """A log takes the DDL messages of the predecessor after it has answered."""

    DDL_FENCED: Bool = option(False)
