"""The edges of a proxy: the oracle, the message streams and the root coordinator.

As in ``tidemark.impl.ports``, an explorer's adapters suspend the caller in every coroutine method.
"""

from dataclasses import dataclass, field
from typing import Protocol

from tidemark.impl.ports import Clock, Preemption
from tidemark.impl.proxy.meta_cache import MetaSource, NoMetadata
from tidemark.impl.proxy.values import AppendOutcome, Message
from tidemark.impl.runtime import NoPreemption
from tidemark.impl.timestamp import Batch
from tidemark.impl.values.oracle import Oracle
from tidemark.impl.values.report import TimeTickReport


class MessageStream(Protocol):
    """The physical channels as a producer sees them."""

    async def append(self, message: Message, *, deadline: float) -> None:
        """Append a message; when this returns, the message is in the log.

        Raise RpcTimeoutError after ``deadline`` seconds: the message may be in the log, or come to be there.
        Raise RpcError when it is not in the log and will not be.
        """

    async def settle(self, message: Message) -> AppendOutcome:
        """Find out whether an append that timed out is in the log, and rule out that it comes later.

        APPENDED or REFUSED. Waits as long as it takes.
        """


class RootCoordClient(Protocol):
    """Remote calls from a proxy to the root coordinator."""

    async def update_channel_time_tick(self, report: TimeTickReport, *, deadline: float) -> None:
        """Report. Raise UnknownSessionError when the coordinator does not know the proxy, else RpcError."""


class IdSource(Protocol):
    """Ids from the root coordinator."""

    async def allocate(self, count: int, *, deadline: float) -> Batch:
        """Return at most ``count`` consecutive ids that no other answer has.

        Raise RpcTimeoutError after ``deadline`` seconds, RpcError for any other failure: then no id of the
        answer may be used.
        """


@dataclass(frozen=True, kw_only=True)
class ProxyPorts:
    """The world of one proxy. Without ``ids`` only timestamps distinguish its tasks."""

    oracle: Oracle
    streams: MessageStream
    root_coord: RootCoordClient
    clock: Clock
    metadata: MetaSource = field(default_factory=NoMetadata)
    ids: IdSource | None = None
    preemption: Preemption = field(default_factory=NoPreemption)
