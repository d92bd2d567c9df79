"""Named mutants of the recovery by positions, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.flowgraph import FlowGraph
from tidemark.spec.language import each, exists, ite, require

SMALL = "flowgraph-small"


@mutant(killer="flowgraph.no_row_is_lost", source="seed 003", instance=SMALL)
class SavesItsOwnPositionOnly(FlowGraph):
    """A save records the position of the flushed segment alone."""

    def save(s, g: FlowGraph.Segment) -> None:
        known, saved = s.known, s.saved
        super().save(g)
        s.known = each(s.Segment, lambda h: known[h] | (h == g))
        s.saved = each(s.Segment, lambda h: ite(h == g, s.upto[g], saved[h]))


@mutant(killer="flowgraph.no_row_is_lost", source="seed 003", instance=SMALL)
class SeeksAnyPosition(FlowGraph):
    """Recovery seeks one of the saved positions, not the earliest."""

    def recover(s, seek: FlowGraph.Position, now: FlowGraph.Position) -> None:
        require(~s.alive)
        require((seek == 0) | exists(s.Segment, lambda g: s.known[g] & (s.saved[g] == seek)))
        require(now >= s.reached)
        s.alive = True
        s.threshold = now
        s.read = seek
        s.met = s.known
        s.position = s.saved
        s.dropped = s.saved


@mutant(killer="flowgraph.a_position_says_what_is_stored", source="seed 003", instance=SMALL)
class SavesThePositionOfTheSave(FlowGraph):
    """The saved position is the last pack at the save, not at the begin of the upload."""

    def save(s, g: FlowGraph.Segment) -> None:
        s.upto[g] = s.read
        super().save(g)


@mutant(killer="flowgraph.no_row_is_stored_twice", source="seed 003; hazard 47", instance=SMALL)
class DropsNothing(FlowGraph):
    """A recovered node drops nothing of what it reads again."""

    def recover(s, seek: FlowGraph.Position, now: FlowGraph.Position) -> None:
        super().recover(seek, now)
        s.dropped = each(s.Segment, lambda g: 0)
