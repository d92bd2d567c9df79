"""Named mutants of loads and deletes, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import (
    Bool,
    Map,
    Set,
    action,
    all_of,
    any_of,
    each,
    everywhere,
    exists,
    forall,
    greatest,
    ite,
    maximum,
    require,
)
from tidemark.spec.segments import Segments
from tidemark.spec.segments.variants.positions import OwnPositions


@mutant(killer="segments.deletes_are_served", source="B34", instance="segments-small")
class ReplaysFromTheNewestCheckpoint(Segments):
    """The replay begins at the delete checkpoint of its own moment; the files are those of an earlier one."""

    def replays_from(s, g: Segments.Segment) -> Segments.Ts:
        return s.delete_checkpoint


@mutant(killer="segments.deletes_are_served", source="B35", instance="segments-small")
class ReplaysFromTheGreaterPosition(Segments):
    """The replay begins at the greater of the files' position and the segment's own."""

    position: Map[Segments.Segment, Segments.Ts] = everywhere(0)

    def flush(s, g: Segments.Segment) -> None:
        super().flush(g)
        s.position[g] = s.checkpoint

    def replays_from(s, g: Segments.Segment) -> Segments.Ts:
        return maximum(s.files_upto[g], s.position[g])


@mutant(killer="segments.deletes_are_served", source="B37", instance="segments-small")
class StartsAtTheChannelCheckpoint(Segments):
    """The stream is consumed from the channel checkpoint, although deletes below it are in no file."""

    def start_of_the_stream(s) -> Segments.Ts:
        return s.checkpoint


@mutant(killer="segments.deletes_are_served", source="B38: trimmed", instance="segments-small")
class TrimsWithoutPin(Segments):
    """The buffer is trimmed up to the delete checkpoint, whatever a load needs."""

    def may_trim(s, value: Segments.Ts) -> Bool:
        return value <= s.delete_checkpoint


@mutant(killer="segments.deletes_are_served", source="B38: high-water mark", instance="segments-deletes")
class SkipsBelowTheHighWaterMark(Segments):
    """Deletes of the stream go into a segment that is being loaded, and the replay skips what is not above
    the greatest of them.
    """

    def is_forwarded_to(s, g: Segments.Segment) -> Bool:
        return s.load[g] != "none"

    def is_replayed(s, g: Segments.Segment, d: Segments.Write) -> Bool:
        return super().is_replayed(g, d) & ~exists(s.Write, lambda e: s.knows[g, e] & (s.ts[e] >= s.ts[d]))


@mutant(killer="segments.deletes_are_served", source="facts 6.1", instance="segments-small")
class ServesAfterTheReplay(Segments):
    """The segment is served some time after the last look at the buffer."""

    replayed: Set[Segments.Segment] = everywhere(False)

    def end_load(s, g: Segments.Segment) -> None:
        require(s.replayed[g])
        require(s.load[g] == "loading")
        s.load[g] = "served"
        s.grown = each(s.Write, lambda w: s.grown[w] & (s.segment[w] != g))

    @action(fairness="weak", source="facts 6.1")
    def replay(s, g: Segments.Segment) -> None:
        """The replay."""
        require((s.load[g] == "loading") & ~s.replayed[g])
        s.replayed[g] = True
        s.knows = each(
            s.Segment,
            s.Write,
            lambda h, d: s.knows[h, d] | all_of(h == g, any_of(s.is_in_files(g, d), s.is_replayed(g, d))),
        )


@mutant(killer="segments.deletes_are_served", source="facts 6.1", instance="segments-small")
class NothingIsForwarded(Segments):
    """Deletes of the stream go into growing segments and the buffer only."""

    def is_forwarded_to(s, g: Segments.Segment) -> Bool:
        return (s.load[g] == "served") & (s.safe > s.tick)


@mutant(killer="segments.rows_are_served", source="facts 6.1: serviceable", instance="segments-small")
class ServesBeforeTheLoads(Segments):
    """The service time is raised although flushed segments are not loaded."""

    def raise_safe(s) -> None:
        require(s.watching & (s.pack > s.safe))
        require(forall(s.Write, lambda w: ~s.is_in_pack(w)))
        s.safe = s.pack


@mutant(killer="segments.rows_are_served", source="facts 6.1", instance="segments-small")
class GrowingSegmentGoesFirst(Segments):
    """The growing segment is released when the load of the sealed one begins."""

    def begin_load(s, g: Segments.Segment) -> None:
        super().begin_load(g)
        s.grown = each(s.Write, lambda w: s.grown[w] & (s.segment[w] != g))


@mutant(killer="segments.no_row_is_served_twice", source="facts 6.1", instance="segments-small")
class GrowingSegmentIsKept(Segments):
    """The growing segment stays beside the sealed one."""

    def end_load(s, g: Segments.Segment) -> None:
        grown = s.grown
        super().end_load(g)
        s.grown = each(s.Write, lambda w: grown[w])


@mutant(
    killer="segments.no_row_is_served_twice",
    source="facts 6.1: excluded timestamps; H46",
    instance="segments-small",
)
class NothingIsExcluded(Segments):
    """Rows of the stream are taken though their files were loaded."""

    def is_left_out(s, w: Segments.Write) -> Bool:
        return s.wanted[s.segment[w]] | (s.load[s.segment[w]] == "served")


@mutant(
    killer="segments.no_row_is_served_twice",
    source="facts 6.1: excluded timestamps",
    instance="segments-small",
)
class SealedSegmentsAreNotExcluded(Segments):
    """Rows of the stream go into a growing segment beside the sealed one that has them."""

    def is_left_out(s, w: Segments.Write) -> Bool:
        return s.ts[w] <= s.excluded[s.segment[w]]


@mutant(killer="segments.service_time_follows_the_ticks", source="B41", instance="segments-small")
class LoadsNeedNotEnd(Segments):
    """A load holds the lock that the pipeline needs, and need not end."""

    @action(source="facts 6.1")
    def end_load(s, g: Segments.Segment) -> None:
        """The load ends, if ever."""
        super().end_load(g)

    def take_pack(s, end: Segments.Ts) -> None:
        super().take_pack(end)
        require(forall(s.Segment, lambda g: s.load[g] != "loading"))


@mutant(killer="segments.deletes_are_served", source="B38: trimmed", instance="segments-small")
class TrimsBeforeListedLoads(Segments):
    """The buffer lets go of deletes that a listed segment needs whose load is still to begin."""

    def is_to_be_loaded(s, g: Segments.Segment) -> Bool:
        return s.wanted[g] & (s.load[g] == "loading")


@mutant(killer="segments.deletes_are_served", source="facts 10.4", instance="segments-small")
class ListedSegmentsGetTheStreamOnly(Segments):
    """A listed segment is loaded without the deletes that were in files when the channel was taken up."""

    def is_in_files(s, g: Segments.Segment, d: Segments.Write) -> Bool:
        return super().is_in_files(g, d) & ~s.wanted[g]


@mutant(
    killer="segments.sealed_segments_have_no_other_deletes",
    source="facts 6.1: forwarded deletes",
    instance="segments-small",
)
class ForwardsDuringALoad(Segments):
    """Deletes of the stream go into a segment before its load has ended."""

    def is_forwarded_to(s, g: Segments.Segment) -> Bool:
        return s.load[g] != "none"


@mutant(
    killer="segments.no_row_is_served_twice",
    source="facts 6.1, 10.4",
    instance="segments-positions-small",
)
class GrowsFromTheCheckpoint(OwnPositions):
    """Rows of a growing segment are left out up to the channel's checkpoint; its files go further."""

    def excluded_at_start(s, g: OwnPositions.Segment) -> OwnPositions.Ts:
        return ite(s.flushed[g], s.position[g], s.checkpoint)


@mutant(
    killer="segments.no_row_is_served_twice",
    source="facts 6.1, 10.4",
    instance="segments-positions-small",
)
class SealedUpToTheCheckpoint(OwnPositions):
    """Rows of a segment that is loaded are left out up to the channel's checkpoint; it was flushed ahead."""

    def excluded_when_sealed(s, g: OwnPositions.Segment) -> OwnPositions.Ts:
        return s.checkpoint


@mutant(
    killer="segments.growing_segments_are_complete",
    source="facts 6.1, 10.4",
    instance="segments-positions-small",
)
class ListedUpToTheCheckpoint(OwnPositions):
    """The same of the segments that were flushed when the channel was taken up: they grow until they are
    loaded. No read finds such a row, for the service time waits for the loads.
    """

    def excluded_at_start(s, g: OwnPositions.Segment) -> OwnPositions.Ts:
        return ite(s.flushed[g], s.checkpoint, s.position[g])


@mutant(killer="segments.rows_are_served", source="facts 6.1, 10.4", instance="segments-positions-two")
class OnePositionForAll(OwnPositions):
    """Rows are left out up to the greatest position of all segments."""

    def excluded_at_start(s, g: OwnPositions.Segment) -> OwnPositions.Ts:
        return greatest(
            s.Ts, lambda t: exists(s.Segment, lambda h: s.position[h] == t), upto=s.tick, default=0
        )


@mutant(
    killer="segments.no_row_is_served_twice",
    source="H46: strict",
    instance="segments-positions-small",
)
class UpToAndWithoutThePosition(OwnPositions):
    """A row at the position itself is taken, though it is in the files."""

    def is_left_out(s, w: OwnPositions.Write) -> Bool:
        return s.ts[w] < s.excluded[s.segment[w]]


@mutant(
    killer="segments.rows_are_served",
    source="B62: what a position means",
    instance="segments-positions-small",
)
class ThePositionIsTheNext(OwnPositions):
    """The position is taken for that of the next row: the row behind it is left out, and in no file."""

    def is_left_out(s, w: OwnPositions.Write) -> Bool:
        return s.ts[w] <= s.excluded[s.segment[w]] + 1


@mutant(
    killer="segments.no_row_is_served_twice",
    source="facts 6.1: forgotten when below the tick",
    instance="segments-positions-small",
)
class ForgetsAtTheBeginning(OwnPositions):
    """What is excluded below the end of a pack is forgotten when the pack comes."""

    def take_pack(s, end: OwnPositions.Ts) -> None:
        super().take_pack(end)
        s.forget()


@mutant(
    killer="segments.rows_are_served",
    source="facts 7.6, 10.2",
    instance="segments-positions-small",
)
class PositionBeforeItsRows(OwnPositions):
    """A position is recorded before the last of its rows is in files."""

    def is_synced(s, w: OwnPositions.Write, g: OwnPositions.Segment, value: OwnPositions.Ts) -> Bool:
        return super().is_synced(w, g, value) & (s.ts[w] < value)


@mutant(
    killer="segments.no_row_is_served_twice",
    source="facts 7.6, 10.2",
    instance="segments-positions-small",
)
class FilesBeforeThePosition(OwnPositions):
    """Files hold rows above the position that is recorded with them."""

    def is_synced(s, w: OwnPositions.Write, g: OwnPositions.Segment, value: OwnPositions.Ts) -> Bool:
        return all_of(s.is_row(w), s.segment[w] == g, any_of(s.ts[w] <= value, s.ts[w] == value + 1))
