"""Mutants of a proxy that asks one query node after the other, each as an override of one method.

What the first one does wrong is a variant of the specification, with which it is compared.
"""

from __future__ import annotations

from typing import Any

from tidemark.impl.errors import NotServableError, RpcError
from tidemark.impl.proxy.reads import Reader, ReadTask
from tidemark.impl.querynode.values import ShardAnswer
from tidemark.impl.timestamp import ZERO
from tidemark.impl.types import ChannelName
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.reads.handover import hand_over
from tidemark.models.protocols.reads.program import ReadsProgram


class AsksTheNextForAnything(Reader):
    """The next node is asked without the guarantee."""

    async def _ask(self, task: ReadTask, channel: ChannelName) -> ShardAnswer:
        first, *others = self._replicas.of(channel)
        moment, guarantee = task.moments.get(channel), task.guarantee
        for replica in (first, *others):
            try:
                return await replica.query(
                    channel, guarantee=guarantee, mvcc=moment, keys=task.keys, deadline=self._config.deadline
                )
            except RpcError:
                guarantee = ZERO
        raise NotServableError(f"no replica serves channel {channel!r}")


@mutant(
    killer="reads.answers_reach_their_guarantee",
    source="facts 6.1, 6.3; B40",
    instance="reads-impl-hand-over",
)
def asks_the_next_for_anything(**scenario: Any) -> ReadsProgram:
    """The next node is asked without the guarantee."""
    variant = "tidemark.models.protocols.reads.mutants.handover:TheMovedDoNotWait"
    return hand_over(reader=AsksTheNextForAnything, protocol=variant, **scenario)


class _AsksOneAlone(Reader):
    async def _ask(self, task: ReadTask, channel: ChannelName) -> ShardAnswer:
        first = self._replicas.of(channel)[0]
        return await first.query(
            channel, guarantee=task.guarantee, mvcc=None, keys=task.keys, deadline=self._config.deadline
        )


@mutant(killer="refinement", source="facts 6.3", instance="reads-impl-hand-over")
def asks_one_alone(**scenario: Any) -> ReadsProgram:
    """A read ends with the first node, although another one serves the channel."""
    return hand_over(reader=_AsksOneAlone, **scenario)
