"""The time tick in finer steps: single steps that the real system does in several.

Each variant reads an option about these steps: an assumption of the protocol, or a choice of its own. With it
all claims hold; without it one breaks. Both are entries of the manifest.
"""

from tidemark.spec.language import (
    Bool,
    Enum,
    Map,
    Set,
    TypeAlias,
    action,
    all_of,
    each,
    everywhere,
    exists,
    forall,
    implies,
    ite,
    lemma,
    maximum,
    option,
    require,
)
from tidemark.spec.timetick import TimeTick


class TicksInFlight(TimeTick):
    """The ticks that a coordinator was sending when it crashed reach their logs later, or never."""

    stray: Map[TimeTick.Channel, TimeTick.Ts] = everywhere(0)

    def crash_coordinator(s) -> None:
        s.stray = each(s.Channel, lambda c: ite(s.to_send[c] & s.is_new(c), s.round_ts[c], s.stray[c]))
        super().crash_coordinator()

    @action(source="hazards 12, 30; facts 4")
    def land_tick(s, c: TimeTick.Channel) -> None:
        """The broker appends a tick of a coordinator that has crashed."""
        require(s.stray[c] > 0)
        s.tick[c] = s.stray[c]
        s.highest[c] = maximum(s.highest[c], s.stray[c])
        s.stray[c] = 0

    def restart(s) -> None:
        super().restart()
        s.stray = each(s.Channel, lambda c: ite(s.TICKS_FENCED, 0, s.stray[c]))

    @lemma(source="hazard 12")
    def stray_ticks_are_below_all_to_come(s) -> Bool:
        """Ticks of a crashed coordinator that may still be appended are below all messages to come."""
        return forall(
            s.Message, lambda m: implies(s.may_append(m), s.lies_above(m, s.stray[s.channel_of[m]]))
        ) & forall(s.Channel, lambda c: s.stray[c] <= s.issued)

    @lemma(source="hazard 30")
    def stray_ticks_land_before_the_successor_begins(s) -> Bool:
        """With the fence such a tick is above the last one, and there is none while a coordinator runs."""
        return forall(
            s.Channel,
            lambda c: implies(s.TICKS_FENCED & (s.stray[c] > 0), ~s.up & (s.stray[c] >= s.tick[c])),
        )


class FenceInSteps(TimeTick):
    """The logs of the channels refuse a source one after the other."""

    FENCED_FIRST: Bool = option(True)  # a source is forgotten when the log of each channel refuses it

    closed: Set[TimeTick.Source, TimeTick.Channel] = everywhere(False)  # the channel's log refuses the source

    def refused(s, p: TimeTick.Source) -> Bool:
        return s.FENCED & forall(s.Channel, lambda c: s.closed[p, c])

    def may_append(s, m: TimeTick.Message) -> Bool:
        return (s.is_begun(m) | (s.message[m] == "lost")) & ~(
            s.FENCED & s.closed[s.sender[m], s.channel_of[m]]
        )

    def append(s, m: TimeTick.Message) -> None:
        super().append(m)
        require(~(s.FENCED & s.closed[s.sender[m], s.channel_of[m]]))

    @action(fairness="weak", source="hazard 11")
    def close_log(s, p: TimeTick.Source, c: TimeTick.Channel) -> None:
        """The log of a channel refuses a source whose lease has ended."""
        require(s.up & (s.session[p] == "expired"))
        require(~s.closed[p, c])
        s.closed[p, c] = True

    def forget(s, p: TimeTick.Source) -> None:
        require(implies(s.FENCED_FIRST, forall(s.Channel, lambda c: s.closed[p, c])))
        super().forget(p)

    def restart(s) -> None:
        super().restart()
        s.closed = each(s.Source, s.Channel, lambda p, c: s.closed[p, c] | (s.session[p] == "expired"))

    @lemma(source="hazard 11")
    def logs_refuse_whom_they_have_lost(s) -> Bool:
        """A log refuses only sources whose lease has ended, and all logs refuse each forgotten source."""
        return forall(
            s.Source,
            s.Channel,
            lambda p, c: (
                implies(s.closed[p, c], s.session[p] == "expired")
                & implies(s.FENCED_FIRST & s.fenced[p], s.closed[p, c])
            ),
        )


class RestartInSteps(TimeTick):
    """A coordinator that starts lists the sessions and fences the others one by one, before it serves."""

    LISTED_FIRST: Bool = option(True)  # the list comes before the fences

    Start: TypeAlias = Enum["not begun", "first", "second"]

    start: Start = "not begun"
    listed: Set[TimeTick.Source] = everywhere(False)  # what the list of sessions said

    def lists_now(s) -> Bool:
        """The coordinator lists the sessions now: at first, or after the fences."""
        return s.start == ite(s.LISTED_FIRST, "not begun", "first")

    def fences_now(s) -> Bool:
        return s.start == ite(s.LISTED_FIRST, "first", "not begun")

    @action(fairness="weak", source="facts 4: initSessions; B46")
    def list_sessions(s) -> None:
        """It reads the sessions."""
        require(~s.up & s.lists_now())
        s.listed = each(s.Source, s.is_learned_at_start)
        s.start = ite(s.LISTED_FIRST, "first", "second")

    @action(fairness="weak", source="hazard 11; B46")
    def fence_absent(s, p: TimeTick.Source) -> None:
        """It fences a source whose lease has ended and that it has not listed."""
        require(~s.up & s.fences_now())
        require((s.session[p] == "expired") & ~s.listed[p] & ~s.fenced[p])
        s.fenced[p] = True

    @action(fairness="weak", source="hazard 11; B46")
    def end_fences(s) -> None:
        """All such sources are fenced."""
        require(~s.up & s.fences_now())
        require(forall(s.Source, lambda p: implies((s.session[p] == "expired") & ~s.listed[p], s.fenced[p])))
        s.start = ite(s.LISTED_FIRST, "second", "first")

    def restart(s) -> None:
        require(~s.up & (s.start == "second"))
        s.up = True
        s.known = each(s.Source, lambda p: s.listed[p])
        s.listed = each(s.Source, lambda p: False)
        s.start = "not begun"
        s.last = each(s.Channel, lambda c: ite(s.RESUMES, s.highest[c], 0))
        s.synced = each(s.Channel, lambda c: s.last[c])

    @lemma(source="hazard 11; B46")
    def a_list_is_used_once(s) -> Bool:
        """Before a start there is no list, and while a coordinator runs there is no start."""
        return ((s.start == "not begun") | ~s.up) & forall(
            s.Source, lambda p: implies(s.LISTED_FIRST & s.listed[p], s.start != "not begun")
        )

    @lemma(source="hazard 11; B46")
    def whoever_is_not_listed_is_fenced(s) -> Bool:
        """When the sessions are listed first: each source that took writes is listed, or fenced in time."""
        return forall(
            s.Source,
            lambda p: implies(
                s.LISTED_FIRST & (s.start != "not begun"),
                ~s.up
                & s.listed[s.ddl]
                & implies(s.listed[p], ~s.fenced[p] & ((p == s.ddl) | (s.session[p] != "none")))
                & implies(s.serves[p] & ~s.listed[p], s.session[p] == "expired")
                & implies((s.start == "second") & s.serves[p] & ~s.listed[p], s.fenced[p]),
            ),
        )


class OlderAnswers(TimeTick):
    """A coordinator that was followed still takes reports: a pause, or a lease whose end it has not noticed.

    It watches the sessions as its successor does, so that it knows proxies which its successor has not
    learned. A coordinator asks whether it is still the newest one before it admits a proxy.
    """

    ASKS: Bool = option(True)  # it asks before it admits; else what it remembers is enough

    older: Bool = False  # a coordinator that was followed still answers
    # one that was the newest has asked; the proxy had registered
    admits: Set[TimeTick.Source] = everywhere(False)

    def crash_coordinator(s) -> None:
        s.older = True
        super().crash_coordinator()

    @action(source="facts 2.4, 4")
    def ask_to_admit(s, p: TimeTick.Source) -> None:
        """A coordinator is told that no later one has begun; the lease of the proxy may have ended."""
        require(ite(s.up, s.known[p], s.older))
        require((p != s.ddl) & (s.session[p] != "none"))
        s.admits[p] = True

    @action(source="facts 2.4, 4")
    def accept_by_the_older(s, p: TimeTick.Source) -> None:
        """The older coordinator takes a report at any later time, and the proxy serves."""
        require(s.older & (p != s.ddl))
        require(s.admits[p] | (~s.ASKS & (s.session[p] == "registered")))
        require(exists(s.Channel, lambda c: s.promised[p, c] > 0))
        s.serves[p] = True

    @lemma(source="facts 2.4, 4")
    def admitted_sources_are_known_or_refused(s) -> Bool:
        """The successor lists the sessions after the question: it has learned the source, or fenced it."""
        return forall(
            s.Source,
            lambda p: implies(
                s.admits[p],
                all_of(p != s.ddl, s.session[p] != "none", implies(s.up, s.known[p] | s.fenced[p])),
            ),
        )
