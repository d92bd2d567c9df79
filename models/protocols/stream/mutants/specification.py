"""Named mutants of the message stream, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import when
from tidemark.spec.stream import Stream


@mutant(
    killer="stream.a_position_claims_only_what_is_stored",
    source="B62: exclusive",
    instance="stream-small",
)
class SeekLeavesItsPlaceOut(Stream):
    """A seek begins behind the place of the position."""

    def start_of(s, place):
        return place


@mutant(
    killer="stream.nothing_is_stored_twice",
    source="B62: nothing is skipped",
    instance="stream-small",
)
class SeekSkipsNothing(Stream):
    """A consumer that seeks keeps what it has already."""

    def is_skipped(s, m):
        return s.seeking & (s.ts[m] == 0)


@mutant(killer="stream.a_position_claims_only_what_is_stored", source="facts 5.1", instance="stream-small")
class PositionIsThePlaceOfTheTick(Stream):
    """The position has the place of the tick, though a message before it is still buffered."""

    def place_of_position(s):
        return s.read


@mutant(
    killer="stream.packs_advance",
    source="H30: a tick that goes back",
    instance="stream-small",
)
class EveryTickMakesAPack(Stream):
    """A smaller tick makes a pack, too."""

    def read_tick(s, value):
        last = s.last
        super().read_tick(value)
        with when(~s.seeking & (value < last)):
            s.last = value
