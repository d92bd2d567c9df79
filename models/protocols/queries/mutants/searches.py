"""Mutants of a search at the proxy: how the answers of shards become one.

The functions return the program of ``tidemark.models.protocols.queries.searches`` with the fault in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tidemark.impl.proxy.reads import ReadAnswer, ReadTask
from tidemark.impl.queries.reads import ChannelReads
from tidemark.impl.querynode.values import ShardAnswer
from tidemark.impl.types import ChannelName
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.queries.searches import SEARCHED, SearchProgram, search

ONE, ALL = "queries-impl-search", "queries-impl-search-all"


class _HandsOnAll(ChannelReads):
    def _reduce(self, task: ReadTask, answers: Mapping[ChannelName, ShardAnswer]) -> ReadAnswer:
        found = super()._reduce(task, answers)
        return replace(found, rows=tuple(row for answer in answers.values() for row in answer.rows))


@mutant(killer=SEARCHED, source="seed 004, 6.6.1: results of searches", instance=ONE)
def the_answers_of_shards_are_not_cut(**scenario: Any) -> SearchProgram:
    """What the shards have found is handed on one after the other."""
    return search(reads=_HandsOnAll, **scenario)


class _FirstShard(ChannelReads):
    def _reduce(self, task: ReadTask, answers: Mapping[ChannelName, ShardAnswer]) -> ReadAnswer:
        return super()._reduce(task, dict(list(answers.items())[:1]))


@mutant(killer=SEARCHED, source="seed 004, 6.6.1: results of searches", instance=ALL)
def the_first_shard_is_enough(**scenario: Any) -> SearchProgram:
    """Only what the first shard has found counts."""
    return search(reads=_FirstShard, **scenario)


class _ByTime(ChannelReads):
    def _reduce(self, task: ReadTask, answers: Mapping[ChannelName, ShardAnswer]) -> ReadAnswer:
        found = super()._reduce(replace(task, nearest=None), answers)
        assert task.nearest is not None
        return replace(found, rows=found.rows[: task.nearest.limit])


@mutant(killer=SEARCHED, source="seed 004, 6.6.1: results of searches", instance=ONE)
def the_earliest_rows_are_kept(**scenario: Any) -> SearchProgram:
    """The rows are put in the order of time, as those of a query, and then cut."""
    return search(reads=_ByTime, **scenario)
