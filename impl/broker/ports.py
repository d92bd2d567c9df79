"""The physical channels for the store of the sessions."""

from typing import Protocol

from tidemark.impl.values.report import SourceId


class Fences(Protocol):
    """The logs for a store of sessions."""

    async def fence(self, source: SourceId) -> None:
        """Every log refuses the source when this returns."""
