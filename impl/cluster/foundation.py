"""What every other role rests on: the oracle, the logs and the sessions."""

from __future__ import annotations

from contextlib import AsyncExitStack

from tidemark.impl.broker.broker import Broker
from tidemark.impl.broker.channel_log import ChannelLog
from tidemark.impl.broker.sessions import SqliteSessions
from tidemark.impl.cluster.config import ClusterConfig
from tidemark.impl.cluster.directory import ClusterDirectory
from tidemark.impl.errors import NotLeaderError, RpcError
from tidemark.impl.runtime import AsyncioClock, NoPreemption, Supervisor
from tidemark.impl.storage.sqlite_oracle import SqliteOracleStore
from tidemark.impl.system.clocks import SystemSteadyClock, SystemWallClock
from tidemark.impl.timestamp import NANOSECONDS
from tidemark.impl.tso.config import OracleConfig
from tidemark.impl.tso.direct import DirectOracle
from tidemark.impl.tso.ports import OraclePorts
from tidemark.impl.tso.server import OracleServer

ORACLE = "oracle-1"
WINDOW_NS = 200 * NANOSECONDS
"""After a quick restart the oracle begins where the window has ended: no further ahead of the clock."""
_LOOK_SECONDS = 0.002


class Foundation:
    """Oracle, broker and sessions of one process. Its directory is locked: earlier processes are dead."""

    def __init__(
        self,
        directory: ClusterDirectory,
        *,
        config: ClusterConfig,
        supervisor: Supervisor,
        log_class: type[ChannelLog] = ChannelLog,
    ) -> None:
        self.clock = AsyncioClock()
        self.broker = Broker(directory.logs, config.channel_names, log_class=log_class)
        self.sessions = SqliteSessions(
            directory.sessions, fences=self.broker, clock=self.clock, steady=SystemSteadyClock()
        )
        self._supervisor = supervisor
        self._store = SqliteOracleStore(directory.oracle)
        self._server = OracleServer(
            name=ORACLE,
            ports=OraclePorts(
                store=self._store,
                wall=SystemWallClock(),
                steady=SystemSteadyClock(),
                clock=self.clock,
                preemption=NoPreemption(),
            ),
            config=OracleConfig(window=WINDOW_NS),
        )
        self.oracle = DirectOracle(self._server)

    async def start(self, stack: AsyncExitStack) -> None:
        """Start; ``stack`` closes the stores."""
        stack.push_async_callback(self._store.close)
        await self._store.evict(ORACLE)
        self._supervisor.spawn(self._run_oracle, "oracle")
        await self.broker.start(self._supervisor.spawn)
        stack.push_async_callback(self.sessions.close)
        await self.sessions.start()
        self._supervisor.spawn(self.sessions.run, "sessions")
        await self._until_the_oracle_serves()

    async def _run_oracle(self) -> None:
        """The oracle of an embedded cluster never ends by itself: its end is the cluster's."""
        await self._server.run()
        raise NotLeaderError(f"the oracle has stopped: {self._server.stopped}; start the cluster again")

    async def _until_the_oracle_serves(self) -> None:
        while True:
            self._supervisor.check()
            try:
                await self.oracle.alloc(1)
            except RpcError:
                await self.clock.sleep(_LOOK_SECONDS)
            else:
                return
