"""Wrong protocols beside those of ``spec/stream/variants/minimum.py``."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import Bool, forall, ite, least
from tidemark.spec.stream.variants.minimum import AtTheMinimum


@mutant(killer="stream.packs_leave_nothing_out", source="H32: not aligned", instance="stream-minimum")
class EndsAtTheGreatest(AtTheMinimum):
    """A pack ends at the greatest of the last ticks: the others are read on beyond it later."""

    def end_of_pack(s) -> AtTheMinimum.Ts:
        return least(s.Ts, lambda t: forall(s.Channel, lambda d: s.at[d] <= t), default=0)


@mutant(killer="stream.packs_leave_nothing_out", source="H32: not aligned", instance="stream-minimum")
class OneChannelIsEnough(AtTheMinimum):
    """A pack is made when one channel has been read beyond the last one."""

    def makes_a_pack(s, c: AtTheMinimum.Channel, value: AtTheMinimum.Ts) -> Bool:
        return s.at[c] > s.last

    def end_of_pack(s) -> AtTheMinimum.Ts:
        return least(s.Ts, lambda t: forall(s.Channel, lambda d: s.at[d] <= t), default=0)


@mutant(killer="stream.packs_follow_ticks", source="H32: who waits", instance="stream-minimum-live")
class WaitsForEqualTicks(AtTheMinimum):
    """A pack is made where all channels are at the same tick, as by Milvus."""

    def makes_a_pack(s, c: AtTheMinimum.Channel, value: AtTheMinimum.Ts) -> Bool:
        return super().makes_a_pack(c, value) & forall(s.Channel, lambda d: s.at[d] == s.at[c])


@mutant(killer="stream.packs_follow_ticks", source="H32: who waits", instance="stream-minimum-live")
class TheFirstReadsOn(AtTheMinimum):
    """The channel at the greatest tick reads on, and not the one at the smallest."""

    def is_behind(s, c: AtTheMinimum.Channel) -> Bool:
        return forall(s.Channel, lambda d: s.at[c] >= s.at[d])


@mutant(
    killer="stream.packs_follow_ticks",
    source="facts 5.1: the seek",
    instance="stream-minimum-live",
)
class TheTickOfASeekIsForgotten(AtTheMinimum):
    """The tick that ends a seek counts for nothing, as where all channels have the same ticks: that of a
    channel ahead is the only one that its messages have.
    """

    def read_tick(s, c: AtTheMinimum.Channel, value: AtTheMinimum.Ts) -> None:
        was_seeking = s.seeking[c]
        super().read_tick(c, value)
        s.at[c] = ite(was_seeking, 0, s.at[c])


@mutant(
    killer="stream.a_position_claims_only_what_is_stored",
    source="facts 5.1: end positions",
    instance="stream-minimum",
)
class PlacesAreThoseOfTheTicks(AtTheMinimum):
    """The position has the places of the last ticks, though a channel ahead has messages before its own."""

    def place_of_position(s, c: AtTheMinimum.Channel) -> AtTheMinimum.Place:
        return s.read[c]
