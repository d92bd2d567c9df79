"""Claims about a streaming node: safety, liveness and witnesses."""

from tidemark.spec.language import (
    Bool,
    Self,
    exists,
    forall,
    implies,
    invariant,
    leads_to,
    reachable,
    transition_invariant,
)
from tidemark.spec.streaming.actions import StreamingActions


class StreamingClaims(StreamingActions):
    """One channel of a streaming node: timestamps, appends, ticks, terms, a consumer that recovers."""

    # ---- safety ----

    @transition_invariant(source="property W; facts 11")
    def watermark_promise(before, after: Self) -> Bool:
        """A message is appended above the last tick of the log."""
        return forall(
            before.Message,
            lambda m: implies((before.place[m] == 0) & (after.place[m] > 0), before.ts[m] > before.tick),
        )

    @transition_invariant(source="facts 11")
    def ticks_never_go_back(before, after: Self) -> Bool:
        """A tick is at least the one before it, over every change of term."""
        return after.tick >= before.tick

    @invariant(source="facts 11")
    def ticks_cover_what_is_acknowledged(s) -> Bool:
        """A message at or below the tick is in the log, or never will be."""
        return forall(
            s.Message,
            lambda m: implies((s.stage[m] != "new") & (s.ts[m] <= s.tick), (s.place[m] > 0) | s.is_over(m)),
        )

    def is_over(s, m: StreamingActions.Message) -> Bool:
        """The message is not in the log and cannot get there."""
        return (s.place[m] == 0) & ((s.stage[m] == "refused") | ~s.mine[m])

    @invariant(source="facts 11")
    def a_reader_misses_nothing_later(s) -> Bool:
        """A reader that starts at the place noted with a message reads each message that is later in time."""
        return forall(
            s.Message,
            s.Message,
            lambda m, n: implies(
                (s.place[m] > 0) & (s.place[n] > 0) & (s.ts[n] > s.ts[m]), s.place[n] > s.since[m]
            ),
        )

    @invariant(source="facts 11")
    def a_start_leaves_out_only_what_is_passed(s) -> Bool:
        """Messages before the place from which readers of a tick start are not later than the tick."""
        return forall(
            s.Message,
            lambda m: implies((s.place[m] > 0) & (s.place[m] <= s.confirmed), s.ts[m] <= s.passed),
        )

    @invariant(source="B28; facts 11")
    def no_message_is_lost(s) -> Bool:
        """Every message in the log is stored, in memory, or still to be read, and then not cut off."""
        return forall(
            s.Message,
            lambda m: implies(
                s.place[m] > 0,
                (s.copy[m] != "none") | ((s.place[m] > s.reading) & (s.place[m] > s.cut)),
            ),
        )

    @invariant(source="B28")
    def recovery_finds_its_start(s) -> Bool:
        """The log reaches back to where a consumer would start."""
        return (s.cut <= s.flusher) & (s.cut <= s.recovery) & (s.cut <= s.reading)

    # ---- liveness ----

    @leads_to(source="facts 11; property WL", without=("draw",))
    def ticks_pass_a_message(s, m: StreamingActions.Message) -> tuple[Bool, Bool]:
        """Once no new message is drawn, a tick passes each message of the log, or the log is closed."""
        return s.is_open & (s.place[m] > 0), (s.tick >= s.ts[m]) | ~s.is_open

    # ---- witnesses ----

    @reachable(after="append", source="facts 11")
    def appends_end_in_another_order(before, after: Self, m: StreamingActions.Message) -> Bool:
        """A message is appended behind a later one."""
        return exists(before.Message, lambda n: (before.place[n] > 0) & (before.ts[n] > before.ts[m]))

    @reachable(after="append", source="facts 11")
    def a_message_follows_a_tick(before, after: Self, m: StreamingActions.Message) -> Bool:
        """A message is appended after a tick."""
        return before.tick > 0

    @reachable(after="write_tick", source="facts 11")
    def a_tick_waits_for_a_message(before, after: Self) -> Bool:
        """A tick is written that stays below a later message which was appended already."""
        return exists(before.Message, lambda m: (before.place[m] > 0) & (before.ts[m] > after.tick))

    @reachable(after="write_tick", source="facts 11; hazard 12")
    def a_term_passes_what_the_last_one_left(before, after: Self) -> Bool:
        """A tick of a new term passes a message that was never appended."""
        return exists(
            before.Message,
            lambda m: (before.stage[m] == "pending") & ~before.mine[m] & (before.ts[m] <= after.tick),
        )

    @reachable(after="consume", source="B28")
    def a_message_is_read_again(before, after: Self) -> Bool:
        """After a crash a stored message is read once more, and dropped."""
        return exists(
            before.Message, lambda m: (before.copy[m] == "stored") & (before.place[m] == after.reading)
        )

    @reachable(after="truncate", source="B28")
    def the_log_is_cut(before, after: Self, upto: StreamingActions.Place) -> Bool:
        """A message that is stored is cut off."""
        return exists(before.Message, lambda m: (before.place[m] > 0) & (before.place[m] <= after.cut))
