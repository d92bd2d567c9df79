"""Mutants of proxy and query node, each one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.queries.program:queries``.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tidemark.impl.queries.channels import QueryChannels, RequestWriter
from tidemark.impl.queries.replica import CollectionReplica
from tidemark.impl.queries.requests import ChannelReader, PendingQuery, ResultCollector
from tidemark.impl.queries.streams import QueryStream, QueryStreams, StreamPhase
from tidemark.impl.queries.values import QueryRequest, QueryResult
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.queries.program import QueriesProgram, queries
from tidemark.models.protocols.queries.refused import ENDS, IN_VAIN, RefusedProgram, refused

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


PARTS = "queries-impl-refused-parts"
LEAVES = "queries-impl-refused-leaves"
COMES = "queries-impl-refused-comes"


class _SaysNothing(QueryChannels):
    def unsubscribe(self, collection: str, node: str) -> None:
        reader = self._requests[collection].readers.get(node)
        if reader is not None:
            reader.owed.clear()
        super().unsubscribe(collection, node)


@mutant(killer=ENDS, source="seed 004, 6.0: service discovery", instance=LEAVES)
def a_node_leaves_without_a_word(**scenario: Any) -> RefusedProgram:
    """What a node owes when it leaves is not refused: the request waits for it."""
    return refused(channels=_SaysNothing, **scenario)


class _FirstRefusal(ResultCollector):
    def ask(self, number: int, nodes: Collection[str] | None) -> None:
        super().ask(number, nodes and ())


@mutant(killer=IN_VAIN, source="seed 004, 6.6.1", instance=PARTS)
def the_first_refusal_counts(**scenario: Any) -> RefusedProgram:
    """A request ends with the first refusal: what the other node has is not waited for."""
    return refused(collector=_FirstRefusal, **scenario)


class _AsksAll(QueryChannels):
    async def channels(self, collection: str) -> RequestWriter:
        requests = self._requests[collection]

        class Writer(RequestWriter):
            async def write(self, request: QueryRequest) -> Any:
                await super().write(request)
                return requests.readers.keys()

        return Writer(collection, requests)


@mutant(killer=ENDS, source="seed 004, 6.6.1", instance=COMES)
def who_reads_now_is_waited_for(**scenario: Any) -> RefusedProgram:
    """A request waits for every node that reads when a refusal comes, and for one that came after it."""
    return refused(channels=_AsksAll, **scenario)
