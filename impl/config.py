"""Thresholds of the data node. The defaults are those of Milvus."""

from dataclasses import dataclass

from tidemark.impl.timestamp import MILLISECOND, Interval


@dataclass(frozen=True, kw_only=True)
class DataNodeConfig:
    """Configuration of one data node. Times of messages in units of timestamps, pauses in seconds.

    Milvus: UpdateChannelCheckpointInterval, ChannelCheckpointUpdateTickInSeconds,
    MaxChannelCheckpointsPerRPC, UpdateChannelCheckpointMaxParallel, UpdateChannelCheckpointRPCTimeout

    full_buffer_bytes: a segment's buffer is full at this size (``insertBufSize`` 16 MiB).
    stale_after_ts: a buffer is stale this long after its start, in message time (``syncPeriod`` 600 s).
    memory_watermark_bytes: above this sum over all buffers, the oldest of the biggest channel is synced
        (0.2 of the memory of a cluster node; 1 GiB is used in its place).
    memory_check_seconds: time between two looks at the watermark (3 s).
    checkpoint_interval_ts: a checkpoint is reported at least this often, in message time
        (``updateChannelCheckpointInterval`` 60 s). 0 reports at every tick.
    checkpoint_tick_seconds: period of the updater's timer (10 s).
    max_positions_per_rpc, max_parallel_rpcs, checkpoint_rpc_timeout: batches of the updater (128, 10, 20 s).
    save_rpc_timeout: deadline of SaveBinlogPaths in seconds.
    save_tries: failed tries of a SaveBinlogPaths after which the node ends itself; 0: it tries until it is
        ended (seed 003 and Milvus: 10).
    retry_initial_seconds, retry_max_seconds: pause after a failed write or save, doubling (0.2 s to 10 s).
    """

    full_buffer_bytes: int = 16 * 1024 * 1024
    stale_after_ts: Interval = 600_000 * MILLISECOND
    memory_watermark_bytes: int = 1024 * 1024 * 1024
    memory_check_seconds: float = 3.0
    checkpoint_interval_ts: Interval = 60_000 * MILLISECOND
    checkpoint_tick_seconds: float = 10.0
    max_positions_per_rpc: int = 128
    max_parallel_rpcs: int = 10
    checkpoint_rpc_timeout: float = 20.0
    save_rpc_timeout: float = 10.0
    save_tries: int = 0
    retry_initial_seconds: float = 0.2
    retry_max_seconds: float = 10.0

    def __post_init__(self) -> None:
        for name, smallest in (
            ("full_buffer_bytes", 1),
            ("stale_after_ts", 1),
            ("memory_watermark_bytes", 1),
            ("checkpoint_interval_ts", 0),
            ("max_positions_per_rpc", 1),
            ("max_parallel_rpcs", 1),
            ("save_tries", 0),
        ):
            value = getattr(self, name)
            if value < smallest:
                raise ValueError(f"{name} is {value}; it must be at least {smallest}")
        for name in (
            "memory_check_seconds",
            "checkpoint_tick_seconds",
            "checkpoint_rpc_timeout",
            "save_rpc_timeout",
            "retry_initial_seconds",
            "retry_max_seconds",
        ):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be a positive number of seconds")
