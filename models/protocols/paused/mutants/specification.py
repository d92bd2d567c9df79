"""Named mutants of the repaired forms, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import each, require
from tidemark.spec.paused.variants.other_rules import Fenced, Refused


@mutant(killer="paused.flushed_segments_are_complete", source="H17", instance="paused-fenced-small")
class FlushDoesNotWait(Fenced):
    """A flush does not wait for the tick."""

    def flush(s, g: Fenced.Segment) -> None:
        require(s.phase[g] == "sealed")
        s.phase[g] = "flushed"
        s.copy = each(s.Row, lambda r: s.stored_copy(r, g))


@mutant(killer="paused.acknowledged_rows_are_not_lost", source="H11", instance="paused-refused-small")
class FlushDoesNotConsume(Refused):
    """A flush takes what the log holds for stored, consumed or not."""

    def flush(s, g: Refused.Segment) -> None:
        require((s.phase[g] == "sealed") & (s.tick >= s.sealed_at[g]))
        s.phase[g] = "flushed"
        s.copy = each(s.Row, lambda r: s.stored_copy(r, g))


@mutant(killer="paused.rows_that_were_read_are_not_lost", source="H17", instance="paused-refused-small")
class FlushStoresNothing(Refused):
    """A flush ends before the rows are stored."""

    def stored_copy(s, r: Refused.Row, g: Refused.Segment) -> Refused.Copy:
        return s.copy[r]
