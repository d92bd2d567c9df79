"""A consumer of several channels whose packs end at the smallest of their ticks: the repair of hazard 32.

Milvus waits until all channels are at one tick, which need not come if they have ticks of their own. Here
a pack ends at the smallest of the last ticks, as soon as that is greater than the end of the last pack. Every
channel has been read beyond it, so nothing at or below it is still to come. Who is at the smallest tick reads
on. The tick that ends a seek counts, for it may be greater than the position: that of the others was smaller.
"""

from tidemark.spec.language import (
    Bool,
    Self,
    all_of,
    exists,
    forall,
    implies,
    ite,
    least,
    lemma,
    reachable,
    require,
    when,
)
from tidemark.spec.stream.variants.other_rules import OwnTicks


class AtTheMinimum(OwnTicks):
    """A pack ends at the smallest of the channels' last ticks."""

    def is_behind(s, c: OwnTicks.Channel) -> Bool:
        """No other channel has been read to a smaller tick."""
        return forall(s.Channel, lambda d: s.at[c] <= s.at[d])

    def may_read(s, c: OwnTicks.Channel) -> Bool:
        return s.is_behind(c) & ((s.next_ts == 0) | s.pursues())

    def read_tick(s, c: OwnTicks.Channel, value: OwnTicks.Ts) -> None:
        require(s.may_read(c))
        require((value > 0) & (s.tick_at[c, s.read[c] + 1] == value))
        s.read[c] = s.read[c] + 1
        s.seeking[c] = s.seeking[c] & (value < s.position_ts)
        s.at[c] = ite(s.seeking[c], 0, value)
        with when(s.makes_a_pack(c, value)):
            s.gather(s.end_of_pack())

    def makes_a_pack(s, c: OwnTicks.Channel, value: OwnTicks.Ts) -> Bool:
        """All channels have been read beyond the end of the last pack."""
        return forall(s.Channel, lambda d: s.at[d] > s.last)

    def end_of_pack(s) -> OwnTicks.Ts:
        """The smallest of the last ticks."""
        return least(s.Ts, lambda t: exists(s.Channel, lambda d: s.at[d] == t), default=0)

    def is_next(s, c: OwnTicks.Channel, p: OwnTicks.Place, value: OwnTicks.Ts) -> Bool:
        """At this place lies a message above the timestamp, or a tick that is not smaller."""
        return (s.tick_at[c, p] >= value) | exists(
            s.Message, lambda m: all_of(s.channel[m] == c, s.place[m] == p, s.ts[m] > value)
        )

    def a_drop_holds_all_channels(s) -> Bool:
        """While a pack has a message that drops the collection, no channel is below its tick."""
        return forall(s.Message, s.Channel, lambda m, c: implies(s.held[m] & s.drops[m], s.at[c] >= s.last))

    def who_is_ahead_is_at_its_tick(s) -> Bool:
        """A channel is at a tick that was read. One that is beyond the last pack has not been read on."""
        return forall(
            s.Channel,
            lambda c: all_of(
                (s.at[c] == 0) | exists(s.Place, lambda p: (p <= s.read[c]) & (s.tick_at[c, p] == s.at[c])),
                implies(s.at[c] > s.last, s.tick_at[c, s.read[c]] == s.at[c]),
            ),
        )

    @lemma(source="facts 5.1; hazard 32")
    def no_pack_is_due(s) -> Bool:
        """Some channel has not been read beyond the last pack: else there would be another one."""
        return exists(s.Channel, lambda c: s.at[c] <= s.last)

    @reachable(after="read_tick", source="facts 5.1; hazard 32")
    def a_pack_ends_where_one_channel_is_ahead(
        before, after: Self, c: OwnTicks.Channel, value: OwnTicks.Ts
    ) -> Bool:
        """A pack of all channels ends below the tick of one of them."""
        return all_of(
            after.last > before.last,
            exists(after.Channel, lambda d: after.at[d] > after.last),
            exists(after.Message, lambda m: after.held[m] & ~before.held[m]),
        )
