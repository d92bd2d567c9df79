"""Wrong protocols beside those of ``spec/segments/variants/positions.py``."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import (
    all_of,
    any_of,
    exists,
    greatest,
    ite,
)
from tidemark.spec.segments.variants.positions import OwnPositions


@mutant(
    killer="segments.no_row_is_served_twice",
    source="facts 6.1, 10.4",
    instance="segments-positions-small",
)
class GrowsFromTheCheckpoint(OwnPositions):
    """Rows of a growing segment are left out up to the channel's checkpoint; its files go further."""

    def excluded_at_start(s, g):
        return ite(s.flushed[g], s.position[g], s.checkpoint)


@mutant(
    killer="segments.no_row_is_served_twice",
    source="facts 6.1, 10.4",
    instance="segments-positions-small",
)
class SealedUpToTheCheckpoint(OwnPositions):
    """Rows of a segment that is loaded are left out up to the channel's checkpoint; it was flushed ahead."""

    def excluded_when_sealed(s, g):
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

    def excluded_at_start(s, g):
        return ite(s.flushed[g], s.checkpoint, s.position[g])


@mutant(killer="segments.rows_are_served", source="facts 6.1, 10.4", instance="segments-positions-two")
class OnePositionForAll(OwnPositions):
    """Rows are left out up to the greatest position of all segments."""

    def excluded_at_start(s, g):
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

    def is_left_out(s, w):
        return s.ts[w] < s.excluded[s.segment[w]]


@mutant(
    killer="segments.rows_are_served",
    source="B62: what a position means",
    instance="segments-positions-small",
)
class ThePositionIsTheNext(OwnPositions):
    """The position is taken for that of the next row: the row behind it is left out, and in no file."""

    def is_left_out(s, w):
        return s.ts[w] <= s.excluded[s.segment[w]] + 1


@mutant(
    killer="segments.no_row_is_served_twice",
    source="facts 6.1: forgotten when below the tick",
    instance="segments-positions-small",
)
class ForgetsAtTheBeginning(OwnPositions):
    """What is excluded below the end of a pack is forgotten when the pack comes."""

    def take_pack(s, end):
        super().take_pack(end)
        s.forget()


@mutant(
    killer="segments.rows_are_served",
    source="facts 7.6, 10.2",
    instance="segments-positions-small",
)
class PositionBeforeItsRows(OwnPositions):
    """A position is recorded before the last of its rows is in files."""

    def is_synced(s, w, g, value):
        return super().is_synced(w, g, value) & (s.ts[w] < value)


@mutant(
    killer="segments.no_row_is_served_twice",
    source="facts 7.6, 10.2",
    instance="segments-positions-small",
)
class FilesBeforeThePosition(OwnPositions):
    """Files hold rows above the position that is recorded with them."""

    def is_synced(s, w, g, value):
        return all_of(s.is_row(w), s.segment[w] == g, any_of(s.ts[w] <= value, s.ts[w] == value + 1))
