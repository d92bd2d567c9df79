"""Mutants of the proxy's side of ids, each as an override of one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.ids.cache:cache``.
"""

from __future__ import annotations

import asyncio
from typing import Any

from tidemark.impl.proxy.ids import IdCache, IdRequest
from tidemark.impl.timestamp import Batch
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.ids.cache import CacheProgram, cache

ALONE = "ids-impl-cache"


class _TellsTheFirst(IdCache):
    def _fail(self, why: str) -> None:
        for request in self.waiting[:1]:
            request.failure = why


@mutant(killer="requests_get_the_next_ids_in_their_order", source="seed 004: 6.2", instance=ALONE)
def a_failure_is_told_to_the_first_alone(**scenario: Any) -> CacheProgram:
    """Who waits behind it waits for a time-out of its own."""
    return cache(cache_class=_TellsTheFirst, **scenario)


class _AsksForABatch(IdCache):
    def _ask(self, count: int) -> None:
        super()._ask(min(count, self._batch))


@mutant(killer="a_batch_is_asked_for_when_none_is_left", source="seed 004: 6.2", instance=ALONE)
def a_large_request_is_asked_for_in_pieces(**scenario: Any) -> CacheProgram:
    """A request for more than a batch asks for one batch after the other."""
    return cache(cache_class=_AsksForABatch, **scenario)


class _StaysInTheQueue(IdCache):
    async def fill(self, request: IdRequest) -> None:
        self.waiting.append(request)
        async with self.turn.holding("ids.turn"):
            while request.missing:
                await self._wait(request)
                self._cut(request)
        self.waiting.remove(request)


@mutant(killer="nothing_waits_and_nothing_is_lost_at_rest", source="seed 004: 6.2", instance=ALONE)
def who_fails_or_leaves_stays_in_the_queue(**scenario: Any) -> CacheProgram:
    """A request that has failed, or whose caller has left, is kept."""
    return cache(cache_class=_StaysInTheQueue, **scenario)


class _TakesBack(IdCache):
    async def fill(self, request: IdRequest) -> None:
        try:
            await super().fill(request)
        except asyncio.CancelledError:
            if request.runs and self.left is not None:
                self.left = Batch(request.runs[-1].first, self.left.last)
            raise


@mutant(killer="requests_get_the_next_ids_in_their_order", source="seed 004: 6.2", instance=ALONE)
def ids_of_who_leaves_are_taken_back(**scenario: Any) -> CacheProgram:
    """Batches count as next to each other: what lies between them is given, too."""
    return cache(cache_class=_TakesBack, **scenario)
