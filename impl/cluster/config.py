"""The size and the pace of an embedded cluster."""

from dataclasses import dataclass

from tidemark.impl.stream.config import DispatcherConfig
from tidemark.impl.timestamp import MILLISECOND, Interval


@dataclass(frozen=True, kw_only=True)
class ClusterConfig:
    """Configuration. Pauses and leases in seconds; the defaults are quicker than those of Milvus.

    channels: physical channels; a collection has at most so many shards.
    proxies, query_nodes: how many.
    tick_seconds: period of the proxies' reports and of the DDL source's (200 ms in Milvus).
    lease_seconds: of a proxy's session.
    graceful_ts: the allowed staleness of a bounded read (5 s in Milvus).
    segment_rows: a segment of this many rows gets no more.
    full_buffer_bytes: a segment's buffer of this size is stored.
    checkpoint_ts: how often a channel checkpoint is reported, in message time.
    packs, lag_seconds: how many packs of a channel may wait at a node (16 in Milvus), and how long (3 s),
        before the channel gets a dispatcher of its own.
    compaction_seconds: pause between two rounds in which deletes are brought into segments.
    etcd: the address of the store of sessions, ``http://host:port``; by default a file.
    """

    channels: int = 2
    proxies: int = 2
    query_nodes: int = 2
    tick_seconds: float = 0.04
    lease_seconds: float = 3.0
    graceful_ts: Interval = 300 * MILLISECOND
    segment_rows: int = 2000
    full_buffer_bytes: int = 16 * 1024
    checkpoint_ts: Interval = 500 * MILLISECOND
    packs: int = 16
    lag_seconds: float = 3.0
    compaction_seconds: float = 0.2
    etcd: str = ""

    def __post_init__(self) -> None:
        for name in ("channels", "proxies", "query_nodes", "segment_rows", "full_buffer_bytes", "packs"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least 1")
        for name in ("tick_seconds", "lease_seconds", "lag_seconds", "compaction_seconds"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be a positive number of seconds")
        for name in ("graceful_ts", "checkpoint_ts"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least 0")

    @property
    def dispatchers(self) -> DispatcherConfig:
        """Of each node."""
        return DispatcherConfig(capacity=self.packs, tolerant_seconds=self.lag_seconds)

    @property
    def channel_names(self) -> tuple[str, ...]:
        """The physical channels."""
        return tuple(f"dml_{number}" for number in range(self.channels))
