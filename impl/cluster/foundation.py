"""The roles below all others: the oracle, that of ids, the logs and the sessions."""

from contextlib import AsyncExitStack
from functools import partial

from tidemark.impl.broker.broker import Broker
from tidemark.impl.broker.etcd_sessions import EtcdSessions
from tidemark.impl.broker.sessions import SqliteSessions
from tidemark.impl.cluster.config import ClusterConfig
from tidemark.impl.cluster.directory import ClusterDirectory
from tidemark.impl.errors import NotLeaderError, RpcError
from tidemark.impl.rootcoord.direct import DirectIdClient
from tidemark.impl.rootcoord.ids import IdAllocator
from tidemark.impl.runtime import AsyncioClock, NoPreemption, Supervisor
from tidemark.impl.storage.sqlite_oracle import SqliteOracleStore
from tidemark.impl.system.clocks import SystemSteadyClock, SystemWallClock
from tidemark.impl.timestamp import MAX_LOGICAL, NANOSECONDS
from tidemark.impl.tso.config import OracleConfig
from tidemark.impl.tso.direct import DirectOracle
from tidemark.impl.tso.ports import OraclePorts
from tidemark.impl.tso.server import OracleServer

Sessions = SqliteSessions | EtcdSessions
ORACLE, IDS = "oracle-1", "ids-1"
WINDOW_NS = 200 * NANOSECONDS
"""After a quick restart the oracle begins at the end of the window: this far ahead of the clock at most."""
_LOOK_SECONDS = 0.002


class Foundation:
    """Oracles, broker and sessions of one process. Its directory is locked: earlier processes have ended.

    Milvus: GetLastSavedTime
    """

    def __init__(self, directory: ClusterDirectory, *, config: ClusterConfig, supervisor: Supervisor) -> None:
        self.clock = AsyncioClock()
        self.broker = Broker(directory.logs, config.channel_names)
        self.sessions = self._make_sessions(directory, config)
        self._supervisor = supervisor
        self._stores = {
            ORACLE: SqliteOracleStore(directory.oracle),
            IDS: SqliteOracleStore(directory.ids),
        }
        self._servers = {name: self._make_oracle(name) for name in self._stores}
        self.oracle = DirectOracle(self._servers[ORACLE])
        self.ids = DirectIdClient(IdAllocator(oracle=self._servers[IDS], most=MAX_LOGICAL // 4))

    def _make_sessions(self, directory: ClusterDirectory, config: ClusterConfig) -> Sessions:
        """In etcd the keys of a cluster are below the name of its directory."""
        if config.etcd:
            prefix = f"tidemark/{directory.root.name}/sessions"
            return EtcdSessions(config.etcd, fences=self.broker, prefix=prefix)
        return SqliteSessions(
            directory.sessions, fences=self.broker, clock=self.clock, steady=SystemSteadyClock()
        )

    def _make_oracle(self, name: str) -> OracleServer:
        ports = OraclePorts(
            store=self._stores[name],
            wall=SystemWallClock(),
            steady=SystemSteadyClock(),
            clock=self.clock,
            preemption=NoPreemption(),
        )
        return OracleServer(name=name, ports=ports, config=OracleConfig(window=WINDOW_NS))

    async def start(self, stack: AsyncExitStack) -> None:
        """Start; ``stack`` closes the stores."""
        for name, store in self._stores.items():
            stack.push_async_callback(store.close)
            await store.evict(name)
            self._supervisor.spawn(partial(self._run_oracle, self._servers[name]), name)
        await self.broker.start(self._supervisor.spawn)
        stack.push_async_callback(self.sessions.close)
        await self.sessions.start()
        self._supervisor.spawn(self.sessions.run, "sessions")
        for server in self._servers.values():
            await self._until_it_serves(DirectOracle(server))

    @property
    def window(self) -> int:
        """The end of the oracle's saved window, in nanoseconds; 0 before it serves."""
        oracle = self._servers[ORACLE].oracle
        return 0 if oracle is None else oracle.window

    async def _run_oracle(self, server: OracleServer) -> None:
        """The oracle of an embedded cluster never ends by itself: its end ends the cluster."""
        await server.run()
        raise NotLeaderError(f"the oracle has stopped: {server.stopped}; start the cluster again")

    async def _until_it_serves(self, oracle: DirectOracle) -> None:
        while True:
            self._supervisor.check()
            try:
                await oracle.alloc(1)
            except RpcError:
                await self.clock.sleep(_LOOK_SECONDS)
            else:
                return
