"""The physical channels as their readers see them, and as the store of the sessions commands them."""

from __future__ import annotations

from typing import Protocol

from tidemark.impl.values.report import SourceId


class Fences(Protocol):
    """The logs, as far as a store of sessions commands them."""

    async def fence(self, source: SourceId) -> None:
        """Every log refuses the source when this returns."""
