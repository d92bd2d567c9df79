"""Named mutants of the handling of deletes, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.deletes import Deletes
from tidemark.spec.language import Bool, Set, all_of, each, forall, greatest, implies, ite, minimum, require

SMALL = "deletes-one-segment"
TWO = "deletes-import"
KEYS = "deletes-two-keys"


@mutant(killer="deletes.the_checkpoint_passes_no_unsynced_delete", source="facts 7.5; B13", instance=SMALL)
class CheckpointByTheGreatestStart(Deletes):
    """Of rows and deletes that are not recorded the checkpoint takes the latest start, not the earliest."""

    def earliest(s) -> Deletes.Position:
        return greatest(s.Position, s.holds_back, upto=s.consumed, default=s.consumed + 1) - 1


@mutant(killer="deletes.no_consumed_delete_is_lost", source="facts 7.6; B13", instance=SMALL)
class BufferIsClearedBeforeTheSave(Deletes):
    """The deletes leave the memory when they are taken from the buffer."""

    def sync_deletes(s, z: Deletes.Level) -> None:
        require(s.buffer[z] == "open")
        s.buffer[z] = "none"
        s.sent[z] = True


@mutant(killer="deletes.no_consumed_delete_is_lost", source="B60", instance=SMALL)
class LevelsAreWrittenAgain(Deletes):
    """A level-zero segment goes on growing when it has been recorded; a dropped one takes nothing more."""

    def take_delete(s, z: Deletes.Level) -> None:
        require(s.deletes[s.consumed + 1])
        require((s.buffer[z] == "open") | (s.buffer[z] == "none"))
        s.consumed = s.consumed + 1
        s.content[z, s.consumed] = s.level[z] == "unknown"
        s.buffer[z] = "open"


@mutant(killer="deletes.dropped_means_applied", source="facts 10.4", instance=TWO)
class DropsWhatIsNotApplied(Deletes):
    """A level-zero segment is dropped when it has been applied to some segment."""

    def drop(s, z: Deletes.Level) -> None:
        require(s.level[z] == "live")
        require(~forall(s.Segment, lambda g: ~s.applied[z, g]))
        s.level[z] = "dropped"


@mutant(killer="deletes.dropped_means_applied", source="facts 7.1", instance=SMALL)
class FilterIsNegated(Deletes):
    """A segment takes the deletes whose keys its filter does not know."""

    def is_known(s, g: Deletes.Segment, k: Deletes.Key) -> Bool:
        return ~super().is_known(g, k)


@mutant(killer="deletes.files_have_the_deletes_of_their_checkpoint", source="B37", instance=SMALL)
class DeleteCheckpointByTheLatestLevel(Deletes):
    """The delete checkpoint is the latest delete in a level-zero segment, not the start of the earliest."""

    def delete_checkpoint(s) -> Deletes.Position:
        return minimum(
            s.checkpoint,
            greatest(s.Position, s.is_live, upto=s.checkpoint, default=s.checkpoint),
        )


@mutant(killer="deletes.deleted_rows_stay_deleted", source="B34", instance=SMALL)
class StartOfTheStreamIsChosenLast(Deletes):
    """The start of the stream is the delete checkpoint of a later moment than that of the files."""

    def begin_load(s, levels: Bool) -> None:
        read, shown = s.read, s.shown
        super().begin_load(levels)
        s.read = each(s.Segment, lambda g: read[g])
        s.shown = each(s.Position, lambda p: shown[p])


@mutant(killer="deletes.only_older_rows_are_removed", source="facts 7.1", instance=SMALL)
class DeletesGoByKeyAlone(Deletes):
    """A delete removes newer rows too."""

    def removes(s, d: Deletes.Position, r: Deletes.Position) -> Bool:
        return all_of(s.inserts[r], s.deletes[d], s.key[r] == s.key[d])


@mutant(killer="deletes.rows_without_delete_are_shown", source="facts 7.1", instance=KEYS)
class DeletesGoByTimestampAlone(Deletes):
    """A delete removes older rows of other keys too."""

    def removes(s, d: Deletes.Position, r: Deletes.Position) -> Bool:
        return all_of(s.inserts[r], s.deletes[d], r < d)


@mutant(killer="deletes.rows_without_delete_are_shown", source="facts 7.1", instance=SMALL)
class FoundByKeyAlone(Deletes):
    """A load leaves out newer rows too; compactions do not."""

    def is_found(s, r: Deletes.Position) -> Bool:
        g = s.segment_of[r]
        return (s.row[r] == "stored") & forall(
            s.Position, lambda d: implies(s.delta[g, d], s.key[r] != s.key[d])
        )


@mutant(killer="deletes.rows_without_delete_are_shown", source="facts 7.1", instance=SMALL)
class SecondApplicationRemovesNewerRows(Deletes):
    """A delete that is applied again has a new timestamp: it removes what was written in between."""

    def apply(s, z: Deletes.Level, g: Deletes.Segment) -> None:
        had = s.delta
        super().apply(z, g)
        s.row = each(
            s.Position,
            lambda r: ite(
                all_of(s.row_of(r, g), s.row[r] == "stored", s.meets(had, z, g, r)), "removed", s.row[r]
            ),
        )

    def meets(
        s,
        had: Set[Deletes.Segment, Deletes.Position],
        z: Deletes.Level,
        g: Deletes.Segment,
        r: Deletes.Position,
    ) -> Bool:
        """A delete of the row's key is applied, and was applied before."""
        return ~forall(
            s.Position,
            lambda d: ~all_of(had[g, d], s.content[z, d], s.key[d] == s.key[r]),
        )


@mutant(killer="deletes.the_checkpoint_never_goes_back", source="facts 10.1", instance=SMALL)
class RestartStoresTheDeleteCheckpoint(Deletes):
    """A node that starts stores where the earliest level-zero segment begins."""

    def restart(s, value: Deletes.Position) -> None:
        s.checkpoint = s.delete_checkpoint()
        super().restart(value)


@mutant(killer="deletes.the_checkpoint_passes_deletes", source="facts 7.6", instance=SMALL)
class SecondSaveIsNotAnswered(Deletes):
    """The coordinator does not answer a save of what it has recorded."""

    def record(s, z: Deletes.Level) -> None:
        require(s.sent[z] & (s.level[z] == "unknown"))
        super().record(z)
