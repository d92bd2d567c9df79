"""The coordinator of a flush in finer steps: it crashes and reads its store, its calls are several messages,
and any number of saves is on the way.

Each variant is proved for any size. The classes after it drop a rule that the proof needs.
"""

from tidemark.spec.flush import Flush
from tidemark.spec.language import (
    Bool,
    Map,
    Set,
    action,
    all_of,
    each,
    exists,
    forall,
    implies,
    ite,
    lemma,
    maximum,
    one_of,
    option,
    reachable,
    require,
)


class CoordinatorRestarts(Flush):
    """The coordinator answers from memory. Under one lock it stores a change, then applies it in memory and
    answers. It may crash in between and at any other time; a successor reads the store.

    ``stored``, ``dml``, ``flushed`` and ``copies`` are the contents of the store.
    """

    works: Bool = True
    kept: Flush.Position = 0  # the checkpoint in memory
    kept_dml: Map[Flush.Segment, Flush.Position] = 0
    writing: Flush.Position = 0  # a checkpoint that is stored, and not in memory yet; 0 for none
    saving: Set[Flush.Segment, Flush.Position] = False  # the same of a save

    def lock_is_free(s):
        """The coordinator runs, and no change is under way."""
        return s.works & (s.writing == 0) & ~exists(s.Segment, s.Position, lambda g, e: s.saving[g, e])

    # ---- a save ----

    def brings_rows(s, segment, end):
        return end > s.kept_dml[segment]

    def record(s, segment, end):
        require(s.lock_is_free())
        require(one_of(s.task[segment, end], "sending", "retrying"))
        require(s.assigned)
        s.record_rows(segment, end)
        s.saving[segment, end] = True

    @action(fairness="weak", source="facts 10.2; B19")
    def answer_save(s, segment: Flush.Segment, end: Flush.Position):
        """The save is in memory, and answered."""
        require(s.works & s.saving[segment, end])
        s.saving[segment, end] = False
        s.kept_dml[segment] = maximum(s.kept_dml[segment], end)
        s.task[segment, end] = ite(s.task[segment, end] == "sending", "recorded", s.task[segment, end])

    # ---- a checkpoint ----

    def store(s, position):
        require(s.lock_is_free() & s.in_network[position])
        takes = s.assigned & (position > s.kept)
        s.stored = ite(takes, position, s.stored)
        s.writing = ite(takes, position, 0)
        answers = ~takes & (s.rpc == "sent") & (s.rpc_position == position)
        s.rpc = ite(answers, "stored", s.rpc)

    @action(fairness="weak", source="facts 10.1; hazard 21")
    def answer_store(s):
        """The checkpoint is in memory, and answered."""
        require(s.works & (s.writing > 0))
        s.kept = s.writing
        s.rpc = ite((s.rpc == "sent") & (s.rpc_position == s.writing), "stored", s.rpc)
        s.writing = 0

    # ---- calls that are answered from memory ----

    def recover(s, seek):
        require(s.lock_is_free())
        super().recover(seek)

    def unassign(s):
        require(s.lock_is_free())
        super().unassign()

    def assign(s):
        require(s.lock_is_free())
        super().assign()

    def ask_flush(s, ts):
        require(s.lock_is_free())
        super().ask_flush(ts)

    def deliver_flush(s, ts):
        require(s.works)
        super().deliver_flush(ts)

    def confirm_flush(s, ts):
        require(s.lock_is_free())
        require(s.is_open(ts) & (s.kept >= ts))
        s.request[ts] = "confirmed"

    def seal(s, segment):
        require(s.works)
        super().seal(segment)

    # ---- crash and restart ----

    @action(source="facts 10.1, 10.2")
    def crash_coordinator(s):
        """The coordinator stops: its store remains, and pending calls get no answer."""
        require(s.works)
        s.works = False
        s.kept = 0
        s.kept_dml = each(s.Segment, lambda g: 0)
        s.writing = 0
        s.saving = each(s.Segment, s.Position, lambda g, e: False)
        s.fault()

    @action(fairness="weak", source="facts 10.1, 10.2")
    def load(s):
        """A coordinator reads its store and serves."""
        require(~s.works)
        s.works = True
        s.kept = s.stored
        s.kept_dml = each(s.Segment, lambda g: s.dml[g])

    # ---- lemmas and witnesses ----

    @lemma(source="facts 10.1, 10.2")
    def memory_is_what_is_stored(s):
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
    def one_save_has_the_lock(s):
        """The lock is held for one save at a time."""
        return forall(
            s.Segment,
            s.Position,
            s.Segment,
            s.Position,
            lambda g, e, h, f: implies(s.saving[g, e] & s.saving[h, f], (g == h) & (e == f)),
        )

    @reachable(after="crash_coordinator", source="facts 10.2; B19")
    def a_crash_between_store_and_answer(before, after):
        """The coordinator crashes after it has stored rows and before it answers."""
        return exists(
            before.Segment,
            before.Position,
            lambda g, e: before.saving[g, e] & (before.dml[g] > before.kept_dml[g]),
        )


class MemoryFirst(CoordinatorRestarts):
    """A save is applied in memory and answered first, and stored afterwards."""

    def record(s, segment, end):
        require(s.lock_is_free() & s.assigned)
        require(one_of(s.task[segment, end], "sending", "retrying"))
        s.saving[segment, end] = True
        s.task[segment, end] = ite(s.task[segment, end] == "sending", "recorded", s.task[segment, end])

    def answer_save(s, segment, end):
        require(s.works & s.saving[segment, end])
        s.record_rows(segment, end)
        s.saving[segment, end] = False
        s.kept_dml[segment] = maximum(s.kept_dml[segment], end)


class WithoutTheLock(CoordinatorRestarts):
    """A change does not wait for the lock of another."""

    def lock_is_free(s):
        return s.works


class SavesComeAgain(Flush):
    """A sent save may come any number of times, and late. Saves of a replaced node are refused."""

    SAVES_FENCED: Bool = option(True)  # once a node was followed, no save of it is taken any more

    sent: Set[Flush.Segment, Flush.Position] = False
    sent_mark: Set[Flush.Segment, Flush.Position] = False  # it ends its segment
    sent_rows: Set[Flush.Segment, Flush.Position, Flush.Position] = False  # the rows that it brings

    def send_save(s, segment, end):
        super().send_save(segment, end)
        s.sent[segment, end] = True
        s.sent_mark[segment, end] = s.sent_mark[segment, end] | s.flush_task[segment, end]
        s.sent_rows = each(
            s.Segment,
            s.Position,
            s.Position,
            lambda g, e, p: ite((g == segment) & (e == end), s.is_brought(g, e, p), s.sent_rows[g, e, p]),
        )

    def is_brought(s, segment, end, p):
        return s.row_of(p, segment) & (s.held[p] == "syncing") & (p <= end)

    @action(source="facts 7.6, 10.2; hazard 22; B19")
    def come_again(s, segment: Flush.Segment, end: Flush.Position):
        """A save reaches the coordinator, first or again; its sender no longer waits for the answer."""
        require(s.sent[segment, end] & s.assigned)
        brings = end > s.dml[segment]
        s.flushed[segment] = s.flushed[segment] | s.sent_mark[segment, end]
        s.copies = each(
            s.Position,
            lambda p: ite(brings & s.sent_rows[segment, end, p], s.copies[p] + 1, s.copies[p]),
        )
        s.dml[segment] = maximum(s.dml[segment], end)

    def recover(s, seek):
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
    def what_was_sent_is_recorded_or_under_way(s):
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

    def is_under_way(s, segment, end):
        """The task has been sent, and has no answer yet."""
        return one_of(s.task[segment, end], "sending", "retrying")

    @reachable(after="come_again", source="B19")
    def a_save_comes_when_its_task_is_over(before, after, segment, end):
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

    remembered: Set[Flush.Position] = False  # stored with the channel
    calling: Set[Flush.Position] = False  # a call is in the network
    answering: Set[Flush.Position] = False  # so is its answer
    told: Set[Flush.Position] = False  # the coordinator's memory: the node has it

    @action(fairness="weak", source="facts 10.3")
    def remember(s, ts: Flush.Position):
        """The client's request is stored."""
        require(s.is_open(ts) & ~s.remembered[ts])
        s.remembered[ts] = True

    @action(fairness="weak", source="facts 7.8, 10.3")
    def call_node(s, ts: Flush.Position):
        """The coordinator calls the node, as long as it has no answer and the client waits."""
        require(s.remembered[ts] & s.is_open(ts))
        require(~s.told[ts] & ~s.calling[ts] & ~s.answering[ts])
        s.calling[ts] = True

    def deliver_flush(s, ts):
        require(s.alive & s.calling[ts])
        require((s.request[ts] == "asked") | (s.flush_ts < ts) | ~s.answering[ts])
        s.request[ts] = ite(s.request[ts] == "asked", "delivered", s.request[ts])
        s.take_flush_ts(ts)
        s.answering[ts] = True

    @action(source="facts 7.8")
    def lose_call(s, ts: Flush.Position):
        """The call is lost, or has no further copy."""
        require(s.calling[ts])
        s.calling[ts] = False
        s.fault()

    @action(fairness="weak", source="facts 7.8")
    def hear(s, ts: Flush.Position):
        """The answer arrives."""
        require(s.answering[ts])
        s.answering[ts] = False
        s.calling[ts] = False
        s.told[ts] = True

    @action(source="facts 7.8")
    def lose_answer(s, ts: Flush.Position):
        """The answer is lost, and the coordinator stops waiting for it."""
        require(s.answering[ts])
        s.answering[ts] = False
        s.calling[ts] = False
        s.fault()

    @action(source="facts 10.3")
    def crash_coordinator(s):
        """The coordinator stops, and another reads its store: it does not know which nodes have answered."""
        require(exists(s.Position, lambda t: s.told[t] | s.answering[t]))
        s.told = each(s.Position, lambda t: False)
        s.answering = each(s.Position, lambda t: False)
        s.fault()

    def recover(s, seek):
        super().recover(seek)
        s.told = each(s.Position, lambda t: s.told[t] & ~s.TELLS_AGAIN)
        s.answering = each(s.Position, lambda t: False)

    def confirm_flush(s, ts):
        require(s.remembered[ts])
        super().confirm_flush(ts)

    @reachable(after="deliver_flush", source="hazard 6")
    def a_call_comes_to_the_next_incarnation(before, after, ts):
        """The coordinator calls a node a second time, because it knows of no answer."""
        return (before.request[ts] == "delivered") & ~before.told[ts] & ~before.answering[ts]
