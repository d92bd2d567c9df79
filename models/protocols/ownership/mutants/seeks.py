"""Named mutants of the choice of the place from where a channel is read, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import exists, forall, greatest, implies, ite, least, maximum, require
from tidemark.spec.ownership.variants.seek_without_checkpoint import Seek

AGAIN = "ownership-seek-begins-again"
IMPORT = "ownership-seek-beside-an-import"
TWO = "ownership-seek-two-segments"


@mutant(killer="ownership.no_unsettled_row_is_passed", source="facts 10.4; B35", instance=TWO)
class SeekGreatestPosition(Seek):
    """The greatest position of a segment is taken for the earliest."""

    def seek(s):
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

    def seek(s):
        return s.earliest()


@mutant(killer="ownership.no_unsettled_row_is_passed", source="facts 10.4; B35", instance=TWO)
class SeekGreaterOfBoth(Seek):
    """The greater of checkpoint and earliest position is taken."""

    def seek(s):
        return maximum(s.stored, s.latest_of_a_segment())

    def latest_of_a_segment(s):
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

    def seek(s):
        earliest = least(
            s.Position,
            lambda p: exists(s.Segment, lambda g: s.has_position(g) & (s.position_of(g) == p)),
            default=s.begins,
        )
        return ite(s.has_checkpoint, s.stored, earliest)


@mutant(killer="ownership.no_unsettled_row_is_passed", source="facts 10.2, 10.4", instance=IMPORT)
class SeekStartIncludesItsRow(Seek):
    """A segment is said to begin at its first row, not before it."""

    def tell_start(s, t, segment, p):
        super().tell_start(t, segment, p)
        s.first[s.segment_of[p]] = p


@mutant(killer="ownership.no_unsettled_row_is_passed", source="facts 10.2, 10.4", instance=TWO)
class SeekStartsInAnyOrder(Seek):
    """A save tells where segments begin in any order, and the coordinator crashes in between."""

    def tell_start(s, t, segment, p):
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


@mutant(killer="ownership.stored_never_goes_back", source="facts 10.1, 10.4", instance=AGAIN)
class SeekFirstCheckpointOverwrites(Seek):
    """The first checkpoint is stored although one was reported before."""

    def begin_checkpoint(s):
        require((s.life == "living") & s.noted)
        s.stored = s.begins
        s.has_checkpoint = True
