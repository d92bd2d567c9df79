"""Variants of the message stream: late messages, channels with ticks of their own, how Milvus begins."""

from tidemark.spec.language import Bool, Self, all_of, exists, forall, leads_to, reachable, removed, require
from tidemark.spec.stream import Stream


class LateMessages(Stream):
    """Messages come after ticks that have promised otherwise; none has a copy."""

    append_again = removed

    @leads_to(source="facts 5.1; hazard 31")
    def late_messages_are_stored(s, m: Stream.Message) -> tuple[Bool, Bool]:
        """A message before a tick that is greater than all before it is stored, late or not."""
        is_passed = exists(
            s.Place,
            lambda p: all_of(
                p > s.place[m],
                s.tick_at[s.channel[m], p] >= s.ts[m],
                forall(
                    s.Place, lambda q: (q >= p) | (s.tick_at[s.channel[m], q] < s.tick_at[s.channel[m], p])
                ),
            ),
        )
        return s.is_wanted(m) & is_passed, s.done[m]

    @reachable(after="read_tick", source="facts 5.1; hazard 31")
    def a_late_message_comes_with_the_next_pack(
        before, after: Self, c: Stream.Channel, value: Stream.Ts
    ) -> Bool:
        """A pack has a message below the end of the pack before."""
        return exists(after.Message, lambda m: after.held[m] & ~before.held[m] & (after.ts[m] <= before.last))


class LateAndNoPromise(LateMessages):
    """The claims that hold if messages may be late: no message is lost, and none is stored twice."""

    a_position_claims_only_what_is_stored = removed
    packs_leave_nothing_out = removed
    packs_hold_their_interval = removed
    every_message_is_stored = removed


class LateWithoutCrash(LateMessages):
    """The consumer of late messages does not crash."""

    crash = removed


class LateAndExclusive(LateMessages):
    """A seek begins behind the place of its position: the tick that would end it is not read again (B62)."""

    def start_of(s, c: LateMessages.Channel, place: LateMessages.Place) -> LateMessages.Place:
        return place


class OwnTicks(Stream):
    """Channels with ticks of their own."""

    @leads_to(source="facts 5.1; hazard 32")
    def packs_follow_ticks(s, ts: Stream.Ts) -> tuple[Bool, Bool]:
        """Once every channel has a tick at or above ``ts``, a pack ends there or above."""
        return forall(s.Channel, lambda c: s.highest[c] >= ts) & (ts > 0), s.last >= ts


class OneMinimum(OwnTicks):
    """Every channel gets the same ticks, one after the other, as seed 002 says."""

    def send_tick(s, c: OwnTicks.Channel, value: OwnTicks.Ts) -> None:
        require(value == s.highest[c] + 1)
        super().send_tick(c, value)


class BeginsAtZero(Stream):
    """The end of the last pack is not taken from the position, as in Milvus: the next pack begins at 0."""

    def crash(s) -> None:
        super().crash()
        s.last = 0
