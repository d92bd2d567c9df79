"""Thresholds of the query node, with the defaults of Milvus."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class QueryNodeConfig:
    """Configuration of one query node.

    max_lag_ms: a read that comes with a guarantee so many milliseconds further above the service time fails
        at once (``queryNode.maxTimestampLag`` 86400 s).
    stall_seconds: a read that waits fails when the service time has not moved for so long
        (``queryNode.waitTsafeStallTimeout`` 3 s); None to wait for ever.
    replay_batch: how many buffered deletes a loading segment takes at a time. Between two batches the stream
        advances (B41).
    load_attempts: how often the load of a segment is tried that was flushed when the channel was taken up,
        before the object store's failure ends the recovery.
    """

    max_lag_ms: int = 86_400_000
    stall_seconds: float | None = 3.0
    replay_batch: int = 1024
    load_attempts: int = 3

    def __post_init__(self) -> None:
        if self.max_lag_ms < 0:
            raise ValueError(f"max_lag_ms is {self.max_lag_ms}; it must be at least 0")
        if self.replay_batch < 1:
            raise ValueError(f"replay_batch is {self.replay_batch}; it must be at least 1")
        if self.load_attempts < 1:
            raise ValueError(f"load_attempts is {self.load_attempts}; it must be at least 1")
        if self.stall_seconds is not None and self.stall_seconds <= 0:
            raise ValueError(f"stall_seconds is {self.stall_seconds}; it must be positive, or None")
