"""One proxy: the parts put together, its loops, and the call that clients make."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tidemark.impl.errors import RpcError
from tidemark.impl.proxy.config import ProxyConfig
from tidemark.impl.proxy.ports import ProxyPorts
from tidemark.impl.proxy.scheduler import TaskScheduler
from tidemark.impl.proxy.statistics import ChannelStatistics, HeapStatistics
from tidemark.impl.proxy.task_queue import DmlTaskQueue
from tidemark.impl.proxy.ticker import ChannelsTimeTicker
from tidemark.impl.proxy.values import DmlTask
from tidemark.impl.rootcoord.report import SourceId
from tidemark.impl.runtime import Supervisor
from tidemark.impl.types import ChannelName


@dataclass(frozen=True, kw_only=True)
class ProxyParts:
    """Which class plays which part. A variant of the proxy replaces one of them by a subclass."""

    statistics: Callable[[], ChannelStatistics] = HeapStatistics
    queue: type[DmlTaskQueue] = DmlTaskQueue
    scheduler: type[TaskScheduler] = TaskScheduler
    ticker: type[ChannelsTimeTicker] = ChannelsTimeTicker


class Proxy:
    """Takes clients' writes and reports how far its channels may be ticked.

    serving: set once the root coordinator has accepted a report. Until then it takes no writes: the
        coordinator would not wait for them (hazard 10).
    """

    def __init__(
        self, *, source: SourceId, ports: ProxyPorts, config: ProxyConfig, parts: ProxyParts | None = None
    ) -> None:
        chosen = parts if parts is not None else ProxyParts()
        self.source = source
        self.serving = asyncio.Event()
        self.supervisor = Supervisor()
        self._ports = ports
        self._config = config
        self.queue = chosen.queue(
            oracle=ports.oracle,
            preemption=ports.preemption,
            capacity=config.max_tasks,
            statistics=chosen.statistics(),
        )
        self.scheduler = chosen.scheduler(
            queue=self.queue,
            streams=ports.streams,
            preemption=ports.preemption,
            spawn=self.supervisor.spawn,
            parallel=config.parallel_tasks,
            produce_timeout=config.produce_timeout,
        )
        self.ticker = chosen.ticker(
            queue=self.queue,
            oracle=ports.oracle,
            preemption=ports.preemption,
            interval_ts=config.tick_interval_ts,
        )

    def start(self) -> None:
        """Start the loops."""
        self.supervisor.spawn(self.scheduler.run, f"proxy {self.source} scheduler")
        self.supervisor.spawn(self._run_ticker, f"proxy {self.source} ticker")
        self.supervisor.spawn(self._run_reports, f"proxy {self.source} reports")

    async def stop(self) -> None:
        """End all work."""
        await self.supervisor.stop()

    async def write(self, channels: Sequence[ChannelName], payload: str = "") -> DmlTask:
        """Write a message to each of the channels; returns when the client may be answered.

        Raise QueueFullError, or RpcError when the oracle does not answer.
        """
        task = DmlTask(tuple(channels), payload)
        await self.submit(task)
        return task

    async def submit(self, task: DmlTask) -> None:
        """Execute a task; returns when the client may be answered. Errors as for ``write``."""
        await self.serving.wait()
        await self.queue.enqueue(task)
        await task.answered.wait()

    async def _run_ticker(self) -> None:
        while True:
            await self._ports.clock.sleep(self._config.tick_seconds)
            try:
                await self.ticker.tick()
            except RpcError:
                continue  # the oracle did not answer: the old values stay true

    async def _run_reports(self) -> None:
        while True:
            await self._ports.clock.sleep(self._config.report_seconds)
            await self.report_once()

    async def report_once(self) -> None:
        """Report what the last tick allows. A failed report is followed by a newer one."""
        report = self.ticker.report(self.source)
        if report is None:
            return
        try:
            await self._ports.root_coord.update_channel_time_tick(
                report, deadline=self._config.report_timeout
            )
        except RpcError:
            return
        self.serving.set()
