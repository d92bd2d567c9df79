"""Remote calls to a root coordinator of the same process."""

from __future__ import annotations

from tidemark.impl.rootcoord.report import TimeTickReport
from tidemark.impl.rootcoord.root_coord import RootCoord
from tidemark.impl.rpc import Calls


class DirectRootCoordClient:
    """What proxies ask. ``root_coord`` is replaced when a new incarnation takes over."""

    def __init__(self, root_coord: RootCoord) -> None:
        self.root_coord = root_coord
        self._calls = Calls()

    async def update_channel_time_tick(self, report: TimeTickReport, *, deadline: float) -> None:
        """Report."""
        handler = self.root_coord.update_channel_time_tick(report)
        await self._calls.call(handler, name="UpdateChannelTimeTick", deadline=deadline)
