"""Thresholds of the proxy, with the defaults of Milvus."""

from dataclasses import dataclass

from tidemark.impl.timestamp import MILLISECOND, Interval


@dataclass(frozen=True, kw_only=True)
class ProxyConfig:
    """Configuration of one proxy.

    Milvus: TimeTickInterval

    max_tasks: tasks that may wait for a worker (``proxy.maxTaskNum`` 1024).
    parallel_tasks: tasks that run at the same time.
    tick_seconds: period of the ticker (half of ``proxy.timeTickInterval``, 100 ms).
    report_seconds: period of the reports (``proxy.timeTickInterval`` 200 ms).
    tick_interval_ts: the same interval in units of timestamps. (The original adds nanoseconds, which come to
        763 ms; hazard 28.)
    produce_timeout: deadline of one append in seconds.
    report_timeout: deadline of one report in seconds.
    id_batch: ids that are fetched at a time (200,000; there the oracle's counter has no limit).
    id_timeout: deadline of that question in seconds.
    """

    max_tasks: int = 1024
    parallel_tasks: int = 128
    tick_seconds: float = 0.1
    report_seconds: float = 0.2
    tick_interval_ts: Interval = 200 * MILLISECOND
    produce_timeout: float = 10.0
    report_timeout: float = 5.0
    id_batch: int = 10_000
    id_timeout: float = 5.0

    def __post_init__(self) -> None:
        for name, smallest in (
            ("max_tasks", 1),
            ("parallel_tasks", 1),
            ("id_batch", 1),
            ("tick_interval_ts", 0),
        ):
            if getattr(self, name) < smallest:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least {smallest}")
        for name in ("tick_seconds", "report_seconds", "produce_timeout", "report_timeout", "id_timeout"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be a positive number of seconds")
