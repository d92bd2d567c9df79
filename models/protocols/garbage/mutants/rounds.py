"""Mutants of a round of the collector, refuted by ``garbage.rounds``."""

from __future__ import annotations

from tidemark.impl.datacoord.garbage import GarbageCollector
from tidemark.impl.types import ChannelName
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.garbage.rounds import FILES, RECORDS, GarbageRounds, rounds

ROUNDS = "garbage-impl-rounds"


class _ForgetsAwaitedOnes(GarbageCollector):
    async def forget(self, channel: ChannelName) -> None:
        record = self._coordinator.channel(channel)
        if record.dropped and not record.collected and not await self._folder.paths(channel):
            await self._coordinator.collect_channel(channel)


@mutant(killer=RECORDS, source="hazard 14", instance=ROUNDS)
def a_flush_that_is_awaited_is_forgotten() -> GarbageRounds:
    """A channel is dropped while a client waits for its flush: the request goes with the records."""
    return rounds(collector=_ForgetsAwaitedOnes)


class _TakesWhatHasNoTerm(GarbageCollector):
    def has_passed(self, path: str, term: int) -> bool:
        return "/term-" not in path or super().has_passed(path, term)


@mutant(killer=FILES, source="hazard 14", instance=ROUNDS)
def a_file_without_a_term_is_garbage() -> GarbageRounds:
    """What a compaction writes carries no term, and is deleted before it is recorded."""
    return rounds(collector=_TakesWhatHasNoTerm)


class _LooksAtTheLiving(GarbageCollector):
    def _named(self, channel: ChannelName) -> list[str]:
        living = {one.segment_id for one in self._coordinator.segments_of(channel) if not one.dropped}
        return [path for path in super()._named(channel) if _segment_of(path) in living]


def _segment_of(path: str) -> int:
    return int(path.partition("/segment-")[2].partition("/")[0])


@mutant(killer=FILES, source="facts 10.4", instance=ROUNDS)
def files_of_dropped_segments_are_garbage() -> GarbageRounds:
    """What is recorded of a segment that was dropped is deleted while its record names it."""
    return rounds(collector=_LooksAtTheLiving)
