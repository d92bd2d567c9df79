"""The oracle for callers in its own process."""

from tidemark.impl.errors import NoTimestampError, NotLeaderError, RpcError
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.tso.server import OracleServer


class DirectOracle:
    """The ``Oracle`` of proxies and root coordinator."""

    def __init__(self, server: OracleServer) -> None:
        self._server = server

    async def alloc(self, count: int) -> Timestamp:
        """The last of ``count`` consecutive timestamps. Raise RpcError when there are none."""
        try:
            return (await self._server.allocate(count)).last
        except (NotLeaderError, NoTimestampError) as refused:
            raise RpcError(f"the oracle has no answer: {refused}") from refused
