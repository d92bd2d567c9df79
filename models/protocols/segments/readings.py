"""What a query node assumes of the time tick, its dispatcher, and the end, flush and deletes of segments."""

from tidemark.models.composition.reading import Reading
from tidemark.spec.allocation import Allocation
from tidemark.spec.deletes import Deletes
from tidemark.spec.dispatch import Dispatch
from tidemark.spec.flush import Flush
from tidemark.spec.language import all_of, any_of, exists, forall, implies, one_of
from tidemark.spec.segments import Segments
from tidemark.spec.timetick import TimeTick


class WriteOfTheLog(Reading, user=Segments, owner=TimeTick, action="append"):
    """What is appended is a message that the log of the channel takes; the last tick is the channel's."""

    @staticmethod
    def glue(segments, tick, c: TimeTick.Channel, ts: Segments.Ts):
        return (tick.highest[c] == segments.tick) & exists(
            tick.Message,
            lambda m: all_of(
                tick.channel_of[m] == c,
                tick.may_append(m),
                one_of(tick.message[m], "open", "lost"),
                tick.ts[m] == ts,
            ),
        )

    @staticmethod
    def takes(segments, ts):
        return ts > segments.tick


class PackOfTheDispatcher(Reading, user=Segments, owner=Dispatch, action="raise_safe"):
    """The writes of the log are messages for the node's target, and the pipeline has done with what the
    target was sent. The target came with the start of the stream, and its last pack is the present one.
    """

    @staticmethod
    def glue(segments, dispatch, t: Dispatch.Target):
        return all_of(
            dispatch.where[t] != "absent",
            dispatch.begins[t] == segments.start,
            dispatch.upto[t] == segments.pack,
            forall(
                segments.Write,
                lambda w: implies(
                    segments.logged[w],
                    exists(
                        dispatch.Message,
                        lambda m: all_of(
                            dispatch.logged[m],
                            dispatch.is_for(t, m),
                            dispatch.ts[m] == segments.ts[w],
                            implies(dispatch.got[t, m], segments.applied[w]),
                        ),
                    ),
                ),
            ),
        )

    @staticmethod
    def takes(segments):
        return forall(segments.Write, lambda w: ~segments.is_in_pack(w))


class RowOfASegment(Reading, user=Segments, owner=Allocation, action="append"):
    """A row that comes into the log is one that may still join its segment. A flushed segment has ended."""

    @staticmethod
    def glue(segments, rows, w: Segments.Write):
        return all_of(
            implies(segments.flushed[segments.segment[w]], rows.phase[segments.segment[w]] == "ended"),
            any_of(segments.deletes[w], exists(rows.Row, lambda r: rows.may_join(r, segments.segment[w]))),
        )

    @staticmethod
    def takes(segments, w):
        return any_of(segments.deletes[w], ~segments.flushed[segments.segment[w]], ~segments.SEALS_END)


class CheckpointOfTheChannel(Reading, user=Segments, owner=Flush, action="store"):
    """The checkpoint is the one that the coordinator stores. Each row up to it is a row of the log that the
    checkpoint says need not be replayed; a row that the coordinator has recorded is in files.
    """

    @staticmethod
    def glue(segments, flush, value: Segments.Ts):
        return forall(
            segments.Write,
            lambda w: implies(
                segments.is_row(w) & (segments.ts[w] <= value),
                exists(
                    flush.Position,
                    lambda p: all_of(
                        flush.carries[p],
                        flush.claims(flush.stored, p),
                        implies(flush.durable(p), segments.filed[w]),
                    ),
                ),
            ),
        )

    @staticmethod
    def takes(segments, value):
        return forall(
            segments.Write,
            lambda w: implies(segments.is_row(w) & (segments.ts[w] <= value), segments.filed[w]),
        )


class FlushOfASegment(Reading, user=Segments, owner=Flush, action="flush"):
    """The coordinator records the segment as flushed. Its rows are rows of the log, and a row that the
    coordinator has recorded is in files.
    """

    @staticmethod
    def glue(segments, flush, g: Segments.Segment, h: Flush.Segment):
        return flush.flushed[h] & forall(
            segments.Write,
            lambda w: implies(
                segments.is_row(w) & (segments.segment[w] == g),
                exists(
                    flush.Position,
                    lambda p: flush.row_of(p, h) & implies(flush.durable(p), segments.filed[w]),
                ),
            ),
        )

    @staticmethod
    def takes(segments, g):
        return forall(
            segments.Write,
            lambda w: implies(segments.is_row(w) & (segments.segment[w] == g), segments.filed[w]),
        )


class DeletesInFiles(Reading, user=Segments, owner=Deletes, action="store_deletes"):
    """The checkpoint is at most the delete checkpoint of the coordinator. Each delete up to it is a delete of
    the log, at a position up to that; once it is settled for every older row, it is in files.
    """

    @staticmethod
    def glue(segments, deletes, value: Segments.Ts):
        return forall(
            segments.Write,
            lambda w: implies(
                segments.is_delete(w) & (segments.ts[w] <= value),
                exists(
                    deletes.Position,
                    lambda d: all_of(
                        deletes.deletes[d],
                        d <= deletes.delete_checkpoint(),
                        implies(
                            forall(
                                deletes.Position,
                                lambda r: implies(deletes.is_older(r, d), deletes.settled(r, d)),
                            ),
                            segments.filed[w],
                        ),
                    ),
                ),
            ),
        )

    @staticmethod
    def takes(segments, value):
        return forall(
            segments.Write,
            lambda d: implies(segments.is_delete(d) & (segments.ts[d] <= value), segments.filed[d]),
        )
