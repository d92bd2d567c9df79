"""A further page over the channels of two shards: what each node is asked, and what comes of it.

The real requests and results, the real follower of a query node, and the real read path of the proxy.
Between the first page and the further one, the service times of both shards go on. With a limit the pages are
those of an iterator, each after the last key of the one before.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.impl.errors import ReplicaClosedError
from tidemark.impl.proxy.pages import Page
from tidemark.impl.proxy.reads import ReadAnswer, ReadTask
from tidemark.impl.queries.reads import ChannelReads
from tidemark.impl.querynode.values import ShardAnswer, ShardRead
from tidemark.impl.types import Row
from tidemark.impl.values.consistency import ConsistencyLevel
from tidemark.models.protocols.queries.refused import COLLECTION, ENDS, SHARDS, Node, RefusedProgram
from tidemark.models.protocols.queries.searches import NoEdge
from tidemark.models.simulation.world.process import Process

PAGED = "a_further_page_shows_what_the_first_has_shown"
"""Claim id: a further page asks each shard for the moment of the first page there, and shows of
each the rows and the moment that the first page has shown."""
BY_KEY = "pages_show_every_key_once"
"""Claim id: the pages of an iterator, one after the other, show the rows that were visible at the moments of
the first one, by key: each page so many keys, each with all of its rows, and none of them again."""
ROWS = {
    "a": (Row(4, 1, 9, "early"), Row(8, 1, 4, "at the moment"), Row(9, 1, 5, "since")),
    "b": (
        Row(6, 2, 6, "early"),
        Row(5, 2, 6, "earlier"),
        Row(8, 2, 5, "since, and not above the moment of the other"),
    ),
}
"""The rows by shard: what is above the first moment of the shard has come since."""
FIRST, LATER = {"a": 8, "b": 7}, {"a": 12, "b": 11}
"""Service times by shard, for the first page and for the further ones."""


class _Node(Node):
    """A node with rows and a service time for each shard."""

    async def serve(self, channel: str, read: ShardRead, *, deadline: float | None) -> ShardAnswer:
        """See QueryNode."""
        del deadline
        program = self._program
        assert isinstance(program, PagesProgram)
        if channel not in self.serves:
            raise ReplicaClosedError(f"node {self.node_id} does not serve {channel}")
        if read.guarantee != program.due.get(channel, 0):
            program.wrong = f"{PAGED}: {channel} has to reach {read.guarantee}, not {program.due}"
        moment = program.service[channel] if read.mvcc is None else read.mvcc
        return ShardAnswer(moment, tuple(row for row in ROWS[channel] if row.ts <= moment))


class PagesProgram(RefusedProgram):
    """One collection of two shards, a first page of both, and a further one.

    Args:
        nodes: by node the shards that it serves.
        further: the shards of the further page.
        limit: how many keys a page shows; None: all, and there is one further page.

    service: by shard the service time. due: the guarantees that nodes have to be asked for.
    """

    claims = (ENDS, PAGED, BY_KEY)
    node_class = _Node

    def __init__(self, *, nodes: Sequence[str], further: Sequence[str], limit: int | None) -> None:
        super().__init__(nodes=nodes, leaves=None, comes=None, releases=False, requests=1)
        self.further = tuple(further)
        self.service, self.due = FIRST, dict[str, int]()
        self._number = 0
        self._limit = limit

    async def serving(self) -> PagesProgram:  # type: ignore[override]  # all that a request needs of a proxy
        """See Host."""
        return self

    @property
    def ids(self) -> PagesProgram:
        """See Proxy."""
        return self

    async def take(self, count: int) -> list[tuple[int, int]]:
        """See IdBatches: each page has the next number."""
        return [(self._number, self._number + count - 1)]

    async def _ask(self, process: Process, client: int) -> None:
        del client
        await process.point("client.come")
        reads = ChannelReads(oracle=NoEdge(), clock=NoEdge(), requests=self.reader)
        if self._limit is not None:
            await self._iterate(reads, self._limit)
            return
        first = await self._page(reads, SHARDS, None)
        self.service, self.due = LATER, FIRST
        self._compare(await self._page(reads, self.further, first), self.further)

    async def _iterate(self, reads: ChannelReads, limit: int) -> None:
        """Page after page, as a client does it, until one shows nothing."""
        left = sorted(
            (row.key, row.value) for shard in SHARDS for row in ROWS[shard] if row.ts <= FIRST[shard]
        )
        page, moments = Page(limit), None
        while left or moments is None:
            found = await self._page(reads, SHARDS, page.first)
            moments = moments or found.moments
            self.service, self.due = LATER, FIRST
            keys = sorted(dict(left))[:limit]
            wanted = tuple(row for row in left if row[0] in keys)
            shown = page.cut(sorted((row.key, row.value) for row in found.rows))
            if shown != wanted:
                self.wrong = f"{BY_KEY}: a page after key {page.after} has to show {wanted}, not {shown}"
                return
            left = left[len(wanted) :]
            page = Page(limit, keys[-1], moments)

    async def _page(
        self, reads: ChannelReads, shards: tuple[str, ...], first: ReadAnswer | None
    ) -> ReadAnswer:
        task = ReadTask(ConsistencyLevel.EVENTUALLY, shards, collection=COLLECTION, page_of=first)
        self._number += 1
        found = await reads.execute(task)
        self.outcomes[0] += f" {len(found.rows)}"
        return found

    def _compare(self, found: ReadAnswer, shards: Sequence[str]) -> None:
        rows = {row for shard in shards for row in ROWS[shard] if row.ts <= FIRST[shard]}
        if set(found.rows) != rows or found.moments != {shard: FIRST[shard] for shard in shards}:
            self.wrong = f"{PAGED}: of {shards} the first page has {rows}, and a further one {found}"


def pages(*, nodes: Sequence[str], further: Sequence[str] = SHARDS, limit: int | None = None) -> PagesProgram:
    """Return a program by plain arguments, as the manifest gives them. See ``PagesProgram``."""
    return PagesProgram(nodes=nodes, further=further, limit=limit)
