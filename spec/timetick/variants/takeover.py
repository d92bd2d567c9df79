"""A coordinator takes over log by log: it fences a log against its predecessor, reads the log's last tick,
and continues with the next log.

Ticks and DDL messages of the predecessor arrive at the logs that are not fenced yet. The protocol does all of
this in two steps: the crash drops the DDL messages, the start reads all last ticks.
"""

from tidemark.spec.language import (
    Bool,
    Map,
    Self,
    Set,
    Sort,
    TypeAlias,
    action,
    all_of,
    constant,
    each,
    everywhere,
    exists,
    forall,
    implies,
    invariant,
    ite,
    lemma,
    maximum,
    one_of,
    option,
    reachable,
    require,
)
from tidemark.spec.timetick import TimeTick


class TakesOverLogByLog(TimeTick):
    """The logs are fenced and read one after the other, and a coordinator may crash in between."""

    FENCED_BEFORE_READ: Bool = option(True)  # a log is read when it refuses the predecessor

    # a tick of the predecessor on its way; 0 for none
    stray: Map[TimeTick.Channel, TimeTick.Ts] = everywhere(0)
    closed: Set[TimeTick.Channel] = everywhere(False)  # the log refuses the predecessor
    # the coordinator that starts has read the log's last tick
    has_read: Set[TimeTick.Channel] = everywhere(False)
    seen: Map[TimeTick.Channel, TimeTick.Ts] = everywhere(0)

    # ---- ticks and messages of the predecessor ----

    def crash_coordinator(s) -> None:
        s.stray = each(s.Channel, lambda c: ite(s.to_send[c] & s.is_new(c), s.round_ts[c], 0))
        s.closed = each(s.Channel, lambda c: False)
        super().crash_coordinator()

    def end_ddl_messages(s) -> None:
        """Messages without a timestamp are given up; sent ones are on their way."""
        s.floor = each(s.Message, lambda m: ite(s.ends_with_ddl(m), 0, s.floor[m]))
        s.message = each(s.Message, lambda m: ite(s.ends_with_ddl(m), "dropped", s.message[m]))

    def ends_with_ddl(s, m: TimeTick.Message) -> Bool:
        """The DDL source has begun the message, and has not sent it."""
        return (s.sender[m] == s.ddl) & (s.message[m] == "asked")

    @action(source="hazards 12, 30; facts 4")
    def land_tick(s, c: TimeTick.Channel) -> None:
        """The log takes a tick of the predecessor."""
        require(s.stray[c] > 0)
        s.tick[c] = s.stray[c]
        s.highest[c] = maximum(s.highest[c], s.stray[c])
        s.stray[c] = 0

    # ---- the successor ----

    @action(fairness="weak", source="hazards 11, 30; B46")
    def close_log(s, c: TimeTick.Channel) -> None:
        """The log refuses the predecessor from now on: its ticks and messages on the way there are lost."""
        require(~s.up & ~s.closed[c])
        s.closed[c] = True
        s.stray[c] = ite(s.TICKS_FENCED, 0, s.stray[c])
        s.ts = each(s.Message, lambda m: ite(s.DDL_FENCED & s.is_sent_to(m, c), 0, s.ts[m]))
        s.message = each(
            s.Message,
            lambda m: ite(s.is_sent_to(m, c), ite(s.DDL_FENCED, "dropped", "lost"), s.message[m]),
        )

    def is_sent_to(s, m: TimeTick.Message, c: TimeTick.Channel) -> Bool:
        """The predecessor's message is on its way to this log; the successor does not know the message."""
        return s.is_stray(m) & (s.channel_of[m] == c)

    def is_stray(s, m: TimeTick.Message) -> Bool:
        """A DDL message that was sent, and is not in its log."""
        return (s.sender[m] == s.ddl) & (s.message[m] == "open")

    @action(fairness="weak", source="facts 4; hazard 30")
    def read_log(s, c: TimeTick.Channel) -> None:
        """The successor reads the last tick of a log."""
        require(~s.up & ~s.has_read[c])
        require(s.closed[c] | ~s.FENCED_BEFORE_READ)
        s.has_read[c] = True
        s.seen[c] = s.tick[c]

    @action(source="B46")
    def crash_start(s) -> None:
        """The successor crashes before it serves: the fences stay, the ticks that it has read are lost."""
        require(~s.up & exists(s.Channel, lambda c: s.has_read[c]))
        s.forget_what_was_read()
        s.fault()

    def forget_what_was_read(s) -> None:
        """The memory of a start is empty."""
        s.has_read = each(s.Channel, lambda c: False)
        s.seen = each(s.Channel, lambda c: 0)

    def restart(s) -> None:
        require(forall(s.Channel, lambda c: s.closed[c] & s.has_read[c]))
        seen = s.seen
        super().restart()
        s.last = each(s.Channel, lambda c: ite(s.RESUMES, seen[c], 0))
        s.synced = each(s.Channel, lambda c: s.last[c])
        s.forget_what_was_read()

    # ---- lemmas ----

    @lemma(source="facts 3.4, 4")
    def messages_begin_at_sources_that_serve(s) -> Bool:
        """A begun message is of a source that took writes, or on its way to a log without the fence."""
        return forall(
            s.Message,
            lambda m: implies(
                s.is_begun(m),
                s.takes_writes(s.sender[m]) | s.is_stray(m) & ~s.closed[s.channel_of[m]],
            ),
        )

    @lemma(source="hazards 12, 30")
    def what_is_on_its_way_is_in_order(s) -> Bool:
        """A tick of the predecessor on its way is below all messages to come and, with the fence, at or above
        the last tick; none is on its way to a log that refuses it.
        """
        return forall(
            s.Channel,
            lambda c: all_of(
                s.stray[c] <= s.issued,
                forall(
                    s.Message,
                    lambda m: implies((s.channel_of[m] == c) & s.may_append(m), s.lies_above(m, s.stray[c])),
                ),
                implies(
                    s.TICKS_FENCED & (s.stray[c] > 0),
                    ~s.up & ~s.closed[c] & (s.stray[c] >= s.tick[c]),
                ),
            ),
        )

    @lemma(source="hazard 30; B46")
    def what_was_read_is_the_last_tick(s) -> Bool:
        """Before a coordinator serves, it has read the last tick of each fenced log. While one serves, it
        keeps no state of its start, and all logs refuse the predecessor.
        """
        return forall(
            s.Channel,
            lambda c: all_of(
                s.has_read[c] | (s.seen[c] == 0),
                s.seen[c] <= s.highest[c],
                implies(s.FENCED_BEFORE_READ & s.has_read[c], s.closed[c]),
                implies(s.FENCED_BEFORE_READ & s.TICKS_FENCED & s.has_read[c], s.seen[c] == s.tick[c]),
                implies(s.up, s.closed[c] & ~s.has_read[c]),
            ),
        )

    # ---- witnesses ----

    @reachable(after="land_tick", source="hazard 30")
    def a_tick_lands_beside_a_log_that_was_read(before, after: Self, c: TimeTick.Channel) -> Bool:
        """A tick of the predecessor reaches a log while another has been fenced and read."""
        return (after.tick[c] > before.tick[c]) & exists(
            before.Channel, lambda d: before.closed[d] & before.has_read[d]
        )


class DdlLogByLog(TakesOverLogByLog):
    """A DDL message goes to several logs: one timestamp, an append to each, and ticks and crashes in between.

    Each log's copy is a message of its own, so that each channel's report waits for its own copy.
    """

    Statement: TypeAlias = Sort

    statement: Map[TimeTick.Message, Statement] = constant()

    def is_copy(s, k: TakesOverLogByLog.Message, m: TakesOverLogByLog.Message) -> Bool:
        """The two are one DDL message, for two logs or the same."""
        of_ddl = (s.sender[k] == s.ddl) & (s.sender[m] == s.ddl)
        return (k == m) | (of_ddl & (s.statement[k] == s.statement[m]))

    def ask(s, m: TakesOverLogByLog.Message) -> None:
        require(forall(s.Message, lambda k: implies(s.is_copy(k, m), s.message[k] == "new")))
        super().ask(m)
        s.floor = each(s.Message, lambda k: ite(s.is_copy(k, m), s.issued, s.floor[k]))
        s.message = each(s.Message, lambda k: ite(s.is_copy(k, m), "asked", s.message[k]))

    def stamp(s, m: TakesOverLogByLog.Message, ts: TakesOverLogByLog.Ts) -> None:
        require(s.message[m] == "asked")
        require(ts > s.floor[m])
        s.issued = maximum(s.issued, ts)
        s.ts = each(s.Message, lambda k: ite(s.is_stamped_with(k, m), ts, s.ts[k]))
        s.floor = each(s.Message, lambda k: ite(s.is_stamped_with(k, m), 0, s.floor[k]))
        s.message = each(s.Message, lambda k: ite(s.is_stamped_with(k, m), "open", s.message[k]))

    def is_stamped_with(s, k: TakesOverLogByLog.Message, m: TakesOverLogByLog.Message) -> Bool:
        """The oracle's answer is for this one too."""
        return s.is_copy(k, m) & (s.message[k] == "asked")

    @lemma(source="seed 002, DDL")
    def copies_are_asked_for_together(s) -> Bool:
        """All copies of a message begin at once, with the same floor."""
        return forall(
            s.Message,
            s.Message,
            lambda k, m: implies(
                s.is_copy(k, m) & (s.message[k] == "asked"),
                (s.message[m] == "dropped") | (s.message[m] == "asked") & (s.floor[m] == s.floor[k]),
            ),
        )

    @invariant(source="seed 002, DDL: DDL and DML are ordered")
    def copies_have_one_timestamp(s) -> Bool:
        """A DDL message has the same timestamp in all logs."""
        return forall(
            s.Message,
            s.Message,
            lambda k, m: implies(s.is_copy(k, m) & s.has_ts(k) & s.has_ts(m), s.ts[k] == s.ts[m]),
        )

    def has_ts(s, m: TakesOverLogByLog.Message) -> Bool:
        return one_of(s.message[m], "open", "appended")

    @reachable(after="send_tick", source="seed 002, DDL: DDL and DML are ordered")
    def a_tick_passes_a_copy(before, after: Self, c: TakesOverLogByLog.Channel) -> Bool:
        """A log has the message and a later tick, and another log is still to get the message."""
        return exists(
            after.Message,
            after.Message,
            lambda k, m: all_of(
                before.is_copy(k, m),
                (after.message[k] == "appended") & (after.channel_of[k] == c),
                (before.tick[c] < after.ts[k]) & (after.ts[k] <= after.tick[c]),
                after.message[m] == "open",
            ),
        )

    @reachable(after="close_log", source="B46; hazard 11")
    def a_message_stays_in_one_log_alone(before, after: Self, c: TakesOverLogByLog.Channel) -> Bool:
        """The coordinator crashed between two logs: the message stays in one alone."""
        return exists(
            after.Message,
            after.Message,
            lambda k, m: all_of(
                before.is_copy(k, m),
                before.message[k] == "appended",
                (before.message[m] == "open") & (after.message[m] == "dropped"),
            ),
        )


class CopiesAreStampedApart(DdlLogByLog):
    """Each copy gets a timestamp of its own."""

    def stamp(s, m: DdlLogByLog.Message, ts: DdlLogByLog.Ts) -> None:
        TimeTick.stamp(s, m, ts)
