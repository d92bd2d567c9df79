"""A search over the channels of two shards: each node cuts what it has, and the proxy cuts what has come.

The real requests and results, and the real read path of the proxy. A node has the rows of its shards, and
answers as a delegator does; ``tests/impl/querynode`` and the programs of ``segments`` judge delegators.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from tidemark.impl.errors import ImplementationError, ReplicaClosedError
from tidemark.impl.proxy.reads import ReadAnswer, ReadTask
from tidemark.impl.queries.reads import ChannelReads
from tidemark.impl.querynode.values import ShardAnswer, ShardRead
from tidemark.impl.types import Row
from tidemark.impl.values.consistency import ConsistencyLevel
from tidemark.impl.values.nearest import Nearest
from tidemark.models.protocols.queries.refused import (
    COLLECTION,
    ENDS,
    IN_VAIN,
    SHARDS,
    Node,
    RefusedProgram,
)
from tidemark.models.simulation.world.process import Process

SEARCHED = "a_search_brings_the_nearest_rows"
"""Claim id: the answer of a search are the nearest of all visible rows of all shards, each key once, nearest
first; it shows the moment of each shard; and a search for no row is refused."""
ROWS = {
    "a": (Row(8, 2, 4, "new"), Row(4, 1, 9, "far"), Row(3, 1, 4, "old"), Row(5, 1, 1, "low")),
    "b": (Row(6, 3, 6, "tie"), Row(2, 3, 5, "here"), Row(7, 3, 11, "farther")),
}
"""The visible rows by shard. A key is there twice."""
MOMENTS = {"a": 8, "b": 7}


def nearest_of(rows: Iterable[Row], place: int, limit: int) -> tuple[Row, ...]:
    """What a search finds of visible rows: one after the other, each time the nearest key that is left."""
    left: dict[int, Row] = {}
    for row in rows:
        if row.key not in left or left[row.key].ts < row.ts:
            left[row.key] = row
    found: list[Row] = []
    while left and len(found) < limit:
        found.append(left.pop(min(left, key=lambda key: (max(key, place) - min(key, place), key))))
    return tuple(found)


class _Node(Node):
    """A node with rows."""

    async def serve(self, channel: str, read: ShardRead, *, deadline: float | None) -> ShardAnswer:
        """See QueryNode."""
        del deadline
        if channel not in self.serves:
            raise ReplicaClosedError(f"node {self.node_id} does not serve {channel}")
        if read.nearest is None:
            self._program.wrong = f"{SEARCHED}: node {self.node_id} is asked for all rows"
            return ShardAnswer(MOMENTS[channel], ROWS[channel])
        return ShardAnswer(MOMENTS[channel], read.nearest.cut(ROWS[channel]))


class NoEdge:
    """Oracle and clock of reads that ask neither."""

    async def alloc(self, count: int) -> int:
        """See Oracle."""
        raise NotImplementedError(f"{count} timestamps")

    def now(self) -> int:
        """See ReadClock."""
        raise NotImplementedError


class SearchProgram(RefusedProgram):
    """One collection of two shards.

    Args:
        nodes: by node the shards that it serves.
        searches: one after the other the place and the number of rows.
    """

    claims = (ENDS, IN_VAIN, SEARCHED)
    node_class = _Node

    def __init__(self, *, nodes: Sequence[str], searches: Sequence[tuple[int, int]]) -> None:
        super().__init__(nodes=nodes, leaves=None, comes=None, releases=False, requests=1)
        self.searches = searches

    async def _ask(self, process: Process, client: int) -> None:
        del client
        await process.point("client.come")
        self._ask_for_nothing()
        reads = ChannelReads(oracle=NoEdge(), clock=NoEdge(), requests=self.reader)
        for number, (place, limit) in enumerate(self.searches, start=1):
            nearest = Nearest(place, limit)
            task = ReadTask(ConsistencyLevel.EVENTUALLY, SHARDS, collection=COLLECTION, nearest=nearest)
            try:
                answer = await reads.execute(task)
            except ImplementationError as error:
                self.outcomes[0] += " refused"
                self._look_at_refusal(number, str(error))
            else:
                self.outcomes[0] += f" {'-'.join(row.value for row in answer.rows)}"
                self._compare(answer, place, limit)

    def _ask_for_nothing(self) -> None:
        Nearest(5, 1)
        for limit in (0, -1):
            with suppress(ValueError):
                Nearest(5, limit)
                self.wrong = f"{SEARCHED}: a search for {limit} rows is not refused"

    def _compare(self, answer: ReadAnswer, place: int, limit: int) -> None:
        wanted = nearest_of([row for rows in ROWS.values() for row in rows], place, limit)
        if answer.rows != wanted or answer.moments != MOMENTS:
            self.wrong = f"{SEARCHED}: near {place} are {wanted}, and the answer is {answer}"


def search(*, nodes: Sequence[str], searches: Sequence[Sequence[int]]) -> SearchProgram:
    """Return a program by plain arguments, as the manifest gives them. See ``SearchProgram``."""
    pairs = [(place, limit) for place, limit in searches]
    return SearchProgram(nodes=nodes, searches=pairs)
