"""What service time and reads take for granted of the oracle and of the time tick, in their own words."""

from tidemark.models.composition.reading import Reading
from tidemark.models.protocols.tso.readings import is_an_answer
from tidemark.spec.language import all_of, exists, forall, implies, one_of
from tidemark.spec.reads import Reads
from tidemark.spec.stream import Stream
from tidemark.spec.timetick import TimeTick
from tidemark.spec.tso import Tso


class StampOfAWrite(Reading, user=Reads, owner=Tso, action="stamp_write"):
    """A write's timestamp is the answer to a call of its proxy."""

    @staticmethod
    def glue(reads, oracle, w: Reads.Write, ts: Reads.Ts):
        return is_an_answer(oracle, reads.floor[w], ts)

    @staticmethod
    def takes(reads, w, ts):
        return ts > reads.floor[w]


class StampOfARead(Reading, user=Reads, owner=Tso, action="stamp_read"):
    """The guarantee of a strong read is the answer to a call of its proxy."""

    @staticmethod
    def glue(reads, oracle, q: Reads.Read, ts: Reads.Ts):
        return is_an_answer(oracle, reads.began[q], ts)

    @staticmethod
    def takes(reads, q, ts):
        return ts > reads.began[q]


class TickOfTheCoordinator(Reading, user=Reads, owner=TimeTick, action="send_tick"):
    """The writes under way are messages that the log of the channel would take: those that ask have the same
    floor, those that are stamped the same timestamp. The tick is the greatest in the log.
    """

    @staticmethod
    def glue(reads, tick, c: TimeTick.Channel, upto: Reads.Ts):
        return all_of(
            tick.issued == reads.issued,
            tick.highest[c] == upto,
            forall(
                reads.Write,
                lambda w: implies(
                    reads.is_begun(w), exists(tick.Message, lambda m: is_the_message(reads, tick, w, m, c))
                ),
            ),
        )

    @staticmethod
    def takes(reads, upto):
        return reads.is_below_all_to_come(upto)


class PackOfTheStream(Reading, user=Reads, owner=Stream, action="raise_safe"):
    """The writes in the log are messages of the stream. The replica has applied what was handed over, and its
    pack is the last one.
    """

    @staticmethod
    def glue(reads, stream, r: Reads.Replica):
        return (
            (stream.last == reads.pack[r])
            & (stream.start == 0)
            & forall(
                reads.Write,
                lambda w: implies(
                    reads.stage[w] == "logged",
                    exists(
                        stream.Message,
                        lambda m: all_of(
                            stream.place[m] > 0,
                            stream.ts[m] == reads.ts[w],
                            implies(stream.held[m] | stream.done[m], reads.applied[r, w]),
                        ),
                    ),
                ),
            )
        )

    @staticmethod
    def takes(reads, r):
        return forall(reads.Write, lambda w: ~reads.is_in_pack(r, w))


def is_the_message(reads, tick, w, m, c):
    """The write is this message of the channel, under way."""
    asks = (reads.stage[w] == "asked") & (tick.message[m] == "asked") & (reads.floor[w] == tick.floor[m])
    is_stamped = all_of(
        reads.stage[w] == "stamped",
        one_of(tick.message[m], "open", "lost"),
        reads.ts[w] == tick.ts[m],
    )
    return all_of(tick.channel_of[m] == c, tick.may_append(m), asks | is_stamped)
