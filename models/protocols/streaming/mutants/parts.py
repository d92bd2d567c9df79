"""Mutants of the parts of a streaming node, each as an override of one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.streaming.acks:acks``, ``records:records``, ``flushes:flushes``,
``ticks:ticks``, ``terms:terms`` or ``nodes:nodes``.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from tidemark.impl.errors import MessageTooLargeError, RpcError, StoreError, TermClosedError
from tidemark.impl.streaming.ack_manager import AckManager, Detail
from tidemark.impl.streaming.flusher import Flusher, Work
from tidemark.impl.streaming.node import StreamingNode
from tidemark.impl.streaming.recovery_storage import RecoveryStorage
from tidemark.impl.streaming.term import OpenTerm
from tidemark.impl.streaming.time_tick import TimeTickOperator
from tidemark.impl.streaming.transaction_messages import StreamingMessage
from tidemark.impl.streaming.values import Append, Checkpoints
from tidemark.impl.timestamp import Timestamp
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.streaming.acks import AcksProgram, acks
from tidemark.models.protocols.streaming.flushes import FlushesProgram, flushes
from tidemark.models.protocols.streaming.nodes import NodeProgram, nodes
from tidemark.models.protocols.streaming.records import RecordsProgram, records
from tidemark.models.protocols.streaming.terms import TermProgram, terms
from tidemark.models.protocols.streaming.ticks import TicksProgram, ticks

ACKS, RECORDS = "streaming-impl-acks", "streaming-impl-records"
FLUSHES, TICKS = "streaming-impl-flushes", "streaming-impl-ticks"
TERM, NODE = "streaming-impl-term", "streaming-impl-node"


class _OutsideTheLock(AckManager):
    async def collect(self) -> Timestamp | None:
        await self._draw_own()
        await self._preemption.point("ack.collect")
        self.check_open()
        return self._take(self.prefix())


@mutant(killer="a_tick_is_the_acknowledged_prefix", source="facts 11", instance=ACKS)
def a_tick_does_not_wait_for_an_admission(**scenario: Any) -> AcksProgram:
    """The prefix is taken while an append has its timestamp and is not entered: the tick passes it."""
    return acks(manager_class=_OutsideTheLock, **scenario)


class _UntilItsOwn(AckManager):
    def _end(self, append: Append) -> None:
        del self.waiting[append.ts]
        self.ended.append(Detail(append.ts, append.ts, append.place))


@mutant(killer="what_is_later_than_a_tick_lies_behind_its_place", source="facts 11", instance=ACKS)
def what_was_given_is_noted_at_the_entry(**scenario: Any) -> AcksProgram:
    """An append counts as if nothing had been given between its entry and its end: readers begin too late."""
    return acks(manager_class=_UntilItsOwn, **scenario)


class _ForgetsTheOpenOnes(AckManager):
    def _held_back(self, start: int, tick: Timestamp) -> int:
        del tick
        return start


@mutant(killer="what_is_later_than_a_tick_lies_behind_its_place", source="facts 11", instance=ACKS)
def readers_begin_behind_an_open_transaction(**scenario: Any) -> AcksProgram:
    """The place of a tick does not look at the begins of open transactions."""
    return acks(manager_class=_ForgetsTheOpenOnes, **scenario)


class _UsesItFirst(RecoveryStorage):
    async def move_flusher(self, upto: int) -> None:
        if upto > self.saved.flusher:
            self.saved = Checkpoints(flusher=upto, recovery=self.saved.recovery)
            await self._store.save_flusher(upto)


@mutant(killer="a_checkpoint_is_saved_before_it_is_used", source="B28", instance=RECORDS)
def a_checkpoint_is_used_before_it_is_saved(**scenario: Any) -> RecordsProgram:
    """The log may be cut behind a checkpoint that the store does not have."""
    return records(storage_class=_UsesItFirst, **scenario)


class _ObservesFromTheStart(RecoveryStorage):
    async def load(self) -> None:
        await super().load()
        self.observed = self.start()


@mutant(killer="each_place_is_counted_once", source="B28", instance=RECORDS)
def recovery_counts_again_what_was_counted(**scenario: Any) -> RecordsProgram:
    """Rows between the start and the place of the records are counted twice."""
    return records(storage_class=_ObservesFromTheStart, **scenario)


class _CutsBehindTheGreater(RecoveryStorage):
    def _cut(self) -> int:
        return max(self.saved.flusher, self.saved.recovery)


@mutant(killer="the_log_is_cut_behind_both_checkpoints", source="B28", instance=RECORDS)
def the_log_is_cut_behind_the_greater_checkpoint(**scenario: Any) -> RecordsProgram:
    """What the other checkpoint still needs is cut off."""
    return records(storage_class=_CutsBehindTheGreater, **scenario)


class _BeforeWhatIsBuffered(Flusher):
    def checkpoint(self) -> int:
        return self.reading


@mutant(killer="what_is_read_is_stored_in_order", source="B28", instance=FLUSHES)
def the_flusher_moves_past_an_open_transaction(**scenario: Any) -> FlushesProgram:
    """The checkpoint is what was read: the bodies of an open transaction are not read again."""
    return flushes(flusher_class=_BeforeWhatIsBuffered, **scenario)


class _InTheOrderOfArrival(Flusher):
    async def store_all(self) -> None:
        while self.buffered:
            place = max(self.buffered)
            await self._store.put(place, self.buffered[place].messages)
            del self.buffered[place]
        await self._recovery.move_flusher(self.checkpoint())


@mutant(killer="what_is_read_is_stored_in_order", source="B28", instance=FLUSHES)
def the_last_place_is_stored_first(**scenario: Any) -> FlushesProgram:
    """Places are stored from the last one on, with the ticks between them."""
    return flushes(flusher_class=_InTheOrderOfArrival, **scenario)


class _GivesUp(Flusher):
    async def _retried(self, work: Work) -> None:
        try:
            await work()
        except StoreError:
            await self._clock.sleep(self._config.retry_seconds)


@mutant(killer="what_is_read_is_stored_in_order", source="B28", instance=FLUSHES)
def a_put_that_fails_waits_for_the_next_record(**scenario: Any) -> FlushesProgram:
    """A failed put is repeated when something else comes, and not before."""
    return flushes(flusher_class=_GivesUp, **scenario)


class _CountsForEver(TimeTickOperator):
    async def _tick(self) -> None:
        held_back = self.held_back
        await super()._tick()
        self.held_back = held_back


@mutant(killer="a_round_asks_for_a_tick_unless_nothing_is_new", source="facts 11", instance=TICKS)
def rounds_that_passed_are_counted_for_ever(**scenario: Any) -> TicksProgram:
    """After the first silence no tick is held back any more."""
    return ticks(operator_class=_CountsForEver, **scenario)


class _TellsFirst(TimeTickOperator):
    async def _write_tick(self) -> None:
        self._acks.written(self.to_write, 0)
        await super()._write_tick()


@mutant(killer="what_was_collected_is_written_and_told", source="facts 11", instance=TICKS)
def a_tick_is_told_before_it_is_in_the_log(**scenario: Any) -> TicksProgram:
    """Transactions end by a tick that no reader may ever see."""
    return ticks(operator_class=_TellsFirst, **scenario)


class _TakesItForLost(OpenTerm):
    async def _write(self, since: int, message: StreamingMessage) -> int:
        try:
            return await self._log.append(self.opening.term, since, message)
        except (RpcError, StoreError) as failure:
            raise MessageTooLargeError(str(failure)) from failure


@mutant(killer="each_part_is_told_what_became_of_an_append", source="B54", instance=TERM)
def what_is_not_known_is_refused(**scenario: Any) -> TermProgram:
    """An append whose outcome is not known is taken for one that is not in the log."""
    return terms(term_class=_TakesItForLost, **scenario)


class _StaysOpen(OpenTerm):
    def _lose_track(self) -> None:
        """It goes on."""


@mutant(killer="a_term_is_over_when_something_is_not_known", source="B54", instance=TERM)
def a_term_goes_on_after_an_unknown_outcome(**scenario: Any) -> TermProgram:
    """The term is closed only by what is known."""
    return terms(term_class=_StaysOpen, **scenario)


class _LooksAtNothing(OpenTerm):
    def __init__(self, **given: Any) -> None:
        super().__init__(**{**given, "records": ()})


@mutant(killer="a_term_is_made_of_what_was_found", source="facts 11", instance=TERM)
def open_transactions_are_not_looked_for(**scenario: Any) -> TermProgram:
    """A term begins without the transactions that are open in the log."""
    return terms(term_class=_LooksAtNothing, **scenario)


class _InTheCallersTask(StreamingNode):
    async def append(self, append: Append) -> int:
        term = self.term
        if term is None or term.closed.is_set():
            raise TermClosedError("the log is not open")
        await term.append(append)
        return append.place


@mutant(killer="a_log_is_opened_step_by_step_and_again_when_it_closes", source="B54", instance=NODE)
def a_caller_that_leaves_stops_its_append(**scenario: Any) -> NodeProgram:
    """An append is done in the task of its caller."""
    return nodes(node_class=_InTheCallersTask, **scenario)


class _TakesAnyTerm(StreamingNode):
    async def append(self, append: Append) -> int:
        if self.term is not None:
            self.term.closed.clear()
        return await super().append(append)


@mutant(killer="an_append_is_done_whoever_waits_for_it", source="B54", instance=NODE)
def a_term_that_is_over_takes_appends(**scenario: Any) -> NodeProgram:
    """An append goes to the last term, whether it is over or not."""
    return nodes(node_class=_TakesAnyTerm, **scenario)


class _LeavesItsAppends(StreamingNode):
    async def run(self) -> None:
        self._appends.stop = _nothing
        await super().run()


async def _nothing() -> None:
    """Stop nothing."""


@mutant(killer="a_log_is_opened_step_by_step_and_again_when_it_closes", source="B54", instance=NODE)
def a_node_that_ends_leaves_its_appends(**scenario: Any) -> NodeProgram:
    """Appends go on when the node has ended."""
    return nodes(node_class=_LeavesItsAppends, **scenario)


class _LeavesItsCallers(StreamingNode):
    def _tell(self, caller: Any) -> None:
        """Who waits is left alone."""


@mutant(killer="an_append_is_done_whoever_waits_for_it", source="B54", instance=NODE)
def a_node_that_ends_leaves_its_callers(**scenario: Any) -> NodeProgram:
    """Callers of a node that has ended wait for ever."""
    return nodes(node_class=_LeavesItsCallers, **scenario)


class _HidesTheFault(StreamingNode):
    async def run(self) -> None:
        with suppress(RuntimeError):
            await super().run()


@mutant(killer="a_node_that_ends_stops_what_it_has_begun", source="B54", instance=NODE)
def a_fault_ends_a_node_in_silence(**scenario: Any) -> NodeProgram:
    """What a term has failed with is not raised."""
    return nodes(node_class=_HidesTheFault, **scenario)
