"""Claims about the message stream: safety, liveness and witnesses."""

from tidemark.spec.language import (
    Bool,
    Self,
    all_of,
    any_of,
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
    """Channels and one consumer of them that crashes and seeks; any number of messages and ticks."""

    def is_wanted(s, m: StreamActions.Message) -> Bool:
        """The message is in the log, above the first position."""
        return (s.place[m] > 0) & (s.ts[m] > s.start)

    @invariant(source="facts 5.1; property S; hazard 31")
    def a_position_claims_only_what_is_stored(s) -> Bool:
        """Every message in the logs above the first position, at or below the stored one, is stored."""
        return forall(s.Message, lambda m: implies(s.is_wanted(m) & (s.ts[m] <= s.position_ts), s.done[m]))

    @invariant(source="facts 5.1; property 1; B62")
    def nothing_is_stored_twice(s) -> Bool:
        """No message is in two packs that are stored, and no copy is in the pack of its message."""
        return forall(s.Message, lambda m: ~s.twice[m])

    @invariant(source="seed 002, bufMsgPackToChannel; facts 5.1")
    def packs_leave_nothing_out(s) -> Bool:
        """Every message above the first position, up to the end of the last pack, was delivered."""
        return forall(
            s.Message,
            lambda m: implies(s.is_wanted(m) & (s.ts[m] <= s.last), s.held[m] | s.done[m]),
        )

    @invariant(source="facts 5.1; hazard 31")
    def what_was_read_is_kept(s) -> Bool:
        """Every message above the first position before the consumer's place is buffered, in the pack or
        stored. This does not need the promise of the ticks.
        """
        return forall(
            s.Message,
            lambda m: implies(
                s.is_wanted(m) & (s.place[m] <= s.read[s.channel[m]]),
                any_of(s.buffered[m], s.held[m], s.done[m]),
            ),
        )

    def is_next(s, c: StreamActions.Channel, p: StreamActions.Place, value: StreamActions.Ts) -> Bool:
        """A message above the timestamp is at this place, or the tick itself."""
        return (s.tick_at[c, p] == value) | exists(
            s.Message, lambda m: all_of(s.channel[m] == c, s.place[m] == p, s.ts[m] > value)
        )

    @invariant(source="facts 5.1; hazard 31")
    def a_position_has_the_place_of_what_comes_next(s) -> Bool:
        """A position has the place of the first later message or of its tick: no needless rereading."""
        return forall(
            s.Channel,
            lambda c: all_of(
                implies(s.next_ts > 0, s.is_next(c, s.next_place[c], s.next_ts)),
                implies(s.position_ts > s.start, s.is_next(c, s.position_place[c], s.position_ts)),
            ),
        )

    @transition_invariant(source="facts 5.1: pursuit mode; hazard 32", frame=True)
    def who_need_not_read_waits(before, after: Self) -> Bool:
        """A running consumer reads on where it is behind, or where all are level and its pack may grow."""
        return implies(
            before.faults == after.faults,
            forall(after.Channel, lambda c: (after.read[c] == before.read[c]) | before.may_read(c)),
        )

    @transition_invariant(source="seed 002, bufMsgPackToChannel; facts 5.1")
    def packs_hold_their_interval(before, after: Self) -> Bool:
        """Messages of a pack are above its last end, and at or below its new end."""
        return forall(
            after.Message,
            lambda m: implies(
                after.held[m] & ~before.held[m], (after.ts[m] > before.last) & (after.ts[m] <= after.last)
            ),
        )

    @transition_invariant(source="facts 5.1; hazard 30", frame=True)
    def packs_advance(before, after: Self) -> Bool:
        """As long as the consumer runs, each pack ends above the last, whatever ticks come."""
        return implies(before.faults == after.faults, after.last >= before.last)

    @transition_invariant(source="facts 5.1: pursuit mode")
    def a_drop_ends_its_pack(before, after: Self) -> Bool:
        """A pack with a message that drops the collection does not grow."""
        return forall(
            after.Message,
            lambda m: implies(
                all_of(before.held[m], before.drops[m], after.held[m]), after.last == before.last
            ),
        )

    @transition_invariant(source="facts 5.1; property M")
    def positions_never_go_back(before, after: Self) -> Bool:
        """The stored position never goes back."""
        return after.position_ts >= before.position_ts

    def has_its_tick(s, m: StreamActions.Message, c: StreamActions.Channel) -> Bool:
        """The channel has a tick that ends the message's pack, and before it one that ends the first seek."""
        return (s.ts[m] <= s.highest[c]) & any_of(
            s.start == 0,
            exists(
                s.Place,
                s.Place,
                lambda p, q: all_of(p > q, s.tick_at[c, q] >= s.start, s.tick_at[c, p] >= s.ts[m]),
            ),
        )

    @leads_to(source="facts 5.1; hazard 32; property WL")
    def every_message_is_stored(s, m: StreamActions.Message) -> tuple[Bool, Bool]:
        """A message in the log above the first position, up to a tick of every channel, is stored.

        Judged within bounds, for one channel. For any size it is false: two channels with ticks of their own
        need never be at the same tick (hazard 32, ``stream-own-ticks``), and a consumer that crashes before
        it stores a pack stores none.
        """
        return s.is_wanted(m) & forall(s.Channel, lambda c: s.has_its_tick(m, c)), s.done[m]

    @reachable(after="read_tick", source="facts 5.1")
    def a_message_stays_buffered(
        before, after: Self, c: StreamActions.Channel, value: StreamActions.Ts
    ) -> Bool:
        """A pack leaves a message behind that was read before its tick."""
        return (after.last > before.last) & exists(
            after.Message, lambda m: after.buffered[m] & (after.place[m] < after.read[c])
        )

    @reachable(after="read_tick", source="hazard 30")
    def a_smaller_tick_is_ignored(
        before, after: Self, c: StreamActions.Channel, value: StreamActions.Ts
    ) -> Bool:
        """A tick that is smaller than the last makes no pack."""
        return (value < before.last) & ~before.seeking[c]

    @reachable(after="read_tick", source="facts 5.1: pursuit mode")
    def a_pack_grows(before, after: Self, c: StreamActions.Channel, value: StreamActions.Ts) -> Bool:
        """A pack that was not taken gets the messages of a further tick."""
        return exists(after.Message, lambda m: after.held[m] & ~before.held[m]) & exists(
            after.Message, lambda m: before.held[m]
        )

    @reachable(after="read_message", source="facts 5.1")
    def a_copy_is_read(before, after: Self, m: StreamActions.Message) -> Bool:
        """A message is read a second time before its pack."""
        return before.buffered[m] & after.buffered[m]

    @reachable(after="read_message", source="facts 5.1; hazard 31")
    def a_seek_skips_a_message(before, after: Self, m: StreamActions.Message) -> Bool:
        """A consumer that seeks reads a stored message again."""
        return before.done[m]

    @reachable(after="store", source="facts 5.1; hazard 31")
    def a_message_is_stored_after_a_seek(before, after: Self) -> Bool:
        """A consumer that started again stores a message."""
        return (before.faults > 0) & exists(before.Message, lambda m: after.done[m] & ~before.done[m])
