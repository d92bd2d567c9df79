"""Mutants of both sides of ids, each as an override of one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.ids.program:ids``.
"""

from __future__ import annotations

from typing import Any

from tidemark.impl.errors import RpcError
from tidemark.impl.proxy.ids import IdCache, IdRequest
from tidemark.impl.rootcoord.ids import BatchSource, IdAllocator
from tidemark.impl.timestamp import Batch
from tidemark.impl.tso.oracle import TimestampOracle
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.ids.program import Asker, IdsParts, IdsProgram, ids

CRASHES = "ids-impl-crashes"
SILENCE = "ids-impl-silence"
DOUBLED = "ids-impl-doubled"
UNIQUE = "ids.ids_are_unique"


class _OneTooMany(IdCache):
    def _cut(self, request: IdRequest) -> None:
        assert self.left is not None
        first, last = self.left
        run = Batch(first, min(last + 1, first + request.missing - 1))
        self.left = Batch(run.last + 1, last) if run.last < last else None
        request.runs.append(run)


@mutant(killer="refinement", source="seed 004, 6.0", instance=CRASHES)
def the_end_is_taken_for_the_last(**scenario: Any) -> IdsProgram:
    """The end of a batch is taken for its last id."""
    return ids(parts=IdsParts(cache=_OneTooMany), **scenario)


class Overlaps(IdCache):
    """Gives the last id of a run again."""

    def _cut(self, request: IdRequest) -> None:
        super()._cut(request)
        if self.left is not None:
            self.left = Batch(request.runs[-1].last, self.left.last)


@mutant(killer="ids.an_id_is_of_a_batch", source="seed 004, 6.0", instance=CRASHES)
def a_run_begins_where_another_ended(**scenario: Any) -> IdsProgram:
    """The last id of a run is the first of the next one."""
    return ids(parts=IdsParts(cache=Overlaps), **scenario)


class _GivesBack(IdCache):
    async def fill(self, request: IdRequest) -> None:
        try:
            await super().fill(request)
        except RpcError:
            self.left = request.runs[0] if request.runs else None
            raise


@mutant(killer="refinement", source="seed 004, 6.0", instance=CRASHES)
def a_failed_request_gives_back(**scenario: Any) -> IdsProgram:
    """A request that fails puts back what it was given, after others were served."""
    return ids(parts=IdsParts(cache=_GivesBack), **scenario)


class _TakesTheQuestion(IdCache):
    async def _fetch(self, count: int) -> None:
        self.left = Batch(1 << 18, (1 << 18) + count - 1)
        await super()._fetch(count)


@mutant(killer="refinement", source="seed 004, 6.0", instance=SILENCE)
def ids_are_made_up(**scenario: Any) -> IdsProgram:
    """A proxy gives ids of its own until the coordinator has answered."""
    return ids(parts=IdsParts(cache=_TakesTheQuestion), **scenario)


class _Deaf(IdCache):
    async def _fetch(self, count: int) -> None:
        await self._preemption.point("ids.ask")
        try:
            self.left = await self._source.allocate(count, deadline=self._deadline)
        except RpcError:
            return
        self.asking = False
        self._answered.set()


@mutant(killer="refinement", source="seed 004, 6.0", instance=SILENCE)
def who_waits_is_not_told(**scenario: Any) -> IdsProgram:
    """A failed question is not asked again, and whoever waits for it is not told."""
    return ids(parts=IdsParts(cache=_Deaf), **scenario)


class BeginsAnew(TimestampOracle):
    """Takes no notice of the window."""

    async def _load(self) -> int:
        await super()._load()
        return 0


@mutant(killer="ids.batches_are_apart", source="B1", instance=CRASHES)
def the_window_is_not_loaded(**scenario: Any) -> IdsProgram:
    """A coordinator that restarts begins anew."""
    return ids(parts=IdsParts(oracle=BeginsAnew), **scenario)


class _SavesLater(TimestampOracle):
    async def _save_window(self, physical: int) -> None:
        del physical


@mutant(killer="ids.batches_are_apart", source="seed 004, 6.0", instance=CRASHES)
def the_window_is_not_saved(**scenario: Any) -> IdsProgram:
    """The end of the window is not in the store when the first ids are given."""
    return ids(parts=IdsParts(oracle=_SavesLater), **scenario)


class _BeginsAtTheEnd(TimestampOracle):
    def _first(self, now: int, base: int) -> int:
        return max(now, base)


@mutant(killer="refinement", source="facts 2.1", instance=CRASHES)
def the_next_ids_begin_at_the_saved_end(**scenario: Any) -> IdsProgram:
    """A coordinator that restarts begins at the end that was saved, not above it: its ids are those of no
    incarnation.
    """
    return ids(parts=IdsParts(oracle=_BeginsAtTheEnd), **scenario)


class _KeepsTheBatch(IdsProgram):
    def begin(self, asker: Asker, cache: IdCache) -> None:
        answers = [question.answer for question in asker.questions if question.answer is not None]
        super().begin(asker, cache)
        if answers:
            cache.left = answers[-1]


@mutant(killer=UNIQUE, source="seed 004, 6.0", instance=CRASHES)
def a_restart_keeps_the_batch(**scenario: Any) -> IdsProgram:
    """A proxy that restarts goes on with the batch that it had kept, from its first id."""
    return ids(program=_KeepsTheBatch, **scenario)


class _KnowsTheQuestion(IdAllocator):
    def __init__(self, *, oracle: BatchSource, most: int) -> None:
        super().__init__(oracle=oracle, most=most)
        self._last: dict[int, Batch] = {}

    async def allocate(self, count: int) -> Batch:
        if count in self._last:
            return self._last.pop(count)
        batch = self._last[count] = await super().allocate(count)
        return batch


@mutant(killer="refinement", source="seed 004, 6.0", instance=DOUBLED)
def a_question_like_the_last_is_its_copy(**scenario: Any) -> IdsProgram:
    """A question for as many ids as the one before is taken for a copy of it, and answered with its batch."""
    return ids(parts=IdsParts(allocator=_KnowsTheQuestion), **scenario)
