"""Wrong parts of an embedded cluster, refuted by the programs of this folder."""

from __future__ import annotations

import asyncio
from typing import Any

from tidemark.impl.client.client import Result
from tidemark.impl.cluster.directory import ClusterDirectory
from tidemark.impl.cluster.leave import leave_messages
from tidemark.impl.cluster.promises import Promises
from tidemark.impl.cluster.replicas import ReplicaSet, describe
from tidemark.impl.cluster.stored import audit_cluster
from tidemark.impl.demo.audit import Audit
from tidemark.impl.errors import ClusterLockedError, StoreError
from tidemark.impl.timestamp import Timestamp
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.node.cluster import answers, files, replicas

FILES, ANSWERS, REPLICAS = "cluster-impl-files", "cluster-impl-answers", "cluster-impl-replicas"


class _ComesLater(ClusterDirectory):
    def take(self) -> None:
        """Go on although another process has it."""
        try:
            super().take()
        except ClusterLockedError:
            return


@mutant(killer=files.HELD, source="facts 2.2", instance=FILES)
def two_processes_have_one_directory(**scenario: Any) -> files.FilesProgram:
    """A second cluster writes into the files of the first."""
    return files.files(directory=_ComesLater, **scenario)


async def _leaves_nothing(*given: Any, **more: Any) -> int:
    """Take a log that cannot be read for an empty one."""
    try:
        return await leave_messages(*given, **more)
    except StoreError:
        return 6


@mutant(killer=files.LEFT, source="facts 10.1", instance=FILES)
def a_log_that_cannot_be_read_is_empty(**scenario: Any) -> files.FilesProgram:
    """Evidence without the messages of a log that the disk does not give."""
    return files.files(leave=_leaves_nothing, **scenario)


async def _finds_nothing(*given: Any, **more: Any) -> Audit:
    """Leave out what is missing."""
    found = await audit_cluster(*given, **more)
    return Audit(found.expected, (), found.doubled, found.invented, found.problems)


@mutant(killer=files.AUDITED, source="property D", instance=FILES)
def lost_rows_are_not_noticed(**scenario: Any) -> files.FilesProgram:
    """The audit of a cluster does not see that a row is not stored."""
    return files.files(audit=_finds_nothing, **scenario)


class _ForgetsUnknownOnes(Promises):
    def _visible(self, key: int, moment: Timestamp) -> tuple[bool, bool]:
        """Take a write without an answer for one that has not happened."""
        must, _ = super()._visible(key, moment)
        return must, must


@mutant(killer=answers.EXACT, source="facts 6.1", instance=ANSWERS)
def a_write_without_an_answer_has_not_happened(**scenario: Any) -> answers.AnswersProgram:
    """A row whose insert was not acknowledged must not be seen."""
    return answers.answers(promises_class=_ForgetsUnknownOnes, **scenario)


class _Lenient(Promises):
    def broken(self, result: Result, **asked: Any) -> list[str]:
        """Judge the rows alone."""
        return [one for one in super().broken(result, **asked) if "is below write" not in one]


@mutant(killer=answers.OWED, source="facts 6.1", instance=ANSWERS)
def any_guarantee_will_do(**scenario: Any) -> answers.AnswersProgram:
    """A strong read may miss what was acknowledged before."""
    return answers.answers(promises_class=_Lenient, **scenario)


class _ServesTheWhole(ReplicaSet):
    async def load_flushed(self) -> None:
        """Let go of deletes before the segments that need them are loaded."""
        for channel in list(self.channels):
            described = describe(self._coordinator, channel)
            for node in self.nodes.values():
                node.trim_deletes(channel, described.seek.ts)
        await super().load_flushed()


@mutant(killer=replicas.LOADED, source="facts 6.3", instance=REPLICAS)
def deletes_are_let_go_of_first(**scenario: Any) -> replicas.ReplicasProgram:
    """A segment is loaded after the deletes were dropped that it needs."""
    return replicas.replicas(replicas_class=_ServesTheWhole, **scenario)


class _RevivesInSecret(ReplicaSet):
    async def revive(self, number: int) -> None:
        """Let loads and releases pass a node by that is about to come."""
        others = dict(self.nodes)
        reviving = asyncio.ensure_future(super().revive(number))
        await asyncio.sleep(0)
        node = self.nodes.pop(number)
        await asyncio.wait([reviving])
        assert set(others) <= set(self.nodes)
        self.nodes[number] = node


@mutant(killer=replicas.SERVED, source="facts 6.3", instance=REPLICAS)
def a_node_that_comes_misses_a_load(**scenario: Any) -> replicas.ReplicasProgram:
    """A collection that is loaded while a node starts is never served by that node."""
    return replicas.replicas(replicas_class=_RevivesInSecret, **scenario)


class _StaysInTheChannel(ReplicaSet):
    async def kill(self, number: int) -> None:
        """Go, and leave the requests to nobody."""
        node = self.nodes.pop(number)
        for follower in [task for (_, name), task in self._followers.items() if name == node.node_id]:
            follower.cancel()
        await node.stop()


@mutant(killer=replicas.READ, source="facts 6.3", instance=REPLICAS)
def a_killed_node_is_waited_for(**scenario: Any) -> replicas.ReplicasProgram:
    """A read at a node that was killed hears of nobody that there will be no answer."""
    return replicas.replicas(replicas_class=_StaysInTheChannel, **scenario)
