"""Wrong replicas of a query node in another process, refuted by ``reads.remote``."""

from __future__ import annotations

import asyncio
from typing import Any

from tidemark.impl.client.connection import TcpConnection
from tidemark.impl.errors import NotServableError, RpcTimeoutError
from tidemark.impl.querynode.remote import RemoteReplica
from tidemark.impl.querynode.values import ShardAnswer
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.reads.remote import ASKED, ENDS, HEARD, ONE, RemoteProgram, remote

REMOTE = "reads-impl-remote"


class _TrustsTheNode(RemoteReplica):
    async def query(self, channel: str, *, deadline: float, **asked: Any) -> ShardAnswer:
        """Leave the deadline to the node alone."""
        return await super().query(channel, deadline=10 * deadline, **asked)


class _Patient(RemoteReplica):
    async def query(self, channel: str, **asked: Any) -> ShardAnswer:
        """Wait for an answer that does not come."""
        try:
            return await super().query(channel, **asked)
        except RpcTimeoutError as late:
            if "no answer" in str(late):
                await asyncio.Event().wait()
            raise


@mutant(killer=ENDS, source="facts 6.1", instance=REMOTE)
def a_node_that_stands_still_holds_up_its_readers(**scenario: Any) -> RemoteProgram:
    """The deadline of a read is the node's affair: a process that is stopped is waited for."""
    return remote(replica_class=_Patient, **scenario)


@mutant(killer=ASKED, source="facts 6.1", instance=REMOTE)
def a_node_is_told_another_deadline(**scenario: Any) -> RemoteProgram:
    """The node waits longer than its caller does."""
    return remote(replica_class=_TrustsTheNode, **scenario)


class _AllTheSame(RemoteReplica):
    async def query(self, channel: str, **asked: Any) -> ShardAnswer:
        """Tell a time-out like a refusal."""
        try:
            return await super().query(channel, **asked)
        except RpcTimeoutError as late:
            raise NotServableError(str(late)) from late


@mutant(killer=HEARD, source="facts 6.1", instance=REMOTE)
def a_time_out_is_told_as_a_refusal(**scenario: Any) -> RemoteProgram:
    """Who may not know when its answer comes is told that there is none."""
    return remote(replica_class=_AllTheSame, **scenario)


class _Connects(RemoteReplica):
    async def _connect(self) -> TcpConnection:
        """Make a connection, whether there is one or not."""
        self._connection = None
        return await super()._connect()


@mutant(killer=ONE, source="facts 6.1", instance=REMOTE)
def each_read_makes_a_connection(**scenario: Any) -> RemoteProgram:
    """All connections but the last stay open."""
    return remote(replica_class=_Connects, **scenario)
