"""Mutants of the read path of a cluster, each as an override of one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.parts.program:parts``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tidemark.impl.errors import RpcError
from tidemark.impl.proxy.reads import ReadAnswer, ReadTask
from tidemark.impl.queries.reads import AskedRead, ChannelReads, NodeFollower
from tidemark.impl.queries.requests import PendingQuery, ResultCollector
from tidemark.impl.queries.values import QueryResult
from tidemark.impl.querynode.values import ShardAnswer, ShardRead
from tidemark.impl.timestamp import ZERO
from tidemark.impl.types import ChannelName
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.parts.program import PartsProgram, parts

READ, PAGE = "parts-impl-read", "parts-impl-page-of-one"
_VARIANTS = "tidemark.models.protocols.parts.mutants.specification"


class _AtTheServiceTime(NodeFollower):
    async def _serve(self, asked: AskedRead, channel: ChannelName) -> ShardAnswer | RpcError:
        guarantee = max(asked.guarantee, *asked.moments.values(), 0)
        return await super()._serve(replace(asked, guarantee=guarantee, moments={}), channel)


@mutant(killer="parts.pages_show_what_the_first_has_shown", source="B40", instance=PAGE)
def a_node_forgets_the_moment(**scenario: Any) -> PartsProgram:
    """A node lets a further page wait for the moment of the first, and answers at the service time."""
    return parts(follower=_AtTheServiceTime, protocol=f"{_VARIANTS}:PagesNameNoMoment", **scenario)


class _OneWaits(NodeFollower):
    async def _serve(self, asked: AskedRead, channel: ChannelName) -> ShardAnswer | RpcError:
        if channel == asked.channels[0]:
            return await super()._serve(asked, channel)
        await self._node.serve(asked.channels[0], ShardRead(asked.guarantee))
        return await super()._serve(replace(asked, guarantee=0), channel)


@mutant(killer="parts.every_channel_reaches_the_guarantee", source="facts 6.1", instance=READ)
def one_channel_reaches_the_guarantee(**scenario: Any) -> PartsProgram:
    """A node waits for the guarantee on the first channel; the others are answered as they are."""
    return parts(follower=_OneWaits, protocol=f"{_VARIANTS}:OneChannelReachesTheGuarantee", **scenario)


class _RowsOfOneChannel(ChannelReads):
    def _reduce(self, task: ReadTask, answers: Mapping[ChannelName, ShardAnswer]) -> ReadAnswer:
        found = super()._reduce(task, answers)
        return replace(found, rows=answers[task.channels[-1]].rows)


@mutant(killer="parts.every_channel_is_exact", source="facts 6.1", instance=READ)
def the_rows_of_one_channel_are_shown(**scenario: Any) -> PartsProgram:
    """Of the answers of all channels the rows of the last one are kept."""
    return parts(path=_RowsOfOneChannel, **scenario)


class _RowsOfThePage(ChannelReads):
    def _reduce(self, task: ReadTask, answers: Mapping[ChannelName, ShardAnswer]) -> ReadAnswer:
        found = super()._reduce(task, answers)
        return replace(found, moments=dict.fromkeys(found.moments, found.moment + 1))


@mutant(killer="parts.moments_were_issued", source="facts 6.2; B40", instance=READ)
def an_answer_has_a_later_moment(**scenario: Any) -> PartsProgram:
    """The proxy notes a moment above the one that the channels have answered at."""
    return parts(path=_RowsOfThePage, **scenario)


class _TellsNothing(ResultCollector):
    def _end_if_told(self, number: int, query: PendingQuery) -> None:
        if query.complete or query.refused:
            del self.pending[number]


@mutant(killer="work_is_done", source="facts 6.1", instance=READ)
def who_waits_is_not_told(**scenario: Any) -> PartsProgram:
    """All channels have answered, and the request that waits is not told."""
    return parts(collector=_TellsNothing, **scenario)


class _OneChannelIsEnough(ResultCollector):
    def take(self, result: QueryResult) -> None:
        query = self.pending.get(result.number)
        if query is not None and result.shards:
            missing = {shard: ShardAnswer(ZERO, ()) for shard in query.shards if shard not in result.shards}
            result = replace(result, shards={**missing, **result.shards})
        super().take(result)


@mutant(
    killer="parts.every_channel_reaches_the_guarantee",
    source="seed 004, 6.2",
    instance="parts-impl-two-nodes",
)
def the_first_channel_is_enough(**scenario: Any) -> PartsProgram:
    """The first answer ends the read although that of another channel is due, which is taken for empty."""
    return parts(collector=_OneChannelIsEnough, **scenario)
