"""Named mutants of the ownership of a channel, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import Bool, exists, forall, greatest, implies, ite, least, maximum, require
from tidemark.spec.ownership import Ownership
from tidemark.spec.ownership.variants.seek_without_checkpoint import Seek

SMALL = "ownership-small"
TWO_ROWS = "ownership-two-rows"


@mutant(killer="ownership.checkpoint_before_earliest_unsettled", source="hazard 15; B13", instance=SMALL)
class ReportPassesOpenSaves(Ownership):
    """What is on the way to the records no longer keeps the checkpoint back."""

    def known(s, t: Ownership.Tenure, segment: Ownership.Segment) -> Ownership.Position:
        return s.high[t, segment]


@mutant(killer="ownership.stored_once", source="B63; facts 10.4", instance=TWO_ROWS)
class TellsTheCheckpointOnly(Ownership):
    """A new tenure is not told how far each segment is recorded."""

    def told(s, segment: Ownership.Segment) -> Ownership.Position:
        return s.stored


@mutant(killer="ownership.stored_once", source="B19", instance=SMALL)
class RowsAreAddedAgain(Ownership):
    """A save that comes again adds its rows again."""

    def add_rows(s, t: Ownership.Tenure, segment: Ownership.Segment) -> None:
        recorded = s.dml[segment]
        s.dml[segment] = 0
        super().add_rows(t, segment)
        s.dml[segment] = ite(s.dml[segment] == 0, recorded, s.dml[segment])


@mutant(killer="ownership.one_tenure_is_taken", source="hazard 22; B27", instance=SMALL)
class EpochStaysAtAMove(Ownership):
    """A channel that moves keeps its epoch."""

    def take(s, t: Ownership.Tenure) -> None:
        first = s.epoch
        super().take(t)
        s.epoch = ite(first == 0, s.epoch, first)
        s.epoch_of[t] = s.epoch


@mutant(killer="ownership.what_is_gone_has_no_checkpoint", source="hazard 14; B29, B30", instance=SMALL)
class LateReportMakesARecord(Ownership):
    """A report is inserted if there is no checkpoint, whoever it comes from."""

    def store(s, t: Ownership.Tenure, position: Ownership.Position) -> None:
        require((position > 0) & (position <= s.top[t]) & s.is_greater(position))
        s.stored = position
        s.has_checkpoint = True


@mutant(killer="ownership.what_lives_has_a_checkpoint", source="B31", instance=SMALL)
class CollectsWhereNoSegmentIs(Ownership):
    """A channel without segments is taken for one that was dropped."""

    def collect(s) -> None:
        require(forall(s.Segment, lambda g: (s.dml[g] == 0) | (s.record[g] == "collected")))
        s.life = ite(s.life == "living", s.life, "gone")
        s.has_checkpoint = False
        s.stored = 0


@mutant(killer="ownership.dropped_means_settled", source="B31; facts 7.9", instance=SMALL)
class CollectsWithTheCollection(Ownership):
    """The collection is gone. Whether the owner has dropped the channel is not asked."""

    def may_collect(s) -> Bool:
        return s.ended & (s.life != "gone")


@mutant(killer="ownership.stored_never_goes_back", source="hazard 21; property M", instance=TWO_ROWS)
class StoresWhatComes(Ownership):
    """The owner's report is stored, whatever is stored."""

    def is_greater(s, position: Ownership.Position) -> Bool:
        return (s.life == "living") & (position != s.stored)


@mutant(killer="ownership.a_dropped_channel_is_collected", source="B31", instance=SMALL)
class SegmentsWaitForTheChannel(Ownership):
    """The segments of a channel are collected only while it lives."""

    def collect_segment(s, segment: Ownership.Segment) -> None:
        require(s.life == "living")
        super().collect_segment(segment)


@mutant(killer="ownership.dropped_stays_dropped", source="hazard 14", instance=SMALL)
class CreatesWhatIsNotCollected(Ownership):
    """A dropped channel lives again before its checkpoint was collected."""

    def create(s) -> None:
        require(s.life != "living")
        life = s.life
        s.life = "gone"
        super().create()
        s.stored = ite(life == "gone", s.stored, 0)


AGAIN = "ownership-seek-begins-again"

IMPORT = "ownership-seek-beside-an-import"

TWO = "ownership-seek-two-segments"


@mutant(killer="ownership.no_unsettled_row_is_passed", source="facts 10.4; B35", instance=TWO)
class SeekGreatestPosition(Seek):
    """The greatest position of a segment is taken for the earliest."""

    def seek(s) -> Seek.Position:
        latest = greatest(
            s.Position,
            lambda p: exists(s.Segment, lambda g: s.is_earliest(g, p)),
            upto=s.seen,
            default=s.begins,
        )
        return ite(s.has_checkpoint, s.stored, latest)


@mutant(killer="ownership.the_position_is_one_that_is_recorded", source="facts 10.4", instance=TWO)
class SeekPassesTheCheckpointOver(Seek):
    """A segment's position is taken although a checkpoint is stored."""

    def seek(s) -> Seek.Position:
        return s.earliest()


@mutant(killer="ownership.no_unsettled_row_is_passed", source="facts 10.4; B35", instance=TWO)
class SeekGreaterOfBoth(Seek):
    """The greater of checkpoint and earliest position is taken."""

    def seek(s) -> Seek.Position:
        return maximum(s.stored, s.latest_of_a_segment())

    def latest_of_a_segment(s) -> Seek.Position:
        """How far some segment is recorded, whether or not others are."""
        return greatest(
            s.Position,
            lambda p: exists(s.Segment, lambda g: (s.record[g] == "kept") & (s.dml[g] == p)),
            upto=s.seen,
            default=s.begins,
        )


@mutant(killer="ownership.the_position_is_one_that_is_recorded", source="facts 10.4", instance=TWO)
class SeekCountsDroppedSegments(Seek):
    """A segment that was dropped counts, where it began: all is read again."""

    def seek(s) -> Seek.Position:
        earliest = least(
            s.Position,
            lambda p: exists(s.Segment, lambda g: s.has_position(g) & (s.position_of(g) == p)),
            default=s.begins,
        )
        return ite(s.has_checkpoint, s.stored, earliest)


@mutant(killer="ownership.no_unsettled_row_is_passed", source="facts 10.2, 10.4", instance=IMPORT)
class SeekStartIncludesItsRow(Seek):
    """A segment is said to begin at its first row, not before it."""

    def tell_start(s, t: Seek.Tenure, segment: Seek.Segment, p: Seek.Position) -> None:
        super().tell_start(t, segment, p)
        s.first[s.segment_of[p]] = p


@mutant(killer="ownership.no_unsettled_row_is_passed", source="facts 10.2, 10.4", instance=TWO)
class SeekStartsInAnyOrder(Seek):
    """A save tells where segments begin in any order, and the coordinator crashes in between."""

    def tell_start(s, t: Seek.Tenure, segment: Seek.Segment, p: Seek.Position) -> None:
        require((s.low[t, segment] < s.high[t, segment]) & s.is_taken(t))
        require(s.brings_first(t, segment, p))
        same = s.segment_of[p]
        require(
            forall(
                s.Position,
                lambda q: implies((q < p) & (s.segment_of[q] == same), ~s.brings_first(t, segment, q)),
            )
        )
        s.begun[same] = True
        s.first[same] = p - 1
