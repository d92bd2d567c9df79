"""The flush protocol in finer steps: single steps that the real system does in several, and harmless
omissions.

A variant that reads an option of the protocol has two kinds of entry in the manifest: with the option all
claims hold, without it one breaks. A variant without an option shows that the coarse protocol loses nothing.

The coordinator crashes and reads its store, its calls are several messages, and any number of saves is on
the way: each is proved for any size; the classes after it drop a rule that the proof needs.
"""

from tidemark.spec.flush import Flush
from tidemark.spec.language import (
    Bool,
    Map,
    Self,
    Set,
    action,
    all_of,
    assumption,
    constant,
    each,
    everywhere,
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
    other_parameters,
    reachable,
    require,
)


class LateSaves(Flush):
    """A replaced node has a save of each segment on the way. The new one knows the records of its start."""

    SAVES_FENCED: Bool = option(True)  # once a node was followed, no save of it is taken any more
    SAVED_AT_ONCE: Bool = option(True)  # the owner is looked at and the save recorded in one step

    late_end: Map[Flush.Segment, Flush.Position] = everywhere(0)  # the end of such a save; 0 for none
    late: Set[Flush.Position] = everywhere(False)  # the rows that it brings
    late_mark: Set[Flush.Segment] = everywhere(False)  # it ends its segment
    passed: Set[Flush.Segment] = everywhere(False)  # the owner was looked at before the hand-over
    told: Map[Flush.Segment, Flush.Position] = everywhere(0)

    def unfinished(s, segment: Flush.Segment, end: Flush.Position) -> Bool:
        return (s.task[segment, end] != "none") & (s.task[segment, end] != "recorded")

    def first_unfinished(s, segment: Flush.Segment) -> Flush.Position:
        """The end of the old node's first unfinished task; 0 for none."""
        return least(s.Position, lambda e: s.unfinished(segment, e), default=0)

    def is_on_the_way(s, segment: Flush.Segment) -> Bool:
        """The request of that task has left the node."""
        return one_of(s.task[segment, s.first_unfinished(segment)], "sending", "retrying")

    def consume(s) -> None:
        require(s.alive)
        s.consumed = s.consumed + 1
        known = s.consumed <= s.told[s.segment_of[s.consumed]]
        s.held[s.consumed] = ite(s.carries[s.consumed] & ~known, "buffered", "none")

    def recover(s, seek: Flush.Position) -> None:
        s.late = each(
            s.Position, lambda p: (s.held[p] == "syncing") & (p <= s.first_unfinished(s.segment_of[p]))
        )
        s.late_mark = each(s.Segment, lambda g: s.flush_task[g, s.first_unfinished(g)])
        s.passed = each(s.Segment, lambda g: s.assigned & ~s.SAVED_AT_ONCE & s.is_on_the_way(g))
        s.late_end = each(s.Segment, s.first_unfinished)
        s.told = each(s.Segment, lambda g: s.dml[g])
        super().recover(seek)

    @action(source="hazard 22; B19, B27")
    def arrive_late(s, segment: Flush.Segment) -> None:
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
    def only_the_node_itself_adds_to_what_it_was_told(s) -> Bool:
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

    passed: Set[Flush.Position] = everywhere(False)  # found greater, and not stored yet

    @action(fairness="weak", source="facts 10.1; hazard 21; B29")
    def compare(s, position: Flush.Position) -> None:
        """A request of the owner is greater than the stored checkpoint."""
        require(s.in_network[position] & ~s.passed[position])
        require(s.assigned & (position > s.stored))
        require(~(s.STORED_AT_ONCE & exists(s.Position, lambda q: s.passed[q])))
        s.passed[position] = True

    def store(s, position: Flush.Position) -> None:
        require(s.in_network[position])
        require(s.passed[position] | ~s.assigned | (position <= s.stored))
        s.stored = ite(s.passed[position], position, s.stored)
        s.passed[position] = False
        s.rpc = ite((s.rpc == "sent") & (s.rpc_position == position), "stored", s.rpc)

    @lemma(source="facts 10.1")
    def one_request_is_compared_at_a_time(s) -> Bool:
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
    theirs: Set[Flush.Position] = everywhere(False)  # rows that it holds, or will consume

    def recover(s, seek: Flush.Position) -> None:
        s.theirs = each(s.Position, lambda p: s.carries[p] & ((s.held[p] != "none") | (p > s.consumed)))
        s.lives = True
        super().recover(seek)

    @action(source="facts 9, 10.1; hazard 22")
    def report_by_the_old(s, q: Flush.Position) -> None:
        """The old node sends a checkpoint that is below all rows that it holds."""
        require(s.lives & ~s.in_network[q])
        require(~exists(s.Position, lambda p: s.theirs[p] & (p <= q)))
        s.in_network[q] = True

    @lemma(source="facts 10.1")
    def what_it_does_not_hold_is_recorded(s) -> Bool:
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
    def the_beginning_is_an_end(s) -> Bool:
        """Position 0 is before every pack."""
        return s.ends[0]

    @other_parameters
    def consume(s, end: Flush.Position) -> None:
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

    def is_covered(s, p: Flush.Position) -> Bool:
        return ~exists(s.Position, lambda e: s.ends[e] & (s.flush_ts <= e) & (e < p))

    def checkpoint(s) -> Flush.Position:
        return greatest(
            s.Position,
            lambda e: s.ends[e] & ~exists(s.Position, lambda p: (p <= e) & s.pins(p)),
            upto=s.consumed,
            default=0,
        )

    def recover(s, seek: Flush.Position) -> None:
        require(s.ends[seek])
        super().recover(seek)


class FinishInSteps(Flush):
    """The rows of a recorded task leave the memory first; then the node marks the segment as flushed."""

    unpinned: Set[Flush.Segment, Flush.Position] = everywhere(False)

    @action(fairness="weak", source="facts 7.6: callbacks")
    def unpin(s, segment: Flush.Segment, end: Flush.Position) -> None:
        """The answer arrives: the rows leave the memory and no longer pin the checkpoint."""
        require(s.alive & (s.task[segment, end] == "recorded") & ~s.unpinned[segment, end])
        s.release_rows(segment, end)
        s.unpinned[segment, end] = True

    def finish_sync(s, segment: Flush.Segment, end: Flush.Position) -> None:
        require(s.unpinned[segment, end])
        super().finish_sync(segment, end)
        s.unpinned[segment, end] = False

    def lose_save(s, segment: Flush.Segment, end: Flush.Position) -> None:
        require(~s.unpinned[segment, end])
        super().lose_save(segment, end)

    def recover(s, seek: Flush.Position) -> None:
        super().recover(seek)
        s.unpinned = each(s.Segment, s.Position, lambda g, e: False)

    @lemma(source="facts 7.6")
    def what_is_unpinned_is_recorded(s) -> Bool:
        """Only a recorded task has released its rows."""
        return forall(
            s.Segment,
            s.Position,
            lambda g, e: implies(s.unpinned[g, e], s.task[g, e] == "recorded"),
        )


class CoordinatorRestarts(Flush):
    """The coordinator answers from memory. Under one lock it stores a change, then applies it in memory and
    answers. It may crash in between and at any other time; a successor reads the store.

    ``stored``, ``dml``, ``flushed`` and ``copies`` are the contents of the store.
    """

    works: Bool = True
    kept: Flush.Position = 0  # the checkpoint in memory
    kept_dml: Map[Flush.Segment, Flush.Position] = everywhere(0)
    writing: Flush.Position = 0  # a checkpoint that is stored, and not in memory yet; 0 for none
    saving: Set[Flush.Segment, Flush.Position] = everywhere(False)  # the same of a save

    def lock_is_free(s) -> Bool:
        """The coordinator runs, and no change is under way."""
        return s.works & (s.writing == 0) & ~exists(s.Segment, s.Position, lambda g, e: s.saving[g, e])

    # ---- a save ----

    def brings_rows(s, segment: Flush.Segment, end: Flush.Position) -> Bool:
        return end > s.kept_dml[segment]

    def record(s, segment: Flush.Segment, end: Flush.Position) -> None:
        require(s.lock_is_free())
        require(one_of(s.task[segment, end], "sending", "retrying"))
        require(s.assigned)
        s.record_rows(segment, end)
        s.saving[segment, end] = True

    @action(fairness="weak", source="facts 10.2; B19")
    def answer_save(s, segment: Flush.Segment, end: Flush.Position) -> None:
        """The save is in memory, and answered."""
        require(s.works & s.saving[segment, end])
        s.saving[segment, end] = False
        s.kept_dml[segment] = maximum(s.kept_dml[segment], end)
        s.task[segment, end] = ite(s.task[segment, end] == "sending", "recorded", s.task[segment, end])

    # ---- a checkpoint ----

    def store(s, position: Flush.Position) -> None:
        require(s.lock_is_free() & s.in_network[position])
        takes = s.assigned & (position > s.kept)
        s.stored = ite(takes, position, s.stored)
        s.writing = ite(takes, position, 0)
        answers = ~takes & (s.rpc == "sent") & (s.rpc_position == position)
        s.rpc = ite(answers, "stored", s.rpc)

    @action(fairness="weak", source="facts 10.1; hazard 21")
    def answer_store(s) -> None:
        """The checkpoint is in memory, and answered."""
        require(s.works & (s.writing > 0))
        s.kept = s.writing
        s.rpc = ite((s.rpc == "sent") & (s.rpc_position == s.writing), "stored", s.rpc)
        s.writing = 0

    # ---- calls that are answered from memory ----

    def recover(s, seek: Flush.Position) -> None:
        require(s.lock_is_free())
        super().recover(seek)

    def unassign(s) -> None:
        require(s.lock_is_free())
        super().unassign()

    def assign(s) -> None:
        require(s.lock_is_free())
        super().assign()

    def ask_flush(s, ts: Flush.Position) -> None:
        require(s.lock_is_free())
        super().ask_flush(ts)

    def deliver_flush(s, ts: Flush.Position) -> None:
        require(s.works)
        super().deliver_flush(ts)

    def confirm_flush(s, ts: Flush.Position) -> None:
        require(s.lock_is_free())
        require(s.is_open(ts) & (s.kept >= ts))
        s.request[ts] = "confirmed"

    def seal(s, segment: Flush.Segment) -> None:
        require(s.works)
        super().seal(segment)

    # ---- crash and restart ----

    @action(source="facts 10.1, 10.2")
    def crash_coordinator(s) -> None:
        """The coordinator stops: its store remains, and pending calls get no answer."""
        require(s.works)
        s.works = False
        s.kept = 0
        s.kept_dml = each(s.Segment, lambda g: 0)
        s.writing = 0
        s.saving = each(s.Segment, s.Position, lambda g, e: False)
        s.fault()

    @action(fairness="weak", source="facts 10.1, 10.2")
    def load(s) -> None:
        """A coordinator reads its store and serves."""
        require(~s.works)
        s.works = True
        s.kept = s.stored
        s.kept_dml = each(s.Segment, lambda g: s.dml[g])

    # ---- lemmas and witnesses ----

    @lemma(source="facts 10.1, 10.2")
    def memory_is_what_is_stored(s) -> Bool:
        """Memory never runs ahead of the store, and is behind it by one change at most, under the lock."""
        return all_of(
            s.kept <= s.stored,
            implies(s.writing > 0, s.works & (s.stored == s.writing)),
            implies(s.works & (s.writing == 0), s.kept == s.stored),
            forall(
                s.Segment,
                lambda g: all_of(
                    s.kept_dml[g] <= s.dml[g],
                    implies(s.works & (s.dml[g] != s.kept_dml[g]), s.saving[g, s.dml[g]]),
                ),
            ),
            forall(
                s.Segment,
                s.Position,
                lambda g, e: implies(
                    s.saving[g, e],
                    all_of(
                        s.works & (s.writing == 0) & (e <= s.dml[g]),
                        one_of(s.task[g, e], "sending", "retrying"),
                        implies(s.flush_task[g, e], s.flushed[g]),
                    ),
                ),
            ),
        )

    @lemma(source="facts 10.2")
    def one_save_has_the_lock(s) -> Bool:
        """The lock is held for one save at a time."""
        return forall(
            s.Segment,
            s.Position,
            s.Segment,
            s.Position,
            lambda g, e, h, f: implies(s.saving[g, e] & s.saving[h, f], (g == h) & (e == f)),
        )

    @reachable(after="crash_coordinator", source="facts 10.2; B19")
    def a_crash_between_store_and_answer(before, after: Self) -> Bool:
        """The coordinator crashes after it has stored rows and before it answers."""
        return exists(
            before.Segment,
            before.Position,
            lambda g, e: before.saving[g, e] & (before.dml[g] > before.kept_dml[g]),
        )


class MemoryFirst(CoordinatorRestarts):
    """A save is applied in memory and answered first, and stored afterwards."""

    def record(s, segment: CoordinatorRestarts.Segment, end: CoordinatorRestarts.Position) -> None:
        require(s.lock_is_free() & s.assigned)
        require(one_of(s.task[segment, end], "sending", "retrying"))
        s.saving[segment, end] = True
        s.task[segment, end] = ite(s.task[segment, end] == "sending", "recorded", s.task[segment, end])

    def answer_save(s, segment: CoordinatorRestarts.Segment, end: CoordinatorRestarts.Position) -> None:
        require(s.works & s.saving[segment, end])
        s.record_rows(segment, end)
        s.saving[segment, end] = False
        s.kept_dml[segment] = maximum(s.kept_dml[segment], end)


class WithoutTheLock(CoordinatorRestarts):
    """A change does not wait for the lock of another."""

    def lock_is_free(s) -> Bool:
        return s.works


class SavesComeAgain(Flush):
    """A sent save may come any number of times, and late. Saves of a replaced node are refused."""

    SAVES_FENCED: Bool = option(True)  # once a node was followed, no save of it is taken any more

    sent: Set[Flush.Segment, Flush.Position] = everywhere(False)
    sent_mark: Set[Flush.Segment, Flush.Position] = everywhere(False)  # it ends its segment
    # the rows that it brings
    sent_rows: Set[Flush.Segment, Flush.Position, Flush.Position] = everywhere(False)

    def send_save(s, segment: Flush.Segment, end: Flush.Position) -> None:
        super().send_save(segment, end)
        s.sent[segment, end] = True
        s.sent_mark[segment, end] = s.sent_mark[segment, end] | s.flush_task[segment, end]
        s.sent_rows = each(
            s.Segment,
            s.Position,
            s.Position,
            lambda g, e, p: ite((g == segment) & (e == end), s.is_brought(g, e, p), s.sent_rows[g, e, p]),
        )

    def is_brought(s, segment: Flush.Segment, end: Flush.Position, p: Flush.Position) -> Bool:
        return s.row_of(p, segment) & (s.held[p] == "syncing") & (p <= end)

    @action(source="facts 7.6, 10.2; hazard 22; B19")
    def come_again(s, segment: Flush.Segment, end: Flush.Position) -> None:
        """A save reaches the coordinator, first or again; its sender no longer waits for the answer."""
        require(s.sent[segment, end] & s.assigned)
        brings = end > s.dml[segment]
        s.flushed[segment] = s.flushed[segment] | s.sent_mark[segment, end]
        s.copies = each(
            s.Position,
            lambda p: ite(brings & s.sent_rows[segment, end, p], s.copies[p] + 1, s.copies[p]),
        )
        s.dml[segment] = maximum(s.dml[segment], end)

    def recover(s, seek: Flush.Position) -> None:
        super().recover(seek)
        s.sent = each(s.Segment, s.Position, lambda g, e: s.sent[g, e] & ~s.SAVES_FENCED)
        s.sent_mark = each(s.Segment, s.Position, lambda g, e: s.sent_mark[g, e] & ~s.SAVES_FENCED)
        s.sent_rows = each(
            s.Segment,
            s.Position,
            s.Position,
            lambda g, e, p: s.sent_rows[g, e, p] & ~s.SAVES_FENCED,
        )

    @lemma(source="facts 7.6, 10.2; B19")
    def what_was_sent_is_recorded_or_under_way(s) -> Bool:
        """With the fence: a sent save is recorded with its mark, or its task is under way with its rows."""
        return forall(
            s.Segment,
            s.Position,
            lambda g, e: implies(
                s.SAVES_FENCED,
                all_of(
                    s.sent[g, e] | ~s.sent_mark[g, e],
                    implies(s.sent[g, e], (e <= s.dml[g]) | s.is_under_way(g, e)),
                    implies(s.sent_mark[g, e], s.flushed[g] | s.is_under_way(g, e) & s.flush_task[g, e]),
                    implies(
                        s.sent[g, e] & (e > s.dml[g]),
                        forall(s.Position, lambda p: s.sent_rows[g, e, p] == s.is_brought(g, e, p)),
                    ),
                ),
            ),
        )

    def is_under_way(s, segment: Flush.Segment, end: Flush.Position) -> Bool:
        """The task has been sent, and has no answer yet."""
        return one_of(s.task[segment, end], "sending", "retrying")

    @reachable(after="come_again", source="B19")
    def a_save_comes_when_its_task_is_over(
        before, after: Self, segment: Flush.Segment, end: Flush.Position
    ) -> Bool:
        """A save arrives after the end of its task, beside another one."""
        return (before.task[segment, end] == "none") & exists(
            before.Position,
            lambda e: (e != end) & before.sent[segment, e] & (before.task[segment, e] != "none"),
        )


class RequestInSteps(Flush):
    """The coordinator stores a client's request, and calls the node until one call is answered, and again
    after a crash of the coordinator or a change of the node. Calls and answers are lost, and calls are
    repeated.
    """

    TELLS_AGAIN: Bool = option(True)  # the coordinator calls each incarnation of the node

    remembered: Set[Flush.Position] = everywhere(False)  # stored with the channel
    calling: Set[Flush.Position] = everywhere(False)  # a call is in the network
    answering: Set[Flush.Position] = everywhere(False)  # so is its answer
    told: Set[Flush.Position] = everywhere(False)  # the coordinator's memory: the node has it

    @action(fairness="weak", source="facts 10.3")
    def remember(s, ts: Flush.Position) -> None:
        """The client's request is stored."""
        require(s.is_open(ts) & ~s.remembered[ts])
        s.remembered[ts] = True

    @action(fairness="weak", source="facts 7.8, 10.3")
    def call_node(s, ts: Flush.Position) -> None:
        """The coordinator calls the node, as long as it has no answer and the client waits."""
        require(s.remembered[ts] & s.is_open(ts))
        require(~s.told[ts] & ~s.calling[ts] & ~s.answering[ts])
        s.calling[ts] = True

    def deliver_flush(s, ts: Flush.Position) -> None:
        require(s.alive & s.calling[ts])
        require((s.request[ts] == "asked") | (s.flush_ts < ts) | ~s.answering[ts])
        s.request[ts] = ite(s.request[ts] == "asked", "delivered", s.request[ts])
        s.take_flush_ts(ts)
        s.answering[ts] = True

    @action(source="facts 7.8")
    def lose_call(s, ts: Flush.Position) -> None:
        """The call is lost, or has no further copy."""
        require(s.calling[ts])
        s.calling[ts] = False
        s.fault()

    @action(fairness="weak", source="facts 7.8")
    def hear(s, ts: Flush.Position) -> None:
        """The answer arrives."""
        require(s.answering[ts])
        s.answering[ts] = False
        s.calling[ts] = False
        s.told[ts] = True

    @action(source="facts 7.8")
    def lose_answer(s, ts: Flush.Position) -> None:
        """The answer is lost, and the coordinator stops waiting for it."""
        require(s.answering[ts])
        s.answering[ts] = False
        s.calling[ts] = False
        s.fault()

    @action(source="facts 10.3")
    def crash_coordinator(s) -> None:
        """The coordinator stops, and another reads its store: it does not know which nodes have answered."""
        require(exists(s.Position, lambda t: s.told[t] | s.answering[t]))
        s.told = each(s.Position, lambda t: False)
        s.answering = each(s.Position, lambda t: False)
        s.fault()

    def recover(s, seek: Flush.Position) -> None:
        super().recover(seek)
        s.told = each(s.Position, lambda t: s.told[t] & ~s.TELLS_AGAIN)
        s.answering = each(s.Position, lambda t: False)

    def confirm_flush(s, ts: Flush.Position) -> None:
        require(s.remembered[ts])
        super().confirm_flush(ts)

    @reachable(after="deliver_flush", source="hazard 6")
    def a_call_comes_to_the_next_incarnation(before, after: Self, ts: Flush.Position) -> Bool:
        """The coordinator calls a node a second time, because it knows of no answer."""
        return (before.request[ts] == "delivered") & ~before.told[ts] & ~before.answering[ts]
