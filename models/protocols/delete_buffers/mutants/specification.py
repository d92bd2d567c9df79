"""Named mutants of buffers of deletes, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.delete_buffers import DeleteBuffers
from tidemark.spec.language import Bool, all_of, each, exists, forall, greatest, implies, require

TINY = "delete-buffers-tiny"
FALSE_POSITIVE = "delete-buffers-false-positive"
LEVEL = "delete-buffers-level"
NEWER = "delete-buffers-newer-row"
IMPORT = "delete-buffers-import"
TWO = "delete-buffers-two-segments"


@mutant(killer="delete_buffers.no_consumed_delete_is_lost", source="seed 001; facts 7.6; B13", instance=LEVEL)
class BufferIsFreedAtTheSync(DeleteBuffers):
    """What was taken for a save leaves the memory at once: the checkpoint does not wait for the answer."""

    def sync(s, g: DeleteBuffers.Segment) -> None:
        super().sync(g)
        s.busy[g] = False


@mutant(killer="delete_buffers.the_checkpoint_passes_no_unsynced_delete", source="seed 001", instance=TWO)
class CheckpointByTheGreatestStart(DeleteBuffers):
    """Of several buffers the checkpoint takes the latest start, not the earliest."""

    def earliest(s) -> DeleteBuffers.Position:
        return greatest(s.Position, s.holds_back, upto=s.consumed, default=s.consumed + 1) - 1


@mutant(killer="delete_buffers.no_consumed_delete_is_lost", source="seed 001; facts 7.1", instance=TINY)
class BuffersWithRowsAlone(DeleteBuffers):
    """A delete goes into buffers that have rows: a segment whose rows are written out has no buffer."""

    def take_delete(s) -> None:
        had = s.held
        super().take_delete()
        taken = s.held
        s.held = each(
            s.Segment,
            s.Position,
            lambda g, p: taken[g, p] & (had[g, p] | exists(s.Position, lambda q: had[g, q] & s.inserts[q])),
        )


@mutant(killer="delete_buffers.no_consumed_delete_is_lost", source="seed 001; facts 7.1", instance=TINY)
class FilterOfTheFilesAlone(DeleteBuffers):
    """The filter has the keys of the files, and not those of the rows in memory."""

    def is_known(s, g: DeleteBuffers.Segment, k: DeleteBuffers.Key) -> Bool:
        has = exists(s.Position, lambda p: all_of(s.row_of(p, g), s.key[p] == k, s.stored[g, p]))
        return ~s.is_level[g] & (has | s.extra[g, k])


@mutant(killer="delete_buffers.no_consumed_delete_is_lost", source="facts 7.1", instance=IMPORT)
class ImportsHaveNoFilter(DeleteBuffers):
    """The filters of imported segments are not loaded."""

    def is_known(s, g: DeleteBuffers.Segment, k: DeleteBuffers.Key) -> Bool:
        return ~s.imported[g] & super().is_known(g, k)


@mutant(killer="delete_buffers.the_checkpoint_passes_deletes", source="seed 001", instance=TINY)
class NoSyncWithoutRows(DeleteBuffers):
    """A buffer that has no row is not written out: the deletes of a flushed segment wait for ever."""

    def sync(s, g: DeleteBuffers.Segment) -> None:
        require(exists(s.Position, lambda p: s.held[g, p] & s.inserts[p]))
        super().sync(g)


@mutant(killer="delete_buffers.a_position_passes_no_unsynced_row", source="facts 7.6", instance=NEWER)
class PositionOfTheAnswer(DeleteBuffers):
    """A save records the position of the moment when it ends, not of the moment when it was taken."""

    def record(s, g: DeleteBuffers.Segment) -> None:
        s.upto[g] = s.consumed
        super().record(g)


@mutant(
    killer="delete_buffers.the_checkpoint_passes_no_unsynced_delete",
    source="facts 10.4; B38",
    instance=LEVEL,
)
class DropsBesideGrowingRows(DeleteBuffers):
    """A level-zero segment is dropped when the segments in the files have its deletes: a row that is still
    in memory is forgotten.
    """

    def drop_level(s, z: DeleteBuffers.Segment) -> None:
        require(s.is_level[z] & ~s.dropped[z] & exists(s.Position, lambda d: s.stored[z, d]))
        require(
            forall(
                s.Position,
                s.Position,
                lambda r, d: implies(
                    all_of(s.stored[z, d], s.is_older(r, d), s.stored[s.segment_of[r], r]),
                    s.stored[s.segment_of[r], d],
                ),
            )
        )
        s.dropped[z] = True


@mutant(killer="delete_buffers.no_consumed_delete_is_lost", source="facts 7.9", instance=TWO)
class DropOfASegmentEmptiesAllBuffers(DeleteBuffers):
    """With a dropped segment the buffers of all segments are dropped."""

    def drop_segment(s, g: DeleteBuffers.Segment) -> None:
        super().drop_segment(g)
        s.held = each(s.Segment, s.Position, lambda h, p: False)


@mutant(killer="delete_buffers.deleted_rows_stay_deleted", source="B37", instance=LEVEL)
class LoadsWithoutLevelZero(DeleteBuffers):
    """Every load reads the stream from the checkpoint on, also without level-zero segments."""

    def delete_checkpoint(s) -> DeleteBuffers.Position:
        return s.checkpoint


@mutant(killer="delete_buffers.rows_without_delete_are_shown", source="facts 7.1", instance=NEWER)
class DeletesGoByKeyAlone(DeleteBuffers):
    """A load leaves out rows that are newer than the delete."""

    def is_found(s, r: DeleteBuffers.Position) -> Bool:
        g = s.segment_of[r]
        return s.stored[g, r] & forall(
            s.Position, lambda d: implies(s.stored[g, d] & s.deletes[d], s.key[r] != s.key[d])
        )


@mutant(killer="delete_buffers.rows_without_delete_are_shown", source="facts 7.1", instance=FALSE_POSITIVE)
class DeletesGoByTimestampAlone(DeleteBuffers):
    """A load leaves out older rows of other keys: a filter that is wrong does harm."""

    def is_found(s, r: DeleteBuffers.Position) -> Bool:
        g = s.segment_of[r]
        return s.stored[g, r] & forall(s.Position, lambda d: implies(s.stored[g, d] & s.deletes[d], d < r))
