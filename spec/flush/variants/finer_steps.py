"""The flush protocol in finer steps: single steps that the real system does in several, and harmless
omissions.

A variant that reads an option of the protocol has two kinds of entry in the manifest: with the option all
claims hold, without it one breaks. A variant without an option shows that the coarse protocol loses nothing.
"""

from tidemark.spec.flush import Flush
from tidemark.spec.language import (
    Bool,
    Map,
    Set,
    action,
    all_of,
    assumption,
    constant,
    each,
    exists,
    forall,
    greatest,
    implies,
    ite,
    least,
    lemma,
    maximum,
    one_of,
    option,
    require,
)


class LateSaves(Flush):
    """A replaced node has a save of each segment on the way. The new one knows the records of its start."""

    SAVES_FENCED: Bool = option(True)  # once a node was followed, no save of it is taken any more
    SAVED_AT_ONCE: Bool = option(True)  # the owner is looked at and the save recorded in one step

    late_end: Map[Flush.Segment, Flush.Position] = 0  # the end of such a save; 0 for none
    late: Set[Flush.Position] = False  # the rows that it brings
    late_mark: Set[Flush.Segment] = False  # it ends its segment
    passed: Set[Flush.Segment] = False  # the owner was looked at before the hand-over
    told: Map[Flush.Segment, Flush.Position] = 0

    def unfinished(s, segment, end):
        return (s.task[segment, end] != "none") & (s.task[segment, end] != "recorded")

    def first_unfinished(s, segment):
        """The end of the old node's first unfinished task; 0 for none."""
        return least(s.Position, lambda e: s.unfinished(segment, e), default=0)

    def is_on_the_way(s, segment):
        """The request of that task has left the node."""
        return one_of(s.task[segment, s.first_unfinished(segment)], "sending", "retrying")

    def consume(s):
        require(s.alive)
        s.consumed = s.consumed + 1
        known = s.consumed <= s.told[s.segment_of[s.consumed]]
        s.held[s.consumed] = ite(s.carries[s.consumed] & ~known, "buffered", "none")

    def recover(s, seek):
        s.late = each(
            s.Position, lambda p: (s.held[p] == "syncing") & (p <= s.first_unfinished(s.segment_of[p]))
        )
        s.late_mark = each(s.Segment, lambda g: s.flush_task[g, s.first_unfinished(g)])
        s.passed = each(s.Segment, lambda g: s.assigned & ~s.SAVED_AT_ONCE & s.is_on_the_way(g))
        s.late_end = each(s.Segment, s.first_unfinished)
        s.told = each(s.Segment, lambda g: s.dml[g])
        super().recover(seek)

    @action(source="hazard 22; B19, B27")
    def arrive_late(s, segment: Flush.Segment):
        """A save of the old node reaches the records, or is refused."""
        require(s.late_end[segment] > 0)
        taken = s.passed[segment] | ~s.SAVES_FENCED
        brings = taken & (s.late_end[segment] > s.dml[segment])
        s.flushed[segment] = s.flushed[segment] | (taken & s.late_mark[segment])
        s.copies = each(
            s.Position,
            lambda p: ite(brings & s.late[p] & (s.segment_of[p] == segment), s.copies[p] + 1, s.copies[p]),
        )
        s.dml[segment] = ite(taken, maximum(s.dml[segment], s.late_end[segment]), s.dml[segment])
        s.late_end[segment] = 0

    @lemma(source="facts 10.2; B19")
    def only_the_node_itself_adds_to_what_it_was_told(s):
        """With the fence: the node itself has consumed each recorded row that is new since its start."""
        return forall(
            s.Segment,
            lambda g: implies(
                s.SAVES_FENCED & s.SAVED_AT_ONCE,
                all_of(~s.passed[g], s.told[g] <= s.dml[g], s.dml[g] <= maximum(s.told[g], s.consumed)),
            ),
        )


class StoreInSteps(Flush):
    """The coordinator compares a checkpoint with the stored one, and stores it later."""

    passed: Set[Flush.Position] = False  # found greater, and not stored yet

    @action(fairness="weak", source="facts 10.1; hazard 21; B29")
    def compare(s, position: Flush.Position):
        """A request of the owner is greater than the stored checkpoint."""
        require(s.in_network[position] & ~s.passed[position])
        require(s.assigned & (position > s.stored))
        require(~(s.STORED_AT_ONCE & exists(s.Position, lambda q: s.passed[q])))
        s.passed[position] = True

    def store(s, position):
        require(s.in_network[position])
        require(s.passed[position] | ~s.assigned | (position <= s.stored))
        s.stored = ite(s.passed[position], position, s.stored)
        s.passed[position] = False
        s.rpc = ite((s.rpc == "sent") & (s.rpc_position == position), "stored", s.rpc)

    @lemma(source="facts 10.1")
    def one_request_is_compared_at_a_time(s):
        """A request that was found greater has been sent, is still greater, and is the only one."""
        return forall(
            s.Position,
            s.Position,
            lambda q, r: implies(
                s.passed[q],
                s.in_network[q] & implies(s.STORED_AT_ONCE, (q > s.stored) & implies(s.passed[r], q == r)),
            ),
        )


class OldNodeLivesOn(Flush):
    """A replaced node still reports its own checkpoints. Its saves are refused, so it keeps its rows."""

    lives: Bool = False
    theirs: Set[Flush.Position] = False  # rows that it holds, or will consume

    def recover(s, seek):
        s.theirs = each(s.Position, lambda p: s.carries[p] & ((s.held[p] != "none") | (p > s.consumed)))
        s.lives = True
        super().recover(seek)

    @action(source="facts 9, 10.1; hazard 22")
    def report_by_the_old(s, q: Flush.Position):
        """The old node sends a checkpoint that is below all rows that it holds."""
        require(s.lives & ~s.in_network[q])
        require(~exists(s.Position, lambda p: s.theirs[p] & (p <= q)))
        s.in_network[q] = True

    @lemma(source="facts 10.1")
    def what_it_does_not_hold_is_recorded(s):
        """Rows that the old node neither holds nor has to consume are durable."""
        return implies(
            s.lives, forall(s.Position, lambda p: implies(s.carries[p] & ~s.theirs[p], s.durable(p)))
        )


class Packs(Flush):
    """A pack carries any number of rows, each with its own timestamp at or below the end of the pack. A start
    position is the end of the pack before; a checkpoint is an end.
    """

    ends: Set[Flush.Position] = constant()

    @assumption(source="facts 7.1")
    def the_beginning_is_an_end(s):
        """Position 0 is before every pack."""
        return s.ends[0]

    def consume(s, end: Flush.Position):
        require(s.alive & s.ends[end] & (end > s.consumed))
        require(~exists(s.Position, lambda e: s.ends[e] & (s.consumed < e) & (e < end)))
        s.held = each(
            s.Position,
            lambda p: ite(
                (s.consumed < p) & (p <= end),
                ite(s.carries[p] & ~s.replayed(p), "buffered", "none"),
                s.held[p],
            ),
        )
        s.consumed = end

    def checkpoint(s):
        return greatest(
            s.Position,
            lambda e: s.ends[e] & ~exists(s.Position, lambda p: (p <= e) & s.pins(p)),
            upto=s.consumed,
            default=0,
        )

    def recover(s, seek):
        require(s.ends[seek])
        super().recover(seek)


class FinishInSteps(Flush):
    """The rows of a recorded task leave the memory first; then the node marks the segment as flushed."""

    unpinned: Set[Flush.Segment, Flush.Position] = False

    @action(fairness="weak", source="facts 7.6: callbacks")
    def unpin(s, segment: Flush.Segment, end: Flush.Position):
        """The answer arrives: the rows leave the memory and no longer pin the checkpoint."""
        require(s.alive & (s.task[segment, end] == "recorded") & ~s.unpinned[segment, end])
        s.release_rows(segment, end)
        s.unpinned[segment, end] = True

    def finish_sync(s, segment, end):
        require(s.unpinned[segment, end])
        super().finish_sync(segment, end)
        s.unpinned[segment, end] = False

    def lose_save(s, segment, end):
        require(~s.unpinned[segment, end])
        super().lose_save(segment, end)

    def recover(s, seek):
        super().recover(seek)
        s.unpinned = each(s.Segment, s.Position, lambda g, e: False)

    @lemma(source="facts 7.6")
    def what_is_unpinned_is_recorded(s):
        """Only a recorded task has released its rows."""
        return forall(
            s.Segment,
            s.Position,
            lambda g, e: implies(s.unpinned[g, e], s.task[g, e] == "recorded"),
        )
