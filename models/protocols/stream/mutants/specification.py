"""Named mutants of the message stream, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import Bool, all_of, each, ite
from tidemark.spec.stream import Stream


@mutant(
    killer="stream.a_position_claims_only_what_is_stored",
    source="B62: exclusive",
    instance="stream-small",
)
class SeekLeavesItsPlaceOut(Stream):
    """A seek begins behind the place of the position."""

    def start_of(s, c: Stream.Channel, place: Stream.Place) -> Stream.Place:
        return place


@mutant(killer="stream.nothing_is_stored_twice", source="B62: nothing is skipped", instance="stream-small")
class SeekSkipsNothing(Stream):
    """A consumer that seeks keeps what it has already."""

    def is_skipped(s, m: Stream.Message) -> Bool:
        return s.seeking[s.channel[m]] & (s.ts[m] == 0)


@mutant(killer="stream.nothing_is_stored_twice", source="B62: the bound", instance="stream-small")
class SeekKeepsTheBound(Stream):
    """A consumer that seeks keeps what has the timestamp of the position."""

    def is_skipped(s, m: Stream.Message) -> Bool:
        return s.seeking[s.channel[m]] & (s.ts[m] < s.position_ts)


@mutant(killer="stream.the_buffer_is_complete", source="facts 5.1: the seek", instance="stream-small")
class SeekEndsAtAnyTick(Stream):
    """A seek ends at the first tick, also if that is smaller than the position."""

    def read_tick(s, c: Stream.Channel, value: Stream.Ts) -> None:
        super().read_tick(c, value)
        s.seeking[c] = False


@mutant(killer="stream.a_position_claims_only_what_is_stored", source="facts 5.1", instance="stream-small")
class PositionIsThePlaceOfTheTick(Stream):
    """The position has the place of the tick, though a message before it is still buffered."""

    def place_of_position(s, c: Stream.Channel) -> Stream.Place:
        return s.read[c]


@mutant(killer="stream.packs_leave_nothing_out", source="B26: an empty place", instance="stream-small")
class EmptyPlaceIsTheEnd(Stream):
    """A position without a place is taken for the end of the log."""

    def start_of(s, c: Stream.Channel, place: Stream.Place) -> Stream.Place:
        return ite(place > 0, place - 1, s.end[c])


@mutant(
    killer="stream.packs_hold_their_interval",
    source="B26: the earliest position",
    instance="stream-first-position",
)
class EmptyPlaceIsTheEarliest(Stream):
    """A position without a place is taken for the earliest: nothing is skipped, whatever its timestamp."""

    def is_skipped(s, m: Stream.Message) -> Bool:
        return super().is_skipped(m) & (s.position_place[s.channel[m]] > 0)


@mutant(killer="stream.packs_advance", source="H30: a tick that goes back", instance="stream-small")
class EveryTickMakesAPack(Stream):
    """A smaller tick makes a pack, too."""

    def makes_a_pack(s, c: Stream.Channel, value: Stream.Ts) -> Bool:
        return all_of(~s.seeking[c], s.is_level(), value != s.last)


@mutant(killer="stream.nothing_is_stored_twice", source="facts 5.1: duplicates", instance="stream-small")
class CopiesAreNotRemoved(Stream):
    """A pack holds a message and its copy."""

    def read_message(s, m: Stream.Message) -> None:
        was_buffered = s.buffered[m]
        super().read_message(m)
        s.twice[m] = s.twice[m] | (was_buffered & s.buffered[m])


@mutant(killer="stream.packs_leave_nothing_out", source="H32: not aligned", instance="stream-two-channels")
class FirstTickMakesAPack(Stream):
    """A pack is made when one channel is at a greater tick, whatever the others have read."""

    def makes_a_pack(s, c: Stream.Channel, value: Stream.Ts) -> Bool:
        return ~s.seeking[c] & (value > s.last)


@mutant(killer="stream.every_message_is_stored", source="H32: who waits", instance="stream-one-minimum")
class TheGreatestReadsOn(Stream):
    """All channels read on until they happen to be level, those at the greatest tick too."""

    def may_read(s, c: Stream.Channel) -> Bool:
        return (s.next_ts == 0) | ~s.is_level() | s.pursues()


@mutant(killer="stream.a_drop_ends_its_pack", source="facts 5.1: pursuit mode", instance="stream-pursuit")
class PursuitPassesADrop(Stream):
    """A pack grows though a message in it drops the collection."""

    def pursues(s) -> Bool:
        return s.PURSUIT


@mutant(killer="stream.packs_leave_nothing_out", source="facts 5.1: pursuit mode", instance="stream-pursuit")
class PursuitForgetsWhatItHas(Stream):
    """A further tick replaces what the pack holds."""

    def gather(s, value: Stream.Ts) -> None:
        held = s.held
        super().gather(value)
        s.held = each(s.Message, lambda m: s.held[m] & ~held[m])


@mutant(
    killer="stream.a_position_has_the_place_of_what_comes_next",
    source="facts 5.1: end positions",
    instance="stream-small",
)
class PositionKeepsItsPlace(Stream):
    """A position has the timestamp of its pack, and the place of the position before."""

    def place_of_position(s, c: Stream.Channel) -> Stream.Place:
        return ite(s.position_place[c] > 0, s.position_place[c], super().place_of_position(c))
