"""Claims about the message stream of one channel: safety, liveness and witnesses."""

from tidemark.spec.language import (
    exists,
    forall,
    implies,
    invariant,
    leads_to,
    reachable,
    transition_invariant,
)
from tidemark.spec.stream.actions import StreamActions


class StreamClaims(StreamActions):
    """One channel, one consumer of it that crashes and seeks; any number of messages and ticks."""

    @invariant(source="facts 5.1; property S; hazard 31")
    def a_position_claims_only_what_is_stored(s):
        """Every message in the log at or below the stored position is stored."""
        return forall(s.Message, lambda m: implies((s.place[m] > 0) & (s.ts[m] <= s.position_ts), s.done[m]))

    @invariant(source="facts 5.1; property 1; B62")
    def nothing_is_stored_twice(s):
        """No message is in two packs that are stored."""
        return forall(s.Message, lambda m: ~s.twice[m])

    @invariant(source="seed 002, bufMsgPackToChannel; facts 5.1")
    def packs_leave_nothing_out(s):
        """Every message in the log at or below the end of the last pack was handed over."""
        return forall(
            s.Message,
            lambda m: implies((s.place[m] > 0) & (s.ts[m] <= s.last), s.held[m] | s.done[m]),
        )

    @transition_invariant(source="seed 002, bufMsgPackToChannel; facts 5.1")
    def packs_hold_their_interval(before, after):
        """A pack holds messages above the end of the pack before, and up to its own end."""
        return forall(
            after.Message,
            lambda m: implies(
                after.held[m] & ~before.held[m], (after.ts[m] > before.last) & (after.ts[m] <= after.last)
            ),
        )

    @transition_invariant(source="facts 5.1; hazard 30", frame=True)
    def packs_advance(before, after):
        """As long as the consumer lives, each pack ends above the last, whatever ticks come."""
        return implies(before.faults == after.faults, after.last >= before.last)

    @transition_invariant(source="facts 5.1; property M")
    def positions_never_go_back(before, after):
        """The stored position never goes back."""
        return after.position_ts >= before.position_ts

    @leads_to(source="facts 5.1; property WL")
    def every_message_is_stored(s, m: StreamActions.Message):
        """A message in the log at or below a tick is stored."""
        return (s.place[m] > 0) & (s.ts[m] <= s.highest), s.done[m]

    @reachable(after="read_tick", source="facts 5.1")
    def a_message_stays_buffered(before, after, value):
        """A pack leaves a message behind that was read before its tick."""
        return (after.last > before.last) & exists(
            after.Message, lambda m: after.buffered[m] & (after.place[m] < after.read)
        )

    @reachable(after="read_tick", source="hazard 30")
    def a_smaller_tick_is_ignored(before, after, value):
        """A tick that is smaller than the last makes no pack."""
        return (value < before.last) & ~before.seeking

    @reachable(after="read_message", source="facts 5.1; hazard 31")
    def a_seek_skips_a_message(before, after, m):
        """A consumer that seeks reads a message again that is stored."""
        return before.done[m]

    @reachable(after="store", source="facts 5.1; hazard 31")
    def a_message_is_stored_after_a_seek(before, after):
        """A consumer that started again stores a message."""
        return (before.faults > 0) & exists(before.Message, lambda m: after.done[m] & ~before.done[m])
