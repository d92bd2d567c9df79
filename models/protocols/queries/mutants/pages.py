"""Mutants of further pages over channels, between proxy and query node.

The functions return the program of ``tidemark.models.protocols.queries.pages`` with the fault in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tidemark.impl.errors import RpcError
from tidemark.impl.proxy.reads import ReadAnswer, ReadTask
from tidemark.impl.queries.pages import Page
from tidemark.impl.queries.reads import AskedRead, ChannelReads, NodeFollower
from tidemark.impl.querynode.values import ShardAnswer
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.queries.pages import BY_KEY, PAGED, PagesProgram, pages

ALONE, ITERATOR = "queries-impl-pages", "queries-impl-pages-by-key"


class _GreatestMoment(ChannelReads):
    async def execute(self, task: ReadTask) -> ReadAnswer:
        if task.page_of is not None:
            shown = dict.fromkeys(task.page_of.moments, task.page_of.moment)
            task.page_of = replace(task.page_of, moments=shown)
        return await super().execute(task)


@mutant(killer=PAGED, source="B40", instance=ALONE)
def a_further_page_shows_the_greatest_moment(**scenario: Any) -> PagesProgram:
    """A further page names on every shard the greatest moment of the first one."""
    return pages(reads=_GreatestMoment, **scenario)


class _AtTheServiceTime(NodeFollower):
    async def _serve(self, asked: AskedRead, channel: str) -> ShardAnswer | RpcError:
        reached = asked.moments.get(channel, asked.guarantee)
        return await super()._serve(replace(asked, guarantee=reached, moments={}), channel)


@mutant(killer=PAGED, source="B40", instance=ALONE)
def a_node_forgets_the_moment(**scenario: Any) -> PagesProgram:
    """A query node lets a further page wait for its moment, and answers at its service time."""
    return pages(follower=_AtTheServiceTime, **scenario)


class _WaitsForTheGreatest(NodeFollower):
    async def _serve(self, asked: AskedRead, channel: str) -> ShardAnswer | RpcError:
        moments = dict(asked.moments)
        if moments:
            moments[channel] = max(moments.values())
        return await super()._serve(replace(asked, moments=moments), channel)


@mutant(killer=PAGED, source="B40", instance=ALONE)
def a_node_takes_the_greatest_moment(**scenario: Any) -> PagesProgram:
    """A query node takes the greatest of the moments that a request names for that of each of its shards."""
    return pages(follower=_WaitsForTheGreatest, **scenario)


class _FromTheLastKey(Page):
    def cut(self, rows: Sequence[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
        rest = [row for row in rows if self.after is None or row[0] >= self.after]
        keys = sorted(dict(rest))[: self.limit]
        return tuple(row for row in rest if row[0] in keys)


@mutant(killer=BY_KEY, source="facts 6.2: iterators", instance=ITERATOR)
def a_page_repeats_the_last_key(**scenario: Any) -> PagesProgram:
    """A further page begins at the last key of the page before, which is shown again."""
    return pages(page=_FromTheLastKey, **scenario)


class _CountsRows(Page):
    def cut(self, rows: Sequence[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
        return super().cut(rows)[: self.limit]


@mutant(killer=BY_KEY, source="facts 6.2: iterators", instance=ITERATOR)
def a_page_ends_within_a_key(**scenario: Any) -> PagesProgram:
    """The limit of a page counts rows: the other rows of its last key are on no page."""
    return pages(page=_CountsRows, **scenario)
