"""The time tick with the steps of sessions: a coordinator lists, fences, learns and forgets one by one, in
any order, and the logs refuse a source one after the other.

The steps rely on what ``sessions`` guarantees, and on nothing else about lists, fences and watches
(``models/protocols/timetick/readings.py``).
"""

from tidemark.spec.language import (
    Bool,
    Set,
    action,
    all_of,
    each,
    everywhere,
    forall,
    implies,
    lemma,
    require,
)
from tidemark.spec.timetick import TimeTick
from tidemark.spec.timetick.variants import session_steps


class FollowsSessions(TimeTick):
    """Sessions are listed, fenced, learned and forgotten one by one."""

    closed: Set[TimeTick.Source, TimeTick.Channel] = everywhere(False)  # the channel's log refuses the source
    listed: Set[TimeTick.Source] = everywhere(False)  # the coordinator that starts has it in its list

    def refused(s, p: TimeTick.Source) -> Bool:
        return s.FENCED & forall(s.Channel, lambda c: s.closed[p, c])

    def may_append(s, m: TimeTick.Message) -> Bool:
        return (s.is_begun(m) | (s.message[m] == "lost")) & ~(
            s.FENCED & s.closed[s.sender[m], s.channel_of[m]]
        )

    def append(s, m: TimeTick.Message) -> None:
        super().append(m)
        require(~(s.FENCED & s.closed[s.sender[m], s.channel_of[m]]))

    @action(source="facts 4: initSessions; B46")
    def list_session(s, p: TimeTick.Source) -> None:
        """A coordinator that starts lists a session."""
        require(~s.up & (s.session[p] == "registered"))
        s.listed[p] = True

    @action(fairness="weak", source="hazard 11")
    def close_log(s, p: TimeTick.Source, c: TimeTick.Channel) -> None:
        """The log of a channel refuses a source whose lease is gone, whoever fences it and when."""
        require((s.session[p] == "expired") & ~s.closed[p, c])
        s.closed[p, c] = True

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
        listed = s.listed
        fenced = s.fenced
        super().restart()
        s.known = each(s.Source, lambda p: (p == s.ddl) | listed[p] & ~fenced[p])
        s.fenced = fenced
        s.listed = each(s.Source, lambda p: False)

    def relied_on_at_start(s) -> Bool:
        """Whoever has served is listed, or the logs refuse it."""
        return forall(s.Source, lambda p: implies(s.serves[p], s.listed[p] | s.refused(p)))

    @lemma(source="hazard 11; B46")
    def lists_and_logs_follow_the_leases(s) -> Bool:
        """Listed is who has registered; a log refuses only whose lease is gone; who has served and was
        forgotten is refused.
        """
        return forall(
            s.Source,
            lambda p: all_of(
                implies(s.listed[p], s.session[p] != "none"),
                implies(s.FENCED & s.serves[p] & s.fenced[p], forall(s.Channel, lambda c: s.closed[p, c])),
                forall(s.Channel, lambda c: implies(s.closed[p, c], s.session[p] == "expired")),
            ),
        )


class FollowsAList(FollowsSessions):
    """What ``sessions`` guarantees is not waited for."""

    def relied_on_at_start(s) -> Bool:
        return s.up | ~s.up
