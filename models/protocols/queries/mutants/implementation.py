"""Mutants of proxy and query node, each one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.queries.program:queries``.
"""

from __future__ import annotations

from typing import Any

from tidemark.impl.queries.replica import CollectionReplica
from tidemark.impl.queries.requests import ChannelReader, PendingQuery, ResultCollector
from tidemark.impl.queries.streams import QueryStream, QueryStreams, StreamPhase
from tidemark.impl.queries.values import QueryRequest, QueryResult
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.queries.program import QueriesProgram, queries

DEADLINE = "queries-impl-deadline"
RELEASE = "queries-impl-release"
LOAD = "queries-impl-load"


class _KeepsAll(ResultCollector):
    def leave(self, number: int) -> None:
        """Nothing."""


@mutant(killer="queries.nothing_is_kept_of_what_is_over", source="seed 004, 6.6.1", instance=DEADLINE)
def a_request_that_is_late_stays_in_the_map(**scenario: Any) -> QueriesProgram:
    """A request that has run out of time is not taken out of the map."""
    return queries(collector=_KeepsAll, **scenario)


class _TakesAny(ResultCollector):
    def take(self, result: QueryResult) -> None:
        for number in list(self.pending):
            super().take(QueryResult(number, result.shards))


@mutant(killer="queries.results_reach_their_own_request", source="seed 004, 6.6.1", instance=DEADLINE)
def numbers_are_not_compared(**scenario: Any) -> QueriesProgram:
    """A result is handed to every request that waits."""
    return queries(collector=_TakesAny, **scenario)


class _EntersLate(ChannelReader):
    async def _write(self, request: QueryRequest, query: PendingQuery) -> None:
        stream = await self.streams.hold(request.collection, request.number)
        try:
            assert stream.writer is not None
            await stream.writer.write(request)
            await self._preemption.point("queries.written")
            self.collector.enter(request.number, query)
        finally:
            stream.let_go(request.number)


@mutant(killer="queries.no_result_comes_too_early", source="seed 004, 6.6.1", instance=DEADLINE)
def entered_after_the_write(**scenario: Any) -> QueriesProgram:
    """A request is entered in the map when its write returns."""
    return queries(reader=_EntersLate, **scenario)


class _ClosesAtOnce(QueryStreams):
    def remove(self, collection: str) -> None:
        stream = self.streams.get(collection)
        if stream is not None:
            stream.writers.clear()
        super().remove(collection)


@mutant(killer="refinement", source="seed 004, 6.6.2", instance=RELEASE)
def writers_are_forgotten(**scenario: Any) -> QueriesProgram:
    """A removed stream forgets who writes to it."""
    return queries(streams=_ClosesAtOnce, **scenario)


class _OpensAnyway(QueryStreams):
    def remove(self, collection: str) -> None:
        stream = self.streams.get(collection)
        if stream is not None and stream.phase is StreamPhase.OPEN:
            super().remove(collection)


@mutant(killer="queries.nothing_is_held_after_a_release", source="seed 004, 6.4", instance=RELEASE)
def a_stream_is_opened_after_the_release(**scenario: Any) -> QueriesProgram:
    """A release leaves alone what is not open yet."""
    return queries(streams=_OpensAnyway, **scenario)


class _LeavesRequests(ChannelReader):
    def release(self, collection: str) -> None:
        self.streams.remove(collection)


@mutant(killer="refinement", source="seed 004, 6.4", instance=RELEASE)
def a_release_tells_requests_nothing(**scenario: Any) -> QueriesProgram:
    """Requests that wait are left to their deadlines."""
    return queries(reader=_LeavesRequests, **scenario)


class _CountsNobody(QueryStreams):
    def count(self, stream: QueryStream, number: int) -> None:
        """Nothing."""


@mutant(killer="refinement", source="seed 004, 6.6.2", instance=RELEASE, tier="full")
def writers_are_not_counted(**scenario: Any) -> QueriesProgram:
    """A request that has the stream is not counted."""
    return queries(streams=_CountsNobody, **scenario)


class _FetchesOn(CollectionReplica):
    def stop_loads(self) -> None:
        """Nothing."""


@mutant(killer="refinement", source="seed 004, 6.4", instance=LOAD)
def fetches_go_on_after_a_release(**scenario: Any) -> QueriesProgram:
    """A node that is told of a release drops its rows, and goes on to load."""
    return queries(replica=_FetchesOn, **scenario)
