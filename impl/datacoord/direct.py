"""Calls to a data coordinator of the same process."""

from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.rpc import Calls
from tidemark.impl.types import (
    ChannelName,
    Owner,
    RecoveryAnswer,
    SaveBinlogPaths,
    SaveOutcome,
    UpdateCheckpoints,
)


class DirectCoordinatorClient:
    """Calls a coordinator of the same process."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._calls = Calls()

    async def save_binlog_paths(self, request: SaveBinlogPaths, *, deadline: float) -> SaveOutcome:
        """Record a binlog."""
        handler = self._coordinator.save_binlog_paths(request)
        return await self._calls.call(handler, name="SaveBinlogPaths", deadline=deadline)

    async def update_channel_checkpoints(self, request: UpdateCheckpoints, *, deadline: float) -> None:
        """Raise checkpoints."""
        handler = self._coordinator.update_channel_checkpoints(request)
        await self._calls.call(handler, name="UpdateChannelCheckpoint", deadline=deadline)

    async def recover_channel(
        self, channel: ChannelName, node_id: str, session: int, *, deadline: float
    ) -> RecoveryAnswer:
        """Take up a channel."""
        handler = self._coordinator.recover_channel(channel, node_id, session)
        return await self._calls.call(handler, name="RecoverChannel", deadline=deadline)

    async def drop_channel(self, channel: ChannelName, owner: Owner, *, deadline: float) -> None:
        """Mark a channel dropped."""
        handler = self._coordinator.drop_channel(channel, owner)
        await self._calls.call(handler, name="DropChannel", deadline=deadline)
