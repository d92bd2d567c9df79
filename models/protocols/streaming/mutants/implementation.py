"""Mutants of a streaming node, each as an override of one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.streaming.program:streaming``. Each is compared with the variant of the
specification that makes the same mistake, so that what is refuted is a property and not only the likeness.
"""

from __future__ import annotations

from typing import Any

from tidemark.impl.errors import RpcError, StoreError, UnknownOutcomeError
from tidemark.impl.storage.fenced_log import FencedLog
from tidemark.impl.streaming.ack_manager import AckManager
from tidemark.impl.streaming.flusher import Flusher
from tidemark.impl.streaming.recovery_storage import RecoveryStorage
from tidemark.impl.streaming.term import OpenTerm, StreamingParts
from tidemark.impl.streaming.time_tick import TimeTickOperator
from tidemark.impl.streaming.values import Append, Term
from tidemark.impl.timestamp import Timestamp
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.streaming.program import StreamingProgram, streaming

_VARIANTS = "tidemark.models.protocols.streaming.mutants.specification"
_PAIRS = "tidemark.models.protocols.streaming.mutants.pairs"


class _Unlocked(AckManager):
    async def admit(self, append: Append) -> None:
        await self._draw(append)
        await self._preemption.point("ack.enter")
        self._enter(append)


@mutant(
    killer="streaming.ticks_cover_what_is_acknowledged",
    source="facts 11: no lock",
    instance="streaming-impl-one-append",
)
def no_lock_over_draw_and_entry(**scenario: Any) -> StreamingProgram:
    """A tick is collected between the draw of a timestamp and its entry."""
    return streaming(parts=StreamingParts(acks=_Unlocked), protocol=f"{_PAIRS}:Unlocked", **scenario)


class WaitsForNothing(AckManager):
    """A tick carries its own timestamp."""

    def prefix(self) -> Timestamp:
        return self.last


@mutant(
    killer="streaming.ticks_cover_what_is_acknowledged",
    source="property W; facts 11: no prefix",
    instance="streaming-impl-one-append",
)
def tick_waits_for_nothing(**scenario: Any) -> StreamingProgram:
    """A tick carries its own timestamp, whatever is not acknowledged."""
    variant = f"{_VARIANTS}:TickWaitsForNothing"
    return streaming(parts=StreamingParts(acks=WaitsForNothing), protocol=variant, **scenario)


class _GreatestAcknowledged(AckManager):
    def prefix(self) -> Timestamp:
        return max((detail.ts for detail in self.ended if detail.place), default=self.passed)


@mutant(
    killer="streaming.ticks_cover_what_is_acknowledged",
    source="facts 11: not contiguous",
    instance="streaming-impl-overtaken",
)
def tick_is_the_greatest_acknowledged(**scenario: Any) -> StreamingProgram:
    """A tick passes an append that is not acknowledged, because a later one is."""
    variant = f"{_VARIANTS}:TickWaitsForNothing"
    return streaming(parts=StreamingParts(acks=_GreatestAcknowledged), protocol=variant, **scenario)


class _ReachesAMessage(AckManager):
    def prefix(self) -> Timestamp:
        return min(self.waiting, default=super().prefix())


@mutant(
    killer="streaming.ticks_cover_what_is_acknowledged",
    source="facts 11; hazard 12: equality",
    instance="streaming-impl-one-append",
)
def tick_reaches_a_message(**scenario: Any) -> StreamingProgram:
    """A tick is equal to the least timestamp that is not acknowledged."""
    variant = f"{_VARIANTS}:TickReachesAMessage"
    return streaming(parts=StreamingParts(acks=_ReachesAMessage), protocol=variant, **scenario)


class _LastPlace(AckManager):
    def _start(self, prefix: Timestamp) -> int:
        del prefix
        return max((detail.place for detail in self.ended), default=0)


@mutant(
    killer="streaming.a_start_leaves_out_only_what_is_passed",
    source="facts 11: start",
    instance="streaming-impl-overtaken",
)
def start_is_the_last_known_place(**scenario: Any) -> StreamingProgram:
    """Readers of a tick start behind all that is acknowledged, though a later message lies there."""
    variant = f"{_VARIANTS}:StartIsTheEnd"
    return streaming(parts=StreamingParts(acks=_LastPlace), protocol=variant, **scenario)


class _PlaceOfThePrefix(AckManager):
    def _start(self, prefix: Timestamp) -> int:
        return max((detail.place for detail in self.ended if detail.ts <= prefix), default=0)


@mutant(
    killer="streaming.a_start_leaves_out_only_what_is_passed",
    source="facts 11: start",
    instance="streaming-impl-overtaken",
)
def start_is_the_place_of_the_prefix(**scenario: Any) -> StreamingProgram:
    """Readers of a tick start behind the message that it passes, though a later message lies before it."""
    variant = f"{_VARIANTS}:StartIsTheEnd"
    return streaming(parts=StreamingParts(acks=_PlaceOfThePrefix), protocol=variant, **scenario)


class Unfenced(FencedLog):
    """Takes what an earlier term appends."""

    def _check(self, term: Term) -> None:
        if self.broken:
            raise StoreError(f"term {term}: the log has lost track of its end")


@mutant(
    killer="streaming.watermark_promise",
    source="facts 11; hazard 12: no fence",
    instance="streaming-impl-late-append",
)
def no_fence(**scenario: Any) -> StreamingProgram:
    """The log takes what an earlier term appends."""
    return streaming(log=Unfenced, protocol=f"{_PAIRS}:Unfenced", **scenario)


class _CountsAsFailed(OpenTerm):
    def _lose_track(self) -> None:
        """The log stays open."""

    async def append(self, append: Append) -> None:
        try:
            await super().append(append)
        except UnknownOutcomeError:
            self.acks.refuse(append)
            raise


@mutant(
    killer="streaming.watermark_promise",
    source="hazard 12; B54",
    instance="streaming-impl-late-append",
)
def unknown_outcome_counts_as_failed(**scenario: Any) -> StreamingProgram:
    """An append that timed out counts as failed, and the log stays open (B54)."""
    return streaming(term=_CountsAsFailed, protocol=f"{_PAIRS}:CountsAsFailed", **scenario)


class _CutsBehindTheFlusher(RecoveryStorage):
    def _cut(self) -> int:
        return max(self.saved.flusher, self.saved.recovery)


@mutant(
    killer="streaming.recovery_finds_its_start",
    source="B28: truncation",
    instance="streaming-impl-flusher",
)
def cut_behind_one_checkpoint(**scenario: Any) -> StreamingProgram:
    """The log is cut behind the greater checkpoint."""
    variant = f"{_PAIRS}:CutsBehindTheGreater"
    return streaming(parts=StreamingParts(recovery=_CutsBehindTheFlusher), protocol=variant, **scenario)


class StartsAtItsOwn(RecoveryStorage):
    """Recovery starts at the node's own checkpoint."""

    def start(self) -> int:
        return self.saved.recovery


@mutant(
    killer="streaming.no_message_is_lost",
    source="B28",
    instance="streaming-impl-flusher-crash",
    tier="full",
)
def recovery_starts_at_its_own_checkpoint(**scenario: Any) -> StreamingProgram:
    """What the flusher had not stored is not read again (B28)."""
    variant = f"{_PAIRS}:StartsAtRecovery"
    return streaming(parts=StreamingParts(recovery=StartsAtItsOwn), protocol=variant, **scenario)


class _MovesFirst(Flusher):
    async def store_all(self) -> None:
        await self._recovery.move_flusher(self.reading)
        await super().store_all()


@mutant(
    killer="streaming.checkpoints_lie_in_the_log",
    source="B28: checkpoint",
    instance="streaming-impl-flusher",
)
def checkpoint_moves_before_it_is_stored(**scenario: Any) -> StreamingProgram:
    """The flusher's checkpoint follows what was read, stored or not."""
    return streaming(parts=StreamingParts(flusher=_MovesFirst), **scenario)


class _AcknowledgesFirst(OpenTerm):
    async def append(self, append: Append) -> None:
        await self.acks.admit(append)
        self.acks.acknowledge(append, 0)
        append.place = await self._write(append.since, append.message())


@mutant(
    killer="refinement",
    source="facts 11: acknowledged too early",
    instance="streaming-impl-one-append",
)
def acknowledged_before_it_is_durable(**scenario: Any) -> StreamingProgram:
    """An append leaves the list when it is sent."""
    return streaming(term=_AcknowledgesFirst, **scenario)


class _Discouraged(TimeTickOperator):
    async def _tick(self) -> None:
        try:
            tick = await self._acks.collect()
        except RpcError:
            self.held_back = -1
            return
        if tick is not None:
            self.to_write = tick
            await self._write_tick()

    def _is_held_back(self) -> bool:
        return self.held_back < 0 or super()._is_held_back()


@mutant(
    killer="streaming.ticks_pass_a_message",
    source="facts 11; property WL",
    instance="streaming-endless",
)
def a_silent_oracle_ends_the_ticks(**scenario: Any) -> StreamingProgram:
    """After a call of the oracle without an answer all ticks are held back."""
    return streaming(parts=StreamingParts(operator=_Discouraged), **scenario)
