"""One proxy: the parts put together, its loops, and the call that clients make."""

import asyncio
from collections.abc import Sequence

from tidemark.impl.errors import RpcError
from tidemark.impl.proxy.config import ProxyConfig
from tidemark.impl.proxy.ids import IdCache
from tidemark.impl.proxy.meta_cache import MetaCache
from tidemark.impl.proxy.ports import ProxyPorts
from tidemark.impl.proxy.queues import CalledComponents, ProxyQueues, QueueKind
from tidemark.impl.proxy.ticker import ChannelsTimeTicker
from tidemark.impl.proxy.values import DmlTask
from tidemark.impl.runtime import Supervisor
from tidemark.impl.types import ChannelName
from tidemark.impl.values.report import SourceId


class Proxy:
    """Takes clients' requests and reports the greatest allowed tick of its channels.

    Milvus: sendChannelsTimeTickLoop

    queues: all three; ``queue`` and ``scheduler`` are those of the writes.
    meta: its metadata cache.
    ids: the ids of its tasks and rows; None without a source.
    serving: set once the root coordinator has accepted a report, or it has ended. Until then it takes no
        writes: the coordinator would not wait for them (hazard 10).
    """

    def __init__(self, *, source: SourceId, ports: ProxyPorts, config: ProxyConfig) -> None:
        self.source = source
        self.serving = asyncio.Event()
        self.supervisor = Supervisor()
        self._ports = ports
        self._config = config
        self.meta = MetaCache(source=ports.metadata, preemption=ports.preemption)
        self.ids = (
            None
            if ports.ids is None
            else IdCache(
                source=ports.ids,
                preemption=ports.preemption,
                spawn=self.supervisor.spawn,
                batch=config.id_batch,
                deadline=config.id_timeout,
            )
        )
        calls = CalledComponents()
        self.queues = ProxyQueues(
            oracle=ports.oracle,
            streams={QueueKind.DDL: calls, QueueKind.DML: ports.streams, QueueKind.QUERY: calls},
            preemption=ports.preemption,
            spawn=self.supervisor.spawn,
            parallel=config.parallel_tasks,
            capacity=config.max_tasks,
            deadline=config.produce_timeout,
        )
        self.queue = self.queues.queues[QueueKind.DML]
        self.scheduler = self.queues.schedulers[QueueKind.DML]
        self.ticker = ChannelsTimeTicker(
            queue=self.queue,
            oracle=ports.oracle,
            preemption=ports.preemption,
            interval_ts=config.tick_interval_ts,
        )

    def start(self) -> None:
        """Start the loops."""
        self.queues.start()
        self.supervisor.spawn(self._run_ticker, f"proxy {self.source} ticker")
        self.supervisor.spawn(self._run_reports, f"proxy {self.source} reports")

    async def stop(self) -> None:
        """End all work at once. Waiting callers get an error; running tasks may still take effect."""
        self.queues.cut()
        self.meta.close()
        self.serving.set()
        if self.ids is not None:
            self.ids.fail("the proxy has ended")
        await self.supervisor.stop()

    async def close(self) -> None:
        """Begin no further task, wait for the running ones, then end all work."""
        await self.queues.close()
        await self.stop()

    async def write(self, channels: Sequence[ChannelName], payload: str = "") -> DmlTask:
        """Write a message to each of the channels; returns when the client may be answered.

        Errors: see ``submit``.
        """
        task = DmlTask(tuple(channels), payload)
        await self.submit(task)
        return task

    async def submit(self, task: DmlTask, kind: QueueKind = QueueKind.DML) -> None:
        """Execute a task of a queue; returns when the client may be answered. Errors: ``ProxyQueues.submit``,
        and RpcError if there is no id for it.

        A cancelled client leaves; its task runs to its end.
        """
        await self.serving.wait()
        if self.ids is not None:
            ((task.id, _),) = await self.ids.take(1)
        await self.queues.submit(kind, task)

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
