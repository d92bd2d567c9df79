"""Named mutants of the allocation of segments, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.allocation import Allocation
from tidemark.spec.language import each, ite, require

SMALL = "allocation-small"


@mutant(killer="allocation.no_row_joins_an_ended_segment", source="hazard 11", instance=SMALL)
class TickPassesAStampedRow(Allocation):
    """A proxy is paused past its lease, and the tick does not wait for its row."""

    def send_tick(s, upto: Allocation.Ts) -> None:
        require((upto > s.tick) & (upto <= s.issued))
        s.tick = upto


@mutant(killer="allocation.no_row_joins_an_ended_segment", source="seed 004, 6.3", instance=SMALL)
class EndsByTheClock(Allocation):
    """A segment ends when the time of the oracle has passed its grants, without a tick."""

    def end(s, g: Allocation.Segment) -> None:
        require(s.up & (s.phase[g] == "sealed"))
        require(s.expiry[g] <= s.issued)
        s.phase[g] = "ended"


@mutant(killer="allocation.no_row_joins_an_ended_segment", source="seed 004, 6.3", instance=SMALL)
class RaisesGrowingSegmentsOnly(Allocation):
    """A restarted coordinator forgets the grants of segments that are sealed already."""

    def restart(s, now: Allocation.Ts, span: Allocation.Ts) -> None:
        super().restart(now, span)
        expiry = s.expiry
        s.expiry = each(s.Segment, lambda g: ite(s.phase[g] == "growing", expiry[g], 0))


@mutant(killer="allocation.the_rows_of_an_ended_segment_were_read", source="seed 004, 6.3", instance=SMALL)
class EndsAtATickThatWasNotRead(Allocation):
    """The tick is in the log, and the data node has not read up to it."""

    def end(s, g: Allocation.Segment) -> None:
        require(s.up & (s.phase[g] == "sealed"))
        require(s.expiry[g] <= s.tick)
        s.phase[g] = "ended"


@mutant(killer="allocation.no_row_joins_an_ended_segment", source="seed 004, 6.3", instance=SMALL)
class KeepsTheFirstExpiry(Allocation):
    """The expiry of a segment is that of its first grant."""

    def allocate(s, a: Allocation.Grant, now: Allocation.Ts) -> None:
        known = s.expiry
        super().allocate(a, now)
        s.expiry = each(s.Segment, lambda g: ite(known[g] > 0, known[g], s.expiry[g]))
