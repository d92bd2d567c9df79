"""Mutants of inserts and deletes as tasks, refuted by ``edge.write_tasks``."""

from __future__ import annotations

from tidemark.impl.proxy.values import Message
from tidemark.impl.proxy.writes import WriteTask
from tidemark.impl.types import ChannelName
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.proxy.edge.write_tasks import CHECKED, MESSAGES, SHARDS, WriteTasks, tasks

WRITES = "proxy-impl-writes"


@mutant(killer=SHARDS, source="seed 004, 6.3", instance=WRITES)
def a_key_goes_elsewhere_with_another_release() -> WriteTasks:
    """The shard is the key itself, cut to the number of shards: deletes miss the rows that lie elsewhere."""
    return tasks(shard_of=lambda key, shards: key % shards)


class _MadeAgain(WriteTask):
    def message(self, channel: ChannelName) -> Message:
        self.made.pop(channel, None)
        return super().message(channel)


class _NotLookedAtAgain(WriteTask):
    async def prepare(self) -> None:
        return


@mutant(killer=CHECKED, source="hazard 37", instance=WRITES)
def a_task_is_not_looked_at_again() -> WriteTasks:
    """A collection that has changed before the timestamp is written by its old schema."""
    return tasks(task=_NotLookedAtAgain)


@mutant(killer=MESSAGES, source="hazard 12", instance=WRITES)
def a_message_is_made_whenever_it_is_sent() -> WriteTasks:
    """What is sent again has another segment: the message that is settled is not the one that was sent."""
    return tasks(task=_MadeAgain)
