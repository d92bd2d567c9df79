"""Mutants of the read path of a proxy, each as an override of one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.reads.path:path``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tidemark.impl.errors import RpcError
from tidemark.impl.proxy.reads import ReadAnswer, Reader, ReadTask
from tidemark.impl.querynode.values import ShardAnswer
from tidemark.impl.types import ChannelName
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.reads.path import PathProgram, path

ALONE = "reads-impl-path"


class _AsksAgain(Reader):
    async def _ask(self, task: ReadTask, channel: ChannelName) -> ShardAnswer:
        try:
            return await super()._ask(task, channel)
        except RpcError:
            task.guarantee = 0
            return await super()._ask(task, channel)


@mutant(killer="a_replica_is_asked_when_the_one_before_it_has_refused", source="facts 6.2", instance=ALONE)
def a_second_round_has_no_guarantee(**scenario: Any) -> PathProgram:
    """When every replica of a channel has refused, all are asked again without the guarantee."""
    return path(reader_class=_AsksAgain, **scenario)


class _GreatestMoment(Reader):
    async def execute(self, task: ReadTask) -> ReadAnswer:
        if task.page_of is not None:
            shown = dict.fromkeys(task.page_of.moments, task.page_of.moment)
            task.page_of = replace(task.page_of, moments=shown)
        return await super().execute(task)


@mutant(killer="a_replica_is_asked_when_the_one_before_it_has_refused", source="B40", instance=ALONE)
def a_further_page_shows_the_greatest_moment(**scenario: Any) -> PathProgram:
    """A further page shows on every channel what the first one has shown on that with the latest answer."""
    return path(reader_class=_GreatestMoment, **scenario)


class _NeedsLess(Reader):
    async def _ask(self, task: ReadTask, channel: ChannelName) -> ShardAnswer:
        (replica, *_) = self._replicas.of(channel)
        if task.page_of is None:
            return await super()._ask(task, channel)
        return await replica.query(
            channel,
            guarantee=min(task.moments.values()),
            mvcc=task.moments[channel],
            keys=task.keys,
            deadline=self._config.deadline,
        )


@mutant(killer="a_replica_is_asked_when_the_one_before_it_has_refused", source="B40", instance=ALONE)
def a_further_page_needs_less_than_the_first(**scenario: Any) -> PathProgram:
    """A further page has the least moment of the first one's channels as its guarantee."""
    return path(reader_class=_NeedsLess, **scenario)


class _WhatThereIs(Reader):
    async def _answers(self, task: ReadTask) -> Mapping[ChannelName, ShardAnswer]:
        found = {}
        for channel in task.channels:
            try:
                found[channel] = await self._ask(task, channel)
            except RpcError:
                continue
        return found


@mutant(killer="an_answer_is_of_all_channels", source="facts 6.2", instance=ALONE)
def a_channel_that_fails_is_left_out(**scenario: Any) -> PathProgram:
    """An answer lacks the rows of a channel that nobody serves."""
    return path(reader_class=_WhatThereIs, **scenario)


class _CutsByChannel(Reader):
    def _reduce(self, task: ReadTask, answers: Mapping[ChannelName, ShardAnswer]) -> ReadAnswer:
        found = super()._reduce(task, answers)
        if task.nearest is None:
            return found
        rows = [row for answer in answers.values() for row in task.nearest.cut(answer.rows)]
        return ReadAnswer(tuple(rows)[: task.nearest.limit], found.moments)


@mutant(killer="an_answer_is_of_all_channels", source="facts 6.2", instance=ALONE)
def the_channels_of_a_search_are_joined_end_to_end(**scenario: Any) -> PathProgram:
    """The rows of the first channel come before nearer ones of the second."""
    return path(reader_class=_CutsByChannel, **scenario)


class _ByKey(Reader):
    def _reduce(self, task: ReadTask, answers: Mapping[ChannelName, ShardAnswer]) -> ReadAnswer:
        answer = super()._reduce(task, answers)
        return replace(answer, rows=tuple({row.key: row for row in answer.rows}.values()))


@mutant(killer="an_answer_is_of_all_channels", source="facts 6.2: reduce", instance=ALONE)
def rows_are_told_apart_by_their_keys(**scenario: Any) -> PathProgram:
    """Of two rows of one key the later one is answered alone."""
    return path(reader_class=_ByKey, **scenario)


class _AsText(Reader):
    def _reduce(self, task: ReadTask, answers: Mapping[ChannelName, ShardAnswer]) -> ReadAnswer:
        answer = super()._reduce(task, answers)
        if task.nearest is not None:
            return answer
        return replace(answer, rows=tuple(sorted(answer.rows, key=lambda row: (row.ts, str(row.key)))))


@mutant(killer="an_answer_is_of_all_channels", source="facts 6.2: reduce", instance=ALONE)
def keys_are_ordered_as_text(**scenario: Any) -> PathProgram:
    """Rows of one timestamp are in the order of their keys as text."""
    return path(reader_class=_AsText, **scenario)
