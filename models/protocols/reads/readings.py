"""What service time and reads assume of oracle, time tick and segments, in their own words."""

from tidemark.models.composition.reading import Reading
from tidemark.models.protocols.tso.readings import AnswerOfACall
from tidemark.spec.language import all_of, exists, forall, implies, ite, one_of
from tidemark.spec.reads import Reads
from tidemark.spec.segments import Segments
from tidemark.spec.timetick import TimeTick


class StampOfAWrite(AnswerOfACall, user=Reads, action="stamp_write", ts=Reads.Ts):
    """A write's timestamp is the answer to a call of its proxy."""

    @staticmethod
    def floor(reads, w: Reads.Write):
        return reads.floor[w]


class StampOfARead(AnswerOfACall, user=Reads, action="stamp_read", ts=Reads.Ts):
    """The guarantee of a strong read is the answer to a call of its proxy."""

    @staticmethod
    def floor(reads, q: Reads.Read):
        return reads.began[q]


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


class SegmentsOfTheReplica(Reading, user=Reads, owner=Segments, action="raise_safe"):
    """The replica is a query node whose segments are served up to the end of the pack. A row counts as
    applied if a read finds it, a delete if every row that it removes and that a read finds has it.
    """

    @staticmethod
    def glue(reads, segments, r: Reads.Replica):
        return (segments.safe == reads.pack[r]) & forall(
            reads.Write,
            lambda w: implies(
                reads.stage[w] == "logged",
                exists(
                    segments.Write,
                    lambda v: is_the_write(reads, segments, w, v) & is_taken(reads, segments, r, w, v),
                ),
            ),
        )

    @staticmethod
    def takes(reads, r):
        return forall(reads.Write, lambda w: ~reads.is_in_pack(r, w))


def is_the_write(reads, segments, w, v):
    """The write is this one of the node's channel."""
    return all_of(
        segments.logged[v],
        segments.ts[v] == reads.ts[w],
        segments.deletes[v] == reads.deletes[w],
    )


def is_taken(reads, segments, r, w, v):
    """What the node serves counts as applied."""
    has_its_rows = forall(
        segments.Write,
        lambda u: implies(segments.is_read(u) & segments.is_older(u, v), segments.is_known(u, v)),
    )
    return implies(ite(segments.deletes[v], has_its_rows, segments.is_read(v)), reads.applied[r, w])


def is_the_message(reads, tick, w, m, c):
    """The write is this message of the channel, under way."""
    asks = (reads.stage[w] == "asked") & (tick.message[m] == "asked") & (reads.floor[w] == tick.floor[m])
    is_stamped = all_of(
        reads.stage[w] == "stamped",
        one_of(tick.message[m], "open", "lost"),
        reads.ts[w] == tick.ts[m],
    )
    return all_of(tick.channel_of[m] == c, tick.may_append(m), asks | is_stamped)
