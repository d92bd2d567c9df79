"""A wrong query node for conformance."""

from __future__ import annotations

from typing import ClassVar

from tidemark.impl.querynode.delegator import ShardDelegator
from tidemark.impl.querynode.segments import Segment
from tidemark.impl.timestamp import Timestamp
from tidemark.models.protocols.segments.driver import SegmentsAdapter
from tidemark.models.protocols.segments.mutants.filters import UpToAndWithout
from tidemark.models.protocols.segments.positions_driver import PositionsAdapter


class _LeavesOutTheOldest(ShardDelegator):
    async def _replay(self, segment: Segment, since: Timestamp) -> None:
        oldest = min((delete.ts for delete in self.deletes.kept if delete.ts > since), default=since)
        await super()._replay(segment, oldest)


class TheOldestIsNotReplayed(SegmentsAdapter):
    """The replay begins after the first delete above the files' position."""

    delegator: ClassVar[type[ShardDelegator]] = _LeavesOutTheOldest


class TheRowAtThePositionIsTaken(PositionsAdapter):
    """A row at the position of its segment is given to the segment that was loaded with it."""

    delegator: ClassVar[type[ShardDelegator]] = UpToAndWithout
