"""What reads of several channels take of each channel, in the words of reads of one."""

from tidemark.models.composition.reading import Reading
from tidemark.spec.language import all_of, exists, forall, implies, ite
from tidemark.spec.parts import Parts
from tidemark.spec.reads import Reads


class WriteOfAChannel(Reading, user=Parts, owner=Reads, action="log"):
    """The write is on its way to the log of its channel. The channel's service time is that of one of its
    replicas.
    """

    @staticmethod
    def glue(parts, reads, w: Parts.Write, ts: Parts.Ts):
        return all_of(
            reads.stage[w] == "stamped",
            reads.ts[w] == ts,
            exists(reads.Replica, lambda r: reads.safe[r] == parts.safe[parts.place(w)]),
        )

    @staticmethod
    def takes(parts, w, ts):
        return ts > parts.safe[parts.place(w)]


class ServiceTimeOfAChannel(Reading, user=Parts, owner=Reads, action="raise_safe"):
    """A replica of the channel has this service time. The oracle is the same."""

    @staticmethod
    def glue(parts, reads, upto: Parts.Ts):
        return (reads.issued == parts.issued) & exists(reads.Replica, lambda r: reads.safe[r] == upto)

    @staticmethod
    def takes(parts, upto):
        return upto <= parts.issued


class GuaranteeOfARead(Reading, user=Parts, owner=Reads, action="begin"):
    """The guarantee is the one that the read has on each of its channels. The client does not name it."""

    @staticmethod
    def glue(parts, reads, q: Parts.Read, value: Parts.Ts):
        return all_of(
            reads.issued == parts.issued,
            reads.level[q] != "customized",
            reads.guarantee[q] == value,
        )

    @staticmethod
    def takes(parts, value):
        return value <= parts.issued


class MomentOfAChannel(Reading, user=Parts, owner=Reads, action="look"):
    """The part of the read on this channel is a read of the channel that has been answered. A further page is
    a page there, whose first one has the moment that is named.
    """

    @staticmethod
    def glue(parts, reads, q: Parts.Read, c: Parts.Channel, value: Parts.Ts):
        page = all_of(
            reads.level[q] == "page",
            reads.first[q] == parts.first[q],
            reads.moment[reads.first[q]] == parts.named(q, c),
        )
        return all_of(
            reads.is_answered(q),
            reads.moment[q] == value,
            reads.safe[reads.replica[q]] <= parts.safe[c],
            ite(parts.is_further(q), page, reads.guarantee[q] == parts.guarantee[q]),
        )

    @staticmethod
    def takes(parts, q, c, value):
        return parts.may_be_moment(q, c, value)


class RowsOfAChannel(Reading, user=Parts, owner=Reads, action="serve"):
    """The rows that have come are those of the channel's answer, and its log is the channel's part of the
    writes.
    """

    @staticmethod
    def glue(parts, reads, q: Parts.Read, c: Parts.Channel):
        log = forall(
            parts.Write,
            lambda w: all_of(
                (reads.stage[w] == "logged") == (parts.logged[w] & (parts.place(w) == c)),
                reads.key[w] == parts.key[w],
                reads.deletes[w] == parts.deletes[w],
                reads.ts[w] == parts.ts[w],
            ),
        )
        rows = forall(
            parts.Write, lambda w: implies(parts.place(w) == c, parts.seen[q, w] == reads.seen[q, w])
        )
        return all_of(reads.is_answered(q), reads.moment[q] == parts.moment[q, c], log, rows)

    @staticmethod
    def takes(parts, q, c):
        return parts.is_whole(q, c)
