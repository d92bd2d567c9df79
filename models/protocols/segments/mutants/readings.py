"""Readings from which nothing follows: the judge of the argument must find them."""

from tidemark.models.protocols.segments.readings import (
    CheckpointOfTheChannel,
    DeletesInFiles,
    FlushOfASegment,
    PackOfTheDispatcher,
)
from tidemark.spec.language import all_of, exists, forall, implies


class PackOfAnotherTarget(PackOfTheDispatcher):
    """The writes are messages for any target."""

    @staticmethod
    def glue(segments, dispatch, t):
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
                            dispatch.ts[m] == segments.ts[w],
                            implies(dispatch.got[t, m], segments.applied[w]),
                        ),
                    ),
                ),
            ),
        )


class FlushOfAnySegment(FlushOfASegment):
    """The rows are rows of the log, of a segment that need not be recorded as flushed."""

    @staticmethod
    def glue(segments, flush, g, h):
        return forall(
            segments.Write,
            lambda w: implies(
                segments.is_row(w) & (segments.segment[w] == g),
                exists(
                    flush.Position,
                    lambda p: flush.row_of(p, h) & implies(flush.durable(p), segments.filed[w]),
                ),
            ),
        )


class CheckpointOfTheNode(CheckpointOfTheChannel):
    """The checkpoint is what the node has consumed, not what the coordinator stores."""

    @staticmethod
    def glue(segments, flush, value):
        return forall(
            segments.Write,
            lambda w: implies(
                segments.is_row(w) & (segments.ts[w] <= value),
                exists(
                    flush.Position,
                    lambda p: all_of(
                        flush.carries[p],
                        p <= flush.consumed,
                        implies(flush.durable(p), segments.filed[w]),
                    ),
                ),
            ),
        )


class DeletesUpToTheCheckpoint(DeletesInFiles):
    """The deletes lie up to the channel checkpoint: they are recorded, and need not be in the segments."""

    @staticmethod
    def glue(segments, deletes, value):
        return forall(
            segments.Write,
            lambda w: implies(
                segments.is_delete(w) & (segments.ts[w] <= value),
                exists(
                    deletes.Position,
                    lambda d: all_of(
                        deletes.deletes[d],
                        d <= deletes.checkpoint,
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
