"""The edges of the implementation: clock, log, stores, remote calls.

The parts receive these objects and never use a clock, a file, a socket or a random number directly. On a
plain event loop the adapters are those of ``tidemark.impl.storage``, ``tidemark.impl.rpc`` and
``tidemark.impl.runtime``; an explorer of interleavings supplies its own, which suspend the caller in every
coroutine method.
"""

from collections.abc import Sequence
from typing import Protocol

from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import (
    ChannelName,
    ChannelRecord,
    MetaSnapshot,
    Owner,
    Pack,
    Position,
    RecoveryAnswer,
    Row,
    SaveBinlogPaths,
    SaveOutcome,
    SegmentId,
    SegmentRecord,
    UpdateCheckpoints,
)


class Clock(Protocol):
    """Waiting. No part reads the time: intervals are measured in timestamps of the log."""

    async def sleep(self, seconds: float) -> None:
        """Return when ``seconds`` have passed."""


class Preemption(Protocol):
    """Names the places where the Go original can be preempted between statements and asyncio could not."""

    async def point(self, name: str) -> None:
        """Possibly let others run. On a plain loop this returns at once."""


class WriteAheadLog(Protocol):
    """The channel's log as its consumer sees it."""

    async def next_pack(self, channel: ChannelName, after: Position) -> Pack:
        """Wait for the first pack that ends after ``after.ts`` and return it."""


class ObjectStore(Protocol):
    """The store of binlogs. A successful ``put`` is durable; a failed one may have left the object."""

    async def put(self, path: str, rows: Sequence[Row]) -> None:
        """Write the rows as one object, replacing an object of the same path. Raise StoreError on failure."""

    async def get(self, path: str) -> tuple[Row, ...]:
        """Read an object back. Raise StoreError when it is absent, CorruptDataError when it is damaged."""


class MetaStore(Protocol):
    """The coordinator's metadata. Each save is one transaction, durable when it returns."""

    async def load(self) -> MetaSnapshot:
        """All saved records."""

    async def save_channels(self, records: Sequence[ChannelRecord]) -> None:
        """Insert or replace the records, all or none. Raise StoreError on failure."""

    async def save_segment(self, record: SegmentRecord) -> None:
        """Insert or replace the record with its binlogs. Raise StoreError on failure."""

    async def replace_segment(self, record: SegmentRecord) -> None:
        """Replace the record and its list of binlogs. Raise StoreError on failure."""

    async def collect(self, channel: ChannelRecord, segments: Sequence[SegmentId]) -> None:
        """Replace the channel's record and delete these segments, all or none. Raise StoreError."""


class CoordinatorClient(Protocol):
    """Remote calls from a data node to the coordinator.

    Every call raises RpcTimeoutError after ``deadline`` seconds and RpcError for any other failure. Either
    may happen after the coordinator has carried the call out.
    """

    async def save_binlog_paths(self, request: SaveBinlogPaths, *, deadline: float) -> SaveOutcome:
        """Record the binlog, the segment's position and its end."""

    async def update_channel_checkpoints(self, request: UpdateCheckpoints, *, deadline: float) -> None:
        """Raise checkpoints. Success does not prove a write: positions may be filtered or ignored."""

    async def recover_channel(
        self, channel: ChannelName, node_id: str, session: int, *, deadline: float
    ) -> RecoveryAnswer:
        """Begin a new incarnation of the channel's owner, once for repeated calls.

        Raise NotOwnerError when another node, or a later incarnation, owns it.
        """

    async def drop_channel(self, channel: ChannelName, owner: Owner, *, deadline: float) -> None:
        """Mark the channel dropped, after its last rows were recorded.

        Raise NotOwnerError for another term than the last.
        """


class DataNodeClient(Protocol):
    """Remote calls from the coordinator to a data node. Failures as for CoordinatorClient."""

    async def flush_channel(self, channel: ChannelName, flush_ts: Timestamp, *, deadline: float) -> None:
        """Ask the node to make every row up to ``flush_ts`` durable soon."""

    async def seal_segments(
        self, channel: ChannelName, segments: Sequence[SegmentId], *, expires: Timestamp, deadline: float
    ) -> bool:
        """Ask the node to flush these segments. No row after ``expires`` is ever allocated to them.

        False when the node has not consumed up to ``expires`` yet.
        """
