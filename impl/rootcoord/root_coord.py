"""The root coordinator's part of the time tick: its components and loops."""

from collections.abc import Sequence

from tidemark.impl.errors import RpcError
from tidemark.impl.rootcoord.config import RootCoordConfig
from tidemark.impl.rootcoord.ports import RootCoordPorts
from tidemark.impl.rootcoord.round_queue import RoundQueue
from tidemark.impl.rootcoord.session_watch import SessionWatch
from tidemark.impl.rootcoord.tick_sender import TickSender
from tidemark.impl.rootcoord.time_tick_sync import TimeTickSync
from tidemark.impl.runtime import Supervisor
from tidemark.impl.types import ChannelName
from tidemark.impl.values.report import DDL_SOURCE, TimeTickReport


class RootCoord:
    """One incarnation of the active root coordinator.

    Milvus: RootCoord, UpdateChannelTimeTick, startTimeTickLoop, sendMinDdlTsAsTt

    channels: the ticked physical channels: those of the DDL source's list.
    reporting: the last report that the DDL source has made.
    """

    def __init__(
        self, *, channels: Sequence[ChannelName], ports: RootCoordPorts, config: RootCoordConfig
    ) -> None:
        self.channels = tuple(channels)
        self.supervisor = Supervisor()
        self._ports = ports
        self._config = config
        self.reporting: TimeTickReport | None = None
        rounds = RoundQueue(config.round_capacity)
        self.sync = TimeTickSync(rounds=rounds, is_newest=ports.ticks.is_newest, preemption=ports.preemption)
        self.sender = TickSender(
            channels=self.channels, rounds=rounds, streams=ports.ticks, preemption=ports.preemption
        )
        self.watch = SessionWatch(sessions=ports.sessions, sync=self.sync)

    async def start(self) -> None:
        """Load ticks and sessions, then start the loops.

        The ticks first: the logs tell the predecessor that it was followed before the sessions are listed, so
        that it admits nobody who is not in the list.
        """
        await self.sender.load()
        await self.watch.load()
        self.supervisor.spawn(self.watch.run, "session watch")
        self.supervisor.spawn(self.sender.run, "tick sender")
        self.supervisor.spawn(self._run_ddl_ticks, "ddl ticks")
        self.supervisor.spawn(self._run_dummies, "ddl dummies")

    async def stop(self) -> None:
        """End all work."""
        await self.supervisor.stop()

    async def update_channel_time_tick(self, report: TimeTickReport) -> None:
        """Answer a proxy's report. Raise UnknownSessionError or FollowedError: see TimeTickSync."""
        await self.sync.update(report)

    async def report_ddl(self) -> None:
        """Report for the DDL source, as a proxy does for its tasks."""
        least = await self._ports.ddl.minimum()
        if not least:
            return
        self.reporting = TimeTickReport(DDL_SOURCE, (), least)
        await self._ports.preemption.point("ddl.report")
        await self.sync.update(self.reporting)

    async def _run_ddl_ticks(self) -> None:
        while True:
            await self._ports.clock.sleep(self._config.ddl_tick_seconds)
            await self.report_ddl()

    async def _run_dummies(self) -> None:
        while True:
            await self._ports.clock.sleep(self._config.dummy_seconds)
            try:
                await self._ports.ddl.run_dummy()
            except RpcError:
                continue  # the oracle did not answer: the minimum stays, and the next dummy moves it
