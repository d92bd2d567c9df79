"""Mutants of a consumer that is asked in attempts: what only endless runs show, and what a time-out loses.

The functions return the program of ``tidemark.models.protocols.stream.endless:endless`` with the fault in it.
"""

from __future__ import annotations

from typing import Any

from tidemark.impl.stream.aligned import AlignedConsumer
from tidemark.impl.stream.minimum import MinimumConsumer, MinimumReader
from tidemark.impl.timestamp import Timestamp
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.stream.endless import AttemptsProgram, endless

_ENDLESS = "stream-endless"
_EQUAL = "tidemark.models.protocols.stream.mutants.minimum:WaitsForEqualTicks"


@mutant(killer="stream.packs_follow_ticks", source="H32: who waits", instance=_ENDLESS)
def attempts_wait_for_equal_ticks(**scenario: Any) -> AttemptsProgram:
    """A pack waits until all channels are at the same tick, as in Milvus: each attempt fails."""
    return endless(consumer=AlignedConsumer, protocol=_EQUAL, **scenario)


@mutant(killer="stream.packs_follow_ticks", source="facts 5.1: an attempt ends", instance=_ENDLESS)
def the_caller_gives_up(**scenario: Any) -> AttemptsProgram:
    """After an attempt that has brought no pack the caller asks no more."""
    return endless(asks_again=False, **scenario)


class _CountsFirst(MinimumReader):
    async def read_one(self) -> Timestamp | None:
        self.read += 1
        self._ahead.extend(await self._log.read(self.channel, self.read))
        self.read -= 1
        return await super().read_one()


class _CountsBeforeItReads(MinimumConsumer):
    reader_class = _CountsFirst


@mutant(killer="stream.what_was_read_is_kept", source="facts 5.1: an attempt ends", instance=_ENDLESS)
def a_time_out_skips_a_place(**scenario: Any) -> AttemptsProgram:
    """A place counts as read while the reader waits for it: an attempt that ends then leaves it out."""
    return endless(consumer=_CountsBeforeItReads, **scenario)
