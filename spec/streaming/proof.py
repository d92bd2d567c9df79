"""Lemmas and ranks: why the claims hold for any number of messages, ticks and terms."""

from tidemark.spec.language import (
    Bool,
    HelpfulCase,
    Measure,
    all_of,
    each,
    exists,
    forall,
    helpful,
    implies,
    ite,
    lemma,
    one_of,
    rank,
)
from tidemark.spec.streaming.claims import StreamingClaims


class Streaming(StreamingClaims):
    """One channel of a streaming node: timestamps, appends, ticks, terms, a consumer that recovers."""

    def awaits_a_tick(s, m: StreamingClaims.Message) -> Bool:
        """The log is open, and no tick has passed the message in it."""
        return all_of(s.is_open, s.place[m] > 0, s.tick < s.ts[m])

    def is_being_drawn(s, n: StreamingClaims.Message) -> Bool:
        return s.mine[n] & (s.stage[n] == "drawn")

    def holds_up(s, n: StreamingClaims.Message, m: StreamingClaims.Message) -> Bool:
        """A tick that passes the one message waits for the acknowledgement of the other."""
        return s.is_waited_for(n) & (s.ts[n] <= s.ts[m])

    def is_held_up(s, m: StreamingClaims.Message) -> Bool:
        """No tick can be collected that passes the message."""
        return exists(s.Message, lambda n: s.is_being_drawn(n) | s.holds_up(n, m))

    @rank("ticks_pass_a_message")
    def what_a_message_waits_for(s, m: StreamingClaims.Message) -> Measure:
        """New messages, which may be drawn; the lock; appends, acknowledgements; a tick, and its write."""
        return (
            each(s.Message, lambda n: s.stage[n] == "new"),
            each(s.Message, s.is_being_drawn),
            each(s.Message, lambda n: s.holds_up(n, m) & (s.stage[n] == "pending")),
            each(s.Message, lambda n: s.holds_up(n, m)),
            s.ts[m] - s.passed,
            s.to_write > 0,
        )

    @helpful("ticks_pass_a_message", action="enter")
    def a_message_is_entered(s, m: StreamingClaims.Message, n: StreamingClaims.Message) -> HelpfulCase:
        return s.awaits_a_tick(m) & s.is_being_drawn(n), (n,)

    @helpful("ticks_pass_a_message", action="append")
    def a_message_is_appended(s, m: StreamingClaims.Message, n: StreamingClaims.Message) -> HelpfulCase:
        return s.awaits_a_tick(m) & s.holds_up(n, m) & (s.stage[n] == "pending"), (n,)

    @helpful("ticks_pass_a_message", action="acknowledge")
    def a_message_is_acknowledged(s, m: StreamingClaims.Message, n: StreamingClaims.Message) -> HelpfulCase:
        return s.awaits_a_tick(m) & s.holds_up(n, m) & (s.stage[n] == "logged"), (n,)

    @helpful("ticks_pass_a_message", action="write_tick")
    def a_tick_is_written(s, m: StreamingClaims.Message) -> HelpfulCase:
        return s.awaits_a_tick(m) & ~s.is_held_up(m) & (s.to_write > 0), ()

    @helpful("ticks_pass_a_message", action="collect")
    def a_tick_is_collected(s, m: StreamingClaims.Message) -> HelpfulCase:
        return s.awaits_a_tick(m) & ~s.is_held_up(m) & (s.to_write == 0), (s.ts[m], s.confirmed)

    @lemma(source="facts 2.1")
    def timestamps_were_issued(s) -> Bool:
        """Messages and ticks have timestamps of the oracle; a new message has none."""
        return (
            (s.tick <= s.issued)
            & (s.passed <= s.issued)
            & (s.to_write <= s.passed)
            & forall(s.Message, lambda m: s.ts[m] <= s.issued)
        )

    @lemma(source="facts 11")
    def ticks_are_in_order(s) -> Bool:
        """No tick of the log is above the last one that was collected."""
        return (s.tick <= s.passed) & implies(s.to_write > 0, s.tick <= s.to_write)

    @lemma(source="facts 11")
    def what_was_collected_is_written(s) -> Bool:
        """A collected tick is the one to write; without one, the log has the last one that was collected."""
        return s.passed == ite(s.to_write > 0, s.to_write, s.tick)

    @lemma(source="facts 11")
    def what_is_under_way_is_above_the_tick(s) -> Bool:
        """A message of the last term that may still be appended is later than the collected tick."""
        return forall(
            s.Message,
            lambda m: implies(s.mine[m] & one_of(s.stage[m], "drawn", "pending"), s.ts[m] > s.passed),
        )

    @lemma(source="facts 11")
    def places_are_those_of_the_log(s) -> Bool:
        """A message that is in the log has a place there, each its own."""
        return forall(
            s.Message,
            lambda m: (
                (s.place[m] <= s.end)
                & ((s.place[m] > 0) == one_of(s.stage[m], "logged", "acknowledged"))
                & implies(s.place[m] == 0, s.copy[m] == "none")
            ),
        ) & forall(
            s.Message, s.Message, lambda m, n: implies((s.place[m] > 0) & (s.place[m] == s.place[n]), m == n)
        )

    @lemma(source="facts 11")
    def what_is_not_drawn_is_new(s) -> Bool:
        """A new message belongs to no term and has no timestamp."""
        return forall(
            s.Message,
            lambda m: (
                implies(s.stage[m] == "new", ~s.mine[m] & (s.ts[m] == 0))
                & implies(s.stage[m] != "new", s.ts[m] > 0)
            ),
        )

    @lemma(source="facts 11")
    def drawn_one_at_a_time(s) -> Bool:
        """A drawn timestamp that is not entered is the last one of its term."""
        return forall(
            s.Message,
            lambda m: implies(s.mine[m] & (s.stage[m] == "drawn"), s.ts[m] == s.issued),
        )

    @lemma(source="facts 11")
    def starts_lie_below_the_end(s) -> Bool:
        """The place from which a reader is to start is in the log."""
        return (s.confirmed <= s.end) & forall(s.Message, lambda m: s.since[m] <= s.end)

    @lemma(source="facts 11")
    def what_is_later_comes_behind_the_start(s) -> Bool:
        """Each message in the log that is later in time than one with a start is behind that start."""
        return forall(
            s.Message,
            s.Message,
            lambda m, n: implies(
                (s.stage[m] != "new") & (s.place[n] > 0) & (s.ts[n] > s.ts[m]), s.place[n] > s.since[m]
            ),
        )

    @lemma(source="B28")
    def checkpoints_lie_in_the_log(s) -> Bool:
        """Messages that were read are behind one of the checkpoints, buffered ones behind the flusher's."""
        return (
            (s.reading <= s.end)
            & ((s.flusher <= s.reading) | (s.recovery <= s.reading))
            & (s.flusher <= s.end)
            & (s.recovery <= s.end)
            & forall(s.Message, lambda m: implies(s.copy[m] == "buffered", s.place[m] > s.flusher))
        )

    @lemma(source="B28")
    def what_the_flusher_passed_is_stored(s) -> Bool:
        """A message at or below the flusher's checkpoint is stored."""
        return forall(
            s.Message,
            lambda m: implies((s.place[m] > 0) & (s.place[m] <= s.flusher), s.copy[m] == "stored"),
        )
