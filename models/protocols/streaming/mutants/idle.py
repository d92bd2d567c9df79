"""Mutants of the ticks of an idle channel."""

from __future__ import annotations

from tidemark.impl.streaming.time_tick import TimeTickOperator
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.streaming.idle import IdleProgram, idle


class _OneRoundMore(TimeTickOperator):
    def _is_held_back(self) -> bool:
        if not self._acks.is_quiet or self.held_back > self._config.idle_rounds:
            return False
        self.held_back += 1
        return True


@mutant(
    killer="a_tick_of_an_idle_channel_comes_in_time",
    source="facts 11: idle ticks, off by one",
    instance="streaming-impl-idle",
)
def holds_back_one_round_more() -> IdleProgram:
    """Ticks of an idle channel are held back for one round more."""
    return idle(_OneRoundMore)


class _HoldsNothingBack(TimeTickOperator):
    def _is_held_back(self) -> bool:
        return False


@mutant(
    killer="the_longest_wait_is_reached",
    source="facts 11: idle ticks",
    instance="streaming-impl-idle",
)
def holds_nothing_back() -> IdleProgram:
    """Each round writes a tick, though nothing was appended."""
    return idle(_HoldsNothingBack)


class _HoldsAllBack(TimeTickOperator):
    def _is_held_back(self) -> bool:
        self.held_back += 1
        return self.held_back % (self._config.idle_rounds + 1) > 0


@mutant(
    killer="a_tick_passes_an_append_in_time",
    source="facts 11: idle ticks, busy channel",
    instance="streaming-impl-idle",
)
def holds_back_though_something_was_appended() -> IdleProgram:
    """Ticks are held back whether the channel is idle or not."""
    return idle(_HoldsAllBack)
