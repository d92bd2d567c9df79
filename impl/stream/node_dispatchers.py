"""The dispatchers of one node: a manager for each physical channel with virtual ones that it serves."""

from tidemark.impl.ports import Preemption
from tidemark.impl.runtime import Supervisor
from tidemark.impl.stream.config import DispatcherConfig
from tidemark.impl.stream.manager import DispatcherManager
from tidemark.impl.stream.packs import StreamPosition
from tidemark.impl.stream.targets import Target
from tidemark.impl.types import ChannelName
from tidemark.impl.values.log import EntryLog
from tidemark.impl.values.messages import physical


class NodeDispatchers:
    """Opens the streams of virtual channels, so that a node reads a physical channel once, and not once for
    each virtual one.

    managers: by physical channel; a manager stays until ``stop``. supervisor: has the failure of any of them.
    """

    def __init__(
        self,
        log: EntryLog,
        *,
        preemption: Preemption | None = None,
        config: DispatcherConfig | None = None,
    ) -> None:
        self.managers: dict[ChannelName, DispatcherManager] = {}
        self.supervisor = Supervisor()
        self._log = log
        self._preemption = preemption
        self._config = config

    def register(self, channel: ChannelName, position: StreamPosition) -> Target:
        """The stream of a virtual channel from the end of a pack on. Raise ValueError if it has one."""
        return self._manager(physical(channel)).register(channel, position)

    def deregister(self, channel: ChannelName) -> None:
        """End the stream of a virtual channel. Does nothing if there is none."""
        manager = self.managers.get(physical(channel))
        if manager is not None:
            manager.deregister(channel)

    async def stop(self) -> None:
        """End all streams."""
        await self.supervisor.stop()
        for manager in self.managers.values():
            await manager.stop()

    def _manager(self, name: ChannelName) -> DispatcherManager:
        if name not in self.managers:
            manager = self.managers[name] = DispatcherManager(
                log=self._log, channel=name, preemption=self._preemption, config=self._config
            )
            manager.start()
            self.supervisor.spawn(manager.supervisor.wait_failed, f"dispatchers of {name}")
        return self.managers[name]
